"""The order in which every report tells a run: causes worst first, then what could not be seen.

A gap and the `collection` finding that mirrors it are one thing; reports that list the gaps leave the mirror out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditor.address import Address
from auditor.evaluate.findings import gap_waived
from auditor.model import Cause, Finding, Gap, GapReason, Result, Run, Severity, Verdict

MIRROR_FAMILY = "collection"
"""Rules of this family repeat gaps as findings, so that gaps have a history."""


@dataclass(frozen=True, slots=True)
class Case:
    """A cause with its findings, in the order of its members: the one that gave it its title first."""

    cause: Cause
    findings: tuple[Finding, ...]

    @property
    def devices(self) -> tuple[str, ...]:
        """Every device that a member names, in the order in which the members name them."""
        return tuple(dict.fromkeys(device for finding in self.findings for device in finding.devices))

    @property
    def alike(self) -> list[list[Finding]]:
        """The findings in groups of one rule with one expectation and one observation."""
        groups: dict[tuple[str, str, str], list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault((finding.rule, finding.expected, finding.observed), []).append(finding)
        return list(groups.values())

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that saw it, each once."""
        return tuple(dict.fromkeys(finding.rule for finding in self.findings))


@dataclass(frozen=True, slots=True)
class Blind:
    """What could not be seen of one device for one reason. `places` are addresses; empty: nothing of it was seen."""

    device: str
    reason: GapReason
    places: tuple[str, ...]
    details: tuple[str, ...]


def order(finding: Finding) -> tuple[int, str, str, str]:
    """The sort key of findings: worst first, then by rule and object, so that the same input gives the same order."""
    return finding.severity.rank, finding.rule, finding.object, finding.fingerprint


def cases(run: Run, *, mirrors: bool = False) -> list[Case]:
    """Causes with their findings: those that are not waived first, worst first. `mirrors`: those of gaps too."""
    findings = {finding.fingerprint: finding for finding in run.findings}
    hidden = set() if mirrors else {gap.device for gap in run.gaps if gap.reason is not GapReason.UNSUPPORTED}
    out = []
    for cause in run.causes:
        members = [findings[member] for member in cause.members if member in findings]
        if members and all(item.family == MIRROR_FAMILY and set(item.devices) <= hidden for item in members):
            continue
        out.append(Case(cause, tuple(members)))
    return sorted(out, key=lambda case: (case.cause.waived, case.cause.severity.rank, case.cause.title, case.cause.id))


def blocking(run: Run) -> list[Gap]:
    """Gaps that nobody declared and nobody accepted: each makes the run incomplete."""
    return [gap for gap in run.gaps if gap.reason is not GapReason.UNSUPPORTED and not _accepted(run, gap)]


def accepted(run: Run) -> list[Gap]:
    """Gaps that a waiver in force covers."""
    return [gap for gap in run.gaps if gap.reason is not GapReason.UNSUPPORTED and _accepted(run, gap)]


def _accepted(run: Run, gap: Gap) -> bool:
    return gap_waived(gap, run.waivers, run.started_at.date())


def unsupported(run: Run) -> list[Gap]:
    """Gaps that a platform declares, or that a device declares by saying that it cannot tell."""
    return [gap for gap in run.gaps if gap.reason is GapReason.UNSUPPORTED]


def blind(gaps: Iterable[Gap]) -> list[Blind]:
    """Gaps by device and reason, sorted."""
    groups: dict[tuple[str, GapReason], list[Gap]] = {}
    for gap in gaps:
        groups.setdefault((gap.device, gap.reason), []).append(gap)
    out = []
    for (device, reason), members in sorted(groups.items()):
        everything = any(gap.table == "*" for gap in members)
        places = () if everything else tuple(sorted({place(gap) for gap in members}))
        out.append(Blind(device, reason, places, tuple(sorted({gap.detail for gap in members if gap.detail}))))
    return out


def place(gap: Gap) -> str:
    """The address that a gap hides: a table, a row or some columns, with the layer where it is one layer's alone."""
    columns = "." + ",".join(gap.columns) if gap.columns else ""
    return str(Address(gap.table, gap.key)) + columns + (f"@{gap.layer}" if gap.layer else "")


def crashed(run: Run) -> list[Result]:
    """Results of rules that crashed, sorted."""
    return sorted((item for item in run.results if item.verdict is Verdict.ERROR), key=lambda item: (item.rule, item.scope))


def tally(items: Iterable[Severity]) -> str:
    """How many of each severity, in words: `1 critical, 3 error`."""
    found = list(items)
    return ", ".join(f"{found.count(severity)} {severity}" for severity in Severity if severity in found)


def few(words: Iterable[str], most: int) -> str:
    """The first `most` words joined by commas, and how many more there are."""
    found = list(words)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
