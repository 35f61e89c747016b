"""Config-drift and baseline auditing for GPU clusters."""

__version__ = "0.1.0"
