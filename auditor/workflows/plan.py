"""The stories of `auditor plan`: lint, import, export, generate and compare wiring plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from pathlib import Path

from auditor.address import Address
from auditor.cabling.repair import Occupancy, repair
from auditor.cabling.words import WorkOrders
from auditor.collect import inventory as inventories
from auditor.collect.capture import CaptureCollector
from auditor.errors import ErrorList, PlanError, SetupError
from auditor.evaluate import stored
from auditor.facts import Interface
from auditor.model import (
    ABSENT,
    CableCause,
    CauseKind,
    Device,
    Fabric,
    Hand,
    Move,
    Place,
    Plan,
    PlanLink,
    PlanSlice,
    Severity,
    State,
)
from auditor.model.device import is_host
from auditor.parse import parse_device
from auditor.plan import generate as generating
from auditor.plan.diff import PlanDifference, apart, diff, joined
from auditor.plan.document import MAX_BYTES, conflicts, inspect_plan, parse_plan, read_text
from auditor.plan.fabric import read_fabric
from auditor.plan.formats import Imported, PlanFormat, columns_of, formats, recognise
from auditor.plan.groups import resolve_ports, slices
from auditor.plan.lint import KnownPorts, Linted, Surroundings
from auditor.plan.lint import lint as lint_plan
from auditor.plan.tiers import is_management
from auditor.platforms import platforms
from auditor.settings import FILE, Settings
from auditor.workflows.project import load_settings, open_project_store

SHOWN = 5
"""Links that a dry run shows."""


@dataclass(frozen=True, slots=True)
class Around:
    """The project that a plan belongs to; without one there are only defaults. `devices` None: there is no inventory."""

    settings: Settings | None = None
    devices: Mapping[str, Device] | None = None
    fabric: Fabric = field(default_factory=Fabric)


def around(folder: str) -> Around:
    """What a project folder says beside the plan; empty where it is none. Raises SetupError, ErrorList."""
    if not (Path(folder) / FILE).exists():
        return Around()
    settings = load_settings(folder)
    devices = {device.name: device for device in inventories.load(settings.inventory).devices}
    return Around(settings, devices, read_fabric(settings.fabric) if settings.fabric.exists() else Fabric())


def _plan_file(folder: str, file: str | None) -> Path:
    return Path(file) if file else load_settings(folder).plan


def lint(
    folder: str, file: str | None, allowed: Mapping[str, Fraction], *, use_store: bool = False, capture: str | None = None
) -> Linted:
    """Everything wrong with a plan (default: the project's). Raises SetupError where it cannot be read at all.

    With `use_store` or a capture also ports that devices were seen not to have.
    """
    known = around(folder)
    path = _plan_file(folder, file)
    plan, errors = inspect_plan(read_text(path), str(path))
    taken = CaptureCollector(Path(capture)) if capture else None
    devices = known.devices if known.devices is not None or taken is None else {device.name: device for device in taken.devices}
    ports: Mapping[str, KnownPorts] = {}
    if taken is not None:
        ports = _known(plan, known, devices or {}, _from_capture(taken, known, devices or {}))
    elif use_store:
        if known.settings is None or devices is None:
            raise SetupError(f"{folder} is no project folder, so there are no stored states to look at")
        ports = _known(plan, known, devices, _from_store(known.settings, devices))
    return lint_plan(plan, Surroundings(known.fabric, known.devices, ports, allowed), errors)


def _from_capture(taken: CaptureCollector, known: Around, devices: Mapping[str, Device]) -> Iterator[State]:
    parsers = known.settings.parsers if known.settings else None
    for item in taken.collect(list(devices.values()), None):
        if item.outputs:
            names = item.device.platforms
            yield parse_device(item.device.name, item.outputs, platforms(), gaps=item.gaps, parsers=parsers, names=names)


def _from_store(settings: Settings, devices: Mapping[str, Device]) -> Iterator[State]:
    with closing(open_project_store(settings, create=False)) as store:
        for name, collected_at, sets in store.last_states(list(devices)):
            yield stored.state(devices[name], collected_at, sets)


def _known(plan: Plan, known: Around, devices: Mapping[str, Device], states: Iterable[State]) -> Mapping[str, KnownPorts]:
    parts = slices(plan, known.fabric, devices)
    return {state.device: _ports(state, parts[state.device], devices[state.device]) for state in states}


def _ports(state: State, part: PlanSlice, device: Device) -> KnownPorts:
    """The planned ports that a device certainly lacks: nothing answers to them, and the answers that would tell are whole."""
    found = resolve_ports(part, state)
    host = is_host(device.role) if device.role else "linux" in device.platforms
    lacks = set()
    for planned in part.ports:
        if planned.port in found or planned.id or (not host and is_management(planned.port)):
            continue
        device_name, _, number = planned.port.partition("/")
        addresses = [Address("interface", (planned.port,), "up")]
        addresses += [Address("rdma_port", (device_name, number or "1"), "netdev")] if host else []
        if all(state.cell(address).value is ABSENT for address in addresses):
            lacks.add(planned.port)
    return KnownPorts(tuple(sorted(key[0] for key in state.keys(Interface))), frozenset(lacks))


def read(file: Path, form: str, options: Mapping[str, str]) -> tuple[PlanFormat, Imported]:
    """A plan in any format; `auto` tells it from the document. Raises PlanError and ErrorList with file and line."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise PlanError(f"cannot be read: {problem.strerror}", file) from problem
    found = recognise(raw, str(file)) if form == "auto" else _format(form)
    _check_options(found, options)
    return found, found.read(raw, str(file), options)


def _check_options(found: PlanFormat, options: Mapping[str, str]) -> None:
    unknown = [key for key in options if key not in found.options]
    if unknown:
        known = ", ".join(found.options) or "none"
        raise SetupError(f"--option {unknown[0]}: {found.name} has no such option; it knows: {known}")


def _format(name: str) -> PlanFormat:
    try:
        return formats()[name]
    except KeyError:
        raise SetupError(f"{name!r} is no format of plans; formats: auto, {', '.join(formats())}") from None


@dataclass(frozen=True, slots=True)
class Translation:
    """A plan read from elsewhere: its text in the native form (empty where it has errors), and what is wrong with it."""

    format: PlanFormat
    imported: Imported
    text: str
    errors: Sequence[SetupError]


def translate(file: Path, form: str, options: Mapping[str, str]) -> Translation:
    """Read a plan of another tool into the native form. Raises PlanError, ErrorList, SetupError."""
    found, imported = read(file, form, options)
    return translated(found, imported, str(file))


def from_netbox(url: str, site: str, ca_file: Path | None, options: Mapping[str, str]) -> Translation:
    """The cables of a NetBox server in the native form. Raises SetupError, PlanError, ErrorList."""
    from auditor.collect.netbox import NetBox  # slow to load

    with NetBox(url, ca_file=ca_file) as server:
        raw = server.cables(site)
    found = _format("netbox")
    _check_options(found, options)
    return translated(found, found.read(raw, url, options), "netbox")


def translated(found: PlanFormat, imported: Imported, name: str) -> Translation:
    """What was read, in the native form, as far as it is a plan: each port once, no link from a device to itself."""
    plan = Plan(Path(name).stem, imported.links, file=name)
    _, errors = conflicts(plan)
    return Translation(found, imported, "" if errors else native(plan), errors)


def native(plan: Plan) -> str:
    """The text of a plan in the native form; it is read again, so that what is written can be used. Raises ErrorList."""
    writer = formats()["csv"].write
    assert writer is not None
    text, _ = writer(plan)
    parse_plan(text, plan.file or plan.name)
    return text


def understood(done: Translation) -> list[str]:
    """What a dry run tells: how many links and devices, what they say about planes, rails and speeds, and the first links."""
    links = done.imported.links
    devices = {end.device for link in links for end in (link.a, link.b)}
    out = [f"{done.format.title}: {len(links):,} links between {len(devices):,} devices"]
    for name in ("plane", "rail", "speed", "type"):
        counts: dict[str, int] = {}
        for link in links:
            value = columns_of(link).get(name, "")
            counts[value] = counts.get(value, 0) + 1
        if set(counts) - {""}:
            told = [f"{count:,} {value or 'without'}" for value, count in sorted(counts.items(), key=lambda item: -item[1])]
            out.append(f"{name}: " + ", ".join(told[:8]) + (" …" if len(told) > 8 else ""))
    out += [_sentence(link) for link in islice(links, SHOWN)]
    return out


def _sentence(link: PlanLink) -> str:
    line = "" if link.line is None else f"line {link.line}: "
    more = [f"{name} {value}" for name, value in (("plane", link.plane), ("rail", link.rail), ("label", link.label)) if value]
    return f"  {line}{link.a} to {link.b}" + (f" ({', '.join(more)})" if more else "")


def export(folder: str, file: str | None, form: str) -> tuple[str, tuple[str, ...]]:
    """A plan (default: the project's) in another form, and the columns that the form does not hold. Raises SetupError."""
    found = _format(form)
    if found.write is None:
        writable = ", ".join(name for name, each in formats().items() if each.write is not None)
        raise SetupError(f"{found.name} can be read only; plans are written as: {writable}")
    path = _plan_file(folder, file)
    return found.write(parse_plan(read_text(path), str(path)))


def generate(wanted: generating.Wanted) -> tuple[str, list[str]]:
    """The text of a new plan and the arithmetic behind it. Raises SetupError with the reason where it cannot be cabled."""
    found = generating.design(wanted)
    plan = Plan("generated", tuple(generating.links(found)))
    return native(plan), generating.arithmetic(found)


@dataclass(frozen=True, slots=True)
class Moves:
    """Two plans compared: what differs, how many hand movements lead from one to the other, and their sentences."""

    difference: PlanDifference
    hands: int = 0
    steps: tuple[str, ...] = ()


def compare(folder: str, one: Path, other: Path, lang: str = "en") -> Moves:
    """What has to be done to turn the first plan into the second. Raises PlanError, ErrorList."""
    old, new = (_any(file) for file in (one, other))
    found = diff(old, new)
    if not (found.gone or found.new):
        return Moves(found)
    old, new = apart((old, new))
    moves = tuple(_moves(old, new))
    cause = CableCause("plan", CauseKind.CYCLE, Severity.INFORMATION, (), moves=moves)
    return Moves(found, len(moves), WorkOrders(new, around(folder).devices or {}, lang).steps(cause))


def _any(file: Path) -> Plan:
    """A plan in any form that is one: each port once."""
    _, imported = read(file, "auto", {})
    plan = Plan(file.stem, imported.links, file=str(file))
    _, errors = conflicts(plan)
    if errors:
        raise ErrorList(errors)
    return plan


def _moves(old: Plan, new: Plan) -> Iterator[Move]:
    """The hand movements, then the cables to be laid between ports that no cable of the first plan is in."""
    observed = joined(old)
    racks = {end.device: end.rack for plan in (old, new) for link in plan.links for end in (link.a, link.b) if end.rack}

    def occupancy(place: Place) -> Occupancy:
        return Occupancy.TAKEN if place in observed else Occupancy.FREE

    taken = set(observed)
    for part in repair(new.links, observed, occupancy, lambda device: racks.get(device, "")):
        yield from part.moves
        taken.update(place for move in part.moves if move.hand is Hand.LAY for place in (*move.target, *move.far))
    for link in new.links:
        if link.a.place not in taken and link.b.place not in taken:
            yield Move(Hand.LAY, target=(link.a.place,), far=(link.b.place,), label=link.label)
