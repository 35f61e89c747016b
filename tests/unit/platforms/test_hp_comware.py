"""Comware: names, what a cut answer may conclude, and captures read by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.guard import allowed
from auditor.evidence import Place, find
from auditor.facts import Interface, Neighbour, System
from auditor.model import Device, GapReason, Spot, State, Transport
from auditor.platforms import platforms
from auditor.platforms.hp_comware import PLATFORM, names
from tests.unit.platforms.answers import recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "h3c_comware"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
PORTS = recorded("hp_comware", "interfaces", "routed_switched_and_down")
BRIEF = recorded("hp_comware", "interfaces_brief", "both_modes")
LLDP = recorded("hp_comware", "lldp_verbose", "switch_nic_and_two_on_a_port")


def read(source: str, *parts: str) -> State:
    return state("hp_comware", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("XGE1/0/29", "Ten-GigabitEthernet1/0/29"), ("HGE1/0/1", "HundredGigE1/0/1"), ("GE0/1", "GigabitEthernet0/1"),
        ("Vlan1", "Vlan-interface1"), ("25GE1/0/1:2", "Twenty-FiveGigE1/0/1:2"), ("Loop0", "LoopBack0"), ("NULL0", "NULL0"),
        ("HundredGigE1/0/1", "HundredGigE1/0/1"), ("mlx5_0", "mlx5_0"), ("", ""),
    ],
)  # fmt: skip
def test_ports_have_one_name(written: str, name: str) -> None:
    assert PLATFORM.interface_name(written) == name


def test_ports_are_told_from_other_interfaces() -> None:
    ports = ("HundredGigE1/0/1", "Ten-GigabitEthernet13/2/12", "M-GigabitEthernet0/0/0", "Twenty-FiveGigE1/0/1:2")
    assert all(map(names.is_port, ports))
    assert not any(map(names.is_port, ("Vlan-interface71", "LoopBack0", "NULL0", "Bridge-Aggregation1", "Aux0")))


def test_frame_and_packet_are_two_lengths_and_neither_is_computed() -> None:
    found = state("hp_comware", {"interfaces": PORTS})
    assert cell(found, "interface[HundredGigE1/0/1].mtu") == 9100
    assert cell(found, "interface[HundredGigE1/0/1].frame_bytes") == 9416
    assert cell(found, "interface[HundredGigE1/0/2].mtu") is GapReason.UNSUPPORTED
    assert cell(found, "interface[HundredGigE1/0/2].frame_bytes") == 10000


def test_a_port_that_only_one_list_has_is_a_gap_and_not_absent() -> None:
    cut = PORTS[: PORTS.index("Ten-GigabitEthernet1/0/49")]
    alone = state("hp_comware", {"interfaces": cut})
    both = state("hp_comware", {"interfaces": cut, "interfaces_brief": BRIEF})
    assert alone.has_row(Address("interface", ("Ten-GigabitEthernet1/0/49",))) is False
    assert cell(both, "interface[Ten-GigabitEthernet1/0/49].frame_bytes") is GapReason.TRUNCATED
    assert cell(both, "interface[Ten-GigabitEthernet1/0/49].enabled") is False


@pytest.mark.parametrize(
    ("source", "body", "endless"),
    [("interfaces", PORTS, True), ("interfaces_brief", BRIEF, True), ("lldp_verbose", LLDP, True),
     ("manufacture", recorded("hp_comware", "manufacture", "one_chassis"), False)],
)  # fmt: skip
def test_broken_answers_are_gaps(source: str, body: str, endless: bool) -> None:
    assert told("hp_comware", source, body, endless=endless) == []


def test_the_line_that_proves_a_cell_is_the_ports_own() -> None:
    for address, line in (
        ("interface[HundredGigE1/0/2].frame_bytes", "Maximum frame length:10000"),
        ("interface[HundredGigE1/0/1].mtu", "Maximum transmission unit: 9100"),
    ):
        where = Address.parse(f"{address}@applied")
        place = Place(
            Spot("dut", where),
            cell(state("hp_comware", {"interfaces": PORTS}), address),
            "hp_comware",
            "interfaces",
            "d",
            "display interface",
            None,
        )
        shown = find(place, platforms(), lambda _: PORTS)
        assert shown is not None
        assert line in shown.excerpt


def test_nothing_but_display_is_sent() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("hp_comware",)), platforms())]
    assert PLATFORM.transport is Transport.CLI
    assert sent
    assert all(command.startswith("display ") for command in sent)


@captures
def test_ports_of_a_chassis_by_hand() -> None:
    rows = read("interfaces", "ntc_100g_admin_down", "display_interface.txt").rows(Interface)
    down, up = rows["HundredGigE3/0/23",], rows["Ten-GigabitEthernet13/2/12",]
    assert (down.enabled, down.up, down.frame_bytes, down.mtu, down.speed, down.mac) == (
        False, False, 9416, None, None, "dc:68:0c:3c:23:88",
    )  # fmt: skip
    assert (up.enabled, up.up, up.frame_bytes, up.speed, up.description) == (True, True, 10000, 10**9, "SOME_DEVICE_DESCR")


@captures
def test_ports_of_a_router_by_hand() -> None:
    found = read("interfaces", "ntc_release_09119P17", "display_interface.txt")
    rows = found.rows(Interface)
    assert (rows["GigabitEthernet0/0/1",].mtu, rows["GigabitEthernet0/0/1",].frame_bytes) == (1500, 9664)
    assert (rows["GigabitEthernet0/0/0",].enabled, rows["GigabitEthernet0/0/2",].enabled, rows["GigabitEthernet0/0/2",].up) == (
        False, True, False,
    )  # fmt: skip
    assert cell(found, "interface[GigabitEthernet0/0/3].mtu") is GapReason.UNSUPPORTED
    assert rows["GigabitEthernet0/0/3",].speed == 10**9


@captures
def test_the_brief_table_by_hand() -> None:
    rows = read("interfaces_brief", "ntc_a", "display_interface_brief.txt").rows(Interface)
    assert len(rows) == 11
    assert (rows["GigabitEthernet0/0",].up, rows["GigabitEthernet0/4",].up, rows["Vlan-interface1",].enabled) == (
        True,
        False,
        True,
    )


@captures
def test_neighbours_by_hand() -> None:
    found = read("lldp_verbose", "ntc_cw7", "display_lldp_neighbor_information_verbose.txt")
    rows = found.rows(Neighbour)
    first = rows["Ten-GigabitEthernet1/0/0/1", "GigabitEthernet0/0/1"]
    assert (first.system, first.chassis, first.port_kind, first.ttl_s) == ("SW1", "70:f9:6d:6b:12:34", "name", 120.0)
    second = rows["Ten-GigabitEthernet1/0/0/2", "Ten-GigabitEthernet1/0/0/5"]
    assert (second.system, second.management_address, second.port_description) == ("SW2", "10.6.5.4", "TO_CORE_2")
    assert len(rows) == 4


@captures
def test_a_stack_has_a_model_and_no_serial_number() -> None:
    found = read("manufacture", "ntc_chassis", "display_device_manuinfo.txt")
    (row,) = found.rows(System).values()
    assert (row.vendor, row.hardware_model) == ("H3C", "LS-12511-X-AC")
    assert cell(found, "system.serial") is GapReason.UNSUPPORTED


@captures
def test_every_capture_is_read_or_named_here() -> None:
    left = {"display_lldp_neighbor_information_list": "the short form has no subtypes, and cuts names at its columns"}
    for file in sorted(CAPTURES.glob("*/*")):
        command = file.stem.replace("_", " ").replace("neighbor information", "neighbor-information")
        source = next((source for source in PLATFORM.sources if source.command == command), None)
        if source is None:
            assert file.stem in left, file
        else:
            found = read(source.key, file.parent.name, file.name)
            assert any(found.tables.values())
