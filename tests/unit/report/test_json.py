import json
from dataclasses import replace

import jsonschema
import pytest

from auditor.model import Change, Gap, GapReason
from auditor.report import Options, formats
from auditor.report.json import schema


def render(run):
    return formats()["json"].render(run, Options())


def test_the_shipped_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", ["healthy", "faulty"])
def test_reports_follow_the_schema(name, request):
    document = json.loads(render(request.getfixturevalue(name)))
    jsonschema.validate(document, schema(), cls=jsonschema.Draft202012Validator)


def test_the_schema_refuses_what_is_not_in_the_contract(faulty):
    document = json.loads(render(faulty))
    document["findings"][0]["severity"] = "bad"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema())
    document = json.loads(render(faulty))
    document["surprise"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema())


def test_top_level_keys_stand_in_the_order_of_the_contract(faulty):
    assert list(json.loads(render(faulty))) == [
        "schema", "run", "inputs", "coverage", "findings", "causes", "gaps", "changes",
    ]  # fmt: skip


def test_same_input_same_bytes_whatever_the_order(faulty):
    turned = replace(
        faulty,
        findings=faulty.findings[::-1],
        causes=faulty.causes[::-1],
        gaps=faulty.gaps[::-1],
        inputs=faulty.inputs[::-1],
    )
    assert render(turned) == render(faulty)


def test_every_cause_member_is_a_finding_of_the_report(faulty):
    document = json.loads(render(faulty))
    known = {finding["fingerprint"]: finding["cause"] for finding in document["findings"]}
    for cause in document["causes"]:
        assert {known[member] for member in cause["members"]} == {cause["id"]}


def test_unverified_and_resolved_findings_are_there_with_their_status(faulty):
    states = {finding["rule"]: finding["status"] for finding in json.loads(render(faulty))["findings"]}
    assert states["lossless.watchdog_missing"] == "unverified"
    assert states["firmware.os"] == "resolved"
    assert states["mtu.compute"] == "open"


def test_every_count_is_named_even_when_it_is_zero(healthy):
    coverage = json.loads(render(healthy))["coverage"]
    assert coverage["results"] == {
        "pass": 42, "fail": 0, "not_applicable": 0, "not_evaluated": 0, "error": 0, "unsupported": 0,
    }  # fmt: skip
    assert coverage["links"]["unknown"] == 0


def test_a_narrow_gap_says_which_cells_it_hides(healthy):
    gap = Gap("leaf-02", "interface", "status", GapReason.UNPARSED, "odd word", key=("Ethernet4",), columns=("fec",))
    found = json.loads(render(replace(healthy, gaps=(gap,))))["gaps"]
    assert found == [
        {
            "device": "leaf-02",
            "table": "interface",
            "source": "status",
            "reason": "unparsed",
            "detail": "interface[Ethernet4].fec: odd word",
        }
    ]


def test_the_bytes_are_ascii_and_the_text_survives(healthy, make_finding, make_cause):
    evil = "\x1b[31m\x9b\u202e\ud800 端口"
    document = render(replace(healthy, findings=(make_finding(observed=evil),), causes=(make_cause(),)))
    assert all(" " <= char <= "~" or char == "\n" for char in document)
    assert json.loads(document)["findings"][0]["observed"] == evil


def test_changes_hold_rows_tuples_and_odd_numbers(healthy):
    changes = (
        Change("leaf-02", "qos_port[Ethernet0].pfc_priorities", "configured", (3, 4), None),
        Change("leaf-02", "queue[Ethernet0,3]", "configured", None, {"weight": float("nan"), "port": "Ethernet0"}),
    )
    found = json.loads(render(replace(healthy, changes=changes)))["changes"]
    assert found[0]["before"] == [3, 4]
    assert found[1]["after"] == {"port": "Ethernet0", "weight": "nan"}
