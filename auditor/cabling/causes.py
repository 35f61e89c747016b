"""Causes: every link that is not as planned belongs to one, named by what a person did and not by the ports that show it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from auditor.cabling.plugs import Occupancy
from auditor.cabling.repair import Component, repair
from auditor.cabling.scene import Label, Scene
from auditor.cabling.signatures import label
from auditor.cabling.verdicts import is_gone
from auditor.canonical import natural
from auditor.model import (
    ABSENT,
    CableCause,
    CauseKind,
    Device,
    Fabric,
    Hand,
    Link,
    LinkEnd,
    LinkVerdict,
    Move,
    Place,
    Plan,
    PlanLink,
    Severity,
    Wiring,
)

FOLD = 4
"""Links of one device that must all fail alike before the device is the cause and not each cable."""

NO_MOVES = (
    CauseKind.SWITCH_NAMES_EXCHANGED,
    CauseKind.RENUMBERED,
    CauseKind.CABLES_OR_NUMBERING,
    CauseKind.PLAN_WRONG,
)
"""Causes in which no hand should touch a cable: there is something to compare first."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A component with its links that are not as planned, and the unplanned pairs among its cables."""

    component: Component
    links: tuple[Link, ...]
    strange: tuple[Link, ...]


def find_causes(
    wiring: Wiring,
    plan: Plan,
    fabric: Fabric,
    devices: Mapping[str, Device],
    judged: Container[str] | None = None,
) -> tuple[CableCause, ...]:
    """The causes of all links that are wrong, missing, degraded or unplanned: each link has exactly one.

    `wiring` has no causes yet. `judged`: only causes with a link at one of these devices are wanted; the others still count
    where several devices show the same.
    """
    scene = Scene(wiring, plan, fabric, devices)
    planned = {end.place for link in plan.links for end in (link.a, link.b)}
    gone = frozenset(place for place in planned if place in wiring.ends and is_gone(wiring.ends[place]))
    components = repair(plan.links, wiring.observed, occupancy(wiring.ends), scene.rack, gone)
    return explain(scene, wiring, components, judged, gone)


def occupancy(ends: Mapping[Place, LinkEnd]) -> Callable[[Place], Occupancy]:
    """Whether a plug is in a port where nobody is seen, by its module and its state."""

    def look(place: Place) -> Occupancy:
        end = ends.get(place)
        if end is None:
            return Occupancy.UNKNOWN
        up, module = end.facts.get("interface.up"), end.facts.get("optic.present")
        if up is not None and up.value is True:
            return Occupancy.TAKEN
        return Occupancy.FREE if module is not None and module.value in (False, ABSENT) else Occupancy.UNKNOWN

    return look


def explain(
    scene: Scene,
    wiring: Wiring,
    components: Sequence[Component],
    judged: Container[str] | None = None,
    gone: frozenset[Place] = frozenset(),
) -> tuple[CableCause, ...]:
    """The causes, once the components of wrong cables are known; see `find_causes`. `gone`: planned ports that do not exist."""
    parts, rest = _parts(wiring, components)
    labels = label(scene, [part.component for part in parts])
    merged: dict[Label | int, list[_Part]] = defaultdict(list)
    for at, part in enumerate(parts):
        if _is_judged((*part.links, *part.strange), judged):
            merged[labels.of.get(at, at)].append(part)
    out = []
    for key, group in merged.items():
        group.sort(key=lambda part: min((scene.walk(end) for link in part.links for end in _places(link)), default=()))
        found = _by_form(scene, group[0]) if isinstance(key, int) else _by_label(scene, key, group, key in labels.fleet)
        out.append(found)
    for verdict in (LinkVerdict.WRONG, LinkVerdict.MISSING, LinkVerdict.DEGRADED):
        mine = [link for link in rest if link.verdict is verdict]
        if verdict is LinkVerdict.WRONG:
            lost = [link for link in mine if not gone.isdisjoint(_places(link))]
            out += [_no_port(link, gone) for link in lost if _is_judged([link], judged)]
            mine = [link for link in mine if gone.isdisjoint(_places(link))]
        out += [_left(scene, links, device) for device, links in _fold(scene, mine) if _is_judged(links, judged)]
    out += [_unplanned(links) for links in _by_pair(rest) if _is_judged(links, judged)]
    return tuple(sorted(out, key=lambda cause: (cause.severity.rank, cause.key)))


