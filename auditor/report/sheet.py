"""The sheet an installer takes to the rack: one line per cable with both ends and a box to tick, as HTML or CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from itertools import groupby

from auditor.canonical import printable

HEADER = (
    "done", "rack", "position", "device", "port", "faceplate", "label", "to rack", "to position", "to device", "to port",
    "to faceplate", "plane", "rail", "speed", "type", "length m", "via",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One cable as seen from the rack of its near end; every field a text, empty where nobody knows it."""

    rack: str
    position: str
    device: str
    port: str
    faceplate: str
    label: str
    to_rack: str
    to_position: str
    to_device: str
    to_port: str
    to_faceplate: str
    plane: str = ""
    rail: str = ""
    speed: str = ""
    type: str = ""
    length_m: str = ""
    via: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The fields in the order of the header, without the box, each printable."""
        return tuple(printable(str(getattr(self, name)), 120) for name in self.__slots__)


def as_csv(lines: Iterable[SheetLine]) -> str:
    """CSV with a header. A cell that a spreadsheet would take for a formula gets an apostrophe in front."""
    stream = StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for line in lines:
        writer.writerow(["", *map(_plain, line.cells)])
    return stream.getvalue()


def _plain(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


_STYLE = """
@page { size: A4 landscape; margin: 10mm } body { font: 9pt sans-serif } h2 { font-size: 12pt; margin: 8mm 0 2mm }
section { break-after: page } table { border-collapse: collapse; width: 100% } tr { break-inside: avoid }
th, td { border: 1px solid #999; padding: 1mm 2mm; text-align: left } thead { display: table-header-group }
td.box { width: 6mm; height: 6mm } .device { font-weight: bold }
"""


def as_html(lines: Sequence[SheetLine], title: str, words: Sequence[str] = HEADER) -> str:
    """One page per rack, printable, without anything from the network. `words` are the column heads."""
    parts = [
        '<!doctype html><html><head><meta charset="utf-8">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
    ]
    for rack, mine in groupby(lines, key=lambda line: line.rack):
        parts.append(f"<section><h2>{escape(title)} &middot; {escape(printable(rack or '-', 60))}</h2><table><thead><tr>")
        parts.extend(f"<th>{escape(word)}</th>" for word in words)
        parts.append("</tr></thead><tbody>")
        for line in mine:
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in line.cells)
            parts.append(f'<tr><td class="box">&#9744;</td>{cells}</tr>')
        parts.append("</tbody></table></section>")
    parts.append("</body></html>\n")
    return "\n".join(parts)
