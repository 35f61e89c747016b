"""iblinkinfo in both forms, and the report of ibnetdiscover: the same fabric in three spellings."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.dialects import iblinkinfo as links

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "infiniband"
LINES = (FIXTURES / "iblinkinfo" / "unplugged_deaf_and_engines" / "output.txt").read_text("utf-8")
BLOCKS = (FIXTURES / "iblinkinfo_blocks" / "unplugged_deaf_and_engines" / "output.txt").read_text("utf-8")
REPORT = (FIXTURES / "ibnetdiscover_ports" / "unlinked_and_engines" / "output.txt").read_text("utf-8")
LEAF = "a088c203006b0200"


def port(listing: links.Listing, number: str, guid: str = LEAF) -> links.PortLine:
    (found,) = [item for item in listing.ports if (item.guid, item.port) == (guid, number)]
    return found


def test_both_forms_say_the_same() -> None:
    def comparable(listing: links.Listing) -> set[links.PortLine]:
        return {item._replace(line=0) for item in listing.ports}

    assert comparable(links.lines(LINES)) == comparable(links.blocks(BLOCKS))
    assert links.lines(LINES).strange == links.blocks(BLOCKS).strange == []


@pytest.mark.parametrize("listing", [links.lines(LINES), links.blocks(BLOCKS)], ids=["lines", "blocks"])
class TestEitherForm:
    def test_a_plugged_port_has_state_lanes_and_far_end(self, listing: links.Listing) -> None:
        item = port(listing, "1")
        assert (item.state, item.width, item.speed, item.lid) == ("active", 4, "NDR", 7)
        assert (item.peer_guid, item.peer_switch, item.peer_port, item.peer_lid) == ("946dae03007c1101", False, "1", 9)
        assert (item.peer_description, item.description, item.switch) == ("node-21 mlx5_1", "MF0;ib-lf-12:MQM9790/U1", True)

    def test_a_switch_across_is_known_as_one(self, listing: links.Listing) -> None:
        assert (port(listing, "7").peer_guid, port(listing, "7").peer_switch) == ("a088c203006b0300", True)

    def test_an_unplugged_port_is_down_and_nothing_else(self, listing: links.Listing) -> None:
        for number in ("3", "4"):
            item = port(listing, number)
            assert (item.state, item.width, item.speed, item.peer_port, item.deaf) == ("down", None, None, "", False)

    def test_what_does_not_answer_is_no_empty_port(self, listing: links.Listing) -> None:
        item = port(listing, "5")
        assert (item.state, item.peer_port, item.deaf) == ("active", "", True)

    def test_a_speed_that_is_not_known_leaves_the_rest(self, listing: links.Listing) -> None:
        item = port(listing, "6")
        assert (item.state, item.speed, item.peer_description) == ("init", None, "node-25 mlx5_0")

    def test_ports_of_adapters_are_told_from_those_of_switches(self, listing: links.Listing) -> None:
        adapters = {item.description for item in listing.ports if not item.switch}
        assert "node-23 mlx5_0" in adapters
        assert not any(name.startswith("MF0;") for name in adapters)

    def test_every_far_end_has_a_line(self, listing: links.Listing) -> None:
        assert list(links.hidden(listing)) == []


@pytest.mark.parametrize("read", [links.lines, links.report], ids=["lines", "report"])
def test_a_cut_listing_lacks_far_ends(read: object) -> None:
    text = LINES if read is links.lines else REPORT
    half = "".join(text.splitlines(keepends=True)[:14])
    assert list(links.hidden(read(half)))  # type: ignore[operator]


def test_a_lid_of_two_nodes_or_of_none_resolves_nothing() -> None:
    twice = BLOCKS.replace("      0x946dae03007c3001     11    1", "      0x946dae03007c3001      9    1")
    assert port(links.blocks(twice), "1").peer_guid is None
    before_a_manager_came = BLOCKS.replace("==>       9    1[", "==>       0    1[")
    assert port(links.blocks(before_a_manager_came), "1").peer_guid is None


def test_a_name_that_looks_like_a_link_makes_its_line_strange() -> None:
    text = LINES.replace('"node-21 mlx5_1" ( )', '"x" 1 1[  ] ==( 4X 2.5 Gbps Active/ LinkUp)==> " ( )')
    listing = links.lines(text)
    assert len(listing.strange) == 1
    assert not [item for item in listing.ports if (item.guid, item.port) == (LEAF, "1")]


def test_the_report_gives_linked_ports_and_placeholders_for_the_others() -> None:
    listing = links.report(REPORT)
    linked, alone = port(listing, "1"), port(listing, "3")
    assert (linked.switch, linked.width, linked.speed, linked.peer_guid) == (True, 4, "NDR", "946dae03007c1101")
    assert (alone.width, alone.speed, alone.peer_port, alone.state) == (None, None, "", None)
    assert port(listing, "5", "a088c203006b0300").description == "MF0;ib-sp-11:MQM9790/U1"
    assert port(listing, "2").peer_description == 'stor "05"; [rack 4] HCA-1'
    assert listing.strange == []


def test_fdr10_is_told_from_qdr() -> None:
    text = BLOCKS.replace("       106.25 Gbps Active", " 10.0 Gbps (FDR10) Active")
    assert port(links.blocks(text), "1").speed == "FDR10"
