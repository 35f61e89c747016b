"""A fault that shows in several rules is one cause; what it does not explain stays one of its own."""

from auditor.address import Address
from auditor.evaluate import causes
from auditor.evaluate.findings import make
from auditor.model import Cause, Deviation, Finding, Severity, Spot

LOST = ("object", "gpu-2:pci[0000:1b:00.0]")
CUT = ("cabling", "missing:gpu-2:eth0")


def found(
    rule: str,
    *devices: str,
    root: tuple[str, str] = ("", ""),
    at: str = "nccl_path.nearest",
    seen: str = "odd",
    of: str = "",
    severity: Severity = Severity.ERROR,
) -> Finding:
    table, _, column = at.partition(".")
    spots = tuple(Spot(device, Address(table, ("0", "mlx5_0"), column)) for device in devices)
    deviation = Deviation("as the others", seen, f"{devices[0]}: {rule}", spots)
    root = root if any(root) else ("device", devices[0]) if len(devices) == 1 else ("peers", "group[model]")
    return make(rule, of or f"{'+'.join(devices)}:{at}", devices, deviation, severity, root)


def roots(*findings: Finding) -> list[str]:
    return [cause.root for cause in gathered(*findings)]


def gathered(*findings: Finding) -> list[Cause]:
    return causes.gather(findings)[1]


RAIL = found("rail.gpu_nic_rail_broken", "gpu-2")
OUTLIER = found("nccl.topology_outlier", "gpu-2", root=("peers", "group[model]"), at="nccl_topology.shape")
NODE = found("fabric.inconsistent", "gpu-2", root=("peers", "group[model:pci]"), at="pci.numa_node")


def test_rails_topology_and_numa_node_of_one_host_are_one_cause() -> None:
    assert roots(RAIL, OUTLIER, NODE) == ["gpu-2"]


def test_hosts_that_are_odd_together_are_one_cause_with_their_rails() -> None:
    outlier = found("nccl.topology_outlier", "gpu-2", "gpu-3")
    assert roots(RAIL, found("rail.gpu_nic_rail_broken", "gpu-3"), outlier) == ["group[model]"]
    assert roots(found("rail.gpu_nic_rail_broken", "gpu-4"), outlier) == ["gpu-4", "group[model]"]


def test_a_lost_device_explains_rails_and_topology_of_its_host_alone() -> None:
    lost = found("host.device_missing", "gpu-2", root=LOST, at="pci.class_code")
    assert roots(lost, RAIL, OUTLIER) == [LOST[1]]
    assert len(roots(lost, found("rail.gpu_nic_rail_broken", "gpu-3"))) == 2


def test_the_cause_is_called_after_what_explains_the_rest() -> None:
    renamed = found("host.nic_renamed", "gpu-2", root=("object", "gpu-2:nic"), at="nic.netdev", severity=Severity.WARNING)
    (cause,) = gathered(OUTLIER, renamed)
    assert (cause.title, cause.root, cause.severity) == ("gpu-2: host.nic_renamed", "gpu-2:nic", Severity.ERROR)


def test_two_lost_devices_stay_two_causes() -> None:
    lost = found("host.device_missing", "gpu-2", root=LOST, at="pci.class_code")
    other = found("host.device_missing", "gpu-2", root=("object", "gpu-2:pci[0000:3c:00.0]"), at="pci.class_code", of="other")
    assert len(roots(lost, other, RAIL)) == 2


def test_a_narrow_link_explains_a_dumped_topology_and_no_exchanged_nic() -> None:
    narrow = found("host.pcie_degraded", "gpu-2", root=LOST, at="pci.width")
    assert roots(narrow, OUTLIER) == [LOST[1]]
    assert len(roots(narrow, OUTLIER, RAIL)) == 2


def test_another_odd_value_of_the_same_host_is_a_cause_of_its_own() -> None:
    other = found("fabric.inconsistent", "gpu-2", root=("peers", "group[model:sysctl]"), at="sysctl.value")
    assert len(roots(RAIL, other)) == 2


MISSING = found("cabling.missing", "gpu-2", "leaf-1", root=CUT, at="interface.up", of="link[gpu-2:eth0|leaf-1:Ethernet0]")


def test_a_missing_cable_explains_what_its_port_does_not_show() -> None:
    port = ("port", "gpu-2:interface[eth0]")
    silent = found("mtu.rdma_active", "gpu-2", root=port, at="rdma_port.active_mtu", seen="absent")
    low = found("mtu.compute", "gpu-2", root=port, at="interface.mtu", seen="1500")
    other = found("mtu.rdma_active", "gpu-2", root=("port", "gpu-2:interface[eth1]"), at="rdma_port.active_mtu", seen="absent")
    assert roots(silent, MISSING) == [CUT[1]]
    assert len(roots(low, MISSING)) == 2
    assert len(roots(other, MISSING)) == 2


def test_several_missing_cables_explain_as_many_silent_ports_and_not_more() -> None:
    silent = [
        found("mtu.rdma_active", "gpu-2", at="rdma_port.active_mtu", seen="absent", of=f"gpu-2:rdma_port[{name}]")
        for name in ("mlx5_0", "mlx5_1")
    ]
    second = found("cabling.missing", "gpu-2", "leaf-2", root=CUT, at="interface.up", of="link[gpu-2:eth1|leaf-2:Ethernet0]")
    assert roots(*silent, MISSING, second) == [CUT[1]]
    assert len(roots(*silent, MISSING)) == 2


def test_a_slow_cable_explains_that_the_rate_of_its_ends_is_odd() -> None:
    slow = found("cabling.degraded", "gpu-2", "leaf-1", root=("cabling", "degraded:gpu-2"), at="interface.speed")
    odd = found("fabric.inconsistent", "gpu-2", root=("peers", "group[rate]"), at="rdma_port.rate")
    far = found("fabric.inconsistent", "gpu-3", root=("peers", "group[rate]"), at="rdma_port.rate")
    assert roots(slow, odd) == ["degraded:gpu-2"]
    assert len(roots(slow, far)) == 2


def test_a_cabling_cause_is_called_by_its_own_name() -> None:
    silent = found("mtu.rdma_active", "gpu-2", root=("port", "gpu-2:interface[eth0]"), at="rdma_port.active_mtu", seen="absent")
    _, (cause,) = causes.gather([silent, MISSING], {CUT[1]: causes.Told("The cable is not there", "missing", ("Plug it in.",))})
    assert (cause.title, cause.kind, cause.work_order) == ("The cable is not there", "missing", ("Plug it in.",))
