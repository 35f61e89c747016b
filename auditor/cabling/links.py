"""Planned links with both their ends and a verdict: what the evidence says about each cable of the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from auditor.cabling.identity import Directory, Seen, Sight, Sighting
from auditor.model import (
    ABSENT,
    Device,
    FabricPort,
    Gap,
    GapReason,
    Link,
    LinkEnd,
    LinkVerdict,
    Place,
    Plan,
    PlanEnd,
    PlanLink,
    Status,
    Wiring,
)

READS = ("interface.up", "interface.enabled", "system.hostname")
"""Facts of a link end, as `table.column`, that the verdicts use where they are there."""


def build_wiring(
    plan: Plan,
    ends: Mapping[Place, LinkEnd],
    devices: Mapping[str, Device],
    fabric_ports: Sequence[FabricPort] = (),
    near: Container[str] | None = None,
) -> Wiring:
    """What the evidence says of the cables, causes aside: planned links in the plan's order, each with its verdict.

    `ends` are keyed by (device, planned port); ends of unplanned ports may be among them and count as evidence. An end that
    is not there becomes one with a gap. `devices` is the inventory: what it does not hold as installed is `not_yet`.
    `fabric_ports` is what hosts that walked an InfiniBand subnet saw. `near`: links without an end on one of these devices
    are left out of the result; as evidence and for names they count all the same.
    """
    planned = [end for link in plan.links for end in (link.a, link.b)]
    full = dict(ends)
    for end in planned:
        if (end.device, end.port) not in full:
            full[end.device, end.port] = _unseen(end, devices.get(end.device))
    ids = {(end.device, end.port): end.id for end in planned if end.id}
    directory = Directory(full.values(), devices, ids)
    seen = {place: _resolved(end, directory) for place, end in full.items()}
    seers = _seers(
        seen, {_place(one): _place(other) for link in plan.links for one, other in ((link.a, link.b), (link.b, link.a))}
    )
    chosen = [link for link in plan.links if near is None or link.a.device in near or link.b.device in near]
    return Wiring(tuple(_build(link, full, devices, directory, seen, seers) for link in chosen), ends=full)


def _unseen(end: PlanEnd, device: Device | None) -> LinkEnd:
    gap = Gap(
        end.device,
        "*",
        "",
        GapReason.NOT_COLLECTED,
        "outside the scope, and the store holds no facts of it that are young enough",
    )
    return LinkEnd(end.device, end.port, None, "" if device is None else device.role, gap=gap)


def _resolved(end: LinkEnd, directory: Directory) -> tuple[Seen, ...]:
    """Whom a port sees. A port that is down sees nobody: what its table still holds is old."""
    up = end.facts.get("interface.up")
    if up is not None and up.value is False:
        return ()
    return tuple(directory.resolve(neighbour) for neighbour in end.neighbours)


def _seers(seen: Mapping[Place, tuple[Seen, ...]], peers: Mapping[Place, Place]) -> Mapping[Place, frozenset[Place]]:
    """For every port that some other port sees across its cable: the ports that see it.

    Of a port that sees its planned peer, whatever else it sees does not count.
    """
    found: defaultdict[Place, set[Place]] = defaultdict(set)
    for near, whom in seen.items():
        places = {each.place for each in whom if each.place is not None} - {near}
        for place in places & {peers.get(near)} or places:
            found[place].add(near)
    return {place: frozenset(seers) for place, seers in found.items()}


def _build(
    plan: PlanLink,
    ends: Mapping[Place, LinkEnd],
    devices: Mapping[str, Device],
    directory: Directory,
    seen: Mapping[Place, tuple[Seen, ...]],
    seers: Mapping[Place, frozenset[Place]],
) -> Link:
    a, b = (ends[end.device, end.port] for end in (plan.a, plan.b))
    for end in (a, b):
        device = devices.get(end.device)
        if device is None or device.status is Status.PLANNED:
            words = "is not in the inventory" if device is None else "is planned, not installed"
            return Link(a, b, LinkVerdict.NOT_YET, plan, f"{end.device} {words}")
    one, other = _place(a), _place(b)
    views = (_view(one, other, seen[one], directory), _view(other, one, seen[other], directory))
    verdict, reason = _judge((a, b), views, (seers.get(one, frozenset()), seers.get(other, frozenset())))
    return Link(a, b, verdict, plan, reason)


def _view(near: Place, far: Place, seen: tuple[Seen, ...], directory: Directory) -> Sighting | None:
    """What one end sees: the neighbour that fits, else the one that is another port, else one that cannot be resolved.

    None when it sees nobody. Several neighbours on a port are usual: the agent of the adapter beside the daemon of the host.
    """
    sightings = [item for item in (directory.look(near, far, each) for each in seen) if item.sight is not Sight.ITSELF]
    if len(sightings) < 2:
        return sightings[0] if sightings else None
    best = min(sightings, key=lambda item: _RANK.index(item.sight))
    return best if best.sight is Sight.FITS else Sighting(best.sight, " and ".join(item.words for item in sightings))


_RANK = (Sight.FITS, Sight.OTHER, Sight.UNRESOLVED)


def _judge(
    ends: tuple[LinkEnd, LinkEnd],
    views: tuple[Sighting | None, Sighting | None],
    elsewhere: tuple[frozenset[Place], frozenset[Place]],
) -> tuple[LinkVerdict, str]:
    """The verdict and its reason. `elsewhere` are the ports that see each end."""
    names = [f"{end.device}:{end.port}" for end in ends]
    fits = [view is not None and view.sight is Sight.FITS for view in views]
    said = [(name, view) for name, view in zip(names, views, strict=True) if view is not None]
    other = [f"{name} sees {view.words}" for name, view in said if view.sight is Sight.OTHER]
    if all(fits):
        return LinkVerdict.PROVEN, ""
    if any(fits):
        near = names[fits.index(True)]
        if other:
            return LinkVerdict.UNKNOWN, f"the ends contradict each other: {near} sees its planned peer, {other[0]}"
        return LinkVerdict.PROVEN_ONE_END, f"seen by {near} only"
    for name, seers in zip(names, elsewhere, strict=True):
        other += [f"{device}:{port} sees {name}" for device, port in sorted(seers)]
    if other:
        return LinkVerdict.WRONG, "; ".join(other)
    return _unproven(ends, views, names)


def _unproven(
    ends: tuple[LinkEnd, LinkEnd], views: tuple[Sighting | None, Sighting | None], names: list[str]
) -> tuple[LinkVerdict, str]:
    """Without any identity that speaks for or against: what the state of both ports allows to say."""
    for end, name in zip(ends, names, strict=True):
        if end.fact("interface.enabled").value is False:
            return LinkVerdict.UNKNOWN, f"{name} is switched off"
    blank = [view.words for view in views if view is not None]
    if blank:
        return LinkVerdict.UNKNOWN, f"a neighbour is there and cannot be named: {blank[0]}"
    states = [end.fact("interface.up") for end in ends]
    hidden = next((name for name, fact in zip(names, states, strict=True) if fact.value is None), None)
    if hidden is not None:
        return LinkVerdict.UNKNOWN, f"the state of {hidden} was not seen"
    for end, name, fact in zip(ends, names, states, strict=True):
        if fact.value is False:
            return LinkVerdict.MISSING, f"{name} is down, and neither end is seen anywhere else"
        if fact.value is ABSENT and end.interface is None:
            return LinkVerdict.MISSING, f"{end.device} has no port {end.port}, and neither end is seen anywhere else"
    if all(fact.value is True for fact in states):
        return LinkVerdict.LINK_ONLY, "both ends are up, and neither says who is there"
    return LinkVerdict.UNKNOWN, "a port does not tell whether it is up"


def _place(end: LinkEnd | PlanEnd) -> Place:
    return end.device, end.port
