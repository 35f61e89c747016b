"""From assignments and rollouts to what one device must be at a time: usually one set of baselines, in a window several."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from auditor.baseline.assignments import Assignment, uses_of
from auditor.baseline.document import Use
from auditor.baseline.library import Library, overlay
from auditor.baseline.rollout import Rollout, versions_of
from auditor.errors import ErrorList, SetupError
from auditor.model import Baseline, Device

Baselines = tuple[Baseline, ...]
"""What a device must be by one set of versions; of two lines with one id the later baseline's stands."""


class Resolver:
    """Baselines by device and time; devices with the same versions share the same objects."""

    def __init__(self, library: Library, assignments: Sequence[Assignment], rollouts: Sequence[Rollout] = ()) -> None:
        self.library, self.assignments, self.rollouts = library, assignments, rollouts
        self._known: dict[tuple[tuple[str, str], ...], Baselines] = {}

    def uses_for(self, device: Device, at: datetime) -> tuple[tuple[Use, ...], ...]:
        """The sets of versions of which a device must satisfy one wholly, the newest last. Never empty; a set may be."""
        return versions_of(device, uses_of(device, self.assignments), self.rollouts, at)

    def baselines(self, uses: Sequence[Use]) -> Baselines:
        """One set of versions as baselines. Raises ErrorList with all errors."""
        key = tuple((use.profile, use.version) for use in uses)
        if key not in self._known:
            self._known[key] = resolve_uses(self.library, uses)
        return self._known[key]


def resolve_uses(library: Library, uses: Sequence[Use]) -> Baselines:
    """Several `profile@version` for one device, in order (`--baseline P@V …`). Raises ErrorList with all of their errors."""
    found: list[Baseline] = []
    errors: dict[str, SetupError] = {}
    for use in uses:
        try:
            found.append(library.resolve(use.profile, use.version, file=use.file, line=use.line))
        except ErrorList as problem:
            errors.update({str(error): error for error in problem.errors})
    if errors:
        raise ErrorList(list(errors.values()))
    return overlay(found)
