"""Rules about lossless Ethernet, from the priority that is paused to the headroom and the marks behind it.

One module per concern; the rules are re-exported here because presence in this package is registration.
"""

from auditor.checks.lossless.buffer import BufferIntent, buffer_mode
from auditor.checks.lossless.headroom import headroom_too_small, no_headroom
from auditor.checks.lossless.maps import other_class_in_lossless_queue
from auditor.checks.lossless.marking import MarkingRanges, ecn_never_marks, ecn_out_of_range, ecn_threshold_order
from auditor.checks.lossless.pfc import global_pause_on, pfc_on_lossy_class, pfc_priorities_differ, trust_without_dscp
from auditor.checks.lossless.profiles import PauseLevels, profile_for_other_cable, xoff_xon_ratio
from auditor.checks.lossless.watchdog import watchdog_missing, watchdog_storm_now, watchdog_wrong_queues

__all__ = [
    "BufferIntent",
    "MarkingRanges",
    "PauseLevels",
    "buffer_mode",
    "ecn_never_marks",
    "ecn_out_of_range",
    "ecn_threshold_order",
    "global_pause_on",
    "headroom_too_small",
    "no_headroom",
    "other_class_in_lossless_queue",
    "pfc_on_lossy_class",
    "pfc_priorities_differ",
    "profile_for_other_cable",
    "trust_without_dscp",
    "watchdog_missing",
    "watchdog_storm_now",
    "watchdog_wrong_queues",
    "xoff_xon_ratio",
]
