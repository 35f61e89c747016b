"""What wrong cables have in common: the one mistake that explains those of a host, of a rack, of a leaf or of the fleet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from auditor.cabling.orders import find_orders
from auditor.cabling.repair import Component
from auditor.cabling.scene import Claims, Label, Scene
from auditor.canonical import natural
from auditor.model import CauseKind, LinkVerdict, Place

GROUP = 8
"""Rows of a leaf, or hosts of a plane, that must differ from the plan alike before the plan itself is in question."""

MOST = 0.9
"""Share of a group that is most of it."""

NOISE = 0.75
"""Share of the wrong links of a component that one mistake must explain; what else happened to the same cables is noise."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The label of each component that has one, by its index, and those that hold for most hosts of a plane."""

    of: Mapping[int, Label]
    fleet: frozenset[Label]


def label(scene: Scene, components: Sequence[Component]) -> Labels:
    """Label the components that a mistake with a name explains."""
    if not components:
        return Labels({}, frozenset())
    wrong = [_wrong(scene, component) for component in components]
    inside = find_orders(scene, components)
    switches, hosts = _exchanges(scene, host=False), _exchanges(scene, host=True)
    strong = {name: found for name, found in switches.items() if _has_uplinks(scene, found)}
    rows, ports, shifts = _plan_rows(scene), _port_orders(scene), _shifts(scene, components, wrong)
    by_weight = (strong, inside.numbering, rows, inside.whole, switches, inside.other, hosts, shifts, ports)
    out: dict[int, Label] = {}
    for at, places in enumerate(wrong):
        found = (_of(claims, at, places, scene.seen) for claims in by_weight)
        if (best := next(filter(None, found), None)) is not None:
            out[at] = best
    return Labels(out, _of_fleet(scene, components, out))


def _of(claims: Claims, at: int, places: Sequence[Place], seen: Container[Place]) -> Label | None:
    """The label that explains a component: its own, or the one of most of its links. Ports that see nobody have no say."""
    if at in claims:
        return claims[at]
    votes = Counter(claims[place] for place in places if place in claims)
    if not votes:
        return None
    best, count = min(votes.items(), key=lambda item: (-item[1], item[0].scope))
    return best if count >= NOISE * sum(place in claims or place in seen for place in places) else None


def _of_fleet(scene: Scene, components: Sequence[Component], labels: Mapping[int, Label]) -> frozenset[Label]:
    """The labels of NIC orders that hold for most hosts of a plane: of those whose cables were seen, and at least `GROUP`."""
    seen = Counter(group.plane for group in scene.groups.values() if group.host and group.known)
    hosts: defaultdict[tuple[Label, str], set[str]] = defaultdict(set)
    for at, one in labels.items():
        if one.kind in (CauseKind.NIC_ORDER, CauseKind.CABLES_OR_NUMBERING, CauseKind.RENUMBERED):
            for link in components[at].links:
                hosts[one, link.plane].update(end.device for end in (link.a, link.b) if scene.is_host(end.device))
    return frozenset(one for (one, plane), names in hosts.items() if len(names) >= max(GROUP, MOST * seen[plane]))


def _wrong(scene: Scene, component: Component) -> list[Place]:
    """The near ends of the component's links that are known to be wrong."""
    out = []
    for link in component.links:
        found = scene.links.get(link.name)
        if found is not None and found.verdict is LinkVerdict.WRONG:
            out.append(scene.near(link))
    return out


# Two devices, each with the other's cables


def _exchanges(scene: Scene, *, host: bool) -> dict[Place | int, Label]:
    """Devices of which every cable is at another one, in the like port, and so on round a ring."""
    ports = {device: places for device, places in scene.ports.items() if scene.is_host(device) is host}
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
    """The device that has this one's cables, nearly all in the like port; None when some are right or there are too few."""
    found: Counter[str] = Counter()
    for place in places:
        there = scene.seen.get(scene.far[place])
        if there == place:
            return None
        if there is not None:
            like = there[1] == place[1] or (there in scene.far and scene.slot(there) == scene.slot(place))
            found[there[0] if like else device] += 1
    best, count = min(found.items(), key=lambda item: (-item[1], item[0]), default=(device, 0))
    return best if best != device and count >= max(2, NOISE * found.total()) else None


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
    across: defaultdict[tuple[str, int], set[frozenset[str]]] = defaultdict(set)
    for plane, step, racks in found.values():
        across[plane, step].add(racks)
    out: dict[Place | int, Label] = {}
    for at, (plane, step, racks) in found.items():
        hosts = [place[0] for place in wrong[at] if place in scene.seen]
        if len(hosts) > 1 or several[plane, step, hosts[0]] > 1 or any(several[plane, step, f"\0{rack}"] > 2 for rack in racks):
            scope = plane, str(step), *sorted(_joined(racks, across[plane, step]))
            out[at] = Label(CauseKind.SHIFTED, "shifted", scope, {"plane": plane, "step": str(step)})
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
