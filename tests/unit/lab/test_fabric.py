from collections import Counter

import pytest

from auditor.errors import SetupError
from auditor.lab import linux, sonic
from auditor.lab.answer import Answer
from auditor.lab.fabric import End, Fabric, Size, design
from auditor.lab.faults import FAULTS, inject, parse
from auditor.lab.host_faults import NIC_FAULTS
from auditor.lab.linux_pci import Tree
from auditor.lab.project import MINI_POD
from auditor.lab.switch_faults import PORT_FAULTS, SWITCH_FAULTS


def test_every_planned_cable_is_wired_at_both_ends_and_no_port_twice() -> None:
    fabric = design(MINI_POD)
    ends = [end for cable in fabric.plan for end in (cable.a, cable.b)]
    assert max(Counter(ends).values()) == 1
    assert all(fabric.wiring[cable.a] == cable.b and fabric.wiring[cable.b] == cable.a for cable in fabric.plan)
    assert len(fabric.plan) == 4 * 8 + 8 * 4


def test_nic_n_of_every_host_is_on_the_leaves_of_rail_n() -> None:
    fabric = design(Size(hosts=8, nics=4, leaves=8, spines=2))
    for cable in fabric.plan:
        if cable.rail:
            nic = fabric.hosts[cable.a.device].nics[cable.a.port]
            leaf = int(cable.b.device.removeprefix("leaf-")) - 1
            assert nic.rail == cable.rail == str(leaf // 2)


def test_leaves_and_spines_have_as_many_links_up_as_down() -> None:
    fabric = design(Size(hosts=8, nics=2, leaves=2, spines=2, pods=2, cores=4))
    for switch in fabric.switches.values():
        down = sum(cable.b.device == switch.name for cable in fabric.plan)
        up = sum(cable.a.device == switch.name for cable in fabric.plan)
        assert switch.role == "core" or down == up


def test_the_reference_fleet_can_be_designed() -> None:
    fabric = design(Size(hosts=128, nics=8, leaves=16, spines=16, pods=10, cores=80))
    assert (len(fabric.hosts), len(fabric.switches), len(fabric.plan)) == (1280, 400, 30720)
    assert len({nic.mac for host in fabric.hosts.values() for nic in host.nics.values()}) == 10240


@pytest.mark.parametrize(
    "size",
    [
        {"hosts": 0},
        {"nics": 17},
        {"leaves": 7},
        {"hosts": 5, "leaves": 16},
        {"hosts": 200, "leaves": 8, "spines": 2},
        {"spines": 3},
        {"pods": 8, "cores": 1, "hosts": 64, "spines": 8},
    ],
)
def test_what_cannot_be_cabled_is_refused(size: dict[str, int]) -> None:
    with pytest.raises(SetupError):
        Size(**size)


def place(fault: str) -> tuple[str, str]:
    """Where a fault of this kind can be put."""
    if fault in SWITCH_FAULTS:
        return "leaf-02", ""
    if fault in PORT_FAULTS or fault in ("wrong_port", "slow_link"):
        return "leaf-02", "Ethernet4"
    if fault == "jumper":
        return "leaf-02", "leaf-01"
    return "gpu-02", "enp26s0np0" if fault in NIC_FAULTS or fault in ("swapped_cables", "missing_cable") else ""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_changes_the_fabric_and_its_device_alone(fault: str) -> None:
    fabric, healthy = design(MINI_POD), design(MINI_POD)
    device, port = place(fault)
    inject(fabric, fault, device, port)
    assert fabric != healthy
    others = [name for name in (*fabric.switches, *fabric.hosts) if name not in (device, port)]
    assert all(_device(fabric, name) == _device(healthy, name) for name in others)
    assert {end for end in fabric.wiring if fabric.wiring[end] != healthy.wiring.get(end)} <= _touched(fabric, healthy, device)
    assert fabric.plan == healthy.plan


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_shows_in_what_its_device_answers(fault: str) -> None:
    fabric, healthy = design(MINI_POD), design(MINI_POD)
    device, port = place(fault)
    inject(fabric, fault, device, port)
    assert _answers(fabric, device) != _answers(healthy, device)


def test_faults_are_named_with_their_place() -> None:
    assert parse("trust:gpu-02:enp26s0np0") == ("trust", "gpu-02", "enp26s0np0")
    assert parse("dscp_class:leaf-02") == ("dscp_class", "leaf-02", "")


@pytest.mark.parametrize("text", ["", "mtu", ":leaf-02", "mtu:"])
def test_a_fault_without_a_device_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="KIND:DEVICE"):
        parse(text)


@pytest.mark.parametrize("fault", ["nic_firmware", "next_boot"])
def test_a_fault_of_a_host_may_hit_one_adapter_alone(fault: str) -> None:
    fabric, healthy = design(MINI_POD), design(MINI_POD)
    inject(fabric, fault, "gpu-02", "enp60s0np0")
    changed = [name for name, nic in fabric.hosts["gpu-02"].nics.items() if nic != healthy.hosts["gpu-02"].nics[name]]
    assert changed == ["enp60s0np0"]


