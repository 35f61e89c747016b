"""The story of `auditor check` and `scan`: collect, analyse device by device, join over links, store, and tell.

Reads like the picture in docs/architecture.md. Nothing here knows how outputs are made (live or from a capture), where a
job runs, or which database keeps the results.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Protocol

from auditor import __version__, evidence
from auditor.checks import peers, rules
from auditor.collect import Collector
from auditor.evaluate import causes, expiry, findings, remedies
from auditor.evaluate import ends as link_ends
from auditor.evaluate.device import Judged, lines, selected
from auditor.evaluate.peers import Census
from auditor.model import (
    Baseline,
    Coverage,
    DeviceJob,
    DeviceOutcome,
    Document,
    Finding,
    LinkVerdict,
    PlanSlice,
    Result,
    RuleKind,
    Run,
    Verdict,
    Wiring,
)
from auditor.plan import groups as plan_groups
from auditor.platforms import platforms
from auditor.store import Store
from auditor.workflows import wiring
from auditor.workflows.project import Project
from auditor.workflows.request import Gathered, Request
from auditor.workflows.runner import run_jobs


class RawKeeper(Protocol):
    """What keeps raw bodies by digest during a run: the store, or a temporary raw store."""

    def put_raw(self, body: str) -> str:
        """Keep a body; returns its digest."""

    def get_raw(self, digest: str) -> str | None:
        """A kept body, or None."""


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
    gathered = Gathered(census=Census({device.name: project.release_of(device) for device in project.devices.values()}))
    jobs = _jobs(request, project, collector, store, raw, versions)
    names = {device.name for device in request.devices}
    for everybody in _batches(run_jobs(jobs, request.processes)):
        batch = [outcome for outcome in everybody if outcome.device in names]
        gathered.witness(everybody)
        if store is not None:
            saved = store.save_outcomes(run_id, batch)
            gathered.changes.extend(change for outcome in batch for change in saved.get(outcome.device, ()))
        for outcome in batch:
            gathered.outcomes[outcome.device] = replace(outcome, row_sets=(), peers=())
            gathered.census.add(outcome)
            told(outcome.device)
    cables, notes = wiring.wire(request, project, store, gathered)
    judged_links = wiring.judge(request, project, cables, gathered, raw.get_raw)
    together = _judge_peers(request, project, gathered, judged_links, raw.get_raw)
    request = replace(request, notes=(*request.notes, *notes))
    return _finish(run_id, started, request, project, store, documents, gathered, cables, together)


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
        if rule.kind in (RuleKind.PEER, RuleKind.LOG):
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


def _judge_peers(request: Request, project: Project, gathered: Gathered, judged: Judged, raw: evidence.Raw) -> Judged:
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


def _finish(
    run_id: str,
    started: datetime,
    request: Request,
    project: Project,
    store: Store | None,
    documents: tuple[Document, ...],
    gathered: Gathered,
    cables: Wiring,
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
    said = wiring.told(request, project, cables)
    found, _ = causes.gather(findings.waive(found, project.waivers, started.date()), said)
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
    found, grouped = causes.gather(found, said)
    found = remedies.tell(found, {name: device.platforms for name, device in project.devices.items()})
    return Run(
        id=run_id,
        started_at=started,
        finished_at=finished,
        tool_version=__version__,
        scope=request.scope,
        source=request.source,
        inputs=documents,
        coverage=_coverage(request, outcomes, results, cables),
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
        wiring=cables,
    )


def _rules_in_force(request: Request, project: Project) -> frozenset[str]:
    """Every function rule and every expectation line of the judged devices, evaluated or not."""
    found = {*rules(), expiry.RULE}
    for device in request.devices:
        found.update(line.id for version in project.versions_for(device) for line in lines(version))
    return frozenset(found)


def _coverage(request: Request, outcomes: Sequence[DeviceOutcome], results: Sequence[Result], cables: Wiring) -> Coverage:
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
    verdicts = Counter(link.verdict for link in (*cables.links, *cables.unplanned))
    return Coverage(
        devices={
            "planned": len(request.devices),
            "reached": reached,
            "partial": partial,
            "unreachable": len(request.devices) - reached,
        },
        results={name: counts[name] for name in ("pass", "fail", "not_applicable", "not_evaluated", "error", "unsupported")},
        links={"planned": len(cables.links)} | {verdict.value: verdicts[verdict] for verdict in LinkVerdict},
    )


def exit_code(run: Run, fail_on: int, *, strict: bool = False) -> int:
    """0, 1 or 3 by the contract; `fail_on` is the rank of the mildest severity that fails."""
    if any(not cause.waived and cause.severity.rank <= fail_on for cause in run.causes):
        return 1
    crashed = any(result.verdict is Verdict.ERROR for result in run.results)
    today = run.started_at.date()
    open_gaps = [gap for gap in run.gaps if not findings.gap_waived(gap, run.waivers, today)]
    return 3 if crashed or any(findings.counts_as_incomplete(gap, strict=strict) for gap in open_gaps) else 0
