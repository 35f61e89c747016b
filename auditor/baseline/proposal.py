"""Proposes baseline lines from the values of a device, and writes them as a document that a person would have written.

What a device merely is (serial numbers, MAC addresses, names of devices and cables) or happens to do (up, state) is no
intent and is left out, as are volatile and secret columns. Values that many rows share become one line over a port group or
a glob; a person reads, cuts and renames the result before it counts.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from auditor import yamldoc
from auditor.address import Address, quote_key
from auditor.canonical import printable
from auditor.facts import TABLES, Value, schema
from auditor.model import Expectation, Severity, State

IDENTITY_TABLES = frozenset(
    {
        "neighbour", "mac_entry", "arp_entry", "gid", "config_file", "gpu", "nccl_path", "nccl_net", "nccl_topology",
        "nccl_graph",
    }
)  # fmt: skip
"""Tables that say which thing is where, or what a moment looked like. A topology is frozen whole, as params of its rule."""

IDENTITY = frozenset(
    {
        "system.hostname", "system.serial", "system.vendor", "system.hardware_model", "system.image_id", "interface.up",
        "interface.mtu_shown", "interface.mac", "interface.alias", "interface.description", "interface.breakout_parent",
        "interface.lanes", "interface.lag", "interface.error_disabled", "firmware.pending_version", "firmware.part_number",
        "firmware.psid", "nic.part_number", "nic.mac", "nic.netdev", "nic.numa_node", "nic.role", "rdma_port.pci",
        "rdma_port.netdev", "rdma_port.node_guid", "rdma_port.port_guid", "rdma_port.state", "optic.vendor", "optic.part_number",
        "optic.serial", "optic.length_m", "pci.parent", "pci.slot", "pci.vendor_id", "pci.device_id",
    }
)  # fmt: skip
"""Columns that name a thing, or tell a moment, in tables that also hold settings."""

_FAMILY = {
    "firmware": "firmware", "qos_port": "lossless", "dscp_map": "lossless", "class_map": "lossless", "queue": "lossless",
    "priority_group": "lossless", "buffer": "lossless", "buffer_pool": "lossless", "host_qos": "lossless",
    "host_dscp": "lossless", "nccl_env": "nccl", "interface": "fabric",
}  # fmt: skip
_PER_DEVICE_KEY = ("pci", "netdev")
"""Keys that name a part of this very device: another device of its kind calls the same part something else."""
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_LAST = ("in_use", "host_facing", "fabric_facing")

Groups = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Proposed:
    """One line to be: an address with globs or a group, and the value that all it selects have, or an operator and its value."""

    id: str
    at: str
    value: Value
    severity: Severity
    why: str
    note: str = ""
    operator: str = "eq"

    @property
    def table(self) -> str:
        """The table it speaks of."""
        return re.split(r"[.\[]", self.at, maxsplit=1)[0]


def lasting(table: str, column: str) -> bool:
    """Whether a column can be somebody's intent: neither volatile nor secret nor the identity of a thing."""
    info = schema(TABLES[table]).columns[column].info
    named = table in IDENTITY_TABLES or f"{table}.{column}" in IDENTITY
    return not (info.volatile or info.secret or info.port or named)


def propose(state: State, tables: Iterable[str], groups: Groups, why: str, taken: Iterable[str] = ()) -> list[Proposed]:
    """One line per value of these tables that can be intended, in the order of tables, columns and keys.

    `taken` are ids that no line may have: those of the function rules. Of tables whose rows are ports only planned ports
    count, as soon as the plan knows any of the device.
    """
    out: list[Proposed] = []
    used = set(taken)
    for table in tables:
        for column in schema(TABLES[table]).columns:
            if not lasting(table, column):
                continue
            for parts, value, count in _patterns(state, table, column, groups):
                at = table + (f"[{','.join(parts)}]" if parts else "") + f".{column}"
                id_ = _id(table, column, parts, used)
                note = f"{count} rows" if count > 1 else ""
                out.append(Proposed(id_, at, value, Severity.WARNING, why, note))
    return out


def _patterns(state: State, table: str, column: str, groups: Groups) -> list[tuple[tuple[str, ...], Value, int]]:
    """(key parts as an address writes them, value, number of rows) of every line that this column needs."""
    row_type = TABLES[table]
    shape = schema(row_type)
    values: dict[tuple[str, ...], Value] = {}
    for key in state.keys(row_type, column):
        value = state.cell(Address(table, key, column)).value
        if value is not None and isinstance(value, (str, int, float, tuple)):
            values[key] = value
    if not shape.keys:
        return [((), value, 1) for value in values.values()]
    general = 0 if shape.port_key is not None else next((at for at, key in enumerate(shape.keys) if key in _PER_DEVICE_KEY), None)
    if table == "rdma_port":
        general = 0
    alike: dict[tuple[str, ...], dict[str, Value]] = defaultdict(dict)
    for key, value in values.items():
        own = key[general] if general is not None else key[0]
        rest = tuple("*" if at == general else quote_key(part) for at, part in enumerate(key))
        if general is None and _PCI.search(key[0]) and "*" not in key[0]:
            rest = (_PCI.sub("*", key[0]), *rest[1:])
        alike[rest][own] = value
    out = []
    for rest, by_own in sorted(alike.items(), key=lambda item: _natural(item[0])):
        planned = groups.get("in_use", frozenset()) if shape.port_key is not None else frozenset()
        out += _grouped(rest, by_own, groups, planned) if planned else _starred(rest, by_own)
    return out


