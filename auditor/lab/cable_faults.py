"""Faults of cabling: who plugged what into the wrong place, took it out, or left it slow."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import MappingProxyType

from auditor.errors import SetupError
from auditor.lab import places
from auditor.lab.fabric import End, Fabric
from auditor.lab.places import Fault


def _swapped(fabric: Fabric, device: str, port: str) -> None:
    """The cable in this port and the one in the device's next planned port are exchanged at the far ends."""
    ends = _ends(fabric, device)
    one = _cabled(fabric, device, port)
    if len(ends) < 2:
        raise SetupError(f"no two cables to swap at {device}:{port}")
    other = ends[(ends.index(one) + 1) % len(ends)]
    _lead(fabric, {one: fabric.wiring[other], other: fabric.wiring[one]})


def _rotated(fabric: Fabric, device: str, _: str) -> None:
    """All cables of a device are plugged in one port further on than planned, and the last one into the first port."""
    ends = _ends(fabric, device)
    if len(ends) < 3:
        raise SetupError(f"{device} has too few cables to rotate")
    far = [fabric.wiring[end] for end in ends]
    _lead(fabric, dict(zip(ends, [*far[1:], far[0]], strict=True)))


def _missing(fabric: Fabric, device: str, port: str) -> None:
    """A planned cable is not there."""
    _unplug(fabric, _cabled(fabric, device, port))


def _wrong_port(fabric: Fabric, device: str, port: str) -> None:
    """The cable of a switch port was plugged into a free port of the same switch."""
    switch, planned = places.switch(fabric, device), places.port(fabric, device, port)
    far = fabric.wiring[_cabled(fabric, device, port)]
    free = next((other for other in switch.ports.values() if not other.plane), None)
    if free is None:
        raise SetupError(f"{device} has no free port")
    used = copy(planned)
    used.name, used.alias, used.index, used.lanes, used.description = free.name, free.alias, free.index, free.lanes, ""
    switch.ports[free.name] = used
    _unplug(fabric, far)
    _lead(fabric, {far: End(device, free.name)})


def _slow(fabric: Fabric, device: str, port: str) -> None:
    """A switch port was left at half of the planned speed, and the far end followed."""
    places.port(fabric, device, port).gbps = 200


def _jumper(fabric: Fabric, device: str, port: str) -> None:
    """A temporary cable between free ports of this switch and of another one, whose name stands for the port."""
    if port == device:
        raise SetupError(f"a jumper leads to another switch than {device}")
    free = []
    for name in (device, port):
        unused = [other for other in places.switch(fabric, name).ports.values() if End(name, other.name) not in fabric.wiring]
        if not unused:
            raise SetupError(f"{name} has no free port")
        unused[-1].description = "temporary"
        free.append(End(name, unused[-1].name))
    _lead(fabric, {free[0]: free[1]})


CABLE_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "swapped_cables": _swapped,
        "rotated_cables": _rotated,
        "missing_cable": _missing,
        "wrong_port": _wrong_port,
        "slow_link": _slow,
        "jumper": _jumper,
    }
)
"""Faults of cables: of any port, of all cables of a device (`rotated_cables`), or of a port of a switch (the last two)."""


def _ends(fabric: Fabric, device: str) -> list[End]:
    """The cabled ports of a device in planned order."""
    return [end for end in fabric.wiring if end.device == device]


def _cabled(fabric: Fabric, device: str, port: str) -> End:
    if End(device, port) not in fabric.wiring:
        raise SetupError(f"no cable at {device}:{port}")
    return End(device, port)


def _unplug(fabric: Fabric, end: End) -> None:
    del fabric.wiring[fabric.wiring.pop(end)]


def _lead(fabric: Fabric, cables: Mapping[End, End]) -> None:
    for one, other in cables.items():
        fabric.wiring[one], fabric.wiring[other] = other, one
