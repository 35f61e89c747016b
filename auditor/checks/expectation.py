"""Judges baseline lines: one expectation over one device's State, object by object.

Which objects a line has:
- Explicit keys and members of a port group are objects even without a row: read whole, the table proves them absent, else
  they are not evaluated. A group member of a table with further key parts (`host_dscp[@compute,*]`) or of one whose rows name
  their port in a column (`rdma_port[@compute,*]`) that has no row is the object `table[member]`.
- A `*` selects among the rows there are; if the table hides rows from us, what is hidden is one more object, not evaluated,
  named by the pattern. A line that selects nothing is not applicable, under the same name.
- `same` and `unique` speak of all selected rows together: one object, named by the pattern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from auditor.address import Address, Layer, Part, PartKind, Pattern
from auditor.baseline import operators
from auditor.canonical import printable
from auditor.facts import TABLES, Interface, Schema, Value, schema
from auditor.model import (
    ABSENT,
    Absent,
    Cell,
    Deviation,
    Expectation,
    Gap,
    GapReason,
    Judgement,
    Spot,
    State,
    Verdict,
    failed,
    passed,
    unseen,
)

SHARED_TABLES = frozenset({"dscp_map", "class_map", "buffer_pool"})
"""Tables whose first key names an object that many ports use: its rows have one cause."""

Groups = Mapping[str, frozenset[str]]


def reads(expectation: Expectation) -> tuple[str, ...]:
    """The columns (`table.column`) that judging this line looks at; decides what is collected."""
    pattern = expectation.at
    columns = [f"{pattern.table}.{pattern.column}"]
    if any(part.kind is PartKind.GROUP for part in pattern.key):
        shape = schema(TABLES[pattern.table])
        if shape.port_key is None and shape.port_column is not None:
            columns.append(f"{pattern.table}.{shape.port_column}")
        columns.append("interface.alias")
    return tuple(dict.fromkeys(columns))


def judge(expectation: Expectation, state: State, groups: Groups) -> list[Judgement]:
    """Judge one line on one device; never empty. `groups` gives the members of each port group as interface names."""
    selection = _Selection(expectation.at, state, groups)
    cells = [selection.cell(key) for key in selection.objects()]
    hidden = selection.hidden()
    if not cells:
        return [unseen(selection.whole, hidden) if hidden else Judgement(selection.whole, Verdict.NOT_APPLICABLE)]
    if expectation.operator in operators.ACROSS_OBJECTS:
        return [_together(expectation, state, cells, selection.whole, hidden)]
    judgements = [_judge_cell(expectation, state, cell) for cell in cells]
    return [*judgements, unseen(selection.whole, hidden)] if hidden else judgements


class _Selection:
    """The rows that a pattern selects on one device."""

    def __init__(self, pattern: Pattern, state: State, groups: Groups) -> None:
        self.pattern, self.state, self.groups = pattern, state, groups
        self.row_type = TABLES[pattern.table]
        self.shape: Schema = schema(self.row_type)
        self.column = str(pattern.column)
        self.layer: Layer | None = pattern.layer or state.layer_of(self.row_type, self.column)
        self.group = next((part.text for part in pattern.key if part.kind is PartKind.GROUP), None)
        self.members = groups.get(self.group, frozenset()) if self.group is not None else frozenset()
        self.by_column = self.shape.port_column if self.group is not None and self.shape.port_key is None else None

    @property
    def whole(self) -> Address:
        """The line's rows taken together, as an object: `interface["@compute"]`."""
        return Address(self.pattern.table, tuple(_text(part) for part in self.pattern.key))

    def cell(self, key: tuple[str, ...]) -> Cell:
        """The judged cell of a row. Of a member that has no row: absent only where no row could still turn out to be its."""
        cell = self.state.cell(Address(self.pattern.table, key, self.column, self.pattern.layer))
        if self.by_column is not None and len(key) < len(self.shape.keys) and cell.known:
            gap = self.nameless() or self.hiding()
            if gap is not None:
                return replace(cell, value=None, origin=None, gap=gap)
        return cell

    def objects(self) -> list[tuple[str, ...]]:
        """Keys of all objects, sorted; a shorter key stands for a group member without any row."""
        parts = self.pattern.key
        if all(part.kind is not PartKind.GLOB for part in parts) and self.by_column is None:
            return sorted(product(*(self.members if part.kind is PartKind.GROUP else (part.text,) for part in parts)))
        rows = [key for key in self.candidates() if self.selects(key)]
        found = set(rows)
        if self.group is not None:
            place = next(at for at, part in enumerate(parts) if part.kind is PartKind.GROUP)
            having = {self.port(key) for key in rows} if self.by_column is not None else {key[place] for key in rows}
            found.update((member,) for member in self.members - having)
        return sorted(found)

    def candidates(self) -> set[tuple[str, ...]]:
        """Keys of rows seen at the layer that the line reads, and of rows known to be there though unreadable."""
        keys = set() if self.layer is None else set(self.state.tables.get((self.row_type, self.layer), {}))
        keys |= {gap.key for gap in self.gaps() if len(gap.key) == len(self.shape.keys)}
        return keys

    def selects(self, key: tuple[str, ...]) -> bool:
        if self.by_column is None:
            return all(part.matches(value, self.groups) for part, value in zip(self.pattern.key, key, strict=True))
        rest = zip(self.pattern.key, key, strict=True)
        return self.port(key) in self.members and all(
            part.kind is PartKind.GROUP or part.matches(value, self.groups) for part, value in rest
        )

    def port(self, key: tuple[str, ...]) -> str | None:
        """The interface that a row belongs to by its port column."""
        value = self.state.cell(Address(self.pattern.table, key, self.by_column)).value
        return value if isinstance(value, str) else self.state.port_of(self.pattern.table, key)

    def gaps(self) -> list[Gap]:
        """Gaps that may hide cells of the judged column at the layer that is read."""
        return [gap for gap in self.state.gaps if gap.covers(self.pattern.table, self.layer, gap.key, self.column)]

    def nameless(self) -> Gap | None:
        """The gap of a row of which it is unknown to which port it belongs."""
        for key in self.candidates():
            cell = self.state.cell(Address(self.pattern.table, key, self.by_column))
            if not cell.known and self.state.port_of(self.pattern.table, key) is None:
                return cell.gap
        return None

    def hiding(self) -> Gap | None:
        """The gap that hides rows of the table whose keys we do not know; None when all rows were listed."""
        origins = () if self.layer is None else self.state.origins.get((self.row_type, self.layer, self.column), ())
        open_ended = next((gap for gap in self.gaps() if len(gap.key) < len(self.shape.keys) and self.may_hide(gap)), None)
        if open_ended is not None or any(origin.whole for origin in origins):
            return open_ended
        return self.state.gap_at(self.pattern.table, self.layer, (), self.column)

    def may_hide(self, gap: Gap) -> bool:
        """Whether the part of the table that a gap covers is one that the pattern selects from."""
        if self.by_column is not None:
            return True
        return all(part.matches(value, self.groups) for part, value in zip(self.pattern.key, gap.key, strict=False))

    def hidden(self) -> Gap | None:
        """Why rows that the line would judge may be hidden, or None."""
        globs = any(part.kind is PartKind.GLOB for part in self.pattern.key)
        if self.group is not None:
            if self.members:
                return self.hiding() if globs and self.by_column is None else None
            seen = self.state.keys(Interface) or any(kind is Interface for kind, _, _ in self.state.origins)
            return None if seen else self.state.gap_at(Interface.TABLE, None, (), None)
        return self.hiding() if globs else None


