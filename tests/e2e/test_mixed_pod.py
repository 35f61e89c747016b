"""Four vendors under one plan and one baseline: nothing is told of a healthy pod, and each fault is told once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auditor.lab.client import write_project
from auditor.lab.fabric import End, Fabric
from auditor.lab.server import Lab
from tests.e2e import mixed_pod
from tests.e2e.conftest import Auditor

FAULTS = {"leaf-01": "Ethernet0", "leaf-02": "Ethernet1/1", "spine-01": "Ethernet1/1", "spine-02": "et-0/0/1"}


def judged(auditor: Auditor, folder: Path, fabric: Fabric, *, live: bool = False) -> dict[str, Any]:
    project = folder / "project"
    mixed_pod.write(project, fabric)
    how = ("check", "--no-store", "--format", "json")
    if not live:
        return auditor("-C", str(project), *how, "--from", str(project / "capture")).report
    with Lab(project / "capture") as lab:
        write_project(lab, folder / "live", project)
        return auditor("-C", str(folder / "live"), *how).report


def told(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding["rule"], finding["address"]) for finding in report["findings"] if finding["severity"] != "information"]


def test_a_healthy_pod_is_silent_and_says_what_is_unsupported(auditor: Auditor, tmp_path: Path) -> None:
    report = judged(auditor, tmp_path, mixed_pod.pod())
    assert told(report) == []
    blind = {gap["device"] for gap in report["gaps"] if gap["table"] == "qos_port" and gap["reason"] == "unsupported"}
    assert "spine-02" in blind, "no capture proves what Junos prints of QoS"


def test_the_same_pod_live(auditor: Auditor, tmp_path: Path) -> None:
    report = judged(auditor, tmp_path, mixed_pod.pod(), live=True)
    assert told(report) == []


def test_a_fault_on_each_platform_is_told_once(auditor: Auditor, tmp_path: Path) -> None:
    fabric = mixed_pod.pod()
    for device, port in FAULTS.items():
        fabric.switches[device].ports[port].mtu = 1500
    host = fabric.hosts["gpu-02"]
    nic = next(nic for nic in host.nics.values() if fabric.wiring[End("gpu-02", nic.netdev)] == End("leaf-02", "Ethernet2/1"))
    nic.mtu = 1500
    report = judged(auditor, tmp_path, fabric)
    causes = {cause["id"] for cause in report["causes"] if cause["severity"] != "information"}
    places = {
        (cause, finding["address"].partition(".")[0])
        for cause in causes
        for finding in report["findings"]
        if finding["cause"] == cause
    }
    wanted = {f"{device}:interface[{port}]" for device, port in FAULTS.items()} | {f"gpu-02:interface[{nic.netdev}]"}
    assert {place for _, place in places} == wanted
    assert len(causes) == len(wanted), "each is one cause"
