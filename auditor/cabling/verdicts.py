"""The verdict of each planned link: what both its ends, and other ports that see one of them, allow to say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from auditor.cabling.identity import Directory, Seen, Sight
from auditor.cabling.view import Sightings, is_infiniband, is_off, is_up, words
from auditor.model import ABSENT, Device, Fact, Link, LinkEnd, LinkVerdict, Place, Plan, PlanLink, Spot, Status
from auditor.model.device import is_host

Judged = tuple[LinkVerdict, str, tuple[Spot, ...]]
"""A verdict, its reason in words, and the cells that say so."""

_RATES = ("ib_port.rate", "rdma_port.rate")


class Port(StrEnum):
    """What is known of the state of a port. `mute`: its device answered, and does not tell."""

    UP = "up"
    DOWN = "is down"
    EMPTY = "is down, without a module"
    GONE = "is not there"
    MUTE = "mute"
    HIDDEN = "hidden"


class _Stranger(NamedTuple):
    """A sighting that is not the planned peer: in words, by whom, and of whom."""

    words: str
    device: str
    seen: Seen


class Judge:
    """Gives the verdicts of planned links."""

    def __init__(
        self,
        plan: Plan,
        ends: Mapping[Place, LinkEnd],
        devices: Mapping[str, Device],
        directory: Directory,
        sightings: Sightings,
        peers: Mapping[Place, set[Place]],
    ) -> None:
        """`ends` hold one of every planned place. `peers` are the planned far ends of each."""
        self._plan, self._ends, self._devices = plan, ends, devices
        self._directory, self._sightings, self._peers = directory, sightings, peers
        self._loose_ports: list[Place] | None = None
        self._planes: defaultdict[str, set[str]] = defaultdict(set)

    def link(self, plan: PlanLink) -> Link:
        """The link of one line of the plan."""
        one, other = plan.a.place, plan.b.place
        ends = (self._ends[one], self._ends[other])
        for end in ends:
            device = self._devices.get(end.device)
            if device is None or device.status is Status.PLANNED:
                text = "is not in the inventory" if device is None else "is planned, not installed"
                return Link(*ends, LinkVerdict.NOT_YET, plan, f"{end.device} {text}")
        leads, observed = self._sightings.leads, self._sightings.observed
        fits = (other in leads(one), one in leads(other))
        far = (other, one) if any(fits) else (observed.get(one), observed.get(other))
        verdict, reason, spots = _proven(plan, ends) if all(fits) else self._judge(plan, ends, fits)
        return Link(*ends, verdict, plan, reason, far, spots)

    def _judge(self, plan: PlanLink, ends: tuple[LinkEnd, LinkEnd], fits: tuple[bool, bool]) -> Judged:
        """What is said of a link that not both ends confirm."""
        places = (plan.a.place, plan.b.place)
        strangers, blank = self._strangers(places)
        if any(fits):
            near = words(places[fits.index(True)])
            if strangers:
                text = f"the ends contradict each other: {near} sees its planned peer, {strangers[0].words}"
                return LinkVerdict.UNKNOWN, text, _cells(strangers)
            return _proven(plan, ends, near)
        strangers += self._elsewhere(places)
        if strangers:
            down = _states(end for end in ends if is_up(end) is False)
            spots = (*_cells(strangers), *self._addresses(strangers), *down)
            return LinkVerdict.WRONG, "; ".join(stranger.words for stranger in strangers), tuple(dict.fromkeys(spots))
        return self._unproven(plan, ends, blank)

    def _strangers(self, places: tuple[Place, Place]) -> tuple[list[_Stranger], list[_Stranger]]:
        """What the ends see that is not each other: known to be somebody else, and somebody who cannot be named.

        Of a port that sees a planned peer, whatever else it sees does not count.
        """
        others: list[_Stranger] = []
        blank: list[_Stranger] = []
        for near, far in (places, places[::-1]):
            kept = self._sightings.leads(near)
            if not self._peers[near].isdisjoint(kept):
                continue
            known, unnamed = [], []
            for seen in self._sightings.seen.get(near, ()):
                sight, text = self._directory.look(near, far, seen)
                stranger = _Stranger(f"{words(near)} sees {text}", near[0], seen)
                if (seen.place in kept) if seen.place is not None else (sight is Sight.OTHER):
                    known.append(stranger)
                elif seen.place is None:
                    unnamed.append(stranger)
            others += [*known, *unnamed] if known else []
            blank += unnamed
        return others, blank

    def _elsewhere(self, places: tuple[Place, Place]) -> list[_Stranger]:
        """Ports across the cables of both ends of which only those ports tell."""
        found = []
        for place in places:
            other = self._sightings.observed.get(place)
            seen = None if other is None or self._sightings.by(place, other) else self._sightings.by(other, place)
            if other is not None and seen is not None:
                found.append(_Stranger(f"{words(other)} sees {words(place)}", other[0], seen))
        return found

    def _addresses(self, strangers: Iterable[_Stranger]) -> Iterator[Spot]:
        """The cells of the addresses by which neighbours were recognised, on the devices that own them."""
        for _, _, seen in strangers:
            end = None if seen.place is None or not seen.mac else self._ends.get(seen.place)
            for name in ("nic.mac", "interface.mac"):
                fact = None if end is None else end.facts.get(name)
                if end is not None and fact is not None and fact.value == seen.mac:
                    yield _spot(end, fact)
                    break

    def _unproven(self, plan: PlanLink, ends: tuple[LinkEnd, LinkEnd], blank: list[_Stranger]) -> Judged:
        """Without any identity that speaks for or against: what the state of both ports allows to say."""
        places = (plan.a.place, plan.b.place)
        for end, place in zip(ends, places, strict=True):
            if is_off(end):
                return LinkVerdict.UNKNOWN, f"{words(place)} is switched off", _states([end], "interface.enabled")
        disputed = sorted({text for place in places for text in self._sightings.disputed.get(place, ())})
        if disputed:
            seen = [_Stranger("", place[0], seen) for place in places for seen in self._sightings.names(place)]
            return LinkVerdict.UNKNOWN, disputed[0], _cells(seen)
        if blank:
            right = blank[0].seen.device in [end.device for end in ends]
            text = "the device is right, its port cannot be told" if right else "a neighbour is there and cannot be named"
            return LinkVerdict.UNKNOWN, f"{text}: {blank[0].words}", _cells(blank)
        ports = [_port(end) for end in ends]
        note = "".join(f"; {self._sightings.ignored[place]}" for place in places if place in self._sightings.ignored)
        if Port.HIDDEN in ports:
            return LinkVerdict.UNKNOWN, f"the state of {words(places[ports.index(Port.HIDDEN)])} was not seen{note}", ()
        dead = next((at for at, port in enumerate(ports) if port in (Port.DOWN, Port.EMPTY, Port.GONE)), None)
        if dead is None:
            if Port.MUTE in ports:
                return LinkVerdict.UNKNOWN, f"a port does not tell whether it is up{note}", ()
            return LinkVerdict.LINK_ONLY, f"both ends are up, and neither says who is there{note}", ()
        end, living = ends[dead], places[1 - dead]
        text = f"{end.device} has no port {end.port}" if ports[dead] is Port.GONE else f"{words(places[dead])} {ports[dead]}"
        if ports[1 - dead] is Port.UP:
            if ports[dead] is Port.GONE:
                return LinkVerdict.UNKNOWN, f"{text}, and {words(living)} is up{note}", _states(ends)
            where = self._where(plan, ends[1 - dead], host=is_host(end.role))
            if where:
                return LinkVerdict.UNKNOWN, f"{text}, {words(living)} is up: {where}{note}", _states(ends)
        return LinkVerdict.MISSING, f"{text}, and neither end is seen anywhere else{note}", _states(ends)

    def _where(self, plan: PlanLink, living: LinkEnd, *, host: bool) -> str:
        """In words, where the cable in a living end may be plugged in instead; empty when there is no such port.

        That is a port that is up, and nothing tells or suggests what is across it: looked for among the devices of the link's
        plane that are of the kind (hosts or not) of its other end. A living InfiniBand port that the walk does not show is in
        no port of that fabric.
        """
        if is_infiniband(living):
            return "it came up since the fabric was walked, or it is in another one"
        ports = [
            place
            for place in self._loose()
            if place[0] in self._planes[plan.plane] and place[0] != living.device and is_host(self._ends[place].role) is host
        ]
        return f"its cable may be in {' or '.join(map(words, ports[:2]))}, up without a name across it" if ports else ""

    def _loose(self) -> list[Place]:
        """Ports that are up, and nothing tells or suggests what is across them."""
        if self._loose_ports is None:
            known = self._sightings.observed
            self._loose_ports = sorted(
                place
                for place, end in self._ends.items()
                if place not in known
                and is_up(end) is True
                and not any(seen.device for seen in self._sightings.seen.get(place, ()))
                and not any(is_up(self._ends[far]) for far in self._peers.get(place, ()))
            )
            for link in self._plan.links:
                self._planes[link.plane] |= {link.a.device, link.b.device}
        return self._loose_ports


def _proven(plan: PlanLink, ends: tuple[LinkEnd, LinkEnd], near: str = "") -> Judged:
    """The cable is right; `near` is the only end that says so. Whether it runs as fast as planned."""
    slow = None if plan.speed is None else _slowest(ends)
    if slow is not None and plan.speed is not None and slow[0] < plan.speed:
        rate, end, fact = slow
        text = f"{end.device}:{end.port} runs at {_gbit(rate)}{_lanes(end)}, {_gbit(plan.speed)} is planned"
        return LinkVerdict.DEGRADED, text, (_spot(end, fact),)
    if near:
        return LinkVerdict.PROVEN_ONE_END, f"seen by {near} only", ()
    return LinkVerdict.PROVEN, "", ()


def _slowest(ends: tuple[LinkEnd, LinkEnd]) -> tuple[int, LinkEnd, Fact] | None:
    """The slower of the rates that both ends show, in bit/s.

    What a port negotiated goes before the rate of an RDMA device, of which some Ethernet drivers know no more than 400G.
    """
    for names in (("interface.speed",), _RATES):
        found: list[tuple[int, int]] = []
        for at, end in enumerate(ends):
            for name in names:
                fact = end.facts.get(name)
                if fact is not None and isinstance(fact.value, int) and fact.value > 0 and is_up(end) is not False:
                    found.append((fact.value, at))
        if found:
            rate, at = min(found)
            return rate, ends[at], next(fact for name in names if (fact := ends[at].facts.get(name)) and fact.value == rate)
    return None


def _gbit(rate: int) -> str:
    return f"{rate / 1e9:g}G"


def _lanes(end: LinkEnd) -> str:
    """` (2xNDR)` of an InfiniBand port."""
    width, speed = (end.facts.get(f"ib_port.{column}") for column in ("width", "speed"))
    return "" if width is None or speed is None else f" ({width.value}x{speed.value})"


def _port(end: LinkEnd) -> Port:
    """The state of a port, as far as it was seen."""
    up = is_up(end)
    if up:
        return Port.UP
    if end.fact("optic.present").value is False:
        return Port.EMPTY
    if up is False:
        return Port.DOWN
    told = end.fact("interface.up").value
    if told is ABSENT:
        return Port.GONE if end.interface is None else Port.MUTE
    return Port.HIDDEN


def is_gone(end: LinkEnd) -> bool:
    """Whether its device answered whole and has no such port."""
    return _port(end) is Port.GONE


def _cells(strangers: Iterable[_Stranger]) -> tuple[Spot, ...]:
    """The cells of sightings."""
    facts = [(device, seen.neighbour.fact) for _, device, seen in strangers]
    return tuple(Spot(fact.device or device, fact.address) for device, fact in facts if fact is not None)


def _states(ends: Iterable[LinkEnd], name: str = "interface.up") -> tuple[Spot, ...]:
    """The cells of a fact of several ends, of those that have it; first the ports that are not up."""
    known = [(end, fact) for end in ends if (fact := end.facts.get(name)) is not None and fact.value is not None]
    return tuple(_spot(end, fact) for end, fact in sorted(known, key=lambda item: item[1].value is True))


def _spot(end: LinkEnd, fact: Fact) -> Spot:
    return Spot(fact.device or end.device, fact.address)
