"""A project folder, or what stands in for one: settings, inventory, plan, fabric, baselines and waivers, read together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from auditor.baseline.assignments import FILE as ASSIGNMENTS
from auditor.baseline.assignments import Assignment, read_assignments, uses_of
from auditor.baseline.document import Use, Vocabulary, parse_use
from auditor.baseline.library import Library
from auditor.baseline.resolve import Baselines, Resolver
from auditor.baseline.rollout import Rollout, read_rollouts, release_of
from auditor.baseline.waivers import FILE as WAIVERS
from auditor.baseline.waivers import read_waivers
from auditor.checks import rules
from auditor.collect import inventory as inventories
from auditor.collect.inventory import Inventory
from auditor.errors import ErrorList, SetupError
from auditor.model import Device, Document, Fabric, Plan, Status, Waiver
from auditor.plan.document import read_plan
from auditor.plan.fabric import read_fabric
from auditor.plan.groups import group_names
from auditor.settings import Settings
from auditor.settings import load as load_settings_of
from auditor.store import Store, open_store


@dataclass
class Project:
    """Everything a run needs beside the devices' answers. `at` is the time whose versions count where a rollout is under way."""

    settings: Settings
    inventory: Inventory
    plan: Plan = field(default_factory=Plan)
    fabric: Fabric = field(default_factory=Fabric)
    assignments: tuple[Assignment, ...] = ()
    rollouts: tuple[Rollout, ...] = ()
    uses: tuple[Use, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def parsers(self) -> Path | None:
        """A folder of templates that override the shipped ones."""
        return self.settings.parsers

    @cached_property
    def devices(self) -> Mapping[str, Device]:
        """Every device of the inventory by name."""
        return {device.name: device for device in self.inventory.devices}

    @cached_property
    def library(self) -> Library:
        """The project's baselines before the shipped ones."""
        folder = self.settings.baselines
        return Library(folder if folder.is_dir() else None, vocabulary(self.plan, self.fabric))

    @cached_property
    def _resolver(self) -> Resolver:
        return Resolver(self.library, self.assignments, self.rollouts)

    def uses_for(self, device: Device) -> tuple[tuple[Use, ...], ...]:
        """The sets of `profile@version` of which a device must satisfy one wholly: several only in a rollout's window."""
        return (self.uses,) if self.uses else self._resolver.uses_for(device, self.at)

    def release_of(self, device: Device) -> str | None:
        """The versions that rollouts have moved a device to, empty where none has; None in a window, or of a planned device."""
        if device.status is Status.PLANNED:
            return None
        if self.uses or not self.rollouts:
            return ""
        return release_of(uses_of(device, self.assignments), self.uses_for(device))

    def versions_for(self, device: Device) -> tuple[Baselines, ...]:
        """What a device must be, one of these sets: named on the command line, else assigned. Raises ErrorList."""
        return tuple(self.baselines(uses) for uses in self.uses_for(device))

    def baselines(self, uses: tuple[Use, ...]) -> Baselines:
        """What these versions together demand. Raises ErrorList."""
        return self._resolver.baselines(uses)

    def baselines_for(self, device: Device) -> Baselines:
        """What a device must be, or become where a rollout is under way. Raises ErrorList."""
        return self.versions_for(device)[-1]

    @property
    def documents(self) -> tuple[Document, ...]:
        """The plan and fabric documents of this run."""
        found = []
        if self.fabric.digest:
            found.append(Document("fabric", "fabric", self.fabric.digest, self.fabric.file, self.fabric.text))
        if self.plan.digest:
            found.append(Document("plan", self.plan.name, self.plan.digest, self.plan.file, self.plan.text))
        return tuple(found)


def vocabulary(plan: Plan, fabric: Fabric) -> Vocabulary:
    """What baselines may name: the rules there are, the types of their params, the groups of plan and fabric."""
    known = rules()
    types = {rule.id: rule.params_type for rule in known.values() if rule.params_type is not None}
    groups = group_names(plan, fabric) if plan.links or fabric.digest else None
    return Vocabulary(fabric, frozenset(known), types, groups)


def load_settings(folder: str | Path) -> Settings:
    """The settings of a project folder; raises SetupError when it is none."""
    return load_settings_of(Path(folder))


def load_project(folder: str | Path, *, plan: str | None = None, baselines: Sequence[str] = ()) -> Project:
    """Read a whole project folder; the errors of all its documents are raised at once (ErrorList)."""
    settings = load_settings(folder)
    errors: list[SetupError] = []
    plan_file = Path(plan) if plan else settings.plan
    found = Project(
        settings=settings,
        inventory=_read(inventories.load, settings.inventory, Inventory(()), errors),
        plan=_read(read_plan, plan_file, Plan(), errors) if plan or plan_file.exists() else Plan(),
        fabric=_read(read_fabric, settings.fabric, Fabric(), errors) if settings.fabric.exists() else Fabric(),
        assignments=_read_optional(read_assignments, settings.baselines / ASSIGNMENTS, errors),
        rollouts=_read_optional(read_rollouts, settings.baselines / ASSIGNMENTS, errors),
        uses=_uses(baselines, errors),
        waivers=_read_optional(read_waivers, settings.baselines / WAIVERS, errors),
    )
    if errors:
        raise ErrorList(list({str(error): error for error in errors}.values()))
    return found


def stand_in(devices: Sequence[Device], *, plan: str | None = None, baselines: Sequence[str] = ()) -> Project:
    """A project for `--from CAPTURE` outside any project folder: the capture's devices, and what the options name."""
    errors: list[SetupError] = []
    found = Project(
        settings=load_settings_of(Path(), required=False),
        inventory=Inventory(tuple(devices)),
        plan=_read(read_plan, Path(plan), Plan(), errors) if plan else Plan(),
        uses=_uses(baselines, errors),
    )
    if errors:
        raise ErrorList(errors)
    return found


T = TypeVar("T")


def _read(reader: Callable[[Path], T], file: Path, empty: T, errors: list[SetupError]) -> T:
    try:
        return reader(file)
    except ErrorList as problem:
        errors.extend(problem.errors)
    except SetupError as problem:
        errors.append(problem)
    return empty


def _read_optional(reader: Callable[[Path], tuple[T, ...]], file: Path, errors: list[SetupError]) -> tuple[T, ...]:
    return _read(reader, file, (), errors) if file.exists() else ()


def _uses(texts: Sequence[str], errors: list[SetupError]) -> tuple[Use, ...]:
    out = []
    for text in texts:
        try:
            out.append(parse_use(text, "--baseline"))
        except SetupError as problem:
            errors.append(problem)
    return tuple(out)


def open_project_store(settings: Settings, *, create: bool = True) -> Store:
    """The project's database and raw content store. Raises StoreError."""
    return open_store(settings.store, settings.raw, create=create)
