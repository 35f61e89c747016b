"""How near two PCI functions are by the ports above them, as the kernel or `lspci` lists these; the kinds are those of `paths`.

Unlike a dump of the library, the whole tree shows host bridges: two of them on one NUMA node are NODE, one is PHB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from auditor.topology.paths import nearest

GPU_CLASSES = frozenset({0x0302, 0x0380, 0x1200})
"""PCI classes of GPUs, whoever made them: 3D and other display controllers, processing accelerators."""

VGA = 0x0300
GPU_MAKERS = frozenset({0x10DE, 0x1002})
"""NVIDIA and AMD: their VGA controllers are GPUs too, while the one of a server's BMC is none."""

NETWORK = 0x02
"""The first byte of the class of network controllers, InfiniBand's too."""

MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a machine: the port above it (None at a host bridge), and its NUMA node where the firmware names one."""

    parent: str | None
    numa: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a function hangs. `bridges`: the switches above it, nearest first, then the port of the processor. `host`: the bus
    of its host bridge."""

    bridges: tuple[str, ...]
    host: str
    numa: int | None


def is_gpu(class_code: int | None, vendor_id: int | None) -> bool:
    """Whether a function is a GPU."""
    return class_code in GPU_CLASSES or (class_code == VGA and vendor_id in GPU_MAKERS)


def places(functions: Mapping[str, Function]) -> dict[str, Place]:
    """The place of every function. Raises ValueError when ports go in a circle.

    Below a port of the processor come, by turns, the port of a switch towards it and the switch's ports away from it; the
    former stands for the switch.
    """
    out = {}
    for address, function in functions.items():
        ports = above(address, functions)[::-1]
        top = ports[0] if ports else address
        out[address] = Place((*ports[1::2][::-1], *ports[:1]), top.rpartition(":")[0], function.numa)
    return out


def above(address: str, functions: Mapping[str, Function]) -> list[str]:
    """The ports above a function, nearest first. Raises ValueError when they go in a circle."""
    found: list[str] = []
    at = functions[address].parent if address in functions else None
    while at is not None:
        if at in found or len(found) >= MAX_DEPTH:
            raise ValueError(f"the ports above {address} never end")
        found.append(at)
        at = functions[at].parent if at in functions else None
    return found


def kind(one: Place, other: Place) -> str | None:
    """How near two places are; None where only their NUMA nodes would tell, and one of them is not known."""
    if one.bridges and other.bridges and one.bridges[0] == other.bridges[0]:
        return "PIX"
    if not set(one.bridges).isdisjoint(other.bridges):
        return "PXB"
    if one.host == other.host:
        return "PHB"
    if one.numa is None or other.numa is None:
        return None
    return "NODE" if one.numa == other.numa else "SYS"


def affinity(gpus: Mapping[str, Place], nics: Mapping[str, Place]) -> Iterator[tuple[str, str, str | None, bool | None]]:
    """(GPU, NIC, kind, whether no other NIC is nearer) of every pair.

    In a machine that names no NUMA node everything hangs under one made-up host bridge: then only a shared switch tells.
    """
    hidden = all(place.numa is None for place in (*gpus.values(), *nics.values()))
    for gpu, place in gpus.items():
        kinds = {nic: kind(place, other) for nic, other in nics.items()}
        visible = {nic: None if hidden and found == "PHB" else found for nic, found in kinds.items()}
        near = nearest(visible, {nic: len(set(place.bridges) ^ set(other.bridges)) for nic, other in nics.items()})
        for nic, found in kinds.items():
            yield gpu, nic, found, near[nic]
