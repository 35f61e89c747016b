"""`lifecycle.pending_next_boot`: firmware options of NICs that take another value at the next start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from auditor.address import Address, Layer
from auditor.checks.lifecycle import layer as layers
from auditor.facts import NicOption
from auditor.model import Cell, Deviation, Judgement, RuleContext, Severity, State, check, failed, passed, unseen

SHOWN = 8
"""Options that a message lists."""


@check(
    family="lifecycle",
    reads=("nic_option.value",),
    optional=("nic_option.value",),
    severity=Severity.WARNING,
    remedy="If the new value is wanted, drain the host and start it anew (some options need a power cycle); if not, set the "
    "option back with the vendor's tool before somebody restarts the host for another reason.",
)
def pending_next_boot(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every firmware option of a NIC already has the value that it will have after the next start.

    Compared are options that both layers tell; a tool that prints the next start alone leaves the NIC not evaluated.

    Why it matters: an option that waits for a restart makes the host another machine at a moment that nobody chose. Link type,
    relaxed ordering or the number of virtual functions changes with the next reboot, under the next job.
    """
    layer_rows = {layer: state.tables.get((NicOption, layer), {}) for layer in (Layer.APPLIED, Layer.NEXT_BOOT)}
    names: dict[str, set[str]] = defaultdict(set)
    for rows in layer_rows.values():
        for pci, name in rows:
            names[pci].add(name)
    for pci in sorted(names):
        yield _nic(state, pci, sorted(names[pci]))
    for pci in sorted({gap.key[0] for gap in state.gaps if gap.table == NicOption.TABLE and gap.key} - names.keys()):
        yield unseen(Address(NicOption.TABLE, (pci,)), state.gap_at(NicOption.TABLE, None, (pci,), None))
    gap = layers.open_gap(state, NicOption.TABLE, Layer.APPLIED, Layer.NEXT_BOOT)
    if gap is not None and not gap.key:
        yield unseen(Address(NicOption.TABLE), gap)


def _nic(state: State, pci: str, names: list[str]) -> Judgement:
    nic = Address(NicOption.TABLE, (pci,))
    waiting: list[tuple[Cell, Cell]] = []
    equal, seen = 0, {Layer.APPLIED: 0, Layer.NEXT_BOOT: 0}
    for name in names:
        now, then = (state.cell(Address(NicOption.TABLE, (pci, name), "value", layer)) for layer in seen)
        seen[Layer.APPLIED] += now.present
        seen[Layer.NEXT_BOOT] += then.present
        if now.present and then.present and now.value == then.value:
            equal += 1
        elif now.present and then.present:
            waiting.append((then, now))
    if waiting:
        return failed(nic, _deviation(state, pci, waiting))
    if equal:
        return passed(nic)
    read = max(seen, key=lambda layer: seen[layer])
    wanted = Layer.APPLIED if read is Layer.NEXT_BOOT else Layer.NEXT_BOOT
    return unseen(nic, layers.missing(state, nic, read, wanted))


def _deviation(state: State, pci: str, waiting: list[tuple[Cell, Cell]]) -> Deviation:
    """`waiting`: the cells of each option after the next start, and now."""
    lines = [f"{then.address.key[1]} {layers.words(now.value)} now, {layers.words(then.value)} then" for then, now in waiting]
    shown = lines[:SHOWN] + ([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])
    return Deviation(
        expected=", ".join(f"{now.address.key[1]} {layers.words(now.value)}" for _, now in waiting),
        observed=", ".join(f"{then.address.key[1]} {layers.words(then.value)}" for then, _ in waiting),
        message=f"the next start changes firmware options of the NIC at {pci}: {'; '.join(shown)}",
        spots=tuple(layers.spot(state, cell) for pair in waiting for cell in pair),
    )
