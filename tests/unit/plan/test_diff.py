from __future__ import annotations

from auditor.model import Plan
from auditor.plan.diff import apart, diff, joined
from auditor.plan.document import parse_plan

HEAD = "a_device,a_port,b_device,b_port,label,cable_id,b_lane,b_rack"


def plan(*lines: str, head: str = HEAD) -> Plan:
    width = head.count(",")
    return parse_plan("\n".join([head, *(line + "," * (width - line.count(",")) for line in lines)]) + "\n", "plan.csv")


def test_the_order_of_lines_and_of_ends_means_nothing() -> None:
    one = plan("h1,p0,l1,s1,A", "h2,p0,l1,s2,B")
    other = plan("l1,s2,h2,p0,B", "h1,p0,l1,s1,A")
    found = diff(one, other)
    assert not found
    assert found.same == 2


def test_a_rewired_link_is_gone_and_new() -> None:
    found = diff(plan("h1,p0,l1,s1,A", "h2,p0,l1,s2,B"), plan("h1,p0,l1,s3,A", "h2,p0,l1,s2,B"))
    assert found
    assert ([link.name for link in found.gone], [link.name for link in found.new]) == (["h1:p0|l1:s1"], ["h1:p0|l1:s3"])
    assert found.same == 1


def test_what_is_written_differently_is_named_by_column_in_the_order_of_the_new_plan() -> None:
    old, new = plan("h1,p0,l1,s1,A,,,R1"), plan("l1,s1,h1,p0,B", head=HEAD.replace("b_rack", "a_rack"))
    (changed,) = diff(old, new).changed
    assert changed.columns == (("label", "A", "B"),)
    (changed,) = diff(old, plan("l1,s1,h1,p0,A,,,R2", head=HEAD.replace("b_rack", "a_rack"))).changed
    assert changed.columns == (("a_rack", "R1", "R2"),)


def test_a_column_that_one_plan_does_not_speak_of_is_not_compared() -> None:
    assert not diff(plan("h1,p0,l1,s1,A,,,R1"), plan("h1,p0,l1,s1,A"))
    lost = diff(plan("h1,p0,l1,s1,A", "h2,p0,l1,s2,B"), plan("h1,p0,l1,s1,A", "h2,p0,l1,s2"))
    assert [each.columns for each in lost.changed] == [(("label", "B", ""),)]


def test_lanes_of_one_port_are_told_apart() -> None:
    one = plan("h1,p0,l1,s1,,C1,1", "h2,p0,l1,s1,,C1,2")
    other = plan("h1,p0,l1,s1,,C1,2", "h2,p0,l1,s1,,C1,1")
    assert len(diff(one, other).new) == 2
    first, second = apart((one, other))
    assert joined(first)["h1", "p0"] == ("l1", "s1 lane 1")
    assert joined(second)["h1", "p0"] == ("l1", "s1 lane 2")
    assert joined(second)["l1", "s1 lane 2"] == ("h1", "p0")


def test_ports_of_their_own_keep_their_names() -> None:
    one = plan("h1,p0,l1,s1,,C1,1", "h2,p0,l1,s2,,C1,2")
    assert apart((one,))[0].links == one.links
