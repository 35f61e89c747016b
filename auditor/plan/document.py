"""The wiring plan in its native form: CSV, one line per link.

Header names in any order; `a_device,a_port,b_device,b_port` are required, the other known ones optional, and further columns
are kept as tags. Speeds are written `400G`, or `4xNDR`, `2xHDR`, `NDR` on InfiniBand; lengths in metres. A breakout is several
lines with one `cable_id` and a lane for each; nothing else may use a port twice. Dual-homing is two lines, each link stands
once, and `via` names the patch panels between. UTF-8 with or without a byte order mark; comma-separated.

A cell that a spreadsheet would take for a formula is written with an apostrophe before it, which reading takes off again.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from io import StringIO
from pathlib import Path

from auditor import canonical
from auditor.errors import ErrorList, PlanError, SetupError
from auditor.model import Place, Plan, PlanEnd, PlanLink, digest
from auditor.plan.groups import BUILT_IN

MAX_BYTES = 64 * 1024 * 1024
MAX_ERRORS = 200

REQUIRED = ("a_device", "a_port", "b_device", "b_port")
COLUMNS = (
    *REQUIRED, "plane", "rail", "speed", "label", "type", "length_m", "a_rack", "a_position", "b_rack", "b_position",
    "cable_id", "a_lane", "b_lane", "via", "a_id", "b_id",
)  # fmt: skip


def read_plan(file: Path) -> Plan:
    """Read a plan file; raises PlanError (missing, too large, not UTF-8) or ErrorList with all errors of its lines."""
    return parse_plan(read_text(file), str(file))


def read_text(file: Path) -> str:
    """The text of a plan file; raises PlanError (missing, too large, not UTF-8)."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise PlanError(f"cannot be read: {problem.strerror}", file) from problem
    if len(raw) > MAX_BYTES:
        raise PlanError(f"is larger than {MAX_BYTES} bytes: no wiring plan is", file)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise PlanError("is not UTF-8 text", file, raw[: problem.start].count(b"\n") + 1) from problem


def parse_plan(text: str, name: str) -> Plan:
    """Read the text of a plan; `name` is named in errors, its last part without suffix is the plan's name."""
    plan, errors = inspect_plan(text, name)
    if errors:
        more = len(errors) - MAX_ERRORS
        tail: list[SetupError] = [PlanError(f"{more} more errors", name)] if more > 0 else []
        raise ErrorList([*errors[:MAX_ERRORS], *tail])
    return plan


def inspect_plan(text: str, name: str) -> tuple[Plan, list[SetupError]]:
    """The sound links of a plan's text, and every error of the others, by line."""
    text = text.removeprefix("\ufeff")
    reader = _Reader(text, name)
    links = tuple(reader.links())
    return Plan(Path(name).stem, links, digest(text), name, text), reader.errors


def read_rows(rows: Iterable[tuple[int, dict[str, str]]], name: str) -> tuple[tuple[PlanLink, ...], list[SetupError]]:
    """The sound links of (line, columns) that another format gave, by the rules of this one, and every error of the others."""
    reader = _Reader("", name)
    links = [reader.link(row, line) for line, row in rows]
    return tuple(link for link in links if link is not None), reader.errors


def conflicts(plan: Plan) -> tuple[tuple[PlanLink, ...], list[SetupError]]:
    """The links of a plan that can be plugged together, and an error for each that cannot: it joins a device to itself, it
    stands there already, or its port is taken."""
    claims, sound, errors = _Claims(), [], list[SetupError]()
    for link in plan.links:
        message = claims.refuse(link)
        if message:
            errors.append(PlanError(message, plan.file or plan.name, link.line))
        else:
            sound.append(link)
    return tuple(sound), errors


class _Claims:
    """Which port is taken by which line."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, ...], PlanLink] = {}
        self.ports: dict[Place, list[tuple[PlanEnd, PlanLink]]] = {}

    def refuse(self, link: PlanLink) -> str:
        """Take the ports of a link; why not, or nothing. A refused duplicate takes none."""
        if link.a.device == link.b.device:
            return f"both ends are on {link.a.device}"
        first = self.pairs.setdefault(tuple(sorted(f"{end}\0{end.lane}" for end in (link.a, link.b))), link)
        if first is not link:
            both = f"{link.a} to {link.b}"
            if first.a.place == link.a.place:
                return f"is the same link as {_where(first)}: {both}"
            return f"is {_where(first)} written from its other end: {both}; a plan has one line for each link"
        return "; ".join(filter(None, (self._claim(end, link) for end in (link.a, link.b))))

    def _claim(self, end: PlanEnd, link: PlanLink) -> str:
        """Take a port; only the lanes of one cable may share it."""
        users = self.ports.setdefault(end.place, [])
        taken = ""
        for other, first in users:
            same = bool(link.cable_id) and first.cable_id == link.cable_id
            if not (same and other.lane and end.lane and other.lane != end.lane):
                hint = "; the lines of a breakout need a lane each" if same else ""
                taken = f"port {end} is already used by {_where(first)}{hint}"
                break
        users.append((end, link))
        return taken


def _where(link: PlanLink) -> str:
    return f"the link {link.name}" if link.line is None else f"line {link.line}"


def read_speed(text: str) -> int:
    """Bits per second of `400G`, `4xNDR`, `NDR`; raises ValueError."""
    for form in (canonical.speed, canonical.infiniband_rate):
        with suppress(ValueError):
            return form(text)
    raise ValueError(f"{text!r} is no speed; write it like 400G or 4xNDR")


def guard(cell: str) -> str:
    """A cell as it is written: what a spreadsheet would take for a formula has an apostrophe before it."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unguard(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


