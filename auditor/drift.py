"""Compares row sets of one device: what changed since the stored predecessor, cell by cell, and how a row set is made.

A row set holds only the columns that count: volatile ones would make every night different, secret ones may not be kept
in clear and stay out until they travel as a keyed hash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from auditor.address import Address
from auditor.facts import TABLES, Row, schema, to_plain
from auditor.model import Change, RowSet, SetKey


def lasting_columns(row_type: type[Row], columns: Iterable[str]) -> tuple[str, ...]:
    """Those of `columns` that digests and drift look at, sorted: neither key, volatile nor secret."""
    known = schema(row_type).columns
    return tuple(
        sorted(name for name in set(columns) if name in known and not (known[name].info.volatile or known[name].info.secret))
    )


def row_set(key: SetKey, row_type: type[Row], columns: Iterable[str], rows: Iterable[Row]) -> RowSet:
    """The row set of one whole answer. `columns` are those its source declares.

    Rows of one key become one row, of which the first value stands. The digest (SHA-256, hexadecimal) covers the declared
    columns too: a column that is newly declared and empty says something else than one that nobody asked for.
    """
    lasting = lasting_columns(row_type, columns)
    wanted = {*schema(row_type).keys, *lasting}
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        plain = {name: value for name, value in to_plain(row, volatile=False).items() if name in wanted}
        merged[row.key] = plain | merged.get(row.key, {})
    ordered = tuple(merged[at] for at in sorted(merged))
    return RowSet(key, sha256(canonical(lasting, ordered).encode()).hexdigest(), lasting, ordered)


def canonical(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The content of a row set as the JSON text that its digest covers and the store keeps; pure ASCII."""
    content = {"columns": list(columns), "rows": list(rows)}
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def changes(device: str, before: RowSet | None, after: RowSet) -> list[Change]:
    """What differs between two row sets of the same key, in the order of their rows and columns.

    A cell that differs is one Change with its address. A row that appears or vanishes is one Change with the row's address
    and its plain form: a new neighbour is one event, not one per column. Only columns that both sets declare are compared,
    so a tool that learns to read a further column reports no drift. The first set ever (`before` None) yields nothing.
    """
    if before is None or before.digest == after.digest:
        return []
    row_type = TABLES[after.key.table]
    names = tuple(schema(row_type).keys)
    shared = [name for name in lasting_columns(row_type, after.columns) if name in before.columns]
    old, new = _by_key(names, before.rows), _by_key(names, after.rows)
    layer = str(after.key.layer)
    out: list[Change] = []
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        if was is None or now is None:
            address = str(Address(after.key.table, key))
            out.append(Change(device, address, layer, _row(was, names, shared), _row(now, names, shared)))
            continue
        if was == now:
            continue
        for column in shared:
            value, seen = was.get(column), now.get(column)
            if value != seen or type(value) is not type(seen):
                out.append(Change(device, str(Address(after.key.table, key, column)), layer, value, seen))
    return out


def join(found: Iterable[Change]) -> list[Change]:
    """One Change per device, address and layer, sorted: a port that two sources list is still one new row."""
    out: dict[tuple[str, str, str], Change] = {}
    for change in found:
        place = (change.device, change.address, change.layer)
        other = out.get(place)
        out[place] = (
            change if other is None else Change(*place, _both(other.before, change.before), _both(other.after, change.after))
        )
    return [out[place] for place in sorted(out)]


def _by_key(names: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], Mapping[str, Any]]:
    return {tuple(str(row[name]) for name in names): row for row in rows}


def _row(row: Mapping[str, Any] | None, names: tuple[str, ...], columns: list[str]) -> dict[str, Any] | None:
    return None if row is None else {name: row[name] for name in (*names, *columns) if name in row}


def _both(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return other | one
    return other if one is None else one
