"""The story of `auditor explain lossless --path A B`: the priority chain of one planned path, from what the store knows.

Nothing is collected. The route is the shortest one of the wiring plan; the hops on it are those that the last look at each
device left in the store, with their time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from auditor.errors import ExitCode, SetupError
from auditor.model import GapReason, Hop, HopCell, LinkEnd, Plan, PlanEnd, PlanLink, TrafficClass, is_host
from auditor.store import Store
from auditor.workflows.project import Project, load_project, open_project_store

EVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Stored facts are shown whatever their age: their time stands beside them."""


class Word(StrEnum):
    """What is said of a cell, a hop or a chain. `unsupported`: the platform cannot show it, and nothing else is amiss."""

    OK = "ok"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Step:
    """One direction of one port on the way. `hop` is None when the store holds none, `stored` None when it holds nothing."""

    end: PlanEnd
    direction: str
    stored: LinkEnd | None
    hop: Hop | None

    @property
    def name(self) -> str:
        """The place in words: `leaf-05 Ethernet4 ingress`."""
        return f"{self.end.device} {self.end.port} {self.direction}"

    @property
    def seen_at(self) -> datetime | None:
        """When the facts of this hop were collected, at the earliest."""
        return None if self.stored is None else self.stored.stale_of or self.stored.collected_at

    @property
    def why_unknown(self) -> str:
        """Why there is no hop."""
        if self.stored is not None and self.stored.gap is not None:
            return f"{self.stored.gap.reason}: {self.stored.gap.detail}"
        return "the store has no facts of this hop: check the device first"


@dataclass(frozen=True, slots=True)
class Chain:
    """The chain of one traffic class along the steps of a path."""

    traffic_class: TrafficClass
    steps: tuple[Step, ...]

    def cells(self) -> Iterator[tuple[Step, HopCell]]:
        """Every cell in travel order."""
        return ((step, cell) for step in self.steps if step.hop is not None for cell in step.hop.cells)

    @property
    def broken(self) -> tuple[Step, HopCell] | None:
        """The first place where it is broken."""
        return next(((step, cell) for step, cell in self.cells() if cell.ok is False), None)

    @property
    def word(self) -> Word:
        """The verdict on the whole."""
        words = {word(cell) for _, cell in self.cells()} | {Word.UNKNOWN for step in self.steps if step.hop is None}
        return next(each for each in (Word.BROKEN, Word.UNKNOWN, Word.UNSUPPORTED, Word.OK) if each in words or each is Word.OK)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The chains of all lossless classes on the way from `a` to `b`. `routes` counts the equal-cost ones; `every`: the steps
    are those of all of them, else of the first in the plan's order."""

    a: PlanEnd
    b: PlanEnd
    plane: str
    routes: int
    every: bool
    chains: tuple[Chain, ...]
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """1 when a chain is broken, 3 when something of it is not known that could be, else 0."""
        words = {chain.word for chain in self.chains}
        return ExitCode.CAUSES if Word.BROKEN in words else ExitCode.INCOMPLETE if Word.UNKNOWN in words else ExitCode.CLEAN


def word(cell: HopCell) -> Word:
    """What is said of one cell."""
    if cell.ok is not None:
        return Word.OK if cell.ok else Word.BROKEN
    unsupported = cell.fact.gap is not None and cell.fact.gap.reason is GapReason.UNSUPPORTED
    return Word.UNSUPPORTED if unsupported else Word.UNKNOWN


