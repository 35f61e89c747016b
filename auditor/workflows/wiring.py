"""The cables of a run: the ends at hand, the verdict of the evidence, the causes of wrong ones, what rules say of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from auditor import evidence
from auditor.address import Address
from auditor.cabling.causes import find_causes
from auditor.cabling.links import build_wiring
from auditor.cabling.rails import RailSight, infer_plan
from auditor.cabling.words import WorkOrders, sentence
from auditor.canonical import natural
from auditor.checks import rules
from auditor.checks.cabling import UNPROVEN
from auditor.evaluate import cabling, links
from auditor.evaluate.causes import Told
from auditor.evaluate.device import Judged
from auditor.model import CableCause, CauseKind, Fact, Finding, LinkEnd, Place, Plan, RuleKind, Severity, Wiring, is_host
from auditor.plan.tiers import tiers
from auditor.platforms import platforms
from auditor.store import Store
from auditor.workflows.project import Project
from auditor.workflows.request import Gathered, Request


def wire(request: Request, project: Project, store: Store | None, gathered: Gathered) -> tuple[Wiring, tuple[str, ...]]:
    """Links with an end in scope, with verdicts and causes, and notes on what was left out.

    The far ends of devices out of scope come from stored facts that are young enough.
    """
    names = frozenset(device.name for device in request.devices)
    ends = dict(request.known) | gathered.ends
    plan, notes, unjudged = (project.plan, (), 0) if not request.rails else _by_rails(project, ends, gathered, names)
    far = sorted(
        {end.device for link in plan.links for end in (link.a, link.b) if not names.isdisjoint((link.a.device, link.b.device))}
        - names
        - {device for device, _ in ends}
    )
    if store is not None and far:
        seen = [outcome.collected_at for outcome in gathered.outcomes.values()]
        oldest = max(seen, default=datetime.now(UTC)) - project.settings.peer_max_age
        for end in store.link_ends(far, oldest):
            ends.setdefault((end.device, end.port), end)
    found = build_wiring(plan, ends, project.devices, gathered.fabric_ports, names)
    causes = find_causes(found, plan, project.fabric, project.devices, names)
    return replace(found, causes=causes, unjudged=unjudged), notes


def _by_rails(
    project: Project, ends: Mapping[Place, LinkEnd], gathered: Gathered, names: Container[str]
) -> tuple[Plan, tuple[str, ...], int]:
    """The plan that the rail rule gives, from what RDMA ports of hosts see; notes, and how many ports it does not judge."""
    blank = build_wiring(Plan(), ends, project.devices, gathered.fabric_ports)
    sights = []
    for place, far in blank.observed.items():
        end = blank.ends.get(place)
        if end is not None and _is_railed(end) and not is_host(_role(project, far[0])):
            model = project.devices[place[0]].hardware_model if place[0] in project.devices else ""
            sights.append(RailSight(place[0], model or gathered.models.get(place[0], ""), _slot(end), place[1], far))
    found = infer_plan(sights)
    hosts = [(place, end) for place, end in sorted(blank.ends.items()) if end.device in names and _is_railed(end)]
    mute = [f"{end.device} {end.interface or end.port}" for place, end in hosts if place not in blank.observed]
    if not mute:
        return found.plan, found.notes, found.left
    more = f" and {len(mute) - 8} more" if len(mute) > 8 else ""
    note = f"not judged, since nobody says where they lead: {', '.join(mute[:8])}{more}"
    return found.plan, (*found.notes, note), found.left + len(mute)


def _is_railed(end: LinkEnd) -> bool:
    """Whether the rail rule speaks of an end: an RDMA port of a host."""
    return is_host(end.role) and _is_rdma(end)


def _role(project: Project, device: str) -> str:
    return project.devices[device].role if device in project.devices else ""


def _is_rdma(end: LinkEnd) -> bool:
    return any(word.rpartition("/")[2].isdigit() and "/" in word for word in end.identities)


def _slot(end: LinkEnd) -> str:
    """What names the same slot in every host of one model: the PCI address, else the port's own name."""
    return next((word for word in end.identities if word.count(":") == 2 and "." in word), end.interface or end.port)


