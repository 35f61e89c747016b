from __future__ import annotations

import pickle
from datetime import UTC, datetime

import pytest

from auditor.address import Layer
from auditor.facts import Interface, Nic, RdmaPort, Row, schema
from auditor.model import Device, Fabric, Origin, PlanEnd, PlannedPort, PlanSlice, State, Status
from auditor.plan.document import parse_plan
from auditor.plan.fabric import parse_fabric
from auditor.plan.groups import check_devices, group_names, groups, resolve_ports, slice_for, slices

PLAN = parse_plan(
    """\
a_device,a_port,b_device,b_port,plane,rail,room,a_id
gpu-01,mlx5_0,leaf-01,Ethernet0,compute,0,hall 1,
gpu-01,nic1,leaf-02,Ethernet0,compute,1,hall 1,
gpu-02,eth0,leaf-01,Ethernet8,compute,0,hall 2,0000:5e:00.0
leaf-01,Ethernet256,spine-01,Ethernet0,compute,,,
leaf-01,Ethernet260,spine-02,Ethernet0,compute,,,
leaf-01,eth0,oob-01,Ethernet3,oob,,,
leaf-01,Ethernet100,stranger,x,,,,
""",
    "plan.csv",
)
FABRIC = parse_fabric(
    """\
planes: {compute: {}, storage: {}}
port_groups:
  management: {pattern: [eth0, "mgmt*"]}
  spine_only: {pattern: Ethernet*, role: spine}
  to_spine: {peer_role: spine}
  hall2: {tag: {room: "hall 2"}}
  high: {pattern: "Ethernet25?", tag: {plane: compute}}
nics:
  model-x: {nic1: "0000:3b:00.0"}
"""
)
DEVICES = {
    device.name: device
    for device in (
        Device("gpu-01", ("linux",), role="gpu_host", hardware_model="model-x"),
        Device("gpu-02", ("linux",)),
        Device("leaf-01", ("sonic",), role="leaf"),
        Device("leaf-02", ("sonic",), role="leaf"),
        Device("spine-01", ("sonic",), role="spine"),
        Device("spine-02", ("sonic",), role="spine", status=Status.PLANNED),
        Device("oob-01", ("sonic",), role="oob"),
    )
}


def state(*rows: Row) -> State:
    """A state in which every table of these rows was read whole, at the applied layer."""
    tables: dict = {}
    origins: dict = {}
    for row in rows:
        tables.setdefault((type(row), Layer.APPLIED), {})[row.key] = row
        for column in schema(type(row)).columns:
            origins[type(row), Layer.APPLIED, column] = (Origin("s", "d"),)
    return State("x", datetime(2030, 1, 1, tzinfo=UTC), tables, origins)


def names(*ports: str) -> list[Interface]:
    return [Interface(name=port) for port in ports]


def planned(port: str, id_: str = "", groups_: tuple[str, ...] = ("in_use",)) -> PlanSlice:
    return PlanSlice((PlannedPort(port, "compute", "0", PlanEnd("l", "e"), "leaf", id_, groups_),))


def leaf_groups() -> dict[str, tuple[str, ...]]:
    found = slice_for(PLAN, FABRIC, DEVICES["leaf-01"], DEVICES)
    return {port.port: port.groups for port in found.ports}


class TestSlices:
    def test_groups_follow_from_plane_far_end_and_rules_of_the_fabric(self) -> None:
        assert leaf_groups() == {
            "Ethernet0": ("compute", "host_facing", "in_use"),
            "Ethernet8": ("compute", "hall2", "host_facing", "in_use"),
            "Ethernet256": ("compute", "fabric_facing", "high", "in_use", "to_spine"),
            "Ethernet260": (),
            "eth0": ("fabric_facing", "in_use", "oob"),
            "Ethernet100": ("in_use",),
        }

    def test_a_device_without_role_is_a_host_by_its_platform(self) -> None:
        found = slice_for(PLAN, FABRIC, DEVICES["leaf-01"], DEVICES)
        assert {port.port: port.peer_role for port in found.ports}["Ethernet8"] == "host"

    def test_pattern_groups_hold_for_the_roles_they_name(self) -> None:
        assert slice_for(PLAN, FABRIC, DEVICES["leaf-01"], DEVICES).patterns == {"management": ("eth0", "mgmt*")}
        assert set(slice_for(PLAN, FABRIC, DEVICES["spine-01"], DEVICES).patterns) == {"management", "spine_only"}

    def test_a_numbered_nic_gets_the_address_that_its_model_says(self) -> None:
        found = slice_for(PLAN, FABRIC, DEVICES["gpu-01"], DEVICES)
        assert {port.port: port.id for port in found.ports} == {"mlx5_0": "", "nic1": "0000:3b:00.0"}

    def test_one_pass_gives_the_same_slices(self) -> None:
        every = slices(PLAN, FABRIC, DEVICES)
        assert every == {name: slice_for(PLAN, FABRIC, device, DEVICES) for name, device in DEVICES.items()}
        assert pickle.loads(pickle.dumps(every)) == every

    def test_group_names(self) -> None:
        assert group_names(PLAN, FABRIC) == {
            "in_use", "host_facing", "fabric_facing", "compute", "storage", "oob",
            "management", "spine_only", "to_spine", "hall2", "high",
        }  # fmt: skip

    def test_devices_that_the_inventory_lacks_are_named_once_with_their_line(self) -> None:
        known = {**DEVICES, "Stranger": Device("Stranger", ("sonic",))}
        assert [str(error) for error in check_devices(PLAN, DEVICES)] == ["plan.csv:8: device 'stranger' is not in the inventory"]
        assert str(check_devices(PLAN, known)[0]).endswith("; it has 'Stranger'")