def explain_path(folder: str, one: str, other: str, *, every: bool = False) -> Explanation:
    """The chains from one host port to another, each named DEVICE/PORT. Raises SetupError for what is not in the plan,
    StoreError when there is no store."""
    project = load_project(folder)
    with closing(open_project_store(project.settings, create=False)) as store:
        (a, near), (b, far) = (_find(text, project, store) for text in (one, other))
        if a == b:
            raise SetupError(f"{one} and {other} are the same port")
        if near.plane != far.plane:
            raise SetupError(f"no planned route: {one} is in plane {near.plane!r}, {other} in plane {far.plane!r}")
        classes = [item for item in _classes(project, near.plane) if item.lossless]
        if not classes:
            raise SetupError(f"fabric.yaml has no lossless class in plane {near.plane!r}: there is no chain to explain")
        routes, crossed = _route(project, (a, near), (b, far), every=every)
        ends = {(end.device, end.port): end for end in store.link_ends({end.device for pair in crossed for end in pair}, EVER)}
        notes = tuple(_notes(project, store))
    places = [(end, _direction(project, end, out=out)) for pair in crossed for end, out in zip(pair, (True, False), strict=True)]
    chains = tuple(Chain(item, tuple(_step(end, way, ends, item) for end, way in places)) for item in classes)
    return Explanation(a, b, near.plane, routes, every, chains, notes)


def _classes(project: Project, plane: str) -> tuple[TrafficClass, ...]:
    return project.fabric.planes[plane].classes if plane in project.fabric.planes else ()


def _notes(project: Project, store: Store) -> Iterator[str]:
    """What a reader must know beside the chain: it was judged by the intent of its time."""
    of_runs = (item.digest for run in store.runs() for item in run.inputs if item.kind == "fabric")
    if next(of_runs, project.fabric.digest) != project.fabric.digest:
        yield "fabric.yaml has changed since the last run: the chain was judged by what it said then"


def _find(text: str, project: Project, store: Store) -> tuple[PlanEnd, PlanLink]:
    """The planned host port that DEVICE/PORT names, by its planned name, its id, or a name it had when it was last seen."""
    device, _, port = text.partition("/")
    planned = [(end, link) for end, link in project.plan.links_of(device) if device]
    if not planned or not port:
        devices = {end.device for link in project.plan.links for end in (link.a, link.b)}
        if not port and device in devices:
            raise SetupError(f"{text!r} names no port: write it as {device}/PORT, as {device}/{planned[0][0].port}")
        raise SetupError(f"the wiring plan has no device {device!r}{_near(device, devices)}")
    if not _is_host(project, device):
        raise SetupError(f"{device} is no host: a path leads from host port to host port")
    names = {end: {end.port, end.id} - {""} for end, _ in planned}
    for stored in store.link_ends([device], EVER):
        for end in names:
            if end.port == stored.port:
                names[end].update(filter(None, (stored.interface, *stored.identities)))
    found = [(end, link) for end, link in planned if port.lower() in {name.lower() for name in names[end]}]
    if len(found) != 1:
        known = set().union(*names.values())
        words = f"{len(found)} ports are called" if found else "no planned port is called"
        raise SetupError(f"{device}: {words} {port!r}{_near(port, known)}")
    return found[0]


def _near(word: str, known: Iterable[str]) -> str:
    by_lower = {name.lower(): name for name in sorted(known)}
    close = get_close_matches(word.lower(), by_lower, n=1)
    if close:
        return f" (did you mean {by_lower[close[0]]!r}?)"
    some = sorted(by_lower.values())[:8]
    return f"; there are {', '.join(some)}{' …' if len(by_lower) > len(some) else ''}" if some else ""


def _is_host(project: Project, name: str) -> bool:
    device = project.devices.get(name)
    return device is not None and is_host(device.role or ("host" if "linux" in device.platforms else ""))


Crossing = tuple[PlanEnd, PlanEnd]
"""A cable on the way: the end that traffic leaves, the end where it arrives."""


