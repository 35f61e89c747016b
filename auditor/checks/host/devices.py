"""Rules about the devices of a GPU host: there or missing, named as before, on their NUMA node, as near as printed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field, field_validator

from auditor import canonical
from auditor.address import Address, Layer
from auditor.facts import Gpu, NcclPath, Nic, Pci, RdmaPort
from auditor.model import (
    Cell,
    Deviation,
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
from auditor.topology.places import NETWORK, Function, above, affinity, is_gpu, places

SHOWN = 8


class Slots(BaseModel):
    """Where the devices of one hardware model sit: PCI addresses."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gpu: list[str] = Field(default_factory=list, description="PCI addresses of the GPUs")
    nic: list[str] = Field(default_factory=list, description="PCI addresses of the network adapters")

    @field_validator("gpu", "nic")
    @classmethod
    def _addresses(cls, texts: list[str]) -> list[str]:
        return [canonical.pci(text) for text in texts]


@check(
    family="host",
    reads=("pci.class_code", "pci.parent"),
    optional=("gpu.index", "pci.slot"),
    severity=Severity.CRITICAL,
    needs_params=True,
    params_type=dict[str, Slots],
    remedy="Look at the kernel's log for the slot (link down, AER, Xid 79). Drain the host and start it anew with power off in "
    "between; if the device does not come back, take the card out and in again, then exchange it.",
)
def device_missing(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every GPU and network adapter of the hardware model is on the PCI bus, in its slot, and GPUs are known to their driver.

    The slots of a model are a matter of the baseline: counting what software shows finds the same wrong number everywhere. Where
    as many devices of the kind are there as wanted, only under other addresses, the buses were numbered anew (another card,
    another BIOS) and nothing is lost: a warning. A model of which the baseline says nothing is not judged.

    Why it matters: a host with seven GPUs, or without one of its NICs, passes every check that asks whether what is there is
    healthy. The job that needs eight does not start, or its slowest rank waits for a NIC that two of them share.
    """
    slots: Slots | None = context.params.get(context.hardware_model)
    rows = state.rows(Pci)
    if slots is None:
        return
    there = {
        "GPU": {address for (address,), row in rows.items() if is_gpu(row.class_code, row.vendor_id)},
        "NIC": {address for (address,), row in rows.items() if (row.class_code or 0) >> 8 == NETWORK},
    }
    for kind, wanted in (("GPU", slots.gpu), ("NIC", slots.nic)):
        moved = sorted(there[kind] - set(wanted))
        lost = [address for address in wanted if (address,) not in rows]
        renumbered = bool(lost) and len(moved) >= len(lost)
        for address in wanted:
            yield _there(state, kind, address, moved if renumbered else [])


def _there(state: State, kind: str, address: str, moved: Sequence[str]) -> Judgement:
    row = Address(Pci.TABLE, (address,))
    found = state.has_row(row)
    if found is None:
        return unseen(row, state.gap_at(Pci.TABLE, None, (address,), None))
    cell = state.cell(replace(row, column="class_code"))
    if not found and moved:
        message = f"no {kind} at {address}; as many as wanted are there under other addresses ({_listed(moved)}): numbered anew?"
        return failed(
            row, Deviation(f"a {kind}", "at another address", message, (_spot(state, cell),), severity=Severity.WARNING)
        )
    if not found:
        return failed(
            row, Deviation(f"a {kind}", "absent", f"no {kind} at {address}: it is not on the PCI bus", (_spot(state, cell),))
        )
    driver = Address(Gpu.TABLE, (address,), "index")
    if kind == "GPU" and state.layer_of(Gpu, "index") is not None and state.has_row(driver.row) is False:
        message = f"the GPU at {address} is on the PCI bus and its driver does not show it"
        return failed(row, Deviation("a GPU", "no driver", message, (_spot(state, state.cell(driver)), _spot(state, cell))))
    return passed(row)


@check(
    family="host",
    reads=("nic.netdev", "rdma_port.pci"),
    optional=("nic.netdev", "rdma_port.pci"),
    severity=Severity.WARNING,
    needs_params=True,
    params_type=dict[str, dict[str, list[str]]],
    remedy="Names follow the order in which drivers find the cards, or the slot. Bind them to the PCI address (a udev rule, a "
    ".link file), or write PCI addresses where plan and jobs use names; then look whether NCCL_IB_HCA and the plan still mean "
    "the same ports. No cable has to be touched.",
)
def nic_renamed(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every network adapter of the hardware model carries the names that the baseline gives to its PCI address.

    Names are those of network devices and of RDMA devices. One finding for each host that lists all that moved; what else is
    judged follows the PCI address and not the name. An adapter that is not there at all is not renamed.

    Why it matters: after a new kernel or another card mlx5_3 is another adapter. Configuration, plan and job still say mlx5_3:
    the host is cabled right and sends by the wrong rail.
    """
    wanted: Mapping[str, Sequence[str]] = context.params.get(context.hardware_model, {})
    if not wanted:
        return
    named: dict[str, set[str]] = defaultdict(set)
    cells: dict[str, Cell] = {}
    for key, nic in sorted(state.rows(Nic).items()):
        if nic.netdev is not None:
            named[key[0]].add(nic.netdev)
            cells[nic.netdev] = state.cell(Address(Nic.TABLE, key, "netdev"))
    for key, port in sorted(state.rows(RdmaPort).items()):
        if port.pci is not None:
            named[port.pci].add(port.name)
            cells[port.name] = state.cell(Address(RdmaPort.TABLE, key, "pci"))
    if not named:
        yield unseen(Address(Nic.TABLE), state.gap_at(Nic.TABLE, None, (), "netdev"))
        return
    places_of = {name: address for address, names in named.items() for name in names}
    said, spots = [], []
    for text, names in sorted(wanted.items()):
        address = canonical.pci(text)
        for name in names:
            now = places_of.get(name)
            others = sorted(named[address] - set(names)) if address in named else []
            if now == address or (now is None and not others):
                continue
            said.append(f"{name} of {address} is now {'at ' + now if now else 'called ' + ' and '.join(others)}")
            spots += [_spot(state, cells[other]) for other in ([name] if now else others)]
    row = Address(Nic.TABLE)
    if not said:
        yield passed(row)
        return
    yield failed(row, Deviation("names as in the baseline", "; ".join(said), f"renamed: {_listed(said, '; ')}", tuple(spots)))


@check(
    family="host",
    reads=("pci.numa_node", "pci.parent", "pci.class_code"),
    severity=Severity.ERROR,
    remedy="Compare BIOS version and settings (NUMA nodes per socket, sub-NUMA clustering, SRAT) with a host of the model that "
    "is right; after a BIOS update, load its defaults and set them anew.",
)
def numa_mismatch(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every GPU and network adapter says the NUMA node of the processor's port that it hangs under.

    A GPU or network adapter without a node (-1) whose twins have one is a warning: on a host of several nodes software guesses
    then. On a host with one node, and where no device of the kind names any (virtual machines), nothing is judged.
    Which node a slot belongs to is a matter of the machine: hosts of one model are compared with each other.

    Why it matters: pinning of processes, buffers and interrupts follows these numbers. With a wrong one every byte crosses the
    link between the sockets, twice.
    """
    rows = state.rows(Pci)
    nodes = {row.numa_node for row in rows.values()} - {None}
    if len(nodes) < 2:
        return
    functions = {address: Function(row.parent) for (address,), row in rows.items()}
    twins = {(row.vendor_id, row.device_id) for row in rows.values() if row.numa_node is not None}
    for key, row in sorted(rows.items()):
        if not is_gpu(row.class_code, row.vendor_id) and (row.class_code or 0) >> 8 != NETWORK:
            continue
        ports = above(key[0], functions)
        top = rows.get((ports[-1],)) if ports else None
        cell = state.cell(Address(Pci.TABLE, key, "numa_node"))
        kind = "GPU" if is_gpu(row.class_code, row.vendor_id) else "NIC"
        if row.numa_node is None and (row.vendor_id is None or (row.vendor_id, row.device_id) not in twins):
            if cell.gap is not None:
                yield unseen(cell.address.row, cell.gap)
            continue
        yield _node(state, kind, cell, None if top is None else state.cell(Address(Pci.TABLE, top.key, "numa_node")))


def _node(state: State, kind: str, cell: Cell, top: Cell | None) -> Judgement:
    row, address = cell.address.row, cell.address.key[0]
    if cell.gap is not None and cell.gap.reason is not GapReason.UNSUPPORTED and not cell.present:
        return unseen(row, cell.gap)
    if not cell.present:
        message = f"the firmware names no NUMA node for the {kind} {address}, though it names those of its twins"
        return failed(row, Deviation("a NUMA node", "none", message, (_spot(state, cell),), severity=Severity.WARNING))
    if top is not None and top.present and top.value != cell.value:
        port = top.address.key[0]
        message = f"the {kind} {address} says NUMA node {cell.value}, the port {port} above it node {top.value}"
        spots = (_spot(state, cell), _spot(state, top))
        return failed(row, Deviation(f"NUMA node {top.value}", f"NUMA node {cell.value}", message, spots))
    return passed(row)


@check(
    family="host",
    reads=("nccl_path.kind", "pci.parent", "pci.numa_node", "pci.class_code", "rdma_port.pci"),
    optional=("nccl_path.kind", "pci.parent", "pci.numa_node", "pci.class_code", "rdma_port.pci", "gpu.index"),
    severity=Severity.WARNING,
    remedy="Restart the host's GPU driver and look again; if they still disagree, compare the PCI tree with a host of the model, "
    "and trust the tree. A job inside a container may see another tree than the host.",
)
def affinity_disagrees(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """The driver of the GPUs (`nvidia-smi topo -m`) sees GPUs and NICs as near to each other as the PCI tree has them.

    Compared is what matters: below one port of the processor, on one NUMA node, or on two. How many switches lie between (PIX,
    PXB) and whether a host bridge does (PHB, NODE) tools count in different ways. Judged only where both are known, and not for
    a device that names another NUMA node than the port above it: that is `host.numa_mismatch`.

    Why it matters: libraries and schedulers place ranks by what the driver says. If it is wrong, so are they.
    """
    printed = {key: row.kind for key, row in state.rows(NcclPath, Layer.CONFIGURED).items() if row.kind is not None}
    if not printed:
        return
    wrong, compared, spots = [], 0, []
    astray = _astray(state)
    for gpu, nic, kind in near(state):
        other = printed.get((gpu, nic))
        if kind is None or other is None or gpu in astray or nic in astray:
            continue
        compared += 1
        if _CLASSES[kind] != _CLASSES[other]:
            wrong.append(f"GPU {gpu} and {nic}: {kind} by the tree, {other} printed")
            spots.append(Spot(state.device, Address(NcclPath.TABLE, (gpu, nic), "kind", Layer.CONFIGURED)))
    row = Address(NcclPath.TABLE)
    if wrong:
        message = f"the GPU driver and the PCI tree disagree about {_listed(wrong, '; ')}"
        yield failed(row, Deviation("paths as in the PCI tree", "; ".join(wrong), message, tuple(spots)))
    elif compared:
        yield passed(row)


_CLASSES = {"PIX": "local", "PXB": "local", "PHB": "node", "NODE": "node", "SYS": "far"}


def near(state: State) -> Iterator[tuple[str, str, str | None]]:
    """(number of the GPU, RDMA device, kind of path) computed from the PCI tree; nothing where the tree is not known."""
    rows = state.rows(Pci)
    try:
        hanging = places({address: Function(row.parent, row.numa_node) for (address,), row in rows.items()})
    except ValueError:
        return
    numbered = {number: hanging[address] for number, address in _numbered(state).items()}
    nics = {
        port.name: hanging[port.pci] for port in state.rows(RdmaPort).values() if port.pci is not None and port.pci in hanging
    }
    for gpu, nic, kind, _ in affinity(numbered, nics):
        yield gpu, nic, kind


def _numbered(state: State) -> dict[str, str]:
    """PCI addresses of the GPUs by their number: the driver's, else the order of the addresses."""
    numbers = {key[0]: row.index for key, row in state.rows(Gpu).items()}
    gpus = sorted(address for (address,), row in state.rows(Pci).items() if is_gpu(row.class_code, row.vendor_id))
    return {str(at if numbers.get(address) is None else numbers[address]): address for at, address in enumerate(gpus)}


def _astray(state: State) -> set[str]:
    """Numbers of GPUs and names of RDMA devices on another NUMA node than the processor's port above them."""
    rows = state.rows(Pci)
    functions = {address: Function(row.parent) for (address,), row in rows.items()}
    named = _numbered(state) | {port.name: port.pci for port in state.rows(RdmaPort).values() if port.pci is not None}
    found = set()
    for name, address in named.items():
        own, ports = rows.get((address,)), above(address, functions)
        top = rows.get((ports[-1],)) if ports else None
        nodes = {row.numa_node for row in (own, top) if row is not None} - {None}
        if len(nodes) > 1:
            found.add(name)
    return found


def _spot(state: State, cell: Cell) -> Spot:
    return Spot(state.device, replace(cell.address, layer=cell.layer))


def _listed(texts: Sequence[str], mark: str = ", ") -> str:
    return mark.join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")
