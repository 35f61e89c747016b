"""Plugs and cables: which places one plug fills, which plugs hang on one cable, and what a cable can become."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from auditor.canonical import natural
from auditor.model import Place, PlanLink

Cage = tuple[Place, ...]
"""What one plug fills: one place, or the lanes of a breakout in the order of their lanes."""


class Occupancy(StrEnum):
    """Whether a plug is in a port across which nobody is seen."""

    FREE = "free"
    TAKEN = "taken"
    UNKNOWN = "unknown"


class Cable(NamedTuple):
    """One cable, planned or observed: its plugs by where they are, and the pairs of places that it joins.

    Each pair shares a plug with an earlier one.
    """

    plugs: tuple[Cage, ...]
    pairs: tuple[tuple[Place, Place], ...]


class Layout:
    """Planned and observed wiring by place and by plug.

    A breakout's parent plug fills the places of one device at which the lines of one `cable_id` have a lane. Places of one
    device that the plan does not know are one plug if at their far ends are legs of one planned plug that is not there, unless
    the device is one for legs. A place that the plan uses twice belongs to the first line. Observed pairs count if both ends
    say so.
    """

    def __init__(self, links: Sequence[PlanLink], observed: Mapping[Place, Place]) -> None:
        self.links = links
        self.index: dict[Place, int] = {}
        self.far: dict[Place, Place] = {}
        self.lane: dict[Place, str] = {}
        self.position: dict[str, str] = {}
        self._cages: dict[Place, Cage] = {}
        trunks: defaultdict[tuple[str, ...], list[tuple[str, Place]]] = defaultdict(list)
        for index, link in enumerate(links):
            a, b = link.a, link.b
            one, other = (a.device, a.port), (b.device, b.port)
            if one == other or one in self.far or other in self.far:
                continue
            self.far[one], self.far[other] = other, one
            self.index[one] = self.index[other] = index
            for side, end, place in (("a", a, one), ("b", b, other)):
                if end.position:
                    self.position.setdefault(end.device, end.position)
                if link.cable_id and end.lane:
                    inside = side if a.device == b.device else ""
                    trunks[link.cable_id, end.device, inside].append((end.lane.strip(), place))
        self.degree = Counter(device for device, _ in self.far)
        self.seen = {one: other for one, other in observed.items() if one != other and observed.get(other) == one}
        for trunk in trunks.values():
            if len(trunk) > 1:
                trunk.sort(key=lambda item: natural(item[0]))
                cage = tuple(place for _, place in trunk)
                self._cages.update(dict.fromkeys(cage, cage))
                self.lane.update({place: lane for lane, place in trunk})
        if self._cages:
            self._guess()

    def _guess(self) -> None:
        """Find parent plugs in ports that the plan does not know: by where their legs are."""
        legs = {self.far[place][0] for place in self._cages} - {device for device, _ in self._cages}
        strays: defaultdict[tuple[str, Cage], list[Place]] = defaultdict(list)
        for place, leg in self.seen.items():
            home = self.far.get(leg) if place not in self.far and place[0] not in legs else None
            if home in self._cages and not any(self.right(lane) for lane in self._cages[home]):
                strays[place[0], self._cages[home]].append(place)
        for (_, parent), places in strays.items():
            places.sort(key=lambda place: natural(place[1]))
            if len(places) == len(parent):  # all legs are there, so the ports tell the lanes, and exchanged legs show
                lanes = [self.lane[lane] for lane in parent]
            else:
                lanes = [self.lane[self.far[self.seen[place]]] for place in places]
            self.lane.update(zip(places, lanes, strict=True))
            self._cages.update(dict.fromkeys(places, tuple(places)))

    def cage(self, place: Place) -> Cage:
        """The places that the plug in this place fills."""
        return self._cages.get(place) or (place,)

    def right(self, place: Place) -> bool:
        """Whether the cable in a place leads where the plan says."""
        return place in self.seen and self.seen[place] == self.far.get(place)

    def is_plain(self, cable: Cable) -> bool:
        """Whether no plug of a cable has lanes, so far as can be seen."""
        return not any(place in self.lane for pair in cable.pairs for place in pair)

    def fits(self, source: Place, target: Place) -> bool:
        """Whether a plug that fills `source` now can fill `target` with the same lane."""
        one, other = self.lane.get(source), self.lane.get(target)
        return one is None or other is None or one == other

    def tangles(self) -> Iterator[list[Cage]]:
        """The cages around wrong cables: each list is closed under planned and observed cables, and no list shares a cage."""
        known: set[Cage] = set()
        for place, other in self.seen.items():
            if self.far.get(place) == other or self.cage(place) in known:
                continue
            found = [self.cage(place)]
            known.add(found[0])
            for cage in found:  # grows while it is read
                for near in cage:
                    for far in (self.seen.get(near), self.far.get(near)):
                        if far is not None and (next_cage := self.cage(far)) not in known:
                            known.add(next_cage)
                            found.append(next_cage)
            yield sorted(found)

    def cables(self, cages: Iterable[Cage], far: Mapping[Place, Place]) -> list[Cable]:
        """The cables in these cages; `far` is the planned or the observed far end of each place."""
        out: list[Cable] = []
        known: set[Cage] = set()
        for cage in cages:
            if cage in known or not any(place in far for place in cage):
                continue
            if len(cage) == 1 == len(other := self.cage(far[cage[0]])):
                known.add(other)
                out.append(Cable((cage, other), ((cage[0], other[0]),)))
                continue
            plugs, pairs, joined = [cage], [], {cage}
            for plug in plugs:  # grows while it is read
                for place in plug:
                    if place not in far:
                        continue
                    other = self.cage(far[place])
                    if other not in joined:
                        joined.add(other)
                        plugs.append(other)
                    if plugs.index(other) > plugs.index(plug) or (other == plug and place < far[place]):
                        pairs.append((place, far[place]))
            known |= joined
            out.append(Cable(tuple(plugs), tuple(pairs)))
        return out

    def fillings(self, cable: Cable, planned: Cable) -> Iterator[dict[Place, Place]]:
        """Every way in which an observed cable can become a planned one: where each end of its pairs would be."""
        (first, second), *rest = cable.pairs
        for pair in planned.pairs:
            for one, other in (pair, pair[::-1]):
                goes: dict[Place, Place] = {}
                plugs: dict[Cage, Cage] = {}
                ends = self._put(first, one, goes, plugs) and self._put(second, other, goes, plugs)
                if ends and all(self._put_pair(near, far, goes, plugs) for near, far in rest):
                    yield goes

    def _put_pair(self, near: Place, far: Place, goes: dict[Place, Place], plugs: dict[Cage, Cage]) -> bool:
        """Put a further pair of a cable, one plug of which has been put."""
        if self.cage(near) not in plugs:
            near, far = far, near
        cage = plugs[self.cage(near)]
        target = next((place for place in cage if self.lane.get(near) == self.lane.get(place) is not None), None)
        if target is None or target not in self.far:
            return False
        return self._put(near, target, goes, plugs) and self._put(far, self.far[target], goes, plugs)

    def _put(self, source: Place, target: Place, goes: dict[Place, Place], plugs: dict[Cage, Cage]) -> bool:
        """Put one end of a pair, if its plug can be there."""
        plug, cage = self.cage(source), self.cage(target)
        if not self.fits(source, target) or (plugs.get(plug, cage) != cage) or (plug not in plugs and cage in plugs.values()):
            return False
        goes[source], plugs[plug] = target, cage
        return True
