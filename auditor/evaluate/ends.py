"""The ends of links: what a device job emits for each planned port, and for other ports that may be across a cable."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from auditor.address import Address
from auditor.cabling import links as cabling
from auditor.checks import rules
from auditor.checks.hops import hops
from auditor.checks.look import fact, present
from auditor.facts import (
    TABLES,
    ArpEntry,
    Firmware,
    Interface,
    LagMember,
    MacEntry,
    NcclPath,
    Neighbour,
    Nic,
    RdmaPort,
    Row,
    schema,
)
from auditor.model import (
    Fabric,
    Fact,
    LinkEnd,
    NeighbourSeen,
    PlannedPort,
    PlanSlice,
    RuleKind,
    State,
    TrafficClass,
    Via,
    is_host,
)

ALWAYS = (*cabling.READS, "system.hardware_model")
"""What `cabling` itself reads of an end, beside the neighbours, and the model, by which hosts are compared. Fabric rules read no
other column of a port than link rules and cabling do."""

MOST_ADDRESSES = 8
"""Addresses learned on one port, above which it leads to many hosts and tells of none."""

_NUMBER = re.compile(r"\d+")


def columns(*, host: bool = True) -> tuple[str, ...]:
    """Every `table.column` that a job emits per planned port: what link rules read, and what cabling does.

    Firmware belongs to a port as that of its adapter, and only hosts have adapters.
    """
    wanted = set(ALWAYS)
    for rule in rules().values():
        if rule.kind is RuleKind.LINK:
            wanted.update(rule.reads, rule.optional)
    return tuple(sorted(name for name in wanted if host or not name.startswith(f"{Firmware.TABLE}.")))


def emit(
    state: State,
    plan: PlanSlice,
    resolved: Mapping[str, str],
    role: str,
    failed_cells: Iterable[str],
    at: datetime,
    fabric: Fabric,
    *,
    host: bool,
) -> tuple[LinkEnd, ...]:
    """The ends of a device's planned links, and those of its other ports that cabling needs as evidence.

    The others are the ports that see somebody, that a cable may have been put into by mistake, or by whose name or address
    a neighbour may call the device. `resolved` maps planned port names to interface names. `host`: the device sends and
    receives, it does not switch.
    """
    failed, kind = set(failed_cells), role or ("host" if host else "")
    ends = []
    chains = hops(state, _classes(plan, resolved, fabric), host=host, uplinks=_uplinks(plan, resolved, role))
    unreachable = next((gap for gap in state.gaps if gap.table == "*"), None)
    ports, wanted = _Ports(state, host=host), columns(host=host)
    for planned in plan.ports:
        port = resolved.get(planned.port) or ports.rdma_named(planned) or planned.port
        facts = {name: ports.fact(name, port) for name in wanted}
        cells = {f"{state.device}:{replace(fact.address, layer=None)}" for fact in facts.values()} if failed else set()
        ends.append(
            LinkEnd(
                device=state.device,
                port=planned.port,
                interface=resolved.get(planned.port) or (port if ports.is_rdma(port) else None),
                role=kind,
                facts=facts,
                neighbours=ports.neighbours(port),
                identities=tuple(sorted({planned.port, *ports.identities(port)})),
                collected_at=at,
                failed=tuple(sorted(cells & failed)),
                gap=unreachable,
                hops=chains.get(port, ()),
                gpus=ports.gpus(port),
            )
        )
    known = {*(planned.port for planned in plan.ports), *(end.interface for end in ends if end.interface)}
    for port in ports.others(known):
        facts = {name: found for name in ALWAYS if present(found := ports.fact(name, port))}
        ends.append(LinkEnd(state.device, port, port, kind, facts, ports.neighbours(port), ports.identities(port), at))
    return tuple(ends)


def _classes(plan: PlanSlice, resolved: Mapping[str, str], fabric: Fabric) -> dict[str, tuple[TrafficClass, ...]]:
    """The traffic classes of every planned port, by its interface name, from its planes."""
    found: dict[str, dict[TrafficClass, None]] = {}
    for planned in plan.ports:
        if planned.plane in fabric.planes:
            classes = found.setdefault(resolved.get(planned.port, planned.port), {})
            classes.update(dict.fromkeys(fabric.planes[planned.plane].classes))
    return {port: tuple(classes) for port, classes in found.items()}


def _uplinks(plan: PlanSlice, resolved: Mapping[str, str], role: str) -> frozenset[str]:
    """The ports of a leaf towards the next tier: in a plane that it joins hosts to, those to switches of another known role."""
    planes = {planned.plane for planned in plan.ports if is_host(planned.peer_role)}
    return frozenset(
        resolved.get(planned.port, planned.port)
        for planned in plan.ports
        if planned.plane in planes and planned.peer_role not in ("", role) and not is_host(planned.peer_role)
    )


class _Ports:
    """What a device's rows say of its ports, looked up by port.

    A port is an interface, or an RDMA port without one, as on InfiniBand: `mlx5_0/1`.
    """

    def __init__(self, state: State, *, host: bool) -> None:
        self._state, self._host = state, host
        self._own: dict[str, Fact] = {}
        self._joined: dict[tuple[str, str], tuple[str, ...]] = {}
        self._nics: defaultdict[str, list[str]] = defaultdict(list)
        for (table, key), owner in (state.ports or {}).items():
            self._joined.setdefault((table, owner), key)
            if table == Nic.TABLE:
                self._nics[owner].append(key[0])
        self._interfaces: defaultdict[str, list[Interface]] = defaultdict(list)
        self._macs: defaultdict[str, set[str]] = defaultdict(set)
        for row in (row for (kind, _), rows in state.tables.items() if kind in (Interface, Nic) for row in rows.values()):
            if isinstance(row, Interface):
                self._interfaces[row.name].append(row)
            elif isinstance(row, Nic) and row.mac:
                self._macs[row.pci].add(row.mac)
        self._rdma: defaultdict[str, list[RdmaPort]] = defaultdict(list)
        for (name, number), port in sorted(state.rows(RdmaPort).items()):
            owner = port.netdev or f"{name}/{number}"
            self._rdma[owner].append(port)
            self._joined.setdefault((RdmaPort.TABLE, owner), port.key)
        self._seen: defaultdict[str, list[NeighbourSeen]] = defaultdict(list)
        for key, neighbour in sorted(state.rows(Neighbour).items()):
            self._seen[key[0]].append(self._lldp(neighbour))
        for port_name, learned in self._learned().items():
            self._seen[port_name] += learned if len(learned) <= MOST_ADDRESSES else []
        owners = {rdma.name: owner for owner, rows in self._rdma.items() for rdma in rows}
        self._gpus: defaultdict[str, list[Fact]] = defaultdict(list)
        for path_key, path in sorted(state.rows(NcclPath).items()):
            if path.nearest and path.nic in owners:
                self._gpus[owners[path.nic]].append(fact(state.cell(Address(NcclPath.TABLE, path_key, "nearest"))))
        self._lags: defaultdict[str, set[str]] = defaultdict(set)
        for name, found in self._interfaces.items():
            self._lags[name].update(row.lag for row in found if row.lag)
        for lag, member in state.rows(LagMember):
            self._lags[member].add(lag)

    def fact(self, name: str, port: str) -> Fact:
        """The fact `table.column` of a port."""
        table, _, column = name.partition(".")
        row_type = TABLES[table]
        if not schema(row_type).keys:  # of the device, and the same for all of its ports
            if name not in self._own:
                self._own[name] = fact(self._state.cell(Address(table, (), column)))
            return self._own[name]
        key: tuple[str, ...] = (port,)
        if schema(row_type).port_key is None:
            key = self._joined.get((table, port), key)
        return fact(self._state.cell(Address(table, key, column)))

    def is_rdma(self, port: str) -> bool:
        """Whether this is an RDMA port without an interface."""
        return port in self._rdma and port not in self._interfaces

    def rdma_named(self, planned: PlannedPort) -> str | None:
        """The RDMA port that a planned port means, if it has no interface: `mlx5_0`, `mlx5_0/1`, `mlx5_0/P1`, a GUID."""
        wanted = {planned.id, planned.port, re.sub(r"/[pP](?=\d+$)", "/", planned.port)} - {""}
        found = [
            owner
            for owner, rows in self._rdma.items()
            if self.is_rdma(owner) and any(not wanted.isdisjoint(_rdma_words(row)) for row in rows)
        ]
        return found[0] if len(found) == 1 else None

    def identities(self, port: str) -> tuple[str, ...]:
        """Every name and address by which a neighbour may call this port; members of a bond share the bond's name."""
        found = {port, *self._lags.get(port, ())}
        for row in self._interfaces.get(port, ()):
            found.update(name for text in (row.alias, row.mac) if text for name in text.split(","))
        for rdma in self._rdma.get(port, ()):
            found.update(_rdma_words(rdma))
        for pci in self._nics.get(port, ()):
            found.add(pci)
            found.update(self._macs.get(pci, ()))
        return tuple(sorted(found))

    def gpus(self, port: str) -> tuple[Fact, ...]:
        """The cells that say which GPUs have no nearer NIC than this port's."""
        return tuple(self._gpus.get(port, ()))

    def neighbours(self, port: str) -> tuple[NeighbourSeen, ...]:
        """Whom a port sees: its LLDP neighbours, then the addresses learned on it."""
        return tuple(self._seen.get(port, ()))

    def others(self, known: set[str]) -> list[str]:
        """Ports beside the `known` ones: those that see somebody, members of a bond with a known one, and named like a known
        one those of a switch that are up; of a host every adapter."""
        forms = {_form(port) for port in known}
        found = {port for port, seen in self._seen.items() if seen and (seen[0].via is Via.LLDP or _form(port) in forms)}
        lags = {lag for port in known for lag in self._lags.get(port, ())}
        found.update(port for port, own in self._lags.items() if not own.isdisjoint(lags))
        for port, rows in self._interfaces.items():
            alike = _form(port) in forms
            if (alike or port in self._nics) if self._host else (alike and any(row.up for row in rows)):
                found.add(port)
        return sorted({*found, *self._rdma} - known)

    def _lldp(self, row: Neighbour) -> NeighbourSeen:
        return NeighbourSeen(
            row.system or "",
            row.port_id,
            row.port_kind or "",
            row.port_description or "",
            row.chassis or "",
            since_s=row.since_s,
            heard_s=row.heard_s,
            ttl_s=row.ttl_s,
            fact=self._proof(
                row, *("port_description", "system")[:: 1 if row.port_kind == "mac" else -1], "chassis", "port_kind"
            ),
        )

    def _learned(self) -> Mapping[str, list[NeighbourSeen]]:
        """Addresses by the port they were learned on. Those of a host's own tables come from anywhere in its network."""
        found: defaultdict[str, dict[str, NeighbourSeen]] = defaultdict(dict)
        if self._host:
            return {}
        for (port, mac), row in sorted(self._state.rows(MacEntry).items()):
            if row.kind != "static":
                found[port].setdefault(mac, _address(mac, Via.MAC, self._proof(row, "kind", "vlan")))
        for _, entry in sorted(self._state.rows(ArpEntry).items()):
            if entry.mac and entry.interface and entry.state not in ("permanent", "failed", "incomplete"):
                found[entry.interface].setdefault(entry.mac, _address(entry.mac, Via.ARP, self._proof(entry, "mac")))
        return {port: list(seen.values()) for port, seen in found.items()}

    def _proof(self, row: Row, *names: str) -> Fact | None:
        """The fact of the first of these columns that the row has."""
        column = next((name for name in names if getattr(row, name) is not None), None)
        return None if column is None else fact(self._state.cell(Address(row.TABLE, row.key, column)))


def _address(mac: str, via: Via, proof: Fact | None) -> NeighbourSeen:
    return NeighbourSeen("", mac, "mac", "", mac, via, fact=proof)


def _rdma_words(row: RdmaPort) -> Iterator[str]:
    yield from (row.name, f"{row.name}/{row.port}", *filter(None, (row.pci, row.port_guid, row.node_guid)))


def _form(name: str) -> str:
    """`Ethernet#` of `Ethernet32`: ports of a kind share it."""
    return _NUMBER.sub("#", name.lower())
