"""The story of `auditor findings waive`: a stored finding, or a gap, becomes a line of `waivers.yaml`."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

from auditor.baseline.waivers import FILE, GAP, add_waiver, known_waivers
from auditor.errors import SetupError
from auditor.model import Finding, Waiver
from auditor.settings import Settings
from auditor.workflows.project import load_settings, open_project_store

UNENDED = ("open", "regressed", "flapping", "unverified", "waived")


def waive(
    folder: str, fingerprint: str | None, gap: str | None, owner: str, reason: str, expires: str, today: date | None = None
) -> tuple[Path, Waiver, str]:
    """Write the waiver; gives the file, the waiver and what it is about in words. Raises SetupError, StoreError."""
    if (fingerprint is None) == (gap is None):
        raise SetupError("name either the fingerprint of a finding or --gap DEVICE:TABLE")
    if not owner.strip() or not reason.strip():
        raise SetupError("--owner and --reason must say something")
    settings = load_settings(folder)
    until = _day(expires, today or datetime.now(UTC).date())
    remark = ""
    if gap is not None:
        if GAP.fullmatch(gap) is None:
            raise SetupError(f"--gap {gap!r} is no gap; write device:table or device:table:reason")
        waiver = Waiver(owner.strip(), reason.strip(), until, gap=gap)
    else:
        finding = _finding(settings, str(fingerprint))
        remark = f"{finding.rule} on {finding.object}"
        waiver = Waiver(owner.strip(), reason.strip(), until, fingerprint=finding.fingerprint)
    file = settings.baselines / FILE
    for known in known_waivers(file):
        if (known.fingerprint, known.gap) == (waiver.fingerprint, waiver.gap) and known.expires >= until:
            raise SetupError(f"it is waived until {known.expires} already ({file}:{known.origin.line})")
    file.parent.mkdir(parents=True, exist_ok=True)
    add_waiver(file, waiver, remark)
    return file, waiver, remark


def _day(text: str, today: date) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise SetupError(f"--expires {text!r} is no day; write it like 2030-01-31") from None
    if found < today:
        raise SetupError(f"--expires {found} is over already")
    return found


def _finding(settings: Settings, prefix: str) -> Finding:
    with closing(open_project_store(settings, create=False)) as store:
        found = [finding for finding in store.findings(UNENDED) if finding.fingerprint.startswith(prefix)]
    if len(found) != 1 or not prefix:
        raise SetupError(f"{len(found) or 'no'} findings that have not ended begin with {prefix!r}")
    return found[0]
