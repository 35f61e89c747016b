"""Uplinks: whether a leaf can send up what its hosts send it, and evenly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from auditor.address import Address
from auditor.checks.fabric.shape import ALIVE, end_at, port_spot, proofs
from auditor.model import (
    Deviation,
    Gap,
    GapReason,
    Judgement,
    Link,
    LinkVerdict,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    check,
    failed,
    passed,
    unseen,
)

SHOWN = 6


@dataclass(slots=True)
class _Leaf:
    """The planned cables of one switch in one plane: down, and up by the switch that they lead to."""

    device: str
    plane: str
    down: list[Link] = field(default_factory=list)
    up: dict[str, list[Link]] = field(default_factory=lambda: defaultdict(list))

    @property
    def uplinks(self) -> list[Link]:
        return [link for _, links in sorted(self.up.items()) for link in links]

    def sorted(self) -> tuple[list[Link], list[Link], list[Link]]:
        """The uplinks that carry traffic, those that are known not to, and those of which nothing is known."""
        alive: list[Link] = []
        lost: list[Link] = []
        blind: list[Link] = []
        for link in self.uplinks:
            kind = alive if _alive(link, self.device) else blind if link.verdict is LinkVerdict.UNKNOWN else lost
            kind.append(link)
        return alive, lost, blind


@check(
    reads=("interface.up", "interface.speed"),
    severity=Severity.ERROR,
    kind=RuleKind.FABRIC,
    family="fabric",
    every_link=True,
    remedy="Bring the uplinks back that are named: `auditor cabling check --device` tells which cable and which hand movement. "
    "Until then keep jobs that cross the leaf small, or drain its hosts.",
)
def oversubscribed(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """In planes for GPU traffic a switch has at least as much bandwidth up as its installed devices below can send.

    Counted are cables that are proven to be there and up, each with the speed at which it runs. Judged are switches that were
    planned non-blocking; a plan that is oversubscribed by itself is what `auditor plan lint` speaks of. Planes for storage and
    management may be oversubscribed.

    Why it matters: all GPUs of a job send at the same moment. One lost uplink of a leaf makes every collective across it
    slower by that share, and every test between two hosts stays fine.
    """
    for leaf in _leaves(links, context):
        object_ = Spot(leaf.device, Address("interface", ()))
        if not context.tiers[leaf.plane].compute or _rate(leaf.uplinks, planned=True) < _rate(leaf.down, planned=True):
            continue
        needed = _rate([link for link in leaf.down if link.verdict is not LinkVerdict.NOT_YET], planned=True)
        alive, lost, blind = leaf.sorted()
        has = _rate(alive)
        if has >= needed:
            yield passed(object_)
        elif has + _rate(blind, planned=True) >= needed:
            yield _blind(object_, blind)
        else:
            yield failed(object_, _deviation(leaf, [*lost, *filter(_slow, alive)], needed, has))


@check(
    reads=("interface.up", "interface.speed"),
    severity=Severity.WARNING,
    kind=RuleKind.FABRIC,
    family="fabric",
    every_link=True,
    remedy="Bring the uplinks back that are named, or take the same number out towards every switch above: equal-cost routing "
    "sends each of them the same share, whatever it can carry.",
)
def uplinks_asymmetric(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """A switch has the same bandwidth to every switch above it, where the plan gives it that.

    Why it matters: equal-cost routing counts next hops or cables, not what they carry. The switch above with fewer cables gets
    the same share of the flows, and its cables fill while others have room.
    """
    for leaf in _leaves(links, context):
        object_ = Spot(leaf.device, Address("interface", ()))
        if len(leaf.up) < 2 or len({_rate(some, planned=True) for some in leaf.up.values()}) > 1:
            continue
        blind = [link for link in leaf.uplinks if link.verdict is LinkVerdict.UNKNOWN]
        if blind:
            yield _blind(object_, blind)
            continue
        alive = {far: [link for link in some if _alive(link, leaf.device)] for far, some in leaf.up.items()}
        has = {far: _rate(some) for far, some in alive.items()}
        if len(set(has.values())) == 1 or all(link.verdict is LinkVerdict.NOT_YET for link in leaf.uplinks):
            yield passed(object_)
            continue
        most = max(has.values())
        less = {far: rate for far, rate in sorted(has.items()) if rate < most}
        odd = [link for far in less for link in leaf.up[far] if not _alive(link, leaf.device) or _slow(link)]
        told = ", ".join(f"{far} {_said(rate)}" for far, rate in less.items())
        yield failed(
            object_,
            Deviation(
                expected=f"{_said(most)} to every switch above",
                observed=told,
                message=f"{leaf.device} reaches the switches above it unevenly: {told}, the others {_said(most)}",
                spots=_spots(leaf, odd),
            ),
        )


def _leaves(links: Sequence[Link], context: RuleContext) -> Iterator[_Leaf]:
    """Every judged switch with planned cables both ways, plane by plane."""
    leaves: dict[tuple[str, str], _Leaf] = {}
    for link in links:
        tiers = context.tiers.get(link.plan.plane) if link.plan is not None else None
        if link.plan is None or tiers is None:
            continue
        for near, far in ((link.a.device, link.b.device), (link.b.device, link.a.device)):
            low, high = tiers.of.get(near), tiers.of.get(far)
            if near not in context.judged or low is None or high is None or low == 0 or low == high:
                continue
            leaf = leaves.setdefault((near, link.plan.plane), _Leaf(near, link.plan.plane))
            if high > low:
                leaf.up[far].append(link)
            else:
                leaf.down.append(link)
    for _, leaf in sorted(leaves.items()):
        if leaf.up and leaf.down:
            yield leaf


def _alive(link: Link, device: str) -> bool:
    return link.verdict in ALIVE and end_at(link, device).fact("interface.up").value is not False


def _rate(links: Sequence[Link], *, planned: bool = False) -> int:
    """Bits per second of cables, as planned or as they run, by the slower end; each counts 1 where the plan gives no speeds."""
    total = 0
    for link in links:
        wanted = link.plan.speed if link.plan is not None else None
        told = [] if planned or wanted is None else [end.fact("interface.speed").value for end in link.ends]
        seen = [speed for speed in told if isinstance(speed, int)]
        total += min(seen, default=wanted) or 1
    return total


def _slow(link: Link) -> bool:
    return _rate([link]) < _rate([link], planned=True)


def _deviation(leaf: _Leaf, lost: Sequence[Link], needed: int, has: int) -> Deviation:
    names = ", ".join(f"{link.name.replace('|', ' to ')} ({link.verdict.replace('_', ' ')})" for link in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    return Deviation(
        expected=f"at least {_said(needed)} up",
        observed=f"{_said(has)} up",
        message=f"{leaf.device} has {_said(has)} up for {_said(needed)} from below: not there or slow: {names}{more}",
        spots=_spots(leaf, lost),
    )


def _spots(leaf: _Leaf, links: Sequence[Link]) -> tuple[Spot, ...]:
    found = [spot for link in links for spot in (port_spot(end_at(link, leaf.device)), *proofs(link, leaf.device))]
    return tuple(dict.fromkeys(found))


def _said(rate: int) -> str:
    if not rate:
        return "nothing"
    return f"{rate / 1e9:g} Gb/s" if rate >= 1_000_000 else f"{rate} cable{'' if rate == 1 else 's'}"


def _blind(object_: Spot, links: Sequence[Link]) -> Judgement:
    words = f"{len(links)} uplinks are unknown, as {links[0].name.replace('|', ' to ')}: {links[0].reason or 'no evidence'}"
    return unseen(object_, Gap(object_.device, "interface", "cabling", GapReason.NOT_COLLECTED, words, columns=("up",)))
