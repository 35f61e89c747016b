"""A field case through the command: one host with a small MTU, RDMA below it, and neighbours that are allowed to differ."""

import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor, auditor

__all__ = ["auditor"]  # a fixture

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CASE = SHARED / "cases" / "03-mtu-across-vendors"
pytestmark = pytest.mark.skipif(not CASE.is_dir(), reason="the field cases are not beside the checkout")

BASELINES = {
    "case-leaf": """
profile: case-leaf
version: 1.0.0
changes: first version
expect:
  - {id: mtu.compute, at: "interface[@compute].mtu", eq: 9100, severity: error, why: the IP packet that must pass everywhere}
""",
    "case-host": """
profile: case-host
version: 1.0.0
changes: first version
expect:
  - {id: mtu.host, at: "interface[@compute].mtu", in: [4200, 9000], severity: critical, why: leaves room for RDMA of 4096}
  - {id: mtu.rdma, at: "rdma_port[mlx5_0,1].active_mtu", eq: 4096, severity: critical, why: peers run 4096}
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The case as a project: its intent as baselines, its links as the plan, the devices of the two platforms in scope."""
    for name, text in BASELINES.items():
        folder = tmp_path / "baselines" / name
        folder.mkdir(parents=True)
        (folder / "1.0.0.yaml").write_text(text.lstrip())
    (tmp_path / "baselines" / "assignments.yaml").write_text(
        "assignments:\n"
        "  - {select: {role: leaf}, use: [case-leaf@1.0.0]}\n"
        "  - {select: {role: gpu_host}, use: [case-host@1.0.0]}\n"
    )
    (tmp_path / "auditor.yaml").write_text("plan: plan.csv\n")
    (tmp_path / "fabric.yaml").write_text("planes:\n  compute: {rdma_mtu: 4096}\n")
    lines = (CASE / "links.csv").read_text().split()
    (tmp_path / "plan.csv").write_text("\n".join([f"{lines[0]},plane", *(f"{line},compute" for line in lines[1:])]) + "\n")
    (tmp_path / "inventory").mkdir()
    (tmp_path / "inventory" / "hosts.yaml").write_text(
        "leaf-a: {hostname: 10.0.0.1, platform: sonic, data: {role: leaf}}\n"
        "gpu-11: {hostname: 10.0.0.2, platform: linux, data: {role: gpu_host}}\n"
        "gpu-12: {hostname: 10.0.0.3, platform: linux, data: {role: gpu_host}}\n"
    )
    for device, platform in (("leaf-a", "sonic"), ("gpu-11", "linux"), ("gpu-12", "linux")):
        folder = tmp_path / "capture" / device
        shutil.copytree(CASE / device, folder)
        role = "leaf" if platform == "sonic" else "gpu_host"
        (folder / "device.yaml").write_text(f"platforms: [{platform}]\nrole: {role}\n")
    return tmp_path


def test_only_the_small_host_is_told_with_both_of_its_sizes(auditor: Auditor, project: Path) -> None:
    answer = auditor("-C", str(project), "check", "--from", str(project / "capture"), "--only", "mtu.*", "--format", "json")
    report = answer.report
    assert answer.code == 1
    told = {finding["rule"]: finding for finding in report["findings"] if finding["rule"].startswith("mtu.")}
    assert set(told) == {"mtu.host", "mtu.rdma", "mtu.path_too_small"}
    assert told["mtu.path_too_small"]["cause"] == told["mtu.host"]["cause"], "one port, one cause"
    del told["mtu.path_too_small"]
    assert {finding["severity"] for finding in told.values()} == {"critical"}
    assert told["mtu.host"]["address"].startswith("gpu-12:interface[ens1f0np0].mtu")
    assert told["mtu.host"]["observed"].startswith("1500")
    assert told["mtu.rdma"]["address"].startswith("gpu-12:rdma_port[mlx5_0,1].active_mtu")
    assert told["mtu.rdma"]["observed"].startswith("1024")
    assert "mtu 1500" in told["mtu.host"]["evidence"][0]["excerpt"]
    assert all(finding["devices"] == ["gpu-12"] for finding in told.values()), "gpu-11 with 4200 and leaf-a are as they may be"
    assert report["coverage"]["results"]["pass"] >= 7, "five ports of the leaf, and both MTUs of gpu-11"


def test_the_hosts_that_differ_from_their_switch_port_on_purpose_are_no_link_finding(auditor: Auditor, project: Path) -> None:
    answer = auditor(
        "-C", str(project), "check", "--from", str(project / "capture"), "--only", "mtu.link_ends_differ", "--format", "json"
    )
    assert answer.report["findings"] == []
    assert answer.report["coverage"]["results"]["pass"] == 2, "both cables to hosts: the switch port may be the larger one"
