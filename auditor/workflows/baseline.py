"""The stories of `auditor baseline list`, `lint`, `show`, `diff` and `freeze`: what the documents of a project say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from auditor.baseline.diff import Difference, diff, meaning
from auditor.baseline.digests import freeze
from auditor.baseline.document import parse_use
from auditor.baseline.explain import Explanation, explain
from auditor.baseline.library import Library
from auditor.baseline.lint import lint as lint_baselines
from auditor.errors import AuditorError, ErrorList, SetupError
from auditor.model import Device, Fabric, Plan
from auditor.plan.groups import check_devices
from auditor.settings import FILE
from auditor.workflows.project import load_project, vocabulary


def _flat(error: SetupError) -> list[SetupError]:
    return error.errors if isinstance(error, ErrorList) else [error]


def _library(folder: str) -> Library:
    inside = (Path(folder) / FILE).exists()
    return load_project(folder).library if inside else Library(None, vocabulary(Plan(), Fabric()))


def listed(folder: str) -> Iterator[tuple[str, str, str, str]]:
    """(profile, version, what it changes, file) of every baseline usable here; outside a project, the shipped ones."""
    library = _library(folder)
    for use in library.names():
        try:
            changes = library.read(use).changes
        except AuditorError as error:
            changes = f"cannot be read: {str(error).splitlines()[0]}"
        yield use.profile, use.version, changes, use.file


def lint(folder: str) -> tuple[list[SetupError], int]:
    """All errors of all documents, and how many baselines, assignments, waivers, plan and fabric documents were read."""
    try:
        project = load_project(folder)
    except SetupError as error:
        return _flat(error), 0
    words = vocabulary(project.plan, project.fabric)
    errors: list[SetupError] = list(check_devices(project.plan, project.devices))
    errors.extend(lint_baselines(project.settings.baselines, words, project.inventory.devices))
    counted = len(project.library.names(shipped=False)) + len(project.documents)
    return errors, counted + bool(project.assignments) + bool(project.waivers)


def shown(folder: str, name: str, at: datetime | None = None) -> tuple[Device, list[Explanation]]:
    """What a device must be at a time (default: now), explained: several explanations in the window of a rollout."""
    project = load_project(folder)
    (device,) = project.inventory.select(devices=(escaped(name),))
    project.at = at or project.at
    return device, [explain(project.library, uses) for uses in project.uses_for(device)]


def escaped(name: str) -> str:
    """A device's name as a glob that matches it alone."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def compared(folder: str, one: str, other: str) -> tuple[Difference, str]:
    """What differs in meaning between two baselines, and what the second says it changes."""
    library = _library(folder)
    errors: list[SetupError] = []
    found = []
    for text in (one, other):
        try:
            use = parse_use(text)
            found.append(library.resolve(use.profile, use.version))
        except SetupError as error:
            errors.extend(_flat(error))
    if errors:
        raise ErrorList(list({str(error): error for error in errors}.values()))
    return diff(meaning(found[0]), meaning(found[1])), library.read(parse_use(other)).changes


def frozen(folder: str, text: str) -> list[str]:
    """Release a baseline with all that it extends; the names that were not released before. Raises ErrorList."""
    project = load_project(folder)
    if not project.settings.baselines.is_dir():
        raise SetupError(f"{project.settings.baselines} is no folder: there is no baseline to release")
    return freeze(project.settings.baselines, project.library, parse_use(text))
