"""Where the cable in a port leads: through profiles with several lanes, and through patch panels.

A profile says which connector and position of one side is which of the other (NetBox 4.5 and later). A panel has front ports
that are positions of rear ports. What has several ways to go and no profile is not decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from auditor.plan.formats.netbox_document import FRONT, INTERFACE, REAR, Key

MAX_HOPS = 32

Lane = tuple[int, int]
"""Connector and position, from 1."""

_PAIRED = {
    "trunk-2c4p-shuffle": "11 12 21 22 13 14 23 24",
    "trunk-4c4p-shuffle": "11 21 31 41 12 22 32 42 13 23 33 43 14 24 34 44",
    "breakout-2c4p-8c1p-shuffle": "11 21 51 61 31 41 71 81",
}
"""The far end of lanes 1:1, 1:2 … of side A, each as connector and position. As in NetBox's dcim/cable_profiles.py."""


def lanes(profile: str) -> dict[Lane, Lane] | None:
    """The lanes of side A and what they are at side B; None for a profile that is not known."""
    found = re.fullmatch(r"(single|trunk|breakout)-(\d{1,2})c(\d{1,2})p(?:-(\d{1,2})c1p)?(-shuffle)?", profile)
    if found is None:
        return None
    family, connectors, positions, far, shuffled = found.groups()
    own = [(c, p) for c in range(1, int(connectors) + 1) for p in range(1, int(positions) + 1)]
    if shuffled:
        pairs = _PAIRED.get(profile)
        return None if pairs is None else dict(zip(own, ((int(pair[0]), int(pair[1])) for pair in pairs.split()), strict=True))
    if family == "breakout":
        return {(1, p): (p, 1) for _, p in own} if connectors == "1" and far == positions else None
    return None if far or (family == "single" and connectors != "1") else {lane: lane for lane in own}


@dataclass(frozen=True, slots=True)
class Plug:
    """One end of a cable: the object it is in, its connector and the positions it has (empty where no profile tells)."""

    key: Key
    connector: int | None = None
    positions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Wire:
    """A cable as the trace sees it. `lanes` is None for a cable without a profile."""

    id: str
    sides: tuple[tuple[Plug, ...], tuple[Plug, ...]]
    lanes: Mapping[Lane, Lane] | None = None

    @property
    def several(self) -> bool:
        """Whether the profile has several lanes."""
        return self.lanes is not None and len(self.lanes) > 1


@dataclass(frozen=True, slots=True)
class Way:
    """A way from a port to another: the lane it takes in either plug (None: all of it), the cables, the panel ports."""

    start: Key
    end: Key
    lane: Lane | None
    far_lane: Lane | None
    cables: tuple[str, ...]
    via: tuple[Key, ...] = ()


class Lost(Exception):
    """A trace that cannot go on: at which cable, and why."""

    def __init__(self, cable: str, why: str) -> None:
        self.cable, self.why = cable, why
        super().__init__(f"cable {cable}: {why}")


@dataclass(slots=True)
class Cabling:
    """All cables; which position of a front port is which of a rear port, both ways; and how many positions each has."""

    wires: list[Wire] = field(default_factory=list)
    joined: dict[tuple[Key, int], tuple[Key, int]] = field(default_factory=dict)
    sizes: dict[Key, int] = field(default_factory=dict)
    _at: dict[Key, tuple[Wire, int, Plug]] = field(default_factory=dict)

    def lay(self, wire: Wire) -> Key | None:
        """Add a cable; the object of its that has another cable already, if one does (then it is not added)."""
        for side in wire.sides:
            for plug in side:
                if plug.key in self._at:
                    return plug.key
        self.wires.append(wire)
        for at, side in enumerate(wire.sides):
            for plug in side:
                self._at[plug.key] = (wire, at, plug)
        return None

    def join(self, front: tuple[Key, int], rear: tuple[Key, int]) -> None:
        """A position of a front port is a position of a rear port."""
        self.joined[front], self.joined[rear] = rear, front
        for key, position in (front, rear):
            self.sizes[key] = max(self.sizes.get(key, 1), position)

    def ways(self, start: Key) -> list[Way]:
        """Every way from an interface to another one, one for each lane that leads somewhere. Raises Lost."""
        wire, side, plug = self._at[start]
        out = []
        for lane, far, position in self._across(wire, side, plug, None):
            end, far_lane, cables, via = self._arrive(far, position, (), (wire.id,), ())
            out.append(Way(start, end, lane, far_lane, cables, via))
        return out

    def _across(self, wire: Wire, side: int, plug: Plug, position: int | None) -> Iterator[tuple[Lane | None, Plug, int | None]]:
        """(own lane, far plug, far position) of every lane, or of one position of a plug."""
        near, far = wire.sides[side], wire.sides[1 - side]
        if len(near) == len(far) == 1 and not wire.several:
            yield None, far[0], None
            return
        if wire.lanes is None:
            count = f"{len(wire.sides[0])} to {len(wire.sides[1])} ends"
            raise Lost(wire.id, f"ambiguous: {count} and no profile that says which is which")
        if plug.connector is None or any(item.connector is None for item in far):
            raise Lost(wire.id, "ambiguous: its ends have no connectors; add dcim/cable-terminations")
        mapping = wire.lanes if side == 0 else {b: a for a, b in wire.lanes.items()}
        for lane, (connector, there) in sorted(mapping.items()):
            if lane[0] != plug.connector or lane[1] not in plug.positions or position not in (None, lane[1]):
                continue
            for item in far:
                if item.connector == connector and there in item.positions:
                    yield lane, item, there

    def _arrive(
        self, plug: Plug, position: int | None, stack: tuple[int, ...], cables: tuple[str, ...], via: tuple[Key, ...]
    ) -> tuple[Key, Lane | None, tuple[str, ...], tuple[Key, ...]]:
        """Follow a cable's end to an interface. `stack` holds the positions that the cables so far carry along."""
        key, cable = plug.key, cables[-1]
        if key[0] == INTERFACE:
            lane = None if position is None or plug.connector is None else (plug.connector, position)
            return key, lane, cables, via
        if key[0] not in (FRONT, REAR):
            raise Lost(cable, f"ends on a {key[0]}")
        if len(via) > MAX_HOPS:
            raise Lost(cables[0], "goes round in a circle")
        if key not in self.sizes:
            raise Lost(cable, "ends on a patch panel that is not known; add dcim/front-ports and dcim/rear-ports")
        if position is None and self.sizes[key] > 1:
            if not stack:
                raise Lost(cable, "ambiguous: it ends on a panel port of several positions, and no profile says which")
            position, stack = stack[-1], stack[:-1]
        other = self.joined.get((key, position or 1))
        if other is None:
            raise Lost(cable, "ends on a panel port whose position goes nowhere")
        return self._leave(*other, stack, cables, (*via, key if key[0] == FRONT else other[0]))

    def _leave(
        self, key: Key, position: int, stack: tuple[int, ...], cables: tuple[str, ...], via: tuple[Key, ...]
    ) -> tuple[Key, Lane | None, tuple[str, ...], tuple[Key, ...]]:
        """Go on from the other face of a panel."""
        if key not in self._at:
            raise Lost(cables[-1], "ends on a panel, and nothing is plugged in behind it")
        wire, side, plug = self._at[key]
        if not wire.several and self.sizes[key] > 1:
            stack = (*stack, position)
        found = list(self._across(wire, side, plug, position if wire.several else None))
        if len(found) != 1:
            raise Lost(wire.id, "does not say where a position of its end leads")
        _, far, there = found[0]
        return self._arrive(far, there, stack, (*cables, wire.id), via)
