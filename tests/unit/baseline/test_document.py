from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter

from auditor.address import Pattern
from auditor.baseline.document import Vocabulary, check_pattern, parse_document, parse_use, read_document
from auditor.errors import BaselineError, ErrorList
from auditor.model import DocumentOrigin, Severity
from auditor.plan.fabric import parse_fabric

FABRIC = parse_fabric(
    "planes:\n  compute:\n    rdma_mtu: 4096\n    classes: [{name: roce, dscp: [26, 28], priority: 3}]\n", "fabric.yaml"
)


class Mode(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mode: Literal["lossless", "lossy"]


WORDS = Vocabulary(
    fabric=FABRIC,
    rule_ids=frozenset({"lossless.buffer_mode", "mtu.link_ends_differ", "firmware.not_allowed"}),
    params_types={"lossless.buffer_mode": Mode, "firmware.not_allowed": TypeAdapter(list[str])},
    groups=frozenset({"compute", "in_use", "host_facing", "fabric_facing"}),
)


def read(body: str):
    text = "profile: roce-leaf\nversion: 1.2.0\n" + textwrap.dedent(body)
    return parse_document(text, "roce-leaf", "1.2.0", WORDS, "baselines/roce-leaf/1.2.0.yaml")


def errors(body: str) -> list[str]:
    with pytest.raises(ErrorList) as caught:
        read(body)
    assert all(isinstance(error, BaselineError) for error in caught.value.errors)
    return [str(error) for error in caught.value.errors]


def line(**changes: object) -> str:
    fields: dict[str, object] = {
        "id": "mtu.compute", "at": '"interface[@compute].mtu"', "eq": 9100, "severity": "critical", "why": "RoCE frames",
    }  # fmt: skip
    fields.update(changes)
    return "expect:\n  - {" + ", ".join(f"{key}: {value}" for key, value in fields.items() if value is not None) + "}\n"


def test_a_document_becomes_typed_lines_with_their_origin() -> None:
    document = read(
        """\
        extends: [ethernet-fabric@1.0.0]
        changes: PFC watchdog restoration 200 ms -> 400 ms
        expect:
          - id: mtu.compute
            at: "interface[@compute].mtu"
            eq: 9100
            severity: critical
            why: RoCE frames plus headers
          - {id: lossless.map, at: "dscp_map[*,26].traffic_class", eq: $fabric.compute.roce.priority, severity: error, why: a}
          - {id: lossless.pfc, at: "qos_port[@compute].pfc_priorities@configured", eq: [4, 3], severity: error, why: w}
        params:
          lossless.buffer_mode: {mode: lossless}
        """
    )
    first, second, third = document.expectations
    assert (first.id, first.operator, first.value, first.severity) == ("mtu.compute", "eq", 9100, Severity.CRITICAL)
    assert first.at == Pattern.parse("interface[@compute].mtu")
    assert first.why == "RoCE frames plus headers"
    assert first.origin == DocumentOrigin("roce-leaf", "1.2.0", "baselines/roce-leaf/1.2.0.yaml", 6)
    assert second.value == 3
    assert third.value == (3, 4)
    assert [str(use) for use in document.extends] == ["ethernet-fabric@1.0.0"]
    assert document.params == {"lossless.buffer_mode": Mode(mode="lossless")}
    assert document.params_origin["lossless.buffer_mode"].line == 14
    assert document.document.name == "roce-leaf@1.2.0"


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ("expects: []\n", ":3:", "unknown key 'expects' (did you mean 'expect'?)"),
        (line(sevrity="error"), ":4:", "unknown key 'sevrity' (did you mean 'severity'?)"),
        (line(at='"interfaces[@compute].mtu"'), ":4:", "no table 'interfaces' (did you mean 'interface'?)"),
        (line(at='"interface[@compute].mtuu"'), ":4:", "no column 'mtuu' (did you mean 'mtu'?)"),
        (line(at='"interface[@compute].name"'), ":4:", "is a key of interface"),
        (line(at='"interface[@compute]"'), ":4:", "names no column"),
        (line(at='"interface[@compute].mtu@appplied"'), ":4:", "no layer 'appplied'"),
        (line(at='"interface[@compute,1].mtu"'), ":4:", "interface has [name], and 2 key part(s)"),
        (line(at='"system[x].kernel"', eq="x"), ":4:", "no key"),
        (line(at='"interface.mtu"'), ":4:", "0 key part(s)"),
        (line(at='"dscp_map[@compute,26].traffic_class"'), ":4:", "belong to no port"),
        (line(at='"queue[*,@compute].weight"'), ":4:", "in place of the key 'port'"),
        (line(at='"interface[@comptue].mtu"'), ":4:", "no port group @comptue (did you mean 'compute'?)"),
        (line(at='"interface[.mtu"'), ":4:", "expected at position"),
        (line(at=7), ":4:", "must be an address"),
        (line(eq='"9100"'), ":4:", "interface.mtu (in bytes): wants a whole number, not '9100'"),
        (line(at='"qos_port[@compute].pfc_priorities"', eq=3), ":4:", "wants a list of whole numbers"),
        (line(eq="$fabric.compute.rocee.priority"), ":4:", "fabric.yaml has no $fabric.compute.rocee"),
        (line(eq="$fabrik.x"), ":4:", "is no reference"),
        (line(eq="$fabric.compute"), ":4:", "a whole section"),
        (line(eq=None), ":4:", "exactly one operator, this one has none"),
        (line(ne=1500), ":4:", "has eq and ne"),
        (line(equals=9100), ":4:", "unknown key 'equals'"),
        (line(id="compute_mtu"), ":4:", "must be family.name"),
        (line(id="losless.x"), ":4:", "no family 'losless' (did you mean 'lossless'?)"),
        (line(id="mtu.link_ends_differ"), ":4:", "is the name of a rule"),
        (line(why=None), ":4:", "'why' is missing"),
        (line(why='" "'), ":4:", "a reason in words"),
        (line(severity="critcal"), ":4:", "did you mean 'critical'?"),
        (line(severity=None), ":4:", "'severity' is missing"),
        ("params: {lossless.bufer_mode: {}}\n", ":3:", "no rule 'lossless.bufer_mode' (did you mean 'lossless.buffer_mode'?)"),
        ("params: {mtu.link_ends_differ: {}}\n", ":3:", "takes no params"),
        ("params:\n  lossless.buffer_mode:\n    mode: lossles\n", ":5:", "lossless.buffer_mode.mode: "),
        (
            "params:\n  lossless.buffer_mode: {mode: lossy, mde: 1}\n",
            ":4:",
            "buffer_mode.mde: no such key (did you mean 'mode'?)",
        ),
        ("params:\n  firmware.not_allowed:\n  - a\n  - 3\n", ":6:", "firmware.not_allowed.1: "),
        ("extends: ethernet-fabric@1.0.0\n", ":3:", "must be a list"),
        ("extends: [ethernet-fabric]\n", ":3:", "names no baseline"),
        ("expect: {}\n", ":3:", "must be a list"),
        ("expect: [7]\n", ":3:", "must be a mapping"),
        ("params: []\n", ":3:", "must be a mapping"),
        ("changes: [a]\n", ":3:", "must be a text"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(body: str, place: str, words: str) -> None:
    (error,) = errors(body)
    assert error.startswith("baselines/roce-leaf/1.2.0.yaml" + place)
    assert words in error


def test_all_errors_of_a_document_come_at_once() -> None:
    found = errors(line(eq='"x"', severity="bad", why=None) + "extends: [x]\nparams: {no.rule: 1}\n")
    assert len(found) == 5


def test_an_id_that_stands_twice_names_its_first_line() -> None:
    body = line() + line().removeprefix("expect:\n")
    (error,) = errors(body)
    assert ":5: id 'mtu.compute' stands twice, first on line 4" in error


def test_profile_and_version_must_be_those_of_the_path() -> None:
    with pytest.raises(ErrorList) as caught:
        parse_document("profile: roce-leaf\nversion: 1.2\n", "roce-spine", "1.2.0", WORDS)
    assert [str(error).partition(": ")[2] for error in caught.value.errors] == [
        "profile is 'roce-leaf' here and 'roce-spine' in the path",
        "version is 1.2 here and '1.2.0' in the path",
    ]


def test_profile_and_version_must_be_written() -> None:
    with pytest.raises(ErrorList) as caught:
        parse_document("expect: []\n", "roce-spine", "1.2", WORDS)
    assert len(caught.value.errors) == 2
    assert "'profile' is missing" in str(caught.value)
    assert "a version looks like 1.2.0" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "profile: [", "profile: a\nprofile: b\n", "a: &x 1\nb: *x\n"])