def _route(
    project: Project, start: tuple[PlanEnd, PlanLink], goal: tuple[PlanEnd, PlanLink], *, every: bool
) -> tuple[int, list[Crossing]]:
    """How many shortest routes there are, and the cables of the first (or of all) in travel order. Hosts let nothing through."""
    (a, near), (b, far) = start, goal
    first, last = (a, near.other(a)), (far.other(b), b)
    if first[1] == b:
        return 1, [first]
    cables = _cables(project.plan, near.plane, {end.device for end in (a, b)}, project)
    distance = _distances(cables, last[0].device)
    if first[1].device not in distance:
        raise SetupError(f"the wiring plan has no route from {a} to {b}")
    counted = {last[0].device: 1}
    onward: dict[str, list[Crossing]] = {}
    for device in sorted(distance, key=distance.__getitem__):
        onward[device] = [pair for pair in cables[device] if distance.get(pair[1].device, -1) == distance[device] - 1]
        counted.setdefault(device, sum(counted[pair[1].device] for pair in onward[device]))
    front, crossed = [first[1].device], [first]
    while front != [last[0].device]:
        pairs = [pair for device in front for pair in onward[device]]
        pairs = pairs if every else pairs[:1]
        crossed.extend(pairs)
        front = list(dict.fromkeys(pair[1].device for pair in pairs))
    return counted[first[1].device], [*crossed, last]


def _cables(plan: Plan, plane: str, ends: set[str], project: Project) -> Mapping[str, Sequence[Crossing]]:
    """The cables between switches of a plane, from either side."""
    cables: dict[str, list[Crossing]] = defaultdict(list)
    hosts = {name for name in project.devices if _is_host(project, name)} | ends
    for link in plan.links:
        if link.plane == plane and hosts.isdisjoint((link.a.device, link.b.device)):
            cables[link.a.device].append((link.a, link.b))
            cables[link.b.device].append((link.b, link.a))
    return cables


def _distances(cables: Mapping[str, Sequence[Crossing]], goal: str) -> dict[str, int]:
    distance = {goal: 0}
    front = [goal]
    while front:
        front = list(
            dict.fromkeys(far.device for device in front for _, far in cables.get(device, ()) if far.device not in distance)
        )
        distance.update(dict.fromkeys(front, max(distance.values()) + 1))
    return distance


def _direction(project: Project, end: PlanEnd, *, out: bool) -> str:
    if _is_host(project, end.device):
        return "send" if out else "receive"
    return "egress" if out else "ingress"


def _step(end: PlanEnd, way: str, ends: Mapping[tuple[str, str], LinkEnd], item: TrafficClass) -> Step:
    stored = ends.get((end.device, end.port))
    hops = () if stored is None else stored.hops
    return Step(end, way, stored, next((hop for hop in hops if (hop.traffic_class, hop.direction) == (item.name, way)), None))


SCHEMA = "auditor.explain.lossless/1"


def as_plain(explanation: Explanation) -> dict[str, Any]:
    """The explanation as a document of JSON types."""
    return {
        "schema": SCHEMA,
        "from": str(explanation.a),
        "to": str(explanation.b),
        "plane": explanation.plane,
        "equal_cost_routes": explanation.routes,
        "all_routes": explanation.every,
        "notes": list(explanation.notes),
        "classes": [_plain_chain(chain) for chain in explanation.chains],
    }


def _plain_chain(chain: Chain) -> dict[str, Any]:
    broken = chain.broken
    item = chain.traffic_class
    return {
        "name": item.name,
        "dscp": list(item.dscp),
        "priority": item.priority,
        "verdict": chain.word,
        "first_break": None if broken is None else {"hop": broken[0].name, "cell": broken[1].name},
        "hops": [
            {
                "device": step.end.device,
                "port": step.end.port,
                "interface": None if step.stored is None else step.stored.interface,
                "direction": step.direction,
                "seen_at": None if step.seen_at is None else step.seen_at.isoformat(),
                "unknown": step.why_unknown if step.hop is None else None,
                "cells": [_plain_cell(cell) for cell in (() if step.hop is None else step.hop.cells)],
            }
            for step in chain.steps
        ],
    }


def _plain_cell(cell: HopCell) -> dict[str, Any]:
    fact, gap = cell.fact, cell.fact.gap
    return {
        "cell": cell.name,
        "verdict": word(cell),
        "is": cell.seen,
        "wanted": cell.wanted,
        "address": str(fact.address),
        "layer": fact.layer,
        "read": cell.read,
        "source": fact.source,
        "digest": fact.digest,
        "gap": None if gap is None else {"reason": gap.reason, "detail": gap.detail},
    }
