"""Lines of a collective library's log out of a stream of bytes, whatever stands around them.

Ranks write into one stream through launchers, container engines and log collectors: `[1,3]<stdout>:`, `3: `, the name of a
pod, the time of a syslog, a JSON object with the line in it, colours, carriage returns of progress bars. Two writes may share
a line, and a line may be cut. Memory is bounded: a line counts up to `MAX_LINE` bytes, the rest of it is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Protocol

BLOCK = 1 << 20
MAX_LINE = 64 * 1024

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|[@-_])")
_LEVEL = re.compile(r" NCCL (INFO|WARN) ?")
_HEAD = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9_.-]{0,252}):(\d{1,10}):(\d{1,10}) \[(-?\d{1,5})\](?: \S{1,300}:\d{1,6})?(?: \(\w{1,100}\))?$"
)
_HALF_HEAD = re.compile(r"[\w.-]:\d{1,10}:\d{1,10} \[-?\d{0,5}\]?(?: [^\n]{0,300})?$")


class Stream(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


class Lines:
    """The lines of one stream that may hold words of a library. `count` lines and `size` bytes were read so far; `digest` is
    the SHA-256 of all of them; `cut` says that the last line ends in the middle of one of the library's."""

    def __init__(self, stream: Stream, most: int) -> None:
        self.stream, self.most = stream, most
        self.count = self.size = 0
        self.cut = self.too_large = False
        self._hash = sha256()

    @property
    def digest(self) -> str:
        """Hexadecimal."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[tuple[int, bytes, bool]]:
        """(number from 1, line without its end, whether its end is not there). Stops after `most` bytes."""
        rest, passing, number, last = b"", False, 0, b""
        while block := self.stream.read(BLOCK):
            self._hash.update(block)
            self.size += len(block)
            parts = block.split(b"\n")
            if passing and len(parts) == 1:
                continue
            if passing:
                del parts[0]
                number, passing, rest = number + 1, False, b""
            if parts:
                parts[0] = rest + parts[0]
                rest = parts.pop()
            for line in parts:
                number += 1
                if b"CCL" in line:
                    yield number, line[:MAX_LINE], len(line) > MAX_LINE
            last = parts[-1] if parts else last
            self.count = number
            if len(rest) > MAX_LINE:
                if b"CCL" in rest[:MAX_LINE]:
                    yield number + 1, rest[:MAX_LINE], True
                rest, passing = b"", True
            if self.size > self.most:
                self.too_large = True
                return
        if rest:
            self.count = number + 1
            if b"CCL" in rest:
                yield number + 1, rest, True
        elif passing:
            self.count = number + 1
        ending = (rest or last)[-1000:].decode("utf-8", "replace").rstrip("\r")
        self.cut = bool(_HALF_HEAD.search(ending)) and not _LEVEL.search(ending)


def unwrap(raw: bytes) -> Iterator[str]:
    """The texts in one line: colours taken off, JSON opened, parts between carriage returns apart."""
    text = raw.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    opened = text.find('{"', 0, 2000) if "{" in text[:2000] else (0 if text.startswith('"') else -1)
    if 0 <= opened < text.find("CCL"):
        found = _json(text[opened:])
        if found is None:  # a cut object: what follows the escaped end of the line is not the library's
            found = [text.partition("\\n")[0]]
        for item in found:
            yield from (part for part in re.split(r"[\r\n]+", _COLOUR.sub("", item)) if "CCL" in part)
    elif "\r" in text:
        yield from (part for part in text.split("\r") if "CCL" in part)
    else:
        yield text


def _json(text: str) -> list[str] | None:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return [item for item in _strings(value, 4) if "CCL" in item]


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth - 1)


def entries(text: str) -> list[tuple[str, str, str, bool]]:
    """(head, INFO or WARN, words, whether the next write follows without a line's end) of each write that stands on a line.

    The head is all that stands before the level: wrapper, host, process, thread, GPU, and of warnings the place in the code.
    """
    found = list(_LEVEL.finditer(text))
    out = []
    start = 0
    for at, level in enumerate(found):
        head = text[start : level.start()]
        if at + 1 == len(found):
            out.append((head, level[1], text[level.end() :], False))
            break
        between = text[level.end() : found[at + 1].start()]
        heading = _HEAD.search(between)
        words = between[: heading.start()] if heading else between
        out.append((head, level[1], words, True))
        start = level.end() + (heading.start() if heading else len(between))
    return out


def head(text: str) -> tuple[str, int, int, int] | None:
    """Host, process, thread and GPU (-1: none) from what stands before the level; None for what is no head."""
    found = _HEAD.search(text)
    return (found[1], int(found[2]), int(found[3]), int(found[4])) if found else None
