"""OS10 outputs of other projects' collections, values read by hand. Skipped where the collection is not beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.commands import Recogniser
from auditor.facts import Firmware, Interface, Neighbour, System
from auditor.model import GapReason, State
from auditor.platforms.dell_os10 import PLATFORM
from tests.unit.platforms.answers import state

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "dell_os10"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")


def read(source: str, file: str) -> State:
    with (CAPTURES / file).open(encoding="utf-8", newline="") as stream:
        return state("dell_os10", {source: stream.read()}, None)


def told(found: State, source: str) -> list[GapReason]:
    return [gap.reason for gap in found.gaps if gap.source == source and gap.reason is not GapReason.UNSUPPORTED]


def test_neighbours_with_and_without_a_name() -> None:
    found = read("lldp_detail", "arc_s5248_10_5/show_lldp_neighbors_detail.txt")
    assert told(found, "lldp_detail") == []
    rows = found.rows(Neighbour)
    assert len(rows) == 15
    nic = rows["ethernet1/1/1", "1c:34:da:42:14:7c"]
    assert (nic.system, nic.port_kind, nic.chassis, nic.port_description) == (
        None, "mac", "1c:34:da:42:14:7e", "ConnectX-4 Lx, 25G/10G/1G SFP",
    )  # fmt: skip
    assert (nic.ttl_s, nic.heard_s, nic.since_s) == (48.0, 7.0, 47 * 604_800 + 5 * 86_400 + 19 * 3600 + 22 * 60 + 30)
    spine = rows["ethernet1/1/47:1", "Ethernet1/16/1"]
    assert (spine.system, spine.management_address) == ("RR1-S46-R01-9336ssp-1b.corp.example.com", "2001:db8:e0:2::546:1002")
    peer = rows["ethernet1/1/50", "ethernet1/1/50"]
    assert (peer.system, peer.port_kind, peer.ttl_s, peer.heard_s) == ("s46r23b-Rack01-TOR-2", "name", 120.0, 2.0)


def test_states_of_ports_with_breakout() -> None:
    found = read("interface_status", "arc_s5248_10_6/show_interface_status.txt")
    rows = found.rows(Interface)
    assert (rows["ethernet1/1/1:1",].up, rows["ethernet1/1/1:1",].speed) == (True, 10**10)
    assert (rows["ethernet1/1/3:1",].up, rows["ethernet1/1/3:1",].speed) == (False, None)
    assert (rows["port-channel128",].speed, rows["vlan7",].up) == (200 * 10**9, True)
    assert told(found, "interface_status") == []


def test_states_of_routed_ports() -> None:
    rows = read("interface_status", "cray_agg/show_interface_status.txt").rows(Interface)
    assert len(rows) == 54
    assert (rows["ethernet1/1/25",].speed, rows["ethernet1/1/27",].speed) == (100 * 10**9, 40 * 10**9)
    assert (rows["ethernet1/1/26",].up, rows["ethernet1/1/26",].speed) == (False, None)


def test_inventory() -> None:
    row = read("inventory", "arc_s5248_10_6/show_inventory.txt").rows(System)[()]
    assert (row.vendor, row.hardware_model, row.serial, row.os_version) == ("Dell", "S5248F-ON", "5M44SR3", "10.6.0.5")


def test_firmware_as_text() -> None:
    rows = read("system", "arc_s5248_10_6/show_system.txt").rows(Firmware)
    assert {key[0]: row.version for key, row in rows.items()} == {
        "bios": "3.40.0.9-15", "bmc": "1.07", "onie": "3.40.1.1-9", "ssd": "L20B12", "ocore-fpga-pci-0000-04-00-0": "3.4",
        "cpld.system": "0.8", "cpld.secondary-1": "1.0", "cpld.secondary-2": "1.0", "cpld.secondary-3": "0.0",
        "cpld.secondary-4": "0.0",
    }  # fmt: skip


def test_system_as_xml() -> None:
    found = read("system_xml", "napalm_s6000_vm/show_system_display_xml.xml")
    row = found.rows(System)[()]
    assert (row.hardware_model, row.serial, row.os_version) == ("S5248F-ON", "AABBCC2", "10.5.1.0")
    rows = found.rows(Firmware)
    assert (rows["bios",].version, rows["fpga",].version, rows["bmc",].version) == ("3.40.0.9-9", "2.3", "1.01")
    assert len(rows) == 8


def test_version_as_xml_with_a_prompt_behind_it() -> None:
    row = read("version_xml", "napalm_s6000_vm/show_version_display_xml.xml").rows(System)[()]
    assert (row.hostname, row.hardware_model, row.os_version) == ("OS10", "S6000-VM", "10.3.9999E")
    assert (row.image_id, row.booted_at) == ("10.3.9999E(6297)", "2018-01-09T06:14:25Z")


def test_interfaces_as_36_documents() -> None:
    found = read("interfaces_xml", "napalm_s6000_vm/show_interface_display_xml.xml")
    rows = found.rows(Interface)
    assert len(rows) == 35
    port, management = rows["ethernet1/1/1",], rows["mgmt1/1/1",]
    assert (port.enabled, port.up, port.speed, port.frame_bytes, port.mtu) == (True, False, None, 1532, None)
    assert port.mac == "00:50:56:be:92:2d"
    assert (management.up, management.speed, management.frame_bytes) == (True, 10**9, None)
    assert found.has_row(Address("interface", ("ethernet1/1/33",))) is False
    assert told(found, "interfaces_xml") == []


NOT_READ = {"show_interface_port_channel_100_summary": "one command for each aggregate, whose uptime is cut to its column"}


def test_every_capture_gives_rows_or_is_left_out_for_a_reason() -> None:
    recogniser = Recogniser([PLATFORM])
    silent = set()
    for file in sorted(CAPTURES.glob("*/*")):
        requests = recogniser.by_stem(file.stem)
        if not requests:
            silent.add(file.stem)
            continue
        found = read(requests[0].source.key, str(file.relative_to(CAPTURES)))
        assert any(found.tables.values()), file
    assert silent == set(NOT_READ)
