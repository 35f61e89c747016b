"""Cables of NetBox (and of Nautobot, as far as its objects are alike): the JSON of its REST API as a wiring plan.

The document is what `auditor.collect.netbox` fetches, or an export of the same objects: cables alone, or an object with the
lists `dcim/cables`, `dcim/interfaces` (speeds), `dcim/devices` (racks, roles), `dcim/front-ports` and `dcim/rear-ports`
(patch panels), `dcim/cable-terminations` (connectors of profiles). What NetBox does not decide is left out and said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from auditor import canonical
from auditor.errors import PlanError, SetupError
from auditor.model import PlanEnd, PlanLink
from auditor.plan.formats import Imported, ImportedDevice, PlanFormat
from auditor.plan.formats.netbox_document import (
    CABLES,
    DEVICES,
    FRONT,
    FRONT_PORTS,
    INTERFACE,
    INTERFACES,
    REAR,
    REAR_PORTS,
    TERMINATIONS,
    Key,
    Object,
    called,
    choice,
    decode,
    ends,
    get,
    key_of,
    numbers,
    text,
)
from auditor.plan.formats.netbox_trace import Cabling, Lane, Lost, Plug, Way, Wire, lanes

OPTIONS = {
    "statuses": "statuses of the cables that belong into the plan; default: connected,planned",
    "site": "only cables between devices of this site (slug or name); needs dcim/devices",
    "speed_field": "the custom field of a cable that holds its speed, such as 400G; default: by the types of its interfaces",
    "ids": "mac: ports are also known by the MAC that NetBox has for them",
    "plane": "the plane of all links",
}
LISTED = 5

_METRES = {"km": 1000.0, "m": 1.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}
_ETHERNET = re.compile(r"(\d+(?:\.\d+)?)(g|t)?base-.+")


def sniff(raw: bytes, name: str) -> bool:  # noqa: ARG001 - the signature is every format's
    """Whether it looks like objects of NetBox."""
    head = raw[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    words = (
        b'"a_terminations"',
        b'"b_terminations"',
        b'"termination_a_type"',
        b'"dcim/cables"',
        b"/api/dcim/cables",
        b"/api/dcim/",
    )
    return head.startswith((b"{", b"[")) and any(word in raw for word in words)


def read(raw: bytes, name: str, options: Mapping[str, str]) -> Imported:
    """The links between interfaces; raises PlanError, and SetupError for an option that is none."""
    return _Reader(decode(raw, name), name, options).read()


class _Reader:
    """Reads one document."""

    def __init__(self, lists: Mapping[str, list[Object]], file: str, options: Mapping[str, str]) -> None:
        self.file, self.options = file, options
        if options.get("ids", "") not in ("", "mac"):
            raise SetupError(f"option ids: {options['ids']!r} is not mac")
        self.statuses = [item.strip() for item in options.get("statuses", "connected,planned").split(",")]
        self.told: dict[str, dict[str, None]] = {}
        self.cables = {text(cable, "id") or f"#{at}": cable for at, cable in enumerate(lists.get(CABLES, ()), start=1)}
        self.objects: dict[Key, Object] = {}
        for kind in (INTERFACES, FRONT_PORTS, REAR_PORTS):
            self.objects.update((key_of(item, kind), item) for item in lists.get(kind, ()))
        self.devices = {text(item, "id"): item for item in lists.get(DEVICES, ())}
        self.connectors: dict[tuple[str, Key], tuple[int | None, tuple[int, ...]]] = {}
        for item in lists.get(TERMINATIONS, ()):
            key = text(item, "termination_type").lower(), text(item, "termination_id")
            found = numbers(get(item, "connector"))
            self.connectors[text(item, "cable", "id") or text(item, "cable"), key] = (
                found[0] if found else None,
                numbers(get(item, "positions")),
            )
        self.cabling = Cabling()

    def note(self, what: str, which: str = "") -> None:
        """Say something; what holds for several cables is one note."""
        self.told.setdefault(what, {}).update({which: None} if which else {})

    def read(self) -> Imported:
        for front, rear in self._panels():
            self.cabling.join(front, rear)
        for id_, cable in self.cables.items():
            self._lay(id_, cable)
        links = list(self._links())
        if not links:
            reasons = "; ".join(list(self._notes())[:LISTED])
            raise PlanError("holds no cable between two interfaces" + (f": {reasons}" if reasons else ""), self.file)
        names = {end.device for link in links for end in (link.a, link.b)}
        return Imported(tuple(links), tuple(f"{self.file}: {note}" for note in self._notes()), tuple(self._devices(names)))

    def _notes(self) -> Iterator[str]:
        for what, places in self.told.items():
            which = list(places)
            more = f" and {len(which) - LISTED} more" if len(which) > LISTED else ""
            yield what + (f": {', '.join(which[:LISTED])}{more}" if which else "")

    # the graph

    def _panels(self) -> Iterator[tuple[tuple[Key, int], tuple[Key, int]]]:
        for key, item in self.objects.items():
            listed = get(item, "rear_ports" if key[0] == FRONT else "front_ports")
            if key[0] == FRONT and (number := text(item, "rear_port", "id") or text(item, "rear_port")):
                yield (key, 1), ((REAR, number), next(iter(numbers(get(item, "rear_port_position"))), 1))
            for entry in listed if key[0] in (FRONT, REAR) and isinstance(listed, list) else ():
                own = next(iter(numbers(get(entry, "position"))), 1)
                other = "rear_port" if key[0] == FRONT else "front_port"
                far = next(iter(numbers(get(entry, f"{other}_position"))), 1)
                number = text(entry, other, "id") or text(entry, other)
                if number:
                    yield ((key, own), ((REAR, number), far)) if key[0] == FRONT else (((FRONT, number), far), (key, own))
            if key[0] == REAR:
                size = next(iter(numbers(get(item, "positions"))), 1)
                self.cabling.sizes[key] = max(size, self.cabling.sizes.get(key, 1))

    def _lay(self, id_: str, cable: Object) -> None:
        status = choice(cable, "status")
        if (status or "connected").replace("active", "connected") not in self.statuses:
            self.note(f"left out: status {status}", f"cable {id_}")
            return
        if not status:
            self.note("no status that can be read, taken as connected", f"cable {id_}")
        profile = choice(cable, "profile")
        mapping = lanes(profile) if profile else None
        if profile and mapping is None:
            self.note(f"profile {profile} is not known here", f"cable {id_}")
        sides = (self._plugs(id_, cable, "a", mapping), self._plugs(id_, cable, "b", mapping))
        foreign = sorted({plug.key[0] for side in sides for plug in side} - {INTERFACE, FRONT, REAR})
        if foreign or not all(sides):
            self.note(f"left out: ends on {', '.join(foreign)}" if foreign else "left out: one end only", f"cable {id_}")
            return
        taken = self.cabling.lay(Wire(id_, sides, mapping))
        if taken is not None:
            self.note(f"left out: {self._place(taken)} has another cable already", f"cable {id_}")

    def _plugs(self, id_: str, cable: Object, side: str, mapping: Mapping[Lane, Lane] | None) -> tuple[Plug, ...]:
        own = [] if mapping is None else list(mapping if side == "a" else mapping.values())
        count = max((lane[0] for lane in own), default=0)
        found = list(ends(cable, side))
        plugs = []
        for at, (key, item, entry) in enumerate(found, start=1):
            if item and key not in self.objects:
                self.objects[key] = item
            connector, positions = self.connectors.get((id_, key), (None, ()))
            connector = connector or next(iter(numbers(get(entry, "connector"))), None)
            positions = positions or numbers(get(entry, "positions")) or numbers(get(entry, "position"))
            if connector is None and len(found) == count:
                connector = at  # NetBox lists the ends in the order of their connectors
            if connector is not None and not positions:
                positions = tuple(position for lane, position in own if lane == connector)
            plugs.append(Plug(key, connector, positions))
        return tuple(plugs)

    # links

    def _links(self) -> Iterator[PlanLink]:
        found: dict[frozenset[Key], list[Way]] = defaultdict(list)
        lost: set[Key] = set()
        for wire in self.cabling.wires:
            for plug in (*wire.sides[0], *wire.sides[1]):
                if plug.key[0] != INTERFACE:
                    continue
                try:
                    ways = self.cabling.ways(plug.key)
                except Lost as problem:
                    lost.add(plug.key)
                    self.note(f"left out: {problem.why}", f"cable {problem.cable}")
                    continue
                for way in ways:
                    if way.end == way.start:
                        self.note("left out: leads back to the port it began in", self._place(way.start))
                    else:
                        found[frozenset((way.start, way.end))].append(way)
        pairs = {pair: ways for pair, ways in found.items() if not pair & lost}
        shared = _groups(pairs)
        for ways in pairs.values():
            link = self._link(ways, shared)
            if link is not None:
                yield link

    def _link(self, ways: list[Way], shared: Mapping[Key, str]) -> PlanLink | None:
        first = ways[0]
        sides = []
        for key in (first.start, first.end):
            own = {way.lane if way.start == key else way.far_lane for way in ways}
            lane = _ranges(position for item in own if item for position in [item[1]]) if key in shared else ""
            end = self._end(key, lane)
            if end is None:
                return None
            sides.append(end)
        cables = list(dict.fromkeys(id_ for way in ways for id_ in way.cables))
        objects = [self.cables[id_] for id_ in cables]
        tags = {"netbox": "+".join(cables), "tags": ",".join(dict.fromkeys(_tags(objects)))}
        tags |= {
            "color": _same(text(item, "color") for item in objects),
            "tenant": _same(called(item, "tenant") for item in objects),
        }
        tags["status"] = "planned" if any(choice(item, "status") == "planned" for item in objects) else ""
        lengths = [self._length(item) for item in objects]
        return PlanLink(
            a=sides[0],
            b=sides[1],
            plane=self.options.get("plane", ""),
            speed=self._speed((first.start, first.end), objects, cables),
            label=" / ".join(dict.fromkeys(label for item in objects if (label := text(item, "label")))),
            type=_same(choice(item, "type") for item in objects),
            length_m=round(sum(known), 3)
            if (known := [item for item in lengths if item]) and len(known) == len(objects)
            else None,
            cable_id=shared.get(first.start, "") or shared.get(first.end, ""),
            via=" > ".join(self._place(key) for key in first.via),
            tags={name: value for name, value in tags.items() if value},
        )

    def _end(self, key: Key, lane: str) -> PlanEnd | None:
        device, port = self._device_of(key), text(self.objects.get(key), "name")
        name = text(device, "name")
        if not name or not port:
            what = "left out: the device has no name" if port else "left out: no name of the port; add dcim/interfaces"
            self.note(what, self._place(key))
            return None
        if name in self._twice:
            self.note(f"left out: several devices are called {name}; choose one with site=", self._place(key))
            return None
        if not self._on_site(device):
            self.note("left out: the device is on another site", self._place(key))
            return None
        rack, position = called(device, "rack"), text(device, "position")
        return PlanEnd(name, port, rack, re.sub(r"\.0$", "", position), lane, self._mac(key))

    def _device_of(self, key: Key) -> Object:
        nested = get(self.objects.get(key), "device")
        known = self.devices.get(text(nested, "id") or text(self.objects.get(key), "device"))
        return known if known is not None else nested if isinstance(nested, Mapping) else {}

    def _place(self, key: Key) -> str:
        device = self._device_of(key)
        name = text(device, "name") or f"device {text(device, 'id') or '?'}"
        return f"{name}:{text(self.objects.get(key), 'name') or f'{key[0]} {key[1]}'}"

    @cached_property
    def _twice(self) -> frozenset[str]:
        """Names that two devices have; with a site, two devices of it."""
        seen: dict[str, set[str]] = defaultdict(set)
        nested = [self._device_of(key) for key in self.objects if key[0] == INTERFACE]
        for device in (*self.devices.values(), *nested):
            if self._on_site(device):
                seen[text(device, "name")].add(text(device, "id"))
        return frozenset(name for name, ids in seen.items() if name and len(ids) > 1)

    def _on_site(self, device: Object) -> bool:
        wanted = self.options.get("site", "")
        if wanted and text(device, "id") not in self.devices:
            raise PlanError("the option site needs the list dcim/devices", self.file)
        return not wanted or wanted in (text(device, "site", "slug"), text(device, "site", "name"))

    def _mac(self, key: Key) -> str:
        item = self.objects.get(key)
        written = text(item, "primary_mac_address", "mac_address") or text(item, "mac_address")
        try:
            return canonical.mac(written) if written and self.options.get("ids") else ""
        except ValueError:
            return ""

    def _length(self, cable: Object) -> float | None:
        number, unit = text(cable, "length"), choice(cable, "length_unit")
        try:
            return float(number) * _METRES[unit] if number and float(number) > 0 else None
        except (ValueError, KeyError):
            self.note("length without a unit that is known, left out", f"cable {text(cable, 'id')} ({number} {unit})")
            return None

    def _speed(self, pair: Iterable[Key], cables: list[Object], ids: list[str]) -> int | None:
        """By the custom field, else the slower of the two interfaces: a fast port takes a slower card too."""
        field = self.options.get("speed_field", "")
        for cable in cables if field else ():
            written = text(cable, "custom_fields", field)
            try:
                return canonical.speed(written) if written else None
            except ValueError:
                self.note(f"{field} is no speed such as 400G", f"cable {ids[0]} ({written})")
        found = [speed for key in pair if (speed := self._port_speed(self.objects.get(key))) is not None]
        return min(found) if found else None

    def _port_speed(self, item: Any) -> int | None:
        configured = numbers_of(get(item, "speed"))
        if configured:
            return configured * 1000  # kbit/s
        slug = choice(item, "type")
        found = _ETHERNET.fullmatch(slug)
        if found:
            return round(float(found.group(1)) * {"g": 10**9, "t": 10**12}.get(found.group(2) or "", 10**6))
        if slug.startswith("infiniband-"):
            self.note("no speed: InfiniBand types tell the speed of one lane and not how many there are", slug)
        return None

    def _devices(self, names: set[str]) -> Iterator[ImportedDevice]:
        by_name = {text(item, "name"): item for item in self.devices.values() if self._on_site(item)}
        for name in sorted(names):
            item = by_name.get(name, {})
            role = called(item, "role", slug=True) or called(item, "device_role", slug=True)
            hint = called(item, "platform", slug=True)
            yield ImportedDevice(
                name, role, called(item, "rack"), re.sub(r"\.0$", "", text(item, "position")),
                text(item, "device_type", "model"), (hint,) if hint else (),
            )  # fmt: skip


def numbers_of(value: Any) -> int:
    """A whole number above zero, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**10 else 0


