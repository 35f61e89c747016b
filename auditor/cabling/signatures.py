"""What wrong cables have in common: the one mistake that explains those of a host, of a rack, of a leaf or of the fleet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from auditor.cabling.plugs import natural
from auditor.cabling.repair import Component
from auditor.cabling.scene import Group, Scene
from auditor.model import CauseKind, LinkVerdict, Place

GROUP = 8
"""Rows of a leaf, or hosts of a plane, that must differ from the plan alike before the plan itself is in question."""

MOST = 0.9
"""Share of a group that is most of it."""

NOISE = 0.75
"""Share of the wrong links of a component that one mistake must explain; what else happened to the same cables is noise."""


@dataclass(frozen=True, slots=True)
class Label:
    """One mistake. Components with equal labels are one cause; `scope` tells it from others of its kind.

    `form` names its sentence, `words` are the words in it beside the devices.
    """

    kind: CauseKind
    form: str
    scope: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Labels:
    """The label of each component that has one, by its index, and those that hold for most hosts of a plane."""

    of: Mapping[int, Label]
    fleet: frozenset[Label]


def label(scene: Scene, components: Sequence[Component]) -> Labels:
    """Label the components that a mistake with a name explains."""
    wrong = [_wrong(scene, component) for component in components]
    orders = _Orders(scene, components)
    switches, hosts = _exchanges(scene, host=False), _exchanges(scene, host=True)
    strong = {name: found for name, found in switches.items() if _has_uplinks(scene, found)}
    shifts = _shifts(scene, components, wrong)
    by_link = (
        strong,
        orders.numbering,
        _plan_rows(scene),
        orders.whole,
        switches,
        orders.other,
        hosts,
        shifts,
        _port_orders(scene),
    )
    out: dict[int, Label] = {}
    for at, places in enumerate(wrong):
        for claims in by_link:
            found = _of(claims, at, places)
            if found is not None:
                out[at] = found
                break
    return Labels(out, orders.fleet)


Claims = Mapping[Place | int, Label]
"""Labels by the place of a wrong link, or by the index of a component."""


def _of(claims: Claims, at: int, places: Sequence[Place]) -> Label | None:
    """The label that explains a component: its own, or the one of most of its links."""
    if at in claims:
        return claims[at]
    votes = Counter(claims[place] for place in places if place in claims)
    if not votes:
        return None
    best, count = min(votes.items(), key=lambda item: (-item[1], item[0].scope))
    return best if count >= NOISE * len(places) else None


def _wrong(scene: Scene, component: Component) -> list[Place]:
    """The near ends of the component's links that are known to be wrong."""
    out = []
    for link in component.links:
        found = scene.links.get(link.name)
        if found is not None and found.verdict is LinkVerdict.WRONG:
            out.append(scene.near(link))
    return out


# Ports of one device among themselves


