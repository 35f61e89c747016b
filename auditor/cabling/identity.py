"""Who a neighbour is: matches the identities that a port sees with the ports that are known.

Nothing in a `NeighbourSeen` is proof by itself: system names come with or without domain and in any case, port ids are names,
aliases, MACs or local numbers, a switch uses one MAC on all its ports, a host names the bond instead of its member, and an
adapter's firmware sends a MAC without any name. What cannot be resolved is no evidence.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from auditor.canonical import mac, printable
from auditor.model import LinkEnd, NeighbourSeen, Place, Via
from auditor.model.device import is_host

_NUMBER = re.compile(r"\d+")
_BARE_MAC = re.compile(r"[0-9a-f]{12}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2}")
_SLASHED = re.compile(r"([a-z]+)(\d+(?:/\d+)+.*)")
_MAC_LENGTHS = frozenset({12, 14, 17})
_TELLING = frozenset({"name", "alias", "local", ""})
"""Kinds of port ids that are names of ports."""


class Sight(StrEnum):
    """What a neighbour says about the port that should be across the cable."""

    FITS = "fits"
    OTHER = "other"
    UNRESOLVED = "unresolved"
    ITSELF = "itself"


class Seen(NamedTuple):
    """A neighbour with the device and the port that it is, each None where that cannot be told.

    `among`: the ports of the device that share the name it gave. `mac`: the address that told the port.
    """

    neighbour: NeighbourSeen
    device: str | None = None
    place: Place | None = None
    among: frozenset[Place] = frozenset()
    mac: str = ""


def normal(text: str) -> str:
    """One spelling of a port's identity: lower case, MACs with colons."""
    word = text.strip().lower()
    return mac(word) if len(word) in _MAC_LENGTHS and _BARE_MAC.fullmatch(word) else word


def is_mac(word: str) -> bool:
    """Whether a normalised identity is a MAC address."""
    return len(word) == 17 and word.count(":") == 5


class _Index:
    """Ports by one of their words."""

    def __init__(self) -> None:
        self._one: dict[str, Place] = {}
        self._several: dict[str, set[Place]] = {}

    def add(self, word: str, place: Place) -> None:
        """Note that a port has this word."""
        first = self._one.setdefault(word, place)
        if first is not place and first != place:
            self._several.setdefault(word, {first}).add(place)

    def only(self, word: str) -> Place | None:
        """The one port that has this word."""
        return None if word in self._several else self._one.get(word)

    def all(self, word: str) -> Collection[Place]:
        """Every port that has this word."""
        place = self._one.get(word)
        return self._several.get(word, () if place is None else (place,))

    def words(self) -> Iterable[str]:
        """Every word."""
        return self._one


_NO_WORDS = _Index()


