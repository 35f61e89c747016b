"""Rules over the whole fabric as a graph: what no device and no single cable shows."""

from auditor.checks.fabric.circles import pfc_deadlock_possible, same_tier_link
from auditor.checks.fabric.planes import plane_leak
from auditor.checks.fabric.rates import fec_differs, speed_differs
from auditor.checks.fabric.uplinks import oversubscribed, uplinks_asymmetric

__all__ = [
    "fec_differs",
    "oversubscribed",
    "pfc_deadlock_possible",
    "plane_leak",
    "same_tier_link",
    "speed_differs",
    "uplinks_asymmetric",
]
