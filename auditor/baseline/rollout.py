"""Rollouts: waves that move devices from one version of a baseline to the next, and which versions count at a time.

```yaml
# assignments.yaml
rollouts:
  - name: leaf-1.3
    from: site-leaf@1.2.0
    to: site-leaf@1.3.0
    window: 4h                  # how long the work of a wave takes; a wave may say its own
    soak: 72h                   # how long a wave must stand before the next may start (the default)
    waves:
      - {select: {name: leaf-01}, start: 2030-05-06T22:00:00Z}
      - {select: {rack: R12}, start: 2030-05-10T22:00:00Z, window: 6h}
      - {select: {pod: pod-1}}  # not dated yet: its devices stay where they are
```

A device belongs to the first wave that selects it, and only if it is assigned the version that the rollout comes from. Until
`start` the old version counts; in [start, start + window) the device must satisfy one of the two wholly; from then on the new
one. Nothing here reads a clock: every question takes the time it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.baseline.assignments import Select, read_select, selects
from auditor.baseline.document import Use, parse_use
from auditor.errors import BaselineError, ErrorList, SetupError
from auditor.model import Device
from auditor.settings import duration, suggest
from auditor.yamldoc import YamlDocument

SOAK = timedelta(hours=72)
"""How long each wave stands before the next (seed): time for a nightly scan or two and a working day of jobs."""

_KEYS = ("name", "from", "to", "window", "soak", "waves")
_WAVE_KEYS = ("select", "start", "window", "soak")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Wave:
    """One step of a rollout. Without `start` it is not planned yet."""

    select: Select
    start: datetime | None = None
    window: timedelta = timedelta(0)
    soak: timedelta = SOAK
    line: int | None = None

    @property
    def end(self) -> datetime | None:
        """When the window closes: from then on only the new version passes."""
        return None if self.start is None else self.start + self.window

    @property
    def soaked(self) -> datetime | None:
        """When the next wave may start, as far as time goes."""
        return None if self.start is None else self.start + self.window + self.soak


@dataclass(frozen=True, slots=True)
class Rollout:
    """A profile's way from one version to another."""

    name: str
    old: Use
    new: Use
    waves: tuple[Wave, ...] = ()
    file: str = ""
    line: int | None = None

    def wave_of(self, device: Device) -> int | None:
        """The number (from 0) of the wave that a device belongs to; None when none selects it."""
        return next((at for at, wave in enumerate(self.waves) if selects(wave.select, device)), None)


def versions_of(device: Device, uses: tuple[Use, ...], rollouts: Iterable[Rollout], at: datetime) -> tuple[tuple[Use, ...], ...]:
    """The sets of versions of which a device must satisfy one wholly at a time, the oldest first; mostly a single one."""
    sets = [uses]
    for rollout in rollouts:
        number = rollout.wave_of(device)
        wave = None if number is None else rollout.waves[number]
        if wave is None or wave.start is None or wave.end is None or at < wave.start:
            continue
        moved = [_moved(some, rollout) for some in sets]
        sets = moved if at >= wave.end else [*sets, *moved]
    unique: dict[tuple[tuple[str, str], ...], tuple[Use, ...]] = {}
    for some in sets:
        unique.setdefault(tuple((use.profile, use.version) for use in some), some)
    return tuple(unique.values())


def release_of(uses: tuple[Use, ...], sets: Sequence[tuple[Use, ...]]) -> str | None:
    """The versions that rollouts have moved a device to, empty where none has; None inside a window, where it may have either.

    `uses` are what it is assigned, `sets` what `versions_of` says of them.
    """
    if len(sets) > 1:
        return None
    return "+".join(f"{use.profile}@{use.version}" for use in sets[0] if use not in uses)


def _moved(uses: tuple[Use, ...], rollout: Rollout) -> tuple[Use, ...]:
    """The uses with the old version replaced in its place; a device that is assigned another version stays on it."""
    old = (rollout.old.profile, rollout.old.version)
    return tuple(rollout.new if (use.profile, use.version) == old else use for use in uses)


def read_rollouts(file: Path) -> tuple[Rollout, ...]:
    """The rollouts of `assignments.yaml`; raises ErrorList with all of their errors."""
    try:
        document = yamldoc.read(file, BaselineError)
    except SetupError as problem:
        raise ErrorList([problem]) from problem
    items = document.data.get("rollouts", []) if isinstance(document.data, dict) else []
    errors: list[SetupError] = []
    if not isinstance(items, list):
        raise ErrorList([document.error(BaselineError, "'rollouts' must be a list of {name, from, to, waves}", "rollouts")])
    reader = _Reader(document, errors)
    found = [reader.rollout(item, ("rollouts", at)) for at, item in enumerate(items)]
    named: dict[str, Rollout] = {}
    for rollout in filter(None, found):
        if rollout.name in named:
            message = f"rollout {rollout.name!r} stands twice, first on line {named[rollout.name].line}"
            errors.append(BaselineError(message, document.file, rollout.line))
        named.setdefault(rollout.name, rollout)
    if errors:
        raise ErrorList(errors)
    return tuple(named.values())


