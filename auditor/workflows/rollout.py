"""The stories of `auditor rollout status` and `gate`: how far each wave is and whether the next may start, from the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from auditor.baseline.assignments import uses_of
from auditor.baseline.rollout import Rollout, Wave
from auditor.errors import SetupError
from auditor.model import Device, Finding, Severity
from auditor.store import Store
from auditor.workflows.project import Project

PLANNED, WINDOW, SOAKING, DONE = "planned", "window", "soaking", "soaked"
_STANDING = ("open", "regressed", "flapping", "unverified")
_GONE = ("", "resolved", "withdrawn")


@dataclass(frozen=True, slots=True)
class WaveStatus:
    """One wave at a time: its devices, its findings that are new since its start, and devices not seen since its window."""

    number: int
    wave: Wave
    state: str
    devices: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def left(self) -> str:
        """What stands in the way of the next wave, in words; empty when nothing does."""
        reasons = []
        if self.state == WINDOW:
            reasons.append(f"its window ends at {_time(self.wave.end)}")
        if self.state in (WINDOW, SOAKING):
            reasons.append(f"it soaks until {_time(self.wave.soaked)}")
        if self.findings:
            reasons.append(f"{len(self.findings)} new findings")
        if self.unseen:
            reasons.append(f"{len(self.unseen)} devices not audited since its window ended")
        return ", ".join(reasons)


@dataclass(frozen=True, slots=True)
class RolloutStatus:
    """A rollout at a time."""

    rollout: Rollout
    at: datetime
    waves: tuple[WaveStatus, ...]

    @property
    def next(self) -> WaveStatus | None:
        """The first wave that has not started."""
        return next((wave for wave in self.waves if wave.state == PLANNED), None)

    @property
    def blocking(self) -> tuple[WaveStatus, ...]:
        """Started waves that stand in the way of the next one."""
        return tuple(wave for wave in self.waves if wave.state != PLANNED and wave.left)


def statuses(project: Project, store: Store, at: datetime, name: str | None = None) -> list[RolloutStatus]:
    """All rollouts of a project, or the one of this name, as they stand at a time. Raises SetupError, StoreError."""
    chosen = project.rollouts if name is None else (_named(project.rollouts, name),)
    if not chosen:
        return []
    standing = store.findings(_STANDING)
    seen = {device: collected_at for device, collected_at, _ in store.last_states(_members(project, chosen))}
    return [_status(rollout, project, store, standing, seen, at) for rollout in chosen]


def _named(rollouts: Sequence[Rollout], name: str) -> Rollout:
    found = next((rollout for rollout in rollouts if rollout.name == name), None)
    if found is None:
        near = get_close_matches(name, [rollout.name for rollout in rollouts], 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise SetupError(f"assignments.yaml has no rollout {name!r}{hint}")
    return found


def _members(project: Project, rollouts: Iterable[Rollout]) -> set[str]:
    return {name for rollout in rollouts for names in members(project, rollout) for name in names}


def members(project: Project, rollout: Rollout) -> list[tuple[str, ...]]:
    """The devices of each wave: those it is the first to select and that are assigned either version."""
    versions = {(use.profile, use.version) for use in (rollout.old, rollout.new)}
    out: list[list[str]] = [[] for _ in rollout.waves]
    for device in project.inventory.devices:
        number = rollout.wave_of(device)
        if number is not None and _assigned(project, device, project.rollouts, versions):
            out[number].append(device.name)
    return [tuple(names) for names in out]


def _assigned(project: Project, device: Device, rollouts: Iterable[Rollout], versions: set[tuple[str, str]]) -> bool:
    """Whether a device is, or by other rollouts comes to be, on one of these versions."""
    known = {(use.profile, use.version) for use in uses_of(device, project.assignments)}
    for rollout in rollouts:
        if (rollout.old.profile, rollout.old.version) in known and rollout.wave_of(device) is not None:
            known.add((rollout.new.profile, rollout.new.version))
    return bool(known & versions)


def _status(
    rollout: Rollout,
    project: Project,
    store: Store,
    standing: Sequence[Finding],
    seen: Mapping[str, datetime],
    at: datetime,
) -> RolloutStatus:
    waves = []
    for number, (wave, devices) in enumerate(zip(rollout.waves, members(project, rollout), strict=True), 1):
        state = _state(wave, at)
        found: tuple[Finding, ...] = ()
        unseen: tuple[str, ...] = ()
        if state != PLANNED and wave.start is not None and wave.end is not None:
            names, since = frozenset(devices), wave.end
            found = tuple(one for one in standing if not names.isdisjoint(one.devices) and _is_new(one, wave.start, store))
            if state != WINDOW:
                unseen = tuple(name for name in devices if name not in seen or seen[name] < since)
        waves.append(WaveStatus(number, wave, state, devices, found, unseen))
    return RolloutStatus(rollout, at, tuple(waves))


def _state(wave: Wave, at: datetime) -> str:
    if wave.start is None or wave.end is None or wave.soaked is None or at < wave.start:
        return PLANNED
    return WINDOW if at < wave.end else SOAKING if at < wave.soaked else DONE


def _is_new(finding: Finding, since: datetime, store: Store) -> bool:
    """Whether a finding came, or came back, after a time. Mirrors of gaps and other information do not hold a rollout up."""
    if finding.severity is Severity.INFORMATION:
        return False
    if finding.first_seen and datetime.fromisoformat(finding.first_seen) >= since:
        return True
    return any(event.at >= since and event.from_state in _GONE for event in store.events(finding.fingerprint))


def _time(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M %Z}"
