"""A field case through the command: broken answers are not configurations, from files and live from replayed switches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.lab.client import write_project
from auditor.lab.server import Lab
from tests.e2e.conftest import Answer, Auditor, auditor

__all__ = ["auditor"]  # a fixture

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CASE = SHARED / "cases" / "15-error-text-stored-as-configuration"
pytestmark = pytest.mark.skipif(not CASE.is_dir(), reason="the field cases are not beside the checkout")

PORTS = ("Ethernet1/1", "Ethernet2/1")
BASELINE = "profile: case-leaf\nversion: 1.0.0\nchanges: first version\nexpect:\n" + "".join(
    f'  - {{id: lossless.pfc_{at}, at: "qos_port[{port}].pfc_priorities@configured", eq: [3], severity: error, why: no drop}}\n'
    f'  - {{id: lossless.dog_{at}, at: "queue[{port},3].watchdog_detection_s@configured", eq: 0.2, severity: error, why: w}}\n'
    for at, port in enumerate(PORTS, start=1)
)
UNUSABLE = ("sw-a", "sw-b", "sw-c")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The case as a project: its intent as a baseline, its files as a capture of six switches."""
    folder = tmp_path / "project"
    (folder / "baselines" / "case-leaf").mkdir(parents=True)
    (folder / "baselines" / "case-leaf" / "1.0.0.yaml").write_text(BASELINE)
    (folder / "baselines" / "assignments.yaml").write_text("assignments:\n  - {select: {role: leaf}, use: [case-leaf@1.0.0]}\n")
    (folder / "auditor.yaml").write_text("")
    (folder / "inventory").mkdir()
    names = sorted(path.name for path in CASE.iterdir() if path.is_dir())
    (folder / "inventory" / "hosts.yaml").write_text(
        "".join(
            f"{name}: {{hostname: 192.0.2.{at}, platform: arista_eos, data: {{role: leaf}}}}\n"
            for at, name in enumerate(names, start=1)
        )
    )
    for name in names:
        target = folder / "capture" / name
        target.mkdir(parents=True)
        outputs = ""
        for at, file in enumerate(sorted((CASE / name).glob("*.txt"))):
            (target / file.name).write_bytes(file.read_bytes())
            outputs += f"  - {{file: {file.name}, command: {file.stem.replace('_', ' ')}}}\n"
            assert at < 2
        (target / "device.yaml").write_text(f"platforms: [arista_eos]\nrole: leaf\noutputs:\n{outputs}")
    return folder


def judge(answer: Answer) -> None:
    report = answer.report
    assert answer.code == 1, "the one true fault is an error"
    (cause,) = report["causes"]
    assert cause["severity"] == "error"
    members = {item["rule"]: item for item in report["findings"] if item["cause"] == cause["id"]}
    assert members.keys() <= {"lossless.pfc_1", "lossless.dog_1"}, "without PFC there is no queue to watch: one cause"
    assert members["lossless.pfc_1"]["devices"] == ["sw-f"]
    assert all("Ethernet1/1" in item["address"] for item in members.values())
    blind = {
        gap["device"] for gap in report["gaps"] if gap["table"] == "qos_port" and gap["reason"] not in ("unsupported", "stale")
    }
    assert blind >= set(UNUSABLE)
    assert not [item for item in report["findings"] if set(item["devices"]) & {*UNUSABLE, "sw-d", "sw-e"}]
    assert report["coverage"]["results"]["not_evaluated"] >= 5, "sw-a, sw-b, and what stands behind the cut of sw-c"


def test_from_files(auditor: Auditor, project: Path) -> None:
    answer = auditor(
        "-C", str(project), "check", "--from", str(project / "capture"), "--only", "lossless.*", "--no-store", "--format", "json"
    )
    judge(answer)
    shown = [line for item in answer.report["findings"] for proof in item["evidence"] for line in proof["excerpt"].splitlines()]
    assert any("interface Ethernet1/1" in line for line in shown)


def test_live_from_replayed_switches(auditor: Auditor, project: Path, tmp_path: Path) -> None:
    with Lab(project / "capture") as lab:
        write_project(lab, tmp_path / "live", project)
        judge(auditor("-C", str(tmp_path / "live"), "check", "--only", "lossless.pfc_*", "--no-store", "--format", "json"))
