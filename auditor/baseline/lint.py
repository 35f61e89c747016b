"""Finds everything that is wrong with a project's baselines, assignments and waivers in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from auditor.baseline.assignments import FILE as ASSIGNMENTS
from auditor.baseline.assignments import Assignment, read_assignments, uses_of
from auditor.baseline.digests import FILE as DIGESTS
from auditor.baseline.digests import check_digests
from auditor.baseline.document import PROFILE, VERSION, Use, Vocabulary
from auditor.baseline.library import Library
from auditor.baseline.rollout import Rollout, read_rollouts
from auditor.baseline.rollout import check as check_rollouts
from auditor.baseline.waivers import FILE as WAIVERS
from auditor.baseline.waivers import read_waivers
from auditor.errors import BaselineError, ErrorList, FileError, SetupError
from auditor.model import Device, Waiver


def lint(directory: Path, vocabulary: Vocabulary, devices: Iterable[Device], *, shipped: Path | None = None) -> list[SetupError]:
    """All errors of a project's baselines folder, sorted by file and line; empty when it can be used.

    Looks at every document of the folder with what it extends, at the assignments (each must name baselines that exist and
    match a device of the inventory), at rollouts, at the digests of released baselines and at the waivers. Shipped baselines
    count where the project uses them.
    """
    errors: list[SetupError] = []
    if not directory.is_dir():
        return [BaselineError("there is no such folder", directory)]
    library = Library(directory, vocabulary, shipped=shipped)
    errors += _stray(directory)
    rules = set(vocabulary.rule_ids)
    for use in library.names(shipped=False):
        try:
            rules.update(line.id for document in library.chain(use) for line in document.expectations)
        except ErrorList as problem:
            errors += problem.errors
    errors += check_digests(directory, library)
    listed = list(devices)
    assignments: tuple[Assignment, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    if (directory / ASSIGNMENTS).exists():
        try:
            assignments = read_assignments(directory / ASSIGNMENTS)
        except ErrorList as problem:
            errors += problem.errors
        try:
            rollouts = read_rollouts(directory / ASSIGNMENTS)
        except ErrorList as problem:
            errors += problem.errors
    errors += _check_assignments(assignments, rollouts, library, listed, rules)
    errors += check_rollouts(rollouts, {device.name: uses_of(device, assignments) for device in listed}, listed)
    if (directory / WAIVERS).exists():
        try:
            errors += _check_waivers(read_waivers(directory / WAIVERS), rules)
        except ErrorList as problem:
            errors += problem.errors
    unique = {str(error): error for error in errors}
    return sorted(unique.values(), key=_place)


def _place(error: SetupError) -> tuple[str, int, str]:
    if isinstance(error, FileError):
        return error.file or "", error.line or 0, error.message
    return "", 0, str(error)


def _stray(directory: Path) -> Iterable[SetupError]:
    """Files that look like baselines and would never be read."""
    for file in sorted(directory.rglob("*.y*ml")):
        parts = file.relative_to(directory).parts
        if parts in ((ASSIGNMENTS,), (WAIVERS,), (DIGESTS,)):
            continue
        named = len(parts) == 2 and PROFILE.fullmatch(parts[0]) and file.suffix == ".yaml" and VERSION.fullmatch(file.stem)
        if not named:
            yield BaselineError("is never read: a baseline stands at <profile>/<version>.yaml, like roce-leaf/1.0.0.yaml", file)


def _check_assignments(
    assignments: Iterable[Assignment], rollouts: Iterable[Rollout], library: Library, devices: list[Device], rules: set[str]
) -> Iterable[SetupError]:
    asked: dict[tuple[str, str], Use] = {}
    for assignment in assignments:
        if devices and not any(assignment.matches(device) for device in devices):
            words = ", ".join(f"{key}: {' or '.join(globs)}" for key, globs in assignment.select.items())
            yield BaselineError(f"selects no device of the inventory ({words})", assignment.file, assignment.line)
        for use in assignment.use:
            asked.setdefault((use.profile, use.version), use)
    for rollout in rollouts:
        for use in (rollout.old, rollout.new):
            asked.setdefault((use.profile, use.version), use)
    for use in asked.values():
        try:
            rules.update(line.id for document in library.chain(use) for line in document.expectations)
        except ErrorList as problem:
            yield from problem.errors


def _check_waivers(waivers: Iterable[Waiver], rules: set[str]) -> Iterable[SetupError]:
    for waiver in waivers:
        named = not waiver.fingerprint and not waiver.gap
        if named and not any(fnmatchcase(rule, waiver.rule) for rule in rules):
            message = f"rule {waiver.rule!r} is the name of no rule and of no baseline line in use"
            yield BaselineError(message, waiver.origin.file, waiver.origin.line)
