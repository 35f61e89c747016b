"""Compares two wiring plans by what they mean: the order of lines and of ends does not count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from auditor.model import Place, Plan, PlanEnd, PlanLink
from auditor.plan.formats import columns_of

_Key = frozenset[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Changed:
    """A link in both plans that is written differently: (column, before, after), ends in the order of the new plan."""

    old: PlanLink
    new: PlanLink
    columns: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """What is in one plan only, what is written differently, and how many links are the same."""

    same: int = 0
    changed: tuple[Changed, ...] = ()
    gone: tuple[PlanLink, ...] = ()
    new: tuple[PlanLink, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.new)


def diff(old: Plan, new: Plan) -> PlanDifference:
    """What the second plan has that the first has not, and the other way round, in the order of the plans.

    A link is the same when it joins the same ports, and the same lanes of them. A column that no line of a plan has a value
    for is not compared: the plan does not speak of it.
    """
    before, after = (_by_ends(plan) for plan in (old, new))
    spoken = _columns(old) & _columns(new)
    changed, same = [], 0
    for key, link in after.items():
        if key not in before:
            continue
        columns = _differences(before[key], link, spoken)
        same += not columns
        changed += [Changed(before[key], link, columns)] if columns else []
    gone = tuple(link for key, link in before.items() if key not in after)
    return PlanDifference(same, tuple(changed), gone, tuple(link for key, link in after.items() if key not in before))


def _by_ends(plan: Plan) -> dict[_Key, PlanLink]:
    return {frozenset((end.device, end.port, end.lane) for end in (link.a, link.b)): link for link in plan.links}


def _columns(plan: Plan) -> frozenset[str]:
    """Columns without the side that they stand for: ends may be written either way round."""
    return frozenset(_general(column) for link in plan.links for column in columns_of(link))


def _general(column: str) -> str:
    return column[2:] if column.startswith(("a_", "b_")) else column


def _differences(old: PlanLink, new: PlanLink, spoken: frozenset[str]) -> tuple[tuple[str, str, str], ...]:
    if old.a.place != new.a.place:
        old = replace(old, a=old.b, b=old.a)
    before, after = columns_of(old), columns_of(new)
    names = [name for name in dict.fromkeys((*after, *before)) if _general(name) in spoken]
    found = ((name, before.get(name, ""), after.get(name, "")) for name in names)
    return tuple(each for each in found if each[1] != each[2])


def apart(plans: Iterable[Plan]) -> list[Plan]:
    """The plans with a place of its own for each lane where lanes share the name of a port: `Ethernet0 lane 2`."""
    listed = list(plans)
    shared = {place for plan in listed for place in _shared(plan)}
    return [replace(plan, links=tuple(_apart(link, shared) for link in plan.links)) if shared else plan for plan in listed]


def _shared(plan: Plan) -> set[Place]:
    seen: set[Place] = set()
    twice: set[Place] = set()
    for link in plan.links:
        for end in (link.a, link.b):
            (twice if end.place in seen else seen).add(end.place)
    return twice


def _apart(link: PlanLink, shared: set[Place]) -> PlanLink:
    def end(one: PlanEnd) -> PlanEnd:
        return replace(one, port=f"{one.port} lane {one.lane}") if one.lane and one.place in shared else one

    return replace(link, a=end(link.a), b=end(link.b))


def joined(plan: Plan) -> Mapping[Place, Place]:
    """Each place of a plan to the one across its cable, both ways round."""
    return {one: other for link in plan.links for one, other in ((link.a.place, link.b.place), (link.b.place, link.a.place))}
