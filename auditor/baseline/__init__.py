"""Versioned baselines: documents, their resolution for a device, and operators."""
