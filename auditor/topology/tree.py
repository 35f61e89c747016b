"""The tree itself: processors, PCI functions, GPUs and network ports, as plain values; and the devices at its ends, labelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

GPU_CLASSES = frozenset({0x0300, 0x0302, 0x0380, 0x1200})
"""PCI classes of GPUs: VGA and 3D controllers, other display controllers (MI200), processing accelerators (MI300)."""

NIC_CLASSES = {0x0200: "ethernet", 0x0207: "infiniband"}
"""PCI classes of network adapters, and what their port ran as when the tree was taken."""

BRIDGE = 0x0604
"""PCI class of bridges: one with nothing below it is no device."""

MAX_DEVICES = 256
"""GPUs, and network ports, of one tree: the library itself keeps no more (NCCL_TOPO_MAX_NODES)."""


@dataclass(frozen=True, slots=True)
class GpuLink:
    """Links of one GPU to one neighbour. `kind` is nvlink, xgmi or c2c; `target` a PCI address, empty where it is hidden."""

    kind: str
    target: str
    count: int


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU. `number` is the one that its driver gives it."""

    number: int | None = None
    gdr: bool | None = None
    links: tuple[GpuLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Net:
    """A network port. `speed` in bit/s."""

    name: str
    port: int | None = None
    speed: int | None = None
    guid: str | None = None
    gdr: bool | None = None

    @property
    def socket(self) -> bool:
        """Port 0: a network device that the library reaches by sockets, not an RDMA port."""
        return self.port == 0


@dataclass(frozen=True, slots=True)
class Pci:
    """A PCI function with the link above it. `code` is its class (16 bits); `speed` transfers per second of a lane."""

    address: str
    code: int | None = None
    speed: int | None = None
    width: int | None = None
    children: tuple[Pci, ...] = ()
    gpu: Gpu | None = None
    nets: tuple[Net, ...] = ()


@dataclass(frozen=True, slots=True)
class Cpu:
    """A NUMA node and what hangs under it. `numa` None: the machine does not say. `nets`: ports without a PCI function."""

    numa: int | None = None
    cpus: tuple[int, ...] | None = None
    children: tuple[Pci, ...] = ()
    nets: tuple[Net, ...] = ()


@dataclass(frozen=True, slots=True)
class Topology:
    """The processors of one host with all that hangs under them."""

    cpus: tuple[Cpu, ...] = ()

    @property
    def static(self) -> bool:
        """No GPU and no network port is named: a file that tells distances only, as clouds ship it."""
        return not any(cpu.nets for cpu in self.cpus) and not any(pci.gpu or pci.nets for pci in self.functions())

    @property
    def virtual(self) -> bool:
        """The machine names no NUMA node: a virtual one that hides where things are."""
        return bool(self.cpus) and all(cpu.numa is None for cpu in self.cpus)

    def functions(self) -> Iterator[Pci]:
        """Every PCI function, parents first."""
        stack = [pci for cpu in reversed(self.cpus) for pci in reversed(cpu.children)]
        while stack:
            pci = stack.pop()
            yield pci
            stack.extend(reversed(pci.children))


@dataclass(frozen=True, slots=True)
class Device:
    """An end of the tree: `kind` GPU, NIC, socket or device (any other). `label` is its place in the order of its kind.

    GPUs are labelled by their number; network ports in the order of their names (2 before 10), which is that of the rails
    where names tell them; whatever has neither by PCI address. `bridges` are the functions above it, the outermost first.
    """

    label: str
    kind: str
    cpu: Cpu
    bridges: tuple[Pci, ...] = ()
    pci: Pci | None = None
    gpu: Gpu | None = None
    net: Net | None = None


def devices(topology: Topology) -> list[Device]:
    """All ends of a tree, GPUs first; raises ValueError where there are too many."""
    found = [device for cpu in topology.cpus for device in _below(cpu)]
    out: list[Device] = []
    for kind in ("GPU", "NIC", "socket", "device"):
        ends = [device for device in found if device.kind == kind]
        if len(ends) > MAX_DEVICES:
            raise ValueError(f"{len(ends)} ends of one kind ({kind}); a host has at most {MAX_DEVICES}")
        out += _labelled(kind, ends)
    return out


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """A sort key that puts 2 before 10."""
    return tuple((int(run), "") if run.isdecimal() else (-1, run) for run in re.findall(r"[0-9]{1,18}|[^0-9]+", text))


def _labelled(kind: str, ends: list[Device]) -> Iterator[Device]:
    numbers = [device.gpu.number for device in ends if device.gpu is not None]
    numbered = kind == "GPU" and None not in numbers and len(set(numbers)) == len(ends)
    for at, device in enumerate(sorted(ends, key=_order)):
        number = device.gpu.number if numbered and device.gpu is not None else at
        yield Device(f"{kind} {number}", kind, device.cpu, device.bridges, device.pci, device.gpu, device.net)


def _order(device: Device) -> tuple[object, ...]:
    """Named and numbered ends first, the rest by address."""
    address = device.pci.address if device.pci is not None else ""
    if device.net is not None:
        return (0, natural(device.net.name), device.net.port or 0, address)
    number = device.gpu.number if device.gpu is not None else None
    return (1, (), 0 if number is None else number, address)


def _below(cpu: Cpu) -> Iterator[Device]:
    for net in cpu.nets:
        yield Device("", _kind(net), cpu, net=net)
    stack: list[tuple[Pci, tuple[Pci, ...]]] = [(pci, ()) for pci in reversed(cpu.children)]
    while stack:
        pci, bridges = stack.pop()
        for net in pci.nets:
            yield Device("", _kind(net), cpu, bridges, pci, net=net)
        if pci.gpu is not None:
            yield Device("", "GPU", cpu, bridges, pci, gpu=pci.gpu)
        elif not pci.nets and not pci.children and pci.code != BRIDGE:
            kind = "GPU" if pci.code in GPU_CLASSES else "NIC" if pci.code in NIC_CLASSES else "device"
            yield Device("", kind, cpu, bridges, pci)
        stack.extend((child, (*bridges, pci)) for child in reversed(pci.children))


def _kind(net: Net) -> str:
    return "socket" if net.socket else "NIC"
