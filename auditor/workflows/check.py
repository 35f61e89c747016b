"""The story of one audit from the command line: which project, which devices, which collector, which store."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from auditor.collect import Collector
from auditor.collect.capture import CaptureCollector
from auditor.errors import SetupError
from auditor.model import Device, LinkEnd, Place, Run, Severity, Status
from auditor.report import Format
from auditor.settings import FILE
from auditor.store import Store
from auditor.store.raw import RawStore
from auditor.workflows.audit import RawKeeper, audit, exit_code
from auditor.workflows.project import Project, load_project, open_project_store, stand_in
from auditor.workflows.request import Request

__all__ = ["Telling", "Wish", "exit_code", "report_format", "run"]

IN_PROCESS = 3
"""Up to this many devices are analysed in this process: starting workers takes longer than their work."""


class Telling(Protocol):
    """Who is told how far a run is."""

    def start(self, total: int, what: str) -> None:
        """A run over `total` devices begins."""

    def step(self, device: str, words: str = "") -> None:
        """A device is done."""

    def note(self, words: str) -> None:
        """Something a person should know."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the command line asked for. `scope`: devices, groups, roles, racks and pods, as Inventory.select takes them.

    `far_ends`: the devices across the scope's cables, and those that walk an InfiniBand subnet, are asked too, as witnesses.
    `known`: what an earlier look saw of them. `rails`: no plan, but the rail rule. `lang`: the language of work orders.
    """

    folder: str
    scope: Mapping[str, Sequence[str]] = field(default_factory=dict)
    scope_text: str = "all"
    only: Sequence[str] = ()
    capture: str | None = None
    plan: str | None = None
    baselines: Sequence[str] = ()
    keep: bool = True
    everything: bool = False
    fail_on: str | None = None
    far_ends: bool = False
    known: Mapping[Place, LinkEnd] = field(default_factory=dict)
    rails: bool = False
    lang: str = "en"


def run(wish: Wish, told: Telling) -> tuple[Run, Severity]:
    """Audit as wished; returns the run and the severity that fails. Raises SetupError and StoreError."""
    with ExitStack() as stack:
        capture = CaptureCollector(Path(wish.capture)) if wish.capture else None
        project, keep = _project(wish, capture)
        if capture is not None and capture.collected_at is not None:
            project.at = capture.collected_at  # a capture is judged by the versions that counted when it was taken
        devices, planned = _built(project.inventory.select(**wish.scope))
        _check_only(wish, project, devices)
        collector: Collector
        if capture is not None:
            collector = capture
        else:
            from auditor.collect.live import LiveCollector

            collector = LiveCollector(project.inventory, project.settings.collection)
        store: Store | None = None
        raw: RawKeeper
        if keep:
            store = raw = stack.enter_context(closing(open_project_store(project.settings)))
        else:
            raw = _Temporary(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="auditor-"))))
        request = Request(
            devices=devices,
            scope=wish.scope_text,
            source=f"capture {wish.capture}" if wish.capture else "live",
            only=tuple(wish.only),
            everything=wish.everything,
            processes=0 if len(devices) <= IN_PROCESS else min(os.cpu_count() or 1, 8),
            whole_fleet=wish.scope_text == "all",
            witnesses=_witnesses(project, devices, capture, live=wish.far_ends and capture is None),
            known=wish.known,
            rails=wish.rails,
            lang=wish.lang,
            notes=(*(capture.notes if capture is not None else ()), *_unknown_ends(project, devices), *planned),
        )
        told.start(len(devices), f"{len(devices)} devices")
        done = audit(request, project, collector, store, raw, told.step)
        return done, Severity(wish.fail_on) if wish.fail_on else project.settings.fail_on


def _built(devices: Sequence[Device]) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """The devices that stand there already, and a note about those that are only planned: nothing is expected of them."""
    built = tuple(device for device in devices if device.status is not Status.PLANNED)
    left = [device.name for device in devices if device.status is Status.PLANNED]
    if devices and not built:
        raise SetupError("every device in scope has the status planned: nothing is expected of them yet")
    shown = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
    return built, (f"status planned, left out: {shown}",) if left else ()


def _witnesses(
    project: Project, devices: Sequence[Device], capture: CaptureCollector | None, *, live: bool
) -> tuple[Device, ...]:
    """Far ends of the scope that can be asked as well: those that the capture at hand holds, or (`live`) all that stand there.

    With them come the hosts that walk an InfiniBand subnet: they see the cables of others.
    """
    if capture is None and not live:
        return ()
    names = {device.name for device in devices}
    ends = {(link.a.device, link.b.device) for link in project.plan.links}
    far = {name for pair in ends if not names.isdisjoint(pair) for name in pair} - names
    far |= {device.name for device in project.devices.values() if WALKER in device.platforms} - names
    if capture is not None:
        far &= {device.name for device in capture.devices}
    found = [project.devices[name] for name in sorted(far) if name in project.devices]
    return tuple(device for device in found if device.status is not Status.PLANNED)


WALKER = "infiniband"
"""The platform of hosts that walk a subnet."""


class _Temporary:
    """Raw bodies of a run that keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self._store = RawStore(folder)

    def put_raw(self, body: str) -> str:
        """Keep a body until the run ends."""
        return self._store.put(body)

    def get_raw(self, digest: str) -> str | None:
        """A kept body."""
        return self._store.get(digest)


def _project(wish: Wish, capture: CaptureCollector | None) -> tuple[Project, bool]:
    """The project and whether to keep results: a capture outside a project folder is judged and nothing is stored."""
    if capture is not None and not (Path(wish.folder) / FILE).exists():
        return stand_in(capture.devices, plan=wish.plan, baselines=wish.baselines), False
    return load_project(wish.folder, plan=wish.plan, baselines=wish.baselines), wish.keep


def _unknown_ends(project: Project, devices: Sequence[Device]) -> list[str]:
    """Notes on devices that the plan cables to those in scope and that the inventory lacks: not built yet, or misspelt."""
    judged = {device.name for device in devices}
    links = [{link.a.device, link.b.device} for link in project.plan.links]
    missing = Counter(name for ends in links if not ends.isdisjoint(judged) for name in ends - project.devices.keys())
    return [
        f"the plan names {name}, which is not in the inventory: {count} link{'s' if count > 1 else ''} counted as not built yet"
        for name, count in sorted(missing.items())
    ]


def _check_only(wish: Wish, project: Project, devices: Sequence[Device]) -> None:
    """A glob of `--only` that selects no rule is a mistake, not a clean run."""
    from fnmatch import fnmatchcase

    from auditor.checks import rules
    from auditor.evaluate import expiry
    from auditor.evaluate.device import lines

    known = {*rules(), expiry.RULE}
    for device in devices:
        known.update(line.id for version in project.versions_for(device) for line in lines(version))
    for pattern in wish.only:
        if not any(fnmatchcase(name, pattern) for name in known):
            near = get_close_matches(pattern, sorted(known), 1)
            raise SetupError(f"--only {pattern!r} matches no rule" + (f" (did you mean {near[0]!r}?)" if near else ""))


def report_format(formats: Mapping[str, Format], name: str) -> Format:
    """The report format of this name; raises SetupError."""
    if name not in formats:
        raise SetupError(f"no report format {name!r}; there are {', '.join(formats)}")
    return formats[name]
