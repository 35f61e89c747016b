"""Fabrics of other people, values read by hand. Skipped where the collection is not beside the checkout."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from auditor.address import Address, Layer
from auditor.dialects import ibstat
from auditor.facts import IbNode, IbPort, RdmaPort
from auditor.model import GapReason, State
from tests.unit.platforms.answers import state

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "host"
CASE = SHARED / "cases" / "19-ibnetdiscover-crossed-and-nameless"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")


def read(source: str, file: str) -> State:
    return state("infiniband", {source: (CAPTURES / file).read_text("utf-8")}, None)


def ports(found: State) -> dict[tuple[str, ...], IbPort]:
    return dict(found.tables[IbPort, Layer.APPLIED])  # type: ignore[arg-type]


def told(found: State) -> list[GapReason]:
    return [gap.reason for gap in found.gaps if gap.reason is not GapReason.UNSUPPORTED]


def test_a_fabric_of_forty_switches() -> None:
    found = read("ibnetdiscover", "ibnetdiscover/superpod-ndr-40switch-582ca.txt")
    kinds = Counter(row.kind for row in found.rows(IbNode).values())
    assert kinds == {"switch": 40, "ca": 542}  # the other 40 adapters are engines of the switches
    assert told(found) == []
    rows = ports(found)
    assert len(rows) == 2148  # 2,228 lines without the 80 of the engines
    leaf = rows["2c5eab0300b87b40", "1"]
    assert (leaf.peer_guid, leaf.peer_port, leaf.peer_description) == ("e09d7303007a4bd8", "1", "a08-p1-dgx-04-c01 mlx5_5")
    assert (leaf.width, leaf.speed, leaf.rate, leaf.lid) == (4, "NDR", 400_000_000_000, 73)
    uplinks = [rows["2c5eab0300b87b40", port] for port in ("35", "36")]
    assert [(row.peer_guid, row.peer_port) for row in uplinks] == [("2c5eab0300c26280", "32"), ("2c5eab0300c26280", "31")]
    host = rows["e09d730300156ff6", "1"]
    assert (host.peer_guid, host.peer_port, host.lid, host.port_guid) == ("2c5eab0300c26480", "8", 246, "e09d730300156ff6")
    assert ("2c5eab0300b87b40", "65") not in rows
    assert found.has_row(Address("ib_port", ("2c5eab0300b87b40", "18"))) is False
    factory = [row for row in found.rows(IbNode).values() if row.description == "MT4129 ConnectX7   Mellanox Technologies"]
    text = (CAPTURES / "ibnetdiscover/superpod-ndr-40switch-582ca.txt").read_text("utf-8")
    assert len(factory) == len(re.findall(r'^Ca.*# "MT4129 ConnectX7   Mellanox Technologies"', text, re.MULTILINE)) > 0


def test_a_fabric_cut_in_a_switch() -> None:
    found = read("ibnetdiscover", "ibnetdiscover/superpod-ndr-cut-mid-switch.txt")
    assert GapReason.TRUNCATED in told(found)
    assert found.has_row(Address("ib_port", ("2c5eab0300b87b40", "18"))) is None
    assert ports(found)["2c5eab0300b87b40", "1"].peer_guid == "e09d7303007a4bd8"


@pytest.mark.parametrize("file", ["lab-healthy-hdr.txt", "lab-healthy-hdr-full-f.txt"])
def test_both_depths_of_detail_give_the_same(file: str) -> None:
    found = read("ibnetdiscover", f"ibnetdiscover/{file}")
    assert told(found) == []
    assert Counter(row.kind for row in found.rows(IbNode).values()) == {"switch": 6, "ca": 24}
    assert {(row.width, row.speed, row.rate) for row in ports(found).values()} == {(4, "HDR", 200_000_000_000)}
    node = ports(found)["e09d730300500030", "1"]
    assert (node.port_guid, node.peer_guid, node.peer_port) == ("e09d730300500031", "2c5eab0300a100c0", "1")


def test_one_fabric_as_three_commands_print_it() -> None:
    walk = ports(read("ibnetdiscover", "ibnetdiscover/lab-cabling-faults-edr.txt"))
    listing = read("iblinkinfo_blocks", "iblinkinfo/lab-cabling-faults-edr.txt")
    report = read("ibnetdiscover_ports", "ibnetdiscover-p/lab-cabling-faults-edr.txt")
    assert told(listing) == told(report) == []
    switches = {key: row for key, row in walk.items() if row.port_guid is None}
    assert len(switches) == 53
    for other in (listing, report):
        plugged = {key: row for key, row in ports(other).items() if row.peer_port is not None}
        assert plugged.keys() == switches.keys()
        for key, row in plugged.items():
            mine = switches[key]
            assert (row.width, row.speed, row.lid, row.peer_port) == (mine.width, mine.speed, mine.lid, mine.peer_port)
            assert row.peer_port_guid == mine.peer_port_guid
            assert row.peer_guid in (mine.peer_guid, None)
            assert row.peer_description == mine.peer_description
    assert sum(row.state == "down" for row in ports(listing).values()) == 187


def test_small_and_cut_listings_give_a_reason() -> None:
    for file in ("ddr-two-hca-back-to-back.txt", "edr-grep-up-n01.txt", "qdr-infiniscale4-cut.txt"):
        found = read("iblinkinfo_blocks", f"iblinkinfo/{file}")
        assert not ports(found)
        assert any(gap.source == "iblinkinfo_blocks" for gap in found.gaps)


def test_reports_with_placeholders_and_names_between_blanks() -> None:
    found = read("ibnetdiscover_ports", "ibnetdiscover-p/edr-p-unknown-width-and-down.txt")
    row = ports(found)["7cfe9003009ce5b0", "1"]
    assert (row.peer_guid, row.peer_port, row.peer_description, row.rate) == (
        "7cfe900300b07320",
        "1",
        "ib-i1l2s01",
        100_000_000_000,
    )
    assert ("506b4b03005c2740", "37") not in ports(found)
    found = read("ibnetdiscover_ports", "ibnetdiscover-p/hdr-p-leading-spaces-names.txt")
    assert found.rows(IbNode)["946dae0300618c83",].description == "5FB0406-spine-IB02"


def test_case_of_the_crossed_and_nameless() -> None:
    found = state("infiniband", {"ibnetdiscover": (CASE / "ibnetdiscover.txt").read_text("utf-8")}, None)
    assert told(found) == []
    rows = ports(found)
    assert sum(row.kind == "switch" for row in found.rows(IbNode).values()) == 3
    assert (rows["b83fd2030032a000", "1"].peer_guid, rows["b83fd2030032a000", "1"].peer_port) == ("fc6a1c0300aa0200", "2")
    assert rows["fc6a1c0300aa0200", "4"].rate == rows["b83fd2030034b000", "1"].rate == 200_000_000_000
    assert [rows["fc6a1c0300aa0200", port].peer_port for port in ("33", "34")] == ["4", "3"]
    assert found.rows(IbNode)["b83fd2030033a000",].description == "MT4129 ConnectX7   Mellanox Technologies"
    assert not {key for key in rows if key[1] == "65"}


@pytest.mark.parametrize(
    ("file", "count", "asked"),
    [
        ("cx4-edr-sm-lid-1.txt", 1, ["mlx5_0"]),
        ("h100-9x-ndr-spaces-indent.txt", 9, [f"mlx5_{number}" for number in (0, 1, 4, 5, 6, 7, 8, 9)]),
        ("h100-8x400-roce-plus-cx6dx.txt", 12, []),
        ("mlx4-dual-port-ethernet.txt", 2, []),
    ],
)
def test_hosts(file: str, count: int, asked: list[str]) -> None:
    found = read("ibstat", f"ibstat/{file}")
    assert len(found.rows(RdmaPort)) == count
    assert told(found) == []
    assert ibstat.fabric_adapters((CAPTURES / "ibstat" / file).read_text("utf-8")) == asked


def test_a_port_that_is_down_has_no_rate() -> None:
    rows = read("ibstat", "ibstat/h100-some-down-sdr.txt").rows(RdmaPort)
    assert rows["mlx5_0", "1"].rate == 400_000_000_000
    assert all(row.rate is None for row in rows.values() if row.state != "active")
    assert any(row.state != "active" for row in rows.values())