def test_what_is_no_baseline_is_one_clear_error(text: str) -> None:
    with pytest.raises(ErrorList) as caught:
        parse_document(text, "a", "1.0.0", WORDS, "f.yaml")
    assert str(caught.value).startswith("f.yaml:")
    assert len(caught.value.errors) == 1


def test_a_missing_file_and_binary_junk_are_one_clear_error_each(tmp_path: Path) -> None:
    with pytest.raises(ErrorList, match="cannot be read"):
        read_document(tmp_path / "a" / "1.0.0.yaml", WORDS)
    (tmp_path / "junk.yaml").write_bytes(b"\x00\xff\xfe")
    with pytest.raises(ErrorList, match="not UTF-8"):
        read_document(tmp_path / "junk.yaml", WORDS)


def test_groups_are_not_judged_while_nobody_knows_them() -> None:
    assert check_pattern(Pattern.parse("interface[@anything].mtu")).table == "interface"
    assert check_pattern(Pattern.parse("rdma_port[@compute,*].active_mtu"), frozenset({"compute"})).table == "rdma_port"


@pytest.mark.parametrize("text", ["roce-leaf", "roce-leaf@1", "@1.0.0", "../x@1.0.0", "A@1.0.0", 3, None, "a@01.0.0"])
def test_what_names_no_baseline_is_refused(text: object) -> None:
    with pytest.raises(BaselineError, match=r"write it like roce-leaf@1\.2\.0"):
        parse_use(text)
