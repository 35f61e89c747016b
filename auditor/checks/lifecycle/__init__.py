"""Rules about the places a setting lives in: what is configured, applied, saved, next after a start, and who else sets it."""

from auditor.checks.lifecycle.applied import unapplied
from auditor.checks.lifecycle.host import pending_next_boot
from auditor.checks.lifecycle.owner import second_owner
from auditor.checks.lifecycle.saved import unsaved

__all__ = ["pending_next_boot", "second_owner", "unapplied", "unsaved"]
