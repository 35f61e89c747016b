"""The store: runs, states, drift and findings over time. Callers use `open_store` and the `Store` protocol, nothing else here.

SQLite by default, PostgreSQL by URL, one behaviour. Everything a device job gives back is stored idempotently, so that a
batch may be given out twice; a run is open until the one transaction of `finish_run`, so that a killed one shows as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from auditor.model import Change, DeviceOutcome, Document, Finding, LinkEnd, Result, RowSet, SetKey


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One stored run. `status` is open, finished or failed; `inputs` come without their text."""

    id: str
    status: str
    scope: str
    source: str
    tool_version: str
    started_at: datetime
    finished_at: datetime | None
    inputs: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedChange:
    """A difference from the accepted state, with its times (UTC). It is open while neither reverted nor accepted."""

    change: Change
    first_seen: datetime
    last_seen: datetime
    reverted_at: datetime | None = None
    accepted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """A step in the life of a finding; `from_state` is empty for the first."""

    run_id: str
    from_state: str
    to_state: str
    at: datetime


@dataclass(frozen=True, slots=True)
class FinishReport:
    """What became of all findings: `findings` are those of the run with status and first_seen; `resolved` and `withdrawn`
    ended with it; `unverified` were in scope and not examined, whether or not they were so before."""

    findings: tuple[Finding, ...]
    resolved: tuple[Finding, ...] = ()
    unverified: tuple[Finding, ...] = ()
    withdrawn: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What `db info` shows. `url` without password, `rows` per table."""

    url: str
    schema: str
    raw_dir: str
    rows: Mapping[str, int]


class Store(Protocol):
    """What the workflows may ask of a store. Every method raises StoreError, or Locked when another writer does not end."""

    def begin_run(self, run_id: str, started_at: datetime, scope: str, tool_version: str, source: str) -> None:
        """Open a run; an open one of this id is resumed. Raises StoreError when it has ended."""

    def fail_run(self, run_id: str, finished_at: datetime) -> None:
        """Mark an open run as failed; findings stay as they were."""

    def put_raw(self, body: str) -> str:
        """Keep a raw output; gives its digest. May be called from any thread."""

    def get_raw(self, digest: str) -> str | None:
        """A raw output by digest; None when it is not kept (any more)."""

    def previous_digests(self, device: str) -> Mapping[SetKey, str]:
        """Digests of the newest row sets of one device."""

    def previous_digests_of(self, devices: Iterable[str]) -> Mapping[str, Mapping[SetKey, str]]:
        """The same for many devices at once; a device without any is missing."""

    def row_set(self, key: SetKey, digest: str) -> RowSet | None:
        """The content of a row set by digest; None when there is none."""

    def save_outcome(self, run_id: str, outcome: DeviceOutcome) -> tuple[Change, ...]:
        """Store what a device job gave back; gives what changed since the stored predecessor. May be repeated."""

    def save_outcomes(self, run_id: str, outcomes: Iterable[DeviceOutcome]) -> Mapping[str, tuple[Change, ...]]:
        """The same for many devices in one transaction; changes by device, without the devices that have none."""

    def link_ends(self, devices: Iterable[str], not_before: datetime) -> list[LinkEnd]:
        """Stored facts of these devices' planned ports, as far as they are no older; `stale_of` is set."""

    def state_at(self, device: str, at: datetime) -> tuple[RowSet, ...]:
        """The row sets of a device as they were at a time."""

    def last_states(self, devices: Iterable[str] | None = None) -> Iterator[tuple[str, datetime, tuple[RowSet, ...]]]:
        """(device, collected_at, newest row sets) of these devices, or of all, by name."""

    def results_at(self, scope: str, at: datetime) -> list[Result]:
        """What rules said of a device or link at a time, by rule."""

    def standing(self, at: datetime) -> Iterator[Result]:
        """What every rule said last, at a time, in every scope, without the names of what passed."""

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
        """End a run in one transaction: results, findings with their states, inputs.

        `scope_devices`: the devices judged; None: all. `rules`: ids of every rule and expectation in force for them, also
        of those that could not be evaluated; `only`: the patterns of rules the user asked for, () for all. `inventory` (all
        device names) and `links` (all planned links, `a:p|b:q`) let findings on what is gone be withdrawn; None: unknown.
        A finding is waived when it carries a waiver.
        """

    def findings(self, states: Iterable[str] | None = None) -> list[Finding]:
        """Stored findings in these states (default: all that are not resolved or withdrawn), by rule and object."""

    def events(self, fingerprint: str) -> list[FindingEvent]:
        """The life of one finding, oldest first."""

    def changes(self, devices: Iterable[str] | None = None, *, open_only: bool = True) -> list[ListedChange]:
        """Differences from the accepted state, by device and address."""

    def accept_changes(self, device: str, at: datetime) -> int:
        """Make the newest state of a device the accepted one; gives the number of changes that ended."""

    def document(self, digest: str) -> str | None:
        """Text of an input document of some run."""

    def runs(self) -> list[RunRecord]:
        """All runs, newest first."""

    def info(self) -> StoreInfo:
        """Where the store lies and what it holds."""

    def close(self) -> None:
        """Let go of the database."""


def open_store(url: str, raw_dir: Path, *, create: bool = True, busy_seconds: float = 30.0) -> Store:
    """Open a store; `url` is sqlite:///FILE, a bare path, or postgresql://USER@HOST/NAME.

    With `create` a missing database is made and an older one brought up to date. A writer waits `busy_seconds` for its
    turn. Raises SchemaTooNew, Locked, or StoreError with what the database said.
    """
    from auditor.store.database import Database  # loads SQLAlchemy (0.3 s), which `--help` need not wait for

    return Database(url, raw_dir, create=create, busy_seconds=busy_seconds)
