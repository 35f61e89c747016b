"""Formats that wiring plans come in and go out: one file per format, each holding a `PlanFormat`. Presence is registration.

A format is pure: bytes in, links out, and back. What it guessed or left out is said in notes, never silent; what cannot be
understood is an error with file and line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from auditor import canonical
from auditor.errors import PlanError
from auditor.loader import declared
from auditor.model import Place, Plan, PlanLink
from auditor.plan.document import COLUMNS, MAX_BYTES

TAGS = "tags"
"""Stands in `carries` for every column that the plan does not know by name."""


@dataclass(frozen=True, slots=True)
class ImportedDevice:
    """What a document says of a device beside its cables; empty where it says nothing. `platforms` are hints."""

    name: str
    role: str = ""
    rack: str = ""
    position: str = ""
    hardware_model: str = ""
    platforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What a document became. `notes` say, with file and line where there is one, what was understood, guessed or left out."""

    links: tuple[PlanLink, ...] = ()
    notes: tuple[str, ...] = ()
    devices: tuple[ImportedDevice, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanFormat:
    """One format.

    name, title: the word on the command line, and what people call it. suffixes: endings of its files, with the dot, lower case.
    sniff: whether these bytes, of a file of this name, are such a document; it never raises.
    read: (bytes, name for messages, options) to links; raises PlanError or ErrorList with file and line.
    write: the plan as text, and the columns it uses that the text does not hold; None where a format is read only. Raises
    PlanError for a name that the format cannot write.
    carries: columns that come back when what was written is read; `TAGS` for all beyond those of the native plan.
    note: one sentence about it for the help. options: the keys that `read` knows, each with a sentence.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes, str], bool]
    read: Callable[[bytes, str, Mapping[str, str]], Imported]
    write: Callable[[Plan], tuple[str, tuple[str, ...]]] | None = None
    carries: frozenset[str] = frozenset()
    note: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@cache
def formats() -> Mapping[str, PlanFormat]:
    """Every format by name: those of this folder and those of the entry-point group `auditor.plan_format`."""
    found = declared("auditor.plan.formats", PlanFormat, "auditor.plan_format")
    return MappingProxyType({item.name: item for item in sorted(found, key=lambda item: item.name)})


def recognise(raw: bytes, name: str) -> PlanFormat:
    """The one format that a document is in; raises PlanError where none or several claim it."""
    if not raw.strip():
        raise PlanError("is empty", name)
    found = [item for item in formats().values() if item.sniff(raw, name)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(formats())
    if not found:
        raise PlanError(f"is in no format that is known here ({known}); name one instead of auto", name)
    raise PlanError(f"could be {' or '.join(item.name for item in found)}: say which instead of auto", name)


def decode(raw: bytes, name: str) -> str:
    """The text of a document, without a byte order mark; raises PlanError (empty, too large, binary, not UTF-8)."""
    if len(raw) > MAX_BYTES:
        raise PlanError(f"is larger than {MAX_BYTES} bytes: no wiring plan is", name)
    if b"\0" in raw:
        raise PlanError("is no text: it holds zero bytes", name, raw[: raw.index(b"\0")].count(b"\n") + 1)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise PlanError("is not UTF-8 text", name, raw[: problem.start].count(b"\n") + 1) from problem
    if not text.strip():
        raise PlanError("is empty", name)
    return text


def columns_of(link: PlanLink) -> dict[str, str]:
    """The columns of the native plan that a link has a value for, as the native plan writes them, in its order; then its tags."""
    out = {}
    for side, end in (("a", link.a), ("b", link.b)):
        for column in ("device", "port", "rack", "position", "lane", "id"):
            out[f"{side}_{column}"] = getattr(end, column)
    out |= {column: getattr(link, column) for column in ("plane", "rail", "label", "type", "cable_id", "via")}
    out["speed"] = "" if link.speed is None else write_speed(link.speed)
    out["length_m"] = "" if link.length_m is None else f"{link.length_m:.12g}"
    return {column: out[column] for column in COLUMNS if out[column]} | dict(sorted(link.tags.items()))


def write_speed(bits: int) -> str:
    """`400G` from bit/s, in the largest unit that gives a whole number."""
    for unit, factor in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if bits % factor == 0:
            return f"{bits // factor}{unit}"
    return f"{bits / 1000:.3f}k"


def devices_of(links: Iterable[PlanLink]) -> dict[str, ImportedDevice]:
    """What links say of their devices, by name: rack, position, and the columns `a_role`, `a_model` … where a plan has them.

    The first word counts. A plan of its own has no use for role and model; they stand in it for formats that must name them.
    """
    found: dict[str, ImportedDevice] = {}
    for link in links:
        for side, end in (("a", link.a), ("b", link.b)):
            known = found.get(end.device) or ImportedDevice(end.device)
            found[end.device] = ImportedDevice(
                name=end.device,
                role=known.role or link.tags.get(f"{side}_role", ""),
                rack=known.rack or end.rack,
                position=known.position or end.position,
                hardware_model=known.hardware_model or link.tags.get(f"{side}_model", ""),
            )
    return dict(sorted(found.items()))


def in_order(links: Iterable[PlanLink]) -> list[PlanLink]:
    """Links by the names of their ends, numbers as numbers: the same for any order they came in."""
    ends = operator.attrgetter("a.device", "a.port", "b.device", "b.port", "a.lane", "b.lane")
    return sorted(links, key=lambda link: tuple(map(canonical.natural, ends(link))))


def without_shared_ports(plan: Plan, title: str) -> None:
    """Raises PlanError where lanes of a breakout share the name of a port, which a format without lanes cannot tell apart."""
    seen: set[Place] = set()
    for link in plan.links:
        for end in (link.a, link.b):
            if end.place in seen:
                message = f"{end} has several cables or lanes, and {title} has no lanes: give each lane a port of its own"
                raise PlanError(message, plan.file or plan.name, link.line)
            seen.add(end.place)


def lost(plan: Plan, carries: frozenset[str]) -> tuple[str, ...]:
    """The columns that a plan uses and a format does not hold, in the order of the native plan."""
    used = dict.fromkeys(column for link in plan.links for column in columns_of(link))
    known = [column for column in COLUMNS if column in used and column not in carries]
    tags = sorted(column for column in used if not (column in COLUMNS or column in carries or TAGS in carries))
    return (*known, *tags)
