"""Firmware and the library's environment through the installed command: each fault one cause, with the line that proves it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import Auditor, Pod

HOST = "gpu-02"


def changed(pod: Pod, command: str, change: Callable[[str], str]) -> str:
    """A clean capture in which one answer of one host is another."""
    capture = pod.capture("clean", 1)
    file = pod.output(capture, HOST, command)
    before = file.read_text()
    file.write_text(change(before))
    assert file.read_text() != before
    return capture


def check(auditor: Auditor, pod: Pod, capture: str) -> dict[str, Any]:
    done = auditor("-C", str(pod.folder), "check", "--from", capture, "--format", "json")
    assert done.code in (0, 1), done.err
    return done.report


def told(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Rule and severity of what was found, once each."""
    return sorted({(finding["rule"], finding["severity"]) for finding in report["findings"]})


def test_an_image_that_waits_is_one_cause_with_its_line(auditor: Auditor, pod: Pod) -> None:
    def wait(text: str) -> str:
        head, stored, tail = text.partition("      stored:\n")
        return head + stored + tail.replace("28.43", "28.45", 2)

    report = check(auditor, pod, changed(pod, "devlink dev info", wait))
    assert told(report) == [("firmware.pending", "warning")]
    assert len(report["causes"]) == 1
    (proof, *_) = report["findings"][0]["evidence"]
    assert (proof["source"], "fw.version 28.45" in proof["excerpt"]) == ("devlink_dev_info", True)


def test_the_same_image_waiting_on_every_adapter_is_the_hosts(auditor: Auditor, pod: Pod) -> None:
    def wait(text: str) -> str:
        blocks = (block.partition("      stored:\n") for block in text.split("pci/"))
        return "pci/".join(head + stored + tail.replace("28.43", "28.45") for head, stored, tail in blocks)

    report = check(auditor, pod, changed(pod, "devlink dev info", wait))
    assert len(report["findings"]) == 8
    assert [cause["kind"] for cause in report["causes"]] == ["device"]


@pytest.mark.parametrize("answer", ["sh: 1: devlink: not found\n", "Failed to connect to devlink Netlink\n"])
def test_a_host_whose_driver_cannot_tell_is_clean_and_whole(auditor: Auditor, pod: Pod, answer: str) -> None:
    capture = changed(pod, "devlink dev info", lambda _: answer)
    done = auditor("-C", str(pod.folder), "check", "--from", capture, "--format", "json")
    assert (done.code, done.report["findings"]) == (0, [])


@pytest.mark.parametrize(("system", "faults"), [("202411.3", 0), ("202505.1", 32)])
def test_a_switch_that_does_not_go_with_the_adapters(auditor: Auditor, pod: Pod, system: str, faults: int) -> None:
    file = pod.folder / "baselines" / "pod-host" / "1.0.0.yaml"
    file.write_text(
        file.read_text()
        + "  firmware.far_end_not_allowed:\n"
        + '    - if: {component: "nic.*", psid: [MT_0000000838], version: ">=28.43"}\n'
        + f'      then: {{component: os, in: ["{system}"]}}\n'
        + "      severity: warning\n"
        + "      why: tested together\n"
    )
    report = check(auditor, pod, pod.capture("clean", 1))
    found = [finding for finding in report["findings"] if finding["rule"] == "firmware.far_end_not_allowed"]
    assert len(found) == faults
    assert {finding["severity"] for finding in found} <= {"warning"}
    assert all(len(finding["devices"]) == 2 and len(finding["evidence"]) == 2 for finding in found)
    assert len({finding["cause"] for finding in found}) == (8 if faults else 0), "one for each switch"


def test_a_list_and_an_index_for_another_machine(auditor: Auditor, pod: Pod) -> None:
    def other(text: str) -> str:
        return text.replace("==mlx5_0,", "==mlx5_9,") + "NCCL_IGNORE_NET_MISMATCH=1\n"

    report = check(auditor, pod, changed(pod, "cat /etc/nccl.conf", other))
    assert told(report) == [("nccl.checks_disabled", "warning"), ("nccl.hca_list_wrong", "error")]
    (wrong,) = (finding for finding in report["findings"] if finding["rule"] == "nccl.hca_list_wrong")
    assert "leaves out mlx5_0 of plane compute; names mlx5_9, which this host does not have" in wrong["message"]
    assert "NCCL_IB_HCA" in wrong["evidence"][0]["excerpt"]


def test_a_port_that_lost_its_address(auditor: Auditor, pod: Pod) -> None:
    def lose(text: str) -> str:
        head, entry, tail = text.partition("\t\t\tGID[  3]:")
        return head + tail.partition("\n")[2] if entry else text

    report = check(auditor, pod, changed(pod, "ibv_devinfo -v", lose))
    assert told(report) == [("nccl.gid_index_wrong", "critical")]
    assert "mlx5_0 has no address at that index, of 8 ports in use" in report["findings"][0]["message"]
