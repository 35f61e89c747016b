"""Circles of buffers: cables between switches of one tier, and whether pauses can wait for each other through them.

Assumed routing, which is printed with each finding: at a switch no packet that came down goes up again or straight back to where
it came from, except that a cable between two switches of one tier may be entered and left in any direction. Without such cables
no circle can close: a way climbs, turns once and descends. So only they are nodes here, each in both directions, and an edge
leads from one to the next that a packet can reach: at the same switch, or up over a common switch above and down again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from auditor.address import Address
from auditor.checks.fabric.shape import GONE, Cable, cables, end_at, mine, port_spot, proofs
from auditor.model import (
    Deviation,
    Gap,
    GapReason,
    Judgement,
    Link,
    Plane,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    Tiers,
    check,
    failed,
    passed,
    unseen,
)

ROUTING = (
    "assumed routing: what came down to a switch does not go up again, and nothing goes straight back; a cable between switches "
    "of one tier is entered and left in any direction"
)
MOST = 1000
"""Cables inside tiers above which a fabric is no Clos (a torus, a dragonfly), and this says nothing about it."""
SHOWN = 6

_SWITCH = Address("neighbour", ())

Hop = tuple[str, str]
"""A cable inside a tier in one direction: from switch, to switch."""


@check(
    reads=("interface.up",),
    optional=("neighbour.system",),
    severity=Severity.ERROR,
    kind=RuleKind.FABRIC,
    family="fabric",
    every_link=True,
    remedy="Take the cable out, or plan it: a cable between switches of one tier belongs into the plan of a plane without "
    "lossless classes (a peer link), never into one with them. If it was a temporary jumper, put back the cable that it stood in "
    "for.",
)
def same_tier_link(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """No cable joins two switches of one tier, where that is not planned or the plane has a lossless class.

    Tiers follow from the plan: distance from the hosts. A peer link that is planned in a plane without lossless classes is as it
    should be; management ports forward nothing and are left out.

    Why it matters: such a cable makes ways that the fabric was not designed for. Traffic takes turns that no buffer was sized
    for, and with a second one pauses can wait for each other in a circle.
    """
    flat = {cable.name: cable for _, found in _flat(links, context).items() for cable in found}
    for cable in flat.values():
        device = mine(context, *sorted((cable.one[0], cable.other[0])))
        end = end_at(cable.link, device)
        yield failed(
            port_spot(end),
            Deviation(
                expected="no cable between switches of one tier",
                observed=cable.name,
                message=f"{cable.name} joins two switches of one tier"
                + ("" if cable.planned else "; the plan has no such cable"),
                spots=proofs(cable.link, device) or (port_spot(end),),
            ),
        )
    yield from _fine(links, context, {cable.one[0] for cable in flat.values()} | {cable.other[0] for cable in flat.values()})


@check(
    reads=("interface.up",),
    optional=("neighbour.system",),
    severity=Severity.CRITICAL,
    kind=RuleKind.FABRIC,
    family="fabric",
    every_link=True,
    remedy="Take out the cable that closes the circle, then see that the PFC watchdog runs on all ports of the class: it ends a "
    "deadlock that has begun. A link that must stay between switches of one tier must not carry the lossless class.",
)
def pfc_deadlock_possible(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """No buffers of a lossless class can wait for each other in a circle, over the cables as they are.

    A full buffer pauses the port that feeds it, whose buffer then fills, and so on; where that leads back to the first one
    nothing ever moves again. Looked at are the cables that are there, planned or not. Assumed routing: what came down to a switch
    does not go up again, and nothing goes straight back; a cable between switches of one tier is entered and left in any
    direction.

    Why it matters: a deadlock freezes some hosts for good while all others run and every link is up. It takes a temporary
    jumper and one burst.
    """
    closed: set[str] = set()
    told: set[str] = set()
    for plane, found in _flat(links, context).items():
        if len(found) > MOST:
            yield _too_many(plane, found, context)
            continue
        classes = [item for item in _plane(context, plane).classes if item.lossless]
        for circle in _circles(found, _Above(_upwards(links, plane, context.tiers[plane]))) if classes else ():
            if circle[0].name in told:  # switches of several planes
                continue
            told.add(circle[0].name)
            closed.update(device for cable in circle for device in (cable.one[0], cable.other[0]))
            names = ", ".join(f"{item.name} (priority {item.priority})" for item in classes)
            yield _circle(circle, names, context)
    yield from _fine(links, context, closed)


def _circle(circle: Sequence[Cable], names: str, context: RuleContext) -> Judgement:
    closing = circle[0]
    device = mine(context, *sorted((closing.one[0], closing.other[0])))
    end = end_at(closing.link, device)
    told = ", ".join(cable.name for cable in circle[:SHOWN]) + (f" and {len(circle) - SHOWN} more" if len(circle) > SHOWN else "")
    many = f"the cables {told}" if len(circle) > 1 else f"the cable {told}"
    return failed(
        port_spot(end),
        Deviation(
            expected="no circle of buffers that wait for each other",
            observed=told,
            message=f"pauses of class {names} can wait for each other in a circle through {many}; {closing.name} closes it"
            + ("" if closing.planned else ", and the plan has no such cable")
            + f" ({ROUTING})",
            spots=tuple(dict.fromkeys(spot for cable in circle for spot in proofs(cable.link, device) or (port_spot(end),))),
        ),
    )


def _too_many(plane: str, found: Sequence[Cable], context: RuleContext) -> Judgement:
    device = mine(context, *sorted({cable.one[0] for cable in found}))
    words = f"plane {plane} has {len(found)} cables inside tiers: it is no fabric of tiers, and its routing is not known"
    return unseen(
        Spot(device, port_spot(end_at(found[0].link, device)).address.row),
        Gap(device, "interface", "plan", GapReason.UNSUPPORTED, words, columns=("up",)),
    )


def _flat(links: Iterable[Link], context: RuleContext) -> dict[str, list[Cable]]:
    """The cables between two switches of one tier that nobody may leave there, by plane."""
    found: dict[str, list[Cable]] = defaultdict(list)
    for cable in cables(links):
        for plane, tiers in context.tiers.items():
            near, far = tiers.of.get(cable.one[0], 0), tiers.of.get(cable.other[0], 0)
            meant = cable.planned and cable.link.plan is not None and cable.link.plan.plane == plane
            if near == far != 0 and (not cable.planned or meant) and not (meant and not _lossless(context, plane)):
                found[plane].append(cable)
    return found


def _plane(context: RuleContext, name: str) -> Plane:
    known = context.fabric.planes if context.fabric is not None else {}
    return known.get(name, Plane(name))


def _lossless(context: RuleContext, plane: str) -> bool:
    return any(item.lossless for item in _plane(context, plane).classes)


def _upwards(links: Sequence[Link], plane: str, tiers: Tiers) -> Mapping[str, set[str]]:
    """The switches above each switch, over the cables as they are: without those that are gone, with those that nobody planned.

    What is out of sight of this run is taken to be as planned.
    """
    up = {device: set(above) for device, above in tiers.up.items()}
    for link in links:
        low, high = sorted((end.device for end in link.ends), key=lambda device: tiers.of.get(device, 0))
        if link.plan is not None and link.plan.plane == plane and link.verdict in GONE:
            up.get(low, set()).discard(high)
    for cable in cables(links):
        low, high = sorted((cable.one[0], cable.other[0]), key=lambda device: tiers.of.get(device, 0))
        own = not cable.planned or (cable.link.plan is not None and cable.link.plan.plane == plane)
        if own and 0 < tiers.of.get(low, 0) < tiers.of.get(high, 0):
            up.setdefault(low, set()).add(high)
    return up


def _circles(found: Sequence[Cable], above: _Above) -> Iterator[tuple[Cable, ...]]:
    """Every set of cables through which buffers wait in a circle; first the one that closes it: not planned, heard of last."""
    by_pair: dict[frozenset[str], list[Cable]] = defaultdict(list)
    for cable in found:
        by_pair[frozenset((cable.one[0], cable.other[0]))].append(cable)
    hops = [hop for one, other in map(sorted, by_pair) for hop in ((one, other), (other, one))]
    graph: nx.DiGraph[Hop] = nx.DiGraph()
    graph.add_nodes_from(hops)
    for hop in hops:
        for onward in hops:
            back = hop[1] == onward[0] and onward[1] == hop[0]
            if not back and (hop[1] == onward[0] or above.joined(hop[1], onward[0])):
                graph.add_edge(hop, onward)
    done: set[frozenset[str]] = set()
    for component in sorted(nx.strongly_connected_components(graph), key=sorted):
        first = next(iter(component))
        pairs = {frozenset(hop) for hop in component}
        if (len(component) > 1 or graph.has_edge(first, first)) and not pairs <= done:
            done |= pairs
            circle = [cable for pair in pairs for cable in by_pair[pair]]
            yield tuple(sorted(circle, key=lambda cable: (cable.planned, _since(cable.link), cable.name)))


@dataclass(slots=True)
class _Above:
    """Which switches two switches have above them in common: over those a packet gets from one to the other."""

    up: Mapping[str, set[str]]
    known: dict[str, set[str]] = field(default_factory=dict)

    def joined(self, one: str, other: str) -> bool:
        """Whether there is a way that climbs from one switch, turns once and descends to the other; not to itself."""
        return one != other and not self._closure(one).isdisjoint(self._closure(other))

    def _closure(self, device: str) -> set[str]:
        if device not in self.known:
            seen, front = {device}, {device}
            while front:
                front = {upper for lower in front for upper in self.up.get(lower, ())} - seen
                seen |= front
            self.known[device] = seen
        return self.known[device]


def _since(link: Link) -> float:
    """Seconds since the cable was first heard of at either end; what nobody tells comes last."""
    known = [neighbour.since_s for end in link.ends for neighbour in end.neighbours if neighbour.since_s is not None]
    return min(known, default=float("inf"))


def _fine(links: Iterable[Link], context: RuleContext, wrong: set[str]) -> Iterator[Judgement]:
    """Switches that told their neighbours and have nothing of the kind."""
    heard = {end.device for link in links for end in link.ends if end.neighbours}
    switches = {name for tiers in context.tiers.values() for name, tier in tiers.of.items() if tier > 0}
    for device in sorted((heard & switches & context.judged) - wrong):
        yield passed(Spot(device, _SWITCH))
