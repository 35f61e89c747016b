"""`show running-config` of EOS: the lines themselves, as JSON and as text.

As JSON a line is a member of `cmds`, and what stands under it is the member's own `cmds`. As text a block begins at the left edge
and ends with a line `!`; a line inside is set in by three blanks, one in a mode inside the mode by six. The last line is `end`.
Whatever stands between `banner …` and `EOF` is text of the operator's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Block:
    """A line at the left edge with the lines under it. `inner`: those of the modes inside it, by the line that opens the mode.
    `torn`: something stands in it that is no configuration, or its end is missing, so what it does not say is unknown."""

    line: str
    lines: list[str] = field(default_factory=list)
    inner: dict[str, list[str]] = field(default_factory=dict)
    torn: bool = False


@dataclass(slots=True)
class Running:
    """All blocks in order. `ended`: the whole configuration is there."""

    blocks: list[Block]
    ended: bool

    def of(self, *openings: str) -> Iterator[tuple[str, Block]]:
        """Blocks that begin with one of these words, with the rest of their first line."""
        for block in self.blocks:
            for opening in openings:
                if block.line.startswith(f"{opening} "):
                    yield block.line[len(opening) + 1 :], block


def from_document(data: Any) -> Running:
    """The configuration from `show running-config | json`. Raises ValueError for another document."""
    found = data.get("cmds") if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping) or not found:
        raise ValueError("no member 'cmds' with lines in it")
    blocks = []
    for line, under in found.items():
        block = Block(" ".join(line.split()))
        for inside, deeper in _cmds(under).items():
            if deeper is None:
                block.lines.append(" ".join(inside.split()))
            else:
                block.inner[" ".join(inside.split())] = [" ".join(last.split()) for last in _cmds(deeper)]
        blocks.append(block)
    return Running(blocks, ended=True)


def _cmds(under: Any) -> Mapping[str, Any]:
    found = under.get("cmds") if isinstance(under, Mapping) else None
    return found if isinstance(found, Mapping) else {}


_BANNER = re.compile(r"banner (?:motd|login|exec)\s*")


def from_text(body: str) -> Running:
    """The configuration from `show running-config`. Lines at the left edge inside a block, and blank ones, tear it."""
    blocks: list[Block] = []
    closed, ended, banner, mode = True, False, False, ""
    for raw in body.splitlines():
        line = raw.rstrip()
        if banner:
            banner = line != "EOF"
        elif line == "!":
            closed, mode = True, ""
        elif line == "end":
            closed, ended = True, True
        elif line.startswith(" "):
            if closed or not blocks:
                blocks.append(Block("", torn=True))
                closed = False
            mode = _inside(blocks[-1], line, mode)
        elif line.startswith("!"):
            continue
        elif not line:
            if not closed:
                blocks[-1].torn = True
        else:
            if not closed and (blocks[-1].lines or blocks[-1].inner):
                blocks[-1].torn = True
            banner = _BANNER.fullmatch(line) is not None
            blocks.append(Block(" ".join(line.split())))
            closed, mode = False, ""
    if not closed and blocks:
        blocks[-1].torn = True
    return Running(blocks, ended)


def _inside(block: Block, line: str, mode: str) -> str:
    """Note a line that is set in; the mode it stands in afterwards."""
    depth, words = len(line) - len(line.lstrip(" ")), " ".join(line.split())
    if words.startswith("!"):
        return "" if depth == 3 else mode
    if depth == 3:
        block.lines.append(words)
        return words
    if depth == 6 and mode:
        if mode in block.lines:
            block.lines.remove(mode)
        block.inner.setdefault(mode, []).append(words)
        return mode
    block.torn = True
    return mode
