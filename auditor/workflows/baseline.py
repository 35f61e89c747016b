"""The stories of `auditor baseline list` and `lint`: every document of a project read, every error at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from auditor.baseline.library import Library
from auditor.baseline.lint import lint as lint_baselines
from auditor.errors import AuditorError, ErrorList, SetupError
from auditor.model import Fabric, Plan
from auditor.plan.groups import check_devices
from auditor.settings import FILE
from auditor.workflows.project import load_project, vocabulary


def _flat(error: SetupError) -> list[SetupError]:
    return error.errors if isinstance(error, ErrorList) else [error]


def listed(folder: str) -> Iterator[tuple[str, str, str, str]]:
    """(profile, version, what it changes, file) of every baseline usable here; outside a project, the shipped ones."""
    inside = (Path(folder) / FILE).exists()
    library = load_project(folder).library if inside else Library(None, vocabulary(Plan(), Fabric()))
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
