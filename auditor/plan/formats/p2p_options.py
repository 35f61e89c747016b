"""What a person can say about a point-to-point spreadsheet that it does not say itself."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from auditor.canonical import printable
from auditor.errors import SetupError
from auditor.plan.document import REQUIRED
from auditor.plan.formats.p2p_layout import EXTRA, SIDE
from auditor.plan.formats.sheet import DATE_ORDERS, column_number

OPTIONS = {
    "columns": "where what stands, such as a_rack=A,a_position=B,a_device=C,a_port=D,b_device=G,b_port=H,length=J; "
    "default: told from the sheet",
    "sheets": "names of the sheets to read, separated by commas; default: all that are visible and hold links",
    "rows": "first and last row, such as 3-258; default: from below the headers to the end",
    "dates": "what dates were before Excel made them: day-first (2/1 shows as 2-Jan) or month-first",
    "length": "the unit of cable lengths that have none: m or ft; ignore leaves such lengths out",
    "devices": "names of the devices there are, separated by commas or blanks: Leaf-01 is then leaf01 if only that one is known",
    "hosts": "globs of host names, separated by commas: their bare port numbers are HCAs",
    "switches": "globs of switch names, separated by commas: their port numbers stay as written",
    "hca_map": "the text of a CSV file of two columns, port and HCA name; default: 1,mlx5_0 to 8,mlx5_7",
    "plane": "the plane of all links",
}
"""The keys that `read` knows, each with its sentence."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options, read. `near` maps a name without case and signs to the known devices that are written so."""

    columns: Mapping[str, int] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()
    rows: tuple[int, int] = (0, 10**9)
    dates: str = ""
    length: str = ""
    hosts: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    hcas: Mapping[str, str] = field(default_factory=dict)
    plane: str = ""
    known: frozenset[str] = frozenset()
    near: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def kind(self, device: str) -> str:
        """`host` or `switch` where a glob says so, else an empty text."""
        for kind, globs in (("host", self.hosts), ("switch", self.switches)):
            if any(fnmatchcase(device, glob) for glob in globs):
                return kind
        return ""


def read_options(options: Mapping[str, str]) -> Choices:
    """The options of one import; raises SetupError for a value that is none."""

    def texts(key: str, pattern: str = ",") -> tuple[str, ...]:
        return tuple(item.strip() for item in re.split(pattern, options.get(key, "")) if item.strip())

    def one_of(key: str, allowed: tuple[str, ...]) -> str:
        value = options.get(key, "")
        if value and value not in allowed:
            raise SetupError(f"option {key}: {printable(value, 40)!r} is none of {', '.join(allowed)}")
        return value

    known = frozenset(texts("devices", r"[\s,;]+"))
    near: dict[str, frozenset[str]] = {}
    for name in known:
        near[plain(name)] = near.get(plain(name), frozenset()) | {name}
    return Choices(
        columns=_columns(options.get("columns", "")),
        sheets=texts("sheets"),
        rows=_rows(options.get("rows", "")),
        dates=one_of("dates", DATE_ORDERS),
        length=one_of("length", ("m", "ft", "ignore")),
        hosts=texts("hosts"),
        switches=texts("switches"),
        hcas=_hca_map(options.get("hca_map", "")),
        plane=options.get("plane", ""),
        known=known,
        near=near,
    )


def plain(name: str) -> str:
    """A name without case and signs: `leaf01` for `Leaf-01`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _hca_map(text: str) -> dict[str, str]:
    if not text.strip():
        return {str(n): f"mlx5_{n - 1}" for n in range(1, 9)}
    out: dict[str, str] = {}
    try:
        lines = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    except csv.Error as problem:
        raise SetupError(f"option hca_map is no CSV: {problem}") from None
    for line, cells in enumerate(lines, start=1):
        fields = [cell.strip() for cell in cells]
        if not any(fields) or (line == 1 and fields[0].lower() == "port"):
            continue
        if len(fields) != 2 or not all(fields) or not "".join(fields).isprintable():
            raise SetupError(f"option hca_map: line {line} is not a port and an HCA name")
        if out.setdefault(fields[0], fields[1]) != fields[1]:
            raise SetupError(f"option hca_map: line {line}: port {fields[0]} stands twice")
    twice = [name for name, count in Counter(out.values()).items() if count > 1]
    if not out or twice:
        raise SetupError("option hca_map: " + (f"{twice[0]} stands twice" if twice else "holds no port"))
    return out


def _columns(text: str) -> dict[str, int]:
    allowed = [*(f"{side}_{role}" for side in "ab" for role in SIDE), *EXTRA]
    out: dict[str, int] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        name, _, where = (piece.strip() for piece in part.partition("="))
        if name not in allowed:
            raise SetupError(f"option columns: {printable(name, 40)!r} is none of {', '.join(allowed)}")
        try:
            at = column_number(where)
        except ValueError as problem:
            raise SetupError(f"option columns: {problem}") from None
        if name in out or at in out.values():
            raise SetupError(f"option columns: {printable(part, 40)} stands twice")
        out[name] = at
    missing = [name for name in REQUIRED if name not in out] if out else []
    if missing:
        raise SetupError(f"option columns: {', '.join(missing)} is missing")
    return out


def _rows(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*(\d{1,7})?\s*-\s*(\d{1,7})?\s*", text) if text else None
    if text and found is None:
        raise SetupError(f"option rows: {printable(text, 40)!r} is not like 3-258")
    return (0, 10**9) if found is None else (int(found.group(1) or 0), int(found.group(2) or 10**9))
