"""What no baseline speaks of: the odd one among its peers, from the first run to its end."""

from tests.e2e.conftest import Auditor, Pod


def listed(auditor: Auditor, pod: Pod) -> set[str]:
    rows = auditor("-C", str(pod.folder), "findings", "list").out.splitlines()
    return {row.split("\t")[4] for row in rows} & {"fabric.inconsistent", "firmware.mixed"}


def test_without_a_baseline_the_odd_ones_are_found_with_their_proof(auditor: Auditor, pod: Pod) -> None:
    (pod.folder / "baselines" / "assignments.yaml").write_text("assignments: []\n")
    report = auditor("-C", str(pod.folder), "check", "--from", pod.capture("faulty", 1), "--format", "json").report
    odd = {finding["rule"]: finding for finding in report["findings"]}
    buffer, firmware = odd["fabric.inconsistent"], odd["firmware.mixed"]
    assert buffer["devices"] == ["leaf-07"]
    assert buffer["expected"] == "static, as on 7 of 8 devices of leaf/Mellanox-SN5600-O128"
    assert '"buffer_model": "dynamic"' in buffer["evidence"][0]["excerpt"]
    assert firmware["devices"] == ["gpu-04"]
    assert "28.39.3560" in firmware["evidence"][0]["excerpt"]
    assert sum(finding["rule"] in ("fabric.inconsistent", "firmware.mixed") for finding in report["findings"]) == 2


def test_where_a_baseline_judges_the_comparison_is_silent(auditor: Auditor, pod: Pod) -> None:
    report = auditor("-C", str(pod.folder), "check", "--from", pod.capture("faulty", 1), "--format", "json").report
    assert {finding["rule"] for finding in report["findings"]}.isdisjoint({"fabric.inconsistent", "firmware.mixed"})


def test_only_a_run_over_the_whole_group_ends_what_was_found(auditor: Auditor, pod: Pod) -> None:
    (pod.folder / "baselines" / "assignments.yaml").write_text("assignments: []\n")
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("faulty", 1))
    assert listed(auditor, pod) == {"fabric.inconsistent", "firmware.mixed"}
    auditor("-C", folder, "check", "--device", "leaf-07", "--from", pod.capture("clean", 2))
    assert listed(auditor, pod) == {"fabric.inconsistent", "firmware.mixed"}
    auditor("-C", folder, "check", "--role", "leaf", "--from", pod.capture("clean", 3))
    assert listed(auditor, pod) == {"firmware.mixed"}
    auditor("-C", folder, "check", "--from", pod.capture("clean", 4))
    assert listed(auditor, pod) == set()


def test_narrowed_to_the_comparison_it_is_as_silent_as_in_a_whole_run(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("faulty", 1)
    answer = auditor("-C", str(pod.folder), "check", "--only", "firmware.mixed", "--from", capture, "--format", "json")
    assert answer.report["findings"] == []
