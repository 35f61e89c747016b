"""Gathers the links that a document lists: both directions become one link, what is said twice is compared, notes are counted.

The links themselves are judged by the rules of the native plan (`auditor.plan.document.read_rows`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from auditor.canonical import printable
from auditor.errors import ErrorList, PlanError, SetupError
from auditor.model import Place
from auditor.plan.document import MAX_ERRORS, read_rows
from auditor.plan.formats import Imported, ImportedDevice, devices_of

Columns = dict[str, str]
_Pair = tuple[tuple[str, ...], ...]

_MAX_LINES = 8
_SWAP = {"a_": "b_", "b_": "a_"}


def from_other_end(columns: Mapping[str, str]) -> Columns:
    """The same link with its ends exchanged."""
    return {_SWAP.get(column[:2], column[:2]) + column[2:]: value for column, value in columns.items()}


def _pair(row: Columns) -> _Pair:
    ends = ((row[f"{side}_device"], row[f"{side}_port"], row.get(f"{side}_lane", "")) for side in ("a", "b"))
    return tuple(sorted(ends))


class Collector:
    """Gathers the links of one document, named `name` in messages.

    With `last_counts` a cable into a port that has one already replaces it (PTM); otherwise that is an error.
    """

    def __init__(self, name: str, *, last_counts: bool = False) -> None:
        self.name, self.last_counts = name, last_counts
        self._errors: list[SetupError] = []
        self._rows: dict[int, tuple[int, Columns]] = {}
        self._pairs: dict[_Pair, int] = {}
        self._ports: dict[Place, list[int]] = defaultdict(list)
        self._notes: dict[str, list[int]] = {}
        self._devices: dict[str, ImportedDevice] = {}
        self._count = 0

    def fail(self, message: str, line: int | None = None) -> None:
        """Record an error; `result` raises it."""
        if len(self._errors) <= MAX_ERRORS:
            self._errors.append(PlanError(message, self.name, line))

    def note(self, text: str, line: int | None = None) -> None:
        """Say something about a line, or about the whole document; the same words about many lines are one note."""
        lines = self._notes.setdefault(printable(text), [])
        if line is not None and lines[-1:] != [line]:
            lines.append(line)

    def device(self, device: ImportedDevice, line: int | None = None) -> None:
        """What the document says of a device; a second, different word is noted and does not count."""
        known = self._devices.setdefault(device.name, device)
        changes = {}
        for field in fields(ImportedDevice):
            before, now = getattr(known, field.name), getattr(device, field.name)
            if now and not before:
                changes[field.name] = now
            elif now and before != now:
                self.note(f"{device.name}: {field.name} is {before} elsewhere and {now} here; the first counts", line)
        self._devices[device.name] = replace(known, **changes)

    def add(self, columns: Mapping[str, str], line: int) -> None:
        """One link, by the columns of the native plan."""
        row = {column: value.strip() for column, value in columns.items() if value.strip()}
        for column in ("a_device", "a_port", "b_device", "b_port"):
            row.setdefault(column, "")
            if row[column] != columns.get(column, ""):
                self.note("blanks around a name do not count", line)
        pair = _pair(row)
        first = self._pairs.get(pair)
        if first is not None and pair[0] != pair[1]:
            self._again(first, row, line)
            return
        if self.last_counts:
            self._displace(row, line)
        number = self._count = self._count + 1
        self._rows[number], self._pairs[pair] = (line, row), number
        for device, port, _ in pair:
            self._ports[device, port].append(number)

    def _again(self, number: int, row: Columns, line: int) -> None:
        """Merge a link that stands there already."""
        where, known = self._rows[number]
        if (row["a_device"], row["a_port"]) == (known["a_device"], known["a_port"]):
            self.note("stands there already: the same link, in the same direction", line)
        else:
            row = from_other_end(row)
        for column, value in row.items():
            before = known.setdefault(column, value)
            if before != value:
                counts = "last" if self.last_counts else "first"
                self.note(f"{column} is {value} here and {before} on line {where} for the same link; the {counts} counts", line)
                known[column] = value if self.last_counts else before

    def _displace(self, row: Columns, line: int) -> None:
        """Take out earlier cables of the ports of a row."""
        for side in ("a", "b"):
            place = (row[f"{side}_device"], row[f"{side}_port"])
            users, self._ports[place] = self._ports[place], []
            for number in (number for number in users if number in self._rows):
                where, known = self._rows[number]
                if known.get("cable_id") and known.get("cable_id") == row.get("cable_id"):
                    self._ports[place].append(number)
                    continue
                a, b = (f"{known[f'{end}_device']}:{known[f'{end}_port']}" for end in ("a", "b"))
                self.note(f"{a} to {b} is left out: line {line} uses {':'.join(place)} again, and the last line counts", where)
                del self._rows[number], self._pairs[_pair(known)]

    def result(self) -> Imported:
        """All of it, in the order of the document. Raises PlanError or, for several errors, ErrorList."""
        links, refused = read_rows(self._rows.values(), self.name)
        errors = sorted([*self._errors, *refused], key=lambda error: getattr(error, "line", None) or 0)
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ErrorList(errors[:MAX_ERRORS])
        if not links:
            raise PlanError("holds no cable", self.name)
        for device in devices_of(links).values():
            self._devices.setdefault(device.name, device)
        self._alike(self._devices)
        devices = tuple(device for _, device in sorted(self._devices.items()))
        return Imported(links, tuple(self._told()), devices)

    def _alike(self, names: Iterable[str]) -> None:
        """Names that differ in case alone are two devices, and hardly ever meant to be."""
        seen: dict[str, str] = {}
        for name in sorted(names):
            other = seen.setdefault(name.lower(), name)
            if other != name:
                self.note(f"{other} and {name} are two devices here: names differ in case alone")

    def _told(self) -> Iterable[str]:
        for text, lines in sorted(self._notes.items(), key=lambda item: item[1][:1]):
            more = f" and {len(lines) - _MAX_LINES} more" if len(lines) > _MAX_LINES else ""
            where = ", ".join(map(str, lines[:_MAX_LINES])) + more
            yield f"{self.name}:{where}: {text}" if lines else f"{self.name}: {text}"
