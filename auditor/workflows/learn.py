"""The story of `auditor baseline learn`: devices of a capture, or their last stored states, to a proposed baseline file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from auditor.address import Address
from auditor.baseline import learn as learning
from auditor.baseline.document import PROFILE, VERSION, parse_document
from auditor.baseline.learn import Member
from auditor.baseline.lesson import LEAST, SHARE, Lesson, Terms, write
from auditor.cabling.links import build_wiring
from auditor.checks import rules
from auditor.collect.capture import CaptureCollector
from auditor.errors import SetupError
from auditor.evaluate import links, stored
from auditor.evaluate.device import Subject, judge
from auditor.evaluate.ends import emit
from auditor.model import Device, Finding, LinkEnd, PlanSlice, Severity, State, TrafficClass, is_host
from auditor.parse import parse_device
from auditor.plan import groups as plan_groups
from auditor.platforms import platforms
from auditor.settings import FILE
from auditor.workflows.check import Telling
from auditor.workflows.project import Project, load_project, open_project_store, stand_in, vocabulary

_BESIDE = ("lifecycle", "collection")
"""Families of rules that compare layers or mirror gaps, and call no value faulty."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was written where. `unseen`: devices in scope of which nothing is known."""

    file: Path
    lesson: Lesson
    unseen: tuple[str, ...]


def learn(
    folder: str,
    target: str,
    scope: Mapping[str, Sequence[str]],
    told: Telling,
    *,
    capture: str | None = None,
    share: float = SHARE,
    least: int = LEAST,
) -> Learned:
    """Write `<profile>/<version>.yaml` as most devices in scope are today. Overwrites nothing and assigns nothing.

    Raises SetupError, StoreError.
    """
    file = _file(target)
    taken = CaptureCollector(Path(capture)) if capture else None
    inside = (Path(folder) / FILE).exists()
    project = load_project(folder) if inside or taken is None else stand_in(taken.devices)
    devices = project.inventory.select(**scope)
    _alike(devices)
    told.start(len(devices), f"{len(devices)} devices")
    states = {}
    for device, state in _from_capture(project, taken, devices) if taken is not None else _from_store(project, devices):
        states[device.name] = state
        told.step(device.name)
    found = _members(project, [device for device in devices if device.name in states], states)
    terms = Terms(share, least, _date(states), _dscps(project), _priorities(project), frozenset(rules()))
    lesson = learning.learn(found, terms)
    if not lesson.members:
        raise SetupError(f"nothing to learn from: {'; '.join(lesson.small) or 'nothing is known of these devices'} (see --least)")
    origin = f"{lesson.members} devices" + (f", seen {terms.date}" if terms.date else "")
    text = write(file.parent.name, file.stem, lesson, terms, origin)
    parse_document(text, file.parent.name, file.stem, vocabulary(project.plan, project.fabric), str(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("x", encoding="utf-8") as out:
        out.write(text)
    return Learned(file, lesson, tuple(device.name for device in devices if device.name not in states))


def _file(target: str) -> Path:
    """The file to write; raises SetupError where it could never be read as a baseline, or is there already."""
    file = Path(target)
    if not (PROFILE.fullmatch(file.parent.name) and file.suffix == ".yaml" and VERSION.fullmatch(file.stem)):
        raise SetupError(f"{target}: a baseline stands at <profile>/<version>.yaml, like baselines/site-leaf/1.0.0.yaml")
    if file.exists():
        raise SetupError(f"{target} exists already; a version does not change, so name a new one")
    return file


def _alike(devices: Sequence[Device]) -> None:
    found = sorted({" and ".join(device.platforms) for device in devices})
    if len(found) > 1:
        roles = ", ".join(sorted({device.role for device in devices if device.role}))
        raise SetupError(f"devices of one platform make a baseline, these have {', '.join(found)}; name a --role ({roles})")


def _from_capture(project: Project, taken: CaptureCollector, devices: Sequence[Device]) -> Iterator[tuple[Device, State]]:
    for collected in taken.collect(devices, None):
        device = collected.device
        if collected.outputs:
            yield (
                device,
                parse_device(
                    device.name,
                    collected.outputs,
                    platforms(),
                    gaps=collected.gaps,
                    parsers=project.parsers,
                    names=device.platforms,
                ),
            )


def _from_store(project: Project, devices: Sequence[Device]) -> Iterator[tuple[Device, State]]:
    with closing(open_project_store(project.settings, create=False)) as store:
        for name, collected_at, sets in store.last_states([device.name for device in devices]):
            device = project.devices[name]
            yield device, stored.state(device, collected_at, sets)


def _members(project: Project, devices: Sequence[Device], states: Mapping[str, State]) -> list[Member]:
    """The devices with their port groups, and what rules call faulty of them when no baseline says anything."""
    slices = plan_groups.slices(project.plan, project.fabric, project.devices)
    fabric = replace(project.fabric, text="", document={})
    members: list[Member] = []
    told: list[Finding] = []
    ends: dict[tuple[str, str], LinkEnd] = {}
    for device in devices:
        state, slice_ = states[device.name], slices.get(device.name, PlanSlice())
        model = device.hardware_model or _model(state)
        groups = plan_groups.groups(slice_, state)
        host = is_host(device.role or ("host" if "linux" in device.platforms else ""))
        judged = judge(state, Subject(device.name, device.role, model, host, (), fabric, groups))
        told.extend(judged.findings)
        resolved = plan_groups.resolve_ports(slice_, state)
        at, failed = state.collected_at, judged.failed_cells
        emitted = emit(state, slice_, resolved, device.role, failed, at, fabric, host=host)
        ends.update({(end.device, end.port): end for end in emitted})
        members.append(Member(device.name, device.role, " and ".join(device.platforms), model, state, groups))
    names = frozenset(states)
    planned = build_wiring(project.plan, ends, project.devices, near=names).links
    told.extend(links.judge(planned, fabric, {}, names).findings)
    faulty: dict[str, dict[str, str]] = defaultdict(dict)
    for finding in told:
        if finding.family not in _BESIDE and finding.severity is not Severity.INFORMATION:
            for spot in finding.spots[:1]:
                faulty[spot.device].setdefault(str(replace(spot.address, layer=None)), finding.rule)
    return [replace(member, faulty=faulty[member.name]) for member in members]


def _model(state: State) -> str:
    value = state.cell(Address("system", (), "hardware_model")).value
    return value if isinstance(value, str) else ""


def _date(states: Mapping[str, State]) -> str:
    newest: datetime | None = max((state.collected_at for state in states.values()), default=None)
    return "" if newest is None else f"{newest:%Y-%m-%d}"


def _classes(project: Project) -> list[TrafficClass]:
    return [each for plane in project.fabric.planes.values() for each in plane.classes]


def _dscps(project: Project) -> frozenset[str]:
    """Code points that the fabric gives to a class, or to its congestion notifications."""
    return frozenset(str(dscp) for each in _classes(project) for dscp in (*each.dscp, each.cnp_dscp) if dscp is not None)


def _priorities(project: Project) -> frozenset[str]:
    return frozenset(str(each.priority) for each in _classes(project))