class _Orders:
    """Cables that are exchanged only among the ports of one device."""

    def __init__(self, scene: Scene, components: Sequence[Component]) -> None:
        self.scene = scene
        self.numbering: dict[Place | int, Label] = {}
        self.whole: dict[Place | int, Label] = {}
        self.other: dict[Place | int, Label] = {}
        inside: defaultdict[tuple[str, str], dict[int, dict[int, int]]] = defaultdict(dict)
        for at, component in enumerate(components):
            found = _inside(scene, component)
            if found is not None:
                inside[found[0]][at] = found[1]
        shapes = {key: _Order(scene.groups[key], parts) for key, parts in inside.items()}
        common = Counter((order.group.plane, len(order.group.ports), order.all) for order in shapes.values())
        self._common = sorted((key for key, count in common.items() if count > 1), key=lambda key: (-common[key], sorted(key[2])))
        for _, order in sorted(shapes.items()):
            self._label(order)
        self.fleet = self._of_fleet(shapes.values())

    def _label(self, order: _Order) -> None:
        group = order.group
        loose = {at for at, moved in order.parts.items() if group.host and self._loose(group, moved)}
        if loose:
            found = _named(CauseKind.CABLES_OR_NUMBERING, "cables_or_numbering", order)
            if self._by_bus(group):
                found = _named(CauseKind.RENUMBERED, "renumbered", order)
            self.numbering.update(dict.fromkeys(loose, found))
        rest = set(order.parts) - loose
        word = "nic_order" if group.host else "uplink_order"
        if order.shape:
            self.whole.update(dict.fromkeys(rest, _named(CauseKind.NIC_ORDER, f"{word}.{order.shape}", order)))
            return
        whole = self._usual(group, order.all)
        if whole is None and len(order.all) == len(group.ports) >= 4:
            whole = order.all
        for at in rest:
            moved = whole or self._usual(group, frozenset(order.parts[at].items()))
            if moved is not None:
                self.other[at] = _named(CauseKind.NIC_ORDER, f"{word}.other", order, moved)

    def _usual(self, group: Group, moved: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]] | None:
        """The exchange that several devices show and that these cables are part of."""
        alike = (all_ for plane, ports, all_ in self._common if (plane, ports) == (group.plane, len(group.ports)))
        return next((all_ for all_ in alike if moved <= all_), None)

    def _loose(self, group: Group, moved: Mapping[int, int]) -> bool:
        """Whether names that moved from card to card could be all that happened: one card cannot change with itself."""
        return sum(not self.scene.anchored(group.ports[at]) for at in moved) > 1

    def _by_bus(self, group: Group) -> bool:
        """Whether the cables are as planned once the cards are counted in the order of their PCI addresses."""
        buses = [self.scene.bus(port) for port in group.ports]
        if not all(buses) or len(set(buses)) < len(buses) or group.known < 2:
            return False
        seen = [place for _, place in sorted(zip(buses, group.seen, strict=True))]
        return all(place in (None, far) for place, far in zip(seen, group.far, strict=True))

    def _of_fleet(self, orders: Iterable[_Order]) -> frozenset[Label]:
        """The labels that hold for most hosts of a plane: those whose cables were seen, and at least `GROUP`."""
        seen = Counter(group.plane for group in self.scene.groups.values() if group.host and group.known)
        votes: Counter[tuple[Label, str]] = Counter()
        for order in orders:
            found = {claims[at] for claims in (self.numbering, self.whole, self.other) for at in order.parts if at in claims}
            votes.update((one, order.group.plane) for one in found if order.group.host)
        return frozenset(one for (one, plane), count in votes.items() if count >= max(GROUP, MOST * seen[plane]))


class _Order:
    """How the cables of one group are exchanged among themselves. `parts` by component: index of a port -> index of the
    port whose cable is in it."""

    def __init__(self, group: Group, parts: Mapping[int, Mapping[int, int]]) -> None:
        self.group, self.parts = group, parts
        self.all = frozenset(pair for part in parts.values() for pair in part.items())
        self.step = 0
        self.shape = self._shape()

    def _shape(self) -> str:
        """`rotation` or `reversal` of all its ports; the cables that were not seen do no harm."""
        ports = len(self.group.ports)
        steps = {(there - here) % ports for here, there in self.all}
        if len(steps) == 1 and len(self.all) >= 3 and 2 * len(self.all) >= ports and not self.group.right:
            self.step = next(iter(steps))
            return "rotation"
        mirrored = all(there == ports - 1 - here for here, there in self.all)
        if mirrored and len(self.all) >= 3 and 2 * len(self.all) > ports >= 4 and self.group.right <= ports % 2:
            return "reversal"
        return ""


def _named(kind: CauseKind, form: str, order: _Order, moved: frozenset[tuple[int, int]] | None = None) -> Label:
    group = order.group
    pairs = sorted(order.all if moved is None else moved)
    ports = [port for _, port in group.ports]
    shape = order.shape and f"{order.shape} {order.step} of {len(ports)}"
    text = "\n".join(f"{ports[here]}\t{ports[there]}" for here, there in pairs)
    scope = (group.plane, shape or ",".join(f"{here}>{there}" for here, there in pairs), str(len(ports)))
    return Label(kind, form, scope, {"plane": group.plane, "pairs": text, "step": str(order.step)})


