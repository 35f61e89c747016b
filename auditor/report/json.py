"""The report for programs: one JSON document by the contract `auditor.report/1`.

`auditor/data/report.schema.json` is its JSON Schema. `findings` holds what is open, then what this run could not
verify and what it resolved, told apart by `status`; `causes` group the open ones. Same input, same bytes, times and
ids apart. Everything outside ASCII is escaped, so that no answer of a device can reach a terminal as it stands.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import resources
from typing import Any

from auditor.model import Change, Document, Evidence, Finding, Gap, LinkVerdict, Run, Verdict
from auditor.report import Format, Options, outline

SCHEMA = "auditor.report/1"

DEVICES = ("planned", "reached", "partial", "unreachable")
RESULTS = (*Verdict, "unsupported")
LINKS = ("planned", *LinkVerdict)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    text = resources.files("auditor").joinpath("data", "report.schema.json").read_text("utf-8")
    return dict(json.loads(text))


def document(run: Run) -> dict[str, Any]:
    """The run as plain data."""
    findings = [
        *sorted(run.findings, key=outline.order),
        *sorted(run.unverified, key=outline.order),
        *sorted(run.resolved, key=outline.order),
    ]
    return {
        "schema": SCHEMA,
        "run": {
            "id": run.id,
            "started_at": run.started_at.isoformat(),
            "finished_at": run.finished_at.isoformat(),
            "tool_version": run.tool_version,
            "scope": run.scope,
            "source": run.source,
        },
        "inputs": _inputs(run.inputs),
        "coverage": {
            "devices": _counts(run.coverage.devices, DEVICES),
            "results": _counts(run.coverage.results, RESULTS),
            "links": _counts(run.coverage.links, LINKS),
        },
        "findings": [_finding(finding) for finding in findings],
        "causes": [
            {
                "id": case.cause.id,
                "kind": case.cause.kind,
                "title": case.cause.title,
                "severity": case.cause.severity,
                "members": list(case.cause.members),
                "work_order": list(case.cause.work_order),
            }
            for case in outline.cases(run, mirrors=True)
        ],
        "gaps": [_gap(gap) for gap in sorted(run.gaps, key=_gap_order)],
        "changes": [_change(change) for change in sorted(run.changes, key=lambda item: (item.device, item.address, item.layer))],
    }


def _inputs(documents: tuple[Document, ...]) -> dict[str, Any]:
    baselines = {(item.profile, item.version, item.digest) for item in documents if item.kind == "baseline"}
    fabric = next((item for item in documents if item.kind == "fabric"), None)
    plan = next((item for item in documents if item.kind == "plan"), None)
    return {
        "baselines": [{"profile": name, "version": version, "digest": mark} for name, version, mark in sorted(baselines)],
        "fabric": None if fabric is None else {"digest": fabric.digest},
        "plan": None if plan is None else {"name": plan.name, "digest": plan.digest},
    }


def _counts(found: Mapping[str, int], names: tuple[str, ...]) -> dict[str, int]:
    return {str(name): int(found.get(name, 0)) for name in names}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "fingerprint": finding.fingerprint,
        "rule": finding.rule,
        "severity": finding.severity,
        "devices": list(finding.devices),
        "address": finding.address,
        "expected": finding.expected,
        "observed": finding.observed,
        "message": finding.message,
        "remedy": finding.remedy,
        "commands": [{"device": item.device, "lines": list(item.lines), "source": item.source} for item in finding.commands],
        "layer": finding.layer,
        "status": finding.status,
        "first_seen": finding.first_seen or None,
        "cause": finding.cause or None,
        "evidence": [_evidence(item) for item in finding.evidence],
        "origin": {
            "profile": finding.origin.profile,
            "version": finding.origin.version,
            "file": finding.origin.file,
            "line": finding.origin.line,
        },
        "waiver": None if finding.waiver is None else {key: str(value) for key, value in sorted(finding.waiver.items())},
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    return {
        "device": item.device,
        "source": item.source,
        "digest": item.digest,
        "locator": item.locator,
        "excerpt": item.excerpt,
    }


def _gap_order(gap: Gap) -> tuple[str, ...]:
    return gap.device, outline.place(gap), gap.source, gap.reason, gap.detail


def _gap(gap: Gap) -> dict[str, Any]:
    narrow = gap.key or gap.columns or gap.layer is not None
    detail = ": ".join(filter(None, (outline.place(gap) if narrow else "", gap.detail)))
    return {"device": gap.device, "table": gap.table, "source": gap.source, "reason": gap.reason, "detail": detail}


def _change(change: Change) -> dict[str, Any]:
    return {
        "device": change.device,
        "address": change.address,
        "layer": change.layer,
        "before": _value(change.before),
        "after": _value(change.after),
    }


def _value(value: Any) -> Any:
    """A cell or a row as JSON knows it: tuples as lists, numbers that JSON has no word for as text."""
    if isinstance(value, Mapping):
        return {str(key): _value(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def render(run: Run, options: Options) -> str:  # noqa: ARG001 (the form of a document does not depend on its reader)
    """The document as text, indented, with a newline at its end."""
    return json.dumps(document(run), indent=2, allow_nan=False) + "\n"


FORMAT = Format("json", ".json", render)
