"""Onyx: names, broken answers, and captures read by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.guard import allowed
from auditor.facts import DscpMap, Interface, QosPort, System
from auditor.model import Device, GapReason, State
from auditor.platforms import platforms
from auditor.platforms.mellanox_mlnxos import PLATFORM
from tests.unit.platforms.answers import recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "onyx"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")


def read(source: str, *parts: str) -> State:
    return state("mellanox_mlnxos", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


@pytest.mark.parametrize(
    ("written", "name"),
    [("ethernet 1/1", "Eth1/1"), ("Eth1/1/2", "Eth1/1/2"), ("port-channel 7", "Po7"), ("mlx5_0", "mlx5_0"), ("", "")],
)
def test_ports_have_one_name(written: str, name: str) -> None:
    assert PLATFORM.interface_name(written) == name


@pytest.mark.parametrize(("source", "case"), [("version", "spectrum"), ("interfaces", "up_and_shut"), ("qos", "trusts_dscp")])
def test_broken_answers_are_gaps(source: str, case: str) -> None:
    assert told("mellanox_mlnxos", source, recorded("mellanox_mlnxos", source, case)) == []


def test_a_map_that_is_not_whole_is_no_map() -> None:
    found = state("mellanox_mlnxos", {"qos": recorded("mellanox_mlnxos", "qos", "map_with_holes")})
    assert not found.rows(DscpMap)
    assert found.cell(Address.parse("qos_port[Eth1/2].dscp_map")).gap is not None
    gap = found.cell(Address.parse("qos_port[Eth1/2].trust")).gap
    assert gap is not None
    assert gap.reason is GapReason.UNPARSED


def test_only_proven_commands_are_sent() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("mellanox_mlnxos",)), platforms())]
    assert sent == ["show version", "show interfaces ethernet | json-print"]


@captures
def test_the_switch_by_hand() -> None:
    (row,) = read("version", "msn_3_6_5000", "show_version.txt").rows(System).values()
    assert (row.os_name, row.os_version, row.serial, row.image_id) == ("MLNX-OS", "3.6.5000", "MT1632X00205", "#1-dev")


@captures
def test_ports_by_hand() -> None:
    rows = read("interfaces", "two_ports_100g", "show_interfaces_ethernet_json.json").rows(Interface)
    first = rows["Eth1/1",]
    assert (first.enabled, first.up, first.mtu, first.frame_bytes) == (True, False, 1500, 1522)
    assert (first.speed, first.fec, first.mac) == (100_000_000_000, "auto", "7c:fe:90:e5:ca:3c")
    assert len(rows) == 2


@captures
def test_classification_by_hand() -> None:
    found = read("qos", "trust_both", "show_qos_interface_ethernet_json.json")
    (port,) = found.rows(QosPort).values()
    assert (port.port, port.trust, port.dscp_map) == ("Eth1/1", ("dscp", "pcp"), "Eth1/1")
    rows = found.rows(DscpMap)
    assert [rows["Eth1/1", dscp].traffic_class for dscp in ("0", "26", "48", "63")] == [0, 3, 6, 7]


@captures
def test_every_capture_is_read_or_named_here() -> None:
    left = {
        "show_lldp_interfaces_json": "what is sent, not who is heard", "show_lldp_local_json": "what is sent, not who is heard",
        "show_interfaces_ethernet_congestion_control_json": "one port alone, thresholds in a unit that nobody explains",
        "show_dcb_ets_interface_ethernet_json": "one port alone", "show_running_config": "names no priority",
        "show_interfaces_priority_flow_control_json": "names no priority", "show_traffic_pool_roce_json": "usage of memory",
        "show_interfaces_status_json": "says less than the list of ports",
    }  # fmt: skip
    names = {"show_version": "version", "show_interfaces_ethernet_json": "interfaces", "show_qos_interface_ethernet_json": "qos"}
    for file in sorted(CAPTURES.glob("*/*")):
        if file.stem in names:
            assert any(read(names[file.stem], file.parent.name, file.name).tables.values())
        else:
            assert file.stem in left, file
