"""EOS outputs of other projects' collections, values read by hand. Skipped where the collection is not beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.collect.commands import Recogniser
from auditor.facts import Interface, Neighbour, Optic, QosPort, Queue, System
from auditor.model import GapReason, State
from auditor.platforms.arista_eos import PLATFORM
from tests.unit.platforms.answers import state

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "eos"
CASE = SHARED / "cases" / "07-lldp-port-id-is-a-mac" / "leaf-07"
BROKEN = SHARED / "cases" / "15-error-text-stored-as-configuration"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")


def read(source: str, file: Path) -> State:
    return state("arista_eos", {source: file.read_text("utf-8")}, None)


def told(found: State, source: str) -> list[GapReason]:
    return [gap.reason for gap in found.gaps if gap.source == source and gap.reason is not GapReason.UNSUPPORTED]


def test_the_neighbours_of_several_switches_in_one_file() -> None:
    """The file holds the answers of several switches behind each other: a port that stands twice in it is nobody's."""
    found = read("lldp_detail", CAPTURES / "veos_mixed" / "show_lldp_neighbors_detail.txt")
    rows = found.rows(Neighbour)
    first = rows["Ethernet1", "Ethernet1"]
    assert (first.system, first.chassis, first.chassis_kind, first.port_kind) == (
        "spine2.example.com", "2c:c2:60:81:ea:f9", "mac", "name",
    )  # fmt: skip
    assert (first.heard_s, first.since_s, first.ttl_s, first.management_address) == (12.0, 71.0, 120.0, None)
    server = rows["Ethernet33", "00:50:56:ac:4c:d9"]
    assert (server.system, server.port_kind, server.port_description) == ("aci-compute", "mac", "ens192")
    assert (server.management_address, server.since_s) == ("172.16.2.222", 50_283.0)
    local = rows["Ethernet23", "527"]
    assert (local.system, local.port_kind, local.port_description) == ("MX", "local", "ge-1/1/1")
    assert rows["Ethernet49/1", "Ethernet49/1"].port_description == '" To R4-Arista-L2-SDNLAB -DC1"'
    assert rows["Ethernet9", "Eth1/23"].port_description == "topology/pod-1/paths-101/pathep-[AVS_Policy_Group]"
    assert not [key for key in rows if key[0] == "Management1"]
    assert sorted(told(found, "lldp_detail"))[0] is GapReason.CONFLICT  # two neighbours with one port id on Ethernet8
    assert rows["Ethernet8", "Management1"].system is None


@pytest.mark.parametrize(
    ("case", "systems"),
    [("anta_two_neighbors", [None]), ("anta_dot_in_hostname", ["DC1.SPINE1.local.com"])],
)
def test_neighbours_as_json(case: str, systems: list[str | None]) -> None:
    found = read("lldp_detail_json", CAPTURES / case / "show_lldp_neighbors_detail_json.json")
    assert [row.system for row in found.rows(Neighbour).values()] == systems
    assert list(found.rows(Neighbour)) == [("Ethernet1", "Ethernet1")]


def test_port_states_from_two_releases_pasted_together() -> None:
    rows = read("interfaces_status", CAPTURES / "flags_col" / "show_interfaces_status.txt").rows(Interface)
    assert (rows["Ethernet1",].up, rows["Ethernet1",].speed) == (False, None)
    assert (rows["Ethernet52",].up, rows["Ethernet52",].speed, rows["Ethernet52",].lag) == (
        True,
        10_000_000_000,
        "Port-Channel49",
    )
    assert (rows["Port-Channel49",].up, rows["Port-Channel49",].speed) == (True, 20_000_000_000)


def test_version() -> None:
    row = read("version", CAPTURES / "ccs720xp" / "show_version.txt").rows(System)[()]
    assert (row.vendor, row.hardware_model, row.serial) == ("Arista", "CCS-720XP-24ZY4-F", "JPE11400249")
    assert (row.os_name, row.os_version, row.kernel) == ("EOS", "4.27.6M", None)


@pytest.mark.parametrize("source", ["lldp_detail", "lldp_neighbors"])
def test_case_of_port_ids_that_are_addresses(source: str) -> None:
    file = {"lldp_detail": "show_lldp_neighbors_detail.txt", "lldp_neighbors": "show_lldp_neighbors.txt"}[source]
    found = read(source, CASE / file)
    assert told(found, source) == []
    rows = found.rows(Neighbour)
    assert {key: row.system for key, row in rows.items()} == {
        ("Ethernet1/1", "b8:3f:d2:11:02:10"): "gpu-021.pod3.example.net",
        ("Ethernet2/1", "b8:3f:d2:11:02:20"): "gpu-022",
        ("Ethernet3/1", "ens108np0"): "gpu-023.pod3.example.net",
        ("Ethernet4/1", "b8:3f:d2:11:02:41"): "gpu-024.pod3.example.net",
        ("Ethernet5/1", "b8:3f:d2:11:02:50"): None,
        ("Ethernet6/1", "b8:3f:d2:ff:0e:60"): None,
        ("Ethernet7/1", "ens108np0"): "GPU-027.POD3.EXAMPLE.NET",
    }


