"""PTM's `topology.dot`, and what the NVIDIA cable validation tool and NetQ make of it: `A:port -- B:port` in a DOT graph.

PTM's traps (CumulusNetworks/ptm, `ptm_conf.c`): names are compared to the letter; a port that stands in two edges keeps the
last one; `BFD=""` means the defaults, not off; lines are read in pieces of 1,023 characters. A node without a port ends PTM.
Attributes that are none of PTM's are ignored by it, so the further columns of a plan travel as attributes of the edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from auditor.errors import PlanError
from auditor.model import Plan
from auditor.plan.document import COLUMNS, REQUIRED, read_rows
from auditor.plan.formats import Imported, ImportedDevice, PlanFormat, columns_of, decode, in_order, lost
from auditor.plan.formats.collector import Collector
from auditor.plan.formats.dot_grammar import Attributes, Defaults, EdgeLine, Group, NodeLine, Stop, Word, parse, quoted

MAX_DEPTH = 40
FURTHER = tuple(column for column in COLUMNS if column not in REQUIRED)

_COMPASS = frozenset({"n", "ne", "e", "se", "s", "sw", "w", "nw", "c", "_"})
_HEAD = re.compile(
    r"(?:\s|#[^\n]*\n|//[^\n]*\n|/\*(?s:.*?)\*/)*(?:strict\s+)?(?:di)?graph\b\s*[^{}\[\];=]{0,200}\{", re.IGNORECASE
)


class _Scope(NamedTuple):
    """What holds for edges and nodes at one place of the document."""

    graph: Attributes
    node: Attributes
    edge: Attributes


def sniff(raw: bytes, _name: str) -> bool:
    """Whether a graph begins after the comments."""
    return _HEAD.match(raw[:65536].decode("utf-8-sig", "replace")) is not None


def read(raw: bytes, name: str, _options: Mapping[str, str]) -> Imported:
    """The edges of a graph."""
    text = decode(raw, name)
    graph = parse(text, name)
    out = Collector(name, last_counts=True)
    _Reader(out).walk(graph, _Scope({}, {}, {}), 0)
    if graph.strict:
        out.note("Graphviz takes parallel edges of a strict graph for one; here each stays a cable of its own")
    for line, content in enumerate(text.split("\n"), 1):
        if len(content) > 1023:
            out.note("PTM reads a line in pieces of 1,023 characters and may misread this one", line)
    return out.result()


class _Reader:
    def __init__(self, out: Collector) -> None:
        self.out = out

    def walk(self, group: Group, scope: _Scope, depth: int) -> None:
        """Read statements in order: defaults hold for what follows, in this group and those within it."""
        if depth > MAX_DEPTH:
            raise PlanError(f"has groups nested deeper than {MAX_DEPTH} levels", self.out.name, group.line)
        scope = _Scope(dict(scope.graph), dict(scope.node), dict(scope.edge))
        for statement in group.statements:
            if isinstance(statement, Defaults):
                getattr(scope, statement.kind).update(statement.attributes)
                self.defaults(statement)
            elif isinstance(statement, NodeLine):
                self.node(statement, scope)
            elif isinstance(statement, EdgeLine):
                for stop in statement.stops:
                    if isinstance(stop, Group):
                        self.walk(stop, scope, depth + 1)
                for tail, head in pairwise(statement.stops):
                    self.edge(tail, head, scope.edge | statement.attributes, scope.graph)
            else:
                self.walk(statement, scope, depth + 1)

    def defaults(self, statement: Defaults) -> None:
        for key, value in statement.attributes.items():
            if statement.kind == "graph" and key == "hostidtype" and value.text == "ipaddr":
                self.out.note("hostidtype=ipaddr: devices are named by address here, and keep these names", value.line)

    def node(self, statement: NodeLine, scope: _Scope) -> None:
        said = {key: word.text.strip() for key, word in (scope.node | statement.attributes).items()}
        os = said.get("os", "")
        device = ImportedDevice(
            name=statement.stop.device.text.strip(),
            role=said.get("role", "") or said.get("function", ""),
            rack=said.get("rack", ""),
            hardware_model=said.get("model", ""),
            platforms=(os,) if os else (),
        )
        self.out.device(device, statement.stop.device.line)

    def edge(self, tail: Stop | Group, head: Stop | Group, said: Attributes, graph: Attributes) -> None:
        if isinstance(tail, Group) or isinstance(head, Group):
            line = next((stop.device.line for stop in (tail, head) if isinstance(stop, Stop)), None)
            self.out.fail("is an edge to a group, which has no port: write one edge for each cable", line)
            return
        line = tail.device.line
        columns = dict(self.columns(said, line))
        for side, stop, attribute in (("a", tail, "tailport"), ("b", head, "headport")):
            port = self.port(stop, said.get(attribute), line)
            if not port:
                self.out.fail(f'{stop.device.text} has no port: write "{stop.device.text}":"port"', line)
            columns |= {f"{side}_device": stop.device.text, f"{side}_port": port}
        if columns["a_port"] and columns["b_port"]:
            self.ptm(said, graph, line)
            self.out.add(columns, line)

    def port(self, stop: Stop, attribute: Word | None, line: int) -> str:
        """The port of one end; as in Graphviz, an attribute `tailport` or `headport` counts more than `node:port`."""
        if attribute is not None:
            return attribute.text
        if stop.port is None or stop.compass is None:
            return "" if stop.port is None else stop.port.text
        if stop.compass.text in _COMPASS:
            self.out.note("the compass point after a port says how to draw the edge, and is left out; PTM compares it too", line)
            return stop.port.text
        return f"{stop.port.text}:{stop.compass.text}"

    def ptm(self, said: Attributes, graph: Attributes, line: int) -> None:
        """What PTM would compare that a plan does not say."""
        lldp = _parameters(said.get("LLDP") or graph.get("LLDP"))
        template = graph.get(lldp.get("lldptmpl", ""))
        if template is None and "lldptmpl" in lldp:
            self.out.note(f"LLDP template {lldp['lldptmpl']} is not defined before it is used; PTM's defaults hold", line)
        if (_parameters(template) | lldp).get("match_type") == "portdescr":
            self.out.note(
                "match_type=portdescr: PTM compares these ports with the neighbour's port description, not its name", line
            )
        if "BFD" in said or "BFD" in graph:
            self.out.note("BFD says how a session is watched, not how it is cabled: left out")

    def columns(self, said: Attributes, line: int) -> Iterator[tuple[str, str]]:
        for column in FURTHER:
            word = said.get(column)
            text = "" if word is None else word.text.strip()
            if word is None or not text:
                continue
            if word.kind == "HTML":
                self.out.note(f"{column} is markup, and is left out", line)
            elif _fits(column, text):
                yield column, text
            else:
                self.out.note(f"{column} {text!r} is not what a plan calls {column}, and is left out", line)


@lru_cache(maxsize=4096)
def _fits(column: str, text: str) -> bool:
    """Whether a plan could hold this: attributes of other tools share names with its columns."""
    row = dict(zip(REQUIRED, ("a", "1", "b", "1"), strict=True)) | {column: text}
    return not read_rows([(1, row)], "")[1]


def _parameters(word: Word | None) -> dict[str, str]:
    """`match_type=portdescr, lldptmpl=X` as a mapping."""
    pairs = (item.partition("=") for item in ("" if word is None else word.text).split(","))
    return {key.strip(): value.strip() for key, _, value in pairs if value.strip()}


def write(plan: Plan) -> tuple[str, tuple[str, ...]]:
    """An undirected graph, one edge on each line, the further columns as its attributes."""
    fqdn = any("." in end.device for link in plan.links for end in (link.a, link.b))
    lines = [f"graph {_quoted(plan, plan.name or 'plan')} {{", f'  hostnametype="{"fqdn" if fqdn else "hostname"}"']
    for link in in_order(plan.links):
        columns = columns_of(link)
        a, b = (f"{_quoted(plan, end.device, link.line)}:{_quoted(plan, end.port, link.line)}" for end in (link.a, link.b))
        said = ", ".join(f"{column}={_quoted(plan, columns[column], link.line)}" for column in FURTHER if column in columns)
        lines.append(f"  {a} -- {b}" + (f" [{said}]" if said else ""))
    return "\n".join([*lines, "}", ""]), lost(plan, FORMAT.carries)


def _quoted(plan: Plan, text: str, line: int | None = None) -> str:
    try:
        return quoted(text)
    except ValueError as problem:
        raise PlanError(str(problem), plan.file or plan.name, line) from None


FORMAT = PlanFormat(
    name="dot",
    title="PTM topology.dot",
    suffixes=(".dot", ".gv"),
    sniff=sniff,
    read=read,
    write=write,
    carries=frozenset(COLUMNS),
    note="Cumulus PTM, NVIDIA cable validation tool, NetQ: edges of a Graphviz graph.",
)
