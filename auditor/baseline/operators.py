"""The operators that baseline lines may use: what each wants, when it holds, and how it reads in words.

An absent value satisfies `absent` and nothing else. In particular `ne` and `not_in` fail on it: a value that is not
there is not a different one, and a line that names a value means that there should be one.

List columns (`pfc_priorities`, `trust`) hold sets: order and repeats do not count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from auditor.baseline.version import parse_range, satisfies
from auditor.canonical import printable
from auditor.facts import Value
from auditor.model import ABSENT, Absent

OPERATORS = {
    "eq": "the value is this one",
    "ne": "there is a value and it is not this one",
    "in": "the value is one of these",
    "not_in": "there is a value and it is none of these",
    "lt": "the number is below this",
    "le": "the number is this or below",
    "gt": "the number is above this",
    "ge": "the number is this or above",
    "between": "the number lies in [low, high], both included",
    "matches": "the whole text matches this regular expression",
    "contains": "the list has this item, or the text this part",
    "superset": "the list has at least these items",
    "absent": "there is no value (write true)",
    "present": "there is a value (write true)",
    "unique": "no two of the matched objects of a device have the same value (write true)",
    "same": "all matched objects of a device have the same value (write true)",
    "version": 'the version lies in this range, like ">=28.39,<28.43"',
}
"""Every operator word and what it says."""

ACROSS_OBJECTS = frozenset({"unique", "same"})
"""Operators that compare the objects of one device with each other: judged by `agree`, not by `holds`."""

MATCH_LIMIT = 256
"""Longest text (characters) that `matches` and `version` are tried on: bounds what a hostile device can cost."""

_FLAGS = frozenset({"absent", "present", "unique", "same"})
_KIND_WORDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "strs": "a list of texts", "ints": "a list of whole numbers",
}  # fmt: skip
_ITEM_KIND = {"strs": "str", "ints": "int"}


def check_value(operator: str, wanted: Any, kind: str) -> str | None:
    """What is wrong with a wanted value for a column of this kind (`int`, `strs` …), in words; None when it fits."""
    try:
        settle(operator, wanted, kind)
    except ValueError as problem:
        return str(problem)
    return None


def settle(operator: str, wanted: Any, kind: str) -> Any:
    """The wanted value as `holds` takes it (lists become sorted tuples); raises ValueError in words when it does not fit."""
    if operator not in OPERATORS:
        raise ValueError(f"no operator {operator!r}")
    if operator in _FLAGS:
        if wanted is not True:
            raise ValueError(f"{operator!r} takes no value but true, not {_written(wanted)}")
        return True
    if operator in ("eq", "ne"):
        return _value(wanted, kind)
    if operator in ("in", "not_in"):
        if not isinstance(wanted, list) or not wanted:
            raise ValueError(f"{operator!r} wants a list of values, not {_written(wanted)}")
        return tuple(_value(item, kind) for item in wanted)
    return _SETTLERS.get(operator, _number)(operator, wanted, kind)


def holds(operator: str, observed: Value | Absent, wanted: Any) -> bool:
    """Whether an observed value satisfies an operator; `wanted` as `settle` gave it.

    Raises ValueError for `unique` and `same`, which are about several values.
    """
    if operator in ACROSS_OBJECTS:
        raise ValueError(f"{operator!r} compares objects with each other")
    if observed is ABSENT or isinstance(observed, Absent):
        return operator == "absent"
    value = _as_set(observed)
    match operator:
        case "eq":
            return bool(value == wanted)
        case "ne":
            return bool(value != wanted)
        case "in":
            return value in wanted
        case "not_in":
            return value not in wanted
        case "lt":
            return bool(value < wanted)
        case "le":
            return bool(value <= wanted)
        case "gt":
            return bool(value > wanted)
        case "ge":
            return bool(value >= wanted)
        case "between":
            return bool(wanted[0] <= value <= wanted[1])
        case "matches":
            return len(str(value)) <= MATCH_LIMIT and re.fullmatch(wanted, str(value)) is not None
        case "contains":
            return wanted in value
        case "superset":
            return set(wanted) <= set(value)
        case "version":
            return len(str(value)) <= MATCH_LIMIT and satisfies(str(value), wanted)
        case "present":
            return True
        case "absent":
            return False
    raise ValueError(f"no operator {operator!r}")


def agree(operator: str, values: Iterable[Value | Absent]) -> bool:
    """Whether the values of a device's objects satisfy `same` or `unique`. An absent one satisfies neither."""
    seen = [value if isinstance(value, Absent) else _as_set(value) for value in values]
    if any(isinstance(value, Absent) for value in seen):
        return False
    return len(set(seen)) <= 1 if operator == "same" else len(set(seen)) == len(seen)


def words(operator: str, wanted: Any, unit: str = "") -> str:
    """The expectation as a report prints it: `= 9100 bytes`, `in {4.4.2, 4.4.3}`."""
    tail = f" {unit}" if unit else ""
    match operator:
        case "eq":
            return f"= {shown(wanted)}{tail}"
        case "ne":
            return f"not {shown(wanted)}{tail}"
        case "in" | "not_in":
            listed = ", ".join(shown(item) for item in wanted)
            return f"{'' if operator == 'in' else 'not '}in {{{listed}}}{tail}"
        case "lt" | "le" | "gt" | "ge":
            return f"{ {'lt': '<', 'le': '<=', 'gt': '>', 'ge': '>='}[operator] } {shown(wanted)}{tail}"
        case "between":
            return f"{shown(wanted[0])} to {shown(wanted[1])}{tail}"
        case "matches":
            return f"matches /{shown(wanted)}/"
        case "contains":
            return f"contains {shown(wanted)}"
        case "superset":
            return f"has all of {shown(wanted)}"
        case "version":
            return f"version {shown(wanted)}"
        case "same":
            return "the same value on all of them"
        case "unique":
            return "a value of its own on each of them"
    return operator