def _groups(pairs: Mapping[frozenset[Key], list[Way]]) -> dict[Key, str]:
    """A cable id for every port that several links share, the same for all links that hang together by such ports."""
    peers: dict[Key, set[frozenset[Key]]] = defaultdict(set)
    for pair in pairs:
        for key in pair:
            peers[key].add(pair)
    out: dict[Key, str] = {}
    for start in [key for key, found in peers.items() if len(found) > 1]:
        if start in out:
            continue
        group, ids, todo = {start}, set[str](), [start]
        while todo:
            for pair in peers[todo.pop()]:
                ids |= {way.cables[0] if way.start == start else way.cables[-1] for way in pairs[pair]}
                fresh = {key for key in pair - group if len(peers[key]) > 1}
                group |= fresh
                todo += fresh
        out |= dict.fromkeys(group, f"netbox-{min(ids, key=lambda item: (len(item), item))}")
    return out


def _ranges(positions: Iterable[int]) -> str:
    """`1`, `1-2`, `1-2+4` from positions."""
    out: list[list[int]] = []
    for number in sorted(set(positions)):
        if out and out[-1][1] == number - 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return "+".join(str(first) if first == last else f"{first}-{last}" for first, last in out)


def _tags(cables: Iterable[Object]) -> Iterator[str]:
    for cable in cables:
        listed = get(cable, "tags")
        for tag in listed if isinstance(listed, list) else ():
            found = text(tag, "name") or text(tag, "slug") or (text({"tag": tag}, "tag"))
            if found:
                yield found


def _same(texts: Iterable[str]) -> str:
    found = set(texts)
    return found.pop() if len(found) == 1 else ""


FORMAT = PlanFormat(
    name="netbox",
    title="NetBox cables (JSON of its REST API)",
    suffixes=(".json",),
    sniff=sniff,
    read=read,
    note="Cables with their profiles and patch panels; several ends without a profile are left out as ambiguous.",
    options=OPTIONS,
)
