"""Compares two baselines by meaning: what a device judged by the one would have to be beside, or instead of, the other.

Order, comments, file, line and the profile that a line comes from do not count; what a line demands, how bad a failure is
and why, and the params of function rules do. `apply` is the inverse: `apply(meaning(a), diff(a, b))` is `meaning(b)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from pydantic_core import to_jsonable_python

from auditor.baseline.operators import words
from auditor.facts import TABLES, schema
from auditor.model import ABSENT, Baseline, Expectation
from auditor.treediff import differences


@dataclass(frozen=True, slots=True)
class Line:
    """What one line means. `value` is settled, so lists are sorted tuples."""

    at: str
    operator: str
    value: Any
    severity: str
    why: str

    @property
    def demand(self) -> str:
        """Address and wish as a person says them."""
        return f"{self.at} {self.wanted}"

    @property
    def wanted(self) -> str:
        """Operator and value with the column's unit: `= 9100 bytes`."""
        table, _, rest = self.at.partition("[")
        table = table.partition(".")[0]
        column = (rest.rpartition("]")[2] if rest else self.at).rpartition(".")[2].partition("@")[0]
        field = schema(TABLES[table]).columns.get(column) if table in TABLES else None
        return words(self.operator, self.value, field.info.unit if field is not None else "")


@dataclass(frozen=True, slots=True)
class Meaning:
    """A baseline without the places where it stands. `params` are plain (JSON-ready) values by rule id."""

    lines: Mapping[str, Line]
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LineChange:
    """One line of the diff; `before` None: added, `after` None: removed."""

    id: str
    before: Line | None
    after: Line | None

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of what changed: at, operator, value, severity, why; empty for a line added or removed."""
        if self.before is None or self.after is None:
            return ()
        return tuple(
            field.name for field in fields(Line) if not _equal(getattr(self.before, field.name), getattr(self.after, field.name))
        )


@dataclass(frozen=True, slots=True)
class ParamChange:
    """The params of one rule; ABSENT on the side that has none. `places` are the paths that differ with both values."""

    rule: str
    before: Any
    after: Any

    @property
    def places(self) -> list[tuple[str, Any, Any]]:
        """(path, value before, value after) of everything that differs inside; ABSENT where a side has nothing."""
        if self.before is ABSENT or self.after is ABSENT:
            return []
        return [(_path(path), old, new) for path, old, new in differences(self.before, self.after)]


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs, each part sorted by id."""

    lines: tuple[LineChange, ...] = ()
    params: tuple[ParamChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines or self.params)


def meaning(baseline: Baseline) -> Meaning:
    """What a baseline demands, without where it stands."""
    return Meaning({line.id: line_meaning(line) for line in baseline.expectations}, plain_params(baseline.params))


def line_meaning(line: Expectation) -> Line:
    """What one line demands."""
    return Line(str(line.at), line.operator, line.value, str(line.severity), line.why)


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Typed params as plain values; what is not said in the document (None and defaults that say nothing) is left out."""
    return {rule: _said(to_jsonable_python(value, by_alias=True, fallback=str)) for rule, value in params.items()}


def _said(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _said(item) for key, item in value.items() if item is not None}
    return [_said(item) for item in value] if isinstance(value, list) else value


def diff(a: Meaning, b: Meaning) -> Difference:
    """What changes from `a` to `b`; empty (false) when they mean the same."""
    lines = [LineChange(id_, a.lines.get(id_), b.lines.get(id_)) for id_ in sorted({*a.lines, *b.lines})]
    params = [
        ParamChange(rule, a.params.get(rule, ABSENT), b.params.get(rule, ABSENT)) for rule in sorted({*a.params, *b.params})
    ]
    return Difference(
        tuple(change for change in lines if change.before is None or change.after is None or change.parts),
        tuple(change for change in params if not _equal(change.before, change.after)),
    )


def apply(a: Meaning, difference: Difference) -> Meaning:
    """`a` with a difference made: `apply(a, diff(a, b))` is `b`. Raises ValueError when `a` is not what it was made from."""
    lines, params = dict(a.lines), dict(a.params)
    for change in difference.lines:
        if lines.pop(change.id, None) != change.before:
            raise ValueError(f"line {change.id} is not what the difference starts from")
        if change.after is not None:
            lines[change.id] = change.after
    for param in difference.params:
        if not _equal(params.pop(param.rule, ABSENT), param.before):
            raise ValueError(f"params of {param.rule} are not what the difference starts from")
        if param.after is not ABSENT:
            params[param.rule] = param.after
    return Meaning(lines, params)


def _equal(one: Any, other: Any) -> bool:
    """Equal in value and in type at every depth: 1, 1.0 and true are three demands."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _path(path: tuple[str | int, ...]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "value"
