"""Junos: names, media MTU and packets told apart, and captures read by hand."""

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
from auditor.platforms.juniper_junos import PLATFORM, names
from tests.unit.platforms.answers import recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "junos"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
PORTS = recorded("juniper_junos", "interfaces_json", "routed_switched_and_shut")
LLDP = recorded("juniper_junos", "lldp_detail", "switch_nic_and_none")


def read(source: str, *parts: str) -> State:
    return state("juniper_junos", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("et-0/0/1.0", "et-0/0/1"),
        ("xe-0/0/3", "xe-0/0/3"),
        ("et-0/0/1:2.0", "et-0/0/1:2"),
        ("ae0.0", "ae0.0"),
        ("mlx5_0", "mlx5_0"),
    ],
)
def test_ports_have_one_name(written: str, name: str) -> None:
    assert PLATFORM.interface_name(written) == name


def test_ports_are_told_from_other_interfaces() -> None:
    assert all(map(names.is_port, ("et-0/0/1", "xe-0/0/11", "et-0/0/1:2")))
    assert not any(map(names.is_port, ("em0", "irb", "lo0", "ae0", "et-0/0/1.0")))


def test_the_packet_is_that_of_the_family_and_never_the_media() -> None:
    found = state("juniper_junos", {"interfaces_json": PORTS})
    assert cell(found, "interface[et-0/0/1].mtu") == 9100
    assert cell(found, "interface[et-0/0/1].mtu_shown") == "9114"
    assert cell(found, "interface[et-0/0/2].mtu") is GapReason.UNSUPPORTED, "switched: nothing says what a packet may have"


@pytest.mark.parametrize(
    ("source", "case"),
    [
        ("version", "single"), ("chassis_json", "one"), ("chassis", "one"), ("interfaces_json", "routed_switched_and_shut"),
        ("interfaces", "two_ports"), ("lldp_detail", "switch_nic_and_none"), ("lldp_brief", "local_port_id"),
    ],
)  # fmt: skip
def test_broken_answers_are_gaps(source: str, case: str) -> None:
    endless = source in ("version", "interfaces", "chassis")
    assert told("juniper_junos", source, recorded("juniper_junos", source, case), endless=endless) == []


@pytest.mark.parametrize(
    ("source", "body", "address", "line"),
    [
        ("interfaces_json", PORTS, "interface[et-0/0/3].speed", "100Gbps"),
        ("interfaces_json", PORTS, "interface[et-0/0/1].mtu_shown", "9114"),
        ("lldp_detail", LLDP, "neighbour[et-0/0/2,b8:71:d2:11:02:10].chassis", "et-0/0/2"),
    ],
)
def test_the_lines_that_prove_a_cell_are_those_of_its_own_port(source: str, body: str, address: str, line: str) -> None:
    found = state("juniper_junos", {source: body})
    spot = Spot("dut", Address.parse(f"{address}@applied"))
    shown = find(Place(spot, cell(found, address), "juniper_junos", source, "d", "c", None), platforms(), lambda _: body)
    assert shown is not None
    assert shown.locator.startswith(("/interface-information/0/physical-interface/", "/lldp-neighbors-information/0/"))
    assert line in shown.excerpt or line in body[body.index(line) :]
    assert '"data": "et-0/0/1"' not in shown.excerpt


def test_nothing_but_show_is_sent() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("juniper_junos",)), platforms())]
    assert PLATFORM.transport is Transport.CLI
    assert PLATFORM.also == (Transport.NAPALM,)
    assert all(command.startswith("show ") for command in sent)


@captures
@pytest.mark.parametrize(
    ("case", "values"),
    [
        ("ntc_qfx5100", ("21.4R3-S3.4", "qfx5100-48t-6q", "asxx.xx.xx")),
        ("sq_qfx_nossim_leaf01", ("19.4R1.10", "vqfx-10000", "leaf01")),
    ],
)
def test_switches_by_hand(case: str, values: tuple[str, ...]) -> None:
    (row,) = read("version", case, "show_version.txt").rows(System).values()
    assert (row.os_version, row.hardware_model, row.hostname) == values


@captures
def test_serial_numbers_by_hand() -> None:
    (document,) = read("chassis_json", "sq_qfx_nossim_leaf01", "show_chassis_hardware_display_json.json").rows(System).values()
    (text,) = read("chassis", "genie_b", "show_chassis_hardware.txt").rows(System).values()
    assert (document.serial, text.serial) == ("XH3119430089", "JN125D903AFJ")


@captures
def test_ports_by_hand() -> None:
    found = read("interfaces_json", "sq_qfx_spine02", "show_interfaces_display_json.json")
    rows = found.rows(Interface)
    assert len(rows) == 40
    row = rows["xe-0/0/0",]
    assert (row.enabled, row.up, row.mtu, row.mtu_shown, row.speed, row.mac) == (
        True, True, 9200, "9214", 10_000_000_000, "02:05:86:71:c6:03",
    )  # fmt: skip
    assert cell(found, "interface[xe-0/0/0].fec") is GapReason.UNSUPPORTED
    assert (rows["em0",].mtu, rows["em0",].speed, rows["dsc",].mtu_shown) == (1500, 1_000_000_000, "Unlimited")


@captures
def test_neighbours_by_hand() -> None:
    rows = read("lldp_detail", "sq_qfx_spine01", "show_lldp_neighbors_detail_display_json.json").rows(Neighbour)
    row = rows["xe-0/0/3", "516"]
    assert (row.system, row.port_kind, row.port_description, row.chassis, row.heard_s, row.ttl_s) == (
        "exit02", "local", "xe-0/0/0", "02:05:86:71:27:00", 4.0, 120.0,
    )  # fmt: skip
    short = read("lldp_brief", "sq_qfx_leaf3", "show_lldp_neighbors_display_json.json").rows(Neighbour)
    assert short["xe-0/0/0", "Ethernet1/3"].system == "spine1-nxos"


@captures
def test_every_capture_is_read_or_named_here() -> None:
    left = {
        "show_interfaces_queue": "counters", "show_class_of_service_classifier_type_dscp": "cut, and names no queue",
        "show_class_of_service_classifier_type_exp_name_exp_test": "not DSCP", "show_class_of_service_interface_et_0_0_0": "one "
        "port",
    }  # fmt: skip
    for file in sorted(CAPTURES.glob("*/*")):
        words = file.stem.replace("_display_", " | display ").replace("_", " ")
        source = next((source for source in PLATFORM.sources if words in (source.command, *source.aliases)), None)
        if source is None:
            assert file.stem in left, file
        else:
            found = read(source.key, file.parent.name, file.name)
            assert any(found.tables.values()) or any(gap.source == source.key and gap.detail for gap in found.gaps)
