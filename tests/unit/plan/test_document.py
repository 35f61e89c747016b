from __future__ import annotations

from pathlib import Path

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.document import MAX_BYTES, MAX_ERRORS, conflicts, guard, inspect_plan, parse_plan, read_plan

HEAD = "a_device,a_port,b_device,b_port"


def errors(text: str) -> list[str]:
    with pytest.raises(ErrorList) as caught:
        parse_plan(text, "plan.csv")
    assert all(isinstance(error, PlanError) for error in caught.value.errors)
    return [str(error) for error in caught.value.errors]


def test_a_line_becomes_a_link_with_all_its_columns() -> None:
    head = "label,b_port,b_device,a_port,a_device,plane,rail,speed,length_m,a_rack,a_position,type,via,a_id,b_id,room"
    line = "C-17,Ethernet0,leaf-01,mlx5_0,gpu-01,compute,0,400G,2.5,R1,u12,dac,PP-3/7,0000:1A:00.0,b8:3f:d2:00:00:01,hall 2"
    plan = parse_plan(f"{head}\n{line}\n", "plan/pod-1.csv")
    (link,) = plan.links
    assert plan.name == "pod-1"
    assert link.name == "gpu-01:mlx5_0|leaf-01:Ethernet0"
    assert (link.a.rack, link.a.position, link.a.id, link.b.id) == ("R1", "u12", "0000:1a:00.0", "b8:3f:d2:00:00:01")
    assert (link.plane, link.rail, link.speed, link.length_m) == ("compute", "0", 400_000_000_000, 2.5)
    assert (link.label, link.type, link.via, link.tags, link.line) == ("C-17", "dac", "PP-3/7", {"room": "hall 2"}, 2)


def test_byte_order_mark_blank_lines_quotes_and_crlf_are_no_trouble(tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_bytes(f'\ufeff{HEAD},label\r\n\r\n,,,,\r\n" h1 ",p0,l1,e0,"a, b"\r\n'.encode())
    plan = read_plan(file)
    (link,) = plan.links
    assert (link.a.device, link.label, link.line) == ("h1", "a, b", 4)
    assert plan.file == str(file)


def test_the_digest_is_that_of_the_text_without_its_byte_order_mark() -> None:
    text = f"{HEAD}\nh1,p0,l1,e0\n"
    assert parse_plan("\ufeff" + text, "a.csv").digest == parse_plan(text, "b.csv").digest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "plan.csv: is empty"),
        ("\n\n", "plan.csv: is empty"),
        ("a_device,a_prt,b_device,b_port\n", "plan.csv:1: column 'a_port' is missing (is it 'a_prt'?)"),
        (HEAD.replace(",", ";") + "\n", "plan.csv:1: columns must be separated by commas"),
        (HEAD + ",label,label\n", "plan.csv:1: column 'label' stands twice"),
        (f"{HEAD}\nh1,p0,l1\n", "plan.csv:2: has 3 fields where the header has 4"),
        (f"{HEAD}\nh1,p0,l1,e0,x\n", "plan.csv:2: has 5 fields"),
        (f"{HEAD}\n,p0,l1,e0\n", "plan.csv:2: a_device is empty"),
        (f"{HEAD}\nh1,p0,l1, \n", "plan.csv:2: b_port is empty"),
        (f"{HEAD}\nh1,p0,h1,p0\n", "plan.csv:2: both ends are on h1"),
        (f"{HEAD}\nh1,p0,h1,p1\n", "plan.csv:2: both ends are on h1"),
        (f"{HEAD},speed\nh1,p0,l1,e0,400\n", "plan.csv:2: speed: '400' is no speed"),
        (f"{HEAD},length_m\nh1,p0,l1,e0,3m\n", "plan.csv:2: length_m: '3m' is no length"),
        (f"{HEAD},length_m\nh1,p0,l1,e0,-1\n", "is no length"),
        (f"{HEAD},length_m\nh1,p0,l1,e0,nan\n", "is no length"),
        (f"{HEAD},a_id\nh1,p0,l1,e0,nic0\n", "plan.csv:2: a_id: 'nic0' is neither"),
        (f"{HEAD},plane\nh1,p0,l1,e0,in_use\n", "plan.csv:2: plane: 'in_use' cannot be"),
        (f"{HEAD},plane\nh1,p0,l1,e0,a b\n", "plan.csv:2: plane: 'a b' cannot be"),
        (f"{HEAD}\nh1,p0,l1,e\x1b[31m0\n", r"control character in 'e\\x1b[31m0'"),
        (f'{HEAD}\nh1,p0,l1,"e0\n', "plan.csv:2: is no CSV"),
        (f"{HEAD}\nh1,p0,l1,{'e' * 200_000}\n", "plan.csv:2: is no CSV"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, words: str) -> None:
    assert any(words in error for error in errors(text))


def test_a_port_used_twice_names_both_lines() -> None:
    found = errors(f"{HEAD}\nh1,p0,l1,e0\nh2,p0,l1,e0\n")
    assert found == ["plan.csv:3: port l1:e0 is already used by line 2"]


