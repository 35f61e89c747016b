"""Dell OS10: names, what a cut answer may conclude, and the line that proves a cell."""

from __future__ import annotations

import pytest

from auditor.address import Address
from auditor.collect.commands import Recogniser
from auditor.collect.guard import allowed
from auditor.evidence import Place, find
from auditor.facts import Interface, Neighbour, schema
from auditor.model import Device, GapReason, Spot, State, Transport
from auditor.platforms import platforms
from auditor.platforms.dell_os10 import PLATFORM
from auditor.platforms.dell_os10.documents import documents
from auditor.platforms.dell_os10.names import in_tables, short_name, spoken
from auditor.platforms.dell_os10.system import component
from tests.unit.platforms.answers import recorded, state, told

PORTS = recorded("dell_os10", "interfaces", "up_down_and_aggregate")
PAGES = recorded("dell_os10", "interfaces_xml", "paged")
DETAIL = recorded("dell_os10", "lldp_detail", "nic_and_switch")


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Ethernet 1/1/1", "ethernet1/1/1"), ("Eth 1/1/47:1", "ethernet1/1/47:1"), ("ethernet1/1/1", "ethernet1/1/1"),
        ("Po 128", "port-channel128"), ("Port-channel 1000", "port-channel1000"), ("Management 1/1/1", "mgmt1/1/1"),
        ("Vl 7", "vlan7"), ("null0", "null0"), ("Ethernet1/16/1", "ethernet1/16/1"), ("mlx5_0", "mlx5_0"), ("", ""),
    ],
)  # fmt: skip
def test_ports_have_one_name(written: str, name: str) -> None:
    assert short_name(written) == name
    assert PLATFORM.interface_name(written) == name


def test_names_go_back_to_how_answers_write_them() -> None:
    assert [spoken(part) for part in ("ethernet1/1/2:1", "port-channel12", "mgmt1/1/1", "x")] == [
        "Ethernet 1/1/2:1", "Port-channel 12", "Management 1/1/1", "x",
    ]  # fmt: skip
    assert [in_tables(part) for part in ("ethernet1/1/2:1", "port-channel12", "vlan7", "x")] == [
        "Eth 1/1/2:1",
        "Po 12",
        "Vl 7",
        "x",
    ]


def test_parts_have_names_that_rules_select() -> None:
    assert [component(name) for name in ("BIOS", "System CPLD", "Slave CPLD 4", "OCORE-FPGA@pci_0000_04_00.0")] == [
        "bios", "cpld.system", "cpld.slave-4", "ocore-fpga-pci-0000-04-00-0",
    ]  # fmt: skip


def test_only_the_text_tells_the_ip_mtu_and_both_agree_on_the_frame() -> None:
    pages = state("dell_os10", {"interfaces_xml": PAGES})
    assert cell(pages, "interface[ethernet1/1/1].frame_bytes") == 9216
    assert cell(pages, "interface[ethernet1/1/1].mtu") is GapReason.NOT_COLLECTED
    both = state("dell_os10", {"interfaces": PORTS, "interfaces_xml": PAGES})
    row = both.rows(Interface)["ethernet1/1/1",]
    assert (row.mtu, row.frame_bytes, row.speed, row.fec, row.mac) == (9184, 9216, 400_000_000_000, "rs", "0c:29:ef:11:20:05")
    assert not [gap for gap in both.gaps if gap.reason is GapReason.CONFLICT]


def test_a_description_is_no_mtu() -> None:
    row = state("dell_os10", {"interfaces": PORTS}).rows(Interface)["ethernet1/1/2:1",]
    assert (row.mtu, row.frame_bytes, row.description) == (1500, 1532, "MTU 1500 bytes, IP MTU 1468 bytes")


def test_a_page_that_is_missing_leaves_no_port_absent() -> None:
    whole = state("dell_os10", {"interfaces_xml": PAGES})
    assert whole.has_row(Address("interface", ("ethernet1/1/9",))) is False
    parts = PAGES.split("<?xml")
    for at in range(2, len(parts)):
        cut = state("dell_os10", {"interfaces_xml": "<?xml".join(parts[:at])})
        assert cut.has_row(Address("interface", ("ethernet1/1/9",))) is None, at


def test_entities_of_an_answer_are_not_read() -> None:
    body = PAGES.replace('<?xml version="1.0"?>', '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>', 1)
    with pytest.raises(ValueError, match="declares entities"):
        list(documents(body))
    found = state("dell_os10", {"interfaces_xml": body})
    assert not any(found.tables.values())
    assert {gap.reason for gap in found.gaps if gap.source == "interfaces_xml"} == {GapReason.UNPARSED}


def test_a_description_of_several_lines_forges_no_neighbour() -> None:
    rows = state("dell_os10", {"lldp_detail": DETAIL}).rows(Neighbour)
    assert set(rows) == {("ethernet1/1/1", "b8:3f:d2:5c:12:0a"), ("ethernet1/1/31:1", "ethernet1/1/7")}
    assert rows["ethernet1/1/1", "b8:3f:d2:5c:12:0a"].system is None


