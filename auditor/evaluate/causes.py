"""Findings with one root are one cause: folding on a device, roots of link findings, and the causes themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType

from auditor.address import Address
from auditor.canonical import printable
from auditor.checks import rules
from auditor.evaluate.symptoms import CABLING, concern, explained
from auditor.model import Cause, Finding, Link, Result, RuleKind, Severity

FOLD_ALL = 4
"""A switch's ports fold into the switch when all of at least this many objects fail alike; fewer are mended one by one."""

UNAPPLIED = "lifecycle.unapplied"
"""The rule whose findings explain those of other concerns about the same applied cells."""

QUESTION = 4
"""Devices of one model that must all fail a baseline line alike before the line is asked about instead of each of them."""

_WORST_FIRST = ("regressed", "open", "flapping", "unverified", "waived", "resolved", "withdrawn")


@dataclass(frozen=True, slots=True)
class Told:
    """What the report says of a cause: its title, its kind, the steps of its work order."""

    title: str
    kind: str
    work_order: tuple[str, ...] = ()


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
            port = finding.spots[0].address.key[0]
            root = ("port", f"{device}:{Address('interface', (port,))}")
        out.append(replace(finding, root=root))
    return out


def link_root(link: Link, finding: Finding, failed: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """The root of a link finding: the end cell that a baseline line already failed, else the link."""
    return known_root(finding, failed) or ("link", f"link[{link.name}]")


def known_root(finding: Finding, failed: Mapping[str, tuple[str, str]]) -> tuple[str, str] | None:
    """The root that a device finding on one of the same cells has; `failed` maps cells without layer to roots."""
    return next((failed[cell] for cell in (spot.cell for spot in finding.spots) if cell in failed), None)


def question(findings: Sequence[Finding], results: Iterable[Result], kinds: Mapping[str, tuple[str, str]]) -> list[Finding]:
    """Give the findings of a baseline line that all devices of a kind fail alike one root: then the line is in question.

    `kinds`: role and hardware model of every judged device. A line is questioned when it judged at least `QUESTION` devices of
    one kind, each failed, and all show the same value. What a link shows of the same fault goes along.
    """
    judged: dict[tuple[str, tuple[str, str]], set[str]] = defaultdict(set)
    for result in results:
        if (result.passed or result.failed) and result.scope in kinds:
            judged[result.rule, kinds[result.scope]].add(result.scope)
    alike: dict[tuple[str, tuple[str, str]], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.origin.profile and len(finding.devices) == 1 and kinds.get(finding.devices[0], ("", ""))[1]:
            alike[finding.rule, kinds[finding.devices[0]]].append(finding)
    roots: dict[str, tuple[str, str]] = {}
    links: dict[tuple[str, str], tuple[str, str]] = {}
    for (rule, kind), group in alike.items():
        devices = {device for finding in group for device in finding.devices}
        wanted = {(finding.expected, finding.observed) for finding in group}
        if len(devices) >= QUESTION and devices == judged[rule, kind] and len(wanted) == 1:
            asked = ("baseline_question", f"{rule} on every {printable(' '.join(kind).strip(), 80)}")
            roots.update({finding.fingerprint: asked for finding in group})
            links.update({(finding.family, finding.root[1]): asked for finding in group})
    out = []
    for finding in findings:
        root = roots.get(finding.fingerprint)
        if root is None and finding.object.startswith("link["):
            root = links.get((finding.family, finding.root[1]))
        out.append(finding if root is None else replace(finding, root=root))
    return out


def gather(findings: Sequence[Finding], cables: Mapping[str, Told] = MappingProxyType({})) -> tuple[list[Finding], list[Cause]]:
    """The causes of all findings, worst first, and the findings with their cause filled in.

    `cables`: what is said of cabling causes, by the text of their root.
    """
    claims, symptoms = _claims(findings), explained(findings)
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        claimed = next((claims[cell] for cell in (spot.cell for spot in finding.spots) if cell in claims), None)
        groups[claimed or symptoms.get(finding.fingerprint) or concern(finding)].append(finding)
    causes, named = [], {}
    for (family, root), members in groups.items():
        members = sorted(
            members, key=lambda finding: (finding.waiver is not None, finding.fingerprint in symptoms, _lead(finding))
        )
        cable = cables.get(root) if family == CABLING else None
        cause = Cause(
            id=sha256(f"{family}\0{root}".encode("utf-8", "surrogatepass")).hexdigest()[:16],
            root=root,
            kind=members[0].root[0] if cable is None else cable.kind,
            title=_title(root, members) if cable is None else cable.title,
            severity=_severity(members),
            members=tuple(finding.fingerprint for finding in members),
            status=min((finding.status for finding in members), key=_rank),
            waived=all(finding.waiver is not None for finding in members),
            work_order=_steps(members, cables) if cable is None else cable.work_order,
        )
        causes.append(cause)
        named.update({finding.fingerprint: cause.id for finding in members})
    causes.sort(key=lambda cause: (cause.waived, cause.severity.rank, cause.root, cause.id))
    return [replace(finding, cause=named[finding.fingerprint]) for finding in findings], causes


def _steps(members: Iterable[Finding], cables: Mapping[str, Told]) -> tuple[str, ...]:
    """The work orders of the cables that members of another cause speak of, each step once."""
    told = [cables[item.root[1]].work_order for item in members if item.root[0] == CABLING and item.root[1] in cables]
    return tuple(dict.fromkeys(step for steps in told for step in steps))


def _claims(findings: Iterable[Finding]) -> dict[str, tuple[str, str]]:
    """Cells that a finding explains for all others which rest on them too, with its group.

    A setting that was not applied explains what is wrong with the applied one; a row of a shared map explains what follows
    for the ports that take it.
    """
    found: dict[str, tuple[str, str]] = {}
    for finding in findings:
        group = (finding.family, finding.root[1])
        if finding.rule == UNAPPLIED:
            found.update((spot.cell, group) for spot in finding.spots)
        elif finding.root[0] == "shared":
            for spot in finding.spots:
                if f"{spot.device}:{replace(spot.address, key=spot.address.key[:1], column=None, layer=None)}" == finding.root[1]:
                    found.setdefault(spot.cell, group)
    return found


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
    if lead.root[0] == "baseline_question":
        devices = {device for finding in members for device in finding.devices if finding.rule == lead.rule}
        said = f"all {len(devices)} of them show {lead.observed}, {lead.rule} wants {lead.expected}"
        return f"{root.partition(' on ')[2]}: {said}. Is the baseline right, and every one of them wrong?"
    if lead.root[0] == "peers" and len(objects) > 1:
        return f"{lead.message} (and {len(objects) - 1} more attributes in which the same devices are odd)"
    named = not lead.devices or any(device in lead.message for device in lead.devices)
    return lead.message if named else f"{lead.devices[0]}: {lead.message}"
