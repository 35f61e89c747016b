"""An InfiniBand fabric as a State: what is known, what is absent, what is unknown, and the line that proves it."""

from __future__ import annotations

import time

import pytest

from auditor.address import Address, Layer
from auditor.collect.commands import Recogniser
from auditor.collect.guard import allowed, wanted_sources
from auditor.evidence import Place, find
from auditor.facts import IbNode, IbPort
from auditor.model import ABSENT, Device, GapReason, Spot, State
from auditor.platforms import platforms
from auditor.platforms.infiniband import PLATFORM
from tests.unit.platforms.answers import recorded, state, told

LEAF, OTHER, SPINE, HOST = "a088c203006b0100", "a088c203006b0200", "a088c203006b0300", "946dae03007c3000"
WALK = recorded("infiniband", "ibnetdiscover", "parallel_links_engines_and_quotes")
LINKS = recorded("infiniband", "iblinkinfo", "unplugged_deaf_and_engines")


def cell(found: State, guid: str, port: str, column: str) -> object:
    known = found.cell(Address("ib_port", (guid, port), column))
    return known.value if known.gap is None else known.gap.reason


def test_a_port_that_a_walk_of_its_switch_does_not_show_has_no_cable() -> None:
    found = state("infiniband", {"ibnetdiscover": WALK})
    assert found.has_row(Address("ib_port", (LEAF, "4"))) is False
    assert cell(found, LEAF, "4", "peer_guid") is ABSENT


def test_a_walk_says_nothing_of_nodes_of_another_fabric() -> None:
    found = state("infiniband", {"ibnetdiscover": WALK})
    assert found.has_row(Address("ib_port", ("a088c20300770100", "1"))) is None
    assert found.has_row(Address("ib_node", ("a088c20300770100",))) is None


def test_unplugged_and_deaf_ports_are_told_apart_by_iblinkinfo() -> None:
    found = state("infiniband", {"ibnetdiscover": WALK, "iblinkinfo": LINKS})
    assert (cell(found, OTHER, "3", "state"), cell(found, OTHER, "3", "peer_guid")) == ("down", ABSENT)
    assert (cell(found, OTHER, "5", "state"), cell(found, OTHER, "5", "peer_guid")) == ("active", GapReason.UNREACHABLE)


def test_two_answers_of_one_fabric_agree() -> None:
    links = LINKS.replace(
        "106.25 Gbps Active/  LinkUp)==>  0x946dae03007c4002", "53.125 Gbps Active/  LinkUp)==>  0x946dae03007c4002"
    )
    found = state("infiniband", {"ibnetdiscover": WALK, "iblinkinfo": links})
    assert [gap for gap in found.gaps if gap.reason is GapReason.CONFLICT] == []
    assert cell(found, LEAF, "3", "rate") == 200_000_000_000
    assert cell(found, LEAF, "3", "peer_guid") == HOST


def test_two_answers_that_differ_are_a_conflict() -> None:
    found = state("infiniband", {"ibnetdiscover": WALK, "iblinkinfo": LINKS})
    assert cell(found, OTHER, "2", "speed") is GapReason.CONFLICT


def test_a_switch_counts_once_and_its_engine_never() -> None:
    for answers in ({"ibnetdiscover": WALK}, {"ibnetdiscover": WALK, "iblinkinfo": LINKS}):
        found = state("infiniband", answers)
        assert sum(row.kind == "switch" for row in found.rows(IbNode).values()) == 3
        assert not any(key == (leaf, "9") for key in found.rows(IbPort) for leaf in (LEAF, OTHER))
        assert not any("Aggregation" in (row.description or "") for row in found.rows(IbNode).values())


def test_a_cut_walk_concludes_nothing_from_what_it_lacks() -> None:
    found = state("infiniband", {"ibnetdiscover": recorded("infiniband", "ibnetdiscover", "stops_in_the_third_switch")})
    assert found.has_row(Address("ib_port", (LEAF, "4"))) is None
    assert found.has_row(Address("ib_port", (LEAF, "8"))) is None
    assert cell(found, LEAF, "1", "peer_guid") == "946dae03007c1000"


