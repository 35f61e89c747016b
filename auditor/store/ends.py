"""The latest facts of each device's planned ports: how they are merged over runs, kept as one blob, and given back by age.

A check that asked for little must not wipe out what an earlier one saw. So each fact keeps its own time, and gives way to
a newer answer (even one that could not be read) but not to silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import is_

from auditor.model import ABSENT, Fact, GapReason, Hop, HopCell, LinkEnd
from auditor.store.codec import Codec
from auditor.store.raw import pack, unpack

SILENCE = frozenset({GapReason.NOT_COLLECTED, GapReason.UNREACHABLE, GapReason.TIMEOUT, GapReason.AUTH})
"""Reasons that mean there was no answer, as opposed to one that says nothing usable."""

NEIGHBOURS = "neighbour"
"""The key of `KeptEnd.older` under which the time of the neighbours stands."""

HOPS = "hops"
"""The same for the hops of an end: its chain is judged as a whole, so it is kept or replaced as a whole."""


@dataclass(frozen=True, slots=True)
class KeptEnd:
    """An end with the facts that are ABSENT by name (JSON has no such value) and the times of what is older than the end."""

    end: LinkEnd
    absent: tuple[str, ...] = ()
    older: Mapping[str, datetime] = field(default_factory=dict)


_CODEC: Codec[tuple[KeptEnd, ...]] = Codec(tuple[KeptEnd, ...])


def dump(ends: Iterable[KeptEnd]) -> bytes:
    """The blob of a device's ends."""
    out = []
    for kept in ends:
        absent = tuple(name for name, fact in kept.end.facts.items() if fact.value is ABSENT)
        facts = {name: replace(fact, value=None) if name in absent else fact for name, fact in kept.end.facts.items()}
        out.append(KeptEnd(replace(kept.end, facts=facts, hops=_each_cell(kept.end.hops, _hide_absent)), absent, kept.older))
    return pack(_CODEC.dump(tuple(out)))


def load(body: bytes) -> tuple[KeptEnd, ...]:
    """The inverse of `dump`."""
    out = []
    for kept in _CODEC.load(unpack(body)):
        facts = {name: replace(fact, value=ABSENT) if name in kept.absent else fact for name, fact in kept.end.facts.items()}
        out.append(KeptEnd(replace(kept.end, facts=facts, hops=_each_cell(kept.end.hops, _show_absent)), (), kept.older))
    return tuple(out)


def _each_cell(hops: tuple[Hop, ...], change: Callable[[HopCell], HopCell]) -> tuple[Hop, ...]:
    """The hops with every cell changed; those that stay as they are are not made anew."""
    out = []
    for hop in hops:
        cells = tuple(map(change, hop.cells))
        out.append(hop if all(map(is_, cells, hop.cells)) else replace(hop, cells=cells))
    return tuple(out)


def _hide_absent(cell: HopCell) -> HopCell:
    """ABSENT as no value without a gap: what is unknown has one."""
    return replace(cell, fact=replace(cell.fact, value=None)) if cell.fact.value is ABSENT else cell


def _show_absent(cell: HopCell) -> HopCell:
    return replace(cell, fact=replace(cell.fact, value=ABSENT)) if cell.fact.value is None and cell.fact.gap is None else cell


def fact_names(ends: Iterable[LinkEnd]) -> str:
    """The names of all facts of these ends, as kept beside the blob to tell cheaply whether new ends say less than old ones."""
    ends = tuple(ends)
    return " ".join(sorted({name for end in ends for name in end.facts} | {HOPS for end in ends if end.hops}))


def complete(ends: Iterable[LinkEnd], names_before: str, saw_neighbours: bool) -> bool:
    """Whether new ends leave nothing of the old ones worth keeping."""
    ends = tuple(ends)
    return (
        saw_neighbours
        and set(names_before.split()) <= set(fact_names(ends).split())
        and not any(_silent(fact) for end in ends for fact in end.facts.values())
        and not any(map(_silences, ends))
    )


def merge(old: Iterable[KeptEnd], new: Iterable[LinkEnd], since: datetime, *, saw_neighbours: bool) -> tuple[KeptEnd, ...]:
    """The new ends, completed by what the old ones (as of `since`) know better.

    Ports without a new end are no longer planned and dropped; but a run without a plan has no ends at all, and drops none.
    """
    new = tuple(new)
    if not new:
        return tuple(_aged(kept, since) for kept in old)
    before = {kept.end.port: kept for kept in old}
    out = []
    for end in new:
        kept = before.get(end.port)
        if kept is None:
            out.append(KeptEnd(end))
            continue
        facts, older = dict(end.facts), {}
        for name, fact in kept.end.facts.items():
            if fact.value is not None and (name not in facts or _silent(facts[name])):
                facts[name] = fact
                older[name] = kept.older.get(name, since)
        merged = replace(end, facts=facts, interface=end.interface or kept.end.interface)
        if kept.end.hops and _silences(kept.end) < _silences(end):
            merged = replace(merged, hops=kept.end.hops)
            older[HOPS] = kept.older.get(HOPS, since)
        if not saw_neighbours and kept.end.neighbours:
            merged = replace(merged, neighbours=kept.end.neighbours, identities=end.identities or kept.end.identities)
            older[NEIGHBOURS] = kept.older.get(NEIGHBOURS, since)
        out.append(KeptEnd(merged, (), older))
    return tuple(out)


def _aged(kept: KeptEnd, since: datetime) -> KeptEnd:
    return replace(kept, older=dict.fromkeys((*kept.end.facts, NEIGHBOURS, HOPS), since) | dict(kept.older))


def give(kept: KeptEnd, collected_at: datetime, not_before: datetime) -> LinkEnd | None:
    """The end with what is no older than `not_before`; `stale_of` is the time of the oldest part. None: nothing is left."""
    times = {name: kept.older.get(name, collected_at) for name in (*kept.end.facts, NEIGHBOURS, HOPS)}
    facts = {name: fact for name, fact in kept.end.facts.items() if times[name] >= not_before}
    neighbours = kept.end.neighbours if times[NEIGHBOURS] >= not_before else ()
    hops = kept.end.hops if times[HOPS] >= not_before else ()
    if not facts and not neighbours and not hops:
        return None
    used = [times[name] for name in (*facts, *([NEIGHBOURS] if neighbours else []), *([HOPS] if hops else []))]
    return replace(kept.end, facts=facts, neighbours=neighbours, hops=hops, collected_at=collected_at, stale_of=min(used))


def _silences(end: LinkEnd) -> int:
    """How many cells of the chain had no answer."""
    return sum(cell.ok is None and _silent(cell.fact) for hop in end.hops for cell in hop.cells)


def _silent(fact: Fact) -> bool:
    return fact.value is None and (fact.gap is None or fact.gap.reason in SILENCE)
