"""Ports that an answer calls by their PCI address, as tools of some makers do, get the name of the network device there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from auditor.address import Layer
from auditor.facts import TABLES, Nic, Row, schema
from auditor.model import Gap, GapReason, Platform, RawOutput, Source
from auditor.parse.answer import Parsed

_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def name_ports(parsed: Iterable[tuple[RawOutput, Source, Platform, Parsed]]) -> None:
    """Rename them in place, in rows and in gaps. Rows of a port whose network device no answer tells become a gap."""
    known = [item for item in parsed if any(fill.row_type is Nic for source in item[2].sources for fill in source.fills)]
    rows = (row for _, _, _, result in known for _, row in result.rows)
    names = {row.pci: row.netdev for row in rows if isinstance(row, Nic) and row.netdev}
    for output, source, _, result in known:
        if any(_at(row) for _, row in result.rows) or any(_gap_at(gap) for gap in result.gaps):
            _rename(result, names, output.device, source.key)


def _rename(result: Parsed, names: Mapping[str, str], device: str, source: str) -> None:
    rows: list[tuple[Layer, Row]] = []
    lost: dict[Gap, None] = {}
    for layer, row in result.rows:
        pci = _at(row)
        port_key = schema(type(row)).port_key
        if not pci or port_key is None:
            rows.append((layer, row))
        elif pci in names:
            rows.append((layer, replace(row, **{port_key: names[pci]})))
        else:
            detail = f"which network device is at {pci} no answer tells"
            lost[Gap(device, row.TABLE, source, GapReason.NOT_COLLECTED, detail, layer, (pci,))] = None
    result.rows = rows
    named = (replace(gap, key=(names.get(pci, pci), *gap.key[1:])) if (pci := _gap_at(gap)) else gap for gap in result.gaps)
    result.gaps = [*named, *lost]


def _at(row: Row) -> str:
    """The PCI address that stands where a row names its port; empty where there is a name."""
    shape = schema(type(row))
    return "" if shape.port_key is None else _address(getattr(row, shape.port_key))


def _gap_at(gap: Gap) -> str:
    row_type = TABLES.get(gap.table)
    if row_type is None or not gap.key:
        return ""
    shape = schema(row_type)
    return _address(gap.key[0]) if shape.port_key == shape.key_names[0] else ""


def _address(text: str) -> str:
    return text if _PCI.fullmatch(text) else ""
