"""EOS outputs of other projects' collections, values read by hand. Skipped where the collection is not beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.facts import Interface, Neighbour, System
from auditor.model import GapReason, State
from tests.unit.platforms.answers import state

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "eos"
CASE = SHARED / "cases" / "07-lldp-port-id-is-a-mac" / "leaf-07"
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
