"""Planes that must stay apart: storage must not crush the network by which everything else is mended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from auditor.address import Address
from auditor.checks.fabric.shape import Cable, cables, end_at, mine, port_spot, proofs
from auditor.model import (
    Deviation,
    Judgement,
    Link,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    check,
    failed,
    is_host,
    passed,
)
from auditor.plan.tiers import is_management

SHOWN = 4


@check(
    reads=("interface.up",),
    optional=("neighbour.system",),
    severity=Severity.ERROR,
    kind=RuleKind.FABRIC,
    family="fabric",
    every_link=True,
    remedy="Give each of the two planes switches and uplinks of its own; until then police the storage traffic on the shared "
    "cable, and keep a console path that does not cross it.",
)
def plane_leak(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """Planes that must stay apart share no switch and no cable between switches.

    Apart are storage and out-of-band planes (by their names), and what `separate` in `fabric.yaml` names. A switch is of the
    planes of its planned cables, its own management ports aside; hosts are of all planes and count for none. A cable that no plan
    has counts for the planes of both switches.

    Why it matters: a checkpoint of a large job fills every queue on its way. Where that way is shared with the out-of-band
    network, consoles and BMCs stop answering at the very moment when somebody needs them.
    """
    apart = _apart(context)
    at: dict[str, dict[str, list[Cable]]] = defaultdict(lambda: defaultdict(list))
    strays: list[Cable] = []
    for cable in cables(links):
        ends = {place: end_at(cable.link, place[0]) for place in (cable.one, cable.other)}
        if any(is_management(port) or is_host(ends[device, port].role) for device, port in ends):
            if cable.link.plan is None or not cable.planned:
                continue
            for device, port in ends:  # a host's cable makes the switch at its other end one of its plane
                if not is_host(ends[device, port].role) and not is_management(port):
                    at[device][cable.link.plan.plane].append(cable)
        elif cable.link.plan is not None and cable.planned:
            for device, _ in ends:
                at[device][cable.link.plan.plane].append(cable)
        else:
            strays.append(cable)
    told: set[str] = set()
    for device, planes in sorted(at.items()):
        for pair in combinations(sorted(planes), 2):
            if frozenset(pair) in apart:
                told.add(device)
                yield _shared(device, pair, planes, context)
    for cable in strays:
        pairs = [(a, b) for a in at[cable.one[0]] for b in at[cable.other[0]] if frozenset((a, b)) in apart]
        if pairs:
            told.update((cable.one[0], cable.other[0]))
            yield _joined(cable, pairs[0], context)
    if apart:
        for device in sorted((at.keys() & context.judged) - told):
            yield passed(Spot(device, Address("neighbour", ())))


def _apart(context: RuleContext) -> set[frozenset[str]]:
    """The pairs of planes that must share nothing."""
    names = set(context.tiers)
    pairs = {frozenset((a, b)) for a in names for b in names if "oob" in a and "storage" in b}
    for group in context.fabric.separate if context.fabric is not None else ():
        pairs |= {frozenset(pair) for pair in combinations(group, 2)}
    return pairs


def _shared(device: str, pair: tuple[str, str], planes: Mapping[str, Sequence[Cable]], context: RuleContext) -> Judgement:
    few = min(pair, key=lambda plane: len(planes[plane]))
    named = sorted(planes[few], key=lambda cable: cable.name)
    told = ", ".join(cable.name for cable in named[:SHOWN]) + (f" and {len(named) - SHOWN} more" if len(named) > SHOWN else "")
    owner = mine(context, device, *sorted({place[0] for cable in named for place in (cable.one, cable.other)}))
    end = end_at(named[0].link, owner)
    return failed(
        port_spot(end),
        Deviation(
            expected=f"{pair[0]} and {pair[1]} share no switch",
            observed=f"{device} has cables of both",
            message=f"planes {pair[0]} and {pair[1]} meet at {device}: of {few} it has {told}",
            spots=proofs(named[0].link, device) or (port_spot(end),),
        ),
    )


def _joined(cable: Cable, pair: tuple[str, str], context: RuleContext) -> Judgement:
    device = mine(context, *sorted((cable.one[0], cable.other[0])))
    end = end_at(cable.link, device)
    return failed(
        port_spot(end),
        Deviation(
            expected=f"no cable between {pair[0]} and {pair[1]}",
            observed=cable.name,
            message=f"{cable.name} joins the planes {pair[0]} and {pair[1]}; the plan has no such cable",
            spots=proofs(cable.link, device) or (port_spot(end),),
        ),
    )
