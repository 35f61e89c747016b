"""Rules about the PCI links of a GPU host: trained below what both ends can do, and detours that access control forces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from auditor.address import Address
from auditor.facts import Pci
from auditor.model import (
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
from auditor.topology.places import Function, above, is_gpu

BRIDGE, NVSWITCH, NVME, NETWORK = 0x0604, 0x0680, 0x0108, 0x02
"""Classes of PCI functions (of networks the upper byte): bridges, other bridges (NVSwitch), drives, network adapters."""

BUSY = "P0"
"""The only performance state in which a GPU never lowers its link to save power."""

_LINK = ("pci.width", "pci.width_cap", "pci.speed", "pci.speed_cap", "pci.parent", "pci.class_code")


@check(
    family="host",
    reads=_LINK,
    optional=("gpu.performance_state", "gpu.link_speed", "pci.slot"),
    severity=Severity.ERROR,
    remedy="Drain the host and take the card out and in again, then look at slot, riser and cable, and at the firmware of the "
    "card and of the switch above it. If it comes back, exchange the card with one from a good slot to see which of them it is.",
)
def pcie_degraded(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every PCI link runs as wide and as fast as the weaker of its two ends can.

    One judgement for each link, at its lower end; the functions of one card share theirs. Looked at are links to GPUs, network
    adapters and NVSwitches, those of the switches above them, and (as a warning) those of NVMe drives; others carry no traffic of
    a job. A slot that is slower than its card is no fault. Width counts always; the speed of a GPU's link only while the GPU is
    busy (P0), and then as a warning, since one look is no measurement. A link of which one end is not visible, as in a virtual
    machine, is not judged.

    Why it matters: NIC and GPU exchange every byte of a collective over these links. One that came up at half its lanes, without
    any error in any log, halves the bandwidth of one rail, and the whole job waits for it.
    """
    rows = state.rows(Pci)
    wanted = _carrying(rows)
    functions = {address: Function(row.parent) for (address,), row in rows.items()}
    lower: dict[str, list[str]] = defaultdict(list)
    orphans = []
    for (address,), row in sorted(rows.items()):
        inside = row.class_code == BRIDGE and len(above(address, functions)) % 2 == 0  # from one port of a switch to another
        if address not in wanted or row.class_code is None or inside:
            continue
        if row.parent is not None:
            lower[row.parent].append(address)
        elif row.width is not None and state.cell(Address("pci", (address,), "parent")).value is None:
            orphans.append(address)
    for parent, ends in sorted(lower.items()):
        yield from _Link(state, parent, min(ends), wanted[min(ends)]).judge()
    if orphans:
        yield unseen(Address("pci"), state.gap_at("pci", None, (orphans[0],), "parent"))
    hidden = next((gap for gap in state.gaps if gap.table == "pci" and "width" in gap.columns and not gap.key), None)
    if not lower and not orphans and hidden is not None:
        yield unseen(Address("pci"), hidden)


def _carrying(rows: Mapping[tuple[str, ...], Pci]) -> dict[str, Severity]:
    """Functions whose links are looked at, with what it means when one is degraded: ends, and the ports above them."""
    functions = {address: Function(row.parent) for (address,), row in rows.items()}
    found: dict[str, Severity] = {}
    for (address,), row in rows.items():
        code = row.class_code
        if code is None:
            continue
        if is_gpu(code, row.vendor_id) or code >> 8 == NETWORK or code == NVSWITCH:
            found.update(dict.fromkeys((address, *above(address, functions)), Severity.ERROR))
        elif code == NVME:
            found.setdefault(address, Severity.WARNING)
    return found