def judge(request: Request, project: Project, cables: Wiring, gathered: Gathered, raw: evidence.Raw) -> Judged:
    """What link rules say of the two ends of cables that lead where they should, and cable rules of all of them."""
    failed: dict[str, tuple[str, str]] = {}
    for outcome in gathered.outcomes.values():
        for finding in outcome.findings:
            for spot in finding.spots:
                failed[spot.cell] = finding.root
        for end in outcome.ends:
            for cell in end.failed:
                failed.setdefault(cell, ("port", f"{end.device}:interface[{end.interface or end.port}]"))
    names = frozenset(device.name for device in request.devices)
    shape = {} if request.rails else tiers(project.plan, project.devices)
    judged = links.judge(
        cables.links, project.fabric, failed, names, request.only, _params(request, project), shape, cables.unplanned
    )
    cabled = cabling.judge(cables, project.fabric, names, request.only, gathered.heard)
    judged.findings.extend(cabled.findings)
    judged.results.extend(cabled.results)
    facts = _facts(cables.ends.values()) if judged.findings else {}
    judged.findings = [_prove(finding, facts, raw) for finding in judged.findings]
    return judged


def _params(request: Request, project: Project) -> dict[str, object]:
    """Params of link rules: the lines that the baselines of the judged devices hold, together. A link has two ends, and either
    end's baseline may speak of it."""
    several = (baseline for device in request.devices for baseline in project.baselines_for(device))
    baselines = {(baseline.profile, baseline.version, baseline.digest): baseline for baseline in several}
    found: dict[str, object] = {}
    for rule in (rule for rule in rules().values() if rule.kind is RuleKind.LINK and rule.params_type is not None):
        lines: list[object] = []
        for _, baseline in sorted(baselines.items()):
            lines += [line for line in baseline.params.get(rule.id, ()) if line not in lines]
        if lines:
            found[rule.id] = lines
    return found


def told(request: Request, project: Project, cables: Wiring) -> Mapping[str, Told]:
    """Title, kind and work order of every cabling cause, by its key."""
    orders = WorkOrders(project.plan, project.devices, request.lang)
    causes = [*cables.causes, *_unproven(cables)]
    return {cause.key: Told(sentence(cause, request.lang), cause.kind.value, orders.steps(cause)) for cause in causes}


def _unproven(cables: Wiring) -> Iterator[CableCause]:
    """The links of which nobody says where they lead, as one cause."""
    links = [link for link in cables.links if link.verdict in UNPROVEN]
    if links:
        first, kind = links[0], CauseKind.NOT_PROVEN
        a, b = (f"{end.device} {end.port}" for end in first.ends)
        devices = sorted({end.device for link in links for end in link.ends}, key=natural)
        params = {"links": str(len(links)), "devices": "\n".join(devices), "reason": first.reason, "near_1": a, "far_1": b}
        if len(links) == 1:
            params["form"] = "not_proven.one"
        yield CableCause(kind.value, kind, Severity.INFORMATION, tuple(link.name for link in links), params)


Facts = Mapping[tuple[str, Address], tuple[LinkEnd, Fact]]


def _facts(ends: Iterable[LinkEnd]) -> Facts:
    """Every fact of every link end by device and address: what findings about links and hops rest on."""
    found: dict[tuple[str, Address], tuple[LinkEnd, Fact]] = {}
    for end in ends:
        seen = (neighbour.fact for neighbour in end.neighbours if neighbour.fact is not None)
        for fact in (*end.facts.values(), *(cell.fact for hop in end.hops for cell in hop.cells), *seen, *end.gpus):
            found.setdefault((fact.device or end.device, replace(fact.address, layer=fact.layer)), (end, fact))
    return found


def _prove(finding: Finding, facts: Facts, raw: evidence.Raw) -> Finding:
    """The finding with the lines that prove its cells; at most three."""
    found = []
    for spot in finding.spots[:3]:
        if (spot.device, spot.address) not in facts:
            continue
        end, fact = facts[spot.device, spot.address]
        place = evidence.Place(
            spot, fact.value, fact.platform, fact.source, fact.digest, fact.command, end.collected_at or end.stale_of
        )
        line = evidence.find(place, platforms(), raw)
        if line is not None and line not in found:
            found.append(line)
    return replace(finding, evidence=tuple(found))
