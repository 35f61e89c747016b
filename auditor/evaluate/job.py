"""The unit of work: one device's raw outputs to its outcome. Pure and picklable; a runner maps it anywhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from auditor import evidence
from auditor.address import Address
from auditor.checks import rules
from auditor.drift import row_set
from auditor.evaluate import attributes, device, ends, rollout, subnet
from auditor.facts import Row
from auditor.model import (
    DeviceJob,
    DeviceOutcome,
    Evidence,
    Finding,
    Gap,
    GapReason,
    PeerFact,
    RawOutput,
    Result,
    RowSet,
    RuleKind,
    SetKey,
    State,
    is_host,
)
from auditor.parse import parse_device
from auditor.plan import groups as plan_groups
from auditor.platforms import platforms


def run(job: DeviceJob) -> DeviceOutcome:
    """Parse, judge and digest one device. Raises nothing that a device's answer could cause."""
    started = time.process_time()
    parsers = Path(job.parsers) if job.parsers else None
    state = parse_device(job.device.name, job.outputs, platforms(), gaps=job.gaps, parsers=parsers, names=job.device.platforms)
    parsed = time.process_time()
    resolved = plan_groups.resolve_ports(job.plan, state)
    model = job.device.hardware_model or _model(state)
    judged = device.Judged()
    peers: tuple[PeerFact, ...] = ()
    if job.judged:
        subject = device.Subject(
            device=job.device.name,
            role=job.device.role,
            hardware_model=model,
            host=is_host(job.device.role),
            baselines=job.baselines,
            fabric=job.fabric,
            groups=plan_groups.groups(job.plan, state),
            only=job.only,
        )
        judged = rollout.judge_any(state, subject, job.alternatives)
        peers = _peers(job, state, subject, judged.results)
    sets = row_sets(state)
    evaluated = time.process_time()
    finder = Finder(state, job.outputs)
    collected = [gap for gap in state.gaps if gap.reason is not GapReason.UNSUPPORTED and _asked(gap, job.reads)]
    return DeviceOutcome(
        device=job.device.name,
        collected_at=state.collected_at,
        results=tuple(judged.results),
        findings=tuple(finder.prove(finding) for finding in judged.findings),
        row_sets=tuple(found for found in sets if job.previous.get(found.key) != found.digest),
        seen={found.key: found.digest for found in sets},
        ends=ends.emit(
            state,
            job.plan,
            resolved,
            job.device.role,
            judged.failed_cells,
            state.collected_at,
            job.fabric,
            host=is_host(job.device.role or ("host" if "linux" in job.device.platforms else "")),
        ),
        gaps=tuple(dict.fromkeys((*collected, *judged.gaps))),
        reached=bool(job.outputs) and not any(gap.table == "*" for gap in job.gaps),
        seconds={"parse": parsed - started, "evaluate": evaluated - parsed, "prove": time.process_time() - evaluated},
        hardware_model=model,
        peers=peers,
        fabric_ports=subnet.fabric_ports(state),
    )


def _peers(job: DeviceJob, state: State, subject: device.Subject, results: Sequence[Result]) -> tuple[PeerFact, ...]:
    """What the device says to its peers. Whatever some rule judges is left out, also one that `only` leaves out."""
    if not any(rule.kind is RuleKind.PEER and device.selected(rule.id, job.only) for rule in rules().values()):
        return ()
    if job.only:
        results = rollout.judge_any(state, replace(subject, only=()), job.alternatives).results
    baselines = (job.baselines, *job.alternatives)
    return attributes.emit(state, subject.role, subject.hardware_model, subject.groups, results, baselines)


def _asked(gap: Gap, reads: frozenset[str] | None) -> bool:
    """Whether a gap hides something that was asked for. A source fills more columns than a rule may want of it."""
    if reads is None or gap.table == "*":
        return True
    wanted = [read.partition(".")[2].partition("@")[0] for read in reads if read.partition(".")[0] == gap.table]
    return bool(wanted) and (not gap.columns or "*" in wanted or not set(wanted).isdisjoint(gap.columns))


def _model(state: State) -> str:
    cell = state.cell(Address("system", (), "hardware_model"))
    return cell.value if isinstance(cell.value, str) else ""


def row_sets(state: State) -> list[RowSet]:
    """One row set per table, layer and source that answered whole; what a gap touches is left out."""
    declared: dict[SetKey, tuple[type[Row], set[str], bool]] = {}
    for (row_type, layer, column), origins in state.origins.items():
        for origin in origins:
            key = SetKey(row_type.TABLE, layer, set_source(origin.platform, origin.source))
            _, columns, sound = declared.setdefault(key, (row_type, set(), True))
            columns.add(column)
            declared[key] = (row_type, columns, sound and (origin.whole or origin.scope is not None))
    out = []
    for key, (row_type, columns, sound) in sorted(declared.items()):
        if not sound or row_type.VOLATILE or _hidden(state, key, columns):
            continue
        scopes = [
            origin.scope
            for column in columns
            for origin in state.origins[row_type, key.layer, column]
            if set_source(origin.platform, origin.source) == key.source
        ]
        rows = [
            row
            for row in state.tables[row_type, key.layer].values()
            if any(scope is None or (row.key and row.key[0] in scope) for scope in scopes)
        ]
        out.append(row_set(key, row_type, sorted(columns), rows))
    return out


def set_source(platform: str, source: str) -> str:
    """The source under whose name rows are kept: a fallback counts as the one it stands in for."""
    known = platforms().get(platform)
    if known is None:
        return source
    return next((item.fallback_for or item.key for item in known.sources if item.key == source), source)


def _hidden(state: State, key: SetKey, columns: set[str]) -> bool:
    return any(
        gap.table in ("*", key.table)
        and gap.reason is not GapReason.UNSUPPORTED
        and gap.layer in (None, key.layer)
        and (not gap.columns or not columns.isdisjoint(gap.columns))
        for gap in state.gaps
    )


class Finder:
    """Finds the evidence of a device's findings in the outputs at hand."""

    def __init__(self, state: State, outputs: tuple[RawOutput, ...]) -> None:
        self.state = state
        self.bodies = {output.digest: output.body for output in outputs}
        self.times = {output.digest: output.collected_at for output in outputs}

    def prove(self, finding: Finding) -> Finding:
        """The finding with the lines that prove its cells; at most three."""
        found: list[Evidence] = []
        for spot in finding.spots[:3]:
            if spot.device != self.state.device or spot.address.column is None:
                continue
            cell = self.state.cell(spot.address)
            origin = cell.origin
            if origin is None:
                continue
            at = self.times.get(origin.digest)
            place = evidence.Place(spot, cell.value, origin.platform, origin.source, origin.digest, origin.command, at)
            line = evidence.find(place, platforms(), self.bodies.get)
            if line is not None and line not in found:
                found.append(line)
        return replace(finding, evidence=tuple(found))


def unreached(job: DeviceJob, reason: str) -> DeviceOutcome:
    """The outcome of a device whose job itself died twice: everything of it is a gap."""
    gap = Gap(job.device.name, "*", "", GapReason.UNPARSED, f"the analysis of its answers failed: {reason}")
    return DeviceOutcome(job.device.name, datetime.now(UTC), gaps=(gap,), reached=False)
