"""The story of `auditor topology`: the plan, with what the last looks left in the store, as a picture of the fabric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from auditor.cabling.links import build_wiring
from auditor.canonical import natural
from auditor.errors import SetupError
from auditor.evaluate import causes, stored, subnet
from auditor.facts import IbNode
from auditor.model import Device, FabricPort, Finding, Link, LinkVerdict, Place, Severity, Wiring
from auditor.plan.tiers import hosts, shapes
from auditor.report.fabric_map import Cell, Edge, FabricMap, Grid, Head, Shade, worst
from auditor.report.outline import Case
from auditor.store import Store
from auditor.workflows.project import Project, load_project, open_project_store

EVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Stored facts are shown whatever their age; the picture says over which time they were collected."""

SHADES = {
    LinkVerdict.PROVEN: Shade.FINE, LinkVerdict.PROVEN_ONE_END: Shade.PARTLY, LinkVerdict.LINK_ONLY: Shade.PARTLY,
    LinkVerdict.WRONG: Shade.FAULT, LinkVerdict.MISSING: Shade.FAULT, LinkVerdict.DEGRADED: Shade.FAULT,
    LinkVerdict.NOT_YET: Shade.NOT_YET, LinkVerdict.UNKNOWN: Shade.UNKNOWN, LinkVerdict.UNPLANNED: Shade.WARNING,
}  # fmt: skip


@dataclass(slots=True)
class _Marks:
    """What open findings say of links, ports and devices, as the worst shade and words."""

    links: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    ports: dict[Place, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    devices: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))

    def of_link(self, link: Link) -> list[Finding]:
        """What is said of a cable: of the link, or of a port at either end."""
        said = list(self.links.get(link.name, ()))
        for end in link.ends:
            for port in dict.fromkeys((end.port, end.interface or end.port)):
                said += self.ports.get((end.device, port), ())
        return list(dict.fromkeys(said))


def draw(folder: str, pods: Sequence[str] = (), racks: Sequence[str] = ()) -> FabricMap:
    """The fabric as last seen, or the part of it that the hosts and switches of some pods or racks have cables in.

    Raises SetupError without a plan, and for a pod or rack that the inventory does not have.
    """
    project = load_project(folder)
    if not project.plan.links:
        raise SetupError("there is no wiring plan to draw; `auditor plan --help` says how to make or import one")
    chosen = _chosen(project, pods, racks)
    with closing(open_project_store(project.settings)) as store:
        wiring, times = _wiring(project, store)
        findings, told = causes.gather([item for item in store.findings() if item.severity is not Severity.INFORMATION])
    links = [link for link in wiring.links if chosen is None or any(end.device in chosen for end in link.ends)]
    strays = [link for link in wiring.unplanned if chosen is None or any(end.device in chosen for end in link.ends)]
    drawn = {end.device for link in (*links, *strays) for end in link.ends}
    endpoints = hosts(project.plan, project.devices)
    tiers = _tiers(project, endpoints)
    marks = _marks(findings, links)
    by_fingerprint = {finding.fingerprint: finding for finding in findings}
    cases = [Case(cause, tuple(by_fingerprint[member] for member in cause.members)) for cause in told if not cause.waived]
    return FabricMap(
        title=" ".join(filter(None, (project.plan.name or "fabric", *pods, *racks))),
        seen=_seen(times, drawn),
        grids=tuple(_grids(links, tiers, marks, project.devices)),
        edges=tuple(_edges(links, strays, marks)),
        tiers={name: tiers.get(name, 0 if name in endpoints else 1) for name in sorted(drawn)},
        strays=tuple(f"{link.name.replace('|', ' to ')}: {link.reason}" for link in strays),
        causes=tuple(case for case in cases if chosen is None or not drawn.isdisjoint(case.devices)),
        notes=tuple(_notes(links)),
    )


def _chosen(project: Project, pods: Sequence[str], racks: Sequence[str]) -> frozenset[str] | None:
    if not pods and not racks:
        return None
    for what, words, known in (
        ("pod", pods, {device.pod for device in project.devices.values()}),
        ("rack", racks, {device.rack for device in project.devices.values()}),
    ):
        for word in words:
            if word not in known:
                some = ", ".join(sorted(filter(None, known), key=natural)[:8])
                raise SetupError(f"the inventory has no {what} {word!r}; there are {some or 'none'}")
    return frozenset(name for name, device in project.devices.items() if device.pod in pods or device.rack in racks)


def _wiring(project: Project, store: Store) -> tuple[Wiring, Mapping[str, datetime]]:
    """The cables by what the store holds, and when each device was last looked at."""
    names = {end.device for link in project.plan.links for end in (link.a, link.b)} | project.devices.keys()
    ends = {(end.device, end.port): end for end in store.link_ends(sorted(names), EVER)}
    times: dict[str, datetime] = {}
    ports: list[FabricPort] = []
    for device, at, sets in store.last_states():
        times[device] = at
        if device in project.devices and any(found.key.table == IbNode.TABLE for found in sets):
            ports.extend(subnet.fabric_ports(stored.state(project.devices[device], at, sets)))
    return build_wiring(project.plan, ends, project.devices, ports), times


