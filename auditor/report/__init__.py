"""How a run is told: one file per format, each holding a `Format`. Presence in this folder is registration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from auditor.loader import declared
from auditor.model import Run, Severity


@dataclass(frozen=True, slots=True)
class Options:
    """What the reader's side wants: colours, the width in columns (None: never wrap, as for files and pipes), and the
    severity from which a cause counts as a failure, for formats that have failures."""

    colour: bool = False
    width: int | None = None
    fail_on: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Format:
    """One report format: the word of `--format`, the suffix of its files, and the pure function that writes it."""

    name: str
    suffix: str
    render: Callable[[Run, Options], str]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name: those of this folder and those of the entry-point group `auditor.report`."""
    found = declared("auditor.report", Format, "auditor.report")
    return MappingProxyType({item.name: item for item in sorted(found, key=lambda item: item.name)})
