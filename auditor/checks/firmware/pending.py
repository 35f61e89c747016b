"""`firmware.pending`: components whose next start loads another version than the one that runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.checks.firmware.versions import nothing_seen
from auditor.facts import Firmware
from auditor.model import Deviation, GapReason, Judgement, RuleContext, Severity, Spot, State, check, failed, passed, unseen


@check(
    family="firmware",
    reads=("firmware.version", "firmware.pending_version"),
    optional=("firmware.version", "firmware.pending_version"),  # so that peers still compare what runs
    severity=Severity.WARNING,
    remedy="If the new version is wanted, drain the host and start it anew (adapters may need a power cycle, or a reset with the "
    "vendor's tool); if not, write the running version back before somebody restarts the host for another reason.",
)
def pending(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every component runs the version that its next start will load.

    A component that does not tell what its next start loads is not judged. For NVIDIA adapters the driver tells it
    (`devlink dev info`, versions under `stored`).

    Why it matters: firmware that waits for a restart makes the host another one at a moment that nobody chose. After a power
    cut half of a rack comes back with other firmware, and jobs over both halves hang or crawl with every link up.
    """
    yield from nothing_seen(state)
    for key in state.keys(Firmware, "version"):
        row = Address(Firmware.TABLE, key)
        now, then = (state.cell(replace(row, column=column)) for column in ("version", "pending_version"))
        if now.present and then.present and now.value == then.value:
            yield passed(row)
        elif now.present and then.present:
            spots = tuple(Spot(state.device, replace(cell.address, layer=cell.layer)) for cell in (then, now))
            message = f"the next start of {key[0]} loads version {then.value}; {now.value} runs"
            yield failed(row, Deviation(f"{now.value}, which runs", str(then.value), message, spots))
        elif now.present and then.gap is not None and then.gap in state.gaps and then.gap.reason is not GapReason.UNSUPPORTED:
            yield unseen(row, then.gap)
