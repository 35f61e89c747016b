"""What a device job emits for its ports: the planned ones, and those that a cable or a neighbour's name may lead to."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from auditor.address import Layer
from auditor.evaluate.ends import MOST_ADDRESSES, columns, emit
from auditor.evaluate.subnet import fabric_ports
from auditor.facts import ArpEntry, IbNode, IbPort, Interface, LagMember, MacEntry, Neighbour, Nic, Optic, RdmaPort, schema
from auditor.model import Fabric, Origin, PlanEnd, PlannedPort, PlanSlice, State, Via
from auditor.parse.merge import _ports as joined
from auditor.plan.groups import resolve_ports

AT = datetime(2026, 4, 1, 2, 0, tzinfo=UTC)


def state(*rows, device="leaf-01", whole=True):
    tables, origins = {}, {}
    for row in rows:
        tables.setdefault((type(row), Layer.APPLIED), {})[row.key] = row
        for column in schema(type(row)).columns:
            origins[type(row), Layer.APPLIED, column] = (Origin("source", "d" * 64, "sonic", whole=whole),)
    return State(device, AT, tables, origins, ports=joined(tables))


def ends(*rows, plan=("Ethernet0",), host=False, role=None, ids=None):
    slice_ = PlanSlice(tuple(PlannedPort(port, "compute", "", PlanEnd("x", "y"), "", (ids or {}).get(port, "")) for port in plan))
    found = state(*rows, device="gpu-01" if host else "leaf-01")
    role = ("gpu_host" if host else "leaf") if role is None else role
    emitted = emit(found, slice_, resolve_ports(slice_, found), role, (), AT, Fabric(), host=host)
    return {end.port: end for end in emitted}


def value(end, name):
    return end.facts[name].value


UP = Interface(name="Ethernet0", up=True, mac="94:6d:ae:00:01:00")


def test_a_neighbour_is_emitted_with_its_ages_and_the_cell_that_proves_it():
    row = Neighbour(port="Ethernet0", port_id="ens1np0", system="gpu-01", port_kind="name", since_s=9.0, ttl_s=120.0)
    (seen,) = ends(UP, row)["Ethernet0"].neighbours
    assert (seen.system, seen.port_id, seen.via, seen.since_s, seen.heard_s, seen.ttl_s) == (
        "gpu-01", "ens1np0", Via.LLDP, 9.0, None, 120.0,
    )  # fmt: skip
    assert str(seen.fact.address) == "neighbour[Ethernet0,ens1np0].system@applied"
    assert (seen.fact.value, seen.fact.source) == ("gpu-01", "source")


@pytest.mark.parametrize(
    ("told", "column"),
    [
        ({"system": "gpu-01", "port_kind": "mac", "port_description": "ens1np0"}, "port_description"),
        ({"port_kind": "mac", "chassis": "b8:3f:d2:00:00:01"}, "chassis"),
        ({"system": "gpu-01", "port_kind": "local", "port_description": "ens1np0"}, "system"),
    ],
)
def test_the_cell_that_proves_a_neighbour_names_it(told, column):
    row = Neighbour(port="Ethernet0", port_id="b8:3f:d2:00:00:01", **told)
    assert ends(UP, row)["Ethernet0"].neighbours[0].fact.address.column == column


def test_a_neighbour_that_says_nothing_but_its_port_id_has_no_cell():
    assert ends(UP, Neighbour(port="Ethernet0", port_id="x"))["Ethernet0"].neighbours[0].fact is None


# Addresses


def macs(count):
    return [MacEntry(port="Ethernet0", mac=f"b8:3f:d2:00:00:{at:02x}", kind="dynamic", vlan=7) for at in range(count)]


def test_addresses_learned_on_a_port_come_after_its_neighbours():
    arp = ArpEntry(address="10.0.0.1", mac="b8:3f:d2:00:00:00", interface="Ethernet0", state="reachable")
    heard = Neighbour(port="Ethernet0", port_id="x", system="y")
    seen = ends(UP, *macs(2), arp, heard)["Ethernet0"].neighbours
    assert [each.via for each in seen] == [Via.LLDP, Via.MAC, Via.MAC]
    assert [str(each.fact.address) for each in seen[1:]] == [
        "mac_entry[Ethernet0,b8:3f:d2:00:00:00].kind@applied", "mac_entry[Ethernet0,b8:3f:d2:00:00:01].kind@applied",
    ]  # fmt: skip
    (seen,) = ends(UP, arp)["Ethernet0"].neighbours
    assert (seen.via, seen.port_id, str(seen.fact.address)) == (Via.ARP, "b8:3f:d2:00:00:00", "arp_entry[10.0.0.1].mac@applied")


def test_a_port_with_many_addresses_tells_nobody():
    assert len(ends(UP, *macs(MOST_ADDRESSES))["Ethernet0"].neighbours) == MOST_ADDRESSES
    assert ends(UP, *macs(MOST_ADDRESSES + 1))["Ethernet0"].neighbours == ()


def test_what_somebody_configured_was_not_learned():
    permanent = ArpEntry(address="10.0.0.1", mac="b8:3f:d2:00:00:01", interface="Ethernet0", state="permanent")
    assert ends(UP, replace(macs(1)[0], kind="static"), permanent)["Ethernet0"].neighbours == ()


def test_the_tables_of_a_host_tell_nobody_across_its_cables():
    nic = Interface(name="ens1np0", up=True)
    arp = ArpEntry(address="10.0.0.1", mac="b8:3f:d2:00:00:01", interface="ens1np0", state="reachable")
    assert ends(nic, arp, plan=("ens1np0",), host=True)["ens1np0"].neighbours == ()


# Which ports


def test_of_a_switch_ports_that_are_up_and_named_like_planned_ones():
    rows = (
        UP, Interface(name="Ethernet4", up=True), Interface(name="Ethernet8", up=False), Interface(name="eth0", up=True),
        Interface(name="Vlan7", up=True), MacEntry(port="Vlan7", mac="b8:3f:d2:00:00:01"),
        MacEntry(port="Po9", mac="b8:3f:d2:00:00:02"), Neighbour(port="Ethernet12", port_id="x", system="gpu-09"),
        Optic(port="Ethernet4", present=True),
    )  # fmt: skip
    found = ends(*rows)
    assert set(found) == {"Ethernet0", "Ethernet4", "Ethernet12"}
    assert {name: fact.value for name, fact in found["Ethernet4"].facts.items()} == {"interface.up": True, "optic.present": True}


def test_of_a_host_every_adapter_with_its_addresses():
    rows = (
        Interface(name="ens1np0", up=True, mac="b8:3f:d2:00:00:01"), Interface(name="ens2np0", up=False, mac="b8:3f:d2:00:00:02"),
        Interface(name="eno1", up=True, mac="3c:ec:ef:00:00:01"), Interface(name="docker0", mac="02:42:00:00:00:01"),
        Interface(name="lo"), Nic(pci="0000:1a:00.0", netdev="eno1", mac="3c:ec:ef:00:00:01"),
    )  # fmt: skip
    found = ends(*rows, plan=("ens1np0",), host=True)
    assert set(found) == {"ens1np0", "ens2np0", "eno1"}
    assert found["ens2np0"].identities == ("b8:3f:d2:00:00:02", "ens2np0")
    assert value(found["ens2np0"], "interface.mac") == "b8:3f:d2:00:00:02"
    assert found["eno1"].identities == ("0000:1a:00.0", "3c:ec:ef:00:00:01", "eno1")


def test_members_of_a_bond_share_its_name_and_each_has_its_own_address():
    rows = (
        Interface(name="ens1np0", mac="b8:3f:d2:00:00:01", lag="bond0"), Interface(name="enp9s0", mac="b8:3f:d2:00:00:01"),
        Nic(pci="0000:1a:00.0", netdev="ens1np0", mac="b8:3f:d2:00:00:01"), LagMember(lag="bond0", port="enp9s0"),
    )  # fmt: skip
    found = ends(*rows, plan=("ens1np0",), host=True)
    assert "bond0" in found["ens1np0"].identities
    assert "bond0" in found["enp9s0"].identities


def test_a_host_without_a_role_is_one_by_what_it_runs():
    assert ends(Interface(name="ens1np0"), plan=("ens1np0",), host=True, role="")["ens1np0"].role == "host"


# InfiniBand


@pytest.mark.parametrize("name", ["mlx5_0", "mlx5_0/1", "mlx5_0/P1", "nic0"])
def test_an_rdma_port_without_an_interface_stands_for_itself(name):
    port = RdmaPort(
        name="mlx5_0", port="1", node_guid="b83fd2030051a000", port_guid="b83fd2030051a001", link_layer="infiniband",
        state="active", rate=400_000_000_000,
    )  # fmt: skip
    other = replace(port, name="mlx5_1", node_guid="b83fd2030051b000", port_guid="b83fd2030051b001", state="down", rate=None)
    found = ends(port, other, plan=(name,), host=True, ids={"nic0": "b83fd2030051a001"})
    assert set(found) == {name, "mlx5_1/1"}
    end = found[name]
    assert end.interface == "mlx5_0/1"
    assert {"mlx5_0", "mlx5_0/1", "b83fd2030051a000", "b83fd2030051a001", name} == set(end.identities)
    assert (value(end, "rdma_port.state"), value(end, "rdma_port.rate")) == ("active", 400_000_000_000)
    assert value(found["mlx5_1/1"], "rdma_port.state") == "down"


def test_a_walk_of_the_subnet_is_emitted_with_its_cells():
    node = IbNode(guid="fc6a1c0300c40100", kind="switch", description="MF0;lf-1:MQM9700/U1", ports=65)
    port = IbPort(
        guid="fc6a1c0300c40100", port="1", width=4, speed="NDR", rate=400_000_000_000, peer_guid="b83fd2030051a000",
        peer_port="1", peer_description="gpu-51 mlx5_0",
    )  # fmt: skip
    found = fabric_ports(state(node, port, device="fm-1"))
    assert [(item.witness, item.guid, item.port, item.whole) for item in found] == [
        ("fm-1", node.guid, "", True), ("fm-1", node.guid, "1", False),
    ]  # fmt: skip
    assert (found[0].kind, found[0].description, found[0].node_ports) == ("switch", "MF0;lf-1:MQM9700/U1", 65)
    assert str(found[0].fact.address) == "ib_node[fc6a1c0300c40100].description@applied"
    assert (found[1].peer_guid, found[1].rate, found[1].collected_at) == ("b83fd2030051a000", 400_000_000_000, AT)
    assert str(found[1].fact.address) == "ib_port[fc6a1c0300c40100,1].peer_guid@applied"


def test_a_walk_that_is_not_whole_says_so():
    node = IbNode(guid="fc6a1c0300c40100", kind="switch")
    port = IbPort(guid="fc6a1c0300c40100", port="1", peer_guid="b83fd2030051a000")
    assert [item.whole for item in fabric_ports(state(node, port, whole=False))] == [False, False]
    assert fabric_ports(state(UP)) == ()


def test_firmware_belongs_to_the_ports_of_hosts():
    assert "firmware.version" in columns(host=True)
    assert not [name for name in columns(host=False) if name.startswith("firmware.")]
    assert "system.os_version" in columns(host=False)
