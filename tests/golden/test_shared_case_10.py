"""A field case through the command: on one of four hosts two GPUs have exchanged adapters, on another GPUDirect RDMA is off."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor, auditor

__all__ = ["auditor"]  # a fixture

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CASE = SHARED / "cases" / "10-nccl-topology-nearest-nic-flipped"
pytestmark = pytest.mark.skipif(not CASE.is_dir(), reason="the field cases are not beside the checkout")

HOSTS = ("gpu-201", "gpu-202", "gpu-203", "gpu-204")
OUTLIER = "GPU 0's nearest NIC is mlx5_1 instead of mlx5_0{}GPU 1's nearest NIC is mlx5_0 instead of mlx5_1"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """The case as a capture: its files under their own names."""
    for name in HOSTS:
        shutil.copytree(CASE / name, tmp_path / "capture" / name)
        (tmp_path / "capture" / name / "device.yaml").write_text("platforms: [linux]\nrole: gpu_host\nhardware_model: HGX-4\n")
    return tmp_path / "capture"


def report(auditor: Auditor, capture: Path, *more: str) -> dict:
    done = auditor("check", "--from", str(capture), "--format", "json", *more)
    assert done.code == 1, done.err
    return json.loads(done.out)


def test_one_finding_for_the_exchanged_pair_one_for_gpudirect_and_nothing_else(auditor: Auditor, capture: Path) -> None:
    found = report(auditor, capture)["findings"]
    said = sorted((item["rule"], item["severity"], tuple(item["devices"])) for item in found if item["severity"] != "information")
    assert said == [("nccl.gdr_off", "error", ("gpu-202",)), ("nccl.topology_outlier", "error", ("gpu-203",))]
    outlier = next(item for item in found if item["rule"] == "nccl.topology_outlier")
    assert OUTLIER.format(", ") in outlier["message"]
    shown = "".join(item["excerpt"] for item in outlier["evidence"])
    assert 'gpu dev="0"' in shown
    assert 'name="mlx5_1"' in shown, "the evidence shows the GPU and the adapter beside it"
    off = next(item for item in found if item["rule"] == "nccl.gdr_off")
    assert "all 4 RDMA ports (mlx5_0, mlx5_1, mlx5_2, mlx5_3)" in off["message"]
    assert 'gdr="0"' in off["evidence"][0]["excerpt"]


def test_two_causes_and_no_more(auditor: Auditor, capture: Path) -> None:
    causes = [cause for cause in report(auditor, capture)["causes"] if cause["severity"] != "information"]
    assert sorted(cause["severity"] for cause in causes) == ["error", "error"]


def test_against_the_reference_host_frozen_it_is_the_same_one_finding(auditor: Auditor, capture: Path, tmp_path: Path) -> None:
    """gpu-201 is stored, its topology promoted and assigned: then the frozen shape judges, and the peers keep silent."""
    project = tmp_path / "project"
    (project / "inventory").mkdir(parents=True)
    (project / "auditor.yaml").write_text("")
    (project / "inventory" / "hosts.yaml").write_text(
        "".join(
            f"{name}: {{hostname: 192.0.2.{at}, platform: linux, data: {{role: gpu_host, hardware_model: HGX-4}}}}\n"
            for at, name in enumerate(HOSTS, 1)
        )
    )
    assert auditor("-C", str(project), "check", "--from", str(capture)).code == 1
    done = auditor("-C", str(project), "baseline", "promote", "gpu-201", "--table", "nccl_*", "--to", "hgx@1.0.0")
    assert done.code == 0, done.err
    review = project / "baselines" / "hgx" / "1.0.0.yaml.review"
    review.rename(review.with_suffix(""))
    (project / "baselines" / "assignments.yaml").write_text("assignments:\n  - {select: {role: gpu_host}, use: [hgx@1.0.0]}\n")
    lint = auditor("-C", str(project), "baseline", "lint")
    assert lint.code == 0, lint.out + lint.err
    done = auditor("-C", str(project), "check", "--from", str(capture), "--no-store", "--format", "json")
    found = [item for item in json.loads(done.out)["findings"] if item["severity"] != "information"]
    assert sorted((item["rule"], tuple(item["devices"])) for item in found) == [
        ("nccl.gdr_off", ("gpu-202",)),
        ("nccl.topology_changed", ("gpu-203",)),
    ]
    changed = next(item for item in found if item["rule"] == "nccl.topology_changed")
    assert OUTLIER.format("; ") in changed["message"]
    assert changed["severity"] == "error"
