"""Day one: a baseline from the fleet that is there, without a line written by hand; and what it must not learn."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor, Pod

ROLES = {"leaf": "learned-leaf", "spine": "learned-spine", "gpu_host": "learned-host"}


@pytest.fixture
def bare(pod: Pod) -> Pod:
    """The pod before anybody wrote a baseline."""
    for file in sorted((pod.folder / "baselines").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    return pod


def learn(auditor: Auditor, pod: Pod, role: str, capture: str | None, *more: str) -> tuple[int, str, Path]:
    """Exit code, what was said, and the file."""
    file = pod.folder / "baselines" / ROLES[role] / "1.0.0.yaml"
    words = ["--from", capture] if capture else []
    answer = auditor("-C", str(pod.folder), "baseline", "learn", "--role", role, *words, "-o", str(file), *more)
    return answer.code, answer.out + answer.err, file


def assign(pod: Pod) -> None:
    lines = [f"  - {{select: {{role: {role}}}, use: [{profile}@1.0.0]}}" for role, profile in ROLES.items()]
    (pod.folder / "baselines" / "assignments.yaml").write_text("\n".join(["assignments:", *lines, ""]))


def teach(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 1)
    for role in ROLES:
        assert learn(auditor, pod, role, capture, "--least", "2")[0] == 0
    assign(pod)


def test_a_clean_capture_teaches_a_baseline_that_lints_and_finds_the_pod_clean(auditor: Auditor, bare: Pod) -> None:
    teach(auditor, bare)
    lint = auditor("-C", str(bare.folder), "baseline", "lint")
    assert (lint.code, lint.err) == (0, "")
    answer = auditor("-C", str(bare.folder), "check", "--from", bare.capture("clean", 2), "--format", "json")
    assert answer.code == 0
    assert answer.report["findings"] == []


def test_what_was_learned_finds_the_four_faults_of_the_faulty_pod(auditor: Auditor, bare: Pod) -> None:
    teach(auditor, bare)
    answer = auditor("-C", str(bare.folder), "check", "--from", bare.capture("faulty", 3), "--format", "json")
    assert answer.code == 1
    assert len(answer.report["causes"]) == 4
    seen = {(finding["rule"], tuple(finding["devices"])) for finding in answer.report["findings"]}
    assert {
        ("mtu.interface_compute", ("leaf-03",)),
        ("lossless.dscp_map_azure_26_traffic_class", ("leaf-05",)),
        ("lossless.buffer_model", ("leaf-07",)),
        ("firmware.not_allowed", ("gpu-04",)),
    } <= seen
    learned = [finding for finding in answer.report["findings"] if finding["origin"]["profile"].startswith("learned-")]
    assert all("had it on 2026-05-01" in finding["message"] for finding in learned)


def test_the_file_reads_as_if_a_person_had_written_it(auditor: Auditor, bare: Pod) -> None:
    _, said, file = learn(auditor, bare, "leaf", bare.capture("clean", 1))
    text = file.read_text()
    assert '"interface[@compute].mtu", eq: 9100' in text
    assert "8 of 8 leaf devices of model Mellanox-SN5600-O128" in text
    assert "# 64 of 64 objects" in text
    for identity in ("MT2501X0", "leaf-01", "94:6d:ae", "etp1a", "4f1d0c2b7"):
        assert identity not in text
    assert "Nothing is assigned" in said


def test_a_dissenter_is_named_beside_the_line_and_a_doubt_is_left_open(auditor: Auditor, bare: Pod) -> None:
    code, said, file = learn(auditor, bare, "leaf", bare.capture("faulty", 1))
    text = file.read_text()
    assert code == 0
    assert "63 of 64 objects; not leaf-03:interface[Ethernet4] (1500, mtu.path_too_small)" in text
    assert "buffer.model: static on 7; dynamic on 1 (leaf-07)" in text
    assert "lossless.buffer_model" not in text
    assert "too few agree: 2 places" in said


def test_what_the_whole_fleet_does_wrong_is_not_learned_and_said(auditor: Auditor, bare: Pod) -> None:
    capture = bare.capture("clean", 1)
    for number in range(1, 9):
        file = bare.output(capture, f"leaf-{number:02}", "show runningconfiguration all")
        text = json.loads(file.read_text())
        text["DSCP_TO_TC_MAP"]["AZURE"]["26"] = "0"
        file.write_text(json.dumps(text, indent=4))
    _, said, file = learn(auditor, bare, "leaf", capture)
    assert "the whole fleet may be wrong: dscp_map[AZURE,26].traffic_class: 0 on 8 of 8" in said
    assert "lossless.priority_chain_broken" in said
    assert "dscp_map_azure_26" not in file.read_text()
    assert "dscp_map_azure_46" in file.read_text()


def test_what_is_stored_teaches_the_same_as_the_capture(auditor: Auditor, bare: Pod) -> None:
    capture = bare.capture("clean", 1)
    (bare.folder / "baselines" / "assignments.yaml").write_text("assignments: []\n")
    assert auditor("-C", str(bare.folder), "check", "--from", capture).code == 0
    _, _, file = learn(auditor, bare, "leaf", capture)
    from_capture = file.read_text()
    file.unlink()
    _, _, file = learn(auditor, bare, "leaf", None)
    assert [line for line in file.read_text().splitlines() if line.startswith("  - {")] == [
        line for line in from_capture.splitlines() if line.startswith("  - {")
    ]


def test_without_a_project_the_capture_alone_teaches(
    auditor: Auditor, pod: Pod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    capture = pod.capture("clean", 1)
    monkeypatch.chdir(empty)
    file = empty / "site-leaf" / "1.0.0.yaml"
    assert auditor("baseline", "learn", "--role", "leaf", "--from", capture, "-o", str(file)).code == 0
    assert '"interface[*].mtu", eq: 9100' in file.read_text()


def test_what_cannot_be_learned_is_one_clear_error(auditor: Auditor, bare: Pod) -> None:
    capture = bare.capture("clean", 1)
    code, said, file = learn(auditor, bare, "spine", capture)
    assert code == 2
    assert "2 spine devices" in said
    assert "fewer than 3" in said
    assert not file.exists()
    folder = str(bare.folder)
    target = str(bare.folder / "baselines" / "all" / "1.0.0.yaml")
    mixed = auditor("-C", folder, "baseline", "learn", "--from", capture, "-o", target)
    assert mixed.code == 2
    assert "linux, sonic" in mixed.err
    wrong = auditor("-C", folder, "baseline", "learn", "--role", "leaf", "--from", capture, "-o", "leaf.yaml")
    assert wrong.code == 2
    assert "<profile>/<version>.yaml" in wrong.err


def test_a_version_that_is_there_is_never_overwritten(auditor: Auditor, bare: Pod) -> None:
    capture = bare.capture("clean", 1)
    _, _, file = learn(auditor, bare, "leaf", capture)
    before = file.read_text()
    code, said, _ = learn(auditor, bare, "leaf", capture)
    assert code == 2
    assert "exists already" in said
    assert file.read_text() == before