def _natural(parts: Iterable[str]) -> list[list[tuple[int, str]]]:
    """Keys in a person's order: 2 before 10."""
    return [
        [(int(run), "") if run.isascii() and run.isdigit() else (-1, run) for run in re.findall(r"[0-9]+|[^0-9]+", part)]
        for part in parts
    ]


def _starred(rest: tuple[str, ...], values: Mapping[str, Value]) -> list[tuple[tuple[str, ...], Value, int]]:
    if len(set(map(repr, values.values()))) == 1 or not any("*" in part for part in rest):
        return [(rest, next(iter(values.values())), len(values))]
    return [(_with(rest, quote_key(own)), value, 1) for own, value in sorted(values.items())]


def _grouped(
    rest: tuple[str, ...], values: Mapping[str, Value], groups: Groups, planned: frozenset[str]
) -> list[tuple[tuple[str, ...], Value, int]]:
    """Lines over port groups whose members all have one value, the largest first; what is left port by port."""
    out = []
    left = set(planned & values.keys())
    for name in sorted(groups, key=lambda name: (-len(groups[name]), name in _LAST, name)):
        members = groups[name]
        if left & members and members <= values.keys() and len({repr(values[port]) for port in members}) == 1:
            out.append((_with(rest, f"@{name}"), values[next(iter(members))], len(members)))
            left -= members
    return out + [(_with(rest, quote_key(port)), values[port], 1) for port in sorted(left)]


def _with(rest: tuple[str, ...], part: str) -> tuple[str, ...]:
    """The key with what names one part of the device in place of the glob."""
    if "*" in rest:
        return tuple(part if each == "*" else each for each in rest)
    return (part, *rest[1:])


def _id(table: str, column: str, parts: Sequence[str], taken: set[str]) -> str:
    family = _FAMILY.get(table, "host")
    words = [*([] if table == family else [table]), column, *(part for part in parts if part != "*")]
    name = re.sub(r"[^a-z0-9]+", "_", "_".join(words).lower()).strip("_")
    stem = f"{family}.{name}"[:80]
    id_, count = stem, 1
    while id_ in taken:
        count += 1
        id_ = f"{stem}_{count}"
    taken.add(id_)
    return id_


def against(lines: Iterable[Proposed], known: Iterable[Expectation]) -> list[Proposed]:
    """The lines that an extended baseline does not demand yet; one on the same address takes over its id, severity and why."""
    by_address = {str(line.at): line for line in known}
    out = []
    for line in lines:
        old = by_address.get(line.at)
        if old is None:
            out.append(line)
        elif (old.operator, repr(old.value)) != (line.operator, repr(line.value)):
            note = f"in place of {old.operator} {old.value}"
            out.append(replace(line, id=old.id, severity=old.severity, why=old.why, note=note))
    return out


def render(
    profile: str,
    version: str,
    lines: Sequence[Proposed],
    changes: str,
    extends: Sequence[str] = (),
    head: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
) -> str:
    """The document as text: remarks on top, then the lines grouped by table, each with its remark as a comment, and `params`
    of function rules."""
    out = [f"# {printable(remark, 200)}" for remark in head]
    out += [f"profile: {profile}", f"version: {version}"]
    if extends:
        out.append(f"extends: [{', '.join(extends)}]")
    out.append(f"changes: {_scalar(changes)}")
    out.append("expect:" if lines else "expect: []")
    table = ""
    for line in lines:
        if line.table != table:
            table = line.table
            out.append(f"  # {table}: {(TABLES[table].__doc__ or '').splitlines()[0].rstrip('.')}")
        fields: dict[str, Any] = {"id": line.id, "at": line.at, line.operator: line.value}
        fields |= {"severity": str(line.severity), "why": line.why}
        bare = ("id", "severity")
        words = ", ".join(f"{key}: {value if key in bare else _scalar(value)}" for key, value in fields.items())
        out.append(f"  - {{{words}}}" + (f"  # {printable(line.note, 120)}" if line.note else ""))
    return "\n".join(out) + "\n" + (yamldoc.dump({"params": params}) if params else "")


def _scalar(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=True)
