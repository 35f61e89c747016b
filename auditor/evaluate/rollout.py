"""Judges a device by the several versions that count inside a rollout's window: it must satisfy one of them wholly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditor.canonical import printable
from auditor.evaluate.device import Judged, Subject, judge
from auditor.model import Baseline, Finding, State, Verdict

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A device judged by one set of versions. `own` are the failures that not every version has in common."""

    name: str
    judged: Judged
    own: frozenset[Key]

    @property
    def distance(self) -> tuple[int, int]:
        """How far the device is from this version: failures first, then what could not be judged."""
        crashed = sum(result.verdict is Verdict.ERROR for result in self.judged.results)
        return len(self.own) + crashed, sum(len(result.unseen) for result in self.judged.results)


def judge_any(state: State, subject: Subject, alternatives: Sequence[tuple[Baseline, ...]]) -> Judged:
    """Judge by `subject.baselines` or one of the newer `alternatives`, whichever the device is nearer to; of equals the newest.

    A device that satisfies one version wholly has no finding of any other. One between the versions has the findings of the
    nearer, each saying so. A failure that all versions agree on is no matter of the rollout: it stands and names none.
    """
    if not alternatives:
        return judge(state, subject)
    versions = [subject.baselines, *alternatives]
    judged = [judge(state, replace(subject, baselines=version)) for version in versions]
    keys = [frozenset(map(_key, one.findings)) for one in judged]
    common = frozenset.intersection(*keys)
    trials = [
        _Trial(_name(version, versions), one, own - common) for version, one, own in zip(versions, judged, keys, strict=True)
    ]
    nearest = min(reversed(trials), key=lambda trial: trial.distance)
    if not nearest.own:
        return nearest.judged
    others = ", ".join(f"{trial.name} ({len(trial.own)} failures)" for trial in trials if trial is not nearest)
    words = (
        f"; in a rollout window and wholly on no version, nearest to {nearest.name} ({len(nearest.own)} failures), not {others}"
    )
    nearest.judged.findings = [_told(finding, words, nearest) for finding in nearest.judged.findings]
    return nearest.judged


def _key(finding: Finding) -> Key:
    return finding.fingerprint, finding.expected, finding.observed


def _name(version: Sequence[Baseline], versions: Sequence[Sequence[Baseline]]) -> str:
    """The baselines by which a version differs from the others."""
    names = [{f"{baseline.profile}@{baseline.version}" for baseline in each} for each in versions]
    shared = set.intersection(*names)
    return ", ".join(name for each in version if (name := f"{each.profile}@{each.version}") not in shared)


def _told(finding: Finding, words: str, nearest: _Trial) -> Finding:
    if _key(finding) not in nearest.own:
        return finding
    return replace(finding, message=printable(finding.message + words, 2000))
