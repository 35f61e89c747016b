"""The least hand movements that turn observed cables into planned ones.

Planned and observed cables together form paths and circles of plugs, or, around breakouts, denser tangles. In each, observed
cables become planned ones so that as many plugs as possible stay where they are. On a path or circle every cable becomes the
next planned one to the one side or to the other, so one plug of each moves. In a tangle it is a matching of greatest weight.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from auditor.cabling.plugs import Cable, Cage, Layout, Occupancy
from auditor.cabling.schedule import Schedule
from auditor.model import Move, Place, PlanLink

__all__ = ["Component", "Occupancy", "repair"]

MATCHED = 128
"""Cables that are matched at once. What is more entangled is mended with more moves than need be, rather than in minutes."""


@dataclass(frozen=True, slots=True)
class Component:
    """Cables that cannot be mended one without the other.

    `links` are the planned links among them that are not as planned, `cables` the observed cables that are wrong, by the
    places they join. `cycle`: all ports are both planned and taken, so that a plug has to hang for a while.
    """

    links: tuple[PlanLink, ...]
    cables: tuple[tuple[Place, Place], ...]
    moves: tuple[Move, ...]
    cycle: bool


class _Change(NamedTuple):
    """What becomes of cables: the place to which each end goes, and those that are superfluous or like nothing planned."""

    goes: dict[Place, Place]
    removed: tuple[Cable, ...] = ()
    strange: tuple[Cable, ...] = ()


class _Offer(NamedTuple):
    """An observed cable as a planned one: the place to which each end goes, and what that is worth, compared from the left."""

    worth: tuple[int, ...]
    goes: dict[Place, Place]


class _FrozenError(Exception):
    """Nothing but a plug that must not be moved would help."""


def repair(
    links: Sequence[PlanLink],
    observed: Mapping[Place, Place],
    occupancy: Callable[[Place], Occupancy],
    rack: Callable[[str], str],
    frozen: Container[Place] = (),
) -> tuple[Component, ...]:
    """The components of wrong cables, each with its work order, in the order of the plan.

    `links` are all planned links, `observed` maps each place to the one across its cable, both ways round. `occupancy` is
    asked about ports across which nobody is seen. No plug is moved out of or into a `frozen` place; a component that cannot
    be mended otherwise is left out. Links without any observed cable, not touched by a wrong one either, are in no component.
    """
    mender = _Mender(Layout(links, observed), occupancy, rack, frozen)
    return tuple(component for _, component in sorted(mender.mend(), key=lambda item: (item[0], item[1].cables)))


class _Mender:
    """Finds and mends the tangles of one layout."""

    def __init__(
        self,
        layout: Layout,
        occupancy: Callable[[Place], Occupancy],
        rack: Callable[[str], str],
        frozen: Container[Place],
    ) -> None:
        self._layout = layout
        self._occupancy = occupancy
        self._rack = rack
        self._frozen = frozen
        self._schedule = Schedule(layout, self._status, rack)

    def mend(self) -> Iterator[tuple[int, Component]]:
        """Every component that can be mended, with where it comes in the plan."""
        for cages in self._layout.tangles():
            with suppress(_FrozenError):
                yield self._mend(cages)

    def _mend(self, cages: Sequence[Cage]) -> tuple[int, Component]:
        layout = self._layout
        seen, far = layout.seen, layout.far
        found, planned = layout.cables(cages, seen), layout.cables(cages, far)
        change = self._shift(found, planned) or self._match(found, planned)
        if change.strange:
            moves = tuple(self._schedule.look(cable) for cable in change.strange)
        else:
            moves = self._schedule.write(change.goes, change.removed, self._missing(found, planned, change))
        touched = [place for cage in cages for place in cage if place in seen or far.get(place) in seen]
        wrong = [place for place in touched if not layout.right(place)]
        links = sorted({layout.index[place] for place in wrong if place in far})
        cables = {(min(place, seen[place]), max(place, seen[place])) for place in wrong if place in seen}
        cycle = all(place in far and (place in seen or self._occupancy(place) is Occupancy.TAKEN) for place in wrong)
        component = Component(tuple(layout.links[index] for index in links), tuple(sorted(cables)), moves, cycle)
        return (links[0] if links else len(layout.links)), component

    def _status(self, cage: Cage) -> Occupancy:
        """What is in a cage where nobody is seen: its lanes share one plug, so one of them tells for all."""
        said = {self._occupancy(place) for place in cage}
        return next((kind for kind in (Occupancy.TAKEN, Occupancy.FREE) if kind in said), Occupancy.UNKNOWN)

    def _unsure(self, target: Cage) -> int:
        """How little is known about a cage into which a plug is to be put."""
        return 0 if any(place in self._layout.seen for place in target) else _UNSURE[self._status(target)]

    def _is_frozen(self, *cages: Cage) -> bool:
        return any(place in self._frozen for cage in cages for place in cage)

    def _shift(self, found: Sequence[Cable], planned: Sequence[Cable]) -> _Change | None:
        """Turn each cable of a path or circle into the next planned one, all to the same side where that can be.

        None where cables have more than two plugs, or lanes do not fit. Raises _FrozenError.
        """
        if not all(len(cable.plugs) == 2 for cable in (*found, *planned)):
            return None
        by_plug = {plug: cable for cable in found for plug in cable.plugs}
        row, first, last = _row(found, planned)
        size, closed = len(row), first is last is None
        at = range(0 if closed or first else 1, size if closed else size - 1, 2)
        right = [(row[i], row[(i + 2) % size]) if closed or i + 2 < size else None for i in at]
        left = [(row[(i + 1) % size], row[i - 1]) if closed or i else None for i in at]
        # Cables before the split go one way, those after it the other; between two ends that no plan has, one is superfluous.
        before, after, gap = (right, left, 1) if first and last else (left, right, 0)
        if closed:
            splits: Sequence[int] = (0, len(at))
        elif first == last:
            splits = range(len(at) + 1 - gap)
        else:
            splits = (0,) if first else (len(at),)
        free = [[pair is not None and not self._is_frozen(*pair) for pair in way] for way in (before, after[::-1])]
        head, tail = ((*way, False).index(False) for way in free)
        able = [
            split
            for split in splits
            if split <= head
            and len(at) - split - gap <= tail
            and not (gap and self._is_frozen(row[at[split]], row[at[split] + 1]))
        ]
        if not able:
            raise _FrozenError
        ends = [split for split in (splits[0], splits[-1]) if split in able] or able[:1]
        ways = [[pair for pair in (*before[:split], *after[split + gap :]) if pair] for split in ends]
        split, moved = min(zip(ends, ways, strict=True), key=lambda item: self._effort(item[1]))
        goes: dict[Place, Place] = {}
        for source, target in moved:
            for place in source:
                if place in self._layout.seen:
                    to = self._layout.far.get(self._layout.seen[place])
                    if to is None or self._layout.cage(to) != target or source == target or not self._layout.fits(place, to):
                        return None
                    goes[place] = to
        return _Change(goes, (by_plug[row[at[split]]],) if gap else ())

    def _effort(self, moved: Sequence[tuple[Cage, Cage]]) -> tuple[int, ...]:
        """How hard moves are: into ports that nobody sees, on many devices, in many racks, on switches rather than hosts."""
        devices = {cage[0][0] for pair in moved for cage in pair}
        racks = {self._rack(device) for device in devices}
        unsure = max((self._unsure(target) for _, target in moved), default=0)
        return unsure, len(devices), len(racks), sum(self._layout.degree[device] for device in devices)

    def _match(self, found: Sequence[Cable], planned: Sequence[Cable]) -> _Change:
        """Let cables become planned ones so that most plugs stay. Raises _FrozenError.

        A cable without any lanes becomes no part of a breakout.
        """
        layout = self._layout
        owner = {plug: number for number, cable in enumerate(planned) for plug in cable.plugs}
        rest, open_ = dict(enumerate(found)), dict(enumerate(planned))
        goes: dict[Place, Place] = {}
        for number, cable in enumerate(found):
            if all(layout.right(place) for place, _ in cable.pairs):
                del rest[number], open_[owner[cable.plugs[0]]]
        frozen = any(self._is_frozen(*cable.plugs) for cable in (*found, *planned))
        self._assign(rest, open_, owner, goes, frozen)
        if frozen and any(
            self._is_frozen(*cable.plugs) or any(any(layout.fillings(cable, plan)) for plan in open_.values())
            for cable in rest.values()
        ):
            raise _FrozenError
        strange = tuple(cable for cable in rest.values() if self._is_strange(cable, planned))
        return _Change(goes, tuple(rest.values()), strange)

    def _assign(
        self,
        rest: dict[int, Cable],
        open_: dict[int, Cable],
        owner: Mapping[Cage, int],
        goes: dict[Place, Place],
        frozen: bool,
    ) -> None:
        """Take cables out of `rest`, and what they become out of `open_`, into `goes`: where plugs stay first, then the others.

        `owner` is the planned cable of each cage. `frozen`: some plugs are, so not every cable may become every other.
        """
        offers: dict[tuple[int, int], _Offer] = {}
        for number, cable in list(rest.items()):
            for other in {owner[plug]: None for plug in cable.plugs if owner.get(plug) in open_}:
                best = max(self._offers(cable, open_[other]), key=lambda offer: offer.worth, default=None)
                if best is None or not best.worth[0]:
                    continue
                if not frozen and 3 * best.worth[0] >= len(cable.plugs) + len(open_[other].plugs):
                    # Whatever else the two could become, no more plugs would stay.
                    goes |= best.goes
                    del rest[number], open_[other]
                    break
                offers[number, other] = best
        worth = {pair: offer.worth for pair, offer in offers.items() if pair[0] in rest and pair[1] in open_}
        for number, other in _matching(worth):
            goes |= offers[number, other].goes
            del rest[number], open_[other]
        for number, cable in sorted(rest.items(), key=lambda item: -len(item[1].pairs)):
            for other, plan in open_.items():
                offer = next(self._offers(cable, plan), None)
                if offer is not None:
                    goes |= offer.goes
                    del rest[number], open_[other]
                    break

    def _offers(self, cable: Cable, plan: Cable) -> Iterator[_Offer]:
        """What an observed cable offers as a planned one.

        Its worth: how many plugs stay; then few ports that nobody sees, links right as they are, few lanes left dark, and
        moves on hosts rather than on switches.
        """
        layout = self._layout
        if layout.is_plain(cable) and not layout.is_plain(plan):
            return
        for goes in layout.fillings(cable, plan):
            plugs = {layout.cage(source): layout.cage(target) for source, target in goes.items()}
            moved = [pair for pair in plugs.items() if pair[0] != pair[1]]
            if any(self._is_frozen(*pair) for pair in moved):
                continue
            stay = [plug for plug, target in plugs.items() if plug == target]
            unsure = sum(self._unsure(target) for _, target in moved)
            right = sum(goes[one] == one and goes[other] == other for one, other in cable.pairs)
            dark = len(plan.pairs) - len(cable.pairs)
            yield _Offer((len(stay), -unsure, right, -dark, sum(layout.degree[plug[0][0]] for plug in stay)), goes)

    def _is_strange(self, cable: Cable, planned: Sequence[Cable]) -> bool:
        """Whether a cable that has no place in the plan must not be taken away: it is partly right, or not understood.

        Lanes that the plan numbers otherwise than the devices look like that.
        """
        near = [plan for plan in planned if len(set(plan.plugs) & set(cable.plugs)) > 1]
        fits = any(any(self._layout.fillings(cable, plan)) for plan in near)
        return any(self._layout.right(one) for one, _ in cable.pairs) or (len(cable.pairs) > 1 and bool(near) and not fits)

    def _missing(self, found: Sequence[Cable], planned: Sequence[Cable], change: _Change) -> list[Cable]:
        """Planned cables that still are not there when all moves are done, with both ends free."""
        layout = self._layout
        gone = set(change.removed)
        kept = [[change.goes.get(place, place) for place in pair] for cable in found if cable not in gone for pair in cable.pairs]
        full = {layout.cage(place) for pair in kept for place in pair}
        done = {place for one, other in kept if layout.far.get(one) == other for place in (one, other)}

        def is_free(cage: Cage) -> bool:
            left = any(place in layout.seen for place in cage)
            return cage not in full and not self._is_frozen(cage) and (left or self._status(cage) is Occupancy.FREE)

        out = []
        for cable in planned:
            pairs = [pair for pair in cable.pairs if pair[0] not in done and all(is_free(layout.cage(place)) for place in pair)]
            if any(place in layout.seen for pair in pairs for place in pair):  # a cable is laid whole, but not for its own sake
                out.append(Cable(tuple({layout.cage(place): None for pair in pairs for place in pair}), tuple(pairs)))
        return out


_UNSURE = {Occupancy.FREE: 0, Occupancy.UNKNOWN: 1, Occupancy.TAKEN: 2}


def _row(found: Sequence[Cable], planned: Sequence[Cable]) -> tuple[list[Cage], bool | None, bool | None]:
    """The plugs of a path or circle in their order. Of a path, whether its first and its last cable are observed ones; a
    circle starts with an observed one."""
    seen, far = (
        {one: other for cable in cables for one, other in (cable.plugs, cable.plugs[::-1])} for cables in (found, planned)
    )
    ends = seen.keys() ^ far.keys()
    row = [min(ends or seen)]
    observed = first = row[0] in seen
    while (following := (seen if observed else far).get(row[-1])) is not None and following != row[0]:
        row.append(following)
        observed = not observed
    return (row, first, not observed) if ends else (row, None, None)


def _matching(offers: Mapping[tuple[int, int], tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """Pairs of numbers, none twice on its side, of greatest weight; weights compare from left to right."""
    if not offers:
        return
    base = 1 + 2 * sum(max(abs(part) for part in offer) for offer in offers.values())
    weights = {pair: sum(part * base**power for power, part in enumerate(offer[::-1])) for pair, offer in offers.items()}
    import networkx  # slow to load, and wanted for breakouts only

    graph: networkx.Graph[int] = networkx.Graph()
    for (one, other), weight in weights.items():
        graph.add_edge(one, -1 - other, weight=weight)
    for nodes in networkx.connected_components(graph):
        part = graph.subgraph(nodes)
        if len(nodes) <= 2 * MATCHED:
            yield from ((max(pair), -1 - min(pair)) for pair in networkx.max_weight_matching(part))
            continue
        taken: set[int] = set()
        for pair in sorted(part.edges, key=lambda pair: -graph.edges[pair]["weight"]):
            if taken.isdisjoint(pair):
                taken.update(pair)
                yield max(pair), -1 - min(pair)
