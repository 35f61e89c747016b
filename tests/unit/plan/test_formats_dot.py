from __future__ import annotations

import shutil
import subprocess

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.formats import Imported, columns_of
from auditor.plan.formats.dot import read, sniff, write
from auditor.plan.formats.dot_grammar import quoted


def imported(text: str) -> Imported:
    return read(text.encode(), "t.dot", {})


def cables(text: str) -> list[str]:
    return [f"{link.a} {link.b}" for link in imported(text).links]


def wrong(text: str | bytes) -> str:
    with pytest.raises((PlanError, ErrorList)) as caught:
        read(text if isinstance(text, bytes) else text.encode(), "t.dot", {})
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "graph{a:p--b:q}",
        'strict graph "x y" { "a":"p" -- b:q; }',
        "digraph G { a:p -> b:q }",
        "GRAPH g\n{\nSubGraph s { a:p--b:q }\n}",
        "graph { { a:p -- b:q } }",
        'graph { a -- b [tailport=p, headport="q"] }',
        "graph { a:x -- b:q [tailport=p] }",
        'graph { "a" : p -- "b" : q [k=v;l=<a <b>bold</b> word>][m="n"] ; }',
        "/* one\n two */ // three\n# four\ngraph { node [x=y]; edge [x=y]; graph [x=y]; x=y a:p--b:q }",
        'graph { "a":"p" -- "b":"\\\nq" }',
    ],
)
def test_every_spelling_of_one_cable_is_that_cable(text: str) -> None:
    assert sniff(text.encode(), "x")
    assert cables(text) == ["a:p b:q"]


def test_a_chain_is_one_cable_for_each_pair() -> None:
    assert cables('graph { a:1 -- b:"2"; c:1 -- d:1; x:9 -- y:9 -- z:9 }') == ["a:1 b:2", "c:1 d:1", "y:9 z:9"]


def test_a_port_listed_twice_keeps_the_last_cable_and_says_so() -> None:
    found = imported("graph {\na:1 -- b:1\na:1 -- c:1\nd:1 -- b:1\n}")
    assert [f"{link.a} {link.b}" for link in found.links] == ["a:1 c:1", "d:1 b:1"]
    assert found.notes == ("t.dot:2: a:1 to b:1 is left out: line 3 uses a:1 again, and the last line counts",)


def test_a_cable_told_from_both_ends_is_one_and_what_differs_is_said() -> None:
    found = imported('graph {\na:1 -- b:1 [speed="400G", label=x]\nb:1 -- a:1 [speed="200G", a_rack=R2]\n}')
    (link,) = found.links
    assert (link.speed, link.label, link.b.rack, link.line) == (200 * 10**9, "x", "R2", 2)
    assert found.notes == ("t.dot:3: speed is 200G here and 400G on line 2 for the same link; the last counts",)


def test_defaults_hold_for_what_follows_and_end_with_their_group() -> None:
    text = "graph { edge [plane=x] a:1--b:1; subgraph { edge [plane=y, rail=r1] c:1--d:1 } e:1--f:1 [plane=z] g:1--h:1 }"
    assert [(link.plane, link.rail) for link in imported(text).links] == [("x", ""), ("y", "r1"), ("z", ""), ("x", "")]


def test_lanes_of_a_breakout_share_a_port() -> None:
    text = "graph { a:1--b:1 [cable_id=W, a_lane=1] a:1--b:2 [cable_id=W, a_lane=2] }"
    assert [(link.a.port, link.a.lane) for link in imported(text).links] == [("1", "1"), ("1", "2")]


def test_node_statements_say_what_a_device_is() -> None:
    found = imported('graph { node [os=sonic] l1 [role=leaf rack=R7 model=X] l1:1--n1:1 n2 [function=storage, os=""] }')
    told = {device.name: (device.role, device.rack, device.hardware_model, device.platforms) for device in found.devices}
    assert told == {"l1": ("leaf", "R7", "X", ("sonic",)), "n1": ("", "", "", ()), "n2": ("storage", "", "", ())}


@pytest.mark.parametrize(
    ("head", "edge"),
    [
        ('LLDP="match_type=portdescr"', ""),
        ('T="match_type=portdescr"', '[LLDP="lldptmpl=T"]'),
        ("", '[LLDP=" match_type = portdescr "]'),
    ],
)
def test_matching_by_description_is_said(head: str, edge: str) -> None:
    assert any("match_type=portdescr" in note for note in imported(f"graph {{\n{head}\na:1 -- b:1 {edge}\n}}").notes)


def test_matching_by_name_is_the_default_and_an_own_word_counts_more() -> None:
    text = 'graph { LLDP="match_type=portdescr"\n a:1 -- b:1 [LLDP="match_type=ifname"] }'
    assert imported(text).notes == ()


def test_an_undefined_template_and_addresses_for_names_are_said() -> None:
    notes = imported('graph { hostidtype="ipaddr"\n "192.0.2.1":1 -- "192.0.2.2":1 [LLDP="lldptmpl=Q"] }').notes
    assert any("template Q" in note for note in notes) and any("hostidtype=ipaddr" in note for note in notes)


