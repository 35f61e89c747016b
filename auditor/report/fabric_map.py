"""The fabric as one looks at it: tiers against each other as grids of cables, coloured by what is wrong, as HTML, SVG or DOT.

A drawing with 1,024 lines between hosts and leaves shows nothing. So hosts are columns, leaves (by rail) are rows, and each cable
is a square where they meet: a wrong batch of servers is a block, a bad leaf a row, a bad host a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape

from auditor.canonical import printable
from auditor.report.outline import Case, few

CELL = 12
"""Pixels of a square: 128 hosts with 8 rails take 1,536 x 96."""
LABEL = 190
CAUSES_SHOWN = 200


class Shade(StrEnum):
    """What is known of a cable or device, worst first. Each has a letter beside its colour, for those who see no colours."""

    FAULT = "fault"
    WARNING = "warning"
    UNKNOWN = "unknown"
    NOT_YET = "not built yet"
    PARTLY = "proven by one end"
    FINE = "proven"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return list(Shade).index(self)


COLOURS = {
    Shade.FAULT: "#c62828", Shade.WARNING: "#f9a825", Shade.UNKNOWN: "#9e9e9e", Shade.NOT_YET: "#ffffff",
    Shade.PARTLY: "#a5d6a7", Shade.FINE: "#388e3c",
}  # fmt: skip
LETTERS = {Shade.FAULT: "×", Shade.WARNING: "!", Shade.UNKNOWN: "?", Shade.NOT_YET: "…", Shade.PARTLY: "", Shade.FINE: ""}


@dataclass(frozen=True, slots=True)
class Head:
    """A row or column: a device, the rack or rail that it stands under, and what is known of the device itself."""

    name: str
    group: str = ""
    shade: Shade = Shade.FINE
    words: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The cables between a column and a row: the worst shade of them, how many, and what is said of each."""

    shade: Shade
    count: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Two tiers of a plane against each other; `cells` by (column, row)."""

    title: str
    columns: tuple[Head, ...]
    rows: tuple[Head, ...]
    cells: Mapping[tuple[int, int], Cell]


@dataclass(frozen=True, slots=True)
class Edge:
    """One cable, for DOT."""

    a: str
    a_port: str
    b: str
    b_port: str
    shade: Shade
    planned: bool = True


@dataclass(frozen=True, slots=True)
class FabricMap:
    """A whole picture. `tiers`: the tier of every device, 0 for hosts. `strays`: cables that no plan has, in words."""

    title: str
    seen: str
    grids: tuple[Grid, ...]
    edges: tuple[Edge, ...]
    tiers: Mapping[str, int]
    strays: tuple[str, ...] = ()
    causes: tuple[Case, ...] = ()
    notes: tuple[str, ...] = ()


def as_svg(drawn: FabricMap) -> str:
    """One picture of all grids below each other; it holds no script and loads nothing."""
    parts, top, width = [], 10, 400
    for grid in drawn.grids:
        body, wide, high = _grid(grid)
        parts.append(f'<g transform="translate(10,{top})">{body}</g>')
        top, width = top + high + 30, max(width, wide + 20)
    style = "text{font-family:sans-serif;font-size:9px}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}">'
        f"<title>{_text(drawn.title)}</title><style>{style}</style>{''.join(parts)}</svg>\n"
    )


_STYLE = """
body { font: 10pt sans-serif; margin: 1em } .map { overflow-x: auto } li { margin: .2em 0 } .key span { margin-right: 1.5em }
.key i { display: inline-block; width: 12px; height: 12px; border: 1px solid #666; text-align: center; font: 9px sans-serif }
.critical, .error { color: #c62828; font-weight: bold } .warning { color: #8d6e00; font-weight: bold } .muted { color: #666 }
"""


def as_html(drawn: FabricMap) -> str:
    """A page of its own: key, picture, cables that no plan has, open causes. It holds no script and loads nothing."""
    key = "".join(f'<span><i style="background:{COLOURS[shade]}">{LETTERS[shade]}</i> {shade}</span>' for shade in Shade)
    lines = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{_text(drawn.title)}</title><style>{_STYLE}</style></head><body>',
        f"<h1>{_text(drawn.title)}</h1>",
        f'<p class="muted">{_text(drawn.seen)}</p>',
        f'<p class="key">{key}</p>',
        f'<div class="map">{as_svg(drawn).strip()}</div>',
        *(f'<p class="muted">{_text(note)}</p>' for note in drawn.notes),
        *_list("Cables that no plan has", [_text(stray) for stray in drawn.strays]),
        *_list("Open causes", [_cause(case) for case in drawn.causes[:CAUSES_SHOWN]]),
    ]
    if len(drawn.causes) > CAUSES_SHOWN:
        lines.append(f"<p>and {len(drawn.causes) - CAUSES_SHOWN} more: auditor findings list</p>")
    return "\n".join([*lines, "</body></html>"]) + "\n"


def as_dot(drawn: FabricMap) -> str:
    """A graph in Graphviz's language: a cable is an edge with its ports, tiers are ranks, an unplanned cable is dashed."""
    lines = [f"graph {_quoted(drawn.title)} {{", '  graph [ranksep=2, splines=false]; node [shape=box, fontname="sans-serif"];']
    for tier in sorted(set(drawn.tiers.values()), reverse=True):
        names = sorted(name for name, height in drawn.tiers.items() if height == tier)
        lines.append("  { rank=same; " + " ".join(f"{_quoted(name)};" for name in names) + " }")
    for edge in drawn.edges:
        style = "" if edge.planned else ", style=dashed"
        ports = f"taillabel={_quoted(edge.a_port)}, headlabel={_quoted(edge.b_port)}"
        lines.append(
            f"  {_quoted(edge.a)} -- {_quoted(edge.b)} [{ports}, color={_quoted(COLOURS[edge.shade])}, "
            f"tooltip={_quoted(edge.shade)}{style}];"
        )
    return "\n".join([*lines, "}"]) + "\n"


def worst(shades: Iterable[Shade]) -> Shade:
    """The worst of several, FINE for none."""
    return min(shades, key=lambda shade: shade.rank, default=Shade.FINE)


def _grid(grid: Grid) -> tuple[str, int, int]:
    """The picture of one grid, with its width and height in pixels."""
    head = 20 + max((min(len(column.name), 24) for column in grid.columns), default=0) * 5
    groups = bool({column.group for column in grid.columns} - {""})
    top = head + (14 if groups else 0)
    parts = [f'<text x="0" y="10" font-weight="bold">{_text(grid.title)}</text>']
    for at, column in enumerate(grid.columns):
        x = LABEL + at * CELL
        parts.append(
            f'<text transform="translate({x + 9},{top - 4}) rotate(-90)" fill="{_ink(column.shade)}">'
            f"<title>{_text(column.words or column.name)}</title>{_text(_short(column.name, 24))}{_mark(column.shade)}</text>"
        )
    parts.extend(_bars([column.group for column in grid.columns]) if groups else ())
    for at, row in enumerate(grid.rows):
        label = f"{row.group} · {row.name}" if row.group else row.name
        parts.append(
            f'<text x="{LABEL - 6}" y="{top + at * CELL + 9}" text-anchor="end" fill="{_ink(row.shade)}">'
            f"<title>{_text(row.words or label)}</title>{_text(_short(label, 36))}{_mark(row.shade)}</text>"
        )
    for (column_at, row_at), cell in sorted(grid.cells.items()):
        parts.append(_square(LABEL + column_at * CELL, top + row_at * CELL, cell))
    return "".join(parts), LABEL + len(grid.columns) * CELL + 10, top + len(grid.rows) * CELL


def _square(x: int, y: int, cell: Cell) -> str:
    letter = LETTERS[cell.shade] or (str(cell.count) if 1 < cell.count < 100 else "")
    ink = "#000" if cell.shade in (Shade.NOT_YET, Shade.WARNING, Shade.PARTLY) else "#fff"
    text = f'<text x="{x + 5.5}" y="{y + 9}" text-anchor="middle" fill="{ink}">{letter}</text>' if letter else ""
    return (
        f"<g><title>{_text('; '.join(cell.words))}</title>"
        f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{COLOURS[cell.shade]}" stroke="#666"/>'
        f"{text}</g>"
    )


def _bars(groups: Sequence[str]) -> Iterator[str]:
    """A line over the columns of each group, with its name."""
    start = 0
    for at in range(1, len(groups) + 1):
        if at == len(groups) or groups[at] != groups[start]:
            x, width = LABEL + start * CELL, (at - start) * CELL - 2
            name = _short(groups[start], max(1, width // 5))
            yield f'<g><title>{_text(groups[start])}</title><rect x="{x}" y="24" width="{width}" height="2" fill="#666"/>'
            yield f'<text x="{x}" y="22">{_text(name)}</text></g>'
            start = at


def _list(heading: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"<h2>{heading} ({len(items)})</h2>"
        yield "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _cause(case: Case) -> str:
    where = f" <span class=muted>on {_text(few(case.devices, 8))}; {_text(', '.join(case.rules))}</span>"
    severity = case.cause.severity
    return f'<span class="{severity}">{severity}</span> {_text(case.cause.title)}{where}'


def _ink(shade: Shade) -> str:
    return {Shade.FAULT: COLOURS[Shade.FAULT], Shade.WARNING: "#8d6e00", Shade.UNKNOWN: "#757575"}.get(shade, "#000")


def _mark(shade: Shade) -> str:
    return f" {LETTERS[shade]}" if LETTERS[shade] else ""


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(1, most - 1)] + "…"


def _text(text: str) -> str:
    return escape(printable(text, 400))


def _quoted(text: str) -> str:
    plain = printable(text, 200).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