def _parts(wiring: Wiring, components: Sequence[Component]) -> tuple[list[_Part], list[Link]]:
    """The components that hold a fault, and the faulty links that no component holds."""
    faulty = {link.name: link for link in wiring.links if link.verdict in (LinkVerdict.WRONG, LinkVerdict.MISSING)}
    strange = {link.name: link for link in wiring.unplanned}
    parts = []
    for component in components:
        links = tuple(faulty.pop(link.name) for link in component.links if link.name in faulty)
        names = ["|".join(sorted(":".join(place) for place in pair)) for pair in component.cables]
        others = tuple(strange.pop(name) for name in names if name in strange)
        if links or others:
            parts.append(_Part(component, links, others))
    degraded = [link for link in wiring.links if link.verdict is LinkVerdict.DEGRADED]
    return parts, [*faulty.values(), *degraded, *strange.values()]


def _is_judged(links: Iterable[Link], judged: Container[str] | None) -> bool:
    return judged is None or any(end.device in judged for link in links for end in link.ends)


def _places(link: Link) -> tuple[Place, Place]:
    return (link.a.device, link.a.port), (link.b.device, link.b.port)


def _text(place: Place) -> str:
    return f"{place[0]} {place[1]}"


def _key(kind: CauseKind, *words: str) -> str:
    text = ":".join((kind.value, *filter(None, words)))
    return text if len(text) <= 100 and text.isprintable() else f"{kind.value}:{sha256(text.encode()).hexdigest()[:16]}"


def _ends(scene: Scene, links: Iterable[PlanLink]) -> list[tuple[str, str]]:
    """Near and far end of each link in words, in the order of walking."""
    near = sorted((scene.near(link) for link in links), key=scene.walk)
    return [(_text(place), _text(scene.far[place])) for place in near]


def _cause(
    kind: CauseKind,
    form: str,
    key: Sequence[str],
    links: Iterable[Link],
    params: Mapping[str, str],
    moves: Sequence[Move] = (),
    severity: Severity = Severity.ERROR,
) -> CableCause:
    names = tuple(sorted({link.name for link in links}))
    return CableCause(_key(kind, *key), kind, severity, names, {"form": form, **params}, tuple(moves))


# Causes with a name


def _by_label(scene: Scene, found: Label, parts: Sequence[_Part], fleet: bool) -> CableCause:
    links = [link for part in parts for link in (*part.links, *part.strange)]
    planned = [link.plan for part in parts for link in part.links if link.plan is not None]
    near = {scene.near(link)[0] for link in planned}
    hosts = sorted((device for device in near if scene.is_host(device)), key=natural)
    switches = sorted({scene.far[scene.near(link)][0] for link in planned} if hosts else near, key=natural)
    params = {**found.words, "cables": str(sum(len(part.component.cables) for part in parts))}
    form = found.form
    if found.kind is CauseKind.PLAN_WRONG or not hosts:
        params["switches"] = "\n".join(switches)
    else:
        params["hosts"] = "\n".join(hosts)
    if found.kind is CauseKind.SHIFTED:
        racks = sorted({scene.rack(host) for host in hosts} - {""}, key=natural)
        params["racks"] = "\n".join(racks)
        form = "shifted" if racks else "shifted.nowhere"
    if fleet:
        params["fleet"] = str(len(hosts))
    moves = [] if found.kind in NO_MOVES else [move for part in parts for move in part.component.moves]
    same = found.kind is CauseKind.NIC_ORDER and all(_joins_the_same(part) for part in parts)
    severity = Severity.WARNING if same else Severity.ERROR
    return _cause(found.kind, form, (found.form, *found.scope), links, params, moves, severity)


def _joins_the_same(part: _Part) -> bool:
    """Whether all cables join the same two devices, as planned and as seen: then only the labels are wrong."""
    pairs = {frozenset((link.a.device, link.b.device)) for link in part.component.links}
    return len(pairs | {frozenset(place[0] for place in pair) for pair in part.component.cables}) == 1