def test_a_line_that_ptm_reads_in_pieces_is_said() -> None:
    assert imported("graph {\na:1 -- b:1" + " " * 1100 + "\n}").notes[0].startswith("t.dot:2: PTM reads a line in pieces")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("graph {\n leaf-1:swp1 -- b:q }", 2, "need quotes"),
        ("graph {\n a:p -- b:swp1-2 }", 2, "need quotes"),
        ("graph {\n\n 10.0.0.1:p -- b:q }", 3, "need quotes"),
        ("graph {\n a:p -- b:q [speed=400G] }", 2, "need quotes"),
        ('graph {\n "a":p -- "b:q\n}', 2, "a quote is not closed"),
        ("graph {\n a:p -- b:q\n", 3, "closing }"),
        ("graph {\n a -- b:q\n}", 2, "a has no port"),
        ('graph {\n a:"" -- b:q\n}', 2, "a has no port"),
        ("graph {\n a:p -- {b c}\n}", 2, "an edge to a group"),
        ("graph {\n a:p -- a:q\n}", 2, "both ends are on a"),
        ("graph { a:p -- b:q }\ngraph { c:p -- d:q }", 2, "is no DOT from here on"),
        ("graph {\n}", None, "holds no cable"),
        ('graph {\n a:p -- b:q [plane=host_facing,cable_id="\x1b[31m"]\n}', None, ""),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int | None, words: str) -> None:
    if not words:
        assert len(imported(text).notes) == 2, "attributes that a plan cannot hold are left out, not fatal"
        return
    message = wrong(text)
    assert message.startswith(f"t.dot:{line}: " if line else "t.dot: ") and words in message


def test_control_characters_in_a_name_are_refused_and_not_printed() -> None:
    message = wrong('graph {\n "a\x1b]0;x\x07":p -- b:q\n}')
    assert "t.dot:2: a_device: control character" in message and "\x1b" not in message


@pytest.mark.parametrize(
    "raw",
    [
        b"graph{" + b"{" * 30_000 + b"}" * 30_001,
        b"graph{" + b"{" * 30_000,
        b"graph{a:b--c:<" + b"<" * 200_000,
        b'graph{a:b--c:"' + b"\\" * 200_001,
        b"graph{a:b--c:d" + b"--c:d" * 5_000 + b"}",
        b"/*" * 100_000,
        b"graph{a:" + b"9" * 200_000 + b"}",
        b"\x89PNG\r\n\x1a\n\x00\x00",
        b"graph {\xff}",
        b"graph { a:b -- c:d }" + b" " * (17 * 1024 * 1024),
    ],
    ids=["nested", "open", "markup", "backslashes", "chain", "comment", "number", "binary", "latin", "huge"],
)
def test_hostile_input_is_one_error(raw: bytes) -> None:
    assert wrong(raw).startswith("t.dot")


def test_one_port_used_over_and_over_takes_no_time() -> None:
    edges = "\n".join(f"a:1 -- b:{n}" for n in range(4000))
    assert cables(f"graph {{\n{edges}\n}}") == ["a:1 b:3999"]


@pytest.mark.parametrize("text", ["a", 'a"b', "a\\b", "a\\\\", '\\\\"', "Eth 1/1", "é–", ""])
def test_a_quoted_text_is_read_back(text: str) -> None:
    (link,) = imported(f"graph {{ a:p -- b:{quoted('x' + text)} }}").links
    assert link.b.port == "x" + text


@pytest.mark.parametrize("text", ["a\\", 'a\\"b', "a\\\\\\"])
def test_what_dot_cannot_write_is_refused_with_the_line_of_the_plan(text: str) -> None:
    with pytest.raises(ValueError, match="backslash"):
        quoted(text)
    with pytest.raises(PlanError, match=r"plan\.csv:7: DOT cannot write"):
        write(Plan("x", (PlanLink(PlanEnd("a", text), PlanEnd("b", "q"), line=7),), file="plan.csv"))


def test_names_with_a_domain_are_written_for_ptm_to_compare_whole() -> None:
    link = PlanLink(PlanEnd("a.example", "p"), PlanEnd("b.example", "q"))
    assert 'hostnametype="fqdn"' in write(Plan("x", (link,)))[0]


@pytest.mark.skipif(shutil.which("nop") is None, reason="Graphviz is not installed")
def test_graphviz_reads_what_is_written() -> None:
    link = PlanLink(PlanEnd('a "b" \\c', "Eth 1/1:2"), PlanEnd("–é", "q"), speed=400 * 10**9, label="C-1, <b>")
    text, _ = write(Plan("x/y", (link,)))
    done = subprocess.run(["nop"], input=text, capture_output=True, text=True, check=True)
    (back,) = imported(done.stdout).links
    assert columns_of(back) == columns_of(link)