def _text(part: Part) -> str:
    return ("@" if part.kind is PartKind.GROUP else "") + part.text


def _judge_cell(expectation: Expectation, state: State, cell: Cell) -> Judgement:
    row = cell.address.row
    if cell.value is None:
        return unseen(row, cell.gap or state.gap_at(row.table, cell.layer, row.key, cell.address.column))
    if (gap := _too_long(expectation, state, cell)) is not None:
        return unseen(row, gap)
    if operators.holds(expectation.operator, cell.value, expectation.value):
        return passed(row)
    unit = schema(TABLES[row.table]).columns[str(cell.address.column)].info.unit
    observed = operators.shown(cell.value) + (f" {unit}" if unit and cell.present else "")
    wanted = operators.words(expectation.operator, expectation.value, unit)
    spot = _spot(state, cell)
    shared = Address(row.table, row.key[:1]) if row.table in SHARED_TABLES and row.key else None
    return failed(
        row,
        Deviation(
            expected=wanted,
            observed=observed,
            message=_line(f"{spot.address} is {observed}, baseline wants {wanted.removeprefix('= ')}: {expectation.why}"),
            spots=(spot,),
            shared=shared,
            severity=expectation.severity,
        ),
    )


def _together(expectation: Expectation, state: State, cells: list[Cell], whole: Address, hidden: Gap | None) -> Judgement:
    """Judge `same` or `unique`. A disagreement among what was seen is proven; agreement needs all of it."""
    by_value: dict[Value | Absent, list[Cell]] = {}
    for cell in cells:
        if cell.value is None:
            hidden = hidden or cell.gap
        else:
            by_value.setdefault(cell.value, []).append(cell)
    if operators.agree(expectation.operator, (value for value, some in by_value.items() for _ in some)):
        return passed(whole) if hidden is None else unseen(whole, hidden)
    ranked = sorted(by_value.items(), key=lambda item: (-len(item[1]), operators.shown(item[0])))
    if expectation.operator == "same":
        told, odd = ranked, ranked[1:] or ranked
    else:
        told = odd = [(value, some) for value, some in ranked if len(some) > 1 or value is ABSENT]
    observed = ", ".join(operators.shown(value) + (f" ({len(some)} times)" if len(some) > 1 else "") for value, some in told[:5])
    observed += f" and {len(told) - 5} more" if len(told) > 5 else ""
    culprits = [cell for _, some in odd for cell in some]
    names = ", ".join(str(cell.address.row) for cell in culprits[:5]) + (" …" if len(culprits) > 5 else "")
    wanted = operators.words(expectation.operator, True)
    message = _line(f"{expectation.at}: {observed} where the baseline wants {wanted} ({names}): {expectation.why}")
    spots = tuple(_spot(state, cell) for cell in culprits[:5])
    return failed(whole, Deviation(wanted, observed, message, spots, severity=expectation.severity))


def _too_long(expectation: Expectation, state: State, cell: Cell) -> Gap | None:
    """A gap for a text that `matches` and `version` do not look at because of its length."""
    if expectation.operator not in ("matches", "version") or len(str(cell.value)) <= operators.MATCH_LIMIT:
        return None
    address = cell.address
    source = "" if cell.origin is None else cell.origin.source
    detail = f"{address} is longer than the {operators.MATCH_LIMIT} characters that {expectation.operator!r} reads"
    columns = (str(address.column),)
    return Gap(state.device, address.table, source, GapReason.UNPARSED, detail, cell.layer, address.key, columns)


def _spot(state: State, cell: Cell) -> Spot:
    return Spot(state.device, replace(cell.address, layer=cell.layer))


def _line(message: str) -> str:
    """A message safe for a screen: keys and values in it are the device's words."""
    return printable(message, 2000)
