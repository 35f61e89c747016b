"""Huawei VRP: names, what a cut answer may conclude, and captures read by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.guard import allowed
from auditor.evidence import Place, find
from auditor.facts import Interface, Neighbour, QosPort, Queue, System
from auditor.model import Device, GapReason, Spot, State, Transport
from auditor.platforms import platforms
from auditor.platforms.huawei_vrp import PLATFORM, names
from tests.unit.platforms.answers import recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "huawei_vrp"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
PORTS = recorded("huawei_vrp", "interfaces", "routed_switched_and_shut")
BRIEF = recorded("huawei_vrp", "interfaces_brief", "trunk_and_marks")


def read(source: str, *parts: str) -> State:
    return state("huawei_vrp", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("GE1/0/25", "GigabitEthernet1/0/25"), ("GigabitEthernet15/1/0(10G)", "GigabitEthernet15/1/0"),
        ("100GE1/0/1", "100GE1/0/1"), ("XGE1/0/1", "XGigabitEthernet1/0/1"), ("Eth-Trunk2", "Eth-Trunk2"),
        ("Vlanif1", "Vlanif1"), ("mlx5_0", "mlx5_0"), ("", ""),
    ],
)  # fmt: skip
def test_ports_have_one_name(written: str, name: str) -> None:
    assert PLATFORM.interface_name(written) == name


def test_ports_are_told_from_other_interfaces() -> None:
    assert all(map(names.is_port, ("400GE1/0/1", "100GE1/0/33:2", "GigabitEthernet8/1/16", "MEth0/0/0")))
    assert not any(map(names.is_port, ("Eth-Trunk2", "Vlanif1", "NULL0", "LoopBack0", "Aux0/0/1")))


def test_frame_and_packet_are_two_lengths_and_neither_is_computed() -> None:
    found = state("huawei_vrp", {"interfaces": PORTS})
    assert cell(found, "interface[400GE1/0/1].mtu") == 9100
    assert cell(found, "interface[100GE1/0/33].frame_bytes") == 9216
    assert cell(found, "interface[100GE1/0/33].mtu") is GapReason.UNSUPPORTED


def test_a_port_that_only_one_list_has_is_a_gap_and_not_absent() -> None:
    cut = PORTS[: PORTS.index("100GE1/0/34")]
    both = state("huawei_vrp", {"interfaces": cut, "interfaces_brief": BRIEF})
    assert cell(both, "interface[100GE1/0/34].frame_bytes") is GapReason.TRUNCATED
    assert cell(both, "interface[100GE1/0/34].enabled") is False


@pytest.mark.parametrize(
    ("source", "case", "endless"),
    [
        ("version", "cloudengine", True), ("interfaces", "routed_switched_and_shut", True),
        ("interfaces_brief", "trunk_and_marks", True), ("lldp", "switch_nic_and_none", True), ("qos_port", "trusts_dscp", True),
        ("ecn", "marks_on_queue_3", True),
    ],
)  # fmt: skip
def test_broken_answers_are_gaps(source: str, case: str, endless: bool) -> None:
    assert told("huawei_vrp", source, recorded("huawei_vrp", source, case), endless=endless) == []


def test_the_line_that_proves_a_cell_is_the_ports_own() -> None:
    found = state("huawei_vrp", {"interfaces": PORTS})
    for address, line in (
        ("interface[400GE1/0/1].mtu", "Route Port,The Maximum Transmit Unit is 9100"),
        ("interface[100GE1/0/34].speed", "Speed : 100000,"),
    ):
        spot = Spot("dut", Address.parse(f"{address}@applied"))
        shown = find(
            Place(spot, cell(found, address), "huawei_vrp", "interfaces", "d", "display interface", None),
            platforms(),
            lambda _: PORTS,
        )
        assert shown is not None
        assert line in shown.excerpt


def test_a_description_that_looks_like_labels_changes_nothing() -> None:
    (row,) = [
        row
        for row in state("huawei_vrp", {"lldp": recorded("huawei_vrp", "lldp", "switch_nic_and_none")}).rows(Neighbour).values()
        if row.system
    ]
    assert (row.system, row.management_address) == ("spine-71.pod", "10.71.9.1")


def test_nothing_but_display_is_sent() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("huawei_vrp",)), platforms())]
    assert PLATFORM.transport is Transport.CLI
    assert sent == ["display version", "display interface", "display interface brief", "display lldp neighbor"]


@captures
def test_the_switch_by_hand() -> None:
    (row,) = read("version", "ntc_s7700", "display_version.txt").rows(System).values()
    assert (row.vendor, row.os_version, row.hardware_model) == ("Huawei", "V200R010C00SPC600", "S7706")


@captures
def test_ports_by_hand() -> None:
    found = read("interfaces", "ntc_ge", "display_interface.txt")
    rows = found.rows(Interface)
    first, second = rows["GigabitEthernet0/0/00",], rows["GigabitEthernet0/0/01",]
    assert (first.up, first.frame_bytes, first.speed, first.autoneg) == (True, 10240, 2_500_000_000, False)
    assert (second.up, second.frame_bytes, second.speed, second.autoneg) == (True, 9216, 1_000_000_000, True)
    assert (rows["Vlanif30",].mtu, rows["Vlanif30",].description, rows["NULL0",].description) == (1500, "My_description", None)


@captures
def test_the_brief_table_by_hand() -> None:
    rows = read("interfaces_brief", "ntc_a", "display_interface_brief.txt").rows(Interface)
    assert (rows["GigabitEthernet8/1/16",].lag, rows["GigabitEthernet15/1/0",].lag) == ("Eth-Trunk2", "Eth-Trunk4")
    assert (rows["Aux0/0/1",].up, rows["Eth-Trunk4",].up, rows["Eth-Trunk4.10",].lag) == (False, True, None)


@captures
def test_neighbours_by_hand() -> None:
    rows = read("lldp", "ntc_ge_modern", "display_lldp_neighbor.txt").rows(Neighbour)
    ((key, row),) = rows.items()
    assert key == ("GigabitEthernet1/0/25", "Gi2/0/10")
    assert (row.system, row.port_kind, row.chassis, row.management_address) == (
        "something.example.com", "name", "aa:aa:aa:aa:aa:aa", "1.1.1.1",
    )  # fmt: skip


@captures
def test_default_qos_by_hand() -> None:
    found = read("qos_port", "ce6800_cm", "display_qos_configuration_interface.txt")
    assert found.rows(QosPort)["100GE1/0/3",].trust == ("pcp",)
    queues = found.rows(Queue)
    assert [(queues["100GE1/0/3", str(at)].scheduler, queues["100GE1/0/3", str(at)].weight) for at in (0, 3, 7)] == [
        ("dwrr", 1), ("dwrr", 100), ("strict", None),
    ]  # fmt: skip


@captures
def test_marking_by_hand() -> None:
    queues = read("ecn", "ce6800_ecn", "display_qos_ecn_threshold_interface.txt").rows(Queue)
    assert [queues["100GE1/0/2", str(at)].ecn_enabled for at in range(6)] == [False, False, False, True, False, False]
    assert queues["100GE1/0/2", "3"].ecn_probability == 0.3
    assert queues["100GE1/0/2", "3"].ecn_min_bytes is None, "KB of unknown size"


@captures
def test_every_capture_is_read_or_named_here() -> None:
    left = {
        "display_ai_ecn_calculated_state": "thresholds of the moment", "display_dcb": "names no priority",
        "display_dcb_pfc_uplink_group_statistics": "counters", "display_flex_buffer_state": "thresholds of the moment",
        "display_lldp_neighbor_brief": "the short form has no subtypes", "display_qos_queue_statistics_interface": "counters",
        "display_diffserv_domain_name_ds1": "the manual's example is cut",
        "display_module_information_verbose": "names of packages",
    }  # fmt: skip
    for file in sorted(CAPTURES.glob("*/*")):
        command = file.stem.replace("_", " ")
        source = next((source for source in PLATFORM.sources if command in (source.command, *source.aliases)), None)
        if source is None:
            assert file.stem in left, file
        else:
            assert any(read(source.key, file.parent.name, file.name).tables.values())
