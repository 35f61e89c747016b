"""The Store protocol on a database: each method is one transaction; what they write stands in `states` and `verdicts`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, update

from auditor import drift
from auditor.errors import StoreError
from auditor.model import Change, DeviceOutcome, Document, Finding, LinkEnd, Result, RowSet, SetKey
from auditor.store import FindingEvent, FinishReport, ListedChange, RunRecord, StoreInfo, schema, states, verdicts
from auditor.store.engine import connect, read_url, reading, revision, writing
from auditor.store.intervals import chunks
from auditor.store.lifecycle import Examination, Record
from auditor.store.raw import RawStore, unpack
from auditor.store.schema import table_of, utc

RUNS = table_of(schema.Run)


class Database:
    """A store on SQLite or PostgreSQL, with raw outputs in a folder. Safe for threads; see `auditor.store.Store`."""

    def __init__(self, url: str, raw_dir: Path, *, create: bool = True, busy_seconds: float = 30.0) -> None:
        self.raw = RawStore(raw_dir)
        self.engine = connect(read_url(url), create=create, busy_seconds=busy_seconds)

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    # Runs

    def begin_run(self, run_id: str, started_at: datetime, scope: str, tool_version: str, source: str) -> None:
        """Open a run, or resume an open one."""
        with writing(self.engine) as connection:
            status = connection.scalar(select(RUNS.c.status).where(RUNS.c.id == run_id))
            if status is None:
                values = {"scope": scope, "tool_version": tool_version, "source": source, "started_at": started_at}
                connection.execute(insert(RUNS).values(id=run_id, status="open", **values))
            elif status != "open":
                raise StoreError(f"run {run_id} has {status} already")

    def fail_run(self, run_id: str, finished_at: datetime) -> None:
        """Mark an open run as failed."""
        with writing(self.engine) as connection:
            _end_run(connection, run_id, "failed", finished_at)

    def finish_run(
        self,
        run_id: str,
        finished_at: datetime,
        results: Iterable[Result],
        findings: Iterable[Finding],
        scope_devices: frozenset[str] | None,
        rules: frozenset[str],
        *,
        only: tuple[str, ...],
        documents: Iterable[Document] = (),
        inventory: frozenset[str] | None = None,
        links: frozenset[str] | None = None,
    ) -> FinishReport:
        """End a run in one transaction."""
        results = tuple(results)
        with writing(self.engine) as connection:
            _end_run(connection, run_id, "finished", finished_at)
            verdicts.keep_documents(connection, run_id, documents)
            times = verdicts.RunTimes(connection, run_id, finished_at)
            verdicts.keep_results(connection, results, times)

            def examine(records: Iterable[Record]) -> Examination:
                return Examination(
                    results, records, rules=rules, scope=scope_devices, only=only, reached=times.reached, stale=times.stale,
                    inventory=inventory, links=links,
                )  # fmt: skip

            return verdicts.keep_findings(connection, run_id, findings, examine, times)

    def runs(self) -> list[RunRecord]:
        """All runs, newest first."""
        used, r = verdicts.RUN_INPUTS, RUNS.c
        inputs: dict[str, list[Document]] = defaultdict(list)
        with reading(self.engine) as connection:
            for row in connection.execute(select(used).order_by(used.c.kind, used.c.name)):
                inputs[row.run_id].append(Document(row.kind, row.name, row.digest, row.file, "", row.profile, row.version))
            query = select(r.id, r.status, r.scope, r.source, r.tool_version, r.started_at, r.finished_at)
            rows = connection.execute(query.order_by(r.started_at.desc(), r.id))
            return [RunRecord(*row, tuple(inputs[row.id])) for row in rows]

    def document(self, digest: str) -> str | None:
        """Text of an input document."""
        with reading(self.engine) as connection:
            body = connection.scalar(select(verdicts.INPUTS.c.body).where(verdicts.INPUTS.c.digest == digest))
        return None if body is None else unpack(body)

    # States of devices

    def put_raw(self, body: str) -> str:
        """Keep a raw output."""
        return self.raw.put(body)

    def get_raw(self, digest: str) -> str | None:
        """A raw output by digest."""
        return self.raw.get(digest)

    def previous_digests(self, device: str) -> Mapping[SetKey, str]:
        """Digests of the newest row sets of one device."""
        return self.previous_digests_of([device]).get(device, {})

    def previous_digests_of(self, devices: Iterable[str]) -> Mapping[str, Mapping[SetKey, str]]:
        """Digests of the newest row sets of many devices."""
        with reading(self.engine) as connection:
            return states.digests_of(connection, devices)

    def row_set(self, key: SetKey, digest: str) -> RowSet | None:
        """The content of a row set."""
        with reading(self.engine) as connection:
            return states.Contents(connection).get(key, digest)

    def save_outcome(self, run_id: str, outcome: DeviceOutcome) -> tuple[Change, ...]:
        """Store what a device job gave back."""
        return self.save_outcomes(run_id, [outcome]).get(outcome.device, ())

    def save_outcomes(self, run_id: str, outcomes: Iterable[DeviceOutcome]) -> Mapping[str, tuple[Change, ...]]:
        """Store what many device jobs gave back."""
        given = {outcome.device: outcome for outcome in outcomes}
        if not given:
            return {}
        with writing(self.engine) as connection:
            _require_open(connection, run_id)
            return states.save(connection, run_id, list(given.values()))

    def link_ends(self, devices: Iterable[str], not_before: datetime) -> list[LinkEnd]:
        """Stored facts of planned ports, by age."""
        with reading(self.engine) as connection:
            return states.read_ends(connection, devices, not_before)

    def state_at(self, device: str, at: datetime) -> tuple[RowSet, ...]:
        """The row sets of a device at a time."""
        with reading(self.engine) as connection:
            contents = states.Contents(connection)
            digests = states.ROW_SETS.at(connection, "device", device, utc(at))
            contents.fetch(digests.values())
            return tuple(filter(None, (contents.get(states.set_key(key), digest) for key, digest in sorted(digests.items()))))

    def last_states(self, devices: Iterable[str] | None = None) -> Iterator[tuple[str, datetime, tuple[RowSet, ...]]]:
        """The newest row sets of many devices, read a portion of devices at a time."""
        d = states.DEVICES.c
        with reading(self.engine) as connection:
            times = {row.device: row.collected_at for row in connection.execute(select(d.device, d.collected_at))}
        for some in chunks(times if devices is None else set(devices) & times.keys(), 50):
            with reading(self.engine) as connection:
                digests = states.digests_of(connection, some)
                contents = states.Contents(connection)
                contents.fetch(digest for sets in digests.values() for digest in sets.values())
            for device in some:
                found = (contents.get(key, digest) for key, digest in sorted(digests.get(device, {}).items()))
                yield device, times[device], tuple(filter(None, found))

    def results_at(self, scope: str, at: datetime) -> list[Result]:
        """What rules said in a scope at a time."""
        with reading(self.engine) as connection:
            return verdicts.read_results(connection, scope, at)

    def standing(self, at: datetime) -> Iterator[Result]:
        """What every rule said last, at a time, in every scope, without the names of what passed."""
        with reading(self.engine) as connection:
            yield from verdicts.read_standing(connection, at)

    # Drift

    def changes(self, devices: Iterable[str] | None = None, *, open_only: bool = True) -> list[ListedChange]:
        """Differences from the accepted state; what several sources say about one address is one change."""
        c = states.CHANGES.c
        query = select(states.CHANGES).where(states.OPEN) if open_only else select(states.CHANGES)
        joined: dict[tuple[object, ...], list[ListedChange]] = defaultdict(list)
        with reading(self.engine) as connection:
            portions = [query] if devices is None else [query.where(c.device.in_(some)) for some in chunks(devices)]
            for portion in portions:
                for row in connection.execute(portion.order_by(c.id)):
                    change = Change(row.device, row.address, row.layer, json.loads(row.before), json.loads(row.after))
                    listed = ListedChange(change, row.first_seen, row.last_seen, row.reverted_at, row.accepted_at)
                    joined[row.device, row.address, row.layer, row.first_seen, row.reverted_at, row.accepted_at].append(listed)
        out = [replace(group[0], change=drift.join(item.change for item in group)[0]) for group in joined.values()]
        return sorted(out, key=lambda item: (item.change.device, item.change.address, item.change.layer, item.first_seen))

    def accept_changes(self, device: str, at: datetime) -> int:
        """Make the newest state of a device the accepted one."""
        with writing(self.engine) as connection:
            return states.accept(connection, device, at)

    # Findings

    def findings(self, states: Iterable[str] | None = None) -> list[Finding]:
        """Stored findings in these states."""
        with reading(self.engine) as connection:
            return verdicts.read_findings(connection, states)

    def events(self, fingerprint: str) -> list[FindingEvent]:
        """The life of one finding."""
        e = verdicts.EVENTS.c
        query = select(e.run_id, e.from_state, e.to_state, e.at).where(e.fingerprint == fingerprint).order_by(e.id)
        with reading(self.engine) as connection:
            return [FindingEvent(*row) for row in connection.execute(query)]

    def info(self) -> StoreInfo:
        """Where the store lies and what it holds."""
        url = self.engine.url.render_as_string(hide_password=True)
        with reading(self.engine) as connection:
            tables = schema.Base.metadata.sorted_tables
            rows = {table.name: connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables}
            return StoreInfo(url, revision(connection) or "", str(self.raw.folder), dict(sorted(rows.items())))


def _require_open(connection: Connection, run_id: str) -> None:
    status = connection.scalar(select(RUNS.c.status).where(RUNS.c.id == run_id))
    if status != "open":
        raise StoreError(f"run {run_id} is {'unknown' if status is None else status}, not open")


def _end_run(connection: Connection, run_id: str, status: str, finished_at: datetime) -> None:
    _require_open(connection, run_id)
    connection.execute(update(RUNS).where(RUNS.c.id == run_id).values(status=status, finished_at=finished_at))
