"""Cabling rules over every link, and what a person is told of the causes of wrong cables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from auditor.checks import rules
from auditor.evaluate import findings
from auditor.evaluate.device import Judged, crash, selected
from auditor.evaluate.symptoms import CABLING
from auditor.facts import Neighbour
from auditor.model import (
    CableCause,
    CauseKind,
    Fabric,
    Finding,
    Judgement,
    Link,
    Result,
    Rule,
    RuleContext,
    RuleKind,
    Verdict,
    Wiring,
)

NOT_PROVEN = CauseKind.NOT_PROVEN.value
"""Rule and root of links of which nobody says where they go: one cause, however many."""


def judge(
    wiring: Wiring, fabric: Fabric, judged_devices: frozenset[str], only: Sequence[str] = (), heard: Container[str] = ()
) -> Judged:
    """Run the cable rules over all links with a judged end. A link's findings take the root of its cabling cause.

    A rule has one Result per judged device, over the links of which that device is the first judged end. `heard`: devices that
    told all their neighbours, so that an unplanned pair which is not among them is gone.
    """
    judged = Judged()
    causes = wiring.cause_of()
    mine: dict[str, list[Link]] = {device: [] for device in sorted(judged_devices)}
    for link in (*wiring.links, *wiring.unplanned):
        device = next((end.device for end in link.ends if end.device in judged_devices), None)
        if device is not None:
            mine[device].append(link)
    for rule in rules().values():
        if rule.kind is RuleKind.CABLE and selected(rule.id, only):
            for device, links in mine.items():
                _judge(rule, device, links, fabric, causes, judged, whole=device in heard)
    return judged


def _judge(
    rule: Rule,
    device: str,
    links: Sequence[Link],
    fabric: Fabric,
    causes: dict[str, CableCause],
    judged: Judged,
    *,
    whole: bool,
) -> None:
    said: dict[Verdict, list[str]] = defaultdict(list)
    try:
        for link, judgement in _said(rule, links, fabric, causes):
            text = findings.object_text("", link.name)
            said[judgement.verdict].append(text)
            if judgement.deviation is not None:
                devices = tuple(sorted({end.device for end in link.ends}))
                root = ("link", text)
                found = findings.make(rule.id, text, devices, judgement.deviation, rule.severity, root, rule.remedy)
                judged.findings.append(_rooted(found, causes.get(link.name)))
    except Exception as error:
        judged.results.append(crash(rule.id, device, (device,), error))
        return
    verdict = next((each for each in (Verdict.FAIL, Verdict.PASS) if said[each]), Verdict.NOT_APPLICABLE)
    judged.results.append(
        Result(
            rule.id,
            device,
            verdict,
            tuple(said[Verdict.PASS]),
            tuple(said[Verdict.FAIL]),
            whole=(Neighbour.TABLE,) if whole else (),
            devices=(device,),
        )
    )


def _said(rule: Rule, links: Sequence[Link], fabric: Fabric, causes: dict[str, CableCause]) -> Iterator[tuple[Link, Judgement]]:
    for link in links:
        for judgement in rule.function(link, RuleContext(None, fabric, cause=causes.get(link.name))):
            yield link, judgement


def _rooted(finding: Finding, cause: CableCause | None) -> Finding:
    name = finding.rule.partition(".")[2]
    if name == NOT_PROVEN:
        return replace(finding, root=(CABLING, NOT_PROVEN))
    if name == "factory_description":
        return replace(finding, root=("device", finding.message.partition(" ")[0]))
    if cause is None:
        return finding
    severity = cause.severity if name in ("wrong_peer", "missing", "degraded") else finding.severity
    return replace(finding, root=(CABLING, cause.key), severity=severity)