def test_ends_that_contradict_each_other_name_nobody() -> None:
    found = state("infiniband", {"ibnetdiscover": recorded("infiniband", "ibnetdiscover", "ends_that_disagree")})
    for guid, port in ((OTHER, "1"), ("946dae03007c1100", "1")):
        assert cell(found, guid, port, "peer_guid") is GapReason.CONFLICT
        assert cell(found, guid, port, "rate") == 400_000_000_000


@pytest.mark.parametrize(
    ("source", "case", "endless"),
    [
        ("ibnetdiscover", "parallel_links_engines_and_quotes", False),
        ("iblinkinfo", "unplugged_deaf_and_engines", False),
        ("iblinkinfo_blocks", "unplugged_deaf_and_engines", False),
        ("ibnetdiscover_ports", "unlinked_and_engines", False),
        ("ibstat", "infiniband_ethernet_and_down", True),
    ],
)
def test_a_broken_answer_is_a_gap_or_changes_nothing(source: str, case: str, endless: bool) -> None:
    assert told("infiniband", source, recorded("infiniband", source, case), endless=endless) == []


@pytest.mark.parametrize("source", ["ibnetdiscover", "iblinkinfo", "iblinkinfo_blocks", "ibnetdiscover_ports", "ibstat"])
def test_the_answer_to_another_command_is_not_taken_for_this_one(source: str) -> None:
    bodies = {
        "ibnetdiscover": WALK, "iblinkinfo": LINKS,
        "iblinkinfo_blocks": recorded("infiniband", "iblinkinfo_blocks", "unplugged_deaf_and_engines"),
        "ibnetdiscover_ports": recorded("infiniband", "ibnetdiscover_ports", "unlinked_and_engines"),
        "ibstat": recorded("infiniband", "ibstat", "infiniband_ethernet_and_down"),
    }  # fmt: skip
    for other, body in bodies.items():
        if other != source:
            found = state("infiniband", {source: body})
            assert not any(found.tables.values()), other
            assert any(gap.source == source and gap.reason is not GapReason.UNSUPPORTED for gap in found.gaps), other


def test_a_cut_at_any_place_changes_no_value_and_is_noticed() -> None:
    whole = state("infiniband", {"ibnetdiscover": WALK}, None)
    known = {key: row for rows in whole.tables.values() for key, row in rows.items()}
    for at in range(200, len(WALK) - 1, 37):
        cut = state("infiniband", {"ibnetdiscover": WALK[:at]}, None)
        found = {key: row for rows in cut.tables.values() for key, row in rows.items()}
        for key, row in found.items():
            if key in known:
                for column in ("peer_guid", "peer_port", "rate", "port_guid", "kind", "description"):
                    value = getattr(row, column, None)
                    assert value is None or value == getattr(known[key], column), (WALK[:at][-80:], column)
        reasons = {gap.reason for gap in cut.gaps if gap.source == "ibnetdiscover"}
        assert reasons & {GapReason.TRUNCATED, GapReason.UNPARSED}, WALK[:at][-80:]


def excerpt(source: str, body: str, address: Address, value: object) -> str:
    place = Place(Spot("fm", address), value, "infiniband", source, "d")
    evidence = find(place, platforms(), lambda _: body)
    assert evidence is not None
    return evidence.excerpt


def test_the_line_of_a_port_is_found_in_the_block_of_its_node() -> None:
    found = excerpt("ibnetdiscover", WALK, Address("ib_port", (LEAF, "3"), "peer_guid"), HOST)
    *_, node, line = found.splitlines()
    assert node.startswith(f'Switch\t9 "S-{LEAF}"')
    assert line.startswith(f'[3]\t"H-{HOST}"[1]')
    found = excerpt("ibnetdiscover", WALK, Address("ib_port", (HOST, "1"), "width"), 2)
    assert found.splitlines()[-2].startswith(f'Ca\t1 "H-{HOST}"')
    assert "2xNDR" in found.splitlines()[-1]