def _answers(fabric: Fabric, device: str) -> list[Answer]:
    if device in fabric.switches:
        return list(sonic.answers(fabric, fabric.switches[device], 0.0))
    return list(linux.answers(fabric, fabric.hosts[device]))


def _touched(fabric: Fabric, healthy: Fabric, device: str) -> set[End]:
    """The ends of a device's cables, as planned and as they are."""
    ends = {end for wiring in (fabric.wiring, healthy.wiring) for end in wiring if end.device == device}
    return ends | {wiring[end] for wiring in (fabric.wiring, healthy.wiring) for end in ends if end in wiring}


def _device(fabric: Fabric, name: str) -> object:
    return fabric.switches.get(name) or fabric.hosts[name]


def test_rotated_cables_lead_one_port_further_all_round() -> None:
    fabric, healthy = design(MINI_POD), design(MINI_POD)
    inject(fabric, "rotated_cables", "gpu-01")
    ports = [End("gpu-01", netdev) for netdev in fabric.hosts["gpu-01"].nics]
    assert [fabric.wiring[port] for port in ports] == [healthy.wiring[port] for port in (*ports[1:], ports[0])]
    assert all(fabric.wiring[fabric.wiring[port]] == port for port in ports)


def test_a_cable_that_is_not_there_leaves_both_ports_without_a_link() -> None:
    fabric = design(MINI_POD)
    inject(fabric, "missing_cable", "leaf-02", "Ethernet4")
    assert [fabric.gbps(end) for end in (End("leaf-02", "Ethernet4"), End("gpu-02", "enp60s0np0"))] == [0, 0]
    assert fabric.gbps(End("leaf-02", "Ethernet0")) == 400


def test_a_cable_in_the_wrong_port_takes_its_settings_along_and_leaves_the_planned_one_empty() -> None:
    fabric = design(MINI_POD)
    inject(fabric, "wrong_port", "leaf-02", "Ethernet4")
    far = fabric.wiring[End("gpu-02", "enp60s0np0")]
    assert far.device == "leaf-02"
    assert End("leaf-02", "Ethernet4") not in fabric.wiring
    port = fabric.switches["leaf-02"].ports[far.port]
    assert (port.name, port.plane, port.pfc) == (far.port, "compute", (3,))


def test_a_slow_port_slows_the_link_at_both_ends() -> None:
    fabric = design(MINI_POD)
    inject(fabric, "slow_link", "leaf-02", "Ethernet4")
    assert fabric.gbps(End("gpu-02", "enp60s0np0")) == fabric.gbps(End("leaf-02", "Ethernet4")) == 200


def test_an_adapter_that_moved_hangs_below_a_switch_of_the_other_processor() -> None:
    host = design(MINI_POD).hosts["gpu-01"]
    tree = {function.address: function for function in Tree(host).functions}
    nic = host.nics["enp26s0np0"]
    nic.switch = host.nics["enp220s0np0"].switch
    moved = {function.address: function for function in Tree(host).functions}
    assert (tree[nic.pci].node, moved[nic.pci].node) == (0, 1)
    assert moved[nic.pci].above[:2] == tree["0000:dc:00.0"].above[:2]


def test_swapped_cables_lead_to_each_others_ports() -> None:
    fabric, healthy = design(MINI_POD), design(MINI_POD)
    inject(fabric, "swapped_cables", "gpu-01", "enp26s0np0")
    one, other = End("gpu-01", "enp26s0np0"), End("gpu-01", "enp60s0np0")
    assert fabric.wiring[one] == healthy.wiring[other]
    assert fabric.wiring[fabric.wiring[one]] == one
    assert fabric.wiring[fabric.wiring[other]] == other


@pytest.mark.parametrize(
    ("fault", "device", "port"),
    [
        ("gremlins", "leaf-01", ""),
        ("mtu", "leaf-99", "Ethernet0"),
        ("mtu", "leaf-01", "Ethernet1"),
        ("nic_firmware", "leaf-01", ""),
        ("trust", "gpu-01", "eth0"),
        ("swapped_cables", "gpu-01", "eno1"),
        ("missing_cable", "leaf-01", "Ethernet500"),
        ("wrong_port", "gpu-01", "enp26s0np0"),
        ("rotated_cables", "leaf-99", ""),
        ("gpu_missing", "gpu-01", "0000:1a:00.0"),
        ("numa", "gpu-01", "eth0"),
    ],
)
def test_a_fault_at_a_place_that_is_not_there_is_refused(fault: str, device: str, port: str) -> None:
    with pytest.raises(SetupError):
        inject(design(MINI_POD), fault, device, port)
