"""Finds what is wrong with a wiring plan before anybody pulls a cable, all of it at once, with file, line and severity.

Pure over the plan, `fabric.yaml`, the inventory and, where they are known, the ports that devices really have. Errors are what
cannot be built or must not be; warnings what is built like that by mistake more often than on purpose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction

from auditor.errors import FileError, SetupError
from auditor.model import Device, Fabric, Plan, PlanEnd, PlanLink, Severity
from auditor.plan.balance import Told, balance
from auditor.plan.document import conflicts
from auditor.plan.optics import medium, reach
from auditor.plan.tiers import PlaneShape, hosts, is_adapter, is_management, shapes, some, speed_text, sums

MOST_HINTS = 50
"""Looking for similar names is slow where a plan and an inventory share none."""


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """One thing wrong with a plan. `rule` names its kind; `line` is None where it has none."""

    severity: Severity
    rule: str
    message: str
    file: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.severity}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class KnownPorts:
    """What a device was last seen to have: its interfaces, and the planned ports that certainly nothing of it answers to."""

    names: tuple[str, ...] = ()
    lacks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known beside the plan. `devices` None: there is no inventory to compare with. `ports` only of devices seen.

    `allowed`: per plane the most bandwidth down by bandwidth up, where that is not 1.
    """

    fabric: Fabric = field(default_factory=Fabric)
    devices: Mapping[str, Device] | None = None
    ports: Mapping[str, KnownPorts] = field(default_factory=dict)
    allowed: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Linted:
    """Everything found, by line, and the arithmetic of each plane."""

    findings: tuple[PlanFinding, ...]
    sums: tuple[str, ...]

    @property
    def errors(self) -> int:
        """How many findings make the plan unusable."""
        return sum(finding.severity in (Severity.CRITICAL, Severity.ERROR) for finding in self.findings)


def lint(plan: Plan, around: Surroundings, errors: Iterable[SetupError] = ()) -> Linted:
    """Everything wrong with a plan. `errors` are those that reading it gave: its sound links are judged all the same."""
    sound, clashes = conflicts(plan)
    plan = Plan(plan.name, sound, plan.digest, plan.file, plan.text)
    file = plan.file or plan.name
    found = [_of(error, file) for error in (*errors, *clashes)]
    devices = around.devices or {}
    endpoints = hosts(plan, devices)
    planes = list(shapes(plan, endpoints, devices))
    told: list[Told] = []
    for rule in _RULES:
        told += rule(plan, around)
    for plane in planes:
        told += balance(plane, devices, around.allowed.get(plane.name, Fraction(1)))
        told += _homing(plane)
    told += _shared_switches(planes, endpoints)
    found += [PlanFinding(severity, rule, message, file, line) for severity, rule, message, line in told]
    found.sort(key=lambda finding: (finding.line or 0, finding.severity.rank, finding.rule, finding.message))
    return Linted(tuple(found), tuple(text for plane in planes for text in sums(plane)))


def _of(error: SetupError, file: str) -> PlanFinding:
    if isinstance(error, FileError):
        return PlanFinding(Severity.ERROR, "unreadable", error.message, error.file or file, error.line)
    return PlanFinding(Severity.ERROR, "unreadable", str(error), file)


def _ends(plan: Plan) -> Iterator[tuple[PlanEnd, PlanLink]]:
    for link in plan.links:
        yield link.a, link
        yield link.b, link


def _unknown_devices(plan: Plan, around: Surroundings) -> Iterator[Told]:
    if around.devices is None:
        return
    first: dict[str, int | None] = {}
    for end, link in _ends(plan):
        if end.device not in around.devices:
            first.setdefault(end.device, link.line)
    near = {name.lower(): name for name in around.devices}
    for number, (name, line) in enumerate(first.items()):
        close = [name.lower()] if name.lower() in near else []
        if not close and number < MOST_HINTS:
            close = get_close_matches(name.lower(), near, n=1, cutoff=0.8)
        hint = f"; did you mean {near[close[0]]!r}?" if close else ""
        yield Told(Severity.ERROR, "unknown_device", f"device {name!r} is not in the inventory{hint}", line)


def _unknown_ports(plan: Plan, around: Surroundings) -> Iterator[Told]:
    lacks: dict[str, list[tuple[str, PlanLink]]] = defaultdict(list)
    for end, link in _ends(plan):
        known = around.ports.get(end.device)
        if known is not None and end.port in known.lacks:
            lacks[end.device].append((end.port, link))
    for device, found in lacks.items():
        names, first = around.ports[device].names, found[0][0]
        close = get_close_matches(first, names, n=1, cutoff=0.7)
        hint = f"; it has {close[0]!r}" if close else f"; it has {some(names, 3)}" if names else ""
        words = f"{device} has no port {some([repr(port) for port, _ in found])}{hint}"
        yield Told(Severity.ERROR, "unknown_port", words, found[0][1].line)