def _inside(scene: Scene, component: Component) -> tuple[tuple[str, str], dict[int, int]] | None:
    """The group inside which all cables of a component are exchanged, with the exchange.

    Between two switches that is the one that hosts hang on, else the one that the plan names first.
    """
    places = {place for pair in component.cables for place in pair}
    if not component.links or not all(place in scene.link_at for place in places):
        return None
    plane, first = component.links[0].plane, component.links[0].a.device
    shared = set.intersection(*({link.a.device, link.b.device} for link in component.links))
    for device in sorted(shared, key=lambda name: (not scene.is_host(name), name not in scene.leaves, name != first, name)):
        group = scene.groups.get((device, plane))
        ports = {place: at for at, place in enumerate(group.ports if group is not None else ())}
        far = {place: at for at, place in enumerate(group.far if group is not None else ())}
        pairs = [(one, other) if one in ports else (other, one) for one, other in component.cables]
        if all(near in ports and there in far for near, there in pairs):
            return (device, plane), {ports[near]: far[there] for near, there in pairs}
    return None


# Two devices, each with the other's cables


def _exchanges(scene: Scene, *, host: bool) -> dict[Place | int, Label]:
    """Devices of which every cable is at another one, in the like port, and so on round a ring."""
    ports: defaultdict[str, list[Place]] = defaultdict(list)
    for place in scene.link_at:
        if scene.is_host(place[0]) is host:
            ports[place[0]].append(place)
    out: dict[Place | int, Label] = {}
    for plane in ("", *sorted({link.plane for link in scene.planned})) if host else ("",):
        mine = {name: [p for p in places if plane in ("", scene.link_at[p].plane)] for name, places in ports.items()}
        instead = {device: found for device, places in mine.items() if (found := _instead(scene, device, places)) is not None}
        for ring in _rings(instead):
            places = [place for device in ring for place in mine[device]]
            if any(place in out for place in places):
                continue
            form = "switch_names_exchanged" if not host else "hosts_exchanged.bundle" if plane else "hosts_exchanged"
            kind = CauseKind.HOSTS_EXCHANGED if host else CauseKind.SWITCH_NAMES_EXCHANGED
            one = Label(kind, form, (plane, *sorted(ring)), {"plane": plane, "ring": "\n".join(ring)})
            out.update(dict.fromkeys(places if host else [scene.near(scene.link_at[place]) for place in places], one))
    return out


def _instead(scene: Scene, device: str, places: Iterable[Place]) -> str | None:
    """The device that has this one's cables, each in the like port; None when some are right or there are too few."""
    found: set[str] = set()
    count = 0
    for place in places:
        there = scene.seen.get(scene.far[place])
        if there is None:
            continue
        if there[0] == device or not (there[1] == place[1] or (there in scene.far and scene.slot(there) == scene.slot(place))):
            return None
        found.add(there[0])
        count += 1
    return next(iter(found)) if len(found) == 1 and count > 1 else None


def _rings(instead: Mapping[str, str]) -> list[tuple[str, ...]]:
    out, done = [], set()
    for start in sorted(instead, key=natural):
        ring = [start]
        while (after := instead.get(ring[-1])) is not None and after not in ring and after not in done:
            ring.append(after)
        if after == start and len(ring) > 1:
            out.append(tuple(ring))
        done.update(ring)
    return out


def _has_uplinks(scene: Scene, found: Label) -> bool:
    """Whether links between switches are among the exchanged ones: an order of NICs cannot explain those."""
    devices = set(found.scope[1:])
    fabric = (scene.groups[key] for key in scene.groups if key[0] in devices)
    return any(not group.host and group.known and not group.right for group in fabric)


# Ports of one switch


def _port_orders(scene: Scene) -> dict[Place | int, Label]:
    """Hosts whose NICs all went to one switch, port after port, where each belongs to another one."""
    out: dict[Place | int, Label] = {}
    for group in scene.groups.values():
        seen = [place for place in group.seen if place is not None]
        if not group.host or len(seen) < 3 or len({device for device, _ in seen}) > 1 or len({far[0] for far in group.far}) < 3:
            continue
        steps = {scene.offset(one, other) > 0 for one, other in pairwise(seen)}
        if len(steps) == 1:
            one = Label(CauseKind.PORT_ORDER, "port_order", (group.plane,), {"plane": group.plane})
            out.update(dict.fromkeys(group.ports, one))
    return out


