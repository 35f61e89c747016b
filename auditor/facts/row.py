"""What a fact table is: a frozen dataclass of key and optional columns, with its metadata and its plain form."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin, get_type_hints

R = TypeVar("R", bound="Row")

Value = str | int | float | bool | tuple[str, ...] | tuple[int, ...]
"""What a cell can hold. Types are settled by the normaliser: 1, 1.0 and True never meet in one column."""


@dataclass(frozen=True, slots=True)
class Key:
    """Metadata of a key column. `port` says that it names an interface of the device, so port groups select on it."""

    doc: str
    port: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """Metadata of a column. `volatile` stands outside digests and drift; `secret` is stored as a keyed hash only.

    `peer` declares the devices that should agree on the value: `model` (of one hardware model), `role` (of one role and
    hardware model), `fleet` (all); empty: not compared, and never learned into a baseline. No identity, nothing of the moment.
    `port` says that the value names an interface of the device, which joins the row to that port. `words` names the column of
    the same row that says in sentences what this one only hashes.
    """

    doc: str
    unit: str = ""
    volatile: bool = False
    secret: bool = False
    peer: str = ""
    port: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a fact table. `None` in a column means: this source said nothing about it."""

    TABLE: ClassVar[str]
    VOLATILE: ClassVar[bool] = False
    """Whether rows come and go by themselves (address tables): such a table is evidence, never state or drift."""

    @property
    def key(self) -> tuple[str, ...]:
        """The key parts in declared order; empty for a table with a single row."""
        names = schema(type(self)).key_names
        return (getattr(self, names[0]),) if len(names) == 1 else tuple([getattr(self, name) for name in names])


@dataclass(frozen=True, slots=True)
class Field:
    """One column as the rest of the program sees it: its Python type (`int`, `ints` …) and its metadata."""

    name: str
    kind: str
    info: Column


@dataclass(frozen=True, slots=True)
class Schema:
    """The shape of one table."""

    table: str
    keys: Mapping[str, Key]
    columns: Mapping[str, Field]
    key_names: tuple[str, ...]

    @property
    def port_key(self) -> str | None:
        """The key column that names an interface, if there is one."""
        return next((name for name, key in self.keys.items() if key.port), None)

    @property
    def port_column(self) -> str | None:
        """The column that names the interface the row belongs to, if there is one."""
        return next((name for name, field in self.columns.items() if field.info.port), None)


_KINDS: dict[Any, str] = {
    str: "str", int: "int", float: "float", bool: "bool",
    tuple[str, ...]: "strs", tuple[int, ...]: "ints",
}  # fmt: skip


_SCHEMAS: dict[type[Row], Schema] = {}


def schema(row_type: type[Row]) -> Schema:
    """The shape of a table, read once from its class; raises TypeError when a column is not declared as columns are."""
    shape = _SCHEMAS.get(row_type)
    if shape is None:
        shape = _SCHEMAS[row_type] = _read(row_type)
    return shape


def _read(row_type: type[Row]) -> Schema:
    keys: dict[str, Key] = {}
    columns: dict[str, Field] = {}
    hints = get_type_hints(row_type, include_extras=True)
    for field in fields(row_type):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:
            raise TypeError(f"{row_type.__name__}.{field.name} has no metadata")
        inner, info = get_args(hint)[:2]
        if isinstance(info, Key):
            keys[field.name] = info
            continue
        if get_origin(inner) in (Union, types.UnionType):
            inner = next(option for option in get_args(inner) if option is not type(None))
        columns[field.name] = Field(field.name, _KINDS[inner], info)
    return Schema(row_type.TABLE, types.MappingProxyType(keys), types.MappingProxyType(columns), tuple(keys))


def to_plain(row: Row, *, volatile: bool = True) -> dict[str, Any]:
    """The row as JSON-ready values, without the columns that are None; tuples become lists."""
    shape = schema(type(row))
    out: dict[str, Any] = {name: getattr(row, name) for name in shape.keys}
    for name, field in shape.columns.items():
        value = getattr(row, name)
        if value is not None and (volatile or not field.info.volatile):
            out[name] = list(value) if isinstance(value, tuple) else value
    return out


def from_plain(row_type: type[R], plain: Mapping[str, Any]) -> R:
    """The inverse of `to_plain`; columns that this version does not know are dropped."""
    shape = schema(row_type)
    known = {name: value for name, value in plain.items() if name in shape.keys or name in shape.columns}
    return row_type(**{name: tuple(value) if isinstance(value, list) else value for name, value in known.items()})
