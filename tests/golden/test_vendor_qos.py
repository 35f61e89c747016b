"""What vendors configure for RoCE raises no alarm once `fabric.yaml` says what they say; and one wrong class does."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.evaluate.job import run
from auditor.model import Device, DeviceJob, PlanEnd, PlannedPort, PlanSlice, RawOutput, Severity, Verdict, digest
from auditor.plan.fabric import parse_fabric
from auditor.platforms import platforms
from tests.unit.platforms.answers import recorded

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[3] / "shared")
CAPTURES = SHARED / "captures" / "switch"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no captures beside the checkout")
LOSSLESS = "planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3, cnp_dscp: 48}]}}"
LOSSY = "planes: {compute: {classes: [{name: one, dscp: [1, 2], priority: 1, lossless: false}]}}"
BY_VLAN = "planes: {compute: {rdma_mtu: 4096}}"
STATUS = recorded("cumulus_linux", "roce_status", "lossless")


def judged(platform: str, bodies: Iterable[tuple[str, str, str]], fabric: str, ports: Iterable[str]):
    """The outcome of one leaf whose ports lie in the plane, from (source, port or "", body)."""
    outputs = []
    for key, port, body in bodies:
        source = platforms()[platform].source(key)
        asked = {"port": port} if port else {}
        command = source.command.format(**asked) if port else source.command
        when = datetime(2026, 3, 2, tzinfo=UTC)
        outputs.append(RawOutput("leaf-1", platform, key, command, body, digest(body), when, asked, exit_status=0))
    planned = [PlannedPort(port, "compute", "", PlanEnd("gpu", port), "gpu_host", groups=("compute", "in_use")) for port in ports]
    device, plan = Device("leaf-1", (platform,), role="leaf"), PlanSlice(tuple(planned))
    return run(DeviceJob(device, tuple(outputs), (), plan, parse_fabric(fabric), only=("lossless.*",)))


def loud(outcome) -> set[tuple[str, str]]:
    assert all(result.verdict is not Verdict.ERROR for result in outcome.results)
    return {(finding.rule, finding.object) for finding in outcome.findings if finding.severity.rank <= Severity.WARNING.rank}


def passed(outcome) -> set[str]:
    return {result.rule for result in outcome.results if result.passed}


def test_cumulus_lossless_is_what_it_says() -> None:
    outcome = judged(
        "cumulus_linux", [("roce", "", recorded("cumulus_linux", "roce", "lossless")), ("roce_status", "swp1", STATUS)], LOSSLESS,
        ["swp1"],
    )  # fmt: skip
    assert loud(outcome) == set()
    assert {"lossless.trust_without_dscp", "lossless.other_class_in_lossless_queue"} <= passed(outcome)


def test_cumulus_with_another_class_in_the_lossless_queue_is_told() -> None:
    bodies = [("roce", "", recorded("cumulus_linux", "roce", "lossless")), ("roce_status", "swp1", STATUS)]
    intent = LOSSLESS.replace("}]", "}, {name: bulk, dscp: [27], priority: 2, lossless: false}]")
    assert loud(judged("cumulus_linux", bodies, intent, ["swp1"])) == {
        ("lossless.other_class_in_lossless_queue", "leaf-1:dscp_map[roce,27]")
    }


def test_cumulus_that_trusts_no_dscp_is_told() -> None:
    bodies = [("roce_status", "swp1", STATUS.replace("pcp,dscp", "pcp     "))]
    assert loud(judged("cumulus_linux", bodies, LOSSLESS, ["swp1"])) == {("lossless.trust_without_dscp", "leaf-1:qos_port[swp1]")}


def test_a_lossy_cumulus_is_what_it_says() -> None:
    bodies = [("roce_status", "swp1", recorded("cumulus_linux", "roce_status", "lossy"))]
    assert loud(judged("cumulus_linux", bodies, LOSSY, ["swp1"])) == set()


@captures
def test_cumulus_with_one_ingress_pool_is_what_it_says() -> None:
    body = (CAPTURES / "cumulus" / "roce_cl515_single_ipool" / "nv_show_qos_roce.txt").read_text("utf-8")
    status = (CAPTURES / "cumulus" / "roce_cl511" / "nv_show_interface_swp16_qos_roce_status.txt").read_text("utf-8")
    outcome = judged("cumulus_linux", [("roce", "", body), ("roce_status", "swp16", status)], LOSSLESS, ["swp16"])
    assert loud(outcome) == set()
    assert "lossless.trust_without_dscp" in passed(outcome)


@captures
def test_switches_that_classify_by_vlan_priority_are_what_they_say() -> None:
    """The intent names DSCPs; a plane that has none says nothing against ports that trust the VLAN priority alone."""
    huawei = [
        ("qos_port", "", (CAPTURES / "huawei_vrp" / "ce6800_cm" / "display_qos_configuration_interface.txt").read_text("utf-8")),
        ("ecn", "", (CAPTURES / "huawei_vrp" / "ce6800_ecn" / "display_qos_ecn_threshold_interface.txt").read_text("utf-8")),
    ]
    assert loud(judged("huawei_vrp", huawei, BY_VLAN, ["100GE1/0/2", "100GE1/0/3"])) == set()
    nxos = (CAPTURES / "nxos" / "arc_n93180_10_3" / "show_running_config_interface.txt").read_text("utf-8")
    assert loud(judged("cisco_nxos", [("running_qos", "", nxos)], BY_VLAN, ["Ethernet1/1", "Ethernet1/5"])) == set()


def test_nx_os_with_its_policies_is_what_it_says() -> None:
    body = recorded("cisco_nxos", "running_qos", "four_kinds_of_ports")
    outcome = judged("cisco_nxos", [("running_qos", "", body)], LOSSLESS, ["Ethernet1/1"])
    assert loud(outcome) == set()


JUNOS = [
    ("class_of_service", "", recorded("juniper_junos", "class_of_service", "dcqcn_by_pattern")),
    ("interfaces_json", "", recorded("juniper_junos", "interfaces_json", "routed_switched_and_shut")),
]


def test_junos_as_juniper_sets_it_for_rdma_is_what_it_says() -> None:
    outcome = judged("juniper_junos", JUNOS, LOSSLESS, ["et-0/0/1", "et-0/0/2"])
    assert loud(outcome) == set()
    rules = {"trust_without_dscp", "other_class_in_lossless_queue", "watchdog_missing", "watchdog_wrong_queues"}
    assert {f"lossless.{rule}" for rule in rules} <= passed(outcome)


@pytest.mark.parametrize(
    ("was", "instead", "rule", "place"),
    [
        ("                dscp fabric;", "                ieee-802.1 fabric;", "trust_without_dscp", "qos_port[et-0/0/1]"),
        ("        pfc-watchdog;\n", "", "watchdog_missing", "qos_port[et-0/0/1]"),
        ("        explicit-congestion-notification;\n", "", "ecn_never_marks", "queue[et-0/0/1,4]"),
    ],
)
def test_junos_with_one_line_wrong_is_told(was: str, instead: str, rule: str, place: str) -> None:
    (key, port, body), ports = JUNOS
    assert was in body
    outcome = judged("juniper_junos", [(key, port, body.replace(was, instead)), ports], LOSSLESS, ["et-0/0/1"])
    assert loud(outcome) == {(f"lossless.{rule}", f"leaf-1:{place}")}
