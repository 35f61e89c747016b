"""The State of a device from its stored row sets: what a rule can be asked about without collecting anything.

It knows less than a fresh one. Volatile and secret columns are not kept, neither are the reasons why a table is missing, and
what is missing is a gap. So a rule may be not evaluated here that a run would judge; nothing is absent that was not so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from auditor.facts import Row, from_plain, schema
from auditor.model import Device, Fill, GapReason, Platform, RawOutput, RowSet, Source, State
from auditor.parse import Parsed, parse_device
from auditor.parse.merge import Merge
from auditor.platforms import platforms


def state(device: Device, collected_at: datetime, sets: Iterable[RowSet]) -> State:
    """The facts of a device as the store keeps them. Sources, tables and columns that this version lacks are left out."""
    empty = parse_device(device.name, (), platforms(), collected_at=collected_at, names=device.platforms)
    merge = Merge(device.name, [gap for gap in empty.gaps if gap.reason is GapReason.UNSUPPORTED])
    by_source: dict[str, list[RowSet]] = defaultdict(list)
    for found in sets:
        by_source[found.key.source].append(found)
    for platform, source in _sources(device):
        kept = [(fill, found) for found in by_source.pop(source.key, ()) if (fill := _fill(source, found)) is not None]
        if kept:
            output = RawOutput(device.name, platform.name, source.key, source.command, "", "", collected_at)
            rows = [(fill.layer, row) for fill, found in kept for row in _rows(fill.row_type, found)]
            merge.add(output, replace(source, fills=tuple(fill for fill, _ in kept)), Parsed(rows))
    return merge.state(collected_at)


def _sources(device: Device) -> Iterator[tuple[Platform, Source]]:
    for name in device.platforms:
        if (platform := platforms().get(name)) is not None:
            for source in platform.sources:
                yield platform, source


def _fill(source: Source, found: RowSet) -> Fill | None:
    """What a row set says of its table: as its source declares, narrowed to the columns that were kept."""
    for fill in source.fills:
        if (fill.row_type.TABLE, fill.layer) == (found.key.table, found.key.layer):
            known = schema(fill.row_type).columns
            return replace(fill, columns=tuple(column for column in found.columns if column in known))
    return None


_KNOWN: dict[tuple[type[Row], str], tuple[Row, ...]] = {}
_MOST_KNOWN = 1024


def _rows(row_type: type[Row], found: RowSet) -> tuple[Row, ...]:
    """The rows of a set. Rows are frozen and devices of a kind share contents, so each content is read once per process."""
    name = (row_type, found.digest)
    if name not in _KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[name] = tuple(from_plain(row_type, row) for row in found.rows)
    return _KNOWN[name]
