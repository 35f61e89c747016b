"""The line of output that proves a finding: found lazily, from a cell's origin and the raw text it was read from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from auditor.address import Address
from auditor.model import ABSENT, Absent, Evidence, Parser, Platform, Source, Spot

MAX_LINES = 5
MAX_WIDTH = 400
MAX_LINE = 2000
"""Characters of a line that expressions look at."""

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
    proof = _proof(source, place.spot.address)
    if source.parser is Parser.JSON or proof.startswith("/"):
        locator, excerpt = _in_json(body, proof, place.spot.address, place.value)
    else:
        locator, excerpt = _in_text(body, source, proof, place.spot.address, place.value)
    at = "" if place.collected_at is None else place.collected_at.isoformat()
    return Evidence(place.spot.device, place.source, place.command or source.command, place.digest, locator, excerpt, at)


def _proof(source: Source, address: Address) -> str:
    return source.proof.get(f"{address.table}.{address.column}") or source.proof.get(address.table, "")


# Text


def _in_text(body: str, source: Source, proof: str, address: Address, value: object) -> tuple[str, str]:
    address = replace(address, key=tuple(source.shown(part) for part in address.key))
    lines = body.splitlines()
    found = [] if value is ABSENT else _matching_lines(lines, proof, address, value)
    head = _heading(lines, source, proof, address, found)
    if not found:
        words = (
            f"no {address.column or 'row'} for {','.join(address.key) or address.table} in" if value is ABSENT else "read from"
        )
        return "whole output", _cut([lines[at] for at in head] + [f"({words} {len(lines)} lines)"])
    head = [at for at in head if at < found[0]]
    numbers = [at + 1 for at in found]
    unbroken = numbers[-1] - numbers[0] == len(numbers) - 1
    place = f"{numbers[0]}-{numbers[-1]}" if unbroken and len(numbers) > 1 else ", ".join(map(str, numbers))
    return f"line{'s' if len(numbers) > 1 else ''} {place}", _cut([lines[at] for at in head + found[: MAX_LINES - len(head)]])


def _heading(lines: list[str], source: Source, proof: str, address: Address, found: list[int]) -> list[int]:
    """The line that heads the answer: none where the anchor matches several lines, or one that speaks of an object."""
    if not source.anchor:
        return []
    at = [at for at, line in enumerate(lines) if re.search(source.anchor[0], line[:MAX_LINE])]
    rows = [part for part in proof.split("\n") if "{0}" in part and re.search("[A-Za-z]", re.sub(r"\\.|\{\d\}", "", part))]
    if len(at) != 1 or at[0] in found or any(re.search(_fill(row, address, r"\S+"), lines[at[0]][:MAX_LINE]) for row in rows):
        return []
    return at


def _matching_lines(lines: list[str], proof: str, address: Address, value: object) -> list[int]:
    """Numbers (from 0) of the lines that prove a value: those that the source's proof selects, else one that holds the key
    as a word, else one that holds the value."""
    found = _selected(lines, [_fill(part, address) for part in proof.split("\n")]) if proof else []
    text = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    if len(found) > 1 and "\n" not in proof and text:
        found = [at for at in found if text in lines[at]] or found
    if found:
        return found[:1] if len(found) > MAX_LINES else found
    word = rf"(?<![\w.-]){re.escape(address.key[0])}(?![\w.-])" if address.key else ""
    held = rf"(?<![\w.-]){re.escape(text)}(?![\w.-])" if len(text) > 2 else ""
    patterns = [rf"{word}.*{re.escape(text)}" if word and text else "", word, held]
    return next((found for pattern in patterns if pattern and (found := _selected(lines, [pattern])[:1])), [])


def _selected(lines: list[str], patterns: list[str]) -> list[int]:
    """Lines that the only pattern matches; of several, each searched behind the line of the one before, the first line and
    the last."""
    if len(patterns) == 1:
        return [at for at, line in enumerate(lines) if re.search(patterns[0], line[:MAX_LINE])]
    chain: list[int] = []
    for pattern in patterns:
        start = chain[-1] + 1 if chain else 0
        at = next((at for at in range(start, len(lines)) if re.search(pattern, lines[at][:MAX_LINE])), None)
        if at is None:
            return []
        chain.append(at)
    return [chain[0], chain[-1]]


def _fill(proof: str, address: Address, instead: str = "") -> str:
    for at, part in enumerate(address.key):
        proof = proof.replace("{" + str(at) + "}", instead or re.escape(part))
    return proof


# JSON


def _in_json(body: str, proof: str, address: Address, value: object) -> tuple[str, str]:
    start = body.find("{") if "[" not in body or -1 < body.find("{") < body.find("[") else body.find("[")
    if not proof or start < 0:
        return "whole output", f"(no {address} in {len(body.splitlines())} lines)" if value is ABSENT else ""
    steps = [_step(token, address) for token in proof.strip("/").split("/")]
    try:
        span, pointer = _walk(body, start, steps, address.key)
    except (ValueError, RecursionError):  # cut, or no JSON behind the first bracket
        return "whole output", ""
    if len(pointer) < len(steps):
        missing = ",".join(address.key) if steps[len(pointer)].pattern else steps[len(pointer)].text
        where = "/" + "/".join(_escape(token) for token in pointer) if pointer else "the document"
        return (where if pointer else "whole output"), f"(no {missing} in {where})"
    return "/" + "/".join(_escape(token) for token in pointer), _lines_of(body, span, (value, *address.key[1:]))


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


def _walk(body: str, at: int, steps: list[_Step], key: tuple[str, ...]) -> tuple[tuple[int, int], list[str]]:
    """Follow `steps` through JSON text; gives the span of the last member found (name included) and the pointer to it."""
    span, pointer = (at, at), []
    for step in steps:
        found = _element(body, at, step, key)
        inner = _member(body, at if found is None else found[2], step)
        if found is not None and inner is not None:
            pointer.append(found[0])
        found = inner or found
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


def _element(body: str, at: int, step: _Step, key: tuple[str, ...]) -> tuple[str, int, int, int] | None:
    """(index, begin, begin, end) of the element that `step` means, in the list at `at`.

    A step without a name means an object with that only member, or that `name`: so lldpctl lists ports; where there is none, a
    number is the index. Of several the one that holds the rest of the key, as text, is meant.
    """
    at = _blank(body, at)
    if body[at : at + 1] != "[":
        return None
    found: list[tuple[str, int, int, int]] = []
    counted: list[tuple[str, int, int, int]] = []
    index, at = 0, _blank(body, at + 1)
    while body[at : at + 1] not in ("]", ""):
        element, end = _DECODER.raw_decode(body, at)
        if isinstance(element, dict) and any(map(step.fits, _names(element, step))):
            found.append((str(index), at, at, end))
        if step.text == str(index) and not step.name:
            counted.append((str(index), at, at, end))
        index, at = index + 1, _blank(body, end)
        at = _blank(body, at + 1) if body[at : at + 1] == "," else at
    rest = [json.dumps(part) for part in key if part != step.text]
    found = found or counted
    return next((item for item in found if all(part in body[item[1] : item[3]] for part in rest)), found[0] if found else None)


def _names(element: dict[str, object], step: _Step) -> list[str]:
    named = element.get(step.name or "name")
    if isinstance(named, list) and len(named) == 1 and isinstance(named[0], dict):
        named = named[0].get("data")  # Junos wraps every value
    return [str(named), *(element if len(element) == 1 and not step.name else ())]


def _lines_of(body: str, span: tuple[int, int], texts: tuple[object, ...]) -> str:
    """The text of a span, from the start of its first line where that is short; of a long one the first line that holds one
    of `texts`."""
    first = body.rfind("\n", 0, span[0]) + 1
    lines = body[first if span[0] - first < 80 else span[0] : span[1]].splitlines()
    wanted = [json.dumps(text) for text in texts if isinstance(text, str | int)]
    held = [line for text in wanted for line in lines[1:] if text in line]
    return _cut(lines if len(lines) <= MAX_LINES or not held else [lines[0], held[0]])


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
