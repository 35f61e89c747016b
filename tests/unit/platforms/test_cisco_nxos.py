"""NX-OS: names, what a cut answer may conclude, QoS joined from its parts, and captures read by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.guard import allowed
from auditor.evidence import Place, find
from auditor.facts import Interface, Neighbour, Optic, QosPort, Queue, System
from auditor.model import Device, GapReason, Spot, State, Transport
from auditor.platforms import platforms
from auditor.platforms.cisco_nxos import PLATFORM, names
from tests.unit.platforms.answers import recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "nxos"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
PORTS = recorded("cisco_nxos", "interfaces", "up_down_and_shut")
STATUS = recorded("cisco_nxos", "interfaces_status", "wrapped_types")
QOS = recorded("cisco_nxos", "running_qos", "four_kinds_of_ports")


def read(source: str, *parts: str) -> State:
    return state("cisco_nxos", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Eth1/1", "Ethernet1/1"), ("Eth1/15/1", "Ethernet1/15/1"), ("Po71", "port-channel71"), ("mgmt0", "mgmt0"),
        ("Lo0", "loopback0"), ("Vlan7", "Vlan7"), ("mlx5_0", "mlx5_0"), ("", ""),
    ],
)  # fmt: skip
def test_ports_have_one_name(written: str, name: str) -> None:
    assert PLATFORM.interface_name(written) == name
    assert names.is_port("Ethernet1/15/1")
    assert not names.is_port("mgmt0")


def test_ports_classify_as_their_policy_says() -> None:
    found = state("cisco_nxos", {"running_qos": QOS})
    rows = found.rows(QosPort)
    assert (rows["Ethernet1/1",].trust, rows["Ethernet1/1",].dscp_map, rows["Ethernet1/1",].pfc_priorities) == (
        ("dscp",), "GPU_IN", (3,),
    )  # fmt: skip
    assert (rows["Ethernet1/2",].trust, rows["Ethernet1/2",].dscp_map, rows["Ethernet1/2",].pfc_priorities) == (
        ("pcp",),
        None,
        (),
    )
    assert cell(found, "qos_port[Ethernet1/3].trust@configured") is GapReason.UNPARSED, "an access group is not followed"
    assert rows["Ethernet1/4",].trust == (), "no policy classifies there"
    assert [cell(found, f"dscp_map[GPU_IN,{dscp}].traffic_class@configured") for dscp in (26, 48, 50, 0, 63)] == [3, 6, 6, 0, 0]


def test_a_port_without_a_mode_is_what_dcbx_makes_of_it() -> None:
    found = state("cisco_nxos", {"running_qos": QOS})
    assert cell(found, "qos_port[Ethernet1/3].pfc_priorities@configured") is GapReason.UNSUPPORTED
    without = state("cisco_nxos", {"running_qos": recorded("cisco_nxos", "running_qos", "without_network_qos")})
    assert cell(without, "qos_port[Ethernet1/1].pfc_priorities@configured") is GapReason.UNPARSED


def test_the_last_block_may_be_cut_so_it_says_nothing() -> None:
    found = state("cisco_nxos", {"running_qos": QOS})
    assert cell(found, "qos_port[Ethernet1/5].trust@configured") is GapReason.TRUNCATED


def test_queues_mark_where_the_policy_of_the_system_says_ecn() -> None:
    rows = state("cisco_nxos", {"running_qos": QOS}).rows(Queue)
    assert (rows["Ethernet1/1", "3"].ecn_enabled, rows["Ethernet1/1", "3"].ecn_probability) == (True, 0.07)
    assert rows["Ethernet1/1", "0"].ecn_enabled is False


def test_a_port_that_only_one_list_has_is_a_gap_and_not_absent() -> None:
    cut = PORTS[: PORTS.index("Ethernet1/4 is")]
    both = state("cisco_nxos", {"interfaces": cut, "interfaces_status": STATUS})
    assert cell(both, "interface[Ethernet1/4].mtu") is GapReason.TRUNCATED
    assert cell(both, "interface[Ethernet1/4].enabled") is True


@pytest.mark.parametrize(
    ("source", "case"),
    [
        ("version", "leaf"), ("inventory", "chassis"), ("interfaces", "up_down_and_shut"), ("interfaces_status", "wrapped_types"),
        ("transceivers", "present_and_empty"), ("lldp_detail", "nic_and_switch"), ("running_qos", "four_kinds_of_ports"),
    ],
)  # fmt: skip
def test_broken_answers_are_gaps(source: str, case: str) -> None:
    endless = source not in ("lldp_detail", "version")
    assert told("cisco_nxos", source, recorded("cisco_nxos", source, case), endless=endless) == []


def test_the_line_that_proves_a_cell_is_the_ports_own() -> None:
    found = state("cisco_nxos", {"interfaces": PORTS})
    for address, line in (
        ("interface[Ethernet1/3].mtu", "MTU 1500 bytes"),
        ("interface[Ethernet1/1].fec", "oper fec state is Rs-fec"),
    ):
        spot = Spot("dut", Address.parse(f"{address}@applied"))
        place = Place(spot, cell(found, address), "cisco_nxos", "interfaces", "d", "show interface", None)
        shown = find(place, platforms(), lambda _: PORTS)
        assert shown is not None
        assert line in shown.excerpt


def test_nothing_but_show_is_sent() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("cisco_nxos",)), platforms())]
    assert PLATFORM.transport is Transport.CLI
    assert PLATFORM.also == (Transport.NAPALM,)
    assert all(command.startswith("show ") for command in sent)


@captures
@pytest.mark.parametrize(
    ("case", "values"),
    [
        ("arc_n9336_10_6", ("10.6(1)", "C9336C-FX2", "rr1-n42-r07-9336hl-13-1a", "bootflash:///nxos64-cs.10.6.1.F.bin")),
        ("genie_n9k_c9332d_gx2b", ("10.4(3)", "C9332D-GX2B", None, "bootflash:///nxos64-cs.10.4.2.IMG9.0.27.F.bin")),
    ],
)
def test_switches_by_hand(case: str, values: tuple[str | None, ...]) -> None:
    (row,) = read("version", case, "show_version.txt").rows(System).values()
    assert (row.os_version, row.hardware_model, row.image_id) == (values[0], values[1], values[3])
    assert values[2] in (None, row.hostname)


@captures
def test_a_port_that_waits_for_authorisation_by_hand() -> None:
    row = read("interfaces", "genie_fec_auth_pending", "show_interface.txt").rows(Interface)["Ethernet1/5",]
    assert (row.enabled, row.up, row.mtu, row.fec, row.autoneg, row.mac, row.speed) == (
        True, False, 1500, "none", True, "6c:b2:ae:9f:e7:26", None,
    )  # fmt: skip


@captures
def test_a_hole_in_a_port_is_seen() -> None:
    found = read("interfaces", "ntc_eth1_50_hole", "show_interface.txt")
    assert cell(found, "interface[Ethernet1/50].mtu") is GapReason.TRUNCATED


@captures
def test_tables_of_ports_by_hand() -> None:
    rows = read("interfaces_status", "arc_n9336_10_6", "show_interface_status.txt").rows(Interface)
    assert (rows["Ethernet1/1",].up, rows["Ethernet1/7",].up, rows["mgmt0",].enabled) == (True, False, False)
    many = read("interfaces_status", "genie_fex_large", "show_interface_status.txt").rows(Interface)
    assert (many["Ethernet1/3",].up, many["Ethernet1/4",].up) == (True, False)


@captures
def test_modules_by_hand() -> None:
    rows = read("transceivers", "ntc_qsfp_dd_400g", "show_interface_transceiver.txt").rows(Optic)
    first = rows["Ethernet1/35",]
    assert (first.type, first.vendor, first.serial, first.firmware) == (
        "QSFP-DD-400G-FR4",
        "CISCO-INNOLIGHT",
        "IND282502DJ",
        "234.6",
    )
    copper = read("transceivers", "arc_n93180_10_3", "show_interface_transceiver_details.txt").rows(Optic)
    assert (copper["Ethernet1/1",].type, copper["Ethernet1/1",].part_number) == ("SFP-H25GB-CU3M", "NDCCGJ-C403")


@captures
def test_neighbours_by_hand() -> None:
    found = read("lldp_detail", "genie_connectx_host", "show_lldp_neighbors_detail.txt")
    nic = found.rows(Neighbour)["Ethernet1/14", "PCI-E Slot 1, Port 2"]
    assert (nic.system, nic.port_description, nic.chassis) == (
        None, "ConnectX-4 Lx, 25G/10G/1G SFP", "3935-5A43-4A37-39373638-35303036574C",
    )  # fmt: skip
    whole = read("lldp_detail", "napalm_a", "show_lldp_neighbors_detail.txt").rows(Neighbour)
    assert len(whole) == 3
    assert whole["Ethernet1/1", "Ethernet1/1"].system == "n9k2.example.com"
    assert whole["mgmt0", "Fa1/0/9"].management_address == "10.1.100.1"


@captures
def test_a_policy_on_cos_alone_leaves_dscp_unclassified() -> None:
    """The port's lines are the capture's; the maps stand in the form of the running configuration, as the capture shows them."""
    interface = (CAPTURES / "arc_n93180_10_3" / "show_running_config_interface.txt").read_text("utf-8")
    maps = (
        "class-map type qos match-all RDMA\n  match cos 3\npolicy-map type qos AZS_SERVICES\n  class RDMA\n    set qos-group 3\n"
        "policy-map type network-qos QOS_NETWORK\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n"
        "system qos\n  service-policy type network-qos QOS_NETWORK\n"
    )
    head, version, rest = interface.partition("version 10.3")
    found = state("cisco_nxos", {"running_qos": head + maps + version + rest}, None)
    row = found.rows(QosPort)["port-channel50",]
    assert (row.trust, row.dscp_map, row.pfc_priorities) == (("pcp",), None, (3,))


@captures
def test_every_capture_is_read_or_named_here() -> None:
    left = {
        "show_class_map": "read from the running configuration", "show_policy_map": "read from the running configuration",
        "show_version_json_pretty": "broken by the terminal", "show_interface_json": "says less than the text: no FEC",
        "show_inventory_json": "a refusal", "show_interface_breakout": "parents by name", "show_lldp_neighbors": "names are cut",
        "show_interface_priority_flow_control": "of a Nexus 5000", "show_queuing_interface_ethernet_1_47": "of a Nexus 5000",
        "show_queuing_pfc_queue_detail": "made by hand", "show_interface_transceiver_json": "the text says the same",
        "show_interface_brief_json_native": "another shape than that over SSH",
        "show_lldp_neighbors_json_native": "another shape than that over SSH",
    }  # fmt: skip
    for file in sorted(CAPTURES.glob("*/*")):
        command = file.stem.replace("_", " ").replace("running config", "running-config")
        source = next((source for source in PLATFORM.sources if command in (source.command, *source.aliases)), None)
        if source is None:
            assert file.stem in left, file
        else:
            found = read(source.key, file.parent.name, file.name)
            assert any(found.tables.values()) or [gap for gap in found.gaps if gap.source == source.key]
