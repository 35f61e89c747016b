"""A whole audit of generated fabrics: a healthy one is clean, and each fault is one cause at its place.

Generated outputs prove flow and folding, never a parser.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from auditor.lab.fabric import Fabric, Size, design
from auditor.lab.faults import FAULTS, inject
from auditor.lab.project import CLEAN_AT, generate, write_capture
from auditor.model import Finding, GapReason, Run, Severity, Verdict
from auditor.workflows import check

MINI = Path(__file__).parents[3] / "fixtures" / "fabrics" / "mini-pod"
SMALL = Size(hosts=2, nics=2, leaves=2, spines=2)
ALIKE = Size(hosts=4, nics=4, leaves=4, spines=2)
"""Enough hosts and leaves to hold one against the others."""


class Silent:
    """Nobody is told."""

    def start(self, total: int, what: str) -> None:
        """Say nothing."""

    def step(self, device: str, words: str = "") -> None:
        """Say nothing."""

    def note(self, words: str) -> None:
        """Say nothing."""


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "IN_PROCESS", 100)


def audit(folder: Path, capture: str) -> tuple[Run, int]:
    """The run over a capture of the project, and the exit code."""
    wish = check.Wish(folder=str(folder), capture=str(folder / "captures" / capture), keep=False)
    run, fail_on = check.run(wish, Silent())
    return run, check.exit_code(run, fail_on.rank)


def audit_with(folder: Path, change: Callable[[Fabric], None], size: Size = SMALL) -> tuple[Run, int]:
    """The run over a fabric after a change that its project does not know of."""
    generate(folder, size, {})
    fabric = design(size)
    change(fabric)
    write_capture(folder / "captures" / "changed", fabric, CLEAN_AT)
    return audit(folder, "changed")


def seen(run: Run) -> set[GapReason]:
    return {gap.reason for gap in run.gaps}


@pytest.mark.parametrize(
    "size", [SMALL, Size(hosts=4, nics=2, leaves=4, spines=1), Size(hosts=2, nics=2, leaves=2, spines=1, pods=2, cores=2)]
)
def test_a_healthy_fabric_has_no_finding_and_hides_nothing(tmp_path: Path, size: Size) -> None:
    generate(tmp_path, size)
    run, code = audit(tmp_path, "clean")
    assert run.findings == ()
    assert seen(run) <= {GapReason.UNSUPPORTED}
    assert code == 0
    assert run.coverage.links["proven"] == run.coverage.links["planned"]


def test_the_clean_pod_is_clean(tmp_path: Path) -> None:
    shutil.copytree(MINI, tmp_path / "pod")
    run, code = audit(tmp_path / "pod", "clean")
    assert (run.findings, run.causes, code) == ((), (), 0)
    assert seen(run) <= {GapReason.UNSUPPORTED}


def test_the_faulty_pod_has_its_four_causes_and_nothing_more(tmp_path: Path) -> None:
    shutil.copytree(MINI, tmp_path / "pod")
    run, code = audit(tmp_path / "pod", "faulty")
    roots = {cause.root for cause in run.causes}
    assert roots == {"leaf-03:interface[Ethernet4]", "leaf-05:dscp_map[AZURE]", "leaf-07:buffer", "gpu-04"}
    assert code == 1
    assert seen(run) <= {GapReason.UNSUPPORTED}


@dataclass(frozen=True)
class Case:
    """What one fault must show: how bad, the rules that must see it, the words that the finding of the chain must have; where it
    is put, and the devices at the other end of the cable that findings may name too."""

    severity: str
    rules: tuple[str, ...]
    chain: str = ""
    place: tuple[str, str] = ("leaf-02", "Ethernet4")
    devices: tuple[str, ...] = field(default=())
    size: Size = SMALL


CHAIN = "lossless.priority_chain_broken"
LEAVES = tuple(f"leaf-{at:02d}" for at in range(1, 5))
LEAF, NIC, HOST = ("leaf-02", ""), ("gpu-02", "enp26s0np0"), ("gpu-02", "")

CASES = {
    # the way into a switch
    "no_dscp_map": Case("critical", (CHAIN, "lossless.trust_without_dscp"), "Ethernet4 ingress: classifies by nothing"),
    "dscp_class": Case("critical", (CHAIN, "lossless.roce_map"), "ingress: DSCP 26 is traffic class 0", LEAF),
    "class_to_group": Case("critical", (CHAIN,), "ingress: traffic class 3 is in priority group 0", LEAF),
    "lossy_group": Case("critical", (CHAIN, "lossless.no_headroom"), "Ethernet4 ingress: priority group 3 is without"),
    "no_headroom": Case("critical", (CHAIN, "lossless.no_headroom"), "Ethernet4 ingress: priority group 3"),
    "small_headroom": Case("error", ("lossless.headroom_too_small",)),
    "other_cable": Case("error", ("lossless.profile_for_other_cable",)),
    "no_pfc": Case(
        "critical", (CHAIN, "lossless.roce_pfc", "lossless.pfc_priorities_differ"), "Ethernet4 ingress: ", devices=("gpu-02",)
    ),
    "cnp_class": Case("error", (CHAIN,), "ingress: DSCP 48 is traffic class 3", LEAF),
    # the way out of a switch
    "class_to_queue": Case("critical", (CHAIN,), "egress: traffic class 3 is in queue 0", LEAF),
    "pause_to_queue": Case("critical", (CHAIN,), "egress: pauses of priority 3 stop queue 4", LEAF),
    "no_watchdog": Case("error", (CHAIN, "lossless.watchdog_missing"), "Ethernet4 egress: no PFC watchdog on queue 3"),
    "watchdog_queue": Case("error", (CHAIN, "lossless.watchdog_wrong_queues"), "Ethernet4 egress: no PFC watchdog on queue 3"),
    "storm": Case("error", ("lossless.watchdog_storm_now",)),
    "no_ecn": Case("error", (CHAIN, "lossless.ecn_never_marks"), "Ethernet4 egress: no ECN on queue 3"),
    "ecn_thresholds": Case("error", ("lossless.ecn_threshold_order",), place=LEAF),
    # hosts
    "trust": Case("critical", (CHAIN, "lossless.host_trust"), "enp26s0np0 send: ", NIC),
    "nic_class": Case("critical", (CHAIN, "lossless.host_roce_map"), "enp26s0np0 send: DSCP 26 has priority 0", NIC),
    "nic_ecn": Case("error", (CHAIN, "lossless.host_slows_down"), "enp26s0np0 send: the NIC slows down priority 0, 1, 2, 4", NIC),
    "cnp_dscp": Case("error", (CHAIN,), "enp26s0np0 receive: notifications have DSCP 26", NIC),
    "pause": Case("error", ("lossless.global_pause_on",), place=NIC),
    "pfc_priorities": Case("warning", ("lossless.pfc_priorities_differ",), place=NIC, devices=("leaf-01",)),
    "nccl_class": Case("error", ("nccl.traffic_class_not_lossless",), place=HOST),
    "nccl_unset": Case("warning", ("nccl.traffic_class_not_lossless",), place=HOST),
    # layers
    "unapplied": Case("critical", (CHAIN, "lifecycle.unapplied"), "Ethernet4 ingress: priority group 3 is without"),
    "unsaved": Case("warning", ("lifecycle.unsaved",)),
    "no_saved_file": Case("error", ("lifecycle.unsaved",), place=LEAF),
    "next_boot": Case("warning", ("lifecycle.pending_next_boot",), place=HOST),
    "second_owner": Case("warning", ("lifecycle.second_owner",), place=HOST),
    # what an audit knew before it knew the chain
    "mtu": Case("error", ("mtu.compute", "mtu.link_ends_differ"), devices=("gpu-02",)),
    "buffer_model": Case("error", ("lossless.buffer_mode",), place=LEAF),
    "nic_firmware": Case("error", ("firmware.not_allowed",), place=HOST),
    # inside a host
    "pcie_width": Case("error", ("host.pcie_degraded",), place=NIC, size=ALIKE),
    "numa": Case("error", ("rail.gpu_nic_rail_broken",), place=NIC, size=ALIKE),
    "renamed": Case("error", ("host.nic_renamed",), place=NIC, size=ALIKE),
    "acs_on": Case("error", ("host.acs_on",), place=NIC, size=ALIKE),
    "gpu_missing": Case("critical", ("host.device_missing",), place=HOST, size=ALIKE),
    "driver_mismatch": Case("critical", ("firmware.pair_not_allowed",), place=HOST, size=ALIKE),
    "nic_pending": Case("warning", ("firmware.pending",), place=HOST, size=ALIKE),
    "iommu": Case("error", ("host.iommu",), place=HOST, size=ALIKE),
    "boot_entry": Case("error", ("host.kernel_parameter",), place=HOST, size=ALIKE),
    "no_peer_memory": Case("critical", ("host.module_missing",), place=HOST, size=ALIKE),
    "no_address": Case("critical", ("nccl.gid_index_wrong",), place=NIC, size=ALIKE),
    "gid_index": Case("error", ("nccl.gid_index_wrong",), place=HOST, size=ALIKE),
    "hca_list": Case("error", ("nccl.hca_list_wrong",), place=HOST, size=ALIKE),
    # cables
    "swapped_cables": Case("error", ("cabling.wrong_peer",), place=NIC, devices=("leaf-01", "leaf-02"), size=ALIKE),
    "rotated_cables": Case("error", ("cabling.wrong_peer",), place=HOST, devices=LEAVES, size=ALIKE),
    "missing_cable": Case("error", ("cabling.missing",), place=NIC, devices=("leaf-01",), size=ALIKE),
    "wrong_port": Case("error", ("cabling.wrong_peer",), devices=("gpu-02",), size=ALIKE),
    "slow_link": Case("error", ("cabling.degraded",), devices=("gpu-02",), size=ALIKE),
    "jumper": Case(
        "critical",
        ("fabric.pfc_deadlock_possible", "fabric.same_tier_link", "cabling.unplanned"),
        place=("leaf-01", "leaf-02"),
        devices=("leaf-02",),
        size=ALIKE,
    ),
}
"""Every fault of the lab."""


def test_every_fault_of_the_lab_has_its_case() -> None:
    assert CASES.keys() == FAULTS.keys()


@pytest.mark.parametrize("fault", CASES)
def test_a_fault_is_one_cause_at_its_place(tmp_path: Path, fault: str) -> None:
    case = CASES[fault]
    device, port = case.place
    run, code = audit_with(tmp_path, lambda fabric: inject(fabric, fault, device, port), case.size)
    assert [str(cause.severity) for cause in run.causes] == [case.severity]
    assert {finding.rule for finding in run.findings} >= set(case.rules)
    assert {name for finding in run.findings for name in finding.devices} <= {device, *case.devices}
    assert device in f"{run.causes[0].root} {run.causes[0].title}"
    assert case.chain in " ".join(finding.message for finding in run.findings if finding.rule == CHAIN)
    assert code == (1 if Severity(case.severity).rank <= Severity.ERROR.rank else 0)
    assert all(finding.evidence for finding in run.findings)


def test_a_jumper_between_spines_closes_no_circle_and_a_lost_uplink_is_one_cause(tmp_path: Path) -> None:
    run, code = audit_with(tmp_path / "harmless", lambda fabric: inject(fabric, "jumper", "spine-01", "spine-02"), ALIKE)
    assert {finding.rule for finding in run.findings} == {"fabric.same_tier_link", "cabling.unplanned"}
    assert [str(cause.severity) for cause in run.causes] == ["error"]
    assert code == 1
    run, _ = audit_with(tmp_path / "lost", lambda fabric: inject(fabric, "missing_cable", "leaf-01", "Ethernet256"), ALIKE)
    assert {finding.rule for finding in run.findings} == {"cabling.missing", "fabric.oversubscribed", "fabric.uplinks_asymmetric"}
    assert len(run.causes) == 1
    assert run.causes[0].work_order


def test_a_temporary_jumper_beside_a_ring_of_spines_is_named_as_what_closes_the_circle(tmp_path: Path) -> None:
    def ring(fabric: Fabric) -> None:
        for one, other in (("spine-01", "spine-02"), ("spine-02", "spine-03"), ("spine-03", "spine-01")):
            inject(fabric, "jumper", one, other)

    run, _ = audit_with(tmp_path, ring, Size(hosts=6, nics=3, leaves=3, spines=3))
    (deadlock,) = [finding for finding in run.findings if finding.rule == "fabric.pfc_deadlock_possible"]
    assert all(f"spine-0{at}" in deadlock.message for at in (1, 2, 3))
    assert "assumed routing" in deadlock.message
    assert len(run.causes) == 1


def test_the_first_broken_place_of_a_port_is_named_once(tmp_path: Path) -> None:
    def change(fabric: Fabric) -> None:
        for fault in ("no_dscp_map", "lossy_group", "no_ecn"):
            inject(fabric, fault, "leaf-01", "Ethernet0")

    run, _ = audit_with(tmp_path, change)
    chain = [finding for finding in run.findings if finding.rule == CHAIN]
    assert len(chain) == 1
    assert "Ethernet0 ingress: classifies by nothing" in chain[0].message


def test_equivalent_maps_and_equal_code_points_are_no_finding(tmp_path: Path) -> None:
    """A traffic class of another number that ends in the same priority, maps of other names; 104 and 106 are one DSCP."""
    generate(tmp_path, SMALL, {})
    fabric = design(SMALL)
    leaf = fabric.switches["leaf-01"]
    leaf.dscp_to_tc |= {26: 5, 46: 3}
    leaf.to_group, leaf.to_queue = {5: 3}, {5: 3, 3: 5}
    for port in fabric.switches["leaf-02"].ports.values():
        port.dscp_map = "SITE"
    fabric.hosts["gpu-01"].nccl["NCCL_IB_TC"] = "104"
    write_capture(tmp_path / "captures" / "changed", fabric, CLEAN_AT)
    uses = {"leaf": "roce-leaf@1.0.0", "gpu_host": "gpu-host@1.0.0"}
    lines = [f"  - {{select: {{role: {role}}}, use: [{use}]}}" for role, use in uses.items()]
    (tmp_path / "baselines" / "assignments.yaml").write_text("\n".join(["assignments:", *lines, ""]))
    run, code = audit(tmp_path, "changed")
    assert told(run.findings) == []
    assert code == 0


def test_a_port_without_map_among_many_leaves_is_not_odd_a_second_time(tmp_path: Path) -> None:
    """Enough leaves of one kind to compare them: what the chain says of a port, its peers do not say again."""
    size = Size(hosts=4, nics=2, leaves=4, spines=2)
    generate(tmp_path, size, {"changed": [("no_dscp_map", "leaf-02", "Ethernet4")]})
    run, _ = audit(tmp_path, "changed")
    assert [cause.root for cause in run.causes] == ["leaf-02:interface[Ethernet4]"]


def _rewrite(device: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what a switch of a capture has configured and saved."""
    for name in ("show_runningconfiguration_all.json", "cat_etc_sonic_config_db_json.json"):
        document = json.loads((device / name).read_text())
        change(document)
        (device / name).write_text(json.dumps(document, indent=4, sort_keys=True) + "\n")


