"""The story of `auditor check` and `scan`: collect, analyse device by device, join over links, store, and tell.

Reads like the picture in docs/architecture.md. Nothing here knows how outputs are made (live or from a capture), where a
job runs, or which database keeps the results.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Protocol

from auditor import __version__, evidence
from auditor.address import Address
from auditor.cabling.links import build_wiring
from auditor.checks import peers, rules
from auditor.collect import Collector
from auditor.evaluate import causes, expiry, findings, links
from auditor.evaluate import ends as link_ends
from auditor.evaluate.device import Judged, lines, selected
from auditor.evaluate.peers import Census
from auditor.model import (
    Baseline,
    Change,
    Coverage,
    Device,
    DeviceJob,
    DeviceOutcome,
    Document,
    Evidence,
    Fact,
    Finding,
    Link,
    LinkEnd,
    LinkVerdict,
    PlanSlice,
    Result,
    RuleKind,
    Run,
    Verdict,
)
from auditor.plan import groups as plan_groups
from auditor.platforms import platforms
from auditor.store import Store
from auditor.workflows.project import Project
from auditor.workflows.runner import run_jobs


class RawKeeper(Protocol):
    """What keeps raw bodies by digest during a run: the store, or a temporary raw store."""

    def put_raw(self, body: str) -> str:
        """Keep a body; returns its digest."""

    def get_raw(self, digest: str) -> str | None:
        """A kept body, or None."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to audit. `devices` are judged; `everything` collects all sources instead of those the rules read.

    `witnesses` are devices outside the scope at the far ends of its links, of which outputs are at hand: read for their
    ends, not judged, not stored.
    """

    devices: tuple[Device, ...]
    scope: str
    source: str
    only: tuple[str, ...] = ()
    everything: bool = False
    processes: int = 0
    whole_fleet: bool = False
    notes: tuple[str, ...] = ()
    witnesses: tuple[Device, ...] = ()


@dataclass(slots=True)
class _Gathered:
    """What the device jobs gave, before the links are judged."""

    outcomes: dict[str, DeviceOutcome] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    ends: dict[tuple[str, str], LinkEnd] = field(default_factory=dict)
    census: Census = field(default_factory=Census)


def audit(
    request: Request,
    project: Project,
    collector: Collector,
    store: Store | None,
    raw: RawKeeper,
    told: Callable[[str], None] = lambda _: None,
) -> Run:
    """Audit and return the finished run. Raises StoreError; a device, an answer or a rule never raises.

    `raw` keeps the bodies so that evidence can be cut from them; `told` is called with the name of each device done.
    """
    started = datetime.now(UTC)
    run_id = f"{started:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
    versions = {device.name: project.versions_for(device) for device in request.devices}
    documents = _documents(project, chain.from_iterable(versions.values()))
    if store is not None:
        store.begin_run(run_id, started, request.scope, __version__, request.source)
    gathered = _Gathered(census=Census({device.name: project.release_of(device) for device in project.devices.values()}))
    jobs = _jobs(request, project, collector, store, raw, versions)
    names = {device.name for device in request.devices}
    for everybody in _batches(run_jobs(jobs, request.processes)):
        batch = [outcome for outcome in everybody if outcome.device in names]
        gathered.ends.update({(end.device, end.port): end for outcome in everybody for end in outcome.ends})
        if store is not None:
            saved = store.save_outcomes(run_id, batch)
            gathered.changes.extend(change for outcome in batch for change in saved.get(outcome.device, ()))
        for outcome in batch:
            gathered.outcomes[outcome.device] = replace(outcome, row_sets=(), peers=())
            gathered.census.add(outcome)
            told(outcome.device)
    planned = _planned_links(request, project, store, gathered)
    judged_links = _judge_links(request, project, planned, gathered)
    facts = _facts(planned) if judged_links.findings else {}
    judged_links.findings = [_prove(finding, facts, raw.get_raw) for finding in judged_links.findings]
    together = _judge_peers(request, project, gathered, judged_links, raw.get_raw)
    return _finish(run_id, started, request, project, store, documents, gathered, planned, together)


BATCH = 16
"""Outcomes stored in one transaction: a killed run collects at most these again."""


def _batches(outcomes: Iterable[DeviceOutcome]) -> Iterator[list[DeviceOutcome]]:
    batch: list[DeviceOutcome] = []
    for outcome in outcomes:
        batch.append(outcome)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def wanted(request: Request, project: Project, baselines: Iterable[Sequence[Baseline]]) -> frozenset[str] | None:
    """The `table.column`s to collect: None (all) for a scan, else what the selected rules and cabling read."""
    if request.everything:
        return None
    reads = {"system.hardware_model", *plan_groups.READS}
    alike = _alike(request)
    for several in baselines:
        for line in lines(several):
            column = f"{line.at.table}.{line.at.column}" if line.at.column else f"{line.at.table}.*"
            if selected(line.id, request.only) or column in alike:
                reads.add(column)
    link_rules = False
    for rule in rules().values():
        if rule.kind is RuleKind.PEER:
            continue
        if selected(rule.id, request.only) or not alike.isdisjoint(rule.reads):
            reads.update(rule.reads, rule.optional)
            link_rules |= rule.kind is not RuleKind.DEVICE
    if link_rules and project.plan.links:
        reads.update(link_ends.ALWAYS)
        reads.update(f"neighbour.{name}" for name in ("system", "port_kind"))
    return frozenset(reads | alike)


def _alike(request: Request) -> frozenset[str]:
    """What the selected peer rules compare; nothing where there are too few devices. What judges one of these columns is
    collected for too, since peers are silent on it."""
    chosen = [rule for rule in rules().values() if rule.kind is RuleKind.PEER and selected(rule.id, request.only)]
    return frozenset(read for rule in chosen for read in rule.reads if len(request.devices) >= peers.LEAST)


def _jobs(
    request: Request,
    project: Project,
    collector: Collector,
    store: Store | None,
    raw: RawKeeper,
    versions: Mapping[str, Sequence[tuple[Baseline, ...]]],
) -> Iterator[DeviceJob]:
    """One job per device as its outputs arrive; bodies go to the raw store before anything else happens to them."""
    reads = wanted(request, project, chain.from_iterable(versions.values()))
    previous = {} if store is None else store.previous_digests_of([device.name for device in request.devices])
    slices = plan_groups.slices(project.plan, project.fabric, project.devices)
    fabric = replace(project.fabric, text="", document={})
    for collected in collector.collect((*request.devices, *request.witnesses), reads):
        for output in collected.outputs:
            raw.put_raw(output.body)
        device = collected.device
        judged = device.name in versions
        yield DeviceJob(
            device=device,
            outputs=collected.outputs,
            judged=judged,
            baselines=versions[device.name][0] if judged else (),
            alternatives=tuple(versions[device.name][1:]) if judged else (),
            plan=slices.get(device.name, PlanSlice()),
            fabric=fabric,
            previous=previous.get(device.name, {}),
            only=request.only,
            reads=reads,
            parsers=str(project.parsers or ""),
            gaps=collected.gaps,
        )


def _documents(project: Project, baselines: Iterable[Sequence[Baseline]]) -> tuple[Document, ...]:
    found: dict[str, Document] = {}
    for several in baselines:
        for baseline in several:
            found.update({document.digest: document for document in baseline.documents})
    return (*project.documents, *sorted(found.values(), key=lambda document: (document.profile, document.version)))


def _planned_links(request: Request, project: Project, store: Store | None, gathered: _Gathered) -> tuple[Link, ...]:
    """Links with an end in scope; the far ends of devices out of scope come from stored facts that are young enough."""
    names = {device.name for device in request.devices}
    near = tuple(link for link in project.plan.links if not names.isdisjoint((link.a.device, link.b.device)))
    far = sorted({end.device for link in near for end in (link.a, link.b)} - names)
    ends = dict(gathered.ends)
    if store is not None and far:
        seen = [outcome.collected_at for outcome in gathered.outcomes.values()]
        oldest = max(seen, default=datetime.now(UTC)) - project.settings.peer_max_age
        for end in store.link_ends(far, oldest):
            ends.setdefault((end.device, end.port), end)
    fabric_ports = [port for outcome in gathered.outcomes.values() for port in outcome.fabric_ports]
    return build_wiring(project.plan, ends, project.devices, fabric_ports, names).links


def _judge_links(request: Request, project: Project, planned: Sequence[Link], gathered: _Gathered) -> Judged:
    failed: dict[str, tuple[str, str]] = {}
    for outcome in gathered.outcomes.values():
        for finding in outcome.findings:
            for spot in finding.spots:
                failed[spot.cell] = finding.root
        for end in outcome.ends:
            for cell in end.failed:
                failed.setdefault(cell, ("port", f"{end.device}:interface[{end.interface or end.port}]"))
    names = frozenset(device.name for device in request.devices)
    return links.judge(planned, project.fabric, failed, names, request.only)


def _judge_peers(request: Request, project: Project, gathered: _Gathered, judged: Judged, raw: evidence.Raw) -> Judged:
    """What the links showed together with what the comparison of peers shows beside it."""
    told = [finding for outcome in gathered.outcomes.values() for finding in outcome.findings] + judged.findings
    census = gathered.census.judge(project.devices.values(), told, request.only)
    for finding in census.findings:
        found = []
        for spot in finding.spots[:3]:
            fact = gathered.census.fact(spot)
            at = gathered.outcomes[spot.device].collected_at
            if fact is not None:
                place = evidence.Place(spot, fact.value, fact.platform, fact.source, fact.digest, collected_at=at)
                found.append(evidence.find(place, platforms(), raw))
        judged.findings.append(replace(finding, evidence=tuple(filter(None, found))))
    judged.results.extend(census.results)
    return judged


Facts = Mapping[tuple[str, Address], tuple[LinkEnd, Fact]]


def _facts(planned: Sequence[Link]) -> Facts:
    """Every fact of every link end by device and address: what findings about links and hops rest on."""
    found: dict[tuple[str, Address], tuple[LinkEnd, Fact]] = {}
    for end in (end for link in planned for end in link.ends):
        for fact in (*end.facts.values(), *(cell.fact for hop in end.hops for cell in hop.cells)):
            found.setdefault((end.device, replace(fact.address, layer=fact.layer)), (end, fact))
    return found


def _prove(finding: Finding, facts: Facts, raw: evidence.Raw) -> Finding:
    """The finding with the lines that prove its cells; at most three."""
    found: list[Evidence] = []
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


def _finish(
    run_id: str,
    started: datetime,
    request: Request,
    project: Project,
    store: Store | None,
    documents: tuple[Document, ...],
    gathered: _Gathered,
    planned: Sequence[Link],
    judged_links: Judged,
) -> Run:
    finished = datetime.now(UTC)
    outcomes = [gathered.outcomes[name] for name in sorted(gathered.outcomes)]
    results = [result for outcome in outcomes for result in outcome.results] + judged_links.results
    found = [finding for outcome in outcomes for finding in outcome.findings] + judged_links.findings
    gaps = dict.fromkeys(gap for outcome in outcomes for gap in outcome.gaps)
    gaps.update(dict.fromkeys(judged_links.gaps))
    if selected(expiry.RULE, request.only):
        expired = expiry.judge(project.waivers, started.date(), found, gaps, every=request.whole_fleet)
        results, found = results + expired[0], found + expired[1]
    kinds = {name: (project.devices[name].role, outcome.hardware_model) for name, outcome in gathered.outcomes.items()}
    found = causes.question(found, results, kinds)
    found, _ = causes.gather(findings.waive(found, project.waivers, started.date()))
    resolved: tuple[Finding, ...] = ()
    unverified: tuple[Finding, ...] = ()
    if store is not None:
        report = store.finish_run(
            run_id,
            finished,
            results,
            found,
            None if request.whole_fleet else frozenset(device.name for device in request.devices),
            _rules_in_force(request, project),
            only=request.only,
            documents=documents,
            inventory=frozenset(project.devices),
            links=frozenset(link.name for link in project.plan.links),
        )
        found, resolved, unverified = list(report.findings), tuple(report.resolved), tuple(report.unverified)
    found, grouped = causes.gather(found)
    return Run(
        id=run_id,
        started_at=started,
        finished_at=finished,
        tool_version=__version__,
        scope=request.scope,
        source=request.source,
        inputs=documents,
        coverage=_coverage(request, outcomes, results, planned),
        results=tuple(results),
        findings=tuple(sorted(found, key=lambda item: (item.severity.rank, item.rule, item.object))),
        causes=tuple(grouped),
        gaps=tuple(gaps),
        changes=tuple(gathered.changes),
        resolved=resolved,
        unverified=unverified,
        waivers=project.waivers,
        stored=store is not None,
        notes=request.notes,
    )


def _rules_in_force(request: Request, project: Project) -> frozenset[str]:
    """Every function rule and every expectation line of the judged devices, evaluated or not."""
    found = {*rules(), expiry.RULE}
    for device in request.devices:
        found.update(line.id for version in project.versions_for(device) for line in lines(version))
    return frozenset(found)


def _coverage(
    request: Request, outcomes: Sequence[DeviceOutcome], results: Sequence[Result], planned: Sequence[Link]
) -> Coverage:
    partial = sum(outcome.reached and any(map(findings.counts_as_incomplete, outcome.gaps)) for outcome in outcomes)
    reached = sum(outcome.reached for outcome in outcomes)
    counts: Counter[str] = Counter()
    for result in results:
        if result.rule.startswith("collection."):
            continue  # mirrors of gaps: what could not be seen is told by itself
        counts["pass"] += len(result.passed)
        counts["fail"] += len(result.failed)
        counts["not_evaluated"] += len(result.unseen) - min(result.unsupported, len(result.unseen))
        counts["unsupported"] += result.unsupported
        counts["error"] += result.verdict is Verdict.ERROR
        counts["not_applicable"] += result.verdict is Verdict.NOT_APPLICABLE
    verdicts = Counter(link.verdict for link in planned)
    return Coverage(
        devices={
            "planned": len(request.devices),
            "reached": reached,
            "partial": partial,
            "unreachable": len(request.devices) - reached,
        },
        results={name: counts[name] for name in ("pass", "fail", "not_applicable", "not_evaluated", "error", "unsupported")},
        links={"planned": len(planned)} | {verdict.value: verdicts[verdict] for verdict in LinkVerdict},
    )


def exit_code(run: Run, fail_on: int, *, strict: bool = False) -> int:
    """0, 1 or 3 by the contract; `fail_on` is the rank of the mildest severity that fails."""
    if any(not cause.waived and cause.severity.rank <= fail_on for cause in run.causes):
        return 1
    crashed = any(result.verdict is Verdict.ERROR for result in run.results)
    today = run.started_at.date()
    open_gaps = [gap for gap in run.gaps if not findings.gap_waived(gap, run.waivers, today)]
    return 3 if crashed or any(findings.counts_as_incomplete(gap, strict=strict) for gap in open_gaps) else 0