class _Reader:
    """Reads rollouts and gathers all that is wrong with them."""

    def __init__(self, document: YamlDocument, errors: list[SetupError]) -> None:
        self.document, self.errors = document, errors

    def fail(self, message: str, *path: str | int) -> None:
        self.errors.append(self.document.error(BaselineError, message, *path))

    def keys(self, item: Mapping[str, Any], known: tuple[str, ...], path: yamldoc.Path_) -> None:
        for key in item:
            if key not in known:
                self.fail(f"unknown key {key!r}{suggest(key, list(known))}", *path, key)

    def rollout(self, item: Any, path: yamldoc.Path_) -> Rollout | None:
        if not isinstance(item, dict):
            self.fail("a rollout must be a mapping with name, from, to and waves", *path)
            return None
        self.keys(item, _KEYS, path)
        name = item.get("name")
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            self.fail(f"'name' must be a word like leaf-1.3, not {name!r}", *path, "name")
        old, new = (self.use(item.get(key), (*path, key)) for key in ("from", "to"))
        if old and new and old.profile != new.profile:
            self.fail(f"goes from {old} to {new}: a rollout moves devices between versions of one profile", *path, "to")
        elif old and new and old.version == new.version:
            self.fail(f"goes from {old} to itself", *path, "to")
        waves = item.get("waves")
        if not isinstance(waves, list) or not waves:
            self.fail("'waves' must be a list like [{select: {name: leaf-01}, start: 2030-05-06T22:00:00Z}]", *path, "waves")
            waves = []
        window, soak = self.span(item, "window", path), self.span(item, "soak", path)
        found = [self.wave(each, (*path, "waves", at), window, soak or SOAK) for at, each in enumerate(waves)]
        self.order(found, path)
        if old is None or new is None:
            return None
        return Rollout(str(name), old, new, tuple(filter(None, found)), self.document.file, self.document.line(*path))

    def use(self, written: Any, path: yamldoc.Path_) -> Use | None:
        try:
            return parse_use(written, self.document.file, self.document.line(*path))
        except BaselineError as problem:
            self.errors.append(problem)
            return None

    def wave(self, item: Any, path: yamldoc.Path_, window: timedelta | None, soak: timedelta) -> Wave | None:
        if not isinstance(item, dict):
            self.fail("a wave must be a mapping with select, start and window", *path)
            return None
        self.keys(item, _WAVE_KEYS, path)
        select = read_select(self.document, item.get("select"), (*path, "select"), self.errors)
        own_window, own_soak = self.span(item, "window", path), self.span(item, "soak", path)
        window = window if own_window is None else own_window
        start = self.moment(item["start"], (*path, "start")) if "start" in item else None
        if start is not None and not window:
            self.fail("a wave with a start needs a 'window', the time its work takes, like 4h", *path)
        soak = soak if own_soak is None else own_soak
        return Wave(select, start, window or timedelta(0), soak, self.document.line(*path))

    def span(self, item: Mapping[str, Any], key: str, path: yamldoc.Path_) -> timedelta | None:
        if key not in item:
            return None
        try:
            return duration(item[key])
        except ValueError as problem:
            self.fail(f"{key!r}: {problem}", *path, key)
            return None

    def moment(self, written: Any, path: yamldoc.Path_) -> datetime | None:
        found = written
        if isinstance(written, str):
            try:
                found = datetime.fromisoformat(written)
            except ValueError:
                found = None
        if not isinstance(found, datetime) or found.tzinfo is None:
            shown = written.isoformat() if isinstance(written, date) else repr(written)
            self.fail(f"'start' must be a time with its zone like 2030-05-06T22:00:00Z, not {shown}", *path)
            return None
        return found

    def order(self, waves: Sequence[Wave | None], path: yamldoc.Path_) -> None:
        """Waves start one after another, each when the one before has soaked."""
        for at, (before, wave) in enumerate(pairwise(waves), 1):
            if before is None or wave is None or wave.start is None:
                continue
            if before.soaked is None:
                self.fail("starts although the wave before it has no start", *path, "waves", at, "start")
            elif wave.start < before.soaked:
                message = f"starts before the wave before it has soaked, at {before.soaked.isoformat()}"
                self.fail(message, *path, "waves", at, "start")


def check(rollouts: Iterable[Rollout], assigned: Mapping[str, tuple[Use, ...]], devices: Sequence[Device]) -> list[SetupError]:
    """Rollouts against the inventory: waves without devices, and devices that have neither version. `assigned`: by name."""
    errors: list[SetupError] = []
    for rollout in rollouts:
        versions = {(use.profile, use.version) for use in (rollout.old, rollout.new)}
        members: dict[int, list[Device]] = {}
        for device in devices:
            if (number := rollout.wave_of(device)) is not None:
                members.setdefault(number, []).append(device)
        for number, wave in enumerate(rollout.waves if devices else ()):
            having = [
                device
                for device in members.get(number, ())
                if versions & {(use.profile, use.version) for use in assigned.get(device.name, ())}
            ]
            if not members.get(number):
                errors.append(
                    BaselineError(f"wave {number + 1} selects no device that no earlier wave has", rollout.file, wave.line)
                )
            elif not having:
                message = f"wave {number + 1}: none of its devices is assigned {rollout.old} or {rollout.new}"
                errors.append(BaselineError(message, rollout.file, wave.line))
    return errors
