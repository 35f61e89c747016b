"""Rules about what the collective library found inside one host: the frozen topology, GPUDirect RDMA, a pinned topology file."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field, field_validator

from auditor import topology
from auditor.address import Address
from auditor.canonical import printable
from auditor.checks.nccl.libraries import libraries
from auditor.facts import NcclEnv, NcclNet, NcclPath, NcclTopology
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

_NAMED = 8


class Frozen(BaseModel):
    """The shape of one hardware model, as `auditor baseline promote` freezes it from a tuned host."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shape: list[str] = Field(min_length=1, description="The topology in sentences, as `nccl_topology.shape` tells it")
    why: str = Field(default="", description="Where it comes from")

    @field_validator("shape")
    @classmethod
    def _sentences(cls, value: list[str]) -> list[str]:
        topology.Shape.read(value)
        return value


@check(
    family="nccl",
    reads=("nccl_topology.fingerprint_shape", "nccl_topology.shape", "nccl_topology.static"),
    optional=("nccl_topology.fingerprint_shape", "nccl_topology.shape", "nccl_topology.static"),
    severity=Severity.ERROR,
    needs_params=True,
    params_type=dict[str, Frozen],
    remedy="If the host was rebuilt on purpose, freeze the new shape: `auditor baseline promote`. Else look at what the words "
    "name: BIOS settings of NUMA nodes and PCIe slots, the slot of a card, what the last repair changed.",
)
def topology_changed(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The topology that the collective library finds is the one frozen for the hardware model.

    Compared is the shape: structure, link widths and speeds, NUMA nodes, links between GPUs; not addresses, identities, the order
    of elements or the version of the library. What either side does not say is no difference. A host of a model without a frozen
    shape is left alone; a static file, as clouds ship it, tells too little to be compared with a dump.

    Why it matters: comparing hosts with each other finds the odd one. What changed on all of them at once, with a BIOS update or
    a new image, only shows against what was frozen when the machine was tuned.
    """
    frozen: Frozen | None = context.params.get(context.hardware_model)
    if frozen is None:
        return
    object_ = Address(NcclTopology.TABLE)
    cell = state.cell(Address(NcclTopology.TABLE, (), "fingerprint_shape"))
    shape = state.cell(Address(NcclTopology.TABLE, (), "shape")).value
    if not isinstance(shape, tuple) or not cell.present:
        yield unseen(object_, cell.gap or _gap(state, NcclTopology.TABLE, "no topology was seen"))
        return
    wanted = topology.Shape.read(frozen.shape)
    sentences = [str(sentence) for sentence in shape]
    if state.cell(Address(NcclTopology.TABLE, (), "static")).value is True and wanted.names:
        detail = "a static file tells distances only, and what is frozen is a dump"
        yield unseen(object_, _gap(state, NcclTopology.TABLE, detail))
        return
    words = topology.difference(frozen.shape, sentences)
    if not words:
        yield passed(object_)
        return
    told = "; ".join(words[:_NAMED]) + (f"; and {len(words) - _NAMED} more differences" if len(words) > _NAMED else "")
    yield failed(
        object_,
        Deviation(
            expected=f"the shape frozen for {printable(context.hardware_model, 80)} ({topology.fingerprint(frozen.shape)})",
            observed=f"{cell.value}: {printable(told, 1000)}",
            message=f"the topology is not the frozen one: {printable(told, 2000)}",
            spots=(_spot(state, cell),),
        ),
    )


class Gpudirect(BaseModel):
    """Whether hosts can do GPUDirect RDMA; without a word of the baseline they are taken to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    expected: bool = Field(description="False where the machine cannot: nothing is said of it then")
    why: str = Field(min_length=1, description="Why")


@check(
    family="nccl",
    reads=("nccl_net.gdr",),
    optional=("nccl_net.gdr",),
    severity=Severity.ERROR,
    params_type=Gpudirect,
    remedy="Load the peer-memory module (nvidia_peermem; its name changed with driver and kernel) or use a kernel and driver "
    "with DMA-BUF, and check that ACS and the IOMMU do not stand in the way. Machines that cannot: say so in the baseline, "
    "`params: {nccl.gdr_off: {expected: false, why: …}}`.",
)
def gdr_off(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The collective library reaches the memory of GPUs directly through every RDMA adapter (GPUDirect RDMA).

    Ports of sockets never can and do not count. One finding for each host, however many adapters it touches.

    Why it matters: without it every byte goes through the host's memory. A peer-memory module that an upgrade renamed and
    nobody loaded took jobs from 180 to 10 GB/s, without any error.
    """
    intent: Gpudirect | None = context.params
    if intent is not None and not intent.expected:
        return
    object_ = Address(NcclNet.TABLE)
    cells = {key: state.cell(Address(NcclNet.TABLE, key, "gdr")) for key in state.keys(NcclNet, "gdr") if key[1] != "0"}
    off = {key: cell for key, cell in cells.items() if cell.value is False}
    if off:
        names = _names(off)
        every = f"all {len(off)}" if len(off) == len(cells) else f"{len(off)} of {len(cells)}"
        words = f"{every} RDMA ports ({names})" if len(cells) > 1 else names
        yield failed(
            object_,
            Deviation(
                expected="GPUDirect RDMA on every RDMA port",
                observed=f"off on {words}",
                message=f"GPUDirect RDMA is off on {words}",
                spots=tuple(_spot(state, cell) for cell in off.values())[:_NAMED],
            ),
        )
        return
    hidden = [cell.gap for cell in cells.values() if cell.gap is not None]
    hidden += [gap for gap in state.gaps if gap.table == NcclNet.TABLE and gap.reason is not GapReason.UNSUPPORTED]
    if hidden:
        yield unseen(object_, hidden[0])
    elif cells:
        yield passed(object_)


class Pinned(BaseModel):
    """Topology files that hosts may be told to load."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allowed: list[str] = Field(min_length=1, description="Paths, or globs over paths")
    why: str = Field(min_length=1, description="Why these machines need one")


_VARIABLE = "NCCL_TOPO_FILE"
_TOO_NARROW = 4
"""A nearest path that carries less than this part of its port's rate is not what the machine has: 2.5 GT/s and one lane in a
file make 2 Gb/s beside a port of 400."""


@check(
    family="nccl",
    reads=("nccl_env.value", "nccl_topology.static", "nccl_topology.virtual", "nccl_path.bandwidth", "nccl_net.speed"),
    optional=("nccl_env.value", "nccl_topology.static", "nccl_topology.virtual", "nccl_path.bandwidth", "nccl_net.speed"),
    severity=Severity.WARNING,
    params_type=Pinned,
    remedy="Take the variable away and let the library look for itself; a virtual machine that needs the file gets the one of "
    "its hypervisor's maker for this very size, and the baseline names it: "
    "`params: {nccl.pinned_topology_file: {allowed: [/opt/…], why: …}}`.",
)
def pinned_topology_file(state: State, context: RuleContext) -> Iterator[Judgement]:
    """No host is told by NCCL_TOPO_FILE to believe a file about its own PCI tree, but for those that the baseline names, and for
    virtual machines, which cannot see it themselves.

    An error, whoever allowed it, where the topology that came of it cannot be: the nearest path of a GPU to its adapter carries
    less than a quarter of the adapter's rate.

    Why it matters: the library takes the file's word for widths, speeds and distances. A file from another generation, or one
    with 2.5 GT/s and a single lane in it, makes it plan with a fraction of the bandwidth that is there.
    """
    object_ = Address(NcclEnv.TABLE)
    keys = [key for key in state.keys(NcclEnv, "value") if key[1] == _VARIABLE]
    cells = [(key, state.cell(Address(NcclEnv.TABLE, key, "value"))) for key in keys]
    set_ = [(key, cell) for key, cell in cells if isinstance(cell.value, str) and cell.value.strip()]
    narrow = _narrow(state)
    intent: Pinned | None = context.params
    if not set_:
        hidden = next((cell.gap for _, cell in cells if cell.gap is not None), None)
        if hidden is not None:
            yield unseen(object_, hidden)
        elif _environment_seen(state):
            yield passed(object_)
        return
    allowed = [any(fnmatchcase(str(cell.value), glob) for glob in intent.allowed) for _, cell in set_] if intent else []
    if not narrow and ((allowed and all(allowed)) or _hides_its_tree(state)):
        yield passed(object_)
        return
    told = ", ".join(f"{_VARIABLE}={printable(str(cell.value), 120)} ({printable(key[0], 80)})" for key, cell in set_)
    message = f"{told} makes the library take a file's word for the PCI tree"
    yield failed(
        object_,
        Deviation(
            expected=f"{_VARIABLE} not set" if intent is None else f"{_VARIABLE} one of {', '.join(intent.allowed)}",
            observed=told,
            message=message + (f", and what came of it cannot be: {narrow[0]}" if narrow else ""),
            spots=(*(_spot(state, cell) for _, cell in set_), *narrow[1:]),
            severity=Severity.ERROR if narrow else None,
        ),
    )


def _environment_seen(state: State) -> bool:
    """Whether any environment of the library was read, so that a variable that is not there is not set."""
    site = [library.site_file for library in libraries() if library.site_file]
    return bool(state.keys(NcclEnv, "value")) or any(
        state.has_row(Address(NcclEnv.TABLE, (file, _VARIABLE))) is False for file in site
    )


def _hides_its_tree(state: State) -> bool:
    columns = ("static", "virtual")
    return any(state.cell(Address(NcclTopology.TABLE, (), column)).value is True for column in columns)


def _narrow(state: State) -> tuple[str, Spot] | tuple[()]:
    """The narrowest nearest path that cannot be, in words and as the cell that says so."""
    rates = {key[0]: state.cell(Address(NcclNet.TABLE, key, "speed")).value for key in state.keys(NcclNet, "speed")}
    found = []
    for key in state.keys(NcclPath, "bandwidth"):
        cell = state.cell(Address(NcclPath.TABLE, key, "bandwidth"))
        near = state.cell(Address(NcclPath.TABLE, key, "nearest")).value is True
        rate = rates.get(key[1])
        if near and isinstance(cell.value, int) and isinstance(rate, int) and cell.value * _TOO_NARROW < rate:
            found.append((cell.value, key, rate, cell))
    if not found:
        return ()
    carried, (gpu, nic), rate, cell = min(found, key=lambda item: item[:2])
    words = f"the way from GPU {gpu} to its nearest port {printable(nic, 40)} carries {carried / 1e9:.3g} Gb/s of {rate / 1e9:g}"
    return words, _spot(state, cell)


def _names(ports: dict[tuple[str, ...], Cell]) -> str:
    names = [printable(key[0], 40) for key in sorted(ports, key=lambda key: [topology.natural(part) for part in key])]
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _spot(state: State, cell: Cell) -> Spot:
    return Spot(state.device, Address(cell.address.table, cell.address.key, cell.address.column, cell.layer))


def _gap(state: State, table: str, detail: str) -> Gap:
    return Gap(state.device, table, "", GapReason.UNSUPPORTED, detail)
