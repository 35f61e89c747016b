"""The priority chain of a whole pod: every place where it can break is named once, at its hop, and a healthy pod is silent."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.collect.capture import CaptureCollector
from auditor.evaluate.ends import columns
from auditor.lab.fabric import Size, design
from auditor.lab.faults import inject
from auditor.lab.project import generate, write_capture
from auditor.model import Finding, Run, Severity, Verdict
from auditor.workflows.audit import audit
from auditor.workflows.project import Project, load_project
from auditor.workflows.request import Request

SIZE = Size(hosts=2, nics=2, leaves=2, spines=2)
AT = datetime(2026, 3, 2, 2, 0, tzinfo=UTC)
RULE = "lossless.priority_chain_broken"
HOST_PORT, UPLINK, NIC, RDMA = "Ethernet4", "Ethernet256", "enp60s0np0", "mlx5_1"

Audit = Callable[..., Run]


class Bodies(dict[str, str]):
    """Raw outputs in memory."""

    def put_raw(self, body: str) -> str:
        from auditor.model import digest

        self[digest(body)] = body
        return digest(body)

    def get_raw(self, digest: str) -> str | None:
        return self.get(digest)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("pod")
    generate(folder, SIZE)
    return load_project(folder)


@pytest.fixture
def audited(project: Project, tmp_path: Path) -> Audit:
    def once(*faults: tuple[str, str, str], only: Sequence[str] = ("lossless.*",), devices: Sequence[str] = ()) -> Run:
        fabric = design(SIZE)
        for fault in faults:
            inject(fabric, *fault)
        write_capture(tmp_path / "capture", fabric, AT)
        chosen = tuple(device for name, device in project.devices.items() if not devices or name in devices)
        request = Request(chosen, "all", "capture", tuple(only))
        return audit(request, project, CaptureCollector(tmp_path / "capture"), None, Bodies())

    return once


def of_chain(run: Run) -> list[Finding]:
    return [finding for finding in run.findings if finding.rule == RULE]


def test_a_healthy_pod_has_no_finding_and_every_port_is_judged(audited: Audit) -> None:
    run = audited()
    assert run.findings == ()
    results = [result for result in run.results if result.rule == RULE]
    ports = {item for result in results for item in result.passed}
    assert len(ports) == 2 * len(design(SIZE).plan)
    assert {result.verdict for result in results} == {Verdict.PASS}


BREAKS = [
    # switches: maps that all ports share
    ("dscp_class", "leaf-01", "", "leaf-01 {port} ingress", "dscp_map[AZURE,26].traffic_class", "critical"),
    ("dscp_class", "spine-01", "", "spine-01 {port} ingress", "dscp_map[AZURE,26].traffic_class", "critical"),
    ("class_to_group", "leaf-02", "", "leaf-02 {port} ingress", 'class_map[tc_to_pg:AZURE,3].to', "critical"),
    ("class_to_queue", "leaf-01", "", "leaf-01 {port} egress", 'class_map[tc_to_queue:AZURE,3].to', "critical"),
    ("cnp_class", "leaf-01", "", "leaf-01 {port} ingress", "dscp_map[AZURE,48].traffic_class", "error"),
    # switches: one port, towards a host, a spine, a leaf
    *(
        (fault, device, port, f"{device} {port} {way}", cell.format(port=port), severity)
        for device, port in (("leaf-01", HOST_PORT), ("leaf-02", UPLINK), ("spine-02", "Ethernet0"))
        for fault, way, cell, severity in (
            ("no_dscp_map", "ingress", "qos_port[{port}].trust", "critical"),
            ("lossy_group", "ingress", "priority_group[{port},3].lossless", "critical"),
            ("no_headroom", "ingress", "priority_group[{port},3].lossless", "critical"),
            ("no_pfc", "ingress", "qos_port[{port}].pfc_priorities", "critical"),
            ("no_watchdog", "egress", "queue[{port},3].watchdog_enabled", "error"),
            ("no_ecn", "egress", "queue[{port},3].ecn_enabled", "error"),
        )
    ),
    # hosts
    ("trust", "gpu-01", NIC, f"gpu-01 {NIC} send", f"qos_port[{NIC}].trust", "critical"),
    ("nic_class", "gpu-01", NIC, f"gpu-01 {NIC} send", f"host_dscp[{NIC},26].priority", "critical"),
    ("no_pfc", "gpu-01", NIC, f"gpu-01 {NIC} send", f"qos_port[{NIC}].pfc_priorities", "critical"),
    ("nic_ecn", "gpu-01", NIC, f"gpu-01 {NIC} send", f"host_qos[{NIC}].ecn_rp", "error"),
    ("cnp_dscp", "gpu-01", NIC, f"gpu-01 {NIC} receive", f"host_qos[{NIC}].cnp_dscp", "error"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "device", "port", "place", "cell", "severity"), BREAKS)
def test_a_break_is_named_at_its_hop_and_is_one_cause(
    audited: Audit, fault: str, device: str, port: str, place: str, cell: str, severity: str
) -> None:
    run = audited((fault, device, port))
    found = of_chain(run)
    assert found, "the break was not seen"
    assert {item.devices for item in found} == {(device,)}
    for item in found:
        name = item.object.partition("[")[2].rstrip("]")
        assert f" at {place.format(port=name)}: " in item.message
        assert str(item.spots[0].address).partition("@")[0] == cell
        assert item.severity is Severity(severity)
    assert len(found) == 1 if port else len(found) > 1
    assert {(item.rule, item.root[1]) for item in run.findings} == {(item.rule, found[0].root[1]) for item in run.findings}
    assert len(run.causes) == 1


def test_a_map_that_lets_a_pause_stop_another_queue_is_named_once_for_the_switch(audited: Audit) -> None:
    run = audited(("pause_to_queue", "leaf-01", ""), only=[RULE])
    assert {str(item.spots[0].address) for item in run.findings} == {"class_map[pfc_to_queue:AZURE,3].to@configured"}
    assert len(run.causes) == 1


def test_a_watchdog_on_another_queue_is_none(audited: Audit) -> None:
    (found,) = of_chain(audited(("watchdog_queue", "leaf-01", HOST_PORT)))
    assert found.observed == "no PFC watchdog on queue 3"


def test_both_ends_of_the_chain_are_read_by_their_best_layer_and_say_so(audited: Audit) -> None:
    (cause,) = audited(("dscp_class", "leaf-01", "")).causes
    assert "(read: configured; applied unsupported)" in cause.title
    (found,) = of_chain(audited(("lossy_group", "leaf-01", HOST_PORT)))
    assert "(read: applied)" in found.message


def test_a_group_that_was_configured_and_not_applied_breaks_the_chain(audited: Audit) -> None:
    (found,) = of_chain(audited(("unapplied", "leaf-01", HOST_PORT)))
    assert found.layer == "applied"


def test_a_wrong_map_tells_the_paths_and_hosts_of_the_whole_leaf(audited: Audit) -> None:
    """Leaf-01 serves 2 hosts and has 2 uplinks, one per spine; from each spine 1 cable leads to the other leaf with its 2 hosts:
    2 routes between its own hosts, and 2 * 2 * 2 to the other leaf's and as many from there."""
    for found in of_chain(audited(("dscp_class", "leaf-01", ""))):
        assert "touches 4 ports, 18 paths, 2 hosts" in found.message


