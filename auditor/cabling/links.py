"""Planned links with both their ends and a verdict: what the evidence says about each cable of the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from auditor.cabling.identity import Directory, Place, Sight, Sighting
from auditor.model import (
    ABSENT,
    Device,
    Gap,
    GapReason,
    Link,
    LinkEnd,
    LinkVerdict,
    Plan,
    PlanEnd,
    PlanLink,
    Status,
)

READS = ("interface.up", "interface.enabled", "system.hostname")
"""Facts of a link end, as `table.column`, that the verdicts use where they are there."""


def build_links(plan: Plan, ends: Mapping[Place, LinkEnd], devices: Mapping[str, Device]) -> tuple[Link, ...]:
    """Every planned link, in the plan's order, with both ends and its verdict.

    `ends` are keyed by (device, planned port); ends of unplanned ports may be among them and count as evidence. An end that
    is not there becomes one with a gap. `devices` is the inventory: what it does not hold as installed is `not_yet`.
    Neighbours seen by a port that is down are no evidence.
    """
    planned = [end for link in plan.links for end in (link.a, link.b)]
    full = dict(ends)
    for end in planned:
        if (end.device, end.port) not in full:
            full[end.device, end.port] = _unseen(end, devices.get(end.device))
    ids = {(end.device, end.port): end.id for end in planned if end.id}
    directory = Directory(full.values(), devices, ids)
    elsewhere = _seen_by(full, directory)
    return tuple(_build(link, full, devices, directory, elsewhere) for link in plan.links)


def _unseen(end: PlanEnd, device: Device | None) -> LinkEnd:
    gap = Gap(end.device, "*", "", GapReason.NOT_COLLECTED, "nothing was collected from this end of the link")
    return LinkEnd(end.device, end.port, None, "" if device is None else device.role, gap=gap)


def _seen_by(ends: Mapping[Place, LinkEnd], directory: Directory) -> Mapping[Place, tuple[Place, ...]]:
    """For every port that some port sees across its cable: the ports that see it."""
    found: defaultdict[Place, list[Place]] = defaultdict(list)
    for near, end in ends.items():
        for neighbour in () if _is_down(end) else end.neighbours:
            place = directory.place(neighbour)[1]
            if place is not None and place != near:
                found[place].append(near)
    return {place: tuple(sorted(set(seers))) for place, seers in found.items()}


def _build(
    plan: PlanLink,
    ends: Mapping[Place, LinkEnd],
    devices: Mapping[str, Device],
    directory: Directory,
    elsewhere: Mapping[Place, tuple[Place, ...]],
) -> Link:
    a, b = (ends[end.device, end.port] for end in (plan.a, plan.b))
    for end in (a, b):
        device = devices.get(end.device)
        if device is None or device.status is Status.PLANNED:
            words = "is not in the inventory" if device is None else "is planned, not installed"
            return Link(a, b, LinkVerdict.NOT_YET, plan, f"{end.device} {words}")
    views = (_view(a, b, directory), _view(b, a, directory))
    verdict, reason = _judge((a, b), views, elsewhere)
    return Link(a, b, verdict, plan, reason)


def _view(near: LinkEnd, far: LinkEnd, directory: Directory) -> Sighting | None:
    """What one end sees: the neighbour that fits, else the one that is another port, else one that cannot be resolved.

    None when it sees nobody. Several neighbours on a port are usual: the agent of the adapter beside the daemon of the host.
    """
    if _is_down(near):
        return None
    place, wanted = (near.device, near.port), (far.device, far.port)
    sightings = [directory.look(place, wanted, neighbour) for neighbour in near.neighbours]
    ranked = [next((item for item in sightings if item.sight is sight), None) for sight in _RANK]
    best = next((item for item in ranked if item is not None), None)
    if best is None or best.sight is Sight.FITS or len(sightings) == 1:
        return best
    return Sighting(best.sight, " and ".join(item.words for item in sightings if item.sight is not Sight.ITSELF), best.place)


_RANK = (Sight.FITS, Sight.OTHER, Sight.UNRESOLVED)


def _judge(
    ends: tuple[LinkEnd, LinkEnd], views: tuple[Sighting | None, Sighting | None], elsewhere: Mapping[Place, tuple[Place, ...]]
) -> tuple[LinkVerdict, str]:
    names = [f"{end.device}:{end.port}" for end in ends]
    fits = [view is not None and view.sight is Sight.FITS for view in views]
    seen = [(name, view) for name, view in zip(names, views, strict=True) if view is not None]
    other = [f"{name} sees {view.words}" for name, view in seen if view.sight is Sight.OTHER]
    if all(fits):
        return LinkVerdict.PROVEN, ""
    if any(fits):
        near = names[fits.index(True)]
        if other:
            return LinkVerdict.UNKNOWN, f"the ends contradict each other: {near} sees its planned peer, {other[0]}"
        return LinkVerdict.PROVEN_ONE_END, f"seen by {near} only"
    for end, peer in (ends, reversed(ends)):
        seers = [
            f"{device}:{port}" for device, port in elsewhere.get((end.device, end.port), ()) if (device, port) != _place(peer)
        ]
        other += [f"{seer} sees {end.device}:{end.port}" for seer in seers]
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


def _is_down(end: LinkEnd) -> bool:
    fact = end.facts.get("interface.up")
    return fact is not None and fact.value is False


def _place(end: LinkEnd) -> Place:
    return end.device, end.port
