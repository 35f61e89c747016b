"""Rules about GPUs as their driver sees them. Load is not judged: an idle GPU lowers clocks and the speed of its PCI link."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.checks.lifecycle import layer as layers
from auditor.facts import Gpu, Pci
from auditor.model import (
    Cell,
    Deviation,
    Gap,
    GapReason,
    Judgement,
    RuleContext,
    Severity,
    State,
    check,
    failed,
    passed,
    unseen,
)

READY, WELL = "completed", "success"
"""The one state and the one status of a GPU that is part of its NVLink fabric, lower case."""

NVIDIA = 0x10DE
DISPLAY = (0x0300, 0x0302)
"""Classes of GPUs on the PCI bus: with and without a display."""


@check(
    family="host",
    reads=("gpu.fabric_state", "gpu.fabric_status", "pci.vendor_id", "pci.class_code"),
    optional=("gpu.fabric_state", "gpu.fabric_status", "pci.vendor_id", "pci.class_code"),
    severity=Severity.CRITICAL,
    remedy="Look at the fabric manager first (systemctl status nvidia-fabricmanager): it must run, in the version of the driver. "
    "Where it runs and a GPU stays out, drain the host and reset the GPUs; what remains is a matter of the baseboard. In a "
    "fabric that is shared out by partitions a GPU waits until its partition is made.",
)
def gpu_fabric_failed(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every GPU that belongs to an NVLink fabric has joined it: its state is Completed and its status Success.

    The state alone says nothing: Completed with Insufficient Resources is a GPU without its peers. A text that is not
    known is no good news either. A GPU that has no part in a fabric (N/A, Not Supported) and a driver that does not print the
    fabric are not judged.

    Why it matters: a GPU outside the fabric has no NVLink. Programs do not start on it, or they run and the collective library
    takes PCI Express instead, at a tenth of the bandwidth, for all ranks of the job.
    """
    gap = _silent_driver(state)
    if gap is not None:
        yield unseen(Address(Gpu.TABLE), gap)
    for key in state.keys(Gpu, "fabric_state"):
        row = Address(Gpu.TABLE, key)
        phase, status = (state.cell(replace(row, column=column)) for column in ("fabric_state", "fabric_status"))
        if not phase.known:
            yield unseen(row, layers.gap_of(state, phase))
        elif phase.present and phase.value != READY:
            yield failed(row, _outside(state, key[0], (phase, status), Severity.ERROR))
        elif phase.present and not status.known:
            yield unseen(row, layers.gap_of(state, status))
        elif phase.present:
            yield passed(row) if status.value == WELL else failed(row, _outside(state, key[0], (phase, status), None))


def _outside(state: State, pci: str, cells: tuple[Cell, Cell], severity: Severity | None) -> Deviation:
    phase, status = (layers.words(cell.value) if cell.present else "none" for cell in cells)
    return Deviation(
        expected=f"{READY}, {WELL}",
        observed=f"{phase}, {status}",
        message=f"the GPU at {pci} is not part of its NVLink fabric: state {phase}, status {status}",
        spots=tuple(layers.spot(state, cell) for cell in reversed(cells) if cell.present),
        severity=severity,
    )


@check(
    family="host",
    reads=("gpu.nvlinks_up", "gpu.model"),
    optional=("gpu.nvlinks_up", "gpu.model"),
    severity=Severity.ERROR,
    remedy="See which links of that GPU are off (nvidia-smi nvlink -s). Drain the host and reset its GPUs; links that stay off "
    "are a matter of the baseboard or, between two cards, of the bridge.",
)
def nvlinks_differ(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """All GPUs of one model in a host have the same number of NVLinks running.

    How many links a model has is not known here, and products differ (12 of 18 is right for one of them). So the GPUs of the
    host are held against each other; hosts of a model are compared by `fabric.inconsistent`.

    Why it matters: a ring runs at the speed of its slowest link. One GPU with fewer NVLinks slows down every job on the host,
    with all the links that are left up and no error anywhere.
    """
    by_model: dict[object, list[Cell]] = defaultdict(list)
    for key in state.keys(Gpu, "nvlinks_up"):
        row = Address(Gpu.TABLE, key)
        cell, model = (state.cell(replace(row, column=column)) for column in ("nvlinks_up", "model"))
        if cell.present:
            by_model[model.value].append(cell)
        elif not cell.known and (gap := layers.gap_of(state, cell)).reason is not GapReason.UNSUPPORTED:
            yield unseen(row, gap)
    for cells in by_model.values():
        counts = Counter(int(str(cell.value)) for cell in cells)
        if len(cells) < 2:
            continue
        most = max(counts)
        for cell in cells:
            yield passed(cell.address.row) if cell.value == most else failed(cell.address.row, _fewer(state, cell, counts))


def _fewer(state: State, cell: Cell, counts: Counter[int]) -> Deviation:
    most = max(counts)
    others = f"{counts[most]} of the {sum(counts.values())} GPUs of its kind have {most}"
    return Deviation(
        expected=str(most),
        observed=str(cell.value),
        message=f"the GPU at {cell.address.key[0]} has {cell.value} NVLinks running where {others}",
        spots=(layers.spot(state, cell),),
    )


def _silent_driver(state: State) -> Gap | None:
    """Why nothing is known of the GPUs, where there should be something: the driver was asked and failed, or its tool is not
    there although GPUs are on the PCI bus."""
    if state.layer_of(Gpu, "fabric_state") is not None:
        return None
    gap = next((gap for gap in state.gaps if gap.covers(Gpu.TABLE, None, (), "fabric_state")), None)
    if gap is None or gap.reason is not GapReason.UNSUPPORTED:
        return gap
    cards = [key[0] for key, row in state.rows(Pci).items() if row.vendor_id == NVIDIA and row.class_code in DISPLAY]
    if not cards:
        return None
    count = f"{len(cards)} NVIDIA GPUs are on the PCI bus ({cards[0]} …)" if len(cards) > 1 else f"a GPU is at {cards[0]}"
    return replace(gap, reason=GapReason.REJECTED, detail=f"{count}, but {gap.detail}")