# Causes by the form of the exchange


def _by_form(scene: Scene, part: _Part) -> CableCause:
    """One component without a name: two cables exchanged, a longer ring, one plug in another port, or a mixture."""
    component = part.component
    planned = [link.plan for link in part.links if link.plan is not None]
    if not planned:
        return _unplanned(part.strange, component.moves)
    hands = Counter(move.hand for move in component.moves)
    plugs = hands[Hand.MOVE] + hands[Hand.UNPLUG]
    ends = _ends(scene, planned)
    params = {"cables": str(max(plugs, 1)), "ends": "\n".join(f"{near}\t{far}" for near, far in ends)}
    for at, (near, far) in enumerate(ends[:2], 1):
        params |= {f"near_{at}": near, f"far_{at}": far}
    kind, form = CauseKind.MIXED, "mixed.chain" if plugs > 1 and set(hands) <= {Hand.MOVE, Hand.LAY} else "mixed"
    severity = Severity.ERROR
    if all(link.verdict is LinkVerdict.MISSING for link in part.links):
        return _left(scene, part.links, "")
    if component.cycle and hands[Hand.UNPLUG] == 1 and set(hands) <= {Hand.UNPLUG, Hand.MOVE, Hand.PLUG}:
        kind = CauseKind.SWAPPED if plugs == 2 and len(ends) > 1 else CauseKind.CYCLE
        same = _joins_the_same(part)
        form, severity = f"{kind.value}.same" if same else kind.value, Severity.WARNING if same else Severity.ERROR
    elif plugs == hands[Hand.MOVE] == 1 and set(hands) <= {Hand.MOVE, Hand.LAY, Hand.LOOK}:
        kind = CauseKind.WRONG_PORT
        form, words = _one_plug(scene, next(move for move in component.moves if move.hand is Hand.MOVE))
        params |= words
    places = sorted(":".join(place) for link in planned for place in (link.a.place, link.b.place))
    return _cause(kind, form, places, (*part.links, *part.strange), params, component.moves, severity)


def _one_plug(scene: Scene, move: Move) -> tuple[str, dict[str, str]]:
    """The form and the words of one plug in another port than planned."""
    seen, planned = move.source[0], move.target[0]
    near = move.far[0] if move.far else scene.far[planned]
    words = {"near": _text(near), "device": seen[0], "seen": seen[1], "planned": planned[1]}
    if seen[0] != planned[0]:
        return "wrong_port.elsewhere", {**words, "planned": _text(planned)}
    if scene.is_host(seen[0]):
        return "wrong_port.host", words
    if not scene.is_host(near[0]):
        return "wrong_port.uplink", words
    return ("wrong_port.next" if abs(scene.offset(planned, seen)) == 1 else "wrong_port.switch"), words


# Links that no observed cable explains


def _fold(scene: Scene, links: Sequence[Link]) -> list[tuple[str, list[Link]]]:
    """Links that fail alike, with the device whose links fail all of them; else by cable, the lanes of a breakout together."""
    fail = {link.name for link in links}
    todo: defaultdict[str, list[Link]] = defaultdict(list)
    whole: dict[str, bool] = {}
    for link in links:
        for end in link.ends:
            todo[end.device].append(link)
    for plan in scene.planned if links else ():
        verdict = scene.links[plan.name].verdict if plan.name in scene.links else None
        if plan.name not in fail and verdict is not LinkVerdict.NOT_YET:
            whole |= {plan.a.device: False, plan.b.device: False}
    out, done = [], set[str]()
    for device in sorted(todo, key=lambda name: (-len(todo[name]), name)):
        mine = [link for link in todo[device] if link.name not in done]
        if whole.get(device, True) and len(mine) >= FOLD:
            out.append((device, mine))
            done.update(link.name for link in mine)
    cables: defaultdict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.name not in done:
            lanes = link.plan is not None and link.plan.cable_id and (link.plan.a.lane or link.plan.b.lane)
            cables[f"\0{link.plan.cable_id}" if link.plan is not None and lanes else link.name].append(link)
    return [*out, *(("", group) for group in cables.values())]


