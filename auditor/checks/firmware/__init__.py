"""Firmware rules: which versions may run on which part, alone, together and after the next start."""

from auditor.checks.firmware.allowed import Allowed, not_allowed
from auditor.checks.firmware.mixed import mixed_in_host
from auditor.checks.firmware.pairs import far_end_not_allowed, pair_not_allowed
from auditor.checks.firmware.pending import pending

__all__ = ["Allowed", "far_end_not_allowed", "mixed_in_host", "not_allowed", "pair_not_allowed", "pending"]
