"""From judgements to findings: objects, fingerprints, severities, waivers, and the mirror of gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from hashlib import sha256

from auditor.address import Address
from auditor.model import Deviation, DocumentOrigin, Finding, Gap, GapReason, Severity, Spot, Waiver


def fingerprint(rule: str, object_: str) -> str:
    """Name of a finding for ever: the hash of its rule and its object, and of nothing else."""
    return sha256(f"{rule}\0{object_}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def object_text(device: str, object_: Address | Spot | str) -> str:
    """`dev:table[key]` for a row, `link[a:p|b:q]` for a link."""
    if isinstance(object_, Spot):
        device, object_ = object_.device, object_.address
    return f"{device}:{object_.row}" if isinstance(object_, Address) else f"link[{object_}]"


def make(
    rule: str,
    object_: str,
    devices: tuple[str, ...],
    deviation: Deviation,
    severity: Severity,
    root: tuple[str, str],
    remedy: str = "",
    origin: DocumentOrigin | None = None,
) -> Finding:
    """A finding of a deviation, not yet stored, without evidence."""
    first = deviation.spots[0].address if deviation.spots else None
    return Finding(
        fingerprint=fingerprint(rule, object_),
        rule=rule,
        object=object_,
        severity=deviation.severity or severity,
        devices=devices,
        address=str(deviation.spots[0]) if deviation.spots else object_,
        expected=deviation.expected,
        observed=deviation.observed,
        message=deviation.message,
        remedy=deviation.remedy or remedy,
        layer=str(first.layer or "") if first is not None else "",
        root=root,
        spots=deviation.spots,
        origin=origin or DocumentOrigin(),
    )


def waive(findings: Iterable[Finding], waivers: Sequence[Waiver], today: date) -> list[Finding]:
    """Mark the findings that a waiver in force covers."""
    in_force = [waiver for waiver in waivers if waiver.expires >= today and not waiver.gap]
    out = []
    for finding in findings:
        found = next((waiver for waiver in in_force if covers(waiver, finding)), None)
        if found is not None:
            waiver = {"owner": found.owner, "reason": found.reason, "expires": found.expires.isoformat()}
            finding = replace(finding, waiver=waiver)
        out.append(finding)
    return out


def covers(waiver: Waiver, finding: Finding) -> bool:
    """Whether a waiver, in force or not, is about this finding."""
    if waiver.fingerprint:
        return waiver.fingerprint == finding.fingerprint
    return fnmatchcase(finding.rule, waiver.rule) and fnmatchcase(_plain(finding.object), _plain(waiver.object))


def _plain(text: str) -> str:
    """Brackets are part of every address, never a set of characters."""
    return text.replace("[", "(").replace("]", ")")


def gap_waived(gap: Gap, waivers: Sequence[Waiver], today: date) -> bool:
    """Whether a waiver in force accepts that this cannot be seen. Its pattern is over `device:table` or `device:table:reason`."""
    names = (f"{gap.device}:{gap.table}", f"{gap.device}:{gap.table}:{gap.reason}")
    return any(
        waiver.gap and waiver.expires >= today and any(fnmatchcase(name, waiver.gap) for name in names) for waiver in waivers
    )


def counts_as_incomplete(gap: Gap, *, strict: bool = False) -> bool:
    """Whether a gap makes a run incomplete: all do but what a platform declares unsupported (unless `strict`)."""
    return strict or gap.reason is not GapReason.UNSUPPORTED
