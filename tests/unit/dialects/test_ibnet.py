"""ibnetdiscover's blocks: what each line says, and where the two ends of a cable do not agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.dialects import ibnet

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "infiniband" / "ibnetdiscover"
POD = (FIXTURES / "parallel_links_engines_and_quotes" / "output.txt").read_text("utf-8")
LEAF, SPINE, HOST = "a088c203006b0100", "a088c203006b0300", "946dae03007c3000"


def cable(fabric: ibnet.Fabric, guid: str, port: str) -> ibnet.Cable:
    (found,) = [cable for cable in fabric.nodes[guid].cables if cable.port == port]
    return found


def test_nodes_have_their_kind_names_and_ids() -> None:
    fabric = ibnet.discover(POD)
    leaf, host = fabric.nodes[LEAF], fabric.nodes[HOST]
    assert (leaf.kind, leaf.description, leaf.ports, leaf.device_id, leaf.lid) == (
        "switch",
        "MF0;ib-lf-11:MQM9790/U1",
        9,
        0xD2F2,
        6,
    )
    assert (host.kind, host.description, host.ports, host.system_guid, host.lid) == ("ca", "node-23 mlx5_0", 1, HOST, None)
    assert fabric.origin == "946dae03007c1000"
    assert fabric.strange == []


def test_both_ends_of_a_cable_are_given_with_lanes_and_port_guids() -> None:
    fabric = ibnet.discover(POD)
    down, up = cable(fabric, LEAF, "3"), cable(fabric, HOST, "1")
    assert (down.peer_guid, down.peer_port, down.peer_port_guid, down.peer_switch) == (HOST, "1", "946dae03007c3001", False)
    assert (up.peer_guid, up.peer_port, up.peer_port_guid, up.peer_switch) == (LEAF, "3", None, True)
    assert (up.port_guid, up.lid, down.lid) == ("946dae03007c3001", 11, None)
    assert {(one.width, one.speed) for one in (down, up)} == {(2, "NDR")}


def test_parallel_links_are_all_kept() -> None:
    fabric = ibnet.discover(POD)
    assert [(one.port, one.peer_port) for one in fabric.nodes[SPINE].cables if one.peer_guid == LEAF] == [("1", "7"), ("2", "8")]


def test_quotes_and_brackets_in_a_name_belong_to_it() -> None:
    fabric = ibnet.discover(POD)
    assert cable(fabric, "a088c203006b0200", "2").peer_description == 'stor "05"; [rack 4] HCA-1'
    assert fabric.nodes["946dae03007c4000"].description == 'stor "05"; [rack 4] HCA-1'


def test_a_generation_that_the_tool_does_not_know_is_none() -> None:
    assert (cable(ibnet.discover(POD), SPINE, "4").width, cable(ibnet.discover(POD), SPINE, "4").speed) == (4, None)


def test_a_whole_answer_has_no_doubts() -> None:
    assert ibnet.doubts(ibnet.discover(POD)) == []


@pytest.mark.parametrize("lines", range(20, 78, 3))
def test_every_cut_behind_the_first_block_shows(lines: int) -> None:
    kept = "".join(POD.splitlines(keepends=True)[:lines])
    fabric = ibnet.discover(kept)
    assert any(doubt.cut for doubt in ibnet.doubts(fabric)) or fabric.strange


def test_a_peer_without_a_block_is_told_by_the_line_that_names_it() -> None:
    head, _, _ = POD.partition("\nvendid=0x2c9\ndevid=0x101b")
    doubt = next(one for one in ibnet.doubts(ibnet.discover(head)) if one.guid == "946dae03007c4000")
    assert (doubt.port, doubt.by, doubt.by_port, doubt.cut) == ("", "a088c203006b0200", "2", True)


def test_a_cable_with_a_line_at_one_end_only_is_doubted_at_the_other() -> None:
    fabric = ibnet.discover(POD.replace('[1]\t"S-a088c203006b0100"[7]\t\t# "MF0;ib-lf-11:MQM9790/U1" lid 6 4xNDR\n', ""))
    assert ibnet.doubts(fabric) == [ibnet.Doubt(SPINE, "1", LEAF, "7", cut=True)]


def test_lines_that_contradict_each_other_are_no_cut() -> None:
    moved = POD.replace('"S-a088c203006b0100"[3]\t', '"S-a088c203006b0100"[4]\t')
    found = {(doubt.guid, doubt.port): doubt.cut for doubt in ibnet.doubts(ibnet.discover(moved))}
    assert found == {(LEAF, "3"): False, (LEAF, "4"): True}


def test_engines_inside_switches_are_told_by_the_system_guid_whatever_they_are_called() -> None:
    text = (FIXTURES / "engine_with_another_name" / "output.txt").read_text("utf-8")
    assert ibnet.discover(text).aggregation() == {"a088c203006b0708"}
    assert ibnet.discover(POD).aggregation() == {"a088c203006b0108", "a088c203006b0208"}


def test_an_engine_whose_block_was_lost_is_told_by_its_name() -> None:
    head, _, _ = POD.partition("\nvendid=0x2c9\ndevid=0xd2f4")
    assert ibnet.discover(head).aggregation() == {"a088c203006b0108", "a088c203006b0208"}


def test_a_warning_in_between_breaks_no_block() -> None:
    text = POD.replace('[2]\t"H-946dae03007c2000"', '\nibwarn: [812] _do_madrpc: recv failed\n\n[2]\t"H-946dae03007c2000"')
    fabric = ibnet.discover(text)
    assert [words for _, words in fabric.strange] == ["ibwarn: [812] _do_madrpc: recv failed"]
    assert len(fabric.nodes[LEAF].cables) == 6


def test_a_port_line_without_a_node_is_strange_not_the_last_nodes() -> None:
    text = POD.replace('Ca\t1 "H-946dae03007c3000"\t\t# "node-23 mlx5_0"\n', "")
    fabric = ibnet.discover(text)
    assert HOST not in fabric.nodes
    assert fabric.strange[0][1].startswith("[1](946dae03007c3001)")


@pytest.mark.parametrize(
    ("width", "speed", "bits"),
    [(4, "NDR", 400_000_000_000), (2, "NDR", 200_000_000_000), (4, "HDR", 200_000_000_000), (4, "EDR", 100_000_000_000),
     (4, "SDR", 10_000_000_000), (1, "SDR", 2_500_000_000), (4, "XDR", 800_000_000_000), (None, "NDR", None), (4, None, None)],
)  # fmt: skip
def test_rate_is_lanes_times_the_generations_lane(width: int | None, speed: str | None, bits: int | None) -> None:
    assert ibnet.rate(width, speed) == bits


@pytest.mark.parametrize(
    ("description", "name"),
    [("MF0;lf-1:MQM9700/U1", ("lf-1", "MQM9700")), (" MF0;a:b:SB7700/U1 ", ("a:b", "SB7700")),
     ("Quantum Mellanox Technologies", ("Quantum Mellanox Technologies", "")), ("lf-17", ("lf-17", ""))],
)  # fmt: skip
def test_names_of_switches(description: str, name: tuple[str, str]) -> None:
    assert ibnet.switch_name(description) == name


@pytest.mark.parametrize(
    ("description", "name"),
    [("node-7 mlx5_0", ("node-7", "mlx5_0")), ("node-7 HCA-12", ("node-7", "HCA-12")),
     ("node-7.lab.example.net mlx5_bond_0", ("node-7.lab.example.net", "mlx5_bond_0")),
     ("MT4129 ConnectX7   Mellanox Technologies", ("", "")), ("node-7", ("", "")), ("", ("", ""))],
)  # fmt: skip
def test_names_of_hosts_and_their_adapters(description: str, name: tuple[str, str]) -> None:
    assert ibnet.adapter_name(description) == name