def test_the_same_link_twice_is_one_error() -> None:
    found = errors(f"{HEAD}\nh1,p0,l1,e0\nh1,p0,l1,e0\n")
    assert found == ["plan.csv:3: is the same link as line 2: h1:p0 to l1:e0"]


def test_a_link_listed_from_both_ends_is_told_apart_from_a_port_used_twice() -> None:
    found = errors(f"{HEAD}\nh1,p0,l1,e0\nl1,e0,h1,p0\n")
    words = "is line 2 written from its other end: l1:e0 to h1:p0; a plan has one line for each link"
    assert found == [f"plan.csv:3: {words}"]


def test_a_breakout_listed_from_both_ends_is_that_too() -> None:
    head = f"{HEAD},cable_id,a_lane,b_lane"
    found = errors(f"{head}\nl1,e0,h1,p0,C1,1,\nl1,e0,h2,p0,C1,2,\nh2,p0,l1,e0,C1,,2\n")
    assert len(found) == 1
    assert "plan.csv:4: is line 3 written from its other end" in found[0]


@pytest.mark.parametrize(("text", "bits"), [("4xNDR", 400e9), ("2xHDR", 100e9), ("NDR", 400e9), ("400G", 400e9)])
def test_speeds_are_ethernet_or_infiniband(text: str, bits: float) -> None:
    (link,) = parse_plan(f"{HEAD},speed\nh1,mlx5_0,l1,1,{text}\n", "plan.csv").links
    assert link.speed == bits


def test_dual_homing_is_two_lines() -> None:
    plan = parse_plan(f"{HEAD},via\nh1,p0,l1,e0,PP-1/3\nh1,p1,l2,e0,PP-1/4 > PP-2/4\n", "plan.csv")
    assert [link.via for link in plan.links] == ["PP-1/3", "PP-1/4 > PP-2/4"]


@pytest.mark.parametrize("cell", ["=1+1", "+A", "-3", "@x", "'=1", "''+", "plain", "'quoted'", "a=b"])
def test_a_guarded_cell_reads_back_as_it_was(cell: str) -> None:
    (link,) = parse_plan(f"{HEAD},label\nh1,p0,l1,e0,{guard(cell)}\n", "plan.csv").links
    assert link.label == cell
    assert not guard(cell).startswith(("=", "+", "-", "@"))


def test_the_sound_lines_of_a_faulty_plan_can_be_looked_at() -> None:
    plan, found = inspect_plan(f"{HEAD},speed\nh1,p0,l1,e0,x\nh2,p0,l1,e2,400G\nh3,p0,l1,e2,400G\n", "plan.csv")
    assert [link.line for link in plan.links] == [3]
    assert [str(error).partition(": ")[0] for error in found] == ["plan.csv:2", "plan.csv:4"]


def test_conflicts_of_links_from_elsewhere_name_the_link_where_there_is_no_line() -> None:
    ends = [PlanEnd("h1", "p0"), PlanEnd("h2", "p0"), PlanEnd("l1", "e0")]
    plan = Plan("x", (PlanLink(ends[0], ends[2]), PlanLink(ends[1], ends[2])))
    sound, found = conflicts(plan)
    assert sound == plan.links[:1]
    assert [str(error) for error in found] == ["x: port l1:e0 is already used by the link h1:p0|l1:e0"]


def test_lanes_of_one_cable_share_a_port() -> None:
    head = f"{HEAD},cable_id,a_lane"
    plan = parse_plan(f"{head}\nl1,e0,h1,p0,C1,1\nl1,e0,h2,p0,C1,2\n", "plan.csv")
    assert [link.a.lane for link in plan.links] == ["1", "2"]


@pytest.mark.parametrize("second", ["C1,1", "C1,", "C2,2", ",2"])
def test_a_shared_port_without_a_lane_of_the_same_cable_is_an_error(second: str) -> None:
    found = errors(f"{HEAD},cable_id,a_lane\nl1,e0,h1,p0,C1,1\nl1,e0,h2,p0,{second}\n")
    assert len(found) == 1
    assert "port l1:e0 is already used by line 2" in found[0]


def test_all_errors_come_at_once() -> None:
    found = errors(f"{HEAD},speed\nh1,p0,l1,e0,x\n,p0,l1,e1,\nh2,p0,l1,e2,400G\nh3,p0,l1,e2,400G\n")
    assert [error.partition(": ")[0] for error in found] == ["plan.csv:2", "plan.csv:3", "plan.csv:5"]


def test_a_flood_of_errors_is_cut_and_counted() -> None:
    found = errors(HEAD + "\n" + "x,,y,\n" * 300)
    assert len(found) == MAX_ERRORS + 1
    assert found[-1] == f"plan.csv: {600 - MAX_ERRORS} more errors"


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read"):
        read_plan(tmp_path / "plan.csv")
    (tmp_path / "junk.csv").write_bytes(b"a_device\n\xff\xfe\x00")
    with pytest.raises(PlanError, match=r"junk\.csv:2: is not UTF-8"):
        read_plan(tmp_path / "junk.csv")


def test_a_huge_file_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "huge.csv").open("wb") as stream:
        stream.truncate(MAX_BYTES * 3)
    with pytest.raises(PlanError, match="larger than"):
        read_plan(tmp_path / "huge.csv")
