"""The order of hand movements: from where each plug goes to steps that never leave more than one plug hanging."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from auditor.cabling.plugs import Cable, Cage, Layout, Occupancy
from auditor.canonical import natural
from auditor.model import Hand, Move, Place


class _Step(NamedTuple):
    """A plug, by the cage it is in at first, and the cage that it fills next; none where it hangs."""

    hand: Hand
    plug: Cage
    target: Cage = ()


class Schedule:
    """Writes work orders over one layout. `rack` gives a device's rack, `status` what is in a cage where nobody is seen."""

    def __init__(self, layout: Layout, status: Callable[[Cage], Occupancy], rack: Callable[[str], str]) -> None:
        self._layout = layout
        self._status = status
        self._site = cache(lambda device: (natural(rack(device)), natural(layout.position.get(device, "")), natural(device)))

    def write(self, goes: Mapping[Place, Place], removed: Iterable[Cable], new: Iterable[Cable]) -> tuple[Move, ...]:
        """The steps that bring each end in `goes` to its place.

        Superfluous cables go first, since they may be in the way; then each row of plugs of which one waits for the next;
        then new cables. Rows are sorted by rack and position of the plug that is touched first, so are the others.
        """
        removals = sorted((self._remove(cable) for cable in removed), key=lambda move: self._key(move.source))
        lays = sorted((self._lay(cable) for cable in new), key=lambda move: self._key(move.target))
        return (*removals, *self._carry(goes), *lays)

    def look(self, cable: Cable) -> Move:
        """The step for a cable that is like none of the plan's: see what it is."""
        head, ends = self._head(cable)
        return Move(Hand.LOOK, target=head, far=ends)

    def _remove(self, cable: Cable) -> Move:
        head, ends = self._head(cable)
        return Move(Hand.REMOVE, source=head, far=ends)

    def _lay(self, cable: Cable) -> Move:
        head, ends = self._head(cable)
        return Move(Hand.LAY, target=head, far=ends, label=self._label(one for one, _ in cable.pairs))

    def _head(self, cable: Cable) -> tuple[Cage, tuple[Place, ...]]:
        """The parent plug of a cable, or its first one in the order of walking, and the ends at its other plugs."""
        head = min(cable.plugs, key=lambda plug: (-len(plug), self._key(plug)))
        return head, tuple(place for pair in cable.pairs for place in pair if place not in head)

    def _key(self, cage: Cage) -> tuple[object, ...]:
        """Order of walking: rack, position in it, device, port."""
        device, port = cage[0]
        return *self._site(device), natural(port)

    def _carry(self, goes: Mapping[Place, Place]) -> Iterator[Move]:
        """The steps of all rows, each with what is true at its moment."""
        layout = self._layout
        now: dict[Place, Place | None] = {}
        for row in sorted(self._rows(goes), key=lambda row: self._key(row[0].plug)):
            first = row[0]
            there = Occupancy.FREE if not first.target or self._vacant(first.target) else self._status(first.target)
            if there is Occupancy.TAKEN:
                yield Move(Hand.LOOK, target=first.target)
            for hand, plug, target in row:
                ends = [place for place in plug if place in layout.seen]
                far = [now.get(layout.seen[place], layout.seen[place]) for place in ends]
                yield Move(
                    hand,
                    source=() if hand is Hand.PLUG else plug,
                    target=target,
                    far=tuple(place for place in far if place is not None),
                    label=self._label(goes[place] for place in ends),
                    look_first=target == first.target and there is not Occupancy.FREE,
                    takes_along=() if hand is Hand.PLUG else self._right(ends),
                )
                now.update({place: goes[place] if target else None for place in ends})

    def _vacant(self, cage: Cage) -> bool:
        """Whether a cage is free by what was seen: its plug has gone by the time that another one comes."""
        return any(place in self._layout.seen for place in cage)

    def _rows(self, goes: Mapping[Place, Place]) -> Iterator[list[_Step]]:
        """Rows that end at a free cage, from that end; and circles, of which one plug hangs until the last step."""
        cage = self._layout.cage
        leaves = {cage(source): cage(target) for source, target in goes.items() if cage(source) != cage(target)}
        enters = {target: source for source, target in leaves.items()}
        for target in [target for target in enters if target not in leaves]:
            row = []
            while target in enters:
                source = enters.pop(target)
                row.append(_Step(Hand.MOVE, source, target))
                target = source
            yield row
        while enters:
            first = min(self._circle(enters), key=self._key)
            row, target = [_Step(Hand.UNPLUG, first)], first
            while (source := enters.pop(target)) != first:
                row.append(_Step(Hand.MOVE, source, target))
                target = source
            yield [*row, _Step(Hand.PLUG, first, target)]

    @staticmethod
    def _circle(enters: Mapping[Cage, Cage]) -> list[Cage]:
        """The cages of one circle."""
        out = [next(iter(enters))]
        while (before := enters[out[-1]]) != out[0]:
            out.append(before)
        return out

    def _right(self, ends: Iterable[Place]) -> tuple[str, ...]:
        """Names of the links that are as planned with a plug where it is at first."""
        layout = self._layout
        return tuple(sorted(layout.links[layout.index[place]].name for place in ends if layout.right(place)))

    def _label(self, places: Iterable[Place]) -> str:
        """What the plan writes on the cable of these places."""
        layout = self._layout
        return next((label for place in places if (label := layout.links[layout.index[place]].label)), "")
