"""`firmware.mixed_in_host`: adapters of one host that are the same part and run different firmware."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.baseline.version import version_key
from auditor.canonical import printable
from auditor.checks.firmware.versions import nothing_seen
from auditor.facts import Firmware, Pci
from auditor.model import Cell, Deviation, Judgement, RuleContext, Severity, Spot, State, check, failed, passed

_SHOWN = 4


@check(
    family="firmware",
    reads=("firmware.version", "firmware.psid", "firmware.part_number", "pci.vendor_id", "pci.device_id"),
    optional=("firmware.version", "firmware.psid", "firmware.part_number", "pci.vendor_id", "pci.device_id"),
    severity=Severity.WARNING,
    remedy="Bring the odd adapters to the version of the others. As a rule they were replaced, or missed an update that did the "
    "rest.",
)
def mixed_in_host(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """All adapters of a host that are the same part run the same firmware.

    The same part have adapters with one parameter-set id (PSID), else with one part number, else with one PCI device id. What
    most of them run is the common version, of two equally common ones the later; adapters of which none of this is known are
    not compared.

    Why it matters: a host's ranks leave through all of its adapters at once. The one with other firmware sets the pace of the
    job, and a comparison of whole hosts misses it where every host has its odd one.
    """
    yield from nothing_seen(state)
    alike: dict[str, list[Cell]] = defaultdict(list)
    for key in state.keys(Firmware, "version"):
        cell = state.cell(Address(Firmware.TABLE, key, "version"))
        kind = _kind(state, key[0]) if key[0].startswith("nic.") and cell.present else ""
        if kind:
            alike[kind].append(cell)
    several = {kind: cells for kind, cells in alike.items() if len(cells) > 1}
    odd = False
    for kind, cells in sorted(several.items()):
        counts = Counter(str(cell.value) for cell in cells)
        common = max(counts, key=lambda version: (counts[version], version_key(version)))
        for cell in cells:
            if cell.value != common:
                odd = True
                yield failed(cell.address.row, _deviation(state, kind, cell, common, cells))
    if several and not odd:
        yield passed(Address(Firmware.TABLE))


def _kind(state: State, component: str) -> str:
    """What makes an adapter the same part as another one; empty where nothing tells."""
    row = Address(Firmware.TABLE, (component,))
    for column, word in (("psid", "PSID"), ("part_number", "part")):
        value = state.cell(replace(row, column=column)).value
        if isinstance(value, str):
            return f"{word} {value}"
    place = Address(Pci.TABLE, (component.removeprefix("nic."),))
    vendor, device = (state.cell(replace(place, column=column)).value for column in ("vendor_id", "device_id"))
    return f"PCI id {vendor:04x}:{device:04x}" if isinstance(vendor, int) and isinstance(device, int) else ""


def _deviation(state: State, kind: str, cell: Cell, common: str, cells: list[Cell]) -> Deviation:
    others = [other.address.key[0] for other in cells if other.value == common]
    named = ", ".join(others[:_SHOWN]) + (f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else "")
    like = next(other for other in cells if other.value == common)
    return Deviation(
        expected=printable(f"{common}, as on {len(others)} of {len(cells)} adapters with {kind}"),
        observed=str(cell.value),
        message=printable(
            f"{cell.address.key[0]} runs version {cell.value}; {named} with the same {kind} run {common}", 1000
        ),
        spots=tuple(Spot(state.device, replace(item.address, layer=item.layer)) for item in (cell, like)),
    )  # fmt: skip
