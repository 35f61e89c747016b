"""Tables out of Excel workbooks and CSV files, cell by cell, with what Excel did to them undone or marked.

Nothing is evaluated: a formula counts as the value that was stored with it. A cell whose text cannot be relied on (a date
that once was a port, a formula without a value, `#REF!`) says why in `trouble`; who needs that cell makes an error of it.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter

from auditor.canonical import printable
from auditor.errors import PlanError
from auditor.plan.document import MAX_BYTES

MAX_UNPACKED = 128 * 1024 * 1024
MAX_PARTS = 2000
MAX_SHEETS = 100
MAX_ROWS = 300_000
MAX_CELLS = 1_000_000
MAX_COLUMNS = 64
MAX_TEXT = 1000

DATE_ORDERS = ("day-first", "month-first")

_TIDY = {
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"), None),
}
_TAG = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?(c|row|f|mergeCell)[\s/>]")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, tidied. `trouble` says why the text is not to be relied on, `remark` what was done to get it."""

    text: str = ""
    trouble: str = ""
    remark: str = ""


BLANK = Cell()


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: its rows that are not blank, as (number, cells). A CSV file is one sheet without a name."""

    name: str
    file: str
    rows: tuple[tuple[int, tuple[Cell, ...]], ...] = ()
    hidden: bool = False

    def place(self, row: int, column: int) -> str:
        """Where a cell is, for people: `sheet 'Compute'!D7`."""
        at = f"{get_column_letter(column + 1)}{row}"
        return f"sheet '{printable(self.name, 40)}'!{at}" if self.name else at

    def error(self, message: str, row: int, column: int) -> PlanError:
        """An error that names a cell."""
        return PlanError(f"{self.place(row, column)}: {message}", self.file, None if self.name else row)


def is_workbook(raw: bytes) -> bool:
    """Whether these bytes are an Excel workbook (.xlsx)."""
    return raw[:4] == b"PK\x03\x04" and b"xl/workbook.xml" in raw


def read_sheets(raw: bytes, file: str, dates: str = "") -> tuple[Sheet, ...]:
    """The sheets of a workbook, or the one table of a CSV file; `dates` says what dates once were, one of `DATE_ORDERS`.

    Raises PlanError for what is neither, is too large, or is built to be too large once unpacked.
    """
    if len(raw) > MAX_BYTES:
        raise PlanError(f"is larger than {MAX_BYTES} bytes: no wiring plan is", file)
    if raw[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise PlanError("is an old Excel file (.xls) or one with a password: save it as .xlsx without one", file)
    if raw[:4] == b"PK\x03\x04":
        return _workbook(raw, file, dates)
    return (Sheet("", file, tuple(_csv(_text(raw, file), file))),)


def tidy(text: str) -> str:
    """Text without what the eye does not see: outer and double blanks, odd blanks; every kind of dash as `-`."""
    return " ".join(text.translate(_TIDY).split())


def _written(text: str) -> Cell:
    """The cell of a text that somebody wrote."""
    if len(text) > MAX_TEXT:
        return Cell(tidy(text[:MAX_TEXT]), f"is longer than {MAX_TEXT} characters")
    out = tidy(text)
    if not out.isprintable():
        return Cell(printable(out, 60), "holds a control character")
    return Cell(
        out, remark="a long dash was read as -" if "-" in out and text.translate(_TIDY).count("-") != text.count("-") else ""
    )


# CSV


def _text(raw: bytes, file: str) -> str:
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):  # what Excel calls "Unicode text"
        if raw.startswith(mark):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                raise PlanError("is no UTF-16 text, though it begins like one", file) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = raw[: problem.start].count(b"\n") + 1
        raise PlanError("is not UTF-8 text; save it as 'CSV UTF-8'", file, line) from None
    if "\0" in text:
        raise PlanError("is no text: it holds zero bytes", file, text[: text.index("\0")].count("\n") + 1)
    if not text.strip():
        raise PlanError("is empty", file)
    return text


def _csv(text: str, file: str) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    head = text[:20_000].splitlines()[:50]
    delimiter = max(",;\t", key=lambda sign: sum(line.count(sign) for line in head))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield line, tuple(map(_from_csv, cells[:MAX_COLUMNS]))
            line = reader.line_num + 1
            if line > MAX_ROWS:
                raise PlanError(f"has more than {MAX_ROWS} lines", file)
    except csv.Error as problem:
        raise PlanError(f"is no CSV: {problem}", file, line) from None


_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE_TEXT = re.compile(
    rf"(?i)\d{{1,2}}[- /.]?(?:{_MONTHS})[a-z]*|(?:{_MONTHS})[- /.]\d{{1,2}}|\d{{1,2}}[/.-]\d{{1,2}}[/.-]\d{{4}}"
)


def _from_csv(text: str) -> Cell:
    cell = _written(text)
    if _DATE_TEXT.fullmatch(cell.text):
        return Cell(
            cell.text, "is a date: Excel makes one of a port like 1/2; give the column the format Text and write it again"
        )
    if re.fullmatch(r"#(?:REF!|N/A|NAME\?|VALUE!|DIV/0!|NULL!|NUM!)", cell.text):
        return Cell(cell.text, f"holds Excel's error {cell.text}")
    return cell


# workbooks


def _workbook(raw: bytes, file: str, dates: str) -> tuple[Sheet, ...]:
    tags = _unpacked(raw, file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
            # merged cells and formulas are only told by the other way of reading
            shape = openpyxl.load_workbook(io.BytesIO(raw), data_only=False) if tags & {b"f", b"mergeCell"} else None
            if len(values.worksheets) > MAX_SHEETS:
                raise PlanError(f"has more than {MAX_SHEETS} sheets", file)
            return tuple(_sheet(sheet, None if shape is None else shape[sheet.title], file, dates) for sheet in values.worksheets)
    except PlanError:
        raise
    except Exception as problem:  # the reader raises what its parts raise: KeyError, ValueError, XML errors …
        raise PlanError(f"cannot be read as a workbook ({type(problem).__name__})", file) from None


def _unpacked(raw: bytes, file: str) -> set[bytes]:
    """Look through the parts before anything is built of them: sizes, entities, counts. The tags that occur."""
    tags: dict[bytes, int] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts = archive.infolist()
            if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
                raise PlanError(
                    f"is larger than {MAX_UNPACKED} bytes or {MAX_PARTS} parts once unpacked: no wiring plan is", file
                )
            if "xl/workbook.xml" not in {part.filename for part in parts}:
                raise PlanError("is a ZIP archive, but no Excel workbook", file)
            for part in parts:
                if not part.filename.lower().endswith((".xml", ".rels")):
                    continue
                body = archive.read(part)
                if not body.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<") or b"<!DOCTYPE" in body or b"\0" in body:
                    raise PlanError(f"part {printable(part.filename, 60)} is no plain XML", file)
                if "/worksheets/" in part.filename:
                    for tag in _TAG.findall(body):
                        tags[tag] = tags.get(tag, 0) + 1
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error) as problem:
        raise PlanError(f"is no whole workbook ({type(problem).__name__})", file) from None
    if tags.get(b"c", 0) > MAX_CELLS or tags.get(b"row", 0) > MAX_ROWS:
        raise PlanError(f"has more than {MAX_CELLS} cells or {MAX_ROWS} rows", file)
    return set(tags)


def _sheet(sheet: Any, shape: Any, file: str, dates: str) -> Sheet:
    sheet.reset_dimensions()
    formulas: set[tuple[int, int]] = set()
    merged: dict[int, dict[int, tuple[int, int]]] = {}
    if shape is not None:
        formulas = {at for at, cell in shape._cells.items() if cell.data_type == "f"}
        for area in shape.merged_cells.ranges:
            if area.size["rows"] * area.size["columns"] > MAX_ROWS:
                continue
            for row in range(area.min_row, area.max_row + 1):
                for column in range(area.min_col, min(area.max_col, MAX_COLUMNS) + 1):
                    merged.setdefault(row, {})[column] = (area.min_row, area.min_col)
    rows: list[tuple[int, tuple[Cell, ...]]] = []
    tops: dict[tuple[int, int], Cell] = {}
    before: Any = None
    for number, row in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS), start=1):
        if row is before:  # the reader's one filler for all rows that are not there
            continue
        cells = [
            BLANK if item.value is None and not formulas else _cell(item, (number, at) in formulas, dates)
            for at, item in enumerate(row, start=1)
        ]
        for at, top in merged.get(number, {}).items():
            if top == (number, at):
                tops[top] = cells[at - 1]
            elif top[1] == at:  # a title over several columns is not the text of each of them
                cells[at - 1] = tops.get(top, BLANK)
        if any(cell is not BLANK for cell in cells):
            rows.append((number, _cut(cells)))
        elif all(item.value is None for item in row):
            before = row
    return Sheet(sheet.title, file, tuple(rows), sheet.sheet_state != "visible")


def _cut(cells: list[Cell]) -> tuple[Cell, ...]:
    last = max(at for at, cell in enumerate(cells) if cell is not BLANK)
    return tuple(cells[: last + 1])


def _cell(item: Any, formula: bool, dates: str) -> Cell:
    value = item.value
    if value is None:
        return Cell("", "holds a formula whose value was not stored: open the file in Excel and save it") if formula else BLANK
    if item.data_type == "e":
        return Cell(str(value), f"holds Excel's error {value}")
    if isinstance(value, bool):
        return Cell(str(value).upper(), "is TRUE or FALSE")
    if isinstance(value, int | float):
        return Cell(_number(value, str(item.number_format)))
    if isinstance(value, date):
        return _was_date(value, str(item.number_format), dates)
    if isinstance(value, str):
        return _written(value) if value.strip() else BLANK
    return Cell(str(value), f"is a time ({value}): give the column the format Text and write it again")


def _number(value: float, form: str) -> str:
    if value != value or value in (float("inf"), float("-inf")) or int(value) != value:
        return f"{value:.12g}"
    return f"{int(value):0{len(form)}d}" if re.fullmatch("0{2,9}", form) else str(int(value))


def _was_date(value: date, form: str, dates: str) -> Cell:
    """The port that Excel took for a date, as far as the format of the cell proves it.

    Typed `1/33` shows as `mmm-yy` and is month and year. Typed `1/2` shows as `d-mmm` wherever it was typed, and whether 1 is
    the day depends on the country. A format of digits shows the text as it was.
    """
    plain = re.sub(r"\[[^\]]*\]|\\.|\"[^\"]*\"|;.*", "", form.lower()).strip()
    whole = not isinstance(value, datetime) or (value.hour, value.minute, value.second) == (0, 0, 0)
    shown = None
    if whole and plain in ("m/d", "mm/dd"):
        shown = f"{value.month}/{value.day}"
    elif (whole and plain in ("d/m", "dd/mm")) or (whole and plain == "d-mmm" and value.day == value.month):
        shown = f"{value.day}/{value.month}"
    elif whole and plain in ("mmm-yy", "m/yy") and value.day == 1:
        shown = f"{value.month}/{value.year % 100}"
    elif whole and plain == "d-mmm" and dates:
        shown = f"{value.day}/{value.month}" if dates == "day-first" else f"{value.month}/{value.day}"
    if shown is not None:
        return Cell(shown, remark="Excel had made a date of it")
    if whole and plain == "d-mmm":
        readings = f"{value.day}/{value.month} (dates=day-first) or {value.month}/{value.day} (dates=month-first)"
        return Cell(value.isoformat()[:10], f"is a date: it was {readings}, and the file does not tell which")
    return Cell(value.isoformat()[:10], f"is the date {value.isoformat()[:10]} (format {printable(form, 30)}): what was it?")


def column_number(letters: str) -> int:
    """0 for `A`, 27 for `AB`; raises ValueError for what is no column that is read."""
    number = 0
    if not re.fullmatch(r"[A-Za-z]{1,3}", letters):
        raise ValueError(f"{printable(letters, 20)!r} is no column")
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    if number > MAX_COLUMNS:
        raise ValueError(f"only the first {MAX_COLUMNS} columns are read, and {letters} is none of them")
    return number - 1


def letter(column: int) -> str:
    """`A` for 0."""
    return get_column_letter(column + 1)


def values(rows: Iterable[tuple[int, tuple[Cell, ...]]], column: int) -> list[str]:
    """The texts of one column, without the blank ones."""
    return [cells[column].text for _, cells in rows if column < len(cells) and cells[column].text]
