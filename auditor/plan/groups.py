"""Port groups that follow from the wiring plan, and the names that planned ports have on the device today.

Groups of a planned port: its plane (`@compute`), `@in_use`, and by its far end `@host_facing` or `@fabric_facing`; further
ones by `port_groups` of `fabric.yaml`. A link whose far end is still `planned` (not installed) puts its port in no group:
nothing is expected of it yet.

A far end counts as a host when its role ends in `host`, or when it has no role and its platform is `linux`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase

from auditor import canonical
from auditor.address import Address
from auditor.errors import PlanError
from auditor.facts import Interface, Nic, RdmaPort, Row
from auditor.model import Device, Fabric, Plan, PlanEnd, PlanLink, PlannedPort, PlanSlice, State, Status
from auditor.model.device import is_host

IN_USE, HOST_FACING, FABRIC_FACING = "in_use", "host_facing", "fabric_facing"
BUILT_IN = (IN_USE, HOST_FACING, FABRIC_FACING)

READS = (
    "interface.alias", "interface.mac", "nic.netdev", "nic.mac",
    "rdma_port.netdev", "rdma_port.pci", "rdma_port.port_guid", "rdma_port.node_guid",
)  # fmt: skip
"""Columns that `resolve_ports` looks at; what a device lacks of them does no harm."""


def group_names(plan: Plan, fabric: Fabric) -> frozenset[str]:
    """Every port group that this plan and fabric define."""
    planes = {link.plane for link in plan.links if link.plane}
    return frozenset({*BUILT_IN, *planes, *fabric.planes, *fabric.port_groups})


def check_devices(plan: Plan, devices: Mapping[str, Device]) -> list[PlanError]:
    """One error per device that the plan names and the inventory does not have, at its first line."""
    unknown: dict[str, int | None] = {}
    for link in plan.links:
        for end in (link.a, link.b):
            if end.device not in devices:
                unknown.setdefault(end.device, link.line)
    near = {name.lower(): name for name in devices}
    out = []
    for name, line in unknown.items():
        hint = f"; it has {near[name.lower()]!r}" if name.lower() in near else ""
        out.append(PlanError(f"device {name!r} is not in the inventory{hint}", plan.file or plan.name, line))
    return out


def slices(plan: Plan, fabric: Fabric, devices: Mapping[str, Device]) -> dict[str, PlanSlice]:
    """The plan slice of every device, in one pass over the plan."""
    ends: dict[str, list[tuple[PlanEnd, PlanLink]]] = defaultdict(list)
    for link in plan.links:
        ends[link.a.device].append((link.a, link))
        ends[link.b.device].append((link.b, link))
    return {name: _slice(ends.get(name, ()), fabric, device, devices) for name, device in devices.items()}


def slice_for(plan: Plan, fabric: Fabric, device: Device, devices: Mapping[str, Device]) -> PlanSlice:
    """The plan slice of one device; for many devices use `slices`."""
    return _slice(plan.links_of(device.name), fabric, device, devices)


def _slice(ends: Iterable[tuple[PlanEnd, PlanLink]], fabric: Fabric, device: Device, devices: Mapping[str, Device]) -> PlanSlice:
    named = fabric.nics.get(device.hardware_model, {})
    ports = []
    for end, link in ends:
        peer = link.other(end)
        far = devices.get(peer.device)
        role = _role(far)
        ports.append(
            PlannedPort(
                port=end.port,
                plane=link.plane,
                rail=link.rail,
                peer=peer,
                peer_role=role,
                id=end.id or named.get(end.port, ""),
                groups=() if far is not None and far.status is Status.PLANNED else _groups(end, link, role, fabric, device),
            )
        )
    patterns = {
        name: _texts(rule["pattern"])
        for name, rule in fabric.port_groups.items()
        if "pattern" in rule and not {"tag", "peer_role"} & set(rule) and _applies(rule, device)
    }
    return PlanSlice(tuple(sorted(ports, key=lambda item: (item.port, item.peer))), patterns)


def _role(device: Device | None) -> str:
    if device is None:
        return ""
    return device.role or ("host" if "linux" in device.platforms else "")


def _groups(end: PlanEnd, link: PlanLink, peer_role: str, fabric: Fabric, device: Device) -> tuple[str, ...]:
    names = {IN_USE}
    if link.plane:
        names.add(link.plane)
    if peer_role:
        names.add(HOST_FACING if is_host(peer_role) else FABRIC_FACING)
    for name, rule in fabric.port_groups.items():
        if not ({"tag", "peer_role"} & set(rule) and _applies(rule, device)):
            continue
        tags = {**link.tags, "plane": link.plane, "rail": link.rail, "type": link.type, "label": link.label}
        if (
            _selects(rule.get("pattern", "*"), end.port)
            and _selects(rule.get("peer_role", "*"), peer_role)
            and all(_selects(wanted, tags.get(tag, "")) for tag, wanted in rule.get("tag", {}).items())
        ):
            names.add(name)
    return tuple(sorted(names))


def _applies(rule: Mapping[str, object], device: Device) -> bool:
    return _selects(rule.get("role", "*"), _role(device))


def _texts(wanted: object) -> tuple[str, ...]:
    return tuple(str(item) for item in wanted) if isinstance(wanted, list | tuple) else (str(wanted),)


def _selects(wanted: object, value: str) -> bool:
    return any(fnmatchcase(value, pattern) for pattern in _texts(wanted))


def groups(slice_: PlanSlice, state: State) -> dict[str, frozenset[str]]:
    """Members of every port group of a device as interface names of today.

    A planned port that no interface answers to stays in its groups under its planned name, so that it is judged as absent.
    """
    resolved = resolve_ports(slice_, state)
    members: dict[str, set[str]] = {name: set() for name in (*BUILT_IN, *slice_.patterns)}
    for planned in slice_.ports:
        for name in planned.groups:
            members.setdefault(name, set()).add(resolved.get(planned.port, planned.port))
    known = {key[0] for key in state.keys(Interface)} | {resolved.get(item.port, item.port) for item in slice_.ports}
    for name, patterns in slice_.patterns.items():
        members[name].update(port for port in known if _selects(patterns, port))
    return {name: frozenset(found) for name, found in members.items()}


def resolve_ports(slice_: PlanSlice, state: State) -> dict[str, str]:
    """Planned port name -> interface name of today; a port that nothing of the device answers to is left out.

    An `id` of the plan (PCI address, GUID or MAC) decides alone as soon as the device shows ids of that kind; a name, which
    may have moved to another card, only steps in while it shows none. Names are tried as interface, as alias, as RDMA name
    (`mlx5_0`, `mlx5_0/1`) and as id, each exactly; a text that fits two interfaces fits none.
    """
    names = {key[0]: key[0] for key in state.keys(Interface)}
    lookups = (names, _aliases(state), _rdma_names(state))
    ids = _ids(state)
    out: dict[str, str] = {}
    for planned in slice_.ports:
        kind, wanted = _id(planned.id)
        if kind and ids[kind]:
            found = ids[kind].get(wanted)
        else:
            found = next((lookup[planned.port] for lookup in lookups if planned.port in lookup), None)
            kind, wanted = _id(planned.port)
            if found is None and kind:
                found = ids[kind].get(wanted)
        if found is not None:
            out[planned.port] = found
    return out


def _single(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The pairs as a mapping, without the texts that stand for two interfaces."""
    found: dict[str, set[str]] = defaultdict(set)
    for text, interface in pairs:
        found[text].add(interface)
    return {text: next(iter(interfaces)) for text, interfaces in found.items() if len(interfaces) == 1}


