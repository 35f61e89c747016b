"""Builds rows cell by cell: what cannot be read becomes an Unread of that cell, and the others stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Row, Value, schema
from auditor.model import Normalised, Unread


class Cells:
    """The cells of one row."""

    def __init__(self, row_type: type[Row], *key: str) -> None:
        self.row_type, self.key = row_type, key
        self.values: dict[str, Value] = {}
        self.unread: list[Unread] = []

    def read(
        self, column: str, raw: Any, convert: Callable[[str], Value | None], nothing: Callable[[str], bool] = canonical.nothing
    ) -> None:
        """Set a column from device text. What is `nothing` sets nothing; text that `convert` refuses is Unread."""
        if raw is None or (isinstance(raw, str) and nothing(raw)):
            return
        try:
            value = convert(text(raw))
        except ValueError as error:
            self.unread.append(Unread(self.row_type, self.key, column, detail=printable(str(error), 160)))
            return
        if value is not None:
            self.values[column] = value

    def rows(self) -> Iterator[Normalised]:
        """The row, then what of it could not be read."""
        keys = dict(zip(schema(self.row_type).keys, self.key, strict=True))
        yield self.row_type(**keys, **self.values)
        yield from self.unread


def text(raw: Any) -> str:
    """A database value as text; raises ValueError for a list, an object or a truth value."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError(f"a text was expected, not {str(raw)[:60]!r}")
    return str(raw).strip()


def not_given(raw: str) -> bool:
    """Whether a cell is empty where `none` and `unknown` are values: FEC modes, operators' texts."""
    return raw.strip() in ("", "N/A")


def never(_raw: str) -> bool:
    """For cells in which every text counts."""
    return False


def whole_number(raw: str) -> int:
    """A decimal number without sign; raises ValueError."""
    if not raw.isascii() or not raw.isdigit() or len(raw) > 18:
        raise ValueError(f"no whole number: {raw[:60]!r}")
    return int(raw)


def is_up(raw: str) -> bool:
    """`up` or `down`; raises ValueError."""
    try:
        return {"up": True, "down": False}[raw.lower()]
    except KeyError:
        raise ValueError(f"neither up nor down: {raw[:60]!r}") from None


def is_on(raw: str) -> bool:
    """A switch in one of the spellings that CONFIG_DB knows; raises ValueError."""
    word = raw.lower()
    if word in ("on", "true", "enable", "enabled", "1"):
        return True
    if word in ("off", "false", "disable", "disabled", "0"):
        return False
    raise ValueError(f"neither on nor off: {raw[:60]!r}")
