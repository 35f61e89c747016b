"""What was seen of one device: rows by table and layer, where they came from, and what could not be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TypeVar

from auditor.address import READ_ORDER, Address, Layer
from auditor.facts import TABLES, Row, Value
from auditor.model.raw import Gap, GapReason

R = TypeVar("R", bound=Row)


class Absent(Enum):
    """The one value ABSENT: a whole answer, which declares the column, did not have it."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Origin:
    """An answer that declares a column. `scope`: it speaks only of rows with one of these first key parts (None: all).

    `command` is what was sent for it.
    """

    source: str
    digest: str
    platform: str = ""
    whole: bool = True
    scope: frozenset[str] | None = None
    command: str = ""

    def speaks_of(self, key: tuple[str, ...]) -> bool:
        """Whether rows with this key are this answer's business."""
        return self.scope is None or (bool(key) and key[0] in self.scope)


@dataclass(frozen=True, slots=True)
class Cell:
    """What is known of one cell: a value, ABSENT, or unknown (`gap` set, `value` None). `layer` says where it was read."""

    address: Address
    value: Value | Absent | None
    layer: Layer | None = None
    origin: Origin | None = None
    gap: Gap | None = None

    @property
    def known(self) -> bool:
        """Whether anything may be concluded: a value or ABSENT."""
        return self.value is not None

    @property
    def present(self) -> bool:
        """Whether there is a value."""
        return self.value is not None and self.value is not ABSENT


@dataclass(frozen=True, slots=True)
class State:
    """The facts of one device at one time. `ports` joins rows to ports: (table, key) -> interface name.

    `readable` are the (table, layer) that some source of its platforms could have given, asked for or not.
    """

    device: str
    collected_at: datetime
    tables: Mapping[tuple[type[Row], Layer], Mapping[tuple[str, ...], Row]]
    origins: Mapping[tuple[type[Row], Layer, str], tuple[Origin, ...]]
    gaps: tuple[Gap, ...] = ()
    ports: Mapping[tuple[str, tuple[str, ...]], str] | None = None
    readable: frozenset[tuple[str, Layer]] = frozenset()

    def rows(self, row_type: type[R], layer: Layer | None = None) -> Mapping[tuple[str, ...], R]:
        """Rows by key of one layer, or of the best layer that has an answer for this table. Empty when there is none."""
        for candidate in READ_ORDER if layer is None else (layer,):
            if (row_type, candidate) in self.tables:
                return self.tables[row_type, candidate]  # type: ignore[return-value]
        return {}

    def keys(self, row_type: type[Row], column: str | None = None) -> list[tuple[str, ...]]:
        """Keys seen at the layer a plain address of `column` reads (any readable layer without one), sorted."""
        layers = READ_ORDER if column is None else tuple(filter(None, [self.layer_of(row_type, column)]))
        found: set[tuple[str, ...]] = set()
        for layer in layers:
            found.update(self.tables.get((row_type, layer), {}))
        return sorted(found)

    def layer_of(self, row_type: type[Row], column: str) -> Layer | None:
        """The layer a plain address of this column reads: the best one with an answer that declares it."""
        return next((layer for layer in READ_ORDER if self.origins.get((row_type, layer, column))), None)

    def cell(self, address: Address) -> Cell:
        """What is known of the cell that `address` names (a column is required)."""
        if address.column is None:
            raise ValueError(f"{address} names no column")
        row_type, column, key = TABLES[address.table], address.column, address.key
        layer = address.layer or self.layer_of(row_type, column)
        if layer is None:
            return Cell(address, None, gap=self.gap_at(address.table, None, key, column))
        origins = [origin for origin in self.origins.get((row_type, layer, column), ()) if origin.speaks_of(key)]
        row = self.tables.get((row_type, layer), {}).get(key)
        value: Value | None = None if row is None else getattr(row, column)
        if value is not None:
            return Cell(address, value, layer, origins[0] if origins else None)
        gap = next((gap for gap in self.gaps if gap.covers(address.table, layer, key, column)), None)
        whole = next((origin for origin in origins if origin.whole), None)
        if gap is None and whole is not None:
            return Cell(address, ABSENT, layer, whole)
        return Cell(address, None, layer, gap=gap or self.gap_at(address.table, layer, key, column))

    def has_row(self, address: Address) -> bool | None:
        """Whether the row exists at any readable layer (or the named one); None when that cannot be known."""
        row_type = TABLES[address.table]
        layers = READ_ORDER if address.layer is None else (address.layer,)
        if any(address.key in self.tables.get((row_type, layer), {}) for layer in layers):
            return True
        if any(_hides_rows(gap) and gap.covers(address.table, address.layer, address.key, None) for gap in self.gaps):
            return None
        declared = [
            origin
            for (kind, layer, _), origins in self.origins.items()
            if kind is row_type and layer in layers
            for origin in origins
        ]
        if any(origin.whole and origin.speaks_of(address.key) for origin in declared):
            return False
        return None

    def gap_at(self, table: str, layer: Layer | None, key: tuple[str, ...], column: str | None) -> Gap:
        """The gap that explains why this cell is unknown; one is made when nothing was asked for."""
        for gap in self.gaps:
            if gap.covers(table, layer, key, column):
                return gap
        return Gap(self.device, table, "", GapReason.NOT_COLLECTED, "no source of this device was asked for it", layer)

    def port_of(self, table: str, key: tuple[str, ...]) -> str | None:
        """The interface that a row belongs to, by the join made after parsing."""
        return None if self.ports is None else self.ports.get((table, key))

    def all_rows(self) -> Iterator[tuple[Layer, Row]]:
        """Every row with its layer, in a stable order."""
        for (_, layer), rows in sorted(self.tables.items(), key=lambda item: (item[0][0].TABLE, item[0][1])):
            for key in sorted(rows):
                yield layer, rows[key]


def _hides_rows(gap: Gap) -> bool:
    """Whether rows may stand behind a gap: one over whole rows, or an answer with rows of its own that was not (wholly) seen."""
    return not gap.columns or (not gap.key and gap.reason is not GapReason.UNSUPPORTED)
