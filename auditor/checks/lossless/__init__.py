"""Rules about lossless Ethernet, from the priority that is paused to the headroom and the marks behind it.

One module per concern; the rules are re-exported here because presence in this package is registration.
"""

from auditor.checks.lossless.buffer import BufferIntent, buffer_mode
from auditor.checks.lossless.pfc import pfc_priorities_differ, trust_without_dscp
from auditor.checks.lossless.watchdog import watchdog_missing

__all__ = ["BufferIntent", "buffer_mode", "pfc_priorities_differ", "trust_without_dscp", "watchdog_missing"]
