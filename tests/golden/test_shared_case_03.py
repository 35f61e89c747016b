"""A field case through the command: MTUs of four vendors, from files and live; one link of two sizes, one small host."""

import os
from pathlib import Path
from typing import Any

import pytest

from auditor.lab.client import write_project
from auditor.lab.server import Lab
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


DEVICES = {
    "leaf-a": ("sonic", "leaf"), "leaf-e": ("arista_eos", "leaf"), "spine-j": ("juniper_junos", "spine"),
    "gpu-11": ("linux", "gpu_host"), "gpu-12": ("linux", "gpu_host"),
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The case as a project: its intent as baselines, its links as the plan, its files as a capture.

    Each answer of leaf-e and spine-j is about one port: all of a device's are one `show interfaces`, marked as an excerpt.
    """
    root = tmp_path / "project"
    for name, text in BASELINES.items():
        folder = root / "baselines" / name
        folder.mkdir(parents=True)
        (folder / "1.0.0.yaml").write_text(text.lstrip())
    (root / "baselines" / "assignments.yaml").write_text(
        "assignments:\n"
        "  - {select: {role: [leaf, spine]}, use: [case-leaf@1.0.0]}\n"
        "  - {select: {role: gpu_host}, use: [case-host@1.0.0]}\n"
    )
    (root / "auditor.yaml").write_text("plan: plan.csv\n")
    (root / "fabric.yaml").write_text("planes:\n  compute: {rdma_mtu: 4096}\n")
    lines = (CASE / "links.csv").read_text().split()
    (root / "plan.csv").write_text("\n".join([f"{lines[0]},plane", *(f"{line},compute" for line in lines[1:])]) + "\n")
    (root / "inventory").mkdir()
    (root / "inventory" / "hosts.yaml").write_text(
        "".join(
            f"{name}: {{hostname: 10.0.0.{at}, platform: {platform}, data: {{role: {role}}}}}\n"
            for at, (name, (platform, role)) in enumerate(DEVICES.items(), start=1)
        )
    )
    for device, (platform, role) in DEVICES.items():
        folder = root / "capture" / device
        folder.mkdir(parents=True)
        files = sorted((CASE / device).iterdir())
        outputs = ""
        if platform in ("arista_eos", "juniper_junos"):
            (folder / "ports.txt").write_text("\n".join(file.read_text() for file in files))
            outputs = "outputs:\n  - {file: ports.txt, command: show interfaces, excerpt: [interface]}\n"
        else:
            for file in files:
                (folder / file.name).write_bytes(file.read_bytes())
        (folder / "device.yaml").write_text(f"platforms: [{platform}]\nrole: {role}\n{outputs}")
    return root


def link(report: dict[str, Any]) -> None:
    """The link of two sizes, once, with what each device printed; nothing of the ports whose numbers only look different."""
    told = [finding for finding in report["findings"] if finding["rule"].startswith("mtu.")]
    found = [finding for finding in told if "spine-j" in finding["devices"]]
    assert len({finding["cause"] for finding in found}) == 1, "one link, one cause"
    (differs,) = [finding for finding in found if finding["rule"] == "mtu.link_ends_differ"]
    assert (differs["severity"], set(differs["devices"])) == ("error", {"leaf-a", "spine-j"})
    shown = "\n".join(proof["excerpt"] for proof in differs["evidence"])
    assert "9100" in shown and "9086" in shown, "the value that each device printed"
    assert "leaf-e" not in {device for finding in told for device in finding["devices"]}
    ports = " ".join(finding["address"] for finding in told)
    assert "et-0/0/4" not in ports and "Ethernet16]" not in ports and "Ethernet24]" not in ports


def host(report: dict[str, Any]) -> None:
    """The host with both of its sizes; gpu-11 with 4200 is as it may be."""
    told = {finding["rule"]: finding for finding in report["findings"] if "gpu-12" in finding["devices"]}
    assert {"mtu.host", "mtu.rdma"} <= set(told)
    assert {told[rule]["severity"] for rule in ("mtu.host", "mtu.rdma")} == {"critical"}
    assert told["mtu.host"]["address"].startswith("gpu-12:interface[ens1f0np0].mtu")
    assert told["mtu.host"]["observed"].startswith("1500")
    assert told["mtu.rdma"]["address"].startswith("gpu-12:rdma_port[mlx5_0,1].active_mtu")
    assert told["mtu.rdma"]["observed"].startswith("1024")
    assert "mtu 1500" in told["mtu.host"]["evidence"][0]["excerpt"]
    if "mtu.path_too_small" in told:
        assert told["mtu.path_too_small"]["cause"] == told["mtu.host"]["cause"], "one port, one cause"
    assert "gpu-11" not in {device for finding in report["findings"] for device in finding["devices"]}


def test_from_files(auditor: Auditor, project: Path) -> None:
    answer = auditor("-C", str(project), "check", "--from", str(project / "capture"), "--only", "mtu.*", "--format", "json")
    assert answer.code == 1
    link(answer.report)
    host(answer.report)


def test_live_from_replayed_switches(auditor: Auditor, project: Path, tmp_path: Path) -> None:
    """The hosts' recordings are of commands that are never sent, so live they are gaps; the switches' are read as from files."""
    with Lab(project / "capture") as lab:
        write_project(lab, tmp_path / "live", project)
        answer = auditor("-C", str(tmp_path / "live"), "check", "--only", "mtu.*", "--no-store", "--format", "json")
    assert answer.code == 1
    link(answer.report)
    assert {"gpu-11", "gpu-12"} <= {gap["device"] for gap in answer.report["gaps"]}
