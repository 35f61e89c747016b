"""Junos configuration in braces (`show configuration`), as one tuple of words for each statement, the words above it first.

Juniper's CLI user guide: a statement ends with `;`, one that holds others opens `{` at the end of its line and closes with `}` on
a line of its own; values of a list stand in `[ ]` on one line; `inactive:` in front takes a statement out of use with all that it
holds; comments are `/* */`, and lines that begin with `#`. What is written in braces, `class A { queue-num 4; no-loss; }`, may
stand on one line, `class A queue-num 4 no-loss;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.canonical import printable

MAX_DEPTH = 60
Statement = tuple[str, ...]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BEHIND = re.compile(r"(?<=[;{}])\s*##.*$")
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
_ROLE = re.compile(r"\{(?:master|backup|primary|secondary|linecard)(?::[\w-]+)?\}")
"""Stands above the prompt of a switch with members: `{master:0}`."""
_PROMPT = re.compile(r"[\w.-]{1,80}@[\w.-]{1,80}[>#] ?.*")


class Unfinished(ValueError):
    """The text stops while a brace is open."""


def statements(body: str) -> Iterator[Statement]:
    """Each statement in use, in order; what braces hold nothing is one of its own. A prompt with the command may stand in front.

    Raises Unfinished, and ValueError for a line that is no configuration.
    """
    above: list[tuple[Statement, bool, bool]] = []  # of each open brace: its words, whether it is in use, and holds something
    begun = False
    for raw in _COMMENT.sub("", body).splitlines():
        line = _BEHIND.sub("", raw.strip())
        if not line or line.startswith("#") or _ROLE.fullmatch(line) or (not begun and _PROMPT.fullmatch(line)):
            continue
        begun = True
        words = tuple(_WORD.findall(line[:-1]))
        if line == "}" and above:
            path, used, holds = above.pop()
            if used and not holds:
                yield path
            continue
        if not words or line[-1] not in "{;" or len(above) >= MAX_DEPTH:
            raise ValueError(f"a line that is no configuration stands in it: {printable(line, 80)!r}")
        path, used, _ = above[-1] if above else ((), True, True)
        if above:
            above[-1] = (path, used, True)
        used = used and words[0] != "inactive:"
        path = (*path, *(word.strip('"') for word in words[words[0] in ("inactive:", "protect:") :]))
        if line[-1] == "{":
            above.append((path, used, False))
        elif used:
            yield path
    if above:
        raise Unfinished("it stops while a brace is open")


def below(found: list[Statement], *prefix: str) -> list[Statement]:
    """What stands behind these words, statement by statement."""
    return [statement[len(prefix) :] for statement in found if statement[: len(prefix)] == prefix]


def named(found: list[Statement]) -> dict[str, list[Statement]]:
    """The statements by their first word, each without it."""
    out: dict[str, list[Statement]] = {}
    for statement in found:
        if statement:
            out.setdefault(statement[0], []).append(statement[1:])
    return out


def behind(statement: Statement, word: str) -> Statement:
    """What stands behind a word: the values of a list, or all to the end of the statement. Empty without the word."""
    if word not in statement:
        return ()
    rest = statement[statement.index(word) + 1 :]
    return rest[1 : rest.index("]")] if rest[:1] == ("[",) and "]" in rest else rest