def test_one_port_tells_its_own_paths_and_hosts(audited: Audit) -> None:
    (host_port,) = of_chain(audited(("no_watchdog", "leaf-01", HOST_PORT)))
    assert "touches 5 paths, 1 host " in host_port.message
    (spine_port,) = of_chain(audited(("no_watchdog", "spine-02", "Ethernet0")))
    assert "touches 4 paths, 2 hosts " in spine_port.message


def test_all_adapters_of_a_host_are_one_cause(audited: Audit) -> None:
    run = audited(*(("no_pfc", "gpu-01", nic) for nic in ("enp26s0np0", NIC)))
    (cause,) = run.causes
    assert cause.root == "gpu-01"


def test_two_breaks_on_one_port_are_told_by_the_first_that_loses_packets(audited: Audit) -> None:
    (found,) = of_chain(audited(("no_watchdog", "leaf-01", HOST_PORT), ("lossy_group", "leaf-01", HOST_PORT)))
    assert "priority group 3" in found.observed
    assert found.severity is Severity.CRITICAL


def test_breaks_of_two_devices_are_two_causes(audited: Audit) -> None:
    run = audited(("no_watchdog", "leaf-01", HOST_PORT), ("trust", "gpu-01", NIC))
    assert len(run.causes) == 2


def test_a_scoped_check_judges_its_own_hops_and_counts_no_paths(audited: Audit) -> None:
    run = audited(("no_watchdog", "leaf-01", HOST_PORT), ("trust", "gpu-01", NIC), devices=["leaf-01"])
    (found,) = of_chain(run)
    assert found.devices == ("leaf-01",)
    assert "path" not in found.message


def test_the_columns_of_the_chain_are_not_among_those_of_link_rules() -> None:
    assert "queue.watchdog_enabled" not in columns()
