from __future__ import annotations

import json
from typing import Any

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.formats.batfish import read, sniff, write


def edge(a: str, b: str) -> dict[str, Any]:
    ends = [dict(zip(("hostname", "interfaceName"), end.split(":"), strict=True)) for end in (a, b)]
    return {"node1": ends[0], "node2": ends[1]}


def document(*edges: object) -> bytes:
    return json.dumps({"edges": edges}, indent=1).encode()


def wrong(raw: bytes) -> str:
    with pytest.raises((PlanError, ErrorList)) as caught:
        read(raw, "l1.json", {})
    return str(caught.value)


def test_both_directions_of_a_cable_are_one() -> None:
    raw = document(edge("a:p", "b:q"), edge("b:q", "a:p"), edge("c:p", "a:r"))
    found = read(raw, "l1.json", {})
    assert sniff(raw, "x")
    assert [f"{link.a} {link.b}" for link in found.links] == ["a:p b:q", "c:p a:r"] and found.notes == ()


def test_the_same_direction_twice_is_said() -> None:
    notes = read(document(edge("a:p", "b:q"), edge("a:p", "b:q")), "l1.json", {}).notes
    assert len(notes) == 1 and notes[0].startswith("l1.json:13: stands there already")


def test_an_interface_with_two_far_ends_is_an_error() -> None:
    assert "port a:p is already used by line 3" in wrong(document(edge("a:p", "b:q"), edge("a:p", "c:q")))


@pytest.mark.parametrize("name", ["eth–0", "\U0001f5a7-1", 'a"b\\c', "Ethernet1/1", "日本"])
def test_names_come_back_escaped_or_not(name: str) -> None:
    text, gone = write(Plan("x", (PlanLink(PlanEnd("a", name), PlanEnd("b", "q"), speed=1),)))
    assert read(text.encode(), "x", {}).links[0].a.port == name and gone == ("speed",)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"[]", "l1.json:1: must be a mapping with a list of edges"),
        (b'{"edges": {}}', "l1.json:1: must be a mapping with a list of edges"),
        (b'{"edges": []}', "l1.json: holds no cable"),
        (b'{"edges": [\n7]}', "l1.json:2: node1 must have hostname and interfaceName"),
        (document({"node1": {"hostname": "a"}, "node2": {"hostname": "b", "interfaceName": "q"}}), "l1.json:4: node1 must have"),
        (document({"node1": {"hostname": "a", "interfaceName": 7}, "node2": {}}), "l1.json:8: node2 must have"),
        (document(edge("a:p", "a:q")), "l1.json:3: both ends are on a"),
        (b'{"edges": ' + b"[" * 100_000, "l1.json:1: not YAML: exceeded maximum nesting"),
        (b'{"edges": [\n', "not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(raw: bytes, words: str) -> None:
    assert words in wrong(raw)
