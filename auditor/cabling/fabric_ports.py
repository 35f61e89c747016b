"""The ends that the walk of an InfiniBand subnet shows: its nodes as devices of the plan, its cables as what their ports see.

Identity is the GUID: of the plan, or of an adapter that its host listed itself. Where neither knows it, the node description
names the device, unless it is the text of the factory. Ports of switches go by number. A box that shows several switch nodes
has every number several times: of its ports only those whose GUID the plan has are known.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from auditor.address import Address
from auditor.cabling.identity import Directory, normal
from auditor.cabling.view import LIVING, is_up
from auditor.canonical import guid as canonical_guid
from auditor.canonical import printable
from auditor.dialects.ibnet import AGGREGATION, adapter_name, switch_name
from auditor.facts import Value
from auditor.model import Device, FabricPort, Fact, LinkEnd, NeighbourSeen, Place, PlanLink, Via

_GUID = re.compile(r"(?:0x)?[0-9a-f]{16}")
_GUID_LENGTHS = frozenset({16, 18})
_NAMELESS = re.compile(r"[0-9a-f]{16}(?:/\d+)?")
"""The name of a port of which its host told nothing but a GUID."""
_NUMBERED = re.compile(r"(?:[a-z]+)?0*(\d+)")
_ETHERNET_ONLY = ("interface.enabled", "interface.up_since", "interface.speed")
"""What the IP interface on an InfiniBand port says of itself, and nothing about the port."""

Port = tuple[str, str]
"""A port of a node: (node GUID, number)."""


def join_fabric(
    links: Sequence[PlanLink],
    ends: Mapping[Place, LinkEnd],
    devices: Mapping[str, Device],
    fabric_ports: Sequence[FabricPort],
) -> dict[Place, LinkEnd]:
    """The ends of known devices that the walk shows, planned or not: those of `ends` with what it adds, and new ones.

    A planned port of a node that was seen has no living cable where the walk lists none for it. A node that is not in the
    walk is unknown: it may be off, or plugged nowhere. Aggregation nodes inside of switches are no ends of cables.
    """
    return dict(_Join(links, ends, devices, fabric_ports).ends())


class _Join:
    """Recognises nodes and their ports."""

    def __init__(
        self,
        links: Sequence[PlanLink],
        ends: Mapping[Place, LinkEnd],
        devices: Mapping[str, Device],
        fabric_ports: Sequence[FabricPort],
    ) -> None:
        self._ends, self._devices, self._directory = ends, devices, Directory(ends.values(), devices, {})
        self._nodes: dict[str, FabricPort] = {}
        self._rows: defaultdict[Port, list[FabricPort]] = defaultdict(list)
        self._by_port_guid: dict[str, Port] = {}
        for item in sorted(fabric_ports, key=lambda item: (item.witness, item.guid, item.port)):
            if AGGREGATION in item.description or AGGREGATION in item.peer_description:
                continue
            if not item.port:
                known = self._nodes.setdefault(item.guid, item)
                self._nodes[item.guid] = replace(known, whole=known.whole and item.whole)
            else:
                self._rows[item.guid, item.port].append(item)
                if item.port_guid:
                    self._by_port_guid.setdefault(item.port_guid, (item.guid, item.port))
        self._planned: defaultdict[str, dict[Place, int | None]] = defaultdict(dict)
        self._written: dict[Place, Place] = {}
        self._owners: defaultdict[str, set[Place]] = defaultdict(set)
        for link in links:
            for end in (link.a, link.b):
                self._planned[end.device][end.place] = link.speed
                self._written[end.device, normal(end.port)] = end.place
                self._own(end.id, end.place)
        for place, own in ends.items():
            for word in own.identities:
                self._own(word, place)
        self._device = {guid: self._recognise(node) for guid, node in self._nodes.items()}
        self._boxes = Counter(self._device[guid] for guid, node in self._nodes.items() if node.kind == "switch")
        self._numbers = {device: _by_number(places) for device, places in self._planned.items()}
        self._places: dict[Port, Place | None] = {}
        for port in self._rows:
            self._places[port] = self._place(*port)
        self._places.update(self._nameless())
        self._places.update(self._clashing())

    def _own(self, word: str, place: Place) -> None:
        if len(word) in _GUID_LENGTHS and _GUID.fullmatch(word.lower()):
            self._owners[canonical_guid(word)].add(place)

    def _recognise(self, node: FabricPort) -> str | None:
        """The device that a node is (part of)."""
        guids = {node.guid, *(row.port_guid for row in self._rows.get((node.guid, "1"), ()))}
        owners = {place[0] for guid in guids for place in self._owners.get(guid, ())}
        if owners:
            return next(iter(owners)) if len(owners) == 1 else None
        name = switch_name(node.description)[0] if node.kind == "switch" else adapter_name(node.description)[0]
        return self._directory.device(name) if name else None

    def place(self, port: Port) -> Place | None:
        """The place of a port of a node; None where it cannot be told."""
        if port not in self._places:
            self._places[port] = self._place(*port)
        return self._places[port]

    def _place(self, guid: str, number: str) -> Place | None:
        node, device = self._nodes.get(guid), self._device.get(guid)
        if node is None or device is None:
            return None
        if node.kind == "switch":
            owned = self._owners.get(guid)
            if self._boxes[device] > 1 and not owned:
                return None
            if owned and self._boxes[device] > 1:
                return _by_number(owned).get(number)
            numbers = self._numbers.get(device, {})
            known = numbers.get(number)
            # A port that no plan has is told only where every name in the plan is understood: `1/1` may be any number.
            return known or ((device, number) if len(numbers) == len(self._planned.get(device, ())) else None)
        own = self._owned(node, number)
        if own is not None and not _NAMELESS.fullmatch(own[1]):
            return own
        host, hca = adapter_name(node.description)
        words = (f"{hca}/{number}", f"{hca}/p{number}", *([hca] if number == "1" else []))
        if self._directory.device(host) != device:
            return own
        found = (self._written.get((device, normal(word))) or self._directory.port(device, word) for word in words)
        return next(filter(None, found), own)

    def _owned(self, node: FabricPort, number: str) -> Place | None:
        """The one port with the GUID of a port of an adapter, or of the adapter itself where it has but one port."""
        guids = {row.port_guid for row in self._rows.get((node.guid, number), ())}
        guids |= {node.guid} if number == "1" and (node.node_ports or 1) == 1 else set()
        owned = {place for guid in guids for place in self._owners.get(guid, ())}
        return next(iter(owned)) if len(owned) == 1 else None

    def _nameless(self) -> Iterator[tuple[Port, Place | None]]:
        """The ports that their host lists by GUID alone: the one of a host for which one planned port is left is that one."""
        found: defaultdict[str, list[Port]] = defaultdict(list)
        for port, place in self._places.items():
            if place is not None and _NAMELESS.fullmatch(place[1]):
                found[place[0]].append(port)
        taken = set(self._places.values())
        for device, ports in found.items():
            left = [place for place in self._planned.get(device, ()) if place not in taken]
            alone = len(ports) == 1 and len(left) == 1
            yield from ((port, left[0] if alone else None) for port in ports)

    def _clashing(self) -> Iterator[tuple[Port, None]]:
        """Ports of several nodes that describe themselves alike: the one whose GUID is known for it stays."""
        claims: defaultdict[Place, list[Port]] = defaultdict(list)
        for port, place in self._places.items():
            if place is not None:
                claims[place].append(port)
        for place, ports in claims.items():
            if len(ports) > 1:
                sure = [port for port in ports if self._owned(self._nodes[port[0]], port[1]) == place]
                yield from ((port, None) for port in ports if sure != [port])

    # Ends

    def ends(self) -> Iterator[tuple[Place, LinkEnd]]:
        """Every end that the walk tells something about."""
        for port, rows in self._rows.items():
            place = self.place(port)
            if place is not None:
                yield place, self._linked(place, port, rows)
        for guid, node in self._nodes.items():
            if node.whole and node.fact is not None:
                for number in self._all_numbers(node):
                    place = None if (guid, number) in self._rows else self.place((guid, number))
                    if place is not None:
                        yield place, self._end(place, node, number, self._dead(place, node))

    def _all_numbers(self, node: FabricPort) -> Iterable[str]:
        """Numbers of the ports of a node that the plan may want something of."""
        if node.kind == "switch":
            known = self._numbers.get(self._device.get(node.guid) or "", {})
            return [number for number in known if node.node_ports is None or int(number) <= node.node_ports]
        return map(str, range(1, (node.node_ports or 0) + 1))

    def _linked(self, place: Place, port: Port, rows: Sequence[FabricPort]) -> LinkEnd:
        row, facts = rows[0], dict[str, Fact]()
        if row.fact is not None:
            wanted = self._planned[place[0]].get(place)
            slow = row.rate is not None and wanted is not None and row.rate < wanted
            for name, value in (("rate", row.rate), ("width", row.width), ("speed", row.speed)) if slow else ():
                if value:
                    facts[f"ib_port.{name}"] = _told(row.fact, value, name)
            if any(each.peer_port or each.state in LIVING for each in rows):
                facts["interface.up"] = _told(row.fact, value=True)
            elif row.state == "down":
                facts |= self._dead(place, row)
        seen: list[NeighbourSeen] = []
        for each in rows:
            told = self._seen(each) if each.peer_port else None
            if told is not None and all(told[:5] != other[:5] for other in seen):
                seen.append(told)
        return self._end(place, self._nodes.get(port[0], row), port[1], facts, tuple(seen))

    def _dead(self, place: Place, item: FabricPort) -> dict[str, Fact]:
        """That a port has no living cable; nothing where its own device says that it has one."""
        own = self._ends.get(place)
        known = item.fact is None or (own is not None and is_up(own))
        return {} if item.fact is None or known else {"interface.up": _told(item.fact, value=False)}

    def _end(
        self, place: Place, node: FabricPort, number: str, facts: dict[str, Fact], seen: tuple[NeighbourSeen, ...] = ()
    ) -> LinkEnd:
        """An end with what the walk tells of it, beside what its own device does."""
        own = self._ends.get(place)
        if node.fact is not None and node.fact.address.column == "description":
            facts["ib_node.description"] = node.fact
        if own is None or own.gap is not None:
            device = self._devices.get(place[0])
            role = "" if device is None else device.role
            return LinkEnd(*place, number, role, facts, seen, (place[1],), node.collected_at)
        kept = {name: fact for name, fact in own.facts.items() if name not in _ETHERNET_ONLY}
        return replace(own, facts=kept | facts, neighbours=(*seen, *own.neighbours))

    def _seen(self, row: FabricPort) -> NeighbourSeen:
        """What is across a cable: the planned device and port, or as much of it as is known."""
        guid = row.peer_guid or self._by_port_guid.get(row.peer_port_guid, ("", ""))[0]
        place = self.place((guid, row.peer_port)) if guid else None
        if place is not None:
            return NeighbourSeen(*place, "name", chassis=guid, via=Via.FABRIC, fact=row.fact)
        text = printable(row.peer_description, 64)
        node = self._nodes.get(guid)
        is_switch = node is not None and node.kind == "switch"
        name = self._device.get(guid) or (switch_name(text) if is_switch else adapter_name(text))[0]
        port = f"port {row.peer_port} of {guid or row.peer_port_guid or 'an unknown node'}"
        return NeighbourSeen(name, port, "name", "" if name else text, guid, Via.FABRIC, fact=row.fact)


def _by_number(places: Iterable[Place]) -> dict[str, Place]:
    """Places by the number in their port's name: `33`, `P33`, `swp33`. Two names with one number have none."""
    found: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        number = _NUMBERED.fullmatch(place[1].strip().lower())
        if number is not None:
            found[number.group(1)].append(place)
    return {number: same[0] for number, same in found.items() if len(same) == 1}


def _told(fact: Fact, value: Value, column: str = "") -> Fact:
    """A fact that the walk tells, by a cell of the row that it comes from."""
    at = fact.address
    address = Address(at.table, at.key, column, at.layer) if column else at
    return Fact(address, value, fact.layer, fact.platform, fact.source, fact.digest, None, fact.command, fact.device)