def _unnamed_nics(plan: Plan, around: Surroundings) -> Iterator[Told]:
    """`nic<n>` is a name only where `fabric.yaml` says which card of a model it is."""
    unnamed: dict[tuple[str, str], list[PlanLink]] = defaultdict(list)
    for end, link in _ends(plan):
        device = (around.devices or {}).get(end.device)
        if device is not None and not end.id and re.fullmatch(r"nic\d+", end.port):
            if not device.hardware_model:
                unnamed[f"{end.device} has no hardware_model in the inventory", end.device].append(link)
            elif device.hardware_model not in around.fabric.nics:
                model = device.hardware_model
                unnamed[f"fabric.yaml has no nics of model {model!r}", model].append(link)
            elif end.port not in around.fabric.nics[device.hardware_model]:
                words = f"fabric.yaml names no {end.port} of model {device.hardware_model!r}, which {end.device} is"
                yield Told(Severity.ERROR, "unknown_port", words, link.line)
    for (words, _), links in unnamed.items():
        message = f"{words}, so nothing says which card a nic<n> is, on {len(links)} links"
        yield Told(Severity.WARNING, "unknown_port", message, links[0].line)


def _breakouts(plan: Plan, around: Surroundings) -> Iterator[Told]:  # noqa: ARG001 (all rules are called alike)
    cables: dict[str, list[PlanLink]] = defaultdict(list)
    for link in plan.links:
        if link.cable_id:
            cables[link.cable_id].append(link)
        elif link.a.lane or link.b.lane:
            words = f"{link.name} has a lane and no cable_id: nothing says which lines share its plug"
            yield Told(Severity.WARNING, "breakout", words, link.line)
    for cable, links in cables.items():
        if len(links) > 1:
            words = _broken(links)
            line = min((link.line for link in links if link.line is not None), default=None)
            if words:
                yield Told(Severity.ERROR, "breakout", f"cable {cable}: {words}", line)
            elif len({link.speed for link in links}) > 1:
                speeds = ", ".join(sorted({speed_text(link.speed) for link in links}))
                yield Told(Severity.WARNING, "breakout", f"cable {cable}: its lanes have different speeds: {speeds}", line)


def _broken(links: list[PlanLink]) -> str:
    """Why these lines are no breakout: several lines of one cable share a plug, on a lane each."""
    bare = [link for link in links if not (link.a.lane or link.b.lane)]
    if bare:
        lines = some([str(link.line) if link.line is not None else link.name for link in links])
        return f"lines {lines} are one cable, so each needs a lane on the side of the shared plug; {bare[0].name} has none"
    shared = set.intersection(*({end.device for end in (link.a, link.b) if end.lane} for link in links))
    if not shared:
        return f"no device has a lane of it on every line, so there is no shared plug: {some([link.name for link in links])}"
    for device in sorted(shared):
        lanes = [end.lane for link in links for end in (link.a, link.b) if end.device == device]
        if len(set(lanes)) < len(lanes):
            twice = next(lane for lane in lanes if lanes.count(lane) > 1)
            return f"lane {twice} of {device} stands on several lines"
    return ""


def _labels(plan: Plan, around: Surroundings) -> Iterator[Told]:  # noqa: ARG001
    cables: dict[str, dict[str, PlanLink]] = defaultdict(dict)
    for link in plan.links:
        if link.label:
            cables[link.label].setdefault(link.cable_id or link.name, link)
    for label, links in cables.items():
        if len(links) > 1:
            named = some([link.name for link in links.values()], 2)
            line = list(links.values())[1].line
            yield Told(Severity.WARNING, "label_twice", f"label {label!r} is on {len(links)} cables: {named}", line)


def _places(plan: Plan, around: Surroundings) -> Iterator[Told]:
    """A device that stands in two racks: work orders are sorted by rack."""
    seen: dict[tuple[str, str], tuple[str, int | None]] = {}
    told: set[tuple[str, str]] = set()
    for end, link in _ends(plan):
        device = (around.devices or {}).get(end.device)
        for what, here, listed in (
            ("rack", end.rack, device.rack if device else ""),
            ("position", end.position, device.position if device else ""),
        ):
            if not here or (end.device, what) in told:
                continue
            first, line = seen.setdefault((end.device, what), (here, link.line))
            other = f"{listed!r} in the inventory" if listed and listed != here else f"{first!r} on line {line}"
            if first != here or (listed and listed != here):
                told.add((end.device, what))
                words = f"{what} of {end.device} is {here!r} here and {other}"
                yield Told(Severity.WARNING, "place_differs", words, link.line)


