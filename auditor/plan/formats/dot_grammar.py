"""The DOT language as Graphviz publishes it, read into statements that keep their lines; the only importer of lark.

As Graphviz itself does, it takes `#` for a comment anywhere. It is stricter in one thing: `leaf-01:swp1` without quotes is an
error here, where Graphviz takes it for a node `leaf` and another one `-01`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError, UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

from auditor.canonical import printable
from auditor.errors import PlanError

MAX_BYTES = 16 * 1024 * 1024
"""Some 50,000 cables with all their columns."""

_GRAMMAR = r"""
start: STRICT? (GRAPH | DIGRAPH) word? OPENED statement* "}"
?statement: (defaults | assignment | edge | node | group) ";"?
defaults: (GRAPH | NODE | EDGE) attributes+
assignment: word "=" word
node: place attributes*
edge: _stop (_EDGEOP _stop)+ attributes*
_stop: place | group
group: (SUBGRAPH word?)? OPENED statement* "}"
place: word (":" word (":" word)?)?
attributes: "[" (pair (";" | ",")?)* "]"
pair: word "=" word
word: NAME | NUMERAL | QUOTED ("+" QUOTED)* | HTML

STRICT.2: /strict\b/i
GRAPH.2: /graph\b/i
DIGRAPH.2: /digraph\b/i
NODE.2: /node\b/i
EDGE.2: /edge\b/i
SUBGRAPH.2: /subgraph\b/i
OPENED: "{"
_EDGEOP: "--" | "->"
NAME: /[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*+(?!\.|-[^->])/
NUMERAL: /-?(\.[0-9]++|[0-9]++(\.[0-9]*+)?+)(?![A-Za-z_.\u0080-\U0010ffff]|-[^->])/
QUOTED: /"[^"\\]*(\\.[^"\\]*)*"/s
HTML: /<([^<>]|<[^<>]*>)*>/
%ignore /[\s\ufeff]+/
%ignore /\/\/[^\n]*/
%ignore /\/\*.*?\*\//s
%ignore /#[^\n]*/
"""


class Word(NamedTuple):
    """An ID of DOT without its quotes."""

    text: str
    line: int
    kind: str


class Stop(NamedTuple):
    """A node as an edge or a node statement names it: `device:port:compass`."""

    device: Word
    port: Word | None = None
    compass: Word | None = None


Attributes = dict[str, Word]


class Defaults(NamedTuple):
    """`graph|node|edge [key=value]`; `key=value` alone is about the graph."""

    kind: str
    attributes: Attributes


class NodeLine(NamedTuple):
    """A node statement."""

    stop: Stop
    attributes: Attributes


class EdgeLine(NamedTuple):
    """An edge statement: two stops, or the chain of many."""

    stops: tuple[Stop | Group, ...]
    attributes: Attributes


@dataclass(slots=True)
class Group:
    """A subgraph, and the graph itself."""

    statements: list[Any]
    line: int
    strict: bool = False


class _Statements(Transformer[Token, Group]):
    """Builds the statements while the text is read, so that no tree of the whole document stands in memory."""

    def word(self, parts: list[Token]) -> Word:
        """One ID; joined pieces are one."""
        kind, line = parts[0].type, int(parts[0].line or 1)
        if kind == "QUOTED":
            return Word("".join(_unquoted(part) for part in parts), line, kind)
        return Word(str(parts[0])[1:-1] if kind == "HTML" else str(parts[0]), line, kind)

    def place(self, parts: list[Word]) -> Stop:
        """A node with its port."""
        return Stop(*parts)

    def pair(self, parts: list[Word]) -> tuple[str, Word]:
        """One attribute."""
        return parts[0].text, parts[1]

    def attributes(self, parts: list[tuple[str, Word]]) -> Attributes:
        """What stands in brackets."""
        return dict(parts)

    def defaults(self, parts: list[Any]) -> Defaults:
        """Attributes of what follows."""
        return Defaults(parts[0].lower(), _merged(parts[1:]))

    def assignment(self, parts: list[Word]) -> Defaults:
        """An attribute of the graph."""
        return Defaults("graph", {parts[0].text: parts[1]})

    def node(self, parts: list[Any]) -> NodeLine:
        """A node and its attributes."""
        return NodeLine(parts[0], _merged(parts[1:]))

    def edge(self, parts: list[Any]) -> EdgeLine:
        """An edge and its attributes."""
        stops = tuple(part for part in parts if not isinstance(part, dict))
        return EdgeLine(stops, _merged([part for part in parts if isinstance(part, dict)]))

    def group(self, parts: list[Any]) -> Group:
        """A subgraph or the graph itself; its name means nothing here."""
        line = next(int(part.line or 1) for part in parts if isinstance(part, Token) and part.type == "OPENED")
        return Group([part for part in parts if not isinstance(part, Token | Word)], line, str(parts[0]).lower() == "strict")

    start = group


def _merged(parts: list[Attributes]) -> Attributes:
    return {key: value for part in parts for key, value in part.items()}


def _unquoted(token: str) -> str:
    """`\\"` is a quote, a backslash before the end of a line joins it to the next; every other backslash stays."""
    return re.sub(r"\\(.)", lambda found: {'"': '"', "\n": ""}.get(found[1], found[0]), token[1:-1], flags=re.DOTALL)


def quoted(text: str) -> str:
    """A text as a quoted ID. Raises ValueError for what DOT cannot write: a backslash before a quote or at the end."""
    if re.search(r'(?<!\\)(?:\\\\)*\\(?:"|$)', text):
        raise ValueError(f"DOT cannot write a backslash before a quote or at the end: {text!r}")
    return '"' + text.replace('"', '\\"') + '"'


@cache
def _parser() -> Callable[[str], Any]:
    return Lark(_GRAMMAR, parser="lalr", transformer=_Statements(), maybe_placeholders=False, propagate_positions=False).parse


def parse(text: str, name: str) -> Group:
    """The statements of a DOT document; raises PlanError with file and line."""
    if len(text) > MAX_BYTES:
        raise PlanError(f"is larger than {MAX_BYTES} bytes: no wiring plan in DOT is", name)
    try:
        found = _parser()(text)
    except UnexpectedEOF as problem:
        raise PlanError("ends before its graph does: a closing } is missing", name, text.count("\n") + 1) from problem
    except (UnexpectedToken, UnexpectedCharacters) as problem:
        raise _readable(problem, text, name) from problem
    except (LarkError, RecursionError, MemoryError) as problem:
        raise PlanError("cannot be read as DOT", name) from problem
    assert isinstance(found, Group)
    return found


def _readable(problem: UnexpectedToken | UnexpectedCharacters, text: str, name: str) -> PlanError:
    if isinstance(problem, UnexpectedToken) and problem.token.type == "$END":
        return PlanError("ends before its graph does: a closing } is missing", name, text.count("\n") + 1)
    at = problem.pos_in_stream or 0
    rest = text[at : at + 200].partition("\n")[0].strip()
    hint = ""
    if re.match(r"[\w.-]*[\w.](?:[-.]|(?<=[0-9])(?=[^\W0-9]))", rest):
        hint = "; names with a dash or a dot, or that begin with a digit, need quotes"
    elif rest.startswith('"') and rest.count('"') % 2:
        hint = "; a quote is not closed"
    return PlanError(f"is no DOT from here on: {printable(rest, 60)!r}{hint}", name, problem.line)