def test_the_line_of_a_port_is_found_in_a_listing() -> None:
    address = Address("ib_port", (OTHER, "3"), "state")
    assert excerpt("iblinkinfo", LINKS, address, "down").splitlines()[-1].startswith(f"0x{OTHER}")
    blocks = recorded("infiniband", "iblinkinfo_blocks", "unplugged_deaf_and_engines")
    *_, node, line = excerpt("iblinkinfo_blocks", blocks, address, "down").splitlines()
    assert node.startswith(f"Switch: 0x{OTHER} ")
    assert line.split()[:2] == ["7", "3["]


def test_every_adapter_on_a_fabric_is_asked_and_nothing_else_is_sent() -> None:
    device = Device("fm", ("infiniband",))
    assert [command for _, _, command in allowed(device, platforms())] == [
        "ibstat", "sudo -n ibnetdiscover -C {hca}", "sudo -n iblinkinfo -l -C {hca}",
    ]  # fmt: skip
    assert [source.key for source in wanted_sources(PLATFORM, {"ib_port.peer_guid"}) if source.sent] == [
        "ibstat", "ibnetdiscover", "iblinkinfo",
    ]  # fmt: skip
    (parameter,) = {PLATFORM.source(key).parameter for key in ("ibnetdiscover", "iblinkinfo")}
    assert parameter is not None
    assert list(parameter.names(recorded("infiniband", "ibstat", "infiniband_ethernet_and_down"))) == ["mlx5_0"]


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("ibnetdiscover", "ibnetdiscover"), ("sudo ibnetdiscover", "ibnetdiscover"), ("ibnetdiscover -C mlx5_4", "ibnetdiscover"),
        ("iblinkinfo", "iblinkinfo_blocks"), ("iblinkinfo -l", "iblinkinfo"), ("iblinkinfo --line", "iblinkinfo"),
        ("ibnetdiscover -p", "ibnetdiscover_ports"),
    ],
)  # fmt: skip
def test_captures_are_recognised_by_their_command(command: str, key: str) -> None:
    (request,) = Recogniser([PLATFORM]).by_text(command)
    assert request.source.key == key


@pytest.mark.parametrize(("stem", "key"), [("ibnetdiscover", "ibnetdiscover"), ("iblinkinfo", "iblinkinfo_blocks")])
def test_captures_are_recognised_by_their_file(stem: str, key: str) -> None:
    (request,) = Recogniser([PLATFORM]).by_stem(stem)
    assert request.source.key == key


def test_a_fabric_of_ten_thousand_adapters_is_read_in_seconds() -> None:
    lines = ["# Initiated from node b000000000000000 port b000000000000000\n"]
    for leaf in range(160):
        lines.append(f"\nswitchguid=0xa{leaf:015x}(a{leaf:015x})\n")
        lines.append(f'Switch\t65 "S-a{leaf:015x}"\t\t# "MF0;lf-{leaf}:MQM9700/U1" base port 0 lid 1 lmc 0\n')
        for port in range(64):
            node = f"b{leaf * 64 + port:015x}"
            lines.append(
                f'[{port + 1}]\t"H-{node}"[1]({node}) \t\t# "node-{leaf * 8 + port // 8:04} mlx5_{port % 8}" lid 9 4xNDR\n'
            )
    for number in range(10_240):
        node, leaf = f"b{number:015x}", f"a{number // 64:015x}"
        lines.append(f'\ncaguid=0x{node}\nCa\t1 "H-{node}"\t\t# "node-{number // 8:04} mlx5_{number % 8}"\n')
        lines.append(
            f'[1]({node}) \t"S-{leaf}"[{number % 64 + 1}]\t\t# lid 9 lmc 0 "MF0;lf-{number // 64}:MQM9700/U1" lid 1 4xNDR\n'
        )
    body = "".join(lines)
    begin = time.process_time()
    found = state("infiniband", {"ibnetdiscover": body})
    assert len(found.tables[IbPort, Layer.APPLIED]) == 20_480
    assert [gap for gap in found.gaps if gap.reason is not GapReason.UNSUPPORTED] == []
    assert time.process_time() - begin < 5
