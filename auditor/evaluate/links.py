"""Links: the facts that a device job emits for each planned port, and link rules over both ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from auditor.address import Address
from auditor.checks import rules
from auditor.evaluate import causes, findings
from auditor.evaluate.device import Judged, crash, selected
from auditor.model import (
    Fabric,
    Finding,
    Gap,
    GapReason,
    Judgement,
    Link,
    LinkVerdict,
    Result,
    Rule,
    RuleContext,
    RuleKind,
    Spot,
    Tiers,
    Verdict,
    is_host,
)

JUDGED = (LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END, LinkVerdict.LINK_ONLY, LinkVerdict.UNKNOWN, LinkVerdict.DEGRADED)
"""Verdicts whose planned ends are compared. The ends of a wrong or missing cable are not each other's peers."""


def judge(
    links: Sequence[Link],
    fabric: Fabric,
    failed: Mapping[str, tuple[str, str]],
    judged_devices: frozenset[str],
    only: Sequence[str] = (),
    params: Mapping[str, object] | None = None,
    tiers: Mapping[str, Tiers] = MappingProxyType({}),
    unplanned: Sequence[Link] = (),
) -> Judged:
    """Run every selected fabric and link rule over the links that have a judged end. `failed` maps failed cells to their roots,
    `tiers` planes to their planned shape. Rules that want every link get the `unplanned` ones too.

    Fabric rules come first: what one of them says of a cell is the root of what a link shows of it.
    """
    judged = Judged()
    for rule in rules().values():
        if rule.kind is RuleKind.FABRIC and selected(rule.id, only):
            chosen = (*links, *unplanned) if rule.every_link else [link for link in links if link.verdict in JUDGED]
            context = RuleContext((params or {}).get(rule.id), fabric, tiers=tiers, judged=judged_devices)
            _judge_fabric(rule, chosen, context, failed, judged)
    failed = {finding.spots[0].cell: finding.root for finding in judged.findings if finding.spots} | dict(failed)
    named = [
        (link, findings.object_text("", link.name), tuple(sorted({link.a.device, link.b.device})))
        for link in links
        if link.verdict in JUDGED and (link.a.device in judged_devices or link.b.device in judged_devices)
    ]
    for rule in rules().values():
        if rule.kind is RuleKind.LINK and selected(rule.id, only):
            context = RuleContext((params or {}).get(rule.id), fabric)
            for link, text, devices in named:
                _judge_link(rule, link, text, devices, context, failed, judged)
    judged.gaps = list(dict.fromkeys(judged.gaps))
    return judged


def _judge_fabric(
    rule: Rule,
    links: Sequence[Link],
    context: RuleContext,
    failed: Mapping[str, tuple[str, str]],
    judged: Judged,
) -> None:
    """Run a rule that sees all links at once; its findings and results belong to the devices of its objects."""
    try:
        judgements = list(rule.function(links, context))
    except Exception as error:
        devices = tuple(sorted(context.judged))
        judged.results.extend(crash(rule.id, device, (device,), error) for device in devices)
        return
    by_device: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        if isinstance(judgement.object, Spot) and judgement.object.device in context.judged:
            by_device[judgement.object.device].append(judgement)
    odd = {device for device, said in by_device.items() if any(item.deviation is not None for item in said)}
    hosts = {end.device for link in links for end in link.ends if end.device in odd and is_host(end.role)}
    for device, said in sorted(by_device.items()):
        found = [_fabric_finding(rule, judgement, failed) for judgement in said if judgement.deviation is not None]
        objects: dict[Verdict, set[str]] = defaultdict(set)
        for item in said:
            objects[item.verdict].add(findings.object_text(device, item.object))
        texts = {verdict: tuple(sorted(objects[verdict])) for verdict in Verdict}
        unsupported = sum(item.gap is not None and item.gap.reason is GapReason.UNSUPPORTED for item in said)
        verdict = next(
            (each for each in (Verdict.FAIL, Verdict.NOT_EVALUATED, Verdict.PASS) if texts[each]), Verdict.NOT_APPLICABLE
        )
        result = Result(
            rule.id,
            device,
            verdict,
            texts[Verdict.PASS],
            texts[Verdict.FAIL],
            texts[Verdict.NOT_EVALUATED],
            unsupported,
            devices=(device,),
        )
        judged.gaps.extend(item.gap for item in said if item.gap is not None)
        judged.results.append(result)
        judged.findings.extend(causes.fold_device(found, [result], device, device in hosts))


def _fabric_finding(rule: Rule, judgement: Judgement, failed: Mapping[str, tuple[str, str]]) -> Finding:
    spot, deviation = judgement.object, judgement.deviation
    assert isinstance(spot, Spot)
    assert deviation is not None
    port = Address("interface", spot.address.key[:1])
    root = ("port", f"{spot.device}:{port}") if spot.address.key else ("device", spot.device)
    if deviation.shared is not None:
        root = ("shared", f"{spot.device}:{deviation.shared.row}")
    devices = tuple(dict.fromkeys((spot.device, *(seen.device for seen in deviation.spots))))
    found = findings.make(rule.id, findings.object_text(spot.device, spot), devices, deviation, rule.severity, root, rule.remedy)
    if deviation.shared is not None:
        return found
    return replace(found, root=causes.known_root(found, failed) or root)


def _judge_link(
    rule: Rule,
    link: Link,
    text: str,
    devices: tuple[str, ...],
    context: RuleContext,
    failed: Mapping[str, tuple[str, str]],
    judged: Judged,
) -> None:
    """Run one rule over one link, whose name as an object is `text`."""
    missing = next((fact for end in link.ends for read in rule.reads if (fact := end.fact(read)).value is None), None)
    if missing is not None:
        gap = missing.gap or Gap(link.a.device, missing.address.table, "", GapReason.NOT_COLLECTED, "no facts of this end")
        judged.gaps.append(gap)
        unsupported = int(gap.reason is GapReason.UNSUPPORTED)
        judged.results.append(
            Result(
                rule.id, text, Verdict.NOT_EVALUATED, unseen=(text,), unsupported=unsupported, reason=gap.detail, devices=devices
            )
        )
        return
    try:
        judgements = list(rule.function(link, context))
    except Exception as error:
        judged.results.append(crash(rule.id, text, devices, error))
        return
    verdict = Verdict.NOT_APPLICABLE
    for judgement in judgements:
        verdict = judgement.verdict
        if judgement.gap is not None:
            judged.gaps.append(judgement.gap)
        if judgement.verdict is Verdict.FAIL and judgement.deviation is not None:
            found = findings.make(rule.id, text, devices, judgement.deviation, rule.severity, ("link", text), rule.remedy)
            root = causes.link_root(link, found, failed)
            if root[0] == "link" and judgement.deviation.shared is not None:
                root = ("shared", f"{judgement.deviation.spots[0].device}:{judgement.deviation.shared.row}")
            judged.findings.append(replace(found, root=root))
            break
    judged.results.append(
        Result(
            rule.id,
            text,
            verdict,
            passed=(text,) if verdict is Verdict.PASS else (),
            failed=(text,) if verdict is Verdict.FAIL else (),
            unseen=(text,) if verdict is Verdict.NOT_EVALUATED else (),
            devices=devices,
        )
    )
