"""Work orders on small wirings whose right answer can be said in one line. The laws are in tests/property."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from auditor.cabling.repair import Component, Occupancy, repair
from auditor.model import Hand, Place, PlanEnd, PlanLink


def place(text: str) -> Place:
    device, _, port = text.partition(":")
    return device, port


def places(text: str) -> tuple[Place, ...]:
    return tuple(place(word) for word in text.split())


def link(a: str, b: str, *, cable: str = "", lane: str = "", label: str = "", position: str = "") -> PlanLink:
    """`lane` is that of end b."""
    one, other = place(a), place(b)
    return PlanLink(PlanEnd(*one, position=position), PlanEnd(*other, lane=lane), label=label or f"{a}={b}", cable_id=cable)


def seen(*cables: str) -> dict[Place, Place]:
    """`seen("h1:e1 leaf:e2")`: those two see each other."""
    pairs = [places(cable) for cable in cables]
    return {one: other for pair in pairs for one, other in (pair, pair[::-1])}


def solve(
    links: Iterable[PlanLink], observed: dict[Place, Place], *, free: str = "", taken: str = "", frozen: str = ""
) -> tuple[Component, ...]:
    """One rack for hosts, one for each other device."""

    def occupancy(at: Place) -> Occupancy:
        if at in places(free):
            return Occupancy.FREE
        return Occupancy.TAKEN if at in places(taken) else Occupancy.UNKNOWN

    return repair(list(links), observed, occupancy, lambda device: "hosts" if device[0] == "h" else device, places(frozen))


def steps(component: Component) -> list[tuple[Hand, str, str, str]]:
    def words(of: tuple[Place, ...]) -> str:
        return " ".join(":".join(at) for at in of)

    return [(move.hand, words(move.source), words(move.target), words(move.far)) for move in component.moves]


PAIR = (link("h1:e1", "leaf1:p1"), link("h1:e2", "leaf2:p1"))
BREAKOUTS = tuple(
    link(f"h{host}:e1", f"leaf:p{port}/{lane}", cable=f"C{port}", lane=str(lane))
    for host, port, lane in ((1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 2))
)


def test_right_cables_and_ports_that_see_nobody_are_no_matter() -> None:
    assert solve(PAIR, seen("h1:e1 leaf1:p1")) == ()
    assert solve(PAIR, {}) == ()


def test_two_exchanged_cables_are_exchanged_at_the_device_that_they_share() -> None:
    (found,) = solve(PAIR, seen("h1:e1 leaf2:p1", "h1:e2 leaf1:p1"))
    assert found.links == PAIR
    assert found.cables == (places("h1:e1 leaf2:p1"), places("h1:e2 leaf1:p1"))
    assert found.cycle
    assert steps(found) == [
        (Hand.UNPLUG, "h1:e1", "", "leaf2:p1"),
        (Hand.MOVE, "h1:e2", "h1:e1", "leaf1:p1"),
        (Hand.PLUG, "", "h1:e2", "leaf2:p1"),
    ]
    assert [move.label for move in found.moves] == ["h1:e2=leaf2:p1", "h1:e1=leaf1:p1", "h1:e2=leaf2:p1"]


def test_cables_that_share_the_leaf_only_are_exchanged_there() -> None:
    plan = (link("h1:e1", "leaf:p1"), link("h2:e1", "leaf:p2"))
    (found,) = solve(plan, seen("h1:e1 leaf:p2", "h2:e1 leaf:p1"))
    assert {at for move in found.moves for at, _ in (*move.source, *move.target)} == {"leaf"}


def test_with_no_device_in_common_the_plugs_of_one_rack_are_moved() -> None:
    plan = (link("h1:e1", "leaf1:p1"), link("h2:e1", "leaf2:p1"))
    (found,) = solve(plan, seen("h1:e1 leaf2:p1", "h2:e1 leaf1:p1"))
    assert {at for move in found.moves for at, _ in (*move.source, *move.target)} == {"h1", "h2"}


def test_a_circle_starts_at_the_first_position_of_the_rack_by_number() -> None:
    plan = (link("h1:e1", "leaf1:p1", position="U10"), link("h2:e1", "leaf2:p1", position="U9"))
    (found,) = solve(plan, seen("h1:e1 leaf2:p1", "h2:e1 leaf1:p1"))
    assert found.moves[0].source == places("h2:e1")


def test_a_plug_in_a_port_of_no_plan_goes_where_it_belongs_in_one_step() -> None:
    (found,) = solve(PAIR, seen("h1:e1 leaf1:p5", "h1:e2 leaf2:p1"), free="leaf1:p1")
    assert steps(found) == [(Hand.MOVE, "leaf1:p5", "leaf1:p1", "h1:e1")]
    assert found.links == PAIR[:1] and not found.cycle
    assert not found.moves[0].look_first


def test_a_port_that_nobody_sees_is_looked_at_first() -> None:
    (found,) = solve(PAIR, seen("h1:e1 leaf1:p5"))
    assert [move.look_first for move in found.moves] == [True]


def test_a_port_taken_by_a_cable_that_nobody_sees_gets_a_step_for_the_look() -> None:
    (found,) = solve(PAIR, seen("h1:e1 leaf1:p5"), taken="leaf1:p1")
    assert [move.hand for move in found.moves] == [Hand.LOOK, Hand.MOVE]
    assert found.moves[0].target == found.moves[1].target == places("leaf1:p1")


def test_of_two_ends_of_a_path_the_one_that_is_known_to_be_free_is_filled() -> None:
    observed = seen("h1:e1 leaf2:p1")
    for free in ("leaf1:p1", "h1:e2"):
        (found,) = solve(PAIR, observed, free=free)
        assert [move.target for move in found.moves] == [places(free)]


def test_half_of_an_exchange_seen_counts_as_a_circle_when_all_ports_are_taken() -> None:
    (found,) = solve(PAIR, seen("h1:e1 leaf2:p1"), taken="h1:e2 leaf1:p1")
    assert found.cycle
    assert found.moves[0].hand is Hand.LOOK


def test_a_path_is_filled_from_its_free_end_and_no_plug_hangs() -> None:
    plan = [link(f"h{at}:e1", f"leaf:p{at}") for at in range(1, 4)]
    (found,) = solve(plan, seen("h1:e1 leaf:p2", "h2:e1 leaf:p3", "h3:e1 leaf:p4"), free="leaf:p1")
    assert steps(found) == [
        (Hand.MOVE, "leaf:p2", "leaf:p1", "h1:e1"),
        (Hand.MOVE, "leaf:p3", "leaf:p2", "h2:e1"),
        (Hand.MOVE, "leaf:p4", "leaf:p3", "h3:e1"),
    ]


def test_a_cable_that_no_plan_has_is_taken_away_before_its_port_is_needed() -> None:
    plan = (link("h1:e1", "leaf:p1"),)
    (found,) = solve(plan, seen("h1:e1 leaf:p8", "h2:e9 leaf:p1"))
    assert [move.hand for move in found.moves] == [Hand.REMOVE, Hand.MOVE]
    (alone,) = solve(plan, seen("h1:e1 leaf:p1", "h2:e9 leaf:p8"))
    assert alone.links == () and alone.cables == (places("h2:e9 leaf:p8"),)
    assert steps(alone) == [(Hand.REMOVE, "h2:e9", "", "leaf:p8")]


@pytest.mark.parametrize(
    ("free", "order"),
    [
        ("leaf1:p1 h1:e2", [(Hand.MOVE, "h1:e1", "h1:e2", "leaf2:p1"), (Hand.LAY, "", "h1:e1", "leaf1:p1")]),
        ("leaf1:p1", [(Hand.MOVE, "leaf2:p1", "leaf1:p1", "h1:e1")]),
    ],
)
def test_a_cable_is_laid_only_between_ports_known_to_be_free(free: str, order: list[tuple[Hand, str, str, str]]) -> None:
    (found,) = solve(PAIR, seen("h1:e1 leaf2:p1"), free=free)
    assert steps(found) == order
    assert found.moves[-1].label == "h1:e1=leaf1:p1"


def test_nothing_is_laid_between_links_that_no_wrong_cable_touches() -> None:
    assert solve(PAIR, {}, free="h1:e1 h1:e2 leaf1:p1 leaf2:p1") == ()


def test_plugs_of_a_device_that_is_not_installed_are_left_alone() -> None:
    observed = seen("h1:e1 leaf2:p1", "h1:e2 leaf1:p1")
    (found,) = solve(PAIR, observed, frozen="h1:e1")
    assert {at for move in found.moves for at, _ in (*move.source, *move.target)} == {"leaf1", "leaf2"}
    assert solve(PAIR, observed, frozen="h1:e1 leaf1:p1") == ()


def test_a_path_with_frozen_plugs_at_both_sides_is_mended_from_both_ends() -> None:
    plan = [link(f"h{at}:e1", f"leaf:p{at}") for at in range(1, 5)]
    observed = seen("h1:e1 leaf:p2", "h2:e1 leaf:p3", "h3:e1 leaf:p4")
    (found,) = solve(plan, observed, frozen="h1:e1 leaf:p4", free="leaf:p1 h4:e1")
    assert steps(found) == [
        (Hand.MOVE, "h3:e1", "h4:e1", "leaf:p4"),
        (Hand.MOVE, "leaf:p2", "leaf:p1", "h1:e1"),
        (Hand.MOVE, "leaf:p3", "leaf:p2", "h2:e1"),
        (Hand.LAY, "", "h3:e1", "leaf:p3"),
    ]


def test_exchanged_parent_plugs_are_two_plugs_and_not_four() -> None:
    observed = seen("h1:e1 leaf:p2/1", "h2:e1 leaf:p2/2", "h3:e1 leaf:p1/1", "h4:e1 leaf:p1/2")
    (found,) = solve(BREAKOUTS, observed)
    assert steps(found) == [
        (Hand.UNPLUG, "leaf:p1/1 leaf:p1/2", "", "h3:e1 h4:e1"),
        (Hand.MOVE, "leaf:p2/1 leaf:p2/2", "leaf:p1/1 leaf:p1/2", "h1:e1 h2:e1"),
        (Hand.PLUG, "", "leaf:p2/1 leaf:p2/2", "h3:e1 h4:e1"),
    ]


def test_exchanged_legs_leave_the_parent_plugs_alone() -> None:
    observed = seen("h1:e1 leaf:p2/1", "h2:e1 leaf:p1/2", "h3:e1 leaf:p1/1", "h4:e1 leaf:p2/2")
    (found,) = solve(BREAKOUTS, observed)
    assert [move.source for move in found.moves[:2]] == [places("h1:e1"), places("h3:e1")]
    assert not any(move.takes_along for move in found.moves)


def test_a_moved_parent_plug_names_the_right_link_that_it_takes_along() -> None:
    four = [link(f"h{lane}:e1", f"leaf:p1/{lane}", cable="C1", lane=str(lane)) for lane in range(1, 5)]
    other = [link(f"h{4 + lane}:e1", f"leaf:p2/{lane}", cable="C2", lane=str(lane)) for lane in range(1, 5)]
    observed = seen(
        *("h1:e1 leaf:p1/1", "h6:e1 leaf:p1/2", "h7:e1 leaf:p1/3", "h8:e1 leaf:p1/4"),
        *("h5:e1 leaf:p2/1", "h2:e1 leaf:p2/2", "h3:e1 leaf:p2/3", "h4:e1 leaf:p2/4"),
    )
    (found,) = solve((*four, *other), observed)
    parents = [move for move in found.moves if len(move.source) == 4]
    assert [move.takes_along for move in parents] == [("h1:e1|leaf:p1/1",), ("h5:e1|leaf:p2/1",)]


def test_a_parent_plug_in_a_port_of_no_plan_is_one_plug() -> None:
    observed = seen("h1:e1 leaf:p9/1", "h2:e1 leaf:p9/2", "h3:e1 leaf:p2/1", "h4:e1 leaf:p2/2")
    (found,) = solve(BREAKOUTS, observed, free="leaf:p1/1")
    assert steps(found) == [(Hand.MOVE, "leaf:p9/1 leaf:p9/2", "leaf:p1/1 leaf:p1/2", "h1:e1 h2:e1")]
    assert not found.moves[0].look_first  # no module in the first lane is no module in the port


def test_the_one_leg_that_is_seen_tells_of_a_parent_plug_in_a_port_of_no_plan() -> None:
    (found,) = solve(BREAKOUTS, seen("h2:e1 leaf:p9"), free="leaf:p1/1")
    assert steps(found) == [(Hand.MOVE, "leaf:p9", "leaf:p1/1 leaf:p1/2", "h2:e1")]


def test_legs_in_ports_of_no_plan_are_not_one_plug_while_the_parent_plug_is_in_its_place() -> None:
    plan = [link(f"h{lane}:e1", f"leaf:p1/{lane}", cable="C1", lane=str(lane)) for lane in range(1, 4)]
    observed = seen("h1:e1 leaf:p1/1", "h2:e1 leaf:p8", "h3:e1 leaf:p9")
    found = solve(plan, observed)
    assert [move.source for component in found for move in component.moves] == [places("h2:e1"), places("h3:e1")]


def test_lanes_that_the_plan_numbers_otherwise_are_looked_at_and_not_taken_away() -> None:
    plan = [PlanLink(PlanEnd("a", f"p1/{n}", lane=n), PlanEnd("b", f"p1/{n}", lane=n), cable_id="C1") for n in ("1", "2")]
    (found,) = solve(plan, seen("a:p1/1 b:p1/2", "a:p1/2 b:p1/1"))
    assert [move.hand for move in found.moves] == [Hand.LOOK]


def test_what_only_one_end_says_and_a_port_planned_twice_break_nothing() -> None:
    plan = (*PAIR, link("h1:e1", "leaf2:p7"), link("h1:e3", "h1:e3"))
    assert solve(plan, {place("h1:e1"): place("leaf2:p1"), place("h1:e2"): place("h1:e2")}) == ()
    (found,) = solve(plan, seen("h1:e1 leaf2:p1", "h1:e2 leaf1:p1"))
    assert found.links == PAIR


def test_components_come_in_the_order_of_the_plan() -> None:
    plan = [link(f"h{at}:e1", f"leaf:p{at}") for at in (7, 3, 5)]
    found = solve(plan, seen(*(f"h{at}:e1 leaf:x{at}" for at in (3, 5, 7)), "h9:e1 leaf:x9"))
    assert [component.links for component in found] == [(plan[0],), (plan[1],), (plan[2],), ()]
