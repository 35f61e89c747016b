"""Batfish's `layer1_topology.json`: edges of two interfaces each; a cable may stand there once or from both ends.

Batfish itself ignores an interface that is joined to itself, and compares names of nodes in lower case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from auditor import yamldoc
from auditor.errors import PlanError
from auditor.model import Plan
from auditor.plan.document import REQUIRED
from auditor.plan.formats import Imported, PlanFormat, decode, in_order, lost, without_shared_ports
from auditor.plan.formats.collector import Collector
from auditor.yamldoc import Path_, YamlDocument


def sniff(raw: bytes, _name: str) -> bool:
    """Whether it is a mapping with edges of interfaces."""
    head = raw[:65536]
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") and b'"edges"' in head and b'"interfaceName"' in head


def read(raw: bytes, name: str, _options: Mapping[str, str]) -> Imported:
    """The edges, each pair of interfaces once."""
    document = yamldoc.parse(decode(raw, name), name, PlanError)
    edges = document.data.get("edges") if isinstance(document.data, dict) else None
    if not isinstance(edges, list):
        raise document.error(PlanError, "must be a mapping with a list of edges", "edges")
    out = Collector(name)
    for key in document.data:
        if key != "edges":
            out.note(f"{key} is nothing Batfish has here, and is left out", document.line(key))
    for at, edge in enumerate(edges):
        columns: dict[str, str] = {}
        for side, key in (("a", "node1"), ("b", "node2")):
            device, port = _interface(out, document, edge, ("edges", at), key)
            columns |= {f"{side}_device": device, f"{side}_port": port}
        line = document.line("edges", at) or 1
        if not all(columns.values()):
            continue
        if (columns["a_device"], columns["a_port"]) == (columns["b_device"], columns["b_port"]):
            out.note("joins an interface to itself: left out, as Batfish does", line)
        else:
            out.add(columns, line)
    return out.result()


def _interface(out: Collector, document: YamlDocument, edge: Any, path: Path_, key: str) -> tuple[str, str]:
    node = edge.get(key) if isinstance(edge, dict) else None
    words = [node.get(part) if isinstance(node, dict) else None for part in ("hostname", "interfaceName")]
    device, port = (word if isinstance(word, str) else "" for word in words)
    if not device.strip() or not port.strip():
        out.fail(f"{key} must have hostname and interfaceName, both texts", document.line(*path, key))
    return device, port


def write(plan: Plan) -> tuple[str, tuple[str, ...]]:
    """One edge for each cable."""
    without_shared_ports(plan, FORMAT.title)
    edges = [
        {
            "node1": {"hostname": link.a.device, "interfaceName": link.a.port},
            "node2": {"hostname": link.b.device, "interfaceName": link.b.port},
        }
        for link in in_order(plan.links)
    ]
    return json.dumps({"edges": edges}, indent=2, ensure_ascii=False) + "\n", lost(plan, FORMAT.carries)


FORMAT = PlanFormat(
    name="batfish",
    title="Batfish layer1_topology.json",
    suffixes=(".json",),
    sniff=sniff,
    read=read,
    write=write,
    carries=frozenset(REQUIRED),
    note="Edges of node and interface; nothing else about a cable.",
)
