from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter

from auditor.baseline.diff import diff, meaning
from auditor.baseline.document import Vocabulary, parse_document
from auditor.baseline.telling import difference_markdown, difference_text
from auditor.checks.firmware import Allowed
from auditor.model import Baseline

WORDS = Vocabulary(
    rule_ids=frozenset({"firmware.not_allowed"}), params_types={"firmware.not_allowed": TypeAdapter(list[Allowed])}
)


def baseline(body: str) -> Baseline:
    found = parse_document(f"profile: leaf\nversion: 1.0.0\n{body}", "leaf", "1.0.0", WORDS)
    return Baseline("leaf", "1.0.0", "", found.expectations, found.params)


LINE = 'expect:\n  - {id: mtu.x, at: "interface[*].mtu", ge: 9000, severity: error, why: frames}\n'


def test_operator_value_severity_and_why_are_told_apart() -> None:
    other = baseline(LINE.replace("ge: 9000", "eq: 9100").replace("error", "critical").replace("frames", "RoCE"))
    (change,) = diff(meaning(baseline(LINE)), meaning(other)).lines
    assert change.parts == ("operator", "value", "severity", "why")
    text = difference_text("leaf@1.0.0", "leaf@1.1.0", diff(meaning(baseline(LINE)), meaning(other)), "larger")
    assert text.splitlines() == [
        "leaf@1.0.0 -> leaf@1.1.0: larger",
        "",
        "changed (1)",
        "  ~ mtu.x  critical  interface[*].mtu = 9100 bytes",
        "      wants: >= 9000 bytes -> = 9100 bytes",
        "      severity: error -> critical",
        "      why: frames -> RoCE",
    ]


def test_order_of_lines_lists_and_keys_does_not_count() -> None:
    one = 'expect:\n  - {id: a.b, at: "qos_port[*].pfc_priorities", eq: [3, 4], severity: error, why: w}\n'.replace(
        "a.b", "lossless.b"
    )
    two = 'expect:\n  - {why: w, severity: error, eq: [4, 3], at: "qos_port[*].pfc_priorities", id: lossless.b}\n'
    assert not diff(meaning(baseline(one)), meaning(baseline(two)))


def test_params_are_compared_place_by_place_under_the_names_of_the_document() -> None:
    body = 'params:\n  firmware.not_allowed:\n  - {component: "nic.*", in: [28.43.1], severity: error, why: w}\n'
    (change,) = diff(meaning(baseline(body)), meaning(baseline(body.replace("28.43.1", "28.43.2")))).params
    assert change.places == [("[0].in[0]", "28.43.1", "28.43.2")]
    text = difference_text("a", "b", diff(meaning(baseline("")), meaning(baseline(body))))
    assert "  + firmware.not_allowed" in text
    assert "      [0].component: nothing -> nic.*" in text
    assert "severity" in text


def test_markdown_keeps_bars_inside_their_cells() -> None:
    other = LINE.replace("why: frames", 'why: "a | b"')
    text = difference_markdown("a", "b", diff(meaning(baseline(LINE)), meaning(baseline(other))))
    assert "| `mtu.x` | `interface[*].mtu` | why | frames | a \\| b |" in text


def test_both_formats_say_that_nothing_differs() -> None:
    same = diff(meaning(baseline(LINE)), meaning(baseline(LINE)))
    assert "both mean the same" in difference_text("a", "b", same)
    assert "Both mean the same." in difference_markdown("a", "b", same)


def test_an_explanation_tells_the_first_route_and_everything_replaced(tmp_path: Path) -> None:
    from auditor.baseline.document import Use
    from auditor.baseline.explain import explain
    from auditor.baseline.library import Library

    def write(name: str, extends: str, mtu: int | None) -> None:
        file = tmp_path / "b" / name / "1.0.0.yaml"
        file.parent.mkdir(parents=True)
        line = f'expect: [{{id: mtu.x, at: "interface[*].mtu", eq: {mtu}, severity: error, why: w}}]\n' if mtu else ""
        file.write_text(f"profile: {name}\nversion: 1.0.0\nextends: [{extends}]\n{line}")

    write("core", "", 1500)
    write("a", "core@1.0.0", 9000)
    write("b", "core@1.0.0", None)
    write("c", "a@1.0.0, b@1.0.0", None)
    library = Library(tmp_path / "b", Vocabulary(), shipped=tmp_path)
    found = explain(library, [Use("c", "1.0.0", "assignments.yaml", 7)])
    (line,) = found.lines
    assert (line.said.what.value, line.said.origin.profile) == (9000, "a")
    assert [use.profile for use in line.said.route] == ["c", "a"]
    assert [(use.line) for use in line.said.route] == [7, 3]
    assert [(over.what.value, over.origin.profile) for over in line.over] == [(1500, "core")]
    both = explain(library, [Use("b", "1.0.0"), Use("core", "1.0.0")])
    assert both.lines[0].said.what.value == 1500
    undone = explain(library, [Use("a", "1.0.0"), Use("b", "1.0.0")])
    assert undone.lines[0].said.what.value == 9000
