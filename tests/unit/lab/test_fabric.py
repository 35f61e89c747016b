from collections import Counter

import pytest

from auditor.errors import SetupError
from auditor.lab.fabric import End, Fabric, Size, design
from auditor.lab.faults import FAULTS, inject
from auditor.lab.project import MINI_POD


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


WHERE = {
    "nic_firmware": ("gpu-02", ""),
    "trust": ("gpu-02", "enp26s0np0"),
    "swapped_cables": ("gpu-02", "enp26s0np0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_changes_the_fabric_and_its_device_alone(fault: str) -> None:
    fabric, healthy = design(MINI_POD), design(MINI_POD)
    device, port = WHERE.get(fault, ("leaf-02", "Ethernet4"))
    inject(fabric, fault, device, port)
    assert fabric != healthy
    others = [name for name in (*fabric.switches, *fabric.hosts) if name != device]
    assert all(_device(fabric, name) == _device(healthy, name) for name in others)
    assert fabric.plan == healthy.plan


def _device(fabric: Fabric, name: str) -> object:
    return fabric.switches.get(name) or fabric.hosts[name]


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
    ],
)
def test_a_fault_at_a_place_that_is_not_there_is_refused(fault: str, device: str, port: str) -> None:
    with pytest.raises(SetupError):
        inject(design(MINI_POD), fault, device, port)
