"""How many routes cross each planned port, and which hosts lie below it: one pass up the tiers of a plane and one down.

A route leads from one host port to another, climbs, turns once and descends; it turns at the lowest tier that joins its two
ends, as shortest-path routing does, and parallel cables and equal-cost switches count as routes of their own.

The tier of a switch is its distance to the nearest host port; cables inside a tier carry no route. Let

- U(v) = routes that climb from a host port to v: 1 for a host port, else the sum of U over the cables to the tier below,
- K(c, v) = the part of U(v) that comes from where c is: from the switches that tiers below v already join with c,
- T(c, v) = U(v) - K(c, v): ways to turn at v for what came from c,
- A(v) = sum over the cables from v up to w of T(v, w) + A(w): ways to go on from v, turn above it, and descend.

Then U(c) * (T(c, v) + A(v)) routes climb the cable from c to v, and as many descend it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from auditor.model import GapReason, Link, LinkEnd
from auditor.model.device import is_host

Place = tuple[str, str]
"""(device, planned port)."""


@dataclass(slots=True)
class _Cable:
    low: Place
    high: Place
    turns: int = 0


class Routes:
    """The routes of one plane. `hosts` are bit sets over the hosts of the plane; take them apart with `count_hosts`."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.crossing: dict[Place, int] = {}
        """Routes in one direction through a port; none crosses a port that is not here."""
        self.hosts: dict[Place, int] = {}
        tiers, cables = _tiers(links)
        climbing: dict[Place, int] = defaultdict(int)
        below: dict[Place, int] = defaultdict(int)
        numbers: dict[str, int] = {}
        for node, tier in tiers.items():
            if tier == 0:
                climbing[node] = 1
                below[node] = 1 << numbers.setdefault(node[0], len(numbers))
        joined = _Joined()
        for level in cables:
            from_where: dict[tuple[Place, Place], int] = defaultdict(int)
            for _, low, high in level:
                climbing[high] += climbing[low]
                below[high] |= below[low]
                from_where[high, joined.find(low)] += climbing[low]
            for cable, low, high in level:
                cable.turns = climbing[high] - from_where[high, joined.find(low)]
            for _, low, high in level:
                joined.join(low, high)
        onward: dict[Place, int] = defaultdict(int)
        for level in reversed(cables):
            for cable, low, high in level:
                rest = cable.turns + onward[high]
                onward[low] += rest
                for place in (cable.low, cable.high):
                    self.crossing[place] = climbing[low] * rest
                    self.hosts[place] = below[low]


def count_hosts(sets: Iterable[int]) -> int:
    """How many hosts several of `Routes.hosts` hold together."""
    all_of_them = 0
    for each in sets:
        all_of_them |= each
    return all_of_them.bit_count()


def counted(number: int, what: str) -> str:
    """A number in words; through parallel cables and tiers, routes become very many, of which the size is enough."""
    for unit, name in ((10**9, "billion"), (10**6, "million")):
        if number >= unit:
            return f"{number / unit:,.1f} {name} {what}s"
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def whole_plan(links: Iterable[Link]) -> bool:
    """Whether these are the links of a whole plane. With stored or missing far ends only a part of them is at hand."""
    return not any(end.stale_of or (end.gap and end.gap.reason is GapReason.NOT_COLLECTED) for link in links for end in link.ends)


def sends(end: LinkEnd) -> bool:
    """Whether this end is a host's: by its role, else by the hops it has."""
    return is_host(end.role) or any(hop.direction == "send" for hop in end.hops)


def _tiers(links: Sequence[Link]) -> tuple[dict[Place, int], list[list[tuple[_Cable, Place, Place]]]]:
    """The tier of every node (a host port, or a switch with an empty port) and the cables between tiers, lowest first."""
    pairs = []
    near: dict[Place, list[Place]] = defaultdict(list)
    tiers: dict[Place, int] = {}
    for link in links:
        places = [(end.device, end.port) for end in link.ends]
        nodes = [place if sends(end) else (end.device, "") for place, end in zip(places, link.ends, strict=True)]
        pairs.append((places, nodes))
        near[nodes[0]].append(nodes[1])
        near[nodes[1]].append(nodes[0])
        tiers.update({node: 0 for node in nodes if node[1]})
    front = list(tiers)
    while front:
        found = [node for known in front for node in near[known] if node not in tiers]
        tier = tiers[front[0]] + 1
        front = list(dict.fromkeys(found))
        tiers.update(dict.fromkeys(front, tier))
    cables: dict[int, list[tuple[_Cable, Place, Place]]] = defaultdict(list)
    for places, nodes in pairs:
        heights = [tiers.get(node, -1) for node in nodes]
        if abs(heights[0] - heights[1]) == 1 and min(heights) >= 0:
            low, high = (0, 1) if heights[0] < heights[1] else (1, 0)
            cables[heights[low]].append((_Cable(places[low], places[high]), nodes[low], nodes[high]))
    return tiers, [cables[tier] for tier in sorted(cables)]


class _Joined:
    """Which nodes the tiers so far join: sets with a representative, found by halving paths."""

    def __init__(self) -> None:
        self._parent: dict[Place, Place] = {}

    def find(self, node: Place) -> Place:
        parent = self._parent
        while (up := parent.get(node, node)) != node:
            parent[node] = node = parent.get(up, up)
        return node

    def join(self, one: Place, other: Place) -> None:
        self._parent[self.find(one)] = self.find(other)
