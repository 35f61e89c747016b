"""The story of `auditor baseline impact`: judge the last stored states by a version before it is rolled out; store nothing."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace

from auditor.baseline.document import Use, parse_use
from auditor.baseline.resolve import Baselines
from auditor.evaluate.impact import Case, Impact, judge_cases, tables_read
from auditor.model import Device, PlanSlice, Severity
from auditor.plan import groups as plan_groups
from auditor.store import Store
from auditor.workflows.project import Project

PORTION = 32
"""Devices that travel to a worker at once: enough that the journey costs little, few enough that both workers end together."""
IN_PROCESS = 64
"""Up to this many devices are judged in this process: starting workers takes longer than their work."""


@dataclass(frozen=True, slots=True)
class ImpactReport:
    """Who would fail, who would be well. `unstored` devices were never seen; `stays` have neither a new nor a fixed failure."""

    use: Use
    devices: tuple[Impact, ...] = ()
    unstored: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    rules: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def failing(self, severity: Severity) -> list[Impact]:
        """Devices with a new failure at least this bad."""
        return [one for one in self.devices if any(finding.severity.rank <= severity.rank for finding in one.new)]

    @property
    def incomplete(self) -> bool:
        """Whether a device or an object could not be judged."""
        return bool(self.unstored) or any(one.error or one.unjudged for one in self.devices)


def impact(
    project: Project,
    store: Store,
    text: str,
    devices: Sequence[Device] | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> ImpactReport:
    """Judge the last stored states of devices by `profile@version` in the place of what they have of that profile today.

    Without `devices`: those that are assigned a version of the profile. A named device that has none gets it as well as what
    it has. Raises SetupError, StoreError.
    """
    use = parse_use(text, "--baseline")
    project.library.resolve(use.profile, use.version, file=use.file)
    wanted = project.inventory.devices if devices is None else tuple(devices)
    today = {device.name: project.uses_for(device)[-1] for device in wanted}
    if devices is None:
        wanted = tuple(device for device in wanted if any(one.profile == use.profile for one in today[device.name]))
    found: list[Impact] = []
    for one in _judged(_cases(project, store, use, wanted, today), len(wanted)):
        found.append(one)
        told(one.device)
    found.sort(key=lambda one: one.device)
    seen = {one.device for one in found}
    return ImpactReport(
        use=use,
        devices=tuple(found),
        unstored=tuple(sorted(device.name for device in wanted if device.name not in seen)),
        stays=tuple(sorted(one.device for one in found if not (one.new or one.fixed or one.error))),
        rules=_by_rule(found),
    )


def _cases(
    project: Project, store: Store, use: Use, wanted: Sequence[Device], today: Mapping[str, tuple[Use, ...]]
) -> Iterator[Case]:
    named = {device.name: device for device in wanted}
    slices = plan_groups.slices(project.plan, project.fabric, project.devices)
    fabric = replace(project.fabric, text="", document={})
    known: dict[tuple[str, ...], frozenset[str]] = {}
    for name, collected_at, sets in store.last_states(named):
        before, after = project.baselines(today[name]), project.baselines(with_use(today[name], use))
        yield Case(
            named[name],
            collected_at,
            tuple(found for found in sets if found.key.table in _tables(before, after, known)),
            before,
            after,
            slices.get(name, PlanSlice()),
            fabric,
        )


def _tables(before: Baselines, after: Baselines, known: dict[tuple[str, ...], frozenset[str]]) -> frozenset[str]:
    """The tables that both sets of baselines look at, worked out once per pair."""
    name = tuple(baseline.digest for baseline in (*before, *after))
    if name not in known:
        known[name] = tables_read((before, after))
    return known[name]


def with_use(uses: Sequence[Use], use: Use) -> tuple[Use, ...]:
    """The uses with this version in the place of the profile's other one, or behind them all."""
    if any(one.profile == use.profile for one in uses):
        return tuple(use if one.profile == use.profile else one for one in uses)
    return (*uses, use)


def _judged(cases: Iterable[Case], expected: int) -> Iterator[Impact]:
    portions = _portions(cases)
    if expected <= IN_PROCESS:
        for portion in portions:
            yield from judge_cases(portion)
        return
    processes = min(os.cpu_count() or 1, 8)
    # forkserver as in runner.py: a fork would copy the locks of the database driver
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("forkserver")) as pool:
        for done in pool.map(judge_cases, portions):
            yield from done


def _portions(cases: Iterable[Case]) -> Iterator[list[Case]]:
    portion: list[Case] = []
    for case in cases:
        portion.append(case)
        if len(portion) >= PORTION:
            yield portion
            portion = []
    if portion:
        yield portion


def _by_rule(found: Iterable[Impact]) -> dict[str, dict[str, int]]:
    """Per rule: failures that are new, fixed and staying, and objects not judged."""
    out: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        for kind in ("new", "fixed", "staying"):
            for finding in getattr(one, kind):
                out[finding.rule][kind] += 1
        for rule, count in one.unjudged.items():
            out[rule]["unjudged"] += count
    return {rule: {kind: out[rule][kind] for kind in ("new", "fixed", "staying", "unjudged")} for rule in sorted(out)}