def _texts_of(state: State, row_type: type[Row], column: str) -> list[tuple[tuple[str, ...], str]]:
    """(key, value) of every row that has a value in a text column."""
    out = []
    for key in state.keys(row_type, column):
        value = state.cell(Address(row_type.TABLE, key, column)).value
        if isinstance(value, str):
            out.append((key, value))
    return out


def _aliases(state: State) -> dict[str, str]:
    return _single((alias, key[0]) for key, alias in _texts_of(state, Interface, "alias"))


def _rdma_names(state: State) -> dict[str, str]:
    rows = _texts_of(state, RdmaPort, "netdev")
    return _single([(f"{key[0]}/{key[1]}", netdev) for key, netdev in rows] + [(key[0], netdev) for key, netdev in rows])


def _ids(state: State) -> dict[str, dict[str, str]]:
    """Interfaces by PCI address, GUID and MAC."""
    rdma = dict(_texts_of(state, RdmaPort, "netdev"))
    nics = dict(_texts_of(state, Nic, "netdev"))
    pci = [(key[0], netdev) for key, netdev in nics.items()]
    pci += [(value, rdma[key]) for key, value in _texts_of(state, RdmaPort, "pci") if key in rdma]
    guid = [
        (value, rdma[key])
        for column in ("port_guid", "node_guid")
        for key, value in _texts_of(state, RdmaPort, column)
        if key in rdma
    ]
    permanent = _single((value, nics[key]) for key, value in _texts_of(state, Nic, "mac") if key in nics)
    current = _single((value, key[0]) for key, value in _texts_of(state, Interface, "mac"))
    return {"pci": _single(pci), "guid": _single(guid), "mac": {**current, **permanent}}


_ID_KINDS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("pci", re.compile(r"([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"), canonical.pci),
    ("mac", re.compile(r"([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}"), canonical.mac),
    ("guid", re.compile(r"(0x)?[0-9a-fA-F]{16}|([0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}"), canonical.guid),
)


def _id(text: str) -> tuple[str, str]:
    """(`pci`, `mac` or `guid`; its canonical form), or two empty texts for what is none of them."""
    for kind, shape, form in _ID_KINDS:
        if shape.fullmatch(text):
            return kind, form(text)
    return "", ""
