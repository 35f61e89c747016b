"""Replayed devices over real SSH, fabric generator, fault injection."""
