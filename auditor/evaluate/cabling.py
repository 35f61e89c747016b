"""Cabling rules over every link, and what a person is told of the causes of wrong cables."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from auditor.checks import rules
from auditor.evaluate import findings
from auditor.evaluate.device import Judged, crash, selected
from auditor.model import CableCause, CauseKind, Fabric, Finding, Link, Result, Rule, RuleContext, RuleKind, Verdict, Wiring

ROOT = "cabling"
"""The kind of root of findings that a cabling cause explains; its text is the cause's key."""

NOT_PROVEN = CauseKind.NOT_PROVEN.value
"""Rule and root of links of which nobody says where they go: one cause, however many."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the report says of a cause: its title, its kind, the steps of its work order."""

    title: str
    kind: str
    work_order: tuple[str, ...] = ()


def judge(wiring: Wiring, fabric: Fabric, judged_devices: Container[str], only: Sequence[str] = ()) -> Judged:
    """Run the cable rules over all links with a judged end. A link's findings take the root of its cabling cause."""
    judged = Judged()
    causes = wiring.cause_of()
    chosen = [rule for rule in rules().values() if rule.kind is RuleKind.CABLE and selected(rule.id, only)]
    for link in (*wiring.links, *wiring.unplanned):
        if any(end.device in judged_devices for end in link.ends):
            for rule in chosen:
                _judge(rule, link, fabric, causes.get(link.name), judged)
    return judged


def _judge(rule: Rule, link: Link, fabric: Fabric, cause: CableCause | None, judged: Judged) -> None:
    text = findings.object_text("", link.name)
    devices = tuple(sorted({end.device for end in link.ends}))
    try:
        said = list(rule.function(link, RuleContext(None, fabric, cause=cause)))
    except Exception as error:
        judged.results.append(crash(rule.id, text, devices, error))
        return
    for judgement in said:
        if judgement.verdict is Verdict.FAIL and judgement.deviation is not None:
            found = findings.make(rule.id, text, devices, judgement.deviation, rule.severity, ("link", text), rule.remedy)
            judged.findings.append(_rooted(found, cause))
    verdict = said[0].verdict if said else Verdict.NOT_APPLICABLE
    judged.results.append(
        Result(
            rule.id,
            text,
            verdict,
            passed=(text,) if verdict is Verdict.PASS else (),
            failed=(text,) if verdict is Verdict.FAIL else (),
            devices=devices,
        )
    )


def _rooted(finding: Finding, cause: CableCause | None) -> Finding:
    name = finding.rule.partition(".")[2]
    if name == NOT_PROVEN:
        return replace(finding, root=(ROOT, NOT_PROVEN))
    if name == "factory_description":
        return replace(finding, root=("device", finding.spots[0].device if finding.spots else finding.devices[0]))
    if cause is None:
        return finding
    severity = cause.severity if name in ("wrong_peer", "missing", "degraded") else finding.severity
    return replace(finding, root=(ROOT, cause.key), severity=severity)