class TestResolution:
    @pytest.mark.parametrize(
        ("port", "interface"),
        [
            ("ens1np0", "ens1np0"),
            ("etp1", "ens1np0"),
            ("mlx5_0", "ens1np0"),
            ("mlx5_0/1", "ens1np0"),
            ("0000:1A:00.0", "ens1np0"),
            ("1a:00.0", "ens1np0"),
            ("B8-3F-D2-00-00-01", "ens1np0"),
            ("b83f:d203:0000:0001", "ens1np0"),
            ("mlx5_0/2", None),
            ("ens1", None),
            ("0000:1b:00.0", None),
        ],
    )
    def test_a_name_of_any_kind_finds_its_interface(self, port: str, interface: str | None) -> None:
        seen = state(
            Interface(name="ens1np0", alias="etp1"),
            Nic(pci="0000:1a:00.0", netdev="ens1np0", mac="b8:3f:d2:00:00:01"),
            RdmaPort(name="mlx5_0", port="1", netdev="ens1np0", port_guid="b83fd20300000001"),
        )
        expected = {} if interface is None else {port: interface}
        assert resolve_ports(planned(port), seen) == expected

    def test_an_id_decides_over_a_name_that_moved_to_another_card(self) -> None:
        seen = state(*names("eth0", "eth1"), Nic(pci="0000:1a:00.0", netdev="eth1"), Nic(pci="0000:1b:00.0", netdev="eth0"))
        assert resolve_ports(planned("eth0", "0000:1a:00.0"), seen) == {"eth0": "eth1"}

    def test_an_id_that_is_gone_is_not_replaced_by_a_name(self) -> None:
        seen = state(*names("eth0"), Nic(pci="0000:1b:00.0", netdev="eth0"))
        assert resolve_ports(planned("eth0", "0000:1a:00.0"), seen) == {}

    def test_a_name_steps_in_while_no_id_of_that_kind_was_seen(self) -> None:
        assert resolve_ports(planned("eth0", "0000:1a:00.0"), state(*names("eth0"))) == {"eth0": "eth0"}

    def test_a_text_that_fits_two_interfaces_fits_none(self) -> None:
        seen = state(Interface(name="Ethernet0", alias="etp1"), Interface(name="Ethernet4", alias="etp1"))
        assert resolve_ports(planned("etp1"), seen) == {}
        two_ports = [RdmaPort(name="mlx5_0", port=port, netdev=f"eth{port}") for port in "12"]
        assert resolve_ports(planned("mlx5_0"), state(*two_ports)) == {}

    def test_a_permanent_mac_outranks_a_current_one(self) -> None:
        mac = "b8:3f:d2:00:00:01"
        seen = state(Interface(name="bond0", mac=mac), Interface(name="eth0"), Nic(pci="0000:1a:00.0", netdev="eth0", mac=mac))
        assert resolve_ports(planned("x", mac), seen) == {"x": "eth0"}

    def test_a_device_that_showed_nothing_resolves_nothing(self) -> None:
        assert resolve_ports(planned("eth0"), state()) == {}


class TestGroups:
    def test_members_are_interfaces_of_today_and_what_is_missing_keeps_its_planned_name(self) -> None:
        found = slice_for(PLAN, FABRIC, DEVICES["gpu-01"], DEVICES)
        seen = state(*names("ens1np0", "lo", "mgmt0"), RdmaPort(name="mlx5_0", port="1", netdev="ens1np0"))
        members = groups(found, seen)
        assert members["compute"] == {"ens1np0", "nic1"}
        assert members["in_use"] == members["fabric_facing"] == {"ens1np0", "nic1"}
        assert members["host_facing"] == frozenset()
        assert members["management"] == {"mgmt0"}

    def test_a_device_outside_the_plan_has_empty_groups(self) -> None:
        members = groups(slice_for(PLAN, Fabric(), Device("x", ("sonic",)), DEVICES), state(*names("Ethernet0")))
        assert members == {"in_use": frozenset(), "host_facing": frozenset(), "fabric_facing": frozenset()}