def shown(value: Value | Absent) -> str:
    """A value as a report prints it, safe for a screen: `9100`, `true`, `{3, 4}`, `absent`."""
    if isinstance(value, Absent):
        return "absent"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "{" + ", ".join(shown(item) for item in value) + "}"
    return printable(format(value, ".15g") if isinstance(value, float) else str(value))


def _as_set(value: Value) -> Any:
    return tuple(sorted(set(value))) if isinstance(value, tuple) else value


def _written(wanted: Any) -> str:
    return printable(repr(wanted), 60)


def _value(wanted: Any, kind: str) -> Any:
    """One value of a column's kind. Never converts between kinds, since YAML's guesses are not the author's."""
    if kind in _ITEM_KIND:
        if not isinstance(wanted, list):
            raise ValueError(f"wants {_KIND_WORDS[kind]}, not {_written(wanted)}")
        return tuple(sorted({_value(item, _ITEM_KIND[kind]) for item in wanted}))
    if kind == "float" and isinstance(wanted, (int, float)) and not isinstance(wanted, bool) and math.isfinite(wanted):
        return float(wanted)
    exact = {"str": str, "int": int, "bool": bool}.get(kind)
    if exact is not None and type(wanted) is exact:
        return wanted
    hint = "; put it in quotes" if kind == "str" and not isinstance(wanted, (list, dict, type(None))) else ""
    hint = "; write absent: true where no value is wanted" if wanted is None else hint
    raise ValueError(f"wants {_KIND_WORDS[kind]}, not {_written(wanted)}{hint}")


def _number(operator: str, wanted: Any, kind: str) -> Any:
    if kind not in ("int", "float"):
        raise ValueError(f"{operator!r} compares numbers, and this column is {_KIND_WORDS[kind]}")
    return _value(wanted, kind)


def _between(operator: str, wanted: Any, kind: str) -> Any:
    if not isinstance(wanted, list) or len(wanted) != 2:
        raise ValueError(f"'between' wants [low, high], not {_written(wanted)}")
    low, high = (_number(operator, item, kind) for item in wanted)
    if low > high:
        raise ValueError(f"'between' wants the lower bound first, not {_written(wanted)}")
    return low, high


def _matches(_: str, wanted: Any, kind: str) -> Any:
    if kind != "str":
        raise ValueError(f"'matches' reads texts, and this column is {_KIND_WORDS[kind]}")
    pattern = str(_value(wanted, "str"))
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as problem:
        raise ValueError(f"{_written(wanted)} is no regular expression: {problem}") from problem
    if problem_text := _costly(pattern):
        raise ValueError(f"{_written(wanted)} {problem_text}")
    return pattern


def _contains(_: str, wanted: Any, kind: str) -> Any:
    if kind not in ("str", "strs", "ints"):
        raise ValueError(f"'contains' looks into lists and texts, and this column is {_KIND_WORDS[kind]}")
    return _value(wanted, _ITEM_KIND.get(kind, kind))


def _superset(_: str, wanted: Any, kind: str) -> Any:
    if kind not in _ITEM_KIND:
        raise ValueError(f"'superset' compares lists, and this column is {_KIND_WORDS[kind]}")
    return _value(wanted, kind)


def _version(_: str, wanted: Any, kind: str) -> Any:
    if kind != "str":
        raise ValueError(f"'version' reads texts, and this column is {_KIND_WORDS[kind]}")
    text = str(_value(wanted, "str"))
    parse_range(text)
    return text


_SETTLERS = {
    "between": _between, "matches": _matches, "contains": _contains, "superset": _superset, "version": _version,
}  # fmt: skip


def _costly(pattern: str) -> str | None:
    """Why a regular expression could take for ever on a hostile text, or None.

    Refused: a repeat around a repeat, an option or an alternation (exponential), back references, and more than three
    `.*` (with a text of MATCH_LIMIT characters three cost milliseconds, five would cost minutes). A guard against
    accidents, not a proof: patterns are the project's own, only the text is a stranger's.
    """
    if len(pattern) > MATCH_LIMIT:
        return f"is longer than {MATCH_LIMIT} characters"
    plain = re.sub(r"\\\\|\[\^?\]?(?:\\.|[^\]\\])*\]", "c", pattern)
    if re.search(r"\\[1-9]|\(\?P=", plain):
        return "refers back to a group, which can take for ever"
    plain = re.sub(r"\\.", "c", plain)
    if len(re.findall(r"\.[*+]|\.\{\d*,\d*\}", plain)) > 3:
        return "has more than three '.*', which can take for ever"
    groups: list[bool] = [False]
    for at, char in enumerate(plain):
        if char == "(":
            groups.append(False)
        elif char == ")" and len(groups) > 1:
            repeats = groups.pop()
            follows = plain[at + 1 : at + 2] in ("*", "+", "{")
            if repeats and follows:
                return "repeats a group that itself repeats or has alternatives, which can take for ever"
            groups[-1] = groups[-1] or repeats or follows
        elif char in "*+{|" or (char == "?" and plain[at - 1 : at] != "("):
            groups[-1] = True
    return None