def test_version_as_json() -> None:
    row = read("version_json", CAPTURES / "napalm_ceos430" / "show_version_json.json").rows(System)[()]
    assert (row.hardware_model, row.serial, row.os_version) == (
        "cEOSLab",
        "DE5B7D98C24A207BE70876CC0AD5546F",
        "4.30.0F-31408673.4300F",
    )
    assert (row.kernel, row.booted_at) == ("5.15.0-56-generic", "2023-07-08T18:28:44Z")


def test_interfaces_as_json() -> None:
    """Switched ports of a virtual switch: up, without a speed, with an MTU that is none of IP."""
    rows = read("interfaces_json", CAPTURES / "napalm_facts" / "show_interfaces_json.json").rows(Interface)
    management, port = rows["Management1",], rows["Ethernet2",]
    assert (management.mtu, management.speed, management.autoneg, management.mac) == (1500, 10**9, True, "08:00:27:20:b9:04")
    assert (management.up_since, management.up, management.enabled) == ("2016-06-22T09:14:01Z", True, True)
    assert (port.mtu, port.mtu_shown, port.speed, port.up) == (None, "9214", None, True)
    assert len(rows) == 5


def test_interfaces_that_hold_their_speed_alone() -> None:
    found = read("interfaces_json", CAPTURES / "anta_speed" / "show_interfaces_json.json")
    rows = found.rows(Interface)
    assert (rows["Ethernet3",].up, rows["Ethernet3",].autoneg) == (None, True)
    assert rows["Ethernet4",].speed == 2_500_000_000
    assert set(told(found, "interfaces_json")) == {GapReason.UNPARSED}


def test_interfaces_as_text() -> None:
    rows = read("interfaces", CAPTURES / "ceos" / "show_interfaces.txt").rows(Interface)
    routed, switched = rows["Ethernet1",], rows["Ethernet3",]
    assert (routed.mtu, routed.mtu_shown, routed.speed, routed.description) == (
        1500,
        "IP MTU 1500 bytes",
        10**9,
        "Test interface Et1",
    )
    assert (routed.mac, routed.autoneg, routed.up, routed.enabled) == ("aa:c1:ab:3b:1c:7a", False, True, True)
    assert (switched.mtu, switched.mtu_shown) == (None, "Ethernet MTU 9214 bytes")
    assert (rows["Vlan500",].description, rows["Loopback0",].mtu) == ("VLAN500", 65_535)


def test_serial_numbers_of_modules_by_port() -> None:
    rows = read("transceivers", CAPTURES / "anta_optics" / "show_interfaces_transceiver_dom_thresholds_json.json").rows(Optic)
    assert {key[0]: row.serial for key, row in rows.items()} == {"Ethernet2/1": "TEST05DA", "Ethernet7/1": "TEST08M"}


def test_modules_of_an_inventory_by_slot() -> None:
    rows = read("inventory", CAPTURES / "sq_nossim_leaf01" / "show_inventory_json.json").rows(Optic)
    assert (rows["Ethernet20",].part_number, rows["Ethernet20",].serial) == ("CAB-SFP-SFP-2M", "XHC102920068")
    assert (rows["Ethernet46",].part_number, rows["Ethernet46",].vendor) == ("SFP-10G-SRL", "Arista Networks")
    assert ("Ethernet30",) not in rows


@pytest.mark.skipif(not BROKEN.is_dir(), reason="no field cases beside the checkout")
def test_configurations_that_are_none_or_cut_and_banners() -> None:
    """Of the cut one the port before the cut is told, and nothing of the other; words of a banner are no configuration."""
    pfc = {}
    for switch in "abcdef":
        found = read("running_config", BROKEN / f"sw-{switch}" / "show_running-config.txt")
        pfc[switch] = {key[0]: row.pfc_priorities for key, row in found.rows(QosPort).items()}
        whole = not [gap for gap in found.gaps if gap.table == "qos_port" and gap.reason is not GapReason.UNSUPPORTED]
        assert whole is (switch in "def"), switch
        assert found.has_row(Address("qos_port", ("Ethernet9/1",))) is (False if whole else None), switch
        if whole:
            assert found.rows(Queue)["Ethernet2/1", "3"].watchdog_detection_s == 0.2
    both = {"Ethernet1/1": (3,), "Ethernet2/1": (3,)}
    assert pfc == {"a": {}, "b": {}, "c": {"Ethernet1/1": (3,)}, "d": both, "e": both, "f": {**both, "Ethernet1/1": ()}}


NOT_READ = {
    "show_interfaces_phy_detail_json": "bit error rates and counters of FEC: health, no state",
    "show_qos_interfaces_ecn_counters_queue_json": "counters",
    "show_priority_flow_control_counters_json": "counters; they do not say for which priorities PFC is on",
    "show_interfaces_counters_queue_detail_json": "counters",
}


def test_every_capture_gives_rows_or_is_left_out_for_a_reason() -> None:
    recogniser = Recogniser([PLATFORM])
    silent = set()
    for file in sorted(CAPTURES.glob("*/*")):
        requests = recogniser.by_stem(file.stem)
        if not requests:
            silent.add(file.stem)
            continue
        found = read(requests[0].source.key, file)
        assert any(found.tables.values()), file
    assert silent == set(NOT_READ)
