"""Findings with one root are one cause: folding on a device, roots of link findings, and the causes themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from auditor.checks import rules
from auditor.model import Cause, Finding, Link, Result, RuleKind, Severity

FOLD_ALL = 4
"""A switch's ports fold into the switch when all of at least this many objects fail alike; fewer are mended one by one."""

_WORST_FIRST = ("regressed", "open", "flapping", "unverified", "waived", "resolved", "withdrawn")


def fold_device(findings: Sequence[Finding], results: Iterable[Result], device: str, host: bool) -> list[Finding]:
    """Give findings of one device their common root where the same deviation stands in many places.

    On a host: one rule with one deviation on several NICs is the host's. On a switch: one rule that fails alike on every
    object it judged is the switch's. A single breakout sibling is its own port.
    """
    judged = {result.rule: len(result.passed) + len(result.failed) for result in results}
    alike: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    siblings: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        alike[finding.rule, finding.expected, finding.observed].append(finding)
        if finding.root[0] == "breakout":
            siblings[finding.rule, finding.root[1]] += 1
    roots: dict[str, tuple[str, str]] = {}
    for (rule, _, _), group in alike.items():
        foldable = [finding for finding in group if finding.root[0] in ("port", "object")]
        if len({finding.root for finding in foldable}) < 2:
            continue
        if host or (len(foldable) >= FOLD_ALL and len(foldable) == judged.get(rule)):
            roots.update({finding.fingerprint: ("device", device) for finding in foldable})
    out = []
    for finding in findings:
        root = roots.get(finding.fingerprint, finding.root)
        if root[0] == "breakout" and siblings[finding.rule, root[1]] < 2:
            root = ("port", finding.object)
        out.append(replace(finding, root=root))
    return out


def link_root(link: Link, finding: Finding, failed: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """The root of a link finding: the end cell that a baseline line already failed, else the link."""
    return known_root(finding, failed) or ("link", f"link[{link.name}]")


def known_root(finding: Finding, failed: Mapping[str, tuple[str, str]]) -> tuple[str, str] | None:
    """The root that a device finding on one of the same cells has; `failed` maps cells without layer to roots."""
    cells = (str(replace(spot, address=replace(spot.address, layer=None))) for spot in finding.spots)
    return next((failed[cell] for cell in cells if cell in failed), None)


def gather(findings: Sequence[Finding]) -> tuple[list[Finding], list[Cause]]:
    """The causes of all findings, worst first, and the findings with their cause filled in."""
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.family, finding.root[1]].append(finding)
    causes, named = [], {}
    for (family, root), members in groups.items():
        members = sorted(members, key=_lead)
        cause = Cause(
            id=sha256(f"{family}\0{root}".encode("utf-8", "surrogatepass")).hexdigest()[:16],
            root=root,
            kind=members[0].root[0],
            title=_title(root, members),
            severity=_severity(members),
            members=tuple(finding.fingerprint for finding in members),
            status=min((finding.status for finding in members), key=_rank),
            waived=all(finding.waiver is not None for finding in members),
        )
        causes.append(cause)
        named.update({finding.fingerprint: cause.id for finding in members})
    causes.sort(key=lambda cause: (cause.waived, cause.severity.rank, cause.root, cause.id))
    return [replace(finding, cause=named[finding.fingerprint]) for finding in findings], causes


def _lead(finding: Finding) -> tuple[bool, int, bool, bool, str]:
    """What a cause is called after: its worst member, a device's own before what a link shows of it; for the siblings of
    a breakout one that names them all, which a fabric rule does not."""
    rule = rules().get(finding.rule)
    one_of_many = finding.root[0] == "breakout" and rule is not None and rule.kind is RuleKind.FABRIC
    by_link = finding.object.startswith("link[")
    return finding.waiver is not None, finding.severity.rank, one_of_many, by_link, finding.fingerprint


def _severity(members: Sequence[Finding]) -> Severity:
    judged = [finding for finding in members if finding.waiver is None] or list(members)
    return min((finding.severity for finding in judged), key=lambda severity: severity.rank)


def _rank(status: str) -> int:
    return _WORST_FIRST.index(status) if status in _WORST_FIRST else 0


def _title(root: str, members: Sequence[Finding]) -> str:
    lead = members[0]
    objects = {finding.object for finding in members if finding.rule == lead.rule}
    if lead.root[0] == "device" and len(objects) > 1:
        return f"{root}: {lead.message} (and {len(objects) - 1} more alike)"
    if lead.root[0] == "peers" and len(objects) > 1:
        return f"{lead.message} (and {len(objects) - 1} more attributes in which the same devices are odd)"
    return lead.message
