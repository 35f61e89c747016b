"""The first moment of use: one command, an exit code, evidence; and what the store makes of many of them."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.e2e.conftest import Auditor, Pod

SCHEMA = json.loads((Path(__file__).parents[2] / "auditor" / "data" / "report.schema.json").read_text())


def members(report: dict) -> dict[str, set[str]]:
    """Which rules saw each cause, by the devices they name."""
    found = {finding["fingerprint"]: finding for finding in report["findings"]}
    return {
        "+".join(sorted({device for name in cause["members"] for device in found[name]["devices"]})): {
            found[name]["rule"] for name in cause["members"]
        }
        for cause in report["causes"]
    }


def test_a_clean_pod_is_clean_and_its_document_is_the_contract(auditor: Auditor, pod: Pod) -> None:
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("clean", 1), "--format", "json")
    assert answer.code == 0
    jsonschema.validate(answer.report, SCHEMA)
    assert answer.report["findings"] == []
    assert answer.report["coverage"]["links"]["proven"] == 64
    assert {gap["reason"] for gap in answer.report["gaps"]} <= {"unsupported"}


def test_the_faulty_pod_has_four_causes_each_with_its_proof(auditor: Auditor, pod: Pod) -> None:
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("faulty", 1), "--format", "json")
    assert answer.code == 1
    jsonschema.validate(answer.report, SCHEMA)
    seen = members(answer.report)
    assert set(seen) == {"gpu-02+leaf-03", "leaf-05", "leaf-07", "gpu-04"}
    assert {"mtu.compute", "mtu.link_ends_differ"} <= seen["gpu-02+leaf-03"]
    assert "lossless.roce_map" in seen["leaf-05"]
    for finding in answer.report["findings"]:
        assert finding["evidence"], finding["rule"]
        assert all(line["excerpt"].strip() for line in finding["evidence"])
    proofs = {finding["rule"]: finding["evidence"][0]["excerpt"] for finding in answer.report["findings"]}
    assert '"26": "0"' in proofs["lossless.roce_map"]
    assert "1500" in proofs["mtu.compute"]
    assert "28.39.3560" in proofs["firmware.not_allowed"]
    assert "dynamic" in proofs["lossless.buffer_mode"]


def test_the_same_input_gives_the_same_document_but_for_times_and_ids(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("faulty", 1)
    words = ("-C", str(pod.folder), "check", "--no-store", "--from", capture, "--format", "json")
    one, other = auditor(*words).report, auditor(*words).report
    del one["run"], other["run"]
    assert one == other


def test_a_finding_lives_through_resolution_and_regression(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)

    def check(kind: str, hour: int) -> dict:
        return auditor("-C", folder, "check", "--from", pod.capture(kind, hour), "--format", "json").report

    check("clean", 1)
    first, again = check("faulty", 2), check("faulty", 3)
    prints = {finding["fingerprint"] for finding in first["findings"]}
    assert {finding["fingerprint"] for finding in again["findings"]} == prints
    assert {finding["first_seen"] for finding in again["findings"]} == {finding["first_seen"] for finding in first["findings"]}
    assert [cause["id"] for cause in first["causes"]] == [cause["id"] for cause in again["causes"]]
    check("clean", 4)
    resolved = auditor("-C", folder, "findings", "list", "--state", "resolved").out
    assert all(name in resolved for name in prints)
    assert not auditor("-C", folder, "findings", "list").out.strip()
    assert {finding["status"] for finding in check("faulty", 5)["findings"]} == {"regressed"}


def test_changes_are_told_once_and_an_unchanged_pod_has_none(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("clean", 1))
    assert not auditor("-C", folder, "check", "--from", pod.capture("clean", 2), "--format", "json").report["changes"]
    told = auditor("-C", folder, "check", "--from", pod.capture("faulty", 3), "--format", "json").report["changes"]
    assert {
        "device": "leaf-05",
        "address": "dscp_map[AZURE,26].traffic_class",
        "layer": "configured",
        "before": 3,
        "after": 0,
    } in told
    assert not auditor("-C", folder, "check", "--from", pod.capture("faulty", 4), "--format", "json").report["changes"]


def test_only_resolves_nothing_else(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("faulty", 1))
    answer = auditor("-C", folder, "check", "--only", "mtu.*", "--from", pod.capture("clean", 2))
    assert answer.code == 0
    left = auditor("-C", folder, "findings", "list").out
    assert "lossless.roce_map\t" in left
    assert "firmware.not_allowed\t" in left
    assert "mtu." not in left


def test_a_scope_of_one_device_is_clean_by_stored_facts_of_its_far_ends(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    alone = auditor("-C", folder, "check", "--device", "leaf-01", "--from", pod.capture("clean", 1, ["leaf-01"]))
    assert alone.code == 3
    assert "gpu-01" in alone.out
    auditor("-C", folder, "check", "--from", pod.capture("clean", 2))
    for device in ("leaf-01", "gpu-01"):
        capture = pod.capture("clean", 3 + len(device), [device])
        assert auditor("-C", folder, "check", "--device", device, "--from", capture).code == 0


def test_far_ends_that_the_capture_holds_are_read_from_it_and_not_judged(auditor: Auditor, pod: Pod) -> None:
    words = ("-C", str(pod.folder), "check", "--device", "gpu-01", "--from")
    assert auditor(*words, pod.capture("clean", 1)).code == 0
    answer = auditor(*words, pod.capture("faulty", 2), "--format", "json")  # its leaves are faulty elsewhere
    assert answer.code == 0
    assert answer.report["coverage"]["devices"] == {"planned": 1, "reached": 1, "partial": 0, "unreachable": 0}
    assert answer.report["coverage"]["links"]["proven"] == 8


def test_stored_facts_that_are_too_old_are_not_used(auditor: Auditor, pod: Pod) -> None:
    (pod.folder / "auditor.yaml").write_text("peer_max_age: 2h\n")
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("clean", 1))
    for hour, code in ((2, 0), (9, 3)):
        capture = pod.capture("clean", hour, ["leaf-01"])
        assert auditor("-C", folder, "check", "--device", "leaf-01", "--from", capture).code == code


def test_a_device_that_gave_nothing_is_said_and_its_findings_stay(auditor: Auditor, pod: Pod) -> None:
    import shutil

    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("faulty", 1))
    capture = pod.capture("clean", 2)
    shutil.rmtree(Path(capture) / "leaf-05")
    answer = auditor("-C", folder, "check", "--from", capture)
    assert answer.code == 3
    assert "leaf-05" in answer.out
    left = auditor("-C", folder, "findings", "list").out.splitlines()
    told = {line.split("\t")[4]: line.split("\t")[1] for line in left}
    unverified = {"lossless.roce_map", "lossless.priority_chain_broken"}
    assert told == dict.fromkeys(unverified, "unverified") | {"collection.partial": "open", "cabling.not_proven": "open"}


def test_an_older_capture_changes_nothing(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("faulty", 5))
    before = auditor("-C", folder, "findings", "list").out
    auditor("-C", folder, "check", "--from", pod.capture("clean", 1))
    assert auditor("-C", folder, "findings", "list").out == before


def test_outside_a_project_nothing_is_stored(auditor: Auditor, pod: Pod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    capture = pod.capture("faulty", 1)
    monkeypatch.chdir(empty)
    answer = auditor("check", "--from", capture, "--baseline", "ethernet-fabric@1.0.0")
    assert answer.code in (0, 1, 3)
    assert list(empty.iterdir()) == []


def test_the_four_faults_in_junit_are_four_failures_with_unique_names(auditor: Auditor, pod: Pod) -> None:
    from xml.etree import ElementTree

    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("faulty", 1), "--format", "junit")
    tree = ElementTree.fromstring(answer.out)
    failed = [case for case in tree.iter("testcase") if case.find("failure") is not None]
    assert len(failed) == 4
    assert len({(case.get("classname"), case.get("name")) for case in failed}) == 4


def test_fail_on_decides_which_severity_ends_with_one(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("faulty", 1, ["leaf-07"])
    words = (
        "-C",
        str(pod.folder),
        "check",
        "--no-store",
        "--only",
        "lossless.buffer_mode",
        "--device",
        "leaf-07",
        "--from",
        capture,
    )
    assert auditor(*words).code == 1
    assert auditor(*words, "--fail-on", "critical").code == 0


def test_a_line_of_the_findings_list_says_on_what(auditor: Auditor, pod: Pod) -> None:
    auditor("-C", str(pod.folder), "check", "--from", pod.capture("faulty", 1), "--only", "lossless.buffer_mode")
    (line,) = auditor("-C", str(pod.folder), "findings", "list").out.splitlines()
    assert line.split("\t")[4:6] == ["lossless.buffer_mode", "leaf-07:buffer"]


def test_a_device_that_is_only_planned_is_left_out_and_said(auditor: Auditor, pod: Pod) -> None:
    import re
    import shutil

    hosts = pod.folder / "inventory" / "hosts.yaml"
    hosts.write_text(re.sub(r"(?m)^(gpu-04:\n(?:  .*\n)*?  data:\n)", r"\1    status: planned\n", hosts.read_text()))
    capture = pod.capture("clean", 1)
    shutil.rmtree(Path(capture) / "gpu-04")
    answer = auditor("-C", str(pod.folder), "check", "--from", capture, "--format", "json")
    assert answer.code == 0, answer.out
    assert answer.report["coverage"]["devices"]["planned"] == 13
    assert answer.report["coverage"]["links"]["not_yet"] == 8
    assert "gpu-04" in auditor("-C", str(pod.folder), "check", "--from", capture).out
    assert auditor("-C", str(pod.folder), "check", "--device", "gpu-04", "--from", capture).code == 2
