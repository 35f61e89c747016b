"""The story of `auditor baseline promote`: freeze what a tuned device has as a proposed new version, for a person to review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from auditor.address import Address
from auditor.baseline import proposal
from auditor.baseline.diff import plain_params
from auditor.baseline.document import Use, parse_document, parse_use
from auditor.baseline.version import version_key
from auditor.errors import SetupError
from auditor.evaluate import stored
from auditor.evaluate.device import Subject, judge
from auditor.facts import TABLES, NcclTopology
from auditor.model import Baseline, Device, Finding, PlanSlice, State, is_host
from auditor.plan import groups as plan_groups
from auditor.store import Store
from auditor.topology import difference
from auditor.workflows.project import Project

FROZEN = "nccl.topology_changed"
"""The rule whose params hold the frozen topologies."""

SUFFIX = ".yaml.review"
"""What the proposal's file ends with: never read as a baseline until somebody takes the ending off."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """What was written: the file, how many lines (a frozen topology is one), what it extends, and what of the device still
    fails by it."""

    file: Path
    lines: int
    extends: str
    failing: tuple[Finding, ...]


def promote(project: Project, store: Store, name: str, to: str, tables: Sequence[str] = ()) -> Promotion:
    """Write `<profile>/<version>.yaml.review` from the last stored state of a device. `tables` are globs, none: all.

    The topology of a host becomes the frozen shape of its hardware model (params of `nccl.topology_changed`), beside those of
    other models that the extended version has. Extends the version of the profile that the device is assigned, else the
    highest one below. Overwrites nothing and assigns nothing. Raises SetupError, StoreError.
    """
    device = _device(project, name)
    use = parse_use(to, "--to")
    file = project.settings.baselines / use.profile / f"{use.version}{SUFFIX}"
    if str(use) in map(str, project.library.names()):
        raise SetupError(f"{use} exists already; a released version does not change, so name a new one")
    if file.exists():
        raise SetupError(f"{file} exists already; review it or take it away")
    chosen = [table for table in TABLES if not tables or any(fnmatchcase(table, glob) for glob in tables)]
    for glob in tables:
        if not any(fnmatchcase(table, glob) for table in TABLES):
            raise SetupError(f"--table {glob!r} matches no table; tables: {', '.join(TABLES)}")
    found = next(iter(store.last_states([name])), None)
    if found is None:
        raise SetupError(f"nothing is stored of {name}; run `auditor scan` or `auditor check --device {name}` first")
    _, collected_at, sets = found
    state = stored.state(device, collected_at, sets)
    slice_ = plan_groups.slice_for(project.plan, project.fabric, device, project.devices)
    groups = plan_groups.groups(slice_, state)
    parent = _parent(project, device, use)
    base = project.library.resolve(parent.profile, parent.version) if parent is not None else None
    why = f"as tuned on {name}, seen {collected_at:%Y-%m-%d}"
    lines = proposal.against(
        proposal.propose(state, chosen, groups, why, project.library.vocabulary.rule_ids), base.expectations if base else ()
    )
    params = _frozen(device, state, chosen, base, why)
    if not lines and not params:
        raise SetupError(f"{name} holds nothing to promote in {', '.join(chosen)}" + (f" that {parent} lacks" if parent else ""))
    changes = f"values of {name} promoted"
    extends = [str(parent)] if parent is not None else []
    text = proposal.render(use.profile, use.version, lines, changes, extends, params=params)
    failing = _failing(project, device, state, slice_, text, use, base)
    count = len(lines) + len(params)
    text = proposal.render(use.profile, use.version, lines, changes, extends, _head(name, use, count, failing), params)
    _write(file, text)
    return Promotion(file, count, str(parent or ""), failing)


def _device(project: Project, name: str) -> Device:
    return project.inventory.select(devices=(name,))[0] if name not in project.devices else project.devices[name]


def _parent(project: Project, device: Device, use: Use) -> Use | None:
    assigned = next((one for one in project.uses_for(device)[-1] if one.profile == use.profile), None)
    if assigned is not None:
        return assigned
    below = [one for one in project.library.names() if one.profile == use.profile]
    below = [one for one in below if version_key(one.version) < version_key(use.version)]
    return below[-1] if below else None


def _frozen(device: Device, state: State, tables: Sequence[str], base: Baseline | None, why: str) -> dict[str, Any]:
    """The params that freeze this host's topology, none where it has none or they stand in the extended version already."""
    model = device.hardware_model or state.cell(Address("system", (), "hardware_model")).value
    shape = state.cell(Address(NcclTopology.TABLE, (), "shape")).value
    if NcclTopology.TABLE not in tables or not isinstance(model, str) or not isinstance(shape, tuple):
        return {}
    known = {} if base is None else plain_params(base.params).get(FROZEN, {})
    told = [str(sentence) for sentence in shape]
    if model in known and not difference(known[model]["shape"], told):
        return {}
    return {FROZEN: {**known, model: {"why": why, "shape": told}}}


def _failing(
    project: Project, device: Device, state: State, slice_: PlanSlice, text: str, use: Use, base: Baseline | None
) -> tuple[Finding, ...]:
    """What the device itself fails by the proposal: a value that a rule calls faulty, or a line of the parent it breaks."""
    document = parse_document(text, use.profile, use.version, project.library.vocabulary)
    found = document.document
    proposed = Baseline(use.profile, use.version, found.digest, document.expectations, document.params)
    subject = Subject(
        device=device.name,
        role=device.role,
        hardware_model=device.hardware_model,
        host=is_host(device.role),
        baselines=(proposed,) if base is None else (base, proposed),
        fabric=project.fabric,
        groups=plan_groups.groups(slice_, state),
    )
    return tuple(judge(state, subject).findings)


def _head(name: str, use: Use, count: int, failing: Sequence[Finding]) -> list[str]:
    head = [
        f"Proposed from {name}: {count} lines. Nothing uses this file. Read it, cut what is chance, say the true why,",
        f"then take the ending .review off, run `auditor baseline lint` and `auditor baseline impact {use}`.",
    ]
    if failing:
        head.append(f"{name} itself fails by it, so look at these first:")
        head += [f"  {finding.rule} on {finding.object}: {finding.message}" for finding in failing[:20]]
        head += [f"  and {len(failing) - 20} more"] if len(failing) > 20 else []
    return head


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as problem:
        raise SetupError(f"{file} cannot be written: {problem.strerror}") from problem
