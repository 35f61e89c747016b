"""Whom each port sees, and which of the sightings can be true together: one port holds one cable.

Sightings become edges between ports. An edge that both ends tell is sure. One that only one end tells counts as long as
nothing speaks against it: the far end sees nobody else, and no other port claims it. A bridge that forwards LLDP, an entry
that a switch shows on several ports and an old entry all make two ports claim one: then neither is believed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from functools import cached_property

from auditor.cabling.identity import Directory, Seen
from auditor.model import LinkEnd, NeighbourSeen, Place, Via
from auditor.model.device import is_host

SLACK = timedelta(seconds=60)
"""How much older than its link an entry may seem: the clocks of device and collector differ, and sources round."""

_LEARNED = (Via.MAC, Via.ARP)
_TRUST = {via: rank for rank, via in enumerate(Via)}
LIVING = frozenset({"active", "armed", "init"})
"""States of an RDMA port with a living cable; `init` waits for a subnet manager."""
_NOWHERE: frozenset[Place] = frozenset()


def is_up(end: LinkEnd) -> bool | None:
    """Whether a port has a living cable; None where that was not seen.

    On InfiniBand the RDMA port tells: the IP interface on it may be down, or not be there.
    """
    up = end.facts.get("interface.up")
    told = up.value if up is not None and isinstance(up.value, bool) else None
    if told is not None and (not is_infiniband(end) or (up is not None and up.device)):
        return told
    state = end.facts.get("rdma_port.state")
    if state is not None and isinstance(state.value, str) and (state.value in LIVING or state.value == "down"):
        return state.value in LIVING
    return told


def is_off(end: LinkEnd) -> bool:
    """Whether somebody switched a port off."""
    enabled = end.facts.get("interface.enabled")
    return enabled is not None and enabled.value is False and not is_infiniband(end)


def is_infiniband(end: LinkEnd) -> bool:
    """Whether the device says that a port is on InfiniBand."""
    layer = end.facts.get("rdma_port.link_layer")
    return layer is not None and layer.value == "infiniband"


def words(place: Place) -> str:
    """A place as reports write it: `leaf-03:Ethernet32`."""
    return f"{place[0]}:{place[1]}"


class Sightings:
    """All sightings of a fleet, and the edges that can be true.

    `seen`: what each port sees, without what is old and without itself. `ignored`: in words, what a port shows that is no
    evidence. `disputed`: by port, in words, sightings of it or by it that cannot be true together with others. `observed`:
    each place and the one across its cable, both ways round.
    """

    def __init__(self, ends: Mapping[Place, LinkEnd], directory: Directory, peers: Mapping[Place, AbstractSet[Place]]) -> None:
        """`peers` are the planned far ends of each planned place: several where lanes share a port."""
        self._ends, self._directory, self._peers = ends, directory, peers
        self.seen: dict[Place, tuple[Seen, ...]] = {}
        self.ignored: dict[Place, str] = {}
        for place, end in ends.items():
            if end.neighbours and (seen := self._look(place, end)):
                self.seen[place] = seen
        self._chosen = {place: chosen for place, seen in self.seen.items() if (chosen := self._choose(place, seen))}
        self._kept: dict[Place, tuple[Place, ...]] = {}
        self.disputed: defaultdict[Place, list[str]] = defaultdict(list)
        self.observed: dict[Place, Place] = {}
        self._settle()

    def leads(self, place: Place) -> tuple[Place, ...]:
        """The places that a port leads to by its own word, undisputed."""
        return self._kept.get(place, ())

    def by(self, place: Place, far: Place) -> Seen | None:
        """The neighbour by which a port leads to another."""
        return next((seen for seen in self._chosen.get(place, ()) if seen.place == far), None)

    def names(self, place: Place) -> tuple[Seen, ...]:
        """Every neighbour of a port whose port is known, old ones aside."""
        return self._chosen.get(place, ())

    # What one port sees

    def _look(self, place: Place, end: LinkEnd) -> tuple[Seen, ...]:
        """Whom a port sees. A port that is down sees nobody: what its table still holds is old."""
        if is_up(end) is False:
            return ()
        resolve, own = self._directory.resolve, place[0]
        found: list[Seen] = []
        learned: list[NeighbourSeen] = []
        for neighbour in end.neighbours:
            if neighbour.via in _LEARNED:
                learned.append(neighbour)
                continue
            if why := _old(neighbour, end):
                self.ignored[place] = f"{words(place)} shows a neighbour {why}"
                continue
            seen = resolve(neighbour)
            if seen.device == own:
                self.ignored[place] = f"{words(place)} sees its own device"
            elif not any(_same(seen, other) for other in found):
                found.append(seen)
        if learned and not any(seen.place for seen in found) and self._faces_host(place, end):
            return self._by_addresses(tuple(found), learned)
        return tuple(found)

    def _faces_host(self, place: Place, end: LinkEnd) -> bool:
        """Whether addresses learned on a port can be those across its cable: not on a host, not between switches."""
        if is_host(end.role):
            return False
        far = self._peers.get(place)
        return any(map(self._is_host, far)) if far else place[0] in self._leaves

    def _is_host(self, place: Place) -> bool:
        return place in self._ends and is_host(self._ends[place].role)

    @cached_property
    def _leaves(self) -> frozenset[str]:
        """Devices that the plan joins to hosts."""
        return frozenset(place[0] for place, far in self._peers.items() if any(map(self._is_host, far)))

    def _by_addresses(self, seens: tuple[Seen, ...], learned: Iterable[NeighbourSeen]) -> tuple[Seen, ...]:
        """What address tables add. They count if all addresses on a port are those of one port of a host; of a bond that was
        named, they tell the member."""
        resolved = [self._directory.resolve(neighbour) for neighbour in learned]
        for at, seen in enumerate(seens):
            members = [each for each in resolved if each.place in seen.among]
            if len({each.place for each in members}) == 1:
                return (*seens[:at], seen._replace(place=members[0].place, mac=members[0].mac), *seens[at + 1 :])
        (place, *more) = {seen.place for seen in resolved}
        if place is not None and not more and self._is_host(place) and not any(seen.device for seen in seens):
            return (resolved[0],)
        return seens

    def _choose(self, place: Place, seens: tuple[Seen, ...]) -> tuple[Seen, ...]:
        """The neighbours whose ports are known: of several, those that the plan wants there."""
        if len(seens) == 1:
            return seens if seens[0].place is not None else ()
        found = tuple(seen for seen in seens if seen.place is not None)
        wanted = self._peers.get(place, _NOWHERE)
        return tuple(seen for seen in found if seen.place in wanted) or found

    # What can be true together

    def _room(self, place: Place) -> int:
        """How many cables a place holds: one, or as many as the plan has lanes for it."""
        return len(self._peers.get(place, ())) or 1

    def _settle(self) -> None:
        """Keep what can be true, dispute the rest. First what both ends tell, then what one does."""
        chosen = self._chosen
        single: list[tuple[Place, Seen]] = []
        for near, seens in chosen.items():
            both: tuple[Place, ...] = ()
            for seen in seens:
                far = seen.place
                if far is not None and any(back.place == near for back in chosen.get(far, ())):
                    both = (*both, far)
                else:
                    single.append((near, seen))
            if both:
                self._kept[near] = both
        crowded = {place: fars for place, fars in self._kept.items() if len(fars) > self._room(place)}
        if crowded:
            for place, fars in crowded.items():
                for far in fars:
                    self._dispute(place, far, f"{words(place)} and {_list(fars)} see each other")
            left = {place: tuple(far for far in fars if far not in crowded) for place, fars in self._kept.items()}
            self._kept = {place: fars for place, fars in left.items() if fars and place not in crowded}
        for place, fars in self._kept.items():
            if len(fars) == 1 and self._room(place) == 1 and self._room(fars[0]) == 1:
                self.observed[place] = fars[0]
        if single:
            self._settle_single(self._open(single))

    def _open(self, single: Iterable[tuple[Place, Seen]]) -> list[tuple[Place, Place]]:
        """The edges told by one end that sure ones leave room for; of two claims on a port the better source counts."""
        into: defaultdict[Place, list[tuple[int, Place]]] = defaultdict(list)
        for near, seen in single:
            far = seen.place
            if far is None or len(self.leads(near)) >= self._room(near):
                continue  # two ends speak for another cable in this port
            if len(self.leads(far)) >= self._room(far):
                self._dispute(near, far, f"{words(far)} and {_list(self.leads(far))} see each other")
            else:
                into[far].append((_TRUST[seen.neighbour.via], near))
        return [(near, far) for far, claims in into.items() for trust, near in claims if trust == min(claims)[0]]

    def _settle_single(self, edges: list[tuple[Place, Place]]) -> None:
        """Weigh the edges told by one end against each other."""
        into: defaultdict[Place, set[Place]] = defaultdict(set)
        out: defaultdict[Place, set[Place]] = defaultdict(set)
        for near, far in edges:
            into[far].add(near)
            out[near].add(far)
        over = {at for at in (*into, *out) if len(into[at]) + len(out[at]) + len(self.leads(at)) > self._room(at)}
        for near, far in edges:
            rivals = []
            if far in over:
                rivals += [f"{words(other)} sees it too" for other in sorted(into[far] - {near})]
                rivals += [f"{words(far)} sees {_list(out[far])}"] if out[far] else []
            if near in over and into[near]:
                rivals.append(f"{_list(into[near])} sees {words(near)}")
            if rivals:
                self._dispute(near, far, "; ".join(rivals))
                continue
            self._kept[near] = (*self.leads(near), far)
            if len(out[near]) == 1 and self._room(near) == 1 and self._room(far) == 1:
                self.observed[near], self.observed[far] = far, near

    def _dispute(self, near: Place, far: Place, why: str) -> None:
        """Believe no longer that a port leads to another, and say why at both."""
        text = f"{words(near)} sees {words(far)}, but {why}: one port cannot have two cables"
        self.disputed[near].append(text)
        self.disputed[far].append(text)


def _same(one: Seen, other: Seen) -> bool:
    """Whether two neighbours of a port are one, listed twice."""
    if one.place is not None or other.place is not None:
        return one.place == other.place
    return one.device == other.device and one.neighbour.port_id == other.neighbour.port_id


def _list(places: Iterable[Place]) -> str:
    return " and ".join(map(words, sorted(places)))


def _old(neighbour: NeighbourSeen, end: LinkEnd) -> str:
    """Why an entry is too old to tell anything; empty when it is not.

    A frame heard since the link came up is news, however long the neighbour has been known.
    """
    if neighbour.heard_s is not None and neighbour.ttl_s is not None and neighbour.heard_s > neighbour.ttl_s:
        return "that is past its time to live"
    up_since, at = end.facts.get("interface.up_since"), end.stale_of or end.collected_at
    if up_since is None or at is None or not isinstance(up_since.value, str):
        return ""
    try:
        began = datetime.fromisoformat(up_since.value)
    except ValueError:
        return ""
    age = neighbour.since_s if neighbour.heard_s is None else neighbour.heard_s
    began = began if began.tzinfo else began.replace(tzinfo=UTC)
    return "that is older than its link" if at - timedelta(seconds=age or 0.0) + SLACK < began else ""
