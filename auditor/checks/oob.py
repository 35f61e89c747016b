"""Rules on the out-of-band side of hosts: the BMC.

Which BMC firmware is allowed is a line of the baseline (`firmware[bmc].version`) or of the params of `firmware.not_allowed`
(component `bmc`); what a BIOS setting must be is a line at `bios_setting[NAME].value`. Out-of-band switches are devices like
others.
"""

from __future__ import annotations

from collections.abc import Iterator

from auditor.address import Address
from auditor.facts import Firmware
from auditor.model import Deviation, GapReason, Judgement, RuleContext, Severity, State, check, failed, passed

SOURCES = ("firmware_inventory", "bios_attributes", "computer_system")
"""Sources of the platform `redfish`."""

_SILENT = frozenset({GapReason.UNREACHABLE, GapReason.TIMEOUT, GapReason.AUTH})


@check(
    reads=(),
    severity=Severity.WARNING,
    remedy="Ping the BMC from the out-of-band network, look at its cable and its switch port; then at the account and, if the "
    "certificate was refused, at `collection.bmc.ca_file`.",
)
def bmc_unreachable(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """The BMC of the host answers and lets the audit in.

    Judged where the host has the platform `redfish`.

    Why it matters: the host that hangs in the night is restarted by its BMC, or by somebody who drives to it.
    """
    silent = [gap for gap in state.gaps if gap.source in SOURCES and gap.reason in _SILENT]
    heard = any(origin.source in SOURCES for origins in state.origins.values() for origin in origins)
    address = Address(Firmware.TABLE, ("bmc",))
    if heard:
        yield passed(address)
    elif silent:
        words = silent[0].detail or silent[0].reason.value
        yield failed(address, Deviation("an answer", silent[0].reason.value, f"the BMC does not answer: {words}"))