_FORMULA = re.compile(r"'*[=+\-@]")


def _cell(text: str) -> str:
    return _unguard(text.strip())


class _Reader:
    """Reads the lines of one plan and gathers what is wrong with them."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.errors = text, name, list[SetupError]()
        self.claims = _Claims()

    def fail(self, message: str, line: int | None) -> None:
        self.errors.append(PlanError(message, self.name, line))

    def links(self) -> Iterator[PlanLink]:
        """The sound links; afterwards `errors` holds the rest."""
        header: list[str] | None = None
        for line, cells in self.records():
            if not any(cells):
                continue
            if header is None:
                header = [cell.strip() for cell in cells]
                if not self.usable(header, line):
                    return
            elif len(cells) != len(header):
                self.fail(f"has {len(cells)} fields where the header has {len(header)}", line)
            elif (link := self.link(dict(zip(header, map(_cell, cells), strict=True)), line)) is not None:
                yield link
        if header is None:
            self.fail("is empty: a plan starts with the line " + ",".join(REQUIRED), None)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """(first line, cells) of every record."""
        reader = csv.reader(StringIO(self.text, newline=""), strict=True)
        line = 1
        try:
            for cells in reader:
                yield line, cells
                line = reader.line_num + 1
        except csv.Error as problem:
            self.fail(f"is no CSV: {problem}", line)

    def usable(self, header: list[str], line: int) -> bool:
        before = len(self.errors)
        if len(header) == 1 and re.search(r"[;\t]", header[0]):
            self.fail("columns must be separated by commas", line)
            return False
        for column in REQUIRED:
            if column not in header:
                close = get_close_matches(column, [name for name in header if name not in COLUMNS], n=1)
                hint = f" (is it {close[0]!r}?)" if close else ""
                self.fail(f"column {column!r} is missing{hint}", line)
        for column in sorted({name for name in header if header.count(name) > 1}):
            self.fail(f"column {column!r} stands twice" if column else "two columns have no name", line)
        return len(self.errors) == before

    def link(self, row: dict[str, str], line: int) -> PlanLink | None:
        before = len(self.errors)
        for column, value in row.items():
            if not value.isprintable():
                self.fail(f"{column}: control character in {canonical.printable(value, 60)!r}", line)
        for column in REQUIRED:
            if not row[column]:
                self.fail(f"{column} is empty", line)
        plane = row.get("plane", "")
        if plane in BUILT_IN or (plane and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", plane)):
            self.fail(f"plane: {plane!r} cannot be the name of a plane: planes are port groups", line)
        speed, length = self.speed(row.get("speed", ""), line), self.length(row.get("length_m", ""), line)
        a, b = self.end(row, "a", line), self.end(row, "b", line)
        if len(self.errors) > before:
            return None
        link = PlanLink(
            a=a,
            b=b,
            plane=plane,
            rail=row.get("rail", ""),
            speed=speed,
            label=row.get("label", ""),
            type=row.get("type", ""),
            length_m=length,
            cable_id=row.get("cable_id", ""),
            via=row.get("via", ""),
            tags={column: value for column, value in row.items() if column not in COLUMNS and column and value},
            line=line,
        )
        refused = self.claims.refuse(link)
        if refused:
            self.fail(refused, line)
        return None if refused else link

    def end(self, row: dict[str, str], side: str, line: int) -> PlanEnd:
        texts = (row.get(f"{side}_{column}", "") for column in ("device", "port", "rack", "position", "lane", "id"))
        device, port, rack, position, lane, id_ = texts
        return PlanEnd(device, port, rack, position, lane, self.id(id_, f"{side}_id", line))

    def id(self, text: str, column: str, line: int) -> str:
        for form in (canonical.pci, canonical.mac, canonical.guid):
            try:
                if not text or form is not canonical.guid or len(re.sub(r"^0x|:", "", text)) == 16:
                    return form(text) if text else ""
            except ValueError:
                continue
        self.fail(f"{column}: {text!r} is neither a PCI address nor a GUID nor a MAC", line)
        return ""

    def speed(self, text: str, line: int) -> int | None:
        try:
            return read_speed(text) if text else None
        except ValueError as problem:
            self.fail(f"speed: {problem}", line)
            return None

    def length(self, text: str, line: int) -> float | None:
        try:
            value = float(text) if text else None
        except ValueError:
            value = math.nan
        if value is not None and not 0 < value < 100_000:
            self.fail(f"length_m: {text!r} is no length in metres; write it like 2.5", line)
        return value
