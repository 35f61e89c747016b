"""Modules in the ports of SONiC: whether one is there, and what is coded in it.

Every front port has a row of its own in these answers, so the cage of a port without one is not called empty: it is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.canonical import printable
from auditor.facts import Optic
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread
from auditor.platforms.sonic import tables
from auditor.platforms.sonic.cells import Cells

_PORT = re.compile(r"(\S+): SFP EEPROM (detected|Not detected|is not applicable for RJ45 port)\s*")
_VALUE = re.compile(r" {8}(\S[^:]*): ?(.*)")
_LABELS = {
    "vendor": "Vendor Name", "part_number": "Vendor PN", "serial": "Vendor SN", "type": "Identifier",
    "firmware": "Active Firmware",
}  # fmt: skip
_LENGTH, _LAST = "Length Cable Assembly(m)", "Vendor SN"
"""The labels are sorted, so the serial number is the last one that every kind of module has."""


def transceiver_eeprom(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces transceiver eeprom`: one block per front port, from STATE_DB. Whether there is a module is left to the
    table of that, which is shorter. A length of 0 stands in optics with a plug of their own."""
    lines = body.splitlines()
    if lines and not body.endswith("\n"):
        yield Unread(Optic, reason=GapReason.TRUNCATED, detail=f"breaks off: {printable(lines.pop(), 60)!r}")
    port, labels, begun = "", dict[str, str](), False
    for line in [*lines, ""]:
        found = _PORT.fullmatch(line)
        value = _VALUE.fullmatch(line)
        if found is not None:
            yield from _module(port, labels) if begun else ()
            port, labels, begun = found.group(1), {}, found.group(2) == "detected"
            if found.group(2) == "Not detected":
                yield Optic(port=port)
            elif not begun:
                yield Unread(Optic, (port,), reason=GapReason.UNSUPPORTED, detail="a copper port has no cage")
        elif value is not None and begun:
            labels.setdefault(value.group(1), value.group(2).strip())
        elif line.strip() and not line.startswith(" "):
            yield Unread(Optic, reason=GapReason.TRUNCATED, detail=f"no port and no value: {printable(line, 60)!r}")
    yield from _module(port, labels) if begun else ()


def _module(port: str, labels: Mapping[str, str]) -> Iterator[Normalised]:
    if _LAST not in labels:
        yield Unread(Optic, (port,), reason=GapReason.TRUNCATED, detail=f"no {_LAST}: the values of {port} break off")
        return
    cells = Cells(Optic, port)
    for column, label in _LABELS.items():
        cells.read(column, labels.get(label), str)
    cells.read("length_m", labels.get(_LENGTH), _length)
    yield from cells.rows()


def _length(raw: str) -> float | None:
    if not re.fullmatch(r"\d{1,5}(?:\.\d{1,3})?", raw):
        raise ValueError(f"no length in metres: {raw[:60]!r}")
    return float(raw) or None


_BLOCK = r"^{0}: SFP EEPROM" + "\n"

SOURCES = (
    Source(
        key="transceiver_presence",
        command="show interfaces transceiver presence",
        aliases=("show interface transceiver presence", "sfpshow presence", "sfputil show presence"),
        fills=(Fill(Optic, Layer.APPLIED, ("present",), whole=False),),
        parser=Parser.TEXT,
        normalise=tables.transceiver_presence,
        anchor=(r"^\s*Port\s+Presence\b",),
        proof={"optic": r"^\s*{0}\s"},
        proven_by="sonic-utilities scripts/sfpshow (display_presence), its command reference",
        seconds=20.0,
    ),
    Source(
        key="transceiver_eeprom",
        command="show interfaces transceiver eeprom",
        aliases=(
            "show interface transceiver eeprom", "show interfaces transceiver eeprom --dom",
            "show interfaces transceiver eeprom -d", "show interfaces transceiver info", "sfpshow eeprom", "sfpshow eeprom -d",
            "sfpshow eeprom --dom", "sfpshow info",
        ),
        fills=(Fill(Optic, Layer.APPLIED, (*_LABELS, "length_m")),),
        parser=Parser.TEXT,
        normalise=transceiver_eeprom,
        anchor=(r"^\S+: SFP EEPROM ",),
        proof={
            "optic": r"^{0}: SFP EEPROM", "optic.length_m": _BLOCK + r"^ +Length Cable Assembly",
            **{f"optic.{column}": _BLOCK + rf"^ +{label}:" for column, label in _LABELS.items()},
        },
        proven_by="captures sonic/cisco8201_400g_dac, ut_cmis, ut_osfp; sonic-utilities scripts/sfpshow",
        seconds=30.0,
    ),
)  # fmt: skip