def _maps_of_uplinks(document: dict[str, Any]) -> None:
    """RoCE that comes down is traffic class 5, which only the ports to hosts have to know; going up it is traffic class 3."""
    document["DSCP_TO_TC_MAP"]["UP"] = document["DSCP_TO_TC_MAP"]["AZURE"] | {"26": "5", "46": "4"}
    document["TC_TO_PRIORITY_GROUP_MAP"]["UP"] = {str(at): "3" if at == 5 else "0" for at in range(8)}
    document["TC_TO_QUEUE_MAP"]["DOWN"] = document["TC_TO_QUEUE_MAP"]["AZURE"] | {"5": "3"}
    for port, row in document["PORT_QOS_MAP"].items():
        up = int(port.removeprefix("Ethernet")) >= 256
        row.update({"dscp_to_tc_map": "UP", "tc_to_pg_map": "UP"} if up else {"tc_to_queue_map": "DOWN"})


def test_a_leaf_does_not_send_up_what_came_down(tmp_path: Path) -> None:
    """Maps of uplinks and of ports to hosts that differ, and agree on each way that a packet takes."""
    generate(tmp_path, SMALL)
    _rewrite(tmp_path / "captures" / "clean" / "leaf-01", _maps_of_uplinks)
    run, _ = audit(tmp_path, "clean")
    assert [finding.message for finding in run.findings if finding.rule == CHAIN] == []


