"""`firmware.not_allowed`: components that run a version which the baseline does not allow for that very part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from pydantic import Field

from auditor.address import Address
from auditor.checks.firmware.versions import Versions
from auditor.facts import Firmware
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Gap,
    GapReason,
    Judgement,
    RuleContext,
    Severity,
    Spot,
    State,
    check,
    failed,
    passed,
    unseen,
)


class Allowed(Versions):
    """One line of `params`: which versions a component may run. Several lines for one part are a set of good values."""

    severity: Severity = Field(default=Severity.ERROR, description="Severity of running something else")
    why: str = Field(min_length=1, description="Why these versions")


@check(
    family="firmware",
    reads=("firmware.version", "firmware.part_number", "firmware.psid"),
    optional=("firmware.part_number", "firmware.psid"),
    severity=Severity.ERROR,
    needs_params=True,
    params_type=list[Allowed],
    remedy="Bring the component to one of the allowed versions with the vendor's own tool, or add the version to the baseline "
    "once it is tested. Parts of a server maker (another PSID) have lines of their own.",
)
def not_allowed(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every component that the baseline speaks of runs a version that the baseline allows for that very part.

    Several lines that cover a part are a set of good values: one of them is enough. A part that no line covers is not
    judged, and a version that the device cannot read is unknown, never wrong.

    Why it matters: NIC firmware, driver and switch OS are tested as sets. One host with other NIC firmware shows as a slow
    or hanging rank in jobs of a thousand hosts, with every link up and every counter clean.
    """
    lines: list[Allowed] = context.params
    seen = {key[0] for key in state.keys(Firmware, "version")}
    for component in sorted(seen | {line.component for line in lines if line.explicit}):
        matching = [line for line in lines if fnmatchcase(component, line.component)]
        if matching:
            yield from _judge(state, component, matching, component in seen)


def _judge(state: State, component: str, lines: list[Allowed], there: bool) -> Iterator[Judgement]:
    row = Address("firmware", (component,))
    version, part, psid = (state.cell(replace(row, column=column)) for column in ("version", "part_number", "psid"))
    meant = [(line, line.speaks_of(part, psid)) for line in lines]
    sure = [line for line, word in meant if word is True]
    doubts = [(line, word) for line, word in meant if isinstance(word, Cell)]
    if not sure and not doubts:
        return
    if version.value is ABSENT and not there:
        yield failed(row, _deviation(state, "absent", f"{component} is not there", sure or lines, (version,)))
    elif not version.present:
        yield unseen(row, why_unknown(state, version))
    elif any(line.allows(str(version.value)) for line in sure):
        yield passed(row)
    elif any(line.allows(str(version.value)) for line, _ in doubts) or not sure:
        every = not sure and all(line.allows(str(version.value)) for line, _ in doubts)
        yield passed(row) if every else unseen(row, why_unknown(state, doubts[0][1]))
    else:
        cells = (version, *(cell for cell in (part, psid) if cell.present))
        named = "".join(f", {word} {cell.value}" for word, cell in (("part", part), ("PSID", psid)) if cell.present)
        message = f"{component}{named} runs version {version.value}"
        yield failed(row, _deviation(state, str(version.value), message, sure, cells))


def _deviation(state: State, observed: str, message: str, lines: list[Allowed], cells: tuple[Cell, ...]) -> Deviation:
    wanted = " or ".join(dict.fromkeys(line.words for line in lines))
    why = "; ".join(dict.fromkeys(line.why for line in lines))
    return Deviation(
        expected=wanted,
        observed=observed,
        message=f"{message}; allowed: {wanted} ({why})",
        spots=tuple(Spot(state.device, replace(cell.address, layer=cell.layer)) for cell in cells),
        severity=min((line.severity for line in lines), key=lambda severity: severity.rank),
    )


def why_unknown(state: State, cell: Cell) -> Gap:
    """Why a cell cannot be used: its gap, or that the component is there and does not tell, which is no mismatch."""
    column, key = str(cell.address.column), cell.address.key
    silent = f"{key[0]} does not tell its {column.replace('_', ' ')}"
    return cell.gap or Gap(state.device, "firmware", "", GapReason.NOT_COLLECTED, silent, cell.layer, key, (column,))
