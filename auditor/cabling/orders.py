"""Cables exchanged among the ports of one device: NICs in another order, or cards with other numbers and no cable wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.cabling.repair import Component
from auditor.cabling.scene import Claims, Group, Label, Scene
from auditor.canonical import natural
from auditor.model import CauseKind, Place

Exchange = frozenset[tuple[int, int]]
"""Index of a port in its group, and index of the port whose cable is in it."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Labels by the index of a component: numbers that may have changed, orders of all ports, and of some."""

    numbering: Claims = field(default_factory=dict)
    whole: Claims = field(default_factory=dict)
    other: Claims = field(default_factory=dict)


def find_orders(scene: Scene, components: Sequence[Component]) -> Orders:
    """Label the components whose cables are exchanged among the ports of one device."""
    numbering = _numbering(scene, components)
    inside: defaultdict[tuple[str, str], dict[int, Exchange]] = defaultdict(dict)
    for at, component in enumerate(components):
        found = None if at in numbering else _inside(scene, component)
        if found is not None:
            inside[found[0]][at] = found[1]
    orders = [_Order(scene.groups[key], parts) for key, parts in sorted(inside.items())]
    usual = _Usual((order.like, order.all) for order in orders)
    whole: dict[Place | int, Label] = {}
    other: dict[Place | int, Label] = {}
    for order in orders:
        if order.shape:
            whole.update(dict.fromkeys(order.parts, order.label(order.all)))
            continue
        every = usual.find(order.like, order.all)
        if every is None and len(order.all) == len(order.group.ports) >= 4:
            every = order.all
        for at, part in order.parts.items():
            exchange = every or usual.find(order.like, part)
            if exchange is not None:
                other[at] = order.label(exchange)
    return Orders(numbering, whole, other)


class _Usual:
    """The exchanges that several devices show; what was seen of another one's may be a part of them."""

    def __init__(self, exchanges: Iterable[tuple[object, Exchange]]) -> None:
        found = Counter(exchanges)
        several = [key for key, count in found.items() if count > 1]
        self._usual = sorted(several, key=lambda key: (-found[key], sorted(key[1])))

    def find(self, like: object, part: Exchange) -> Exchange | None:
        """The most frequent exchange of like devices that holds all of this one."""
        return next((all_ for kind, all_ in self._usual if kind == like and part <= all_), None)


class _Order:
    """How the cables of one group are exchanged among themselves, by component."""

    def __init__(self, group: Group, parts: Mapping[int, Exchange]) -> None:
        self.group, self.parts = group, parts
        self.like = group.host, group.plane, len(group.ports)
        self.all: Exchange = frozenset().union(*parts.values())
        self.step = 0
        self.shape = self._shape()

    def _shape(self) -> str:
        """`rotation` or `reversal` of all its ports; the cables that were not seen do no harm."""
        ports = len(self.group.ports)
        steps = {(there - here) % ports for here, there in self.all}
        if len(self.all) < 3 or 2 * len(self.all) < ports:
            return ""
        if len(steps) == 1 and not self.group.right:
            self.step = next(iter(steps))
            return "rotation"
        mirrored = all(there == ports - 1 - here for here, there in self.all)
        return "reversal" if mirrored and ports >= 4 and self.group.right <= ports % 2 else ""

    def label(self, exchange: Exchange) -> Label:
        """The label of an exchange among the ports of such groups."""
        group, pairs = self.group, sorted(exchange)
        form = f"{'nic' if group.host else 'uplink'}_order.{self.shape or 'other'}"
        what = f"{self.shape} {self.step}" if self.shape else ",".join(f"{here}>{there}" for here, there in pairs)
        names = [port for _, port in group.ports]
        text = "\n".join(f"{names[here]}\t{names[there]}" for here, there in pairs)
        words = {"plane": group.plane, "pairs": text, "step": str(self.step)}
        return Label(CauseKind.NIC_ORDER, form, (group.plane, what, str(len(names))), words)


