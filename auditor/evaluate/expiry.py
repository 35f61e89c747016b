"""Waivers that have run out: each is a finding of its own, so that an accepted deviation does not come back unexplained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from auditor.evaluate.findings import covers, fingerprint, gap_waived
from auditor.model import Finding, Gap, Result, Severity, Verdict, Waiver

RULE = "baseline.waiver_expired"
SCOPE = "waivers.yaml"
REMEDY = (
    "Mend what it waived, or waive it anew (`auditor findings waive`) with a reason that still holds, and take the old line out."
)


def subject(waiver: Waiver) -> str:
    """What names a waiver for ever: what it waives. Owner, reason and day may change."""
    if waiver.fingerprint:
        return f"waiver[{waiver.fingerprint}]"
    return f"waiver[gap {waiver.gap}]" if waiver.gap else f"waiver[{waiver.rule} {waiver.object}]"


def judge(
    waivers: Sequence[Waiver], today: date, found: Iterable[Finding] = (), gaps: Iterable[Gap] = (), *, every: bool = True
) -> tuple[list[Result], list[Finding]]:
    """One finding per waiver that has expired and that no other waiver of the same subject goes on for.

    With `every` False (a run over some devices) only those that would cover one of `found` or `gaps`, and no Result: such a
    run has not looked at all waivers.
    """
    newest: dict[str, Waiver] = {}
    for waiver in waivers:
        known = newest.get(subject(waiver))
        if known is None or waiver.expires > known.expires:
            newest[subject(waiver)] = waiver
    expired = {name: waiver for name, waiver in newest.items() if waiver.expires < today}
    if not every:
        found, gaps = tuple(found), tuple(gaps)
        expired = {name: waiver for name, waiver in expired.items() if _matters(waiver, found, gaps)}
        return [], [_finding(name, waiver) for name, waiver in sorted(expired.items())]
    if not newest:
        return [], []
    verdict = Verdict.FAIL if expired else Verdict.PASS
    result = Result(RULE, SCOPE, verdict, tuple(sorted(newest.keys() - expired.keys())), tuple(sorted(expired)))
    return [result], [_finding(name, waiver) for name, waiver in sorted(expired.items())]


def _matters(waiver: Waiver, found: Sequence[Finding], gaps: Sequence[Gap]) -> bool:
    if waiver.gap:
        return any(gap_waived(gap, [waiver], waiver.expires) for gap in gaps)
    return any(covers(waiver, finding) for finding in found)


def _finding(name: str, waiver: Waiver) -> Finding:
    message = f"the waiver of {name[7:-1]} expired after {waiver.expires} (owner {waiver.owner}: {waiver.reason})"
    return Finding(
        fingerprint=fingerprint(RULE, name),
        rule=RULE,
        object=name,
        severity=Severity.WARNING,
        devices=(),
        address=name,
        expected="a waiver in force, or none",
        observed=f"expired after {waiver.expires}",
        message=message,
        remedy=REMEDY,
        root=("waiver", name),
        origin=replace(waiver.origin, file=f"baselines/{SCOPE}"),
    )
