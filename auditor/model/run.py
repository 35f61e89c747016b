"""What travels between the device jobs, the coordinator, the store and the reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from auditor.address import Layer
from auditor.model.baseline import Baseline, Document, Waiver
from auditor.model.cabling import Wiring
from auditor.model.device import Device
from auditor.model.peers import PeerFact
from auditor.model.plan import Fabric, FabricPort, LinkEnd, PlanSlice
from auditor.model.raw import Gap, RawOutput
from auditor.model.verdict import Cause, Finding, Result


@dataclass(frozen=True, slots=True, order=True)
class SetKey:
    """Names one row set of a device: the rows that one source fills in one table at one layer.

    A set per source, so that an answer that failed, or was not asked for, says nothing about the others' rows.
    A fallback source counts as the source it stands in for.
    """

    table: str
    layer: Layer
    source: str


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows in plain form, sorted by key. `digest` covers the non-volatile columns; `columns` are those declared."""

    key: SetKey
    digest: str
    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class DeviceJob:
    """Everything a worker needs for one device. `previous` are the digests of its stored row sets.

    `reads` are the columns that were asked for (None: all): only gaps that touch them are told. `alternatives`: further
    sets of baselines, newer than `baselines`, of which the device may satisfy one instead (the window of a rollout).
    """

    device: Device
    outputs: tuple[RawOutput, ...]
    baselines: tuple[Baseline, ...]
    plan: PlanSlice
    fabric: Fabric
    previous: Mapping[SetKey, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    judged: bool = True
    reads: frozenset[str] | None = None
    parsers: str = ""
    gaps: tuple[Gap, ...] = ()
    alternatives: tuple[tuple[Baseline, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceOutcome:
    """What a device job gives back: small, whatever the device's size. `row_sets` holds only those whose digest changed;
    `seen` the digests of all whole ones; `fabric_ports` what its walk of an InfiniBand subnet shows of other devices."""

    device: str
    collected_at: datetime
    results: tuple[Result, ...] = ()
    findings: tuple[Finding, ...] = ()
    row_sets: tuple[RowSet, ...] = ()
    seen: Mapping[SetKey, str] = field(default_factory=dict)
    ends: tuple[LinkEnd, ...] = ()
    gaps: tuple[Gap, ...] = ()
    reached: bool = True
    seconds: Mapping[str, float] = field(default_factory=dict)
    hardware_model: str = ""
    peers: tuple[PeerFact, ...] = ()
    fabric_ports: tuple[FabricPort, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One address whose value differs from the stored predecessor; None means that there was or is none."""

    device: str
    address: str
    layer: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was looked at. `results` counts objects by verdict; not_applicable counts rules."""

    devices: Mapping[str, int] = field(default_factory=dict)
    results: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One audit, finished. `gaps` of kind unsupported and waived ones do not make it incomplete. `wiring`: the cables as seen,
    for those who watch them; reports tell of their causes and findings."""

    id: str
    started_at: datetime
    finished_at: datetime
    tool_version: str
    scope: str
    source: str
    inputs: tuple[Document, ...]
    coverage: Coverage
    results: tuple[Result, ...]
    findings: tuple[Finding, ...]
    causes: tuple[Cause, ...]
    gaps: tuple[Gap, ...]
    changes: tuple[Change, ...] = ()
    resolved: tuple[Finding, ...] = ()
    unverified: tuple[Finding, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    stored: bool = False
    notes: tuple[str, ...] = ()
    wiring: Wiring | None = None
