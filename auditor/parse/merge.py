"""Rows of many answers into one State: merged per table, layer, key and column, conflicts kept as gaps, joined to ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from auditor.address import Layer
from auditor.canonical import printable
from auditor.facts import Row, Value, schema
from auditor.model import Census, Fill, Gap, GapReason, Origin, Platform, RawOutput, Source, State
from auditor.parse.answer import Parsed


class Merge:
    """Rows of many answers, merged per table, layer, key and column."""

    def __init__(self, device: str, gaps: list[Gap]) -> None:
        self.device, self.gaps = device, gaps
        self.tables: dict[tuple[type[Row], Layer], dict[tuple[str, ...], Row]] = {}
        self.origins: dict[tuple[type[Row], Layer, str], list[Origin]] = {}
        self._listed: dict[tuple[str, type[Row]], dict[tuple[str, ...], Row]] = {}

    def add(self, output: RawOutput, source: Source, result: Parsed) -> None:
        """Merge what one answer gave."""
        self.gaps.extend(result.gaps)
        if not result.answered:
            return
        for fill in source.fills:
            rows = [(row.key, row) for layer, row in result.rows if type(row) is fill.row_type and layer == fill.layer]
            scope = None
            if source.parameter is not None or fill.only or not fill.whole:
                scope = frozenset(key[0] for key, _ in rows if key) | {*output.parameters.values(), *fill.only}
            whole = fill.whole and result.whole
            origin = Origin(source.key, output.digest, output.platform, whole, scope, output.command)
            self.tables.setdefault((fill.row_type, fill.layer), {})
            for column in fill.columns:
                self.origins.setdefault((fill.row_type, fill.layer, column), []).append(origin)
            self._listed.setdefault((source.key, fill.row_type), {}).update(rows)
            for key, row in rows:
                self._merge(fill, source, key, row)

    def count(self, platform: Platform) -> None:
        """Hold the answers against each other: one that lacks rows which another one lists proves no absence."""
        for census in platform.censuses:
            for fill in platform.source(census.source).fills:
                self._count(census, fill)

    def _count(self, census: Census, fill: Fill) -> None:
        ours = self._listed.get((census.source, fill.row_type))
        lister = next((key for key in census.listed_by if (key, fill.row_type) in self._listed), None)
        if ours is None or lister is None:
            return
        theirs = self._listed[lister, fill.row_type]
        missing = sorted(key for key, row in theirs.items() if key not in ours and census.counts(row))
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            detail = f"cut short: {printable(','.join(missing[0]), 60)}{more} of {lister} is not in it"
            gap = Gap(
                self.device, fill.row_type.TABLE, census.source, GapReason.TRUNCATED, detail, fill.layer, columns=fill.columns
            )
            self.gaps.append(gap)

    def _merge(self, fill: Fill, source: Source, key: tuple[str, ...], row: Row) -> None:
        rows = self.tables[fill.row_type, fill.layer]
        known = rows.setdefault(key, row)
        if known is row:
            return
        update: dict[str, Value | None] = {}
        for column in schema(fill.row_type).columns:
            old, new = getattr(known, column), getattr(row, column)
            if new is None or old == new:
                continue
            if old is None:
                if not any(
                    gap.reason is GapReason.CONFLICT and gap.covers(row.TABLE, fill.layer, key, column) for gap in self.gaps
                ):
                    update[column] = new
                continue
            update[column] = None
            detail = f"{column} is {printable(str(old), 60)} in one answer and {printable(str(new), 60)} in another"
            self.gaps.append(Gap(self.device, row.TABLE, source.key, GapReason.CONFLICT, detail, fill.layer, key, (column,)))
        if update:
            rows[key] = replace(known, **update)

    def state(self, at: datetime) -> State:
        """The finished State, with rows joined to ports."""
        return State(
            device=self.device,
            collected_at=at,
            tables=self.tables,
            origins={key: tuple(origins) for key, origins in self.origins.items()},
            gaps=tuple(dict.fromkeys(self.gaps)),
            ports=_ports(self.tables),
        )


def _ports(tables: Mapping[tuple[type[Row], Layer], Mapping[tuple[str, ...], Row]]) -> dict[tuple[str, tuple[str, ...]], str]:
    """Which interface each row belongs to: by a key that is a port, by a column that names one, by the PCI address."""
    ports: dict[tuple[str, tuple[str, ...]], str] = {}
    by_pci: dict[str, str] = {}
    for (row_type, _), rows in tables.items():
        shape = schema(row_type)
        naming = shape.port_key or shape.port_column
        if naming is None:
            continue
        for key, row in rows.items():
            port = getattr(row, naming)
            if port is not None:
                ports[shape.table, key] = port
                if shape.table == "nic":
                    by_pci[key[0]] = port
    for (row_type, _), rows in tables.items():
        if row_type.TABLE == "firmware":
            for key in rows:
                netdev = by_pci.get(key[0].removeprefix("nic."))
                if netdev is not None:
                    ports["firmware", key] = netdev
    return ports
