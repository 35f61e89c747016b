"""The line of output that proves a finding: found lazily, from a cell's origin and the raw text it was read from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from auditor.address import Address
from auditor.model import ABSENT, Absent, Evidence, Parser, Platform, Source, Spot

MAX_LINES = 5
MAX_WIDTH = 400

Raw = Callable[[str], str | None]
"""Gives the body of a raw output by its digest; None when it is no longer there."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cell was read: enough to find its line again."""

    spot: Spot
    value: object
    platform: str
    source: str
    digest: str
    command: str = ""
    collected_at: datetime | None = None


def find(place: Place, platforms: Mapping[str, Platform], raw: Raw) -> Evidence | None:
    """The evidence for one cell; None when its raw output or its source is unknown."""
    platform = platforms.get(place.platform)
    body = raw(place.digest) if place.digest else None
    if platform is None or body is None or all(source.key != place.source for source in platform.sources):
        return None
    source = platform.source(place.source)
    if source.parser is Parser.JSON:
        locator, excerpt = _in_json(body, source, place.spot.address, place.value)
    else:
        locator, excerpt = _in_text(body, source, place.spot.address, place.value)
    at = "" if place.collected_at is None else place.collected_at.isoformat()
    return Evidence(place.spot.device, place.source, place.command or source.command, place.digest, locator, excerpt, at)


def _proof(source: Source, address: Address) -> str:
    return source.proof.get(f"{address.table}.{address.column}") or source.proof.get(address.table, "")


def _in_text(body: str, source: Source, address: Address, value: object) -> tuple[str, str]:
    lines = body.splitlines()
    heads = [at for anchor in source.anchor[:1] for at, line in enumerate(lines) if re.search(anchor, line)][:1]
    found = [] if value is ABSENT else _matching_lines(lines, _proof(source, address), address, value)
    if not found:
        words = f"no {address.column or 'row'} for {','.join(address.key) or address.table}"
        return "whole output", _cut([lines[at] for at in heads] + [f"({words} in {len(lines)} lines)"])
    head = [lines[at] for at in heads if at < found[0]]
    place = f"line {found[0] + 1}" if len(found) == 1 else f"lines {found[0] + 1}-{found[-1] + 1}"
    return place, _cut(head + [lines[at] for at in found[: MAX_LINES - len(head)]])


def _matching_lines(lines: list[str], proof: str, address: Address, value: object) -> list[int]:
    """Numbers (from 0) of the lines that the source's proof selects, else of lines that hold the key as a word."""
    patterns = [_fill(proof, address)] if proof else []
    if address.key:
        word = re.escape(address.key[0])
        patterns.append(rf"(?<![\w.-]){word}(?![\w.-]).*{re.escape(str(value))}")
        patterns.append(rf"(?<![\w.-]){word}(?![\w.-])")
    for pattern in patterns:
        found = [at for at, line in enumerate(lines) if re.search(pattern, line[:2000])]
        if found:
            return found[:1] if len(found) > MAX_LINES else found[:MAX_LINES] if pattern == patterns[0] and proof else found[:1]
    return []


def _fill(proof: str, address: Address) -> str:
    for at, part in enumerate(address.key):
        proof = proof.replace("{" + str(at) + "}", re.escape(part))
    return proof


def _in_json(body: str, source: Source, address: Address, value: object) -> tuple[str, str]:
    proof = _proof(source, address)
    start = body.find("{") if "[" not in body or -1 < body.find("{") < body.find("[") else body.find("[")
    if not proof or start < 0:
        return "whole output", f"(no {address} in {len(body.splitlines())} lines)" if value is ABSENT else ""
    steps = [_step(token, address) for token in proof.strip("/").split("/")]
    span, pointer = _walk(body, start, steps)
    if len(pointer) < len(steps):
        missing = ",".join(address.key) if steps[len(pointer)].pattern else steps[len(pointer)].text
        where = "/" + "/".join(_escape(token) for token in pointer) if pointer else "the document"
        return (where if pointer else "whole output"), f"(no {missing} in {where})"
    return "/" + "/".join(_escape(token) for token in pointer), _lines_of(body, span)


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a JSON pointer: a member by name, or by a regular expression (`pattern`), or the list element whose member
    `name` equals `text`."""

    text: str
    name: str = ""
    pattern: bool = False

    def fits(self, name: str) -> bool:
        """Whether this is the member that is meant."""
        return re.fullmatch(self.text, name) is not None if self.pattern else name == self.text


def _step(token: str, address: Address) -> _Step:
    name = ""
    found = re.fullmatch(r"\[([\w-]+)=(.*)\]", token)
    if found is not None:
        name, token = found.groups()
    if token.startswith("~"):
        return _Step(_fill(token[1:], address), pattern=True)
    for at, part in enumerate(address.key):
        token = token.replace("{" + str(at) + "}", part)
    return _Step(token, name)


def _escape(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")


def _walk(body: str, at: int, steps: list[_Step]) -> tuple[tuple[int, int], list[str]]:
    """Follow `steps` through JSON text; gives the span of the last member found (name included) and the pointer to it."""
    span, pointer = (at, at), []
    for step in steps:
        found = _element(body, at, step) if step.name else _member(body, at, step)
        if found is None:
            break
        token, begin, at, end = found
        span = (begin, end)
        pointer.append(token)
    return span, pointer


_DECODER = json.JSONDecoder()


def _blank(body: str, at: int) -> int:
    while at < len(body) and body[at] in " \t\r\n":
        at += 1
    return at


def _member(body: str, at: int, step: _Step) -> tuple[str, int, int, int] | None:
    """(name, where it begins, where its value begins, where it ends) of the member that `step` means, in the object at `at`."""
    at = _blank(body, at)
    if body[at : at + 1] != "{":
        return None
    at = _blank(body, at + 1)
    while body[at : at + 1] == '"':
        begin = at
        key, at = _DECODER.raw_decode(body, at)
        value = _blank(body, _blank(body, at) + 1)
        _, end = _DECODER.raw_decode(body, value)
        if step.fits(key):
            return key, begin, value, end
        at = _blank(body, _blank(body, end) + 1)
    return None


def _element(body: str, at: int, step: _Step) -> tuple[str, int, int, int] | None:
    """(index, begin, begin, end) of the element of the list at `at` whose member `step.name` equals `step.text`."""
    at = _blank(body, at)
    if body[at : at + 1] != "[":
        return None
    at, index = _blank(body, at + 1), 0
    while at < len(body) and body[at] != "]":
        element, end = _DECODER.raw_decode(body, at)
        if isinstance(element, dict) and str(element.get(step.name)) == step.text:
            return str(index), at, at, end
        at, index = _blank(body, _blank(body, end) + 1), index + 1
    return None


def _lines_of(body: str, span: tuple[int, int]) -> str:
    """The text of a span, from the start of its first line where that line is short."""
    first = body.rfind("\n", 0, span[0]) + 1
    begin = first if span[0] - first < 80 else span[0]
    return _cut(body[begin : span[1]].splitlines())


def _cut(lines: list[str]) -> str:
    kept = [line if len(line) <= MAX_WIDTH else line[: MAX_WIDTH - 1] + "…" for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        kept[-1] = "…"
    return "\n".join(kept)


def value_text(value: object) -> str:
    """A cell's value in words for messages."""
    if isinstance(value, Absent):
        return "absent"
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
