"""Who a neighbour is: matches the identities that a port sees with the ports that are known.

A neighbour is `(system, port_id, port_kind, port_description, chassis)`, each as it was sent. Nothing in it is proof by
itself: system names come with or without domain and in any case, port ids are names, aliases, MACs or local numbers, a switch
uses one MAC on all its ports, and an adapter's firmware sends a MAC without any name. What cannot be resolved is no evidence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from auditor.canonical import mac, printable
from auditor.model import LinkEnd, NeighbourSeen, Place
from auditor.model.device import is_host

_NUMBER = re.compile(r"\d+")
_MAC_LENGTHS = frozenset({12, 14, 17})


class Sight(StrEnum):
    """What a neighbour says about the port that should be across the cable."""

    FITS = "fits"
    OTHER = "other"
    UNRESOLVED = "unresolved"
    ITSELF = "itself"


@dataclass(frozen=True, slots=True)
class Seen:
    """A neighbour with the device and the port that it is, each None where that cannot be told."""

    neighbour: NeighbourSeen
    device: str | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A neighbour judged against a far end; `words` say who it is."""

    sight: Sight
    words: str


def normal(text: str) -> str:
    """One spelling of a port's identity: lower case, MACs with colons."""
    word = text.strip().lower()
    if len(word) in _MAC_LENGTHS:
        with suppress(ValueError):
            return mac(word)
    return word


def is_mac(word: str) -> bool:
    """Whether a normalised identity is a MAC address."""
    return len(word) == 17 and word.count(":") == 5