class _Link:
    """The link between a port and what hangs below it."""

    def __init__(self, state: State, upper: str, lower: str, severity: Severity) -> None:
        self.state, self.upper, self.lower, self.severity = state, upper, lower, severity
        self.object = Address("pci", (lower,))
        self.wrong: list[str] = []
        self.wanted: list[str] = []
        self.seen: list[str] = []
        self.spots: list[Cell] = []
        self.judged = 0

    def judge(self) -> Iterator[Judgement]:
        """The word on it; none where neither width nor speed is known of both ends."""
        self._width()
        self._speed()
        if self.wrong:
            yield failed(self.object, self._deviation())
        elif self.judged:
            yield passed(self.object)
        else:
            cells = [self._cell(self.lower, "width"), self._cell(self.upper, "width_cap")]
            gap = next(
                (self.state.gap_at("pci", None, cell.address.key, cell.address.column) for cell in cells if not cell.present),
                None,
            )
            if gap is not None:
                yield unseen(self.object, gap)

    def _cell(self, address: str, column: str, table: str = "pci") -> Cell:
        return self.state.cell(Address(table, (address,), column))

    def _least(self, column: str) -> tuple[int | None, list[Cell]]:
        """What the weaker end can do, and the cells of both."""
        cells = [self._cell(address, column) for address in (self.lower, self.upper)]
        values = [cell.value for cell in cells if isinstance(cell.value, int)]
        return (min(values) if len(values) == len(cells) else None), cells

    def _width(self) -> None:
        best, ends = self._least("width_cap")
        now = self._cell(self.lower, "width")
        if best is not None and isinstance(now.value, int):
            self._compare(now, best, ends, f"x{now.value}", f"x{best}")

    def _speed(self) -> None:
        best, ends = self._least("speed_cap")
        now = self._cell(self.lower, "speed")
        if not now.present and self._cell(self.lower, "performance_state", "gpu").value == BUSY:
            now = self._cell(self.lower, "link_speed", "gpu")
            if isinstance(now.value, int) and best is not None and now.value < best and not self.wrong:
                self.severity = Severity.WARNING
        if best is not None and isinstance(now.value, int):
            self._compare(now, best, ends, speed(now.value), speed(best))

    def _compare(self, now: Cell, best: int, ends: list[Cell], seen: str, wanted: str) -> None:
        self.judged += 1
        if int(str(now.value)) < best:
            self.wrong.append(f"runs at {seen}, both ends can do {wanted}")
            self.seen.append(seen)
            self.wanted.append(wanted)
            self.spots += [now, *ends]

    def _deviation(self) -> Deviation:
        slot = self._cell(self.lower, "slot").value
        where = f" (slot {slot})" if isinstance(slot, str) else ""
        return Deviation(
            expected=" ".join(self.wanted),
            observed=" ".join(self.seen),
            message=f"the PCI link from {self.upper} down to {self.what()} {self.lower}{where} {' and '.join(self.wrong)}",
            spots=tuple(Spot(self.state.device, _layered(cell)) for cell in self.spots),
            severity=self.severity,
        )

    def what(self) -> str:
        """What hangs there, in a word."""
        row = self.state.rows(Pci).get((self.lower,))
        code = row.class_code if row is not None else None
        if row is not None and is_gpu(code, row.vendor_id):
            return "the GPU"
        if code is not None and code >> 8 == NETWORK:
            return "the NIC"
        return {BRIDGE: "the switch", NVSWITCH: "the NVSwitch", NVME: "the drive"}.get(code or 0, "the function")


def speed(transfers: int) -> str:
    """`16 GT/s`, `2.5 GT/s`."""
    return f"{transfers / 1e9:g} GT/s"


def _layered(cell: Cell) -> Address:
    return Address(cell.address.table, cell.address.key, cell.address.column, cell.layer)


@check(
    family="host",
    reads=("pci.acs", "pci.parent", "pci.class_code"),
    severity=Severity.ERROR,
    remedy="On a host that runs no virtual machines, turn access control off for these ports: in the BIOS (ACS), or at every "
    "start before the jobs, as the maker of the GPUs describes it. Without IOMMU, or with it in pass-through mode, the kernel "
    "leaves it as the BIOS set it.",
)
def acs_on(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """PCI switches that carry GPUs pass traffic between their ports directly: access control services redirect none of it.

    Judged are the ports of a switch that has a GPU below one port and a GPU or a network adapter below another. Ports of the
    processor, and of switches that carry no GPU, may have it on.

    Why it matters: with redirection on, what a NIC writes into the GPU beside it goes up to the processor and down again.
    GPUDirect falls to a fraction of its bandwidth, or hangs, and nothing reports it.
    """
    rows = state.rows(Pci)
    for port in _between(rows):
        cell = state.cell(Address("pci", (port,), "acs"))
        row = Address("pci", (port,))
        if cell.value is None:
            yield unseen(row, cell.gap or Gap(state.device, "pci", "", GapReason.NOT_COLLECTED, "not seen", cell.layer, (port,)))
        elif cell.value is True:
            message = (
                f"the switch port {port} sends requests of what hangs below it to the processor (ACS), not to its neighbours"
            )
            yield failed(
                row,
                Deviation("ReqRedir- CmpltRedir-", "redirected", message, (Spot(state.device, _layered(cell)),)),
            )
        else:
            yield passed(row)


def _between(rows: Mapping[tuple[str, ...], Pci]) -> list[str]:
    """Ports of switches over which GPUs talk to their neighbours."""
    functions = {address: Function(row.parent) for (address,), row in rows.items()}
    gpus: dict[str, set[str]] = defaultdict(set)  # by the switch's port upwards: its ports with a GPU below
    ends: dict[str, set[str]] = defaultdict(set)
    for (address,), row in rows.items():
        code = row.class_code
        gpu = is_gpu(code, row.vendor_id)
        if not gpu and (code is None or code >> 8 != NETWORK):
            continue
        ports = above(address, functions)[::-1]  # the processor's, then a switch's own, then the one below it …
        for own, below in zip(ports[1::2], ports[2::2], strict=False):
            ends[own].add(below)
            if gpu:
                gpus[own].add(below)
    return sorted(port for own, below in ends.items() if len(below) > 1 and gpus[own] for port in below)
