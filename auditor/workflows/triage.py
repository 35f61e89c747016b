"""The story of `auditor explain SYMPTOM`: from what a person sees at night to the open causes that explain it.

Nothing is collected and nothing is judged anew. The table of symptoms (`data/symptoms.yaml`) says which rules to look at,
likeliest first; the store says what these rules found, what they could not see, and what changed on the way of the hosts named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from auditor import yamldoc
from auditor.canonical import printable
from auditor.checks import rules
from auditor.errors import ExitCode, SetupError
from auditor.evaluate import causes, remedies
from auditor.model import Cause, Finding, Rule, RuleKind, Severity, Verdict
from auditor.plan.paths import devices_between
from auditor.plan.tiers import hosts as hosts_of
from auditor.settings import suggest
from auditor.store import ListedChange, Store
from auditor.workflows import nccl
from auditor.workflows.project import Project, load_project, open_project_store

RECENT = timedelta(days=7)
"""How far back changes are shown: most faults are told of within days of what caused them."""

SCHEMA = "auditor.explain.symptom/1"
_SERIOUS = (Severity.CRITICAL, Severity.ERROR)


class Look(BaseModel):
    """One thing to look for: rules, as globs that also fit lines of baselines, and why they explain the symptom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: tuple[str, ...] = Field(min_length=1)
    why: str

    def fits(self, rule: str) -> bool:
        """Whether a finding of this rule is what is looked for."""
        return any(fnmatchcase(rule, pattern) for pattern in self.rules)