def _inside(scene: Scene, component: Component) -> tuple[tuple[str, str], Exchange] | None:
    """The group inside which all cables of a component are exchanged, with the exchange.

    Between two switches that is the one that hosts hang on, else the one that the plan names first.
    """
    if not component.links:
        return None
    plane, first = component.links[0].plane, component.links[0].a.device
    for device in sorted(
        _shared(component), key=lambda name: (not scene.is_host(name), name not in scene.leaves, name != first, name)
    ):
        group = scene.groups.get((device, plane))
        ports = {place: at for at, place in enumerate(group.ports if group is not None else ())}
        far = {place: at for at, place in enumerate(group.far if group is not None else ())}
        pairs = [(one, other) if one in ports else (other, one) for one, other in component.cables]
        if all(near in ports and there in far for near, there in pairs):
            return (device, plane), frozenset((ports[near], far[there]) for near, there in pairs)
    return None


def _shared(component: Component) -> set[str]:
    """The devices at which all planned links of a component end."""
    return set.intersection(*({link.a.device, link.b.device} for link in component.links)) if component.links else set()


# Numbers that are not addresses


def _numbering(scene: Scene, components: Sequence[Component]) -> dict[Place | int, Label]:
    """Components that cards with other numbers would explain as well as exchanged cables.

    All their cables are at one host and belong to it, and at least two of the ports are known by a number only.
    """
    found: dict[int, tuple[str, frozenset[tuple[str, str]]]] = {}
    for at, component in enumerate(components):
        for host in sorted(filter(scene.is_host, _shared(component))):
            pairs = _renamed(scene, component, host)
            if pairs:
                found[at] = host, pairs
                break
    whole: defaultdict[str, frozenset[tuple[str, str]]] = defaultdict(frozenset)
    for host, pairs in found.values():
        whole[host] |= pairs
    counts = Counter(whole.values())
    usual = sorted((pairs for pairs, count in counts.items() if count > 1), key=lambda pairs: (-counts[pairs], sorted(pairs)))
    out: dict[Place | int, Label] = {}
    for at, (host, _) in found.items():
        exchange = sorted(
            next((pairs for pairs in usual if whole[host] <= pairs), whole[host]), key=lambda pair: natural(pair[0])
        )
        kind = CauseKind.RENUMBERED if _fits_by_bus(scene, host) else CauseKind.CABLES_OR_NUMBERING
        words = {"pairs": "\n".join("\t".join(pair) for pair in exchange)}
        out[at] = Label(kind, kind.value, tuple(">".join(pair) for pair in exchange), words)
    return out


def _renamed(scene: Scene, component: Component, host: str) -> frozenset[tuple[str, str]]:
    """Each port of a host with the port whose cable is in it; nothing where a cable or an address must have moved."""
    pairs = set()
    for one, other in component.cables:
        near, there = (one, other) if one[0] == host else (other, one)
        belongs = scene.far.get(there)
        if near[0] != host or belongs is None or belongs[0] != host:
            return frozenset()
        pairs.add((near, belongs))
    counted = [place for place in {place for pair in pairs for place in pair} if not scene.anchored(place)]
    return frozenset((near[1], belongs[1]) for near, belongs in pairs) if len(counted) > 1 else frozenset()


def _fits_by_bus(scene: Scene, host: str) -> bool:
    """Whether the host's cables are as planned once its cards are counted in the order of their PCI addresses."""
    ports = sorted(
        (port for key in scene.groups if key[0] == host for port in scene.groups[key].ports), key=lambda p: natural(p[1])
    )
    buses = [scene.bus(port) for port in ports]
    if not all(buses) or len(set(buses)) < len(buses):
        return False
    seen = [scene.seen.get(port) for _, port in sorted(zip(buses, ports, strict=True))]
    return all(place in (None, scene.far[port]) for place, port in zip(seen, ports, strict=True))
