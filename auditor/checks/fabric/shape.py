"""What rules over the fabric share: the cables that are really there, and the cell of a port that speaks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from auditor.model import Link, LinkEnd, LinkVerdict, Place, RuleContext, Spot

ALIVE = (LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END, LinkVerdict.LINK_ONLY, LinkVerdict.DEGRADED)
"""Verdicts by which a planned cable carries traffic where it should, if not all that it should."""
ABSENT_CABLES = (LinkVerdict.MISSING, LinkVerdict.NOT_YET)
GONE = (*ABSENT_CABLES, LinkVerdict.WRONG)
"""Verdicts by which the planned cable is not where the plan has it."""


@dataclass(frozen=True, slots=True)
class Cable:
    """A cable that is there: the two devices that it joins, the link whose ends show it, and what it was planned for."""

    one: Place
    other: Place
    link: Link

    @property
    def planned(self) -> bool:
        """Whether it leads where the plan says."""
        return self.link.plan is not None and {end.place for end in (self.link.plan.a, self.link.plan.b)} == {
            self.one,
            self.other,
        }

    @property
    def name(self) -> str:
        """Both ends, as a person writes them."""
        return " to ".join(f"{device} {port}" for device, port in sorted((self.one, self.other)))


def cables(links: Iterable[Link]) -> Iterator[Cable]:
    """Every cable that is there, once: planned ones, unplanned ones, and where a wrong one leads instead."""
    seen: set[frozenset[Place]] = set()
    for link in links:
        if link.verdict in ABSENT_CABLES:
            continue
        a, b = ((end.device, end.port) for end in link.ends)
        pairs = [(a, b)]
        if link.verdict is LinkVerdict.WRONG:
            pairs = [(near, far) for near, far in zip((a, b), link.far, strict=True) if far is not None]
        for one, other in pairs:
            key = frozenset((one, other))
            if key not in seen and one[0] != other[0]:
                seen.add(key)
                yield Cable(one, other, link)


def end_at(link: Link, device: str) -> LinkEnd:
    """The end of a link on a device; the first one where neither is."""
    return next((end for end in link.ends if end.device == device), link.a)


def port_spot(end: LinkEnd, column: str = "up") -> Spot:
    """The cell of an end's own interface, at the layer at which it was read."""
    fact = end.fact(f"interface.{column}")
    return Spot(end.device, replace(fact.address, layer=fact.layer))


def proofs(link: Link, *devices: str) -> tuple[Spot, ...]:
    """The cells that say where a cable leads, those of the devices named first."""
    seen = [
        Spot(neighbour.fact.device or end.device, replace(neighbour.fact.address, layer=neighbour.fact.layer))
        for end in link.ends
        for neighbour in end.neighbours
        if neighbour.fact is not None
    ]
    known = list(dict.fromkeys((*link.spots, *seen)))
    return tuple(sorted(known, key=lambda spot: spot.device not in devices))


def mine(context: RuleContext, *devices: str) -> str:
    """The device that a finding belongs to: the first of these that is judged, else the first."""
    return next((device for device in devices if device in context.judged), devices[0])
