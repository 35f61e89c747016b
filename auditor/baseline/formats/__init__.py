"""Formats that baselines can be imported from: one file per format, each holding a `Format`. Presence is registration.

A format is pure: a YAML document in, proposed lines out. What it cannot say in our facts is data (`LeftOut`), never silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from auditor.address import Pattern, quote_key
from auditor.baseline.operators import settle
from auditor.baseline.proposal import Proposed
from auditor.canonical import printable
from auditor.errors import AddressError
from auditor.facts import TABLES, schema
from auditor.loader import declared
from auditor.model import Severity
from auditor.yamldoc import Path_, YamlDocument

STEMS = {
    "interface.mtu": "mtu", "system.os_version": "firmware.os", "system.hostname": "host.name", "system.serial": "host.serial",
    "system.vendor": "host.vendor", "system.hardware_model": "host.model",
}  # fmt: skip
"""What the ids of lines begin with; of other columns it is `fabric.<column>`."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller knows: ids that no line may have, and the tags whose checks are wanted beside those without any."""

    taken: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A check, or a part of one, that no line stands for, and why."""

    line: int | None
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """What a check no longer means, or means now, and the lines of the document that this holds for."""

    lines: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What a document became."""

    lines: tuple[Proposed, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """One format: the word of `--format`, what people call it, whether a document is one, and how it is read.

    `read` never raises for what a document says; it is only given documents that `recognises` accepts.
    """

    name: str
    title: str
    recognises: Callable[[YamlDocument], bool]
    read: Callable[[YamlDocument, Options], Imported]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name: those of this folder and those of the entry-point group `auditor.baseline_format`."""
    found = declared("auditor.baseline.formats", Format, "auditor.baseline_format")
    return MappingProxyType({item.name: item for item in sorted(found, key=lambda item: item.name)})


class Collector:
    """Gathers the lines of one document, checks each as `lint` will, and gives it an id that a person would have given."""

    def __init__(self, source: YamlDocument, options: Options) -> None:
        self.source, self.options = source, options
        self._lines: dict[tuple[str, str, str], tuple[Proposed, int | None]] = {}
        self._left: list[LeftOut] = []
        self._notes: dict[str, set[int]] = {}

    @property
    def file(self) -> str:
        """The name of the document's file, without its folders, safe for a comment."""
        return printable(self.source.file.replace("\\", "/").rpartition("/")[2], 80)

    def leave_out(self, path: Path_, what: str, reason: str) -> None:
        """Record that what stands at `path` has no line."""
        self._left.append(LeftOut(self.source.line(*path), what, reason))

    def note(self, path: Path_, text: str) -> None:
        """Say what is different from before for what stands at `path`."""
        self._notes.setdefault(text, set()).add(self.source.line(*path) or 1)

    def add(
        self,
        path: Path_,
        address: tuple[str, str, str],
        operator: str,
        value: Any,
        why: str,
        remark: str = "",
        *,
        selects: bool = False,
    ) -> bool:
        """One line on `(table, key, column)`. The key is the name of one row or empty; with `selects` a glob or `@group`.

        Left out, with the reason, where the value does not fit the column or contradicts an earlier line: then False.
        `remark` becomes the line's comment and a note.
        """
        table, key, column = address
        part = key if selects else quote_key(key)
        at = f"{table}[{part}].{column}" if key else f"{table}.{column}"
        written = list(value) if isinstance(value, tuple) else value
        try:
            Pattern.parse(at)
            if any(str(item).startswith("$") for item in (written if isinstance(written, list) else [written])):
                raise ValueError(f"{written!r} begins with $, and a baseline takes that for a reference to fabric.yaml")
            settle(operator, written, schema(TABLES[table]).columns[column].kind)
        except (AddressError, ValueError) as problem:
            self.leave_out(path, at, str(problem))
            return False
        known, where = self._lines.get((at, operator, "" if operator == "eq" else repr(value)), (None, None))
        if known is not None and repr(known.value) != repr(value):
            self.leave_out(path, at, f"line {where} wants {known.value!r}, and no value is both")
            return False
        if known is None:
            line = Proposed("", at, value, Severity.ERROR, why, remark, operator)
            self._lines[at, operator, "" if operator == "eq" else repr(value)] = (line, self.source.line(*path))
        if remark:
            self.note(path, remark)
        return True

    def result(self) -> Imported:
        """All of it: lines by table in the order of the source, ids given, what was left out by line."""
        order = list(TABLES)
        lines = sorted((line for line, _ in self._lines.values()), key=lambda line: order.index(line.table))
        left = sorted(self._left, key=lambda item: item.line or 0)
        notes = sorted((Note(tuple(sorted(where)), text) for text, where in self._notes.items()), key=lambda note: note.lines)
        return Imported(tuple(_named(lines, self.options.taken)), tuple(left), tuple(notes))


def _named(lines: Iterable[Proposed], taken: frozenset[str]) -> Iterable[Proposed]:
    used, counts = set(taken), Counter[str]()
    for line in lines:
        pattern = Pattern.parse(line.at)
        stem = STEMS.get(f"{pattern.table}.{pattern.column}", f"fabric.{pattern.column}")
        key = "_".join(re.sub(r"[^a-z0-9]+", "_", part.text.lower()).strip("_") or "all" for part in pattern.key)
        wanted = f"{stem}{'_' if '.' in stem else '.'}{key}"[:80] if key else stem
        id_ = wanted
        while id_ in used:
            counts[wanted] += 1
            id_ = f"{wanted}_{counts[wanted] + 1}"
        used.add(id_)
        yield replace(line, id=id_)


def leaves(data: Any) -> int:
    """How many values stand in plain data: what a check that is left out as a whole would have looked at."""
    if isinstance(data, Mapping):
        return sum(leaves(item) for key, item in data.items() if not key.startswith("_"))
    if isinstance(data, list):
        return sum(map(leaves, data))
    return 1
