"""Cables that no plan has: pairs of ports that see each other and of which neither is planned."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping

from auditor.cabling.view import Sightings, words
from auditor.model import Device, Gap, GapReason, Link, LinkEnd, LinkVerdict, Place, Plan, Spot, Status, Via

_NUMBER = re.compile(r"\d+")
_TOLD = (Via.LLDP, Via.FABRIC)
"""What proves a cable that nobody expects. Addresses travel through ports that no cable of theirs is in."""


def unplanned_pairs(
    plan: Plan,
    ends: Mapping[Place, LinkEnd],
    devices: Mapping[str, Device],
    sightings: Sightings,
    near: Container[str] | None,
) -> tuple[Link, ...]:
    """Pairs with the verdict unplanned, by name; with `near` those that touch one of these devices.

    Only between installed devices that have planned ports in one plane, on ports named like those: a management port is
    nobody's business here.
    """
    planned = {end.place for link in plan.links for end in (link.a, link.b)}
    strange = {place for place, far in sightings.observed.items() if place not in planned and far not in planned}
    if not strange:
        return ()
    forms: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for link in plan.links:
        for end in (link.a, link.b):
            forms[end.device].add((link.plane, _form(end.port)))
            known = ends.get(end.place)
            if known is not None and known.interface:
                forms[end.device].add((link.plane, _form(known.interface)))
    found = []
    for one in sorted(strange):
        other = sightings.observed[one]
        if one > other or (near is not None and one[0] not in near and other[0] not in near):
            continue
        planes = [{plane for plane, form in forms[place[0]] if form == _form(place[1])} for place in (one, other)]
        if planes[0] & planes[1] and all(_installed(devices.get(place[0])) for place in (one, other)):
            found.append(_pair(one, other, ends, sightings))
    return tuple(filter(None, found))


def _pair(one: Place, other: Place, ends: Mapping[Place, LinkEnd], sightings: Sightings) -> Link | None:
    told = [(near, far, seen) for near, far in ((one, other), (other, one)) if (seen := sightings.by(near, far)) is not None]
    if not any(seen.neighbour.via in _TOLD for _, _, seen in told):
        return None
    reason = "; ".join(f"{words(near)} sees {words(far)}" for near, far, _ in told) + "; the plan has neither port"
    spots = tuple(Spot(fact.device or near[0], fact.address) for near, _, seen in told if (fact := seen.neighbour.fact))
    a, b = (ends[place] if place in ends else _unlisted(place) for place in (one, other))
    return Link(a, b, LinkVerdict.UNPLANNED, None, reason, (other, one), spots)


def _unlisted(place: Place) -> LinkEnd:
    return LinkEnd(*place, None, gap=Gap(place[0], "*", "", GapReason.NOT_COLLECTED, "its device listed no such port"))


def _installed(device: Device | None) -> bool:
    return device is not None and device.status is not Status.PLANNED


def _form(name: str) -> str:
    return _NUMBER.sub("#", name.strip().lower())
