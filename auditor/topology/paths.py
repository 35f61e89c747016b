"""How near every GPU is to every network port, which ports are nearest, and the narrowest PCI link on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from auditor.topology.shape import shape_of
from auditor.topology.tree import Device, Pci, Topology, devices

KINDS = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Nearest first. A dump of the library does not show host bridges, so it tells no NODE from PHB."""

_SHARED = ("PIX", "PXB")
_RANKS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 2, "SYS": 3}


@dataclass(frozen=True, slots=True)
class Path:
    """The way between a GPU and a network port. `bandwidth` in bit/s, one direction; `kind` and `nearest` None: not visible."""

    gpu: str
    nic: str
    kind: str | None
    nearest: bool | None
    bandwidth: int | None


def paths(topology: Topology) -> Iterator[Path]:
    """Every pair of a numbered GPU and a named port; of several ports with one name (one adapter) the first."""
    shape = shape_of(topology, sockets=True)
    found = devices(topology)
    nics: dict[str, Device] = {}
    for device in found:
        if device.net is not None:
            nics.setdefault(device.net.name, device)
    for gpu in found:
        if gpu.gpu is None:
            continue
        kinds = {name: shape.kind(gpu.label, nic.label) for name, nic in nics.items()}
        near = nearest(kinds, {name: shape.steps(gpu.label, nic.label) for name, nic in nics.items()})
        for name, nic in nics.items():
            yield Path(gpu.label.removeprefix("GPU "), name, kinds[name], near[name], _bandwidth(gpu, nic))


def nearest(kinds: Mapping[str, str | None], steps: Mapping[str, int]) -> dict[str, bool | None]:
    """Which of these distances is the shortest; several may be. `steps`: of those below a shared switch, how many switches lie
    between (0 below one); in a tree of switches only they tell the port next to a GPU from that of its neighbour.

    Beyond a switch, host bridges make no difference, as to the library. An unknown one is farther than a shared switch.
    """
    known = {}
    for name, kind in kinds.items():
        if kind is not None:
            known[name] = (_RANKS[kind], steps.get(name, 0) if kind in _SHARED else 0)
    best = min(known.values(), default=None)
    settled = best is not None and (best[0] <= _RANKS["PXB"] or len(known) == len(kinds))
    return {name: known.get(name) == best if settled else None for name in kinds}


def _bandwidth(gpu: Device, nic: Device) -> int | None:
    """What the narrowest of the PCI links between two devices carries; None when one of them is not known."""
    if gpu.pci is None or nic.pci is None:
        return None
    shared = {id(bridge) for bridge in gpu.bridges} & {id(bridge) for bridge in nic.bridges}
    on_the_way = [gpu.pci, nic.pci, *(bridge for bridge in (*gpu.bridges, *nic.bridges) if id(bridge) not in shared)]
    carried = [_carries(pci) for pci in on_the_way]
    known = [bits for bits in carried if bits is not None]
    return min(known) if len(known) == len(carried) else None


def _carries(pci: Pci) -> int | None:
    """Bits per second of a link after its line code: 8b/10b up to 5 GT/s, 128b/130b up to 32, 242 of 256 bytes above."""
    if pci.speed is None or pci.width is None:
        return None
    share = 8 / 10 if pci.speed <= 5e9 else 128 / 130 if pci.speed <= 32e9 else 242 / 256
    return round(pci.speed * pci.width * share)
