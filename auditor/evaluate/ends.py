"""The ends of links: what a device job emits for each planned port, and for other ports that see somebody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from auditor.address import Address
from auditor.cabling import links as cabling
from auditor.checks import rules
from auditor.checks.hops import hops
from auditor.checks.look import fact
from auditor.facts import TABLES, Interface, Neighbour, RdmaPort, schema
from auditor.model import Fabric, Fact, LinkEnd, NeighbourSeen, PlanSlice, RuleKind, State, TrafficClass, is_host

ALWAYS = cabling.READS
"""What `cabling` itself reads of an end, beside the neighbours."""


def columns() -> tuple[str, ...]:
    """Every `table.column` that a job emits per planned port: what link rules read, and what cabling does."""
    wanted = set(ALWAYS)
    for rule in rules().values():
        if rule.kind is RuleKind.LINK:
            wanted.update(rule.reads, rule.optional)
    return tuple(sorted(wanted))


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
    """The ends of a device's planned links, and those of other ports that see a neighbour, which cabling takes as evidence.

    `resolved` maps planned port names to interface names. `host`: the device sends and receives, it does not switch.
    """
    failed = set(failed_cells)
    ends = []
    chains = hops(state, _classes(plan, resolved, fabric), host=host, uplinks=_uplinks(plan, resolved, role))
    unreachable = next((gap for gap in state.gaps if gap.table == "*"), None)
    for planned in plan.ports:
        port = resolved.get(planned.port, planned.port)
        facts = {name: _fact(state, name, port) for name in columns()}
        cells = {f"{state.device}:{replace(fact.address, layer=None)}" for fact in facts.values()}
        ends.append(
            LinkEnd(
                device=state.device,
                port=planned.port,
                interface=resolved.get(planned.port),
                role=role,
                facts=facts,
                neighbours=_neighbours(state, port),
                identities=_identities(state, port, planned.port),
                collected_at=at,
                failed=tuple(sorted(cells & failed)),
                gap=unreachable,
                hops=chains.get(port, ()),
            )
        )
    known = {*resolved.values(), *(planned.port for planned in plan.ports)}
    seeing = {key[0] for key in state.rows(Neighbour)} - known
    ends.extend(
        LinkEnd(state.device, port, port, role, {}, _neighbours(state, port), _identities(state, port, port), at)
        for port in sorted(seeing)
    )
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


def _fact(state: State, name: str, port: str) -> Fact:
    table, _, column = name.partition(".")
    row_type = TABLES[table]
    key: tuple[str, ...] = (port,) if schema(row_type).keys else ()
    if key and schema(row_type).port_key is None:
        key = next((key for (kind, key), owner in (state.ports or {}).items() if kind == table and owner == port), (port,))
    return fact(state.cell(Address(table, key, column)))


def _neighbours(state: State, port: str) -> tuple[NeighbourSeen, ...]:
    return tuple(
        NeighbourSeen(
            row.system or "",
            row.port_id,
            row.port_kind or "",
            row.port_description or "",
            row.chassis or "",
            since_s=row.since_s,
            heard_s=row.heard_s,
            ttl_s=row.ttl_s,
            fact=fact(state.cell(Address(Neighbour.TABLE, key, "system"))),
        )
        for key, row in sorted(state.rows(Neighbour).items())
        if key[0] == port
    )


def _identities(state: State, port: str, planned: str) -> tuple[str, ...]:
    """Every name and address by which a neighbour may call this port."""
    found = {port, planned}
    for layer_rows in (rows for (row_type, _), rows in state.tables.items() if row_type is Interface):
        row = layer_rows.get((port,))
        if isinstance(row, Interface):
            found.update(name for text in (row.alias, row.mac) if text for name in text.split(","))
    for key, row in state.rows(RdmaPort).items():
        if row.netdev == port:
            found.update((key[0], f"{key[0]}/{key[1]}"))
    for (table, key), owner in (state.ports or {}).items():
        if table == "nic" and owner == port:
            found.add(key[0])
            found.update(filter(None, [getattr(row.get(key), "mac", None) for row in state.tables.values()]))
    return tuple(sorted(found))