def test_the_maps_of_uplinks_are_held_against_the_ports_to_hosts(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        _maps_of_uplinks(document)
        document["TC_TO_QUEUE_MAP"]["DOWN"]["5"] = "5"

    generate(tmp_path, SMALL)
    _rewrite(tmp_path / "captures" / "clean" / "leaf-01", change)
    run, _ = audit(tmp_path, "clean")
    chain = [finding.message for finding in run.findings if finding.rule == CHAIN]
    assert [words.split(": ")[0].removeprefix("class roce breaks at ") for words in chain] == [
        "leaf-01 Ethernet0 egress",
        "leaf-01 Ethernet4 egress",
    ]


def test_computed_headroom_whose_layer_was_not_collected_is_an_open_question(tmp_path: Path) -> None:
    """Profiles of the dynamic model stand in APPL_DB alone. Without it nothing is known of them, and the run says so."""
    generate(tmp_path, SMALL, {})
    fabric = design(SMALL)
    fabric.switches["leaf-01"].buffer_model = "dynamic"
    write_capture(tmp_path / "captures" / "changed", fabric, CLEAN_AT)
    listing = tmp_path / "captures" / "changed" / "leaf-01" / "device.yaml"
    listing.write_text("".join(line for line in listing.read_text().splitlines(keepends=True) if "BUFFER_*" not in line))
    run, code = audit(tmp_path, "changed")
    (chain,) = (result for result in run.results if result.rule == CHAIN and result.scope == "leaf-01")
    assert (chain.verdict, chain.unsupported) == (Verdict.NOT_EVALUATED, 0)
    words = [gap.detail for gap in run.gaps if gap.reason is GapReason.NOT_COLLECTED]
    assert [word for word in words if "only APPL_DB has the result" in word]
    assert code != 0


def test_adapters_of_another_maker_are_a_limit_of_the_tool_and_no_hole_in_the_run(tmp_path: Path) -> None:
    """No source reads trust, PFC and maps of them: unsupported, in the coverage, and not in the exit code of every run."""
    generate(tmp_path, SMALL)
    host = tmp_path / "captures" / "clean" / "gpu-02"
    listing = host / "device.yaml"
    lines = listing.read_text().splitlines(keepends=True)
    of_nvidia = ("mlnx_qos", "traffic_class", "mlxconfig", "/ecn")
    listing.write_text("".join(line for line in lines if not any(word in line for word in of_nvidia)))
    for file in host.iterdir():
        if file != listing:
            file.write_text(file.read_text().replace("mlx5_core", "bnxt_en").replace("mlx5_", "bnxt_re"))
    baseline = tmp_path / "baselines" / "pod-host" / "1.0.0.yaml"
    baseline.write_text(baseline.read_text().partition("  host.nic_renamed:")[0])
    run, code = audit(tmp_path, "clean")
    chain = [result for result in run.results if result.rule == CHAIN and result.scope == "gpu-02"]
    assert [(result.verdict, result.unsupported > 0) for result in chain] == [(Verdict.NOT_EVALUATED, True)]
    assert run.findings == ()
    assert seen(run) <= {GapReason.UNSUPPORTED}
    assert code == 0


def told(findings: tuple[Finding, ...]) -> list[str]:
    return [f"{finding.rule} {finding.message}" for finding in findings]