def _optics(plan: Plan, around: Surroundings) -> Iterator[Told]:  # noqa: ARG001
    """What no cable of its type can be, alike ones together."""
    alike: dict[tuple[Severity, str, str], list[PlanLink]] = defaultdict(list)
    for link in plan.links:
        for fault in _impossible(link) if link.type else ():
            alike[fault].append(link)
    for (severity, rule, words), links in alike.items():
        named = links[0].name if len(links) == 1 else f"{len(links):,} links ({some([link.name for link in links], 2)})"
        yield Told(severity, rule, f"{named}: {words}", links[0].line)


def _impossible(link: PlanLink) -> Iterator[tuple[Severity, str, str]]:
    what = medium(link.type)
    lanes = bool(link.a.lane or link.b.lane)
    if what.speed and link.speed and (what.speed < link.speed or (what.speed != link.speed and not lanes)):
        words = f"{link.type} is {speed_text(what.speed)}, the link {speed_text(link.speed)}"
        yield Severity.ERROR, "speed_of_type", words
    elif (limit := reach(what, link.speed)) is not None and link.length_m is not None and link.length_m > limit.metres:
        words = f"{link.length_m:g} m of {link.type} at {speed_text(what.speed or link.speed)}; the limit is {limit.metres:g} m"
        severity = Severity.ERROR if what.certain else Severity.WARNING
        yield severity, "too_long", f"{words} ({limit.source})"
    if what.fixed and link.via:
        yield Severity.ERROR, "type_through_panel", f"both plugs of {link.type} belong to the cable: no panel can be between"


def _homing(plane: PlaneShape) -> Iterator[Told]:
    """Hosts whose several links into a plane, or into one rail of it, end on one switch."""
    if len(plane.loads) < 2:
        return
    homes: dict[tuple[str, str], list[tuple[str, PlanLink]]] = defaultdict(list)
    for near, far, link in plane.host_links:
        homes[near.device, link.rail].append((far.device, link))
    several = {key: found for key, found in homes.items() if len({link.cable_id or link.name for _, link in found}) > 1}
    single = {key: found for key, found in several.items() if len({leaf for leaf, _ in found}) == 1}
    by_leaf: dict[str, list[tuple[str, PlanLink]]] = defaultdict(list)
    for (host, _), found in single.items():
        by_leaf[found[0][0]].append((host, found[0][1]))
    where = f"plane {plane.name}" if plane.name else "links without plane"
    if single and len(single) == len(several):
        links = [link for entries in by_leaf.values() for _, link in entries]
        words = (
            f"{where}: each of {len(single)} hosts has all its links on one switch, so none survives that switch: is that meant?"
        )
        yield Told(Severity.WARNING, "one_leaf", words, min((link.line or 0 for link in links), default=0) or None)
        return
    for leaf, entries in by_leaf.items():
        names = some([host for host, _ in entries])
        words = (
            f"{where}: {names} has all its links on {leaf}: no second switch, where {len(several) - len(single)} others have one"
        )
        yield Told(Severity.WARNING, "one_leaf", words, entries[0][1].line)


def _shared_switches(planes: Iterable[PlaneShape], endpoints: frozenset[str]) -> Iterator[Told]:
    """Switches that forward out-of-band traffic and storage traffic: a burst of one drops the other on their uplinks."""
    carried: dict[str, dict[str, list[PlanLink]]] = defaultdict(lambda: defaultdict(list))
    for plane in planes:
        kind = "oob" if "oob" in plane.name else "storage" if "storage" in plane.name else ""
        for link in plane.links if kind else ():
            for end in (link.a, link.b):
                if end.device not in endpoints and not is_management(end.port) and not is_adapter(end.port):
                    carried[end.device][kind].append(link)
    for device, kinds in carried.items():
        if len(kinds) == 2:
            oob, storage = kinds["oob"], kinds["storage"]
            words = (
                f"{device} carries out-of-band traffic ({len(oob)} links, like {oob[0].name}) and storage traffic "
                f"({len(storage)} links): when checkpoints are written, the way to the machines is lost too"
            )
            yield Told(Severity.ERROR, "oob_shares_storage", words, oob[0].line)


_RULES: tuple[Callable[[Plan, Surroundings], Iterator[Told]], ...] = (
    _unknown_devices,
    _unknown_ports,
    _unnamed_nics,
    _breakouts,
    _labels,
    _places,
    _optics,
)
