"""Reads tables whose columns are given by a line of dashes under the header, as Python's `tabulate` prints them.

The dashes are the only thing in such a table that says where a column begins and ends: cells can be empty, can hold
blanks, and are aligned to either side, so splitting a row at blanks shifts it. Cells are taken by the span of their
dashes and addressed by the header's name; columns that nobody asks for do no harm.

    Interface    FEC Oper    FEC Admin
    -----------  ----------  -----------
    Ethernet0           N/A           rs
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_RULER = re.compile(r"-+(?: +-+)+\s*")
_DASHES = re.compile(r"\s*-+(?: +-+)*\s*")
_WORDS = re.compile(r"\S+(?: \S+)*")


@dataclass(frozen=True, slots=True)
class RulerRow:
    """One row. `line` counts from 1.

    `cells` by header name: an empty cell is "", a column that the line ends before is left out (trailing blanks are not
    printed, so this is an empty last cell or a row cut short). None when the text does not fit under the columns.
    `ended` is False when the text stops before the end of this line: its last cell may be the beginning of another one. The line
    of dashes is such a row when the text stops in it.
    """

    line: int
    text: str
    cells: Mapping[str, str] | None
    ended: bool = True


@dataclass(frozen=True, slots=True)
class RulerTable:
    """One table. `before`: the lines between the previous table (or the start) and its header, blank ones left out."""

    headers: tuple[str, ...]
    rows: tuple[RulerRow, ...]
    before: tuple[str, ...]


def tables(text: str) -> Iterator[RulerTable]:
    """Every table of the text, in order. A table ends at a blank line, at a line of dashes, or with the text.

    Raises ValueError for a line of dashes without a header that fits above it.
    """
    lines = text.splitlines()
    cut = len(lines) if lines and not text.endswith(("\n", "\r")) else 0
    at = start = 0
    while at < len(lines):
        if not _RULER.fullmatch(lines[at]):
            at += 1
            continue
        spans = [found.span() for found in re.finditer("-+", lines[at])]
        header = _cut(lines[at - 1], spans) if at > start else None
        if header is None or len(set(header)) != len(spans) or "" in header:
            raise ValueError(f"line {at + 1}: no header fits over this line of dashes")
        before = tuple(line for line in lines[start : at - 1] if line.strip())
        at += 1
        rows = [RulerRow(at, lines[at - 1], None, False)] if at == cut else []
        while at < len(lines) and (at + 1 == cut or lines[at].strip()) and not _DASHES.fullmatch(lines[at]):
            cells = _cut(lines[at], spans)
            named = None if cells is None else dict(zip(header, cells, strict=False))
            rows.append(RulerRow(at + 1, lines[at].rstrip(), named, at + 1 != cut))
            at += 1
        start = at
        yield RulerTable(tuple(header), tuple(rows), before)


def _cut(line: str, spans: list[tuple[int, int]]) -> list[str] | None:
    """The cells of a line, as many as it reaches; the last one goes to the end of the line.

    Where text stands between two columns (a name wider than it counts shifts what follows), every word group must still lie
    under one column of its own; otherwise the line does not fit, and None says so.
    """
    line = line.rstrip()
    ends = [*(end for _, end in spans[:-1]), max(len(line), spans[-1][1])]
    starts = [start for start, _ in spans]
    if all(not line[end:start].strip() for end, start in zip([0, *ends[:-1]], starts, strict=True)):
        return [line[start:end].strip() for start, end in zip(starts, ends, strict=True) if start < len(line)]
    cells: dict[int, str] = {}
    for found in _WORDS.finditer(line):
        under = [
            at for at, (start, end) in enumerate(zip(starts, ends, strict=True)) if found.start() < end and start < found.end()
        ]
        if len(under) != 1 or under[0] in cells:
            return None
        cells[under[0]] = found.group()
    return [cells.get(at, "") for at in range(max(cells) + 1)]
