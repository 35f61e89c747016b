"""The commands that a person would type to mend what a finding names: printed with it, never run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict, Field

from auditor import yamldoc
from auditor.canonical import printable
from auditor.model import Finding, Remedy

_NUMBER = re.compile(r"(?:[<>=]=? ?)?(\d{1,12})(?: bytes)?")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,63}")


class _Line(BaseModel):
    """One entry of the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: str
    platform: str
    type: tuple[str, ...] = Field(min_length=1)
    source: str


@cache
def table() -> tuple[_Line, ...]:
    """Every entry, in the order of the file."""
    name = "remedies.yaml"
    text = resources.files("auditor").joinpath("data", name).read_text("utf-8")
    return tuple(_Line.model_validate(item) for item in yamldoc.parse(text, name).data)


def tell(findings: Iterable[Finding], platforms: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """The findings with the commands that mend them, where a document proves some for the platforms of their first device."""
    return [replace(finding, commands=found) if (found := _for(finding, platforms)) else finding for finding in findings]


def _for(finding: Finding, platforms: Mapping[str, tuple[str, ...]]) -> tuple[Remedy, ...]:
    spot = next(iter(finding.spots), None)
    if spot is None:
        return ()
    cell = f"{spot.address.table}.{spot.address.column}"
    own = [line for line in table() if line.platform in platforms.get(spot.device, ())]
    lines = [line for line in own if line.at == f"rule {finding.rule}"] or [line for line in own if line.at == cell]
    number = _NUMBER.fullmatch(finding.expected)
    words = {
        "{port}": _word(spot.address.key[:1], "PORT"),
        "{key}": _word(spot.address.key[1:2], "KEY"),
        "{wanted}": number.group(1) if number is not None else (spot.address.column or "value").upper(),
    }
    return tuple(Remedy(spot.device, tuple(_filled(text, words) for text in line.type), line.source) for line in lines[:1])


def _word(part: tuple[str, ...], instead: str) -> str:
    """A part of a key as it may stand in a command to copy: a plain name, or a word that says what belongs there."""
    return printable(part[0]) if part and _NAME.fullmatch(part[0]) else instead


def _filled(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(name, word)
    return text