@pytest.mark.parametrize(
    ("source", "case", "endless"),
    [
        ("version_xml", "leaf_with_prompt", False),
        ("version", "leaf", False),
        ("system_xml", "one_unit", False),
        ("system", "one_unit", False),
        ("inventory", "one_unit", False),
        ("interfaces", "up_down_and_aggregate", True),
        ("interfaces_xml", "paged", False),
        ("interface_status", "states", True),
        ("lldp_detail", "nic_and_switch", True),
    ],
)
def test_a_broken_answer_is_a_gap_or_changes_nothing(source: str, case: str, endless: bool) -> None:
    assert told("dell_os10", source, recorded("dell_os10", source, case), endless=endless) == []


@pytest.mark.parametrize("source", [source.key for source in PLATFORM.sources])
def test_an_answer_cut_at_any_line_gives_no_other_value(source: str) -> None:
    cases = {
        "version_xml": "leaf_with_prompt", "version": "leaf", "interfaces": "up_down_and_aggregate", "interfaces_xml": "paged",
        "interface_status": "states", "lldp_detail": "nic_and_switch",
    }  # fmt: skip
    case = cases.get(source, "one_unit")
    body = recorded("dell_os10", source, case)
    whole = state("dell_os10", {source: body})
    lines = body.splitlines(keepends=True)
    for at in range(1, len(lines)):
        cut = state("dell_os10", {source: "".join(lines[:at])})
        for (row_type, layer), rows in cut.tables.items():
            for key, row in rows.items():
                known = whole.tables[row_type, layer].get(key)
                assert known is not None, (at, key)
                for column in schema(row_type).columns:
                    value = getattr(row, column)
                    assert value in (None, getattr(known, column)), (at, key, column)


@pytest.mark.parametrize("source", [source.key for source in PLATFORM.sources])
def test_the_answer_to_another_command_is_not_taken_for_this_one(source: str) -> None:
    bodies = {
        "version_xml": recorded("dell_os10", "version_xml", "leaf_with_prompt"),
        "version": recorded("dell_os10", "version", "leaf"),
        "system_xml": recorded("dell_os10", "system_xml", "one_unit"),
        "system": recorded("dell_os10", "system", "one_unit"),
        "interfaces": PORTS,
        "lldp_detail": DETAIL,
    }
    for other, body in bodies.items():
        if other != source:
            found = state("dell_os10", {source: body})
            assert not any(found.tables.values()), other
            assert any(gap.source == source and gap.reason is not GapReason.UNSUPPORTED for gap in found.gaps), other


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("% Error: Unrecognized command.\n", GapReason.REJECTED),
        ("% Error: Incomplete command.\n", GapReason.REJECTED),
        ("% Error: Permission denied.\n", GapReason.PERMISSION),
    ],
)
def test_complaints_are_no_answers(text: str, reason: GapReason) -> None:
    found = state("dell_os10", {"lldp_detail": text}, None)
    assert not any(found.tables.values())
    assert {gap.reason for gap in found.gaps if gap.source == "lldp_detail"} == {reason}


def excerpt(source: str, body: str, address: str, value: object) -> str:
    place = Place(Spot("leaf", Address.parse(address)), value, "dell_os10", source, "d")
    evidence = find(place, platforms(), lambda _: body)
    assert evidence is not None
    return evidence.excerpt


def test_the_lines_that_prove_a_cell_are_found() -> None:
    assert excerpt("interfaces", PORTS, "interface[ethernet1/1/1].mtu", 9184).splitlines() == [
        "Ethernet 1/1/1 is up, line protocol is up", "MTU 9216 bytes, IP MTU 9184 bytes",
    ]  # fmt: skip
    address = 'neighbour[ethernet1/1/31:1,"ethernet1/1/7"].system'
    assert "Remote System Name: spine-2.lab.example.net" in excerpt("lldp_detail", DETAIL, address, "spine-2.lab.example.net")


def test_what_is_sent_changes_nothing_on_the_switch() -> None:
    sent = [command for _, _, command in allowed(Device("leaf", ("dell_os10",)), platforms())]
    assert sent[0] == "show version | display-xml"
    assert all(command.startswith("show ") for command in sent)
    assert (PLATFORM.transport, PLATFORM.netmiko) == (Transport.CLI, "dell_os10")
    (request,) = Recogniser([PLATFORM]).by_stem("show_interface_display_xml")
    assert request.source.key == "interfaces_xml"


def test_qos_is_unsupported_and_never_passes() -> None:
    found = state("dell_os10", {"interfaces": PORTS})
    for address in (
        "qos_port[ethernet1/1/1].pfc_priorities",
        "queue[ethernet1/1/1,3].ecn_enabled",
        "dscp_map[x,26].traffic_class",
    ):
        gap = found.cell(Address.parse(address)).gap
        assert gap is not None
        assert gap.reason is GapReason.UNSUPPORTED
        assert gap.detail