def _plan_rows(scene: Scene) -> dict[Place | int, Label]:
    """Leaves of which most rows of the plan differ from what is seen by one rule, while every NIC is on the right leaf.

    One rack alone may have been plugged one port off; more of them with the same rule were rather written down so.
    """
    rows: defaultdict[tuple[str, str], list[tuple[Place, Place]]] = defaultdict(list)
    for group in scene.groups.values():
        if group.host:
            for port, far in zip(group.ports, group.far, strict=True):
                rows[far[0], group.plane].append((port, far))
    out: dict[Place | int, Label] = {}
    for (device, plane), members in sorted(rows.items()):
        known = [(port, far, scene.seen[port]) for port, far in members if port in scene.seen]
        here = [(port, far, seen) for port, far, seen in known if seen[0] == device and seen != far]
        racks = {scene.rack(port[0]) for port, _, _ in here}
        if len(here) < max(GROUP, MOST * len(known)) or (len(racks) == 1 and "" not in racks):
            continue
        rule = _rule([(far, seen) for _, far, seen in here], scene)
        if rule:
            form = "plan_wrong.reversal" if rule == "reversal" else "plan_wrong.shift"
            one = Label(CauseKind.PLAN_WRONG, form, (plane, rule), {"plane": plane, "step": rule})
            out.update(dict.fromkeys((port for port, _, _ in here), one))
    return out


def _rule(rows: Sequence[tuple[Place, Place]], scene: Scene) -> str:
    """The one rule by which ports differ: so many ports further on (round at the end), or in the opposite order."""
    steps = Counter(scene.offset(far, seen) for far, seen in rows)
    step, count = min(steps.items(), key=lambda item: (-item[1], abs(item[0])))
    if count >= MOST * len(rows) or (len(steps) == 2 and count + abs(step) >= len(rows)):
        return str(step)
    ordered = sorted(rows, key=lambda row: natural(row[0][1]))
    back = [scene.offset(one[1], other[1]) for one, other in pairwise(ordered)]
    return "reversal" if back and all(step < 0 for step in back) else ""


def _shifts(scene: Scene, components: Sequence[Component], wrong: Sequence[list[Place]]) -> dict[Place | int, Label]:
    """Hosts, or the hosts of a rack, that are some ports off on the right switches."""
    found: dict[int, tuple[str, int, frozenset[str]]] = {}
    several: Counter[tuple[str, int, str]] = Counter()
    for at, (component, places) in enumerate(zip(components, wrong, strict=True)):
        steps = {_step(scene, place) for place in places if place in scene.seen}
        step = next(iter(steps)) if len(steps) == 1 else None
        if component.cycle or step is None or not all(scene.is_host(place[0]) for place in places):
            continue
        hosts = [place[0] for place in places if place in scene.seen]
        plane = scene.link_at[places[0]].plane
        found[at] = plane, step, frozenset(map(scene.rack, hosts))
        several.update((plane, step, host) for host in hosts)
        if len(hosts) > 1:
            several.update((plane, step, f"\0{rack}") for rack in found[at][2] for _ in hosts)
    out: dict[Place | int, Label] = {}
    for at, (plane, step, racks) in found.items():
        hosts = [place[0] for place in wrong[at] if place in scene.seen]
        if len(hosts) > 1 or several[plane, step, hosts[0]] > 1 or any(several[plane, step, f"\0{rack}"] > 2 for rack in racks):
            joined = _joined(racks, [other[2] for other in found.values() if other[:2] == (plane, step)])
            out[at] = Label(
                CauseKind.SHIFTED, "shifted", (plane, str(step), *sorted(joined)), {"plane": plane, "step": str(step)}
            )
    return out


def _step(scene: Scene, place: Place) -> int | None:
    far, seen = scene.far[place], scene.seen[place]
    return scene.offset(far, seen) if far[0] == seen[0] else None


def _joined(racks: frozenset[str], others: Iterable[frozenset[str]]) -> frozenset[str]:
    """All racks that hang together with these, since some cables were shifted across them."""
    out, rest = set(racks), list(others)
    while touching := [other for other in rest if not out.isdisjoint(other) and not other <= out]:
        out.update(*touching)
    return frozenset(out)