def _tiers(project: Project, endpoints: frozenset[str]) -> dict[str, int]:
    """The tier of every device, 0 for hosts; the lowest where planes disagree."""
    found = dict.fromkeys(endpoints, 0)
    for shape in shapes(project.plan, endpoints, project.devices):
        for name, load in shape.loads.items():
            found[name] = min(found.get(name, load.tier), load.tier)
    return found


def _marks(findings: Iterable[Finding], links: Iterable[Link]) -> _Marks:
    marks = _Marks()
    planned = {(end.device, port) for link in links for end in link.ends for port in (end.port, end.interface or end.port)}
    for finding in findings:
        if finding.waiver is not None:
            continue
        if finding.object.startswith("link["):
            marks.links[finding.object.removeprefix("link[").removesuffix("]")].append(finding)
            continue
        places = {(spot.device, spot.address.key[0]) for spot in finding.spots if spot.address.key} & planned
        for place in places:
            marks.ports[place].append(finding)
        if not places:
            for device in finding.devices:
                marks.devices[device].append(finding)
    return marks


def _shade(findings: Iterable[Finding]) -> Shade:
    serious = (Severity.CRITICAL, Severity.ERROR)
    return worst(Shade.FAULT if finding.severity in serious else Shade.WARNING for finding in findings)


def _grids(links: Iterable[Link], tiers: Mapping[str, int], marks: _Marks, devices: Mapping[str, Device]) -> Iterator[Grid]:
    """A grid per plane and pair of tiers, the hosts' first."""
    parts: dict[tuple[str, int], dict[tuple[str, str, str], list[Link]]] = defaultdict(lambda: defaultdict(list))
    for link in links:
        assert link.plan is not None
        low, high = sorted(link.ends, key=lambda end: tiers.get(end.device, 1))
        rail = link.plan.rail if tiers.get(low.device, 1) == 0 else ""
        parts[link.plan.plane, tiers.get(low.device, 1)][low.device, high.device, rail].append(link)
    for (plane, tier), cables in sorted(parts.items()):
        columns = sorted({low for low, _, _ in cables}, key=lambda name: (natural(_rack(devices, name)), natural(name)))
        rows = sorted({(rail, high) for _, high, rail in cables}, key=lambda row: (natural(row[0]), natural(row[1])))
        at_column, at_row = ({name: at for at, name in enumerate(names)} for names in (columns, rows))
        cells = {(at_column[low], at_row[rail, high]): _cell(some, marks) for (low, high, rail), some in cables.items()}
        yield Grid(
            f"{plane or 'no plane'}: {'hosts' if tier == 0 else f'tier {tier}'} below, tier {tier + 1} beside",
            tuple(_head(name, _rack(devices, name), marks) for name in columns),
            tuple(_head(name, f"rail {rail}" if rail else "", marks) for rail, name in rows),
            cells,
        )


def _rack(devices: Mapping[str, Device], name: str) -> str:
    return devices[name].rack if name in devices else ""


def _head(name: str, group: str, marks: _Marks) -> Head:
    said = marks.devices.get(name, [])
    return Head(name, group, _shade(said), "; ".join([name, *(f"{finding.rule}: {finding.message}" for finding in said[:6])]))


def _cell(links: Sequence[Link], marks: _Marks) -> Cell:
    shades, words = [], []
    for link in links:
        said = marks.of_link(link)
        shades.append(worst((SHADES[link.verdict], _shade(said))))
        told = [f"{finding.rule}: {finding.message}" for finding in said[:4]]
        why = [link.reason] if link.reason and link.verdict is not LinkVerdict.PROVEN else []
        words.append(": ".join((link.name.replace("|", " to "), "; ".join([link.verdict.replace("_", " "), *why, *told]))))
    return Cell(worst(shades), len(links), tuple(words))


def _edges(links: Iterable[Link], strays: Iterable[Link], marks: _Marks) -> Iterator[Edge]:
    for link in (*links, *strays):
        shade = worst((SHADES[link.verdict], _shade(marks.of_link(link))))
        yield Edge(link.a.device, link.a.port, link.b.device, link.b.port, shade, link.plan is not None)


def _seen(times: Mapping[str, datetime], drawn: Iterable[str]) -> str:
    known = sorted(times[name] for name in drawn if name in times)
    never = len([name for name in drawn if name not in times])
    words = f"; {never} devices were never looked at" if never else ""
    if not known:
        return "nothing was ever looked at: this is the plan alone"
    return f"as seen between {known[0]:%Y-%m-%d %H:%M}Z and {known[-1]:%Y-%m-%d %H:%M}Z{words}"


def _notes(links: Sequence[Link]) -> Iterator[str]:
    unknown = sum(link.verdict is LinkVerdict.UNKNOWN for link in links)
    if unknown:
        yield f"{unknown} of {len(links)} cables are unknown: no evidence of either end; nothing is said about them"