class Directory:
    """Every known port by its identities, and every known device by its names."""

    def __init__(self, ends: Iterable[LinkEnd], devices: Iterable[str], ids: Mapping[Place, str]) -> None:
        """`ids` are the PCI addresses, GUIDs or MACs that the plan gives for some ports."""
        self._ports: defaultdict[str, set[str]] = defaultdict(set)
        self._words: defaultdict[str, _Index] = defaultdict(_Index)
        self._macs = _Index()
        self._short: defaultdict[tuple[str, str], set[tuple[str, Place]]] = defaultdict(set)
        self._forms: dict[str, tuple[str, ...]] = {}
        self._hosts: set[str] = set()
        self._names: dict[str, str] = {}
        self._labels: defaultdict[str, set[str]] = defaultdict(set)
        self._hostnames: defaultdict[str, set[str]] = defaultdict(set)
        self._told: set[str] = set()
        self._systems: dict[str, str | None] = {}
        names = set(devices)
        for end in ends:
            names.add(end.device)
            self._add(end, ids.get((end.device, end.port), ""))
        for name in sorted(names):
            self._names.setdefault(_host(name), name)
            self._labels[_host(name).partition(".")[0]].add(name)

    def _add(self, end: LinkEnd, id_: str) -> None:
        place = device, port = end.device, end.port
        self._ports[device].add(port)
        if device not in self._hosts and (is_host(end.role) or not end.role):
            self._hosts.add(device)
        own = self._words[device]
        for text in {port, end.interface or port, id_ or port, *end.identities}:
            word = normal(text)
            if is_mac(word):
                self._macs.add(word, place)
            elif word:
                own.add(word, place)
                slashed = _SLASHED.fullmatch(word) if "/" in word else None
                if slashed is not None:
                    self._short[device, slashed.group(2)].add((slashed.group(1), place))
        if device not in self._told:
            hostname = end.facts.get("system.hostname")
            if hostname is not None and isinstance(hostname.value, str):
                self._hostnames[_host(hostname.value)].add(device)
                self._told.add(device)

    def device(self, system: str) -> str | None:
        """The known device of this system name; None when there is none, or when several could be meant."""
        if system not in self._systems:
            self._systems[system] = self._device(system)
        return self._systems[system]

    def _device(self, system: str) -> str | None:
        name = _host(system)
        if name in self._names:
            return self._names[name]
        alike = {device for device in self._labels.get(name.partition(".")[0], ()) if ("." in name) != ("." in _host(device))}
        if not alike:
            alike = self._hostnames.get(name, set())
        return next(iter(alike)) if len(alike) == 1 else None

    def port(self, device: str, word: str) -> Place | None:
        """The one port of a device with this identity."""
        return self._words.get(device, _NO_WORDS).only(normal(word))

    def resolve(self, neighbour: NeighbourSeen) -> Seen:
        """Which device and port a neighbour is.

        A MAC that is one port's alone decides, sent as port id. Else the name decides the device, or, without a known name,
        the MACs do; and the port id or the description decides the port among those of that device: a port that nobody listed
        is another one when its name has the form of the device's names.
        """
        system, port_id, kind, description, chassis, via = neighbour[:6]
        if via is Via.FABRIC:
            known = port_id in self._ports.get(system, ())
            return Seen(neighbour, self.device(system), (system, port_id) if known else None)
        port_word = normal(port_id)
        place = self._port_of_mac(port_word) if is_mac(port_word) else None
        if place is not None:
            return Seen(neighbour, place[0], place, mac=port_word)
        device = self.device(system)
        if device is None:
            owners = {place[0] for word in (port_word, normal(chassis)) for place in self._macs.all(word)}
            device = next(iter(owners)) if len(owners) == 1 else None
            if device is None:
                return Seen(neighbour)
        own = self._words.get(device, _NO_WORDS)
        place = own.only(port_word) or own.only(normal(description))
        if place is not None:
            return Seen(neighbour, device, place)
        among = frozenset(own.all(port_word) or own.all(normal(description)))
        if among:
            return Seen(neighbour, device, None, among)
        # The agent in an adapter's firmware sends the MAC of its port as chassis, a number as port id, and no name.
        if not system.strip() and device in self._hosts:
            word = normal(chassis)
            return Seen(neighbour, device, self._port_of_mac(word), mac=word)
        texts = [port_id] if kind in _TELLING else []
        return Seen(neighbour, device, self._unlisted(device, [*texts, description]))

    def _port_of_mac(self, word: str) -> Place | None:
        """The one port with this MAC. A switch may use one MAC on all its ports: with one port known, that would not show."""
        place = self._macs.only(word)
        return place if place is not None and (place[0] in self._hosts or len(self._ports[place[0]]) > 1) else None

    def _unlisted(self, device: str, texts: Iterable[str]) -> Place | None:
        """The port behind a name that no port has: the short form of one, or one of its own if it is named like the others.

        `ens110np0` beside a known `ens108np0` is another port; `eth2` may be any. A short form has a slash: `eth0` is not
        `ethernet0`.
        """
        words = [(normal(text), printable(text.strip(), 64)) for text in texts]
        for word, _ in words:
            slashed = _SLASHED.fullmatch(word)
            if slashed is not None:
                head, known = slashed.group(1), self._short.get((device, slashed.group(2)), ())
                meant = {place for other, place in known if other.startswith(head) or head.startswith(other)}
                if len(meant) == 1:
                    return next(iter(meant))
        for form in self._forms_of(device):
            for word, text in words:
                if _NUMBER.search(word) and not is_mac(word) and _form(word) == form:
                    return device, text
        return None

    def _forms_of(self, device: str) -> tuple[str, ...]:
        """The forms of the names that a device's ports have: those of the ports themselves before those of aliases."""
        if device not in self._forms:
            names = (*sorted(map(normal, self._ports.get(device, ()))), *sorted(self._words.get(device, _NO_WORDS).words()))
            self._forms[device] = tuple(dict.fromkeys(map(_form, names)))
        return self._forms[device]

    def look(self, near: Place, far: Place, seen: Seen) -> Sighting:
        """Judge what `near` sees against `far`, the port that should be there."""
        device, place = seen.device, seen.place
        if device == near[0]:
            sight = Sight.ITSELF
        elif place == far:
            sight = Sight.FITS
        elif device is None:
            system = seen.neighbour.system
            stranger = bool(system.strip()) and far[0] in self._told and not self._ambiguous(system)
            sight = Sight.OTHER if stranger else Sight.UNRESOLVED
        elif place is not None or device != far[0] or (seen.among and far not in seen.among):
            sight = Sight.OTHER
        else:
            sight = Sight.UNRESOLVED
        return Sighting(sight, describe(seen.neighbour))

    def _ambiguous(self, system: str) -> bool:
        """Whether a system name belongs to several known devices, so that it excludes none of them."""
        name = _host(system)
        return bool(self._labels.get(name.partition(".")[0]) or self._hostnames.get(name))


class Sighting(NamedTuple):
    """A neighbour judged against a far end; `words` say who it is."""

    sight: Sight
    words: str


def describe(neighbour: NeighbourSeen) -> str:
    """A neighbour in words, safe for a screen: `leaf-03 etp5 "Ethernet32"`."""
    system, port_id, _, description, chassis = (printable(text.strip(), 64) for text in neighbour[:5])
    if neighbour.via in (Via.MAC, Via.ARP):
        return f"no neighbour but the address {port_id}"
    port = port_id or chassis or "a port without id"
    extra = f' "{description}"' if description and description != port_id else ""
    return f"{system or 'a neighbour without name'} {port}{extra}"


def _host(name: str) -> str:
    return name.strip().lower().rstrip(".")


def _form(name: str) -> str:
    """`ens#np#` of `ens108np0`: the form of a name, its numbers left out."""
    return _NUMBER.sub("#", name)