class Symptom(BaseModel):
    """What a person sees, and where to look for its cause, likeliest first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    looks: tuple[Look, ...] = Field(min_length=1)

    def rank(self, rule: str) -> int | None:
        """The place of the first look that a rule fits; None where none does."""
        return next((at for at, look in enumerate(self.looks) if look.fits(rule)), None)


@cache
def symptoms() -> Mapping[str, Symptom]:
    """Every symptom by name, in the order of the table."""
    name = "symptoms.yaml"
    text = resources.files("auditor").joinpath("data", name).read_text("utf-8")
    return MappingProxyType({key: Symptom.model_validate(value) for key, value in yamldoc.parse(text, name).data.items()})


@dataclass(frozen=True, slots=True)
class Suspect:
    """An open cause that may explain the symptom: its findings, the look that led to it, and whether it lies on the way."""

    cause: Cause
    findings: tuple[Finding, ...]
    look: Look
    on_way: bool


@dataclass(frozen=True, slots=True)
class Blind:
    """Rules of a look that could not be judged: how many objects each, with the first reason given."""

    rule: str
    places: int
    reason: str


@dataclass(frozen=True, slots=True)
class Triage:
    """What the store says to a symptom. `way`: the devices that the traffic of `hosts` crosses, None for the whole fabric.

    `beside`: open causes that no look leads to. `clear`: rules of the looks that found nothing and saw all they asked for.
    `ask_log`: rules of the looks that only the log of a job answers, where none was given.
    """

    name: str
    symptom: Symptom
    hosts: tuple[str, ...]
    way: frozenset[str] | None
    suspects: tuple[Suspect, ...]
    beside: int
    changes: tuple[ListedChange, ...]
    blind: tuple[Blind, ...]
    clear: tuple[str, ...]
    ask_log: tuple[str, ...]
    last_run: datetime | None
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """1 with a cause on the way that explains it, 3 when none was found and not all was seen, else 0."""
        if any(suspect.on_way and not suspect.cause.waived for suspect in self.suspects):
            return ExitCode.CAUSES
        return ExitCode.INCOMPLETE if self.blind or self.last_run is None else ExitCode.CLEAN


def triage(folder: str, name: str, devices: Sequence[str] = (), logs: Sequence[str] = (), now: datetime | None = None) -> Triage:
    """What explains a symptom, most likely first. `devices`: names or globs of hosts (or switches); `logs`: the logs of a job,
    whose hosts count as named. Raises SetupError for a symptom, a device or a log that is none."""
    table = symptoms()
    if name not in table:
        raise SetupError(f"there is no symptom {name!r}{suggest(name, list(table))}")
    project = load_project(folder)
    notes: list[str] = []
    named = _named(project, devices, logs, notes)
    told = nccl.check(logs, project.plan.file or None).run.findings if logs else ()
    with closing(open_project_store(project.settings, create=False)) as store:
        return _triage(name, table[name], project, store, named, told if logs else None, notes, now or datetime.now(UTC))


def _named(project: Project, devices: Sequence[str], logs: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """The devices that were named, of the inventory; what a log calls by another name goes by its first label."""
    found = [device.name for device in project.inventory.select(devices=devices)] if devices else []
    if logs:
        known = {label: name for name in project.devices for label in (name.partition(".")[0].lower(), name.lower())}
        strange = []
        for host in nccl.read(logs).hosts:
            name = known.get(host.lower()) or known.get(host.partition(".")[0].lower())
            if name is None:
                strange.append(host)
            else:
                found.append(name)
        if strange:
            more = f" and {len(strange) - 4} more" if len(strange) > 4 else ""
            notes.append(f"hosts of the log that the inventory does not have: {printable(', '.join(strange[:4]), 200)}{more}")
        if not found:
            raise SetupError("the inventory has none of the hosts of this log")
    return tuple(dict.fromkeys(found))


def _triage(
    name: str,
    symptom: Symptom,
    project: Project,
    store: Store,
    named: tuple[str, ...],
    logged: Iterable[Finding] | None,
    notes: list[str],
    now: datetime,
) -> Triage:
    """`logged`: what the log of the job shows, None where no log was given."""
    way = _way(project, named) if named else None
    if named and way == frozenset(named):
        notes.append("the plan has no link of these devices, so nothing is known of their way")
    finished = [run for run in store.runs() if run.status == "finished"]
    findings, told = causes.gather([*store.findings(), *(logged or ())])
    findings = remedies.tell(findings, {device: item.platforms for device, item in project.devices.items()})
    of_job = {finding.fingerprint for finding in logged or ()}
    suspects, beside = _suspects(symptom, findings, told, way, of_job)
    ask_log = () if logged is not None else tuple(sorted(rule.id for rule in rules().values() if _by_log(rule, symptom)))
    blind, clear = _seen(symptom, store, way, now, {finding.rule for finding in findings})
    return Triage(
        name, symptom, named, way, suspects, beside, _changes(store, way, now), blind, clear, ask_log,
        max((run.finished_at or run.started_at for run in finished), default=None), tuple(notes),
    )  # fmt: skip


def _way(project: Project, named: tuple[str, ...]) -> frozenset[str]:
    endpoints = hosts_of(project.plan, project.devices)
    return devices_between(project.plan, (name for name in named if name in endpoints), endpoints) | frozenset(named)


def _suspects(
    symptom: Symptom, findings: Iterable[Finding], told: Iterable[Cause], way: frozenset[str] | None, of_job: set[str]
) -> tuple[tuple[Suspect, ...], int]:
    by_fingerprint = {finding.fingerprint: finding for finding in findings}
    ranked, beside = [], 0
    for cause in told:
        members = [by_fingerprint[member] for member in cause.members]
        ranks = [(rank, at) for at, member in enumerate(members) if (rank := symptom.rank(member.rule)) is not None]
        if not ranks:
            beside += 1
            continue
        rank = min(ranks)[0]
        on_way = way is None or any(
            member.fingerprint in of_job or (member.devices and way.issuperset(member.devices)) for member in members
        )
        order = (not on_way, cause.waived, cause.severity not in _SERIOUS, rank, cause.severity.rank, _age(members))
        ranked.append((order, Suspect(cause, tuple(members), symptom.looks[rank], on_way)))
    ranked.sort(key=lambda item: (*item[0], item[1].cause.root))
    return tuple(suspect for _, suspect in ranked), beside


def _by_log(rule: Rule, symptom: Symptom) -> bool:
    return rule.kind is RuleKind.LOG and symptom.rank(rule.id) is not None


def _age(members: Iterable[Finding]) -> float:
    """Sorts causes that appeared last first."""
    return -max((datetime.fromisoformat(item.first_seen).timestamp() for item in members if item.first_seen), default=0.0)


def _seen(
    symptom: Symptom, store: Store, way: frozenset[str] | None, now: datetime, failing: set[str]
) -> tuple[tuple[Blind, ...], tuple[str, ...]]:
    """What the rules of the looks could not judge on the way, and which of them are clear."""
    unseen: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    passed: set[str] = set()
    for result in store.standing(now):
        if symptom.rank(result.rule) is None or (way is not None and not way.issuperset(result.devices or (result.scope,))):
            continue
        if result.verdict is Verdict.PASS:
            passed.add(result.rule)
        places = max(len(result.unseen), 1) if result.verdict in (Verdict.NOT_EVALUATED, Verdict.ERROR) else len(result.unseen)
        if places > result.unsupported:
            unseen[result.rule] += places - result.unsupported
            reasons.setdefault(result.rule, result.reason)
    blind = tuple(Blind(rule, unseen[rule], reasons.get(rule, "")) for rule in sorted(unseen))
    return blind, tuple(sorted(passed - unseen.keys() - failing))


def _changes(store: Store, way: frozenset[str] | None, now: datetime) -> tuple[ListedChange, ...]:
    """What changed lately on the way and is neither reverted nor accepted, newest first."""
    found = [item for item in store.changes(way) if now - item.first_seen <= RECENT]
    return tuple(sorted(found, key=lambda item: (-item.first_seen.timestamp(), item.change.device, item.change.address)))


def as_plain(done: Triage) -> dict[str, Any]:
    """The explanation as a document of JSON types."""
    return {
        "schema": SCHEMA,
        "symptom": done.name,
        "title": done.symptom.title,
        "hosts": list(done.hosts),
        "way": None if done.way is None else sorted(done.way),
        "last_run": None if done.last_run is None else done.last_run.isoformat(),
        "suspects": [_plain(suspect) for suspect in done.suspects],
        "other_causes": done.beside,
        "changes": [
            {
                "device": item.change.device, "address": item.change.address, "layer": item.change.layer,
                "before": item.change.before, "after": item.change.after, "first_seen": item.first_seen.isoformat(),
            }
            for item in done.changes
        ],
        "not_judged": [{"rule": item.rule, "places": item.places, "reason": item.reason} for item in done.blind],
        "clear": list(done.clear),
        "only_a_log_tells": list(done.ask_log),
        "notes": list(done.notes),
    }  # fmt: skip


def _plain(suspect: Suspect) -> dict[str, Any]:
    return {
        "cause": suspect.cause.id,
        "title": suspect.cause.title,
        "severity": suspect.cause.severity,
        "status": suspect.cause.status,
        "waived": suspect.cause.waived,
        "on_the_way": suspect.on_way,
        "why": suspect.look.why,
        "findings": [
            {
                "fingerprint": item.fingerprint, "rule": item.rule, "object": item.object, "message": item.message,
                "remedy": item.remedy,
                "commands": [line for remedy in item.commands for line in remedy.lines], "first_seen": item.first_seen,
                "evidence": [
                    {"device": line.device, "command": line.command, "locator": line.locator, "excerpt": line.excerpt}
                    for line in item.evidence
                ],
            }
            for item in suspect.findings
        ],
    }  # fmt: skip