class Directory:
    """Every known port by its identities, and every known device by its names."""

    def __init__(self, ends: Iterable[LinkEnd], devices: Iterable[str], ids: Mapping[Place, str]) -> None:
        """`ids` are the PCI addresses, GUIDs or MACs that the plan gives for some ports."""
        self._ports: dict[Place, frozenset[str]] = {}
        self._by_word: defaultdict[Place, set[Place]] = defaultdict(set)
        self._by_mac: defaultdict[str, set[Place]] = defaultdict(set)
        self._count: Counter[str] = Counter()
        self._hosts: set[str] = set()
        self._names: dict[str, str] = {}
        self._labels: defaultdict[str, set[str]] = defaultdict(set)
        self._hostnames: defaultdict[str, set[str]] = defaultdict(set)
        self._told: set[str] = set()
        names = set(devices)
        for end in ends:
            names.add(end.device)
            place = (end.device, end.port)
            words = {normal(word) for word in (end.port, end.interface or "", ids.get(place, ""), *end.identities)} - {""}
            self._ports[place] = frozenset(words)
            self._count[end.device] += 1
            if is_host(end.role) or not end.role:
                self._hosts.add(end.device)
            for word in words:
                if is_mac(word):
                    self._by_mac[word].add(place)
                else:
                    self._by_word[end.device, word].add(place)
            hostname = end.facts.get("system.hostname")
            if hostname is not None and isinstance(hostname.value, str):
                self._hostnames[_host(hostname.value)].add(end.device)
                self._told.add(end.device)
        for name in sorted(names):
            self._names.setdefault(_host(name), name)
            self._labels[_host(name).partition(".")[0]].add(name)

    def device(self, system: str) -> str | None:
        """The known device of this system name; None when there is none, or when several could be meant."""
        name = _host(system)
        if name in self._names:
            return self._names[name]
        alike = {device for device in self._labels.get(name.partition(".")[0], ()) if ("." in name) != ("." in _host(device))}
        if not alike:
            alike = self._hostnames.get(name, set())
        return next(iter(alike)) if len(alike) == 1 else None

    def resolve(self, neighbour: NeighbourSeen) -> Seen:
        """Which device and port a neighbour is.

        A MAC that is one port's alone decides, sent as port id. Else the name decides the device, or, without a known name,
        the MACs do; and the port id or the description decides the port among those of that device.
        """
        system, port_id, _, description, chassis = neighbour[:5]
        port_word, chassis_word = normal(port_id), normal(chassis)
        place = self._port_of_mac(port_word)
        if place is not None:
            return Seen(neighbour, place[0], place)
        device = self.device(system)
        if device is None:
            owners = {place[0] for word in (port_word, chassis_word) for place in self._by_mac.get(word, ())}
            device = next(iter(owners)) if len(owners) == 1 else None
        if device is None:
            return Seen(neighbour)
        for word in (port_word, normal(description)):
            own = self._by_word.get((device, word), ())
            if len(own) == 1:
                return Seen(neighbour, device, next(iter(own)))
        # The agent in an adapter's firmware sends the MAC of its port as chassis, a number as port id, and no name.
        place = self._port_of_mac(chassis_word) if not system.strip() and device in self._hosts else None
        return Seen(neighbour, device, place)

    def _port_of_mac(self, word: str) -> Place | None:
        """The one port with this MAC. A switch may use one MAC on all its ports: with one port known, that would not show."""
        owners = self._by_mac.get(word, ())
        place = next(iter(owners)) if len(owners) == 1 else None
        return place if place is not None and (place[0] in self._hosts or self._count[place[0]] > 1) else None

    def look(self, near: Place, far: Place, seen: Seen) -> Sighting:
        """Judge what `near` sees against `far`, the port that should be there."""
        words, device, place = describe(seen.neighbour), seen.device, seen.place
        if place == near:
            return Sighting(Sight.ITSELF, words)
        if place == far:
            return Sighting(Sight.FITS, words)
        if place is not None:
            return Sighting(Sight.OTHER, words)
        if device is None:
            system = seen.neighbour[0]
            stranger = bool(system.strip()) and far[0] in self._told and not self._ambiguous(system)
            return Sighting(Sight.OTHER if stranger else Sight.UNRESOLVED, words)
        return Sighting(self._port_sight(far, seen.neighbour) if device == far[0] else Sight.OTHER, words)

    def _port_sight(self, far: Place, neighbour: NeighbourSeen) -> Sight:
        """The right device, and no single port of it: told by the form of the name, or not at all.

        `ens110np0` where `ens108np0` should be is another port; `eth2`, or a name that two ports share, says nothing.
        """
        mine = {word for word in self._ports.get(far, frozenset({normal(far[1])})) if not is_mac(word)}
        kind = neighbour[2]
        texts = [normal(neighbour[1])] if kind in ("name", "alias", "local", "") else []
        for word in (*texts, normal(neighbour[3])):
            if word in mine:
                return Sight.UNRESOLVED
            if any(_abbreviates(word, name) for name in mine):
                return Sight.FITS
            if _NUMBER.search(word) and not is_mac(word) and any(_form(word) == _form(name) for name in mine):
                return Sight.OTHER
        return Sight.UNRESOLVED

    def _ambiguous(self, system: str) -> bool:
        """Whether a system name belongs to several known devices, so that it excludes none of them."""
        name = _host(system)
        return bool(self._labels.get(name.partition(".")[0]) or self._hostnames.get(name))


def describe(neighbour: NeighbourSeen) -> str:
    """A neighbour in words, safe for a screen: `leaf-03 etp5 "Ethernet32"`."""
    system, port_id, _, description, chassis = (printable(text.strip(), 64) for text in neighbour[:5])
    port = port_id or chassis or "a port without id"
    extra = f' "{description}"' if description and description != port_id else ""
    return f"{system or 'a neighbour without name'} {port}{extra}"


def _host(name: str) -> str:
    return name.strip().lower().rstrip(".")


def _form(name: str) -> str:
    """`ens#np#` of `ens108np0`: the form of a name, its numbers left out."""
    return _NUMBER.sub("#", name)


def _abbreviates(one: str, other: str) -> bool:
    """Whether one is the short form of the other: `et1/47` and `ethernet1/47`. Only of names with a slash: `eth0` is not
    `ethernet0`."""
    heads = [re.match(r"([a-z]+)(\d+(?:/\d+)+.*)", name) for name in (one, other)]
    if heads[0] is None or heads[1] is None or heads[0].group(2) != heads[1].group(2):
        return False
    a, b = heads[0].group(1), heads[1].group(1)
    return a.startswith(b) or b.startswith(a)
