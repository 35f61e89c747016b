"""Baselines as commands: explain, compare, release, try out, promote, waive; and a rollout audited at every moment."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.e2e.conftest import Auditor, Pod

SCHEMA = json.loads((Path(__file__).parents[2] / "auditor" / "data" / "report.schema.json").read_text())
ROLLOUT = """
rollouts:
  - name: leaf-1.1
    from: pod-leaf@1.0.0
    to: pod-leaf@1.1.0
    waves:
      - {select: {name: leaf-01}, start: 2026-05-01T04:00:00Z, window: 4h}
      - {select: {role: leaf}}
"""


def new_version(pod: Pod, *, wants: str = "202411.4", number: str = "1.1.0") -> None:
    folder = pod.folder / "baselines" / "pod-leaf"
    text = (folder / "1.0.0.yaml").read_text().replace("version: 1.0.0", f"version: {number}").replace("202411.3", wants)
    (folder / f"{number}.yaml").write_text(text)


def roll_out(pod: Pod, text: str = ROLLOUT) -> None:
    file = pod.folder / "baselines" / "assignments.yaml"
    file.write_text(file.read_text() + text)


def test_every_effective_value_has_its_file_and_line_and_what_it_replaced(auditor: Auditor, pod: Pod) -> None:
    (pod.folder / "baselines" / "site").mkdir()
    (pod.folder / "baselines" / "site" / "1.0.0.yaml").write_text(
        "profile: site\nversion: 1.0.0\nextends: [pod-leaf@1.0.0]\nexpect:\n"
        '  - {id: fabric.fec, at: "interface[@compute].fec", eq: fc, severity: warning, why: ours}\n'
    )
    file = pod.folder / "baselines" / "assignments.yaml"
    file.write_text(file.read_text().replace("pod-leaf@1.0.0", "site@1.0.0"))
    answer = auditor("-C", str(pod.folder), "baseline", "show", "leaf-01", "--why")
    assert answer.code == 0
    block = answer.out[answer.out.index("fabric.fec") :].split("\n", 5)
    assert block[0] == "fabric.fec  warning  interface[@compute].fec = fc"
    assert "from  baselines/site/1.0.0.yaml:5 site@1.0.0" in block[2]
    assert "by    site@1.0.0 (baselines/assignments.yaml:4)" in block[3]
    assert "over  baselines/pod-leaf/1.0.0.yaml:" in block[4]
    assert "= rs (error)" in block[4]
    plain = auditor("-C", str(pod.folder), "baseline", "show", "leaf-01", "--format", "json").report
    for line in plain["versions"][0]["lines"] + plain["versions"][0]["params"]:
        assert line["origin"]["file"]
        assert line["origin"]["line"]
        assert line["route"][0]["baseline"] == "site@1.0.0"
    assert auditor("-C", str(pod.folder), "baseline", "show", "leaf-77").code == 2


def test_a_difference_ends_with_one_and_equal_meaning_with_zero(auditor: Auditor, pod: Pod) -> None:
    new_version(pod)
    new_version(pod, wants="202411.3", number="1.2.0")
    words = ("-C", str(pod.folder), "baseline", "diff", "pod-leaf@1.0.0")
    answer = auditor(*words, "pod-leaf@1.1.0")
    assert answer.code == 1
    assert "in {202411.3} -> in {202411.4}" in answer.out
    assert "`firmware.os`" in auditor(*words, "pod-leaf@1.1.0", "--format", "markdown").out
    assert [line["parts"] for line in auditor(*words, "pod-leaf@1.1.0", "--format", "json").report["lines"]] == [["value"]]
    assert auditor(*words, "pod-leaf@1.2.0").code == 0
    missing = auditor(*words, "pod-leaf@9.9.9")
    assert (missing.code, "pod-leaf has 1.0.0, 1.1.0, 1.2.0" in missing.err) == (2, True)


def test_a_released_file_that_changes_is_refused_with_both_digests(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    assert "released pod-leaf@1.0.0" in auditor("-C", folder, "baseline", "freeze", "pod-leaf@1.0.0").out
    assert auditor("-C", folder, "baseline", "lint").code == 0
    file = pod.folder / "baselines" / "pod-leaf" / "1.0.0.yaml"
    file.write_text(file.read_text().replace("202411.3", "202411.9"))
    answer = auditor("-C", folder, "baseline", "lint")
    assert answer.code == 2
    assert "pod-leaf/1.0.0.yaml: pod-leaf@1.0.0 is released and has been changed" in answer.err


def test_a_device_is_judged_by_the_version_that_counts_when_it_was_seen(auditor: Auditor, pod: Pod) -> None:
    new_version(pod)
    roll_out(pod)
    words = (
        "-C",
        str(pod.folder),
        "check",
        "--no-store",
        "--device",
        "leaf-01",
        "--only",
        "firmware.os",
        "--format",
        "json",
        "--from",
    )
    codes = {hour: auditor(*words, pod.capture("clean", hour)) for hour in (3, 5, 9)}
    assert {hour: len(answer.report["findings"]) for hour, answer in codes.items()} == {3: 0, 5: 0, 9: 1}
    assert codes[9].report["findings"][0]["origin"]["version"] == "1.1.0"
    assert codes[9].code == 1
    used = [
        {item["version"] for item in codes[hour].report["inputs"]["baselines"] if item["profile"] == "pod-leaf"}
        for hour in (3, 5, 9)
    ]
    assert used == [{"1.0.0"}, {"1.0.0", "1.1.0"}, {"1.1.0"}]
    shown = auditor("-C", str(pod.folder), "baseline", "show", "leaf-01", "--at", "2026-05-01T05:00:00Z").out
    assert "leaf-01: either pod-leaf@1.0.0" in shown
    assert "leaf-01: or pod-leaf@1.1.0" in shown


def test_the_gate_names_what_holds_the_next_wave_up(auditor: Auditor, pod: Pod) -> None:
    new_version(pod, wants="202411.3")
    folder = str(pod.folder)
    roll_out(pod, ROLLOUT.replace("leaf-01}, start: 2026", "leaf-05}, start: 2020"))
    gate = ("-C", folder, "rollout", "gate", "leaf-1.1")
    auditor("-C", folder, "check", "--from", pod.capture("clean", 1))
    assert (answer := auditor(*gate)).code == 0, answer.out
    assert "wave 2 may start" in answer.out
    auditor("-C", folder, "check", "--from", pod.capture("faulty", 2))
    answer = auditor(*gate)
    assert answer.code == 1
    assert "wave 1" in answer.out
    assert "lossless.roce_map" in answer.out
    status = json.loads(auditor("-C", folder, "rollout", "status", "--format", "json").out)
    assert [wave["state"] for wave in status[0]["waves"]] == ["soaked", "planned"]


def test_impact_tells_who_would_fail_and_stores_nothing(auditor: Auditor, pod: Pod) -> None:
    new_version(pod)
    folder = str(pod.folder)
    auditor("-C", folder, "check", "--from", pod.capture("clean", 1))
    runs = auditor("-C", folder, "runs", "list").out
    answer = auditor("-C", folder, "baseline", "impact", "pod-leaf@1.1.0", "--format", "json")
    assert answer.code == 1
    assert {device["device"] for device in answer.report["devices"]} == {f"leaf-0{number}" for number in range(1, 9)}
    assert answer.report["rules"]["firmware.os"] == {"new": 8, "fixed": 0, "staying": 0, "unjudged": 0}
    same = auditor("-C", folder, "baseline", "impact", "pod-leaf@1.0.0", "--device", "leaf-01")
    assert (same.code, "1 devices judged by their stored states: 0 would fail anew" in same.out) == (0, True)
    assert auditor("-C", folder, "runs", "list").out == runs
    assert auditor("-C", folder, "findings", "list").out == ""


def test_a_promoted_device_passes_by_its_own_values_and_nothing_is_overwritten(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    capture = pod.capture("clean", 1)
    auditor("-C", folder, "check", "--from", capture)
    words = ("-C", folder, "baseline", "promote", "leaf-01", "--table", "queue", "--table", "buffer", "--to", "pod-leaf@1.1.0")
    assert auditor(*words).code == 0
    file = pod.folder / "baselines" / "pod-leaf" / "1.1.0.yaml.review"
    text = file.read_text()
    assert "extends: [pod-leaf@1.0.0]" in text
    assert "queue[@compute,3].ecn_min_bytes" in text
    assert auditor(*words).code == 2
    assert file.read_text() == text
    file.rename(file.with_suffix(""))
    assert auditor("-C", folder, "baseline", "lint").code == 0
    words = ("-C", folder, "check", "--no-store", "--device", "leaf-0[12]", "--baseline", "pod-leaf@1.1.0", "--format", "json")
    report = auditor(*words, "--from", capture).report
    assert report["findings"] == []
    assert report["coverage"]["results"]["pass"] > 100


def test_a_waived_finding_is_waived_in_the_next_run_and_its_end_is_one_finding(auditor: Auditor, pod: Pod) -> None:
    folder = str(pod.folder)
    found = auditor("-C", folder, "check", "--from", pod.capture("faulty", 1), "--format", "json").report["findings"]
    chosen = next(finding for finding in found if finding["rule"] == "lossless.buffer_mode")
    words = ("--owner", "netops", "--reason", "case 4711", "--expires")
    assert auditor("-C", folder, "findings", "waive", chosen["fingerprint"][:10], *words, "2001-01-01").code == 2
    assert auditor("-C", folder, "findings", "waive", chosen["fingerprint"][:10], *words, "2999-01-01").code == 0
    again = auditor("-C", folder, "check", "--from", pod.capture("faulty", 2), "--format", "json").report["findings"]
    assert [finding["rule"] for finding in again if finding["waiver"]] == ["lossless.buffer_mode"]
    file = pod.folder / "baselines" / "waivers.yaml"
    file.write_text(file.read_text().replace("2999-01-01", "2001-01-01"))
    answer = auditor("-C", folder, "check", "--from", pod.capture("faulty", 3), "--format", "json")
    jsonschema.validate(answer.report, SCHEMA)
    (expired,) = [finding for finding in answer.report["findings"] if finding["rule"] == "baseline.waiver_expired"]
    assert expired["severity"] == "warning"
    assert chosen["fingerprint"] in expired["message"]
    assert [cause["title"] for cause in answer.report["causes"] if expired["fingerprint"] in cause["members"]] == [
        expired["message"]
    ]
    assert "baseline.waiver_expired" in auditor("-C", folder, "check", "--from", pod.capture("faulty", 4)).out
    file.unlink()
    after = auditor("-C", folder, "check", "--from", pod.capture("faulty", 5), "--format", "json").report
    assert not [finding for finding in after["findings"] if finding["rule"] == "baseline.waiver_expired"]
