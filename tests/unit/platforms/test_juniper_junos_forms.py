"""Junos in its other forms: XML, the text of Junos Evolved, and the ports whose modules tell their light."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.evidence import Place, find
from auditor.facts import Interface, Neighbour, Optic
from auditor.model import GapReason, Spot
from auditor.platforms import platforms
from auditor.platforms.juniper_junos import names
from auditor.xmldoc import CutOff
from tests.unit.platforms.answers import recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "junos"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
XML = recorded("juniper_junos", "interfaces_xml", "reply_over_ssh")


def read(source: str, *parts: str):
    return state("juniper_junos", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


def cell(found, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


def test_xml_is_wrapped_as_json_is() -> None:
    answer, cli = '<a xmlns="y"><b junos:style="z">1</b><b/></a>', "<cli><banner>{master:0}</banner></cli>"
    body = f'<rpc-reply xmlns:junos="x">{answer}{cli}</rpc-reply>'
    assert names.from_xml(f"Last login: today\n{body}\n\n{{master:0}}\n") == {"a": [{"b": [{"data": "1"}, {"data": ""}]}]}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("no mark-up", ValueError),
        ("<a><b>1</b>", CutOff),
        ("<rpc-reply><a/><b/></rpc-reply>", ValueError),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', ValueError),
    ],
)
def test_xml_that_is_none_is_refused(body: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        names.from_xml(body)


@pytest.mark.parametrize(
    ("source", "case", "endless"),
    [
        ("interfaces_xml", "reply_over_ssh", False),
        ("lldp_xml", "one_port", False),
        ("optics_xml", "one", False),
        ("optics", "module_and_copper", True),
        ("interfaces", "evolved", True),
    ],
)
def test_broken_answers_are_gaps(source: str, case: str, endless: bool) -> None:
    assert told("juniper_junos", source, recorded("juniper_junos", source, case), endless=endless) == []


def test_json_counts_before_xml() -> None:
    document = recorded("juniper_junos", "interfaces_json", "routed_switched_and_shut")
    both = state("juniper_junos", {"interfaces_json": document, "interfaces_xml": XML})
    assert ("et-0/0/7",) not in both.rows(Interface)
    broken = state("juniper_junos", {"interfaces_json": document[:-40], "interfaces_xml": XML})
    assert cell(broken, "interface[et-0/0/7].mtu") == 9100


def test_a_port_without_a_family_of_ip_has_no_mtu_that_could_be_taken_for_one() -> None:
    found = state("juniper_junos", {"interfaces": recorded("juniper_junos", "interfaces", "evolved")})
    assert cell(found, "interface[et-0/0/12:0].mtu") == 9170
    assert cell(found, "interface[et-0/0/12:0].mtu_shown") == "9216"
    assert isinstance(cell(found, "interface[et-0/0/49].mtu"), GapReason)


def test_a_description_that_looks_like_a_line_of_the_port_changes_nothing() -> None:
    body = recorded("juniper_junos", "interfaces", "evolved")
    hostile = body.replace("Description: VRF tenant-7 to gpu-node-71", "Description: MTU: 1500, Speed: 1Gbps")
    before, after = (state("juniper_junos", {"interfaces": text}) for text in (body, hostile))
    for column in ("mtu", "mtu_shown", "speed"):
        address = f"interface[et-0/0/12:0].{column}"
        assert cell(before, address) == cell(after, address)


def test_a_cable_of_copper_is_neither_a_module_nor_an_empty_cage() -> None:
    found = state("juniper_junos", {"optics": recorded("juniper_junos", "optics", "module_and_copper")})
    assert set(found.rows(Optic)) == {("et-0/0/7",), ("xe-0/0/51:2",)}
    assert found.has_row(Address.parse("optic[et-0/0/9]")) is None


@pytest.mark.parametrize(
    ("source", "case", "address", "line"),
    [
        ("interfaces_xml", "reply_over_ssh", "interface[et-0/0/8].mtu_shown", "<mtu>1514</mtu>"),
        ("interfaces_xml", "reply_over_ssh", "interface[et-0/0/7].speed", "<speed>100Gbps</speed>"),
        ("interfaces", "evolved", "interface[et-0/0/12:0].fec", "FEC119"),
        ("lldp_xml", "one_port", "neighbour[et-0/0/7,Ethernet248].system", "et-0/0/7.0"),
        ("optics", "module_and_copper", "optic[xe-0/0/51:2].present", "xe-0/0/51:2"),
    ],
)
def test_the_line_that_proves_a_cell_is_that_of_its_port(source: str, case: str, address: str, line: str) -> None:
    body = recorded("juniper_junos", source, case)
    found = state("juniper_junos", {source: body})
    spot = Spot("dut", Address.parse(f"{address}@applied"))
    shown = find(Place(spot, cell(found, address), "juniper_junos", source, "d", "c", None), platforms(), lambda _: body)
    assert shown is not None
    assert line in shown.excerpt


@captures
def test_xml_of_a_whole_box_by_hand() -> None:
    rows = read("interfaces_xml", "napalm_iffdown", "show_interfaces_display_xml.xml").rows(Interface)
    assert len(rows) == 65
    row = rows["ge-5/0/0",]
    assert (row.enabled, row.up, row.mtu, row.mtu_shown, row.speed, row.autoneg, row.mac) == (
        True, True, 1500, "1514", 1_000_000_000, True, "20:d8:0b:71:2e:72",
    )  # fmt: skip


@captures
def test_a_neighbour_without_a_port_id_is_a_gap_of_its_port() -> None:
    found = read("lldp_xml", "napalm_missing_port_ids", "show_lldp_neighbors_interface_display_xml.xml")
    assert found.rows(Neighbour) == {}
    (gap,) = [gap for gap in found.gaps if gap.source == "lldp_xml"]
    assert gap.detail == "the neighbour on fe-0/0/2 tells no port id"


@captures
def test_modules_that_tell_their_light_by_hand() -> None:
    text = read("optics", "genie_b", "show_interfaces_diagnostics_optics.txt")
    document = read("optics_xml", "napalm_inf_with_space", "show_interfaces_diagnostics_optics_display_xml.xml")
    assert (set(text.rows(Optic)), set(document.rows(Optic))) == ({("et-0/0/0",)}, {("xe-2/2/2",)})
