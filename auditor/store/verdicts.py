"""Results and findings: what `finish_run` writes, and reading findings back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, update

from auditor.model import Document, Finding, Result, Verdict
from auditor.store import FinishReport, schema
from auditor.store.codec import Codec
from auditor.store.intervals import Look, Timeline, chunks, missing
from auditor.store.lifecycle import UNRESOLVED, Examination, Life, Record, meet, part
from auditor.store.raw import pack, unpack
from auditor.store.schema import table_of, utc
from auditor.store.states import RUN_DEVICES

RESULTS = Timeline(table_of(schema.ResultInterval), ("scope", "rule"))
RESULT_CONTENTS = table_of(schema.ResultContent)
FINDINGS = table_of(schema.Finding)
EVENTS = table_of(schema.FindingEvent)
REFERENCES = table_of(schema.RawReference)
INPUTS = table_of(schema.Input)
RUN_INPUTS = table_of(schema.RunInput)

_CODEC: Codec[Finding] = Codec(Finding)


class RunTimes:
    """When the devices of a run were looked at, and of which the store holds something newer."""

    def __init__(self, connection: Connection, run_id: str, finished_at: datetime) -> None:
        rows = connection.execute(select(RUN_DEVICES).where(RUN_DEVICES.c.run_id == run_id)).all()
        self.times: dict[str, datetime] = {row.device: row.collected_at for row in rows}
        self.reached = frozenset(row.device for row in rows if row.reached)
        self.stale = frozenset(row.device for row in rows if not row.current)
        self.finished_at = utc(finished_at)

    def of(self, devices: Iterable[str]) -> datetime:
        """The time of the evidence: the newest look at any of the devices, else the end of the run."""
        return max((self.times[device] for device in devices if device in self.times), default=self.finished_at)


def keep_documents(connection: Connection, run_id: str, documents: Iterable[Document]) -> None:
    """Note the inputs of a run, each text once."""
    given = {document.digest: document for document in documents}
    new = [{"digest": digest, "body": pack(given[digest].text)} for digest in missing(connection, INPUTS, given)]
    used = {(document.kind, document.name, document.digest): document for document in given.values()}
    if new:
        connection.execute(insert(INPUTS), new)
    if used:
        names = ("kind", "name", "digest", "file", "profile", "version")
        rows = [{"run_id": run_id} | {name: getattr(document, name) for name in names} for document in used.values()]
        connection.execute(insert(RUN_INPUTS), rows)


def keep_results(connection: Connection, results: Iterable[Result], times: RunTimes) -> None:
    """Note what rules said, where it differs from what they said before."""
    said: dict[tuple[str, ...], Look] = {}
    contents: dict[str, Said] = {}
    for result in results:
        content = _content(result)
        digest = sha256(repr(content).encode("utf-8", "backslashreplace")).hexdigest()
        contents[digest] = content
        devices = result.devices or (result.scope,)
        said[result.scope, result.rule] = Look(
            (result.scope, result.rule), digest, times.of(devices), times.stale.isdisjoint(devices)
        )
    new = [
        {"digest": digest, "body": pack(json.dumps(contents[digest]))}
        for digest in missing(connection, RESULT_CONTENTS, contents)
    ]
    if new:
        connection.execute(insert(RESULT_CONTENTS), new)
    RESULTS.advance(connection, said.values(), RESULTS.heads(connection, "scope", (scope for scope, _ in said)))


Said = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], int, tuple[str, ...], str, tuple[str, ...]]
_SCOPE = "~"
"""Stands for the scope at the start of a name, so that what a rule says of a thousand devices alike is one content."""


def _content(result: Result) -> Said:
    scope, length = result.scope, len(result.scope)

    def short(names: tuple[str, ...]) -> tuple[str, ...]:
        return names and tuple([_SCOPE + name[length:] if name.startswith(scope) else name for name in names])

    return (
        str(result.verdict), short(result.passed), short(result.failed), short(result.unseen), result.unsupported,
        result.whole, result.reason, short(result.devices),
    )  # fmt: skip


def read_results(connection: Connection, scope: str, at: datetime) -> list[Result]:
    """What rules said in a scope at a time, by rule."""
    digests = RESULTS.at(connection, "scope", scope, utc(at))
    out = []
    for (_, rule), digest in sorted(digests.items()):
        body = connection.scalar(select(RESULT_CONTENTS.c.body).where(RESULT_CONTENTS.c.digest == digest))
        verdict, passed, failed, unseen, unsupported, whole, reason, devices = json.loads(unpack(body or b""))
        passed, failed, unseen, devices = (_long(scope, names) for names in (passed, failed, unseen, devices))
        out.append(Result(rule, scope, Verdict(verdict), passed, failed, unseen, unsupported, tuple(whole), reason, devices))
    return out


def read_standing(connection: Connection, at: datetime) -> Iterator[Result]:
    """What rules said in all scopes at a time. What many scopes say alike is one content, read once."""
    c = RESULTS.table.c
    moment = utc(at)
    ended = c.to_at.is_(None) | (c.to_at > moment)
    rows = connection.execute(select(c.scope, c.rule, c.digest).where(c.from_at <= moment, ended)).all()
    bodies: dict[str, Said] = {}
    for some in chunks({digest for _, _, digest in rows}):
        query = select(RESULT_CONTENTS).where(RESULT_CONTENTS.c.digest.in_(some))
        bodies.update({digest: json.loads(unpack(body)) for digest, body in connection.execute(query)})
    for scope, rule, digest in rows:
        verdict, _, _, unseen, unsupported, _, reason, devices = bodies[digest]
        yield Result(
            rule, scope, Verdict(verdict), unseen=_long(scope, unseen), unsupported=unsupported, reason=reason,
            devices=_long(scope, devices),
        )  # fmt: skip


def _long(scope: str, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(scope + name[len(_SCOPE) :] if name.startswith(_SCOPE) else name for name in names)


def keep_findings(
    connection: Connection,
    run_id: str,
    findings: Iterable[Finding],
    examine: Callable[[Iterable[Record]], Examination],
    times: RunTimes,
) -> FinishReport:
    """Bring all findings up to date with a run. `examine` indexes what the run said that matters to some records."""
    found = {finding.fingerprint: finding for finding in findings}
    known, payloads = _load(connection, found)
    missed = [record for record in known.values() if record.fingerprint not in found and record.state in UNRESOLVED]
    examination = examine(missed)
    new: list[dict[str, Any]] = []
    changed: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []
    told: dict[Life, list[Finding]] = defaultdict(list)
    reported = []
    cited: dict[str, set[str]] = {}

    def note(before: Record | None, after: Record, at: datetime) -> None:
        if before is None or before.state is not after.state:
            step = {"from_state": "" if before is None else str(before.state), "to_state": str(after.state), "at": at}
            events.append({"run_id": run_id, "fingerprint": after.fingerprint} | step)

    for fingerprint, finding in found.items():
        before, at = known.get(fingerprint), times.of(finding.devices)
        if not times.stale.isdisjoint(finding.devices):
            first = at if before is None else min(at, before.first_seen)
            reported.append(replace(finding, first_seen=iso(first)))
            continue
        after = meet(before, finding, at)
        shown = replace(finding, status=str(after.state), first_seen=iso(after.first_seen))
        reported.append(shown)
        (new if before is None else changed).append(_row(after, run_id, shown))
        cited[fingerprint] = {evidence.digest for evidence in finding.evidence if evidence.digest}
        note(before, after, at)
    for before in missed:
        fingerprint, fate = before.fingerprint, examination.fate(before)
        if fate is None:
            continue
        at = times.finished_at if fate is Life.UNVERIFIED else times.of(before.devices)
        after = part(before, fate, at)
        shown = replace(_CODEC.load(payloads[fingerprint]), status=str(after.state), first_seen=iso(before.first_seen))
        if after.state is fate:
            told[fate].append(shown)
        if after != before:
            changed.append(_row(after, run_id if fate is not Life.UNVERIFIED else None, shown))
            note(before, after, at)
        if fate is not Life.UNVERIFIED:
            cited[fingerprint] = set()
    _write(connection, new, changed, events, cited)
    return FinishReport(tuple(reported), *(_ordered(told[fate]) for fate in (Life.RESOLVED, Life.UNVERIFIED, Life.WITHDRAWN)))


def read_findings(connection: Connection, states: Iterable[str] | None) -> list[Finding]:
    """Stored findings in these states, by rule and object."""
    wanted = [str(state) for state in (UNRESOLVED if states is None else states)]
    query = select(FINDINGS.c.payload, FINDINGS.c.state, FINDINGS.c.first_seen).where(FINDINGS.c.state.in_(wanted))
    rows = connection.execute(query)
    return list(_ordered(replace(_CODEC.load(text), status=state, first_seen=iso(first)) for text, state, first in rows))


def iso(moment: datetime) -> str:
    """A time as reports print it: UTC, to the second."""
    return utc(moment).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.rule, finding.object)))


def _load(connection: Connection, found: Iterable[str]) -> tuple[dict[str, Record], dict[str, str]]:
    """Every unresolved finding, and those of this run that ended before, with their payloads."""
    c = FINDINGS.c
    rows = list(connection.execute(select(FINDINGS).where(c.state.in_([str(state) for state in UNRESOLVED]))))
    have = {row.fingerprint for row in rows}
    for some in chunks(set(found) - have):
        rows += connection.execute(select(FINDINGS).where(c.fingerprint.in_(some)))
    turns = _turns(connection, [row.fingerprint for row in rows if row.state == Life.RESOLVED])
    records = {
        row.fingerprint: Record(
            row.fingerprint, row.rule, (kept := _CODEC.load(row.payload)).object, kept.devices, Life(row.state), Life(row.mode),
            row.first_seen, row.last_seen, row.times_seen, row.resolved_at, turns.get(row.fingerprint, ()),
        )
        for row in rows
    }  # fmt: skip
    return records, {row.fingerprint: row.payload for row in rows}


def _turns(connection: Connection, fingerprints: Sequence[str]) -> Mapping[str, tuple[datetime, ...]]:
    """When these findings began or ceased to fail."""
    out: dict[str, tuple[datetime, ...]] = defaultdict(tuple)
    e = EVENTS.c
    ended = or_(e.from_state == str(Life.RESOLVED), e.to_state == str(Life.RESOLVED))
    for some in chunks(fingerprints):
        for fingerprint, at in connection.execute(select(e.fingerprint, e.at).where(e.fingerprint.in_(some), ended)):
            out[fingerprint] += (at,)
    return out


def _row(record: Record, run_id: str | None, finding: Finding) -> dict[str, Any]:
    row = {
        "fingerprint": record.fingerprint, "rule": finding.rule, "object": finding.object, "family": finding.family,
        "severity": str(finding.severity), "state": str(record.state), "mode": str(record.mode),
        "first_seen": record.first_seen, "last_seen": record.last_seen, "times_seen": record.times_seen,
        "resolved_at": record.resolved_at, "cause": finding.cause, "payload": _CODEC.dump(finding),
    }  # fmt: skip
    return row if run_id is None else row | {"last_run": run_id}


def _write(
    connection: Connection,
    new: Sequence[dict[str, Any]],
    changed: Sequence[dict[str, Any]],
    events: Sequence[dict[str, Any]],
    cited: Mapping[str, set[str]],
) -> None:
    if new:
        connection.execute(insert(FINDINGS), new)
    for rows in ([row for row in changed if "last_run" in row], [row for row in changed if "last_run" not in row]):
        if rows:
            values: dict[str, Any] = {name: bindparam(f"its_{name}") for name in rows[0]}
            mine = update(FINDINGS).where(FINDINGS.c.fingerprint == values["fingerprint"]).values(values)
            connection.execute(mine, [{f"its_{name}": value for name, value in row.items()} for row in rows])
    if events:
        connection.execute(insert(EVENTS), events)
    for some in chunks(cited):
        connection.execute(delete(REFERENCES).where(REFERENCES.c.fingerprint.in_(some)))
    references = [{"fingerprint": name, "digest": digest} for name, digests in cited.items() for digest in sorted(digests)]
    if references:
        connection.execute(insert(REFERENCES), references)
