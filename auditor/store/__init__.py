"""Runs, row sets, findings and raw content in a database."""