_KINDS = {
    LinkVerdict.MISSING: CauseKind.MISSING,
    LinkVerdict.DEGRADED: CauseKind.DEGRADED,
    LinkVerdict.WRONG: CauseKind.MIXED,
}


def _left(scene: Scene, links: Sequence[Link], device: str) -> CableCause:
    """Links of one device, or of one cable, that are missing or slow, or wrong in a way that nobody can follow."""
    kind = _KINDS[links[0].verdict]
    planned = [link.plan for link in links if link.plan is not None]
    ends = _ends(scene, planned)
    params = {"links": str(len(links)), "reason": links[0].reason, "near_1": ends[0][0], "far_1": ends[0][1]}
    form = f"{kind.value}.unseen" if kind is CauseKind.MIXED else kind.value
    if device:
        form = f"{kind.value}.device"
        params["device"] = device
    elif len(links) > 1 and kind is not CauseKind.MIXED:
        form = f"{kind.value}.breakout"
        params["device"] = _parent(planned)
        params["ends"] = "\n".join(f"{near}\t{far}" for near, far in ends)
    moves = _lays(scene, planned, whole=not device) if kind is CauseKind.MISSING else []
    key = [device] if device else sorted(":".join(place) for link in planned for place in (link.a.place, link.b.place))
    return _cause(kind, form, key, links, params, moves)


def _no_port(link: Link, gone: frozenset[Place]) -> CableCause:
    """A row of the plan that names a port which its device does not have: no cable is at fault."""
    places = _places(link)
    device, port = next(place for place in places if place in gone)
    far = next((" ".join(place) for place in places if place not in gone), device)
    form = f"{CauseKind.PLAN_WRONG.value}.no_port"
    return _cause(CauseKind.PLAN_WRONG, form, [device, port], [link], {"device": device, "port": port, "far": far})


def _parent(links: Sequence[PlanLink]) -> str:
    """The device at the common plug of a breakout."""
    counts = Counter(end.device for link in links for end in (link.a, link.b) if end.lane)
    counts = counts or Counter(end.device for link in links for end in (link.a, link.b))
    return min(counts, key=lambda name: (-counts[name], name))


def _lays(scene: Scene, links: Sequence[PlanLink], *, whole: bool) -> list[Move]:
    """The cables that are to be there: one for each link, or one for all lanes of a breakout."""
    free = occupancy(scene.ends)
    parent = _parent(links)
    ordered = sorted(links, key=lambda link: scene.walk(scene.near(link)))
    groups = [ordered] if whole else [[link] for link in ordered]
    out = []
    for group in groups:
        ends = [(link.a, link.b) if link.a.device == parent else (link.b, link.a) for link in group]
        target, far = tuple(dict.fromkeys(one.place for one, _ in ends)), tuple(dict.fromkeys(other.place for _, other in ends))
        if len(group) == 1:
            near = scene.near(group[0])
            target, far = (near,), (scene.far.get(near, far[0]),)
        unsure = any(free(place) is not Occupancy.FREE for place in (*target, *far))
        out.append(Move(Hand.LAY, target=target, far=far, label=group[0].label, look_first=unsure))
    return out


def _by_pair(links: Iterable[Link]) -> list[list[Link]]:
    """Unplanned pairs, by the two devices that they join."""
    found: defaultdict[tuple[str, ...], list[Link]] = defaultdict(list)
    for link in links:
        if link.plan is None:
            found[tuple(sorted(end.device for end in link.ends))].append(link)
    return list(found.values())


def _unplanned(links: Sequence[Link], moves: Sequence[Move] = ()) -> CableCause:
    """Cables that no plan has."""
    (one, other), places = _places(links[0]), sorted(":".join(place) for link in links for place in _places(link))
    params = {"near_1": _text(one), "far_1": _text(other), "device": one[0], "other": other[0], "cables": str(len(links))}
    form = "unplanned" if len(links) == 1 else "unplanned.several"
    return _cause(CauseKind.UNPLANNED, form, places, links, params, moves, Severity.INFORMATION)
