"""The watch: far ends are asked once, what turned right is told once, and it ends when all is right."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.model import Link, LinkEnd, LinkVerdict, PlanEnd, PlanLink, Wiring
from auditor.workflows import cabling
from auditor.workflows.check import Wish


def link(number: int, verdict: LinkVerdict) -> Link:
    plan = PlanLink(PlanEnd("gpu-01", f"ens{number}"), PlanEnd("leaf-01", f"Ethernet{number}"))
    return Link(LinkEnd("gpu-01", f"ens{number}", None), LinkEnd("leaf-01", f"Ethernet{number}", None), verdict, plan)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> tuple[list[cabling.Look], list[Wish]]:
    """A watch over two cables: one wrong, then up without a name, then right; the other right throughout."""
    verdicts = iter((LinkVerdict.WRONG, LinkVerdict.LINK_ONLY, LinkVerdict.LINK_ONLY, LinkVerdict.PROVEN))
    asked: list[Wish] = []

    def run(wish: Wish, _told: Any) -> tuple[Any, Any]:
        asked.append(wish)
        links = (link(1, next(verdicts)), link(2, LinkVerdict.PROVEN), link(3, LinkVerdict.NOT_YET))
        return SimpleNamespace(wiring=Wiring(links, ends={("leaf-01", "Ethernet1"): links[0].b})), None

    monkeypatch.setattr(cabling.check, "run", run)
    clock: Iterator[float] = iter((0.0, 5.0, 10.0, 15.0))
    told: Any = None
    found = list(cabling.watch(Wish("."), told, 5.0, lambda: next(clock), lambda _: None))
    return found, asked


def test_it_ends_when_every_built_cable_is_right(looks: tuple[list[cabling.Look], list[Wish]]) -> None:
    found, _ = looks
    assert [len(look.open) for look in found] == [1, 1, 1, 0]
    assert [look.done for look in found] == [False, False, False, True]


def test_what_turned_right_is_told_once(looks: tuple[list[cabling.Look], list[Wish]]) -> None:
    found, _ = looks
    name = found[0].open[0].name
    assert [look.green for look in found] == [(), (), (), (name,)]


def test_a_port_that_is_up_waits_for_its_neighbour_since_it_came_up(looks: tuple[list[cabling.Look], list[Wish]]) -> None:
    found, _ = looks
    assert [list(look.waiting.values()) for look in found] == [[], [0.0], [5.0], []]


def test_far_ends_are_asked_once(looks: tuple[list[cabling.Look], list[Wish]]) -> None:
    _, asked = looks
    assert [bool(wish.known) for wish in asked] == [False, True, True, True]
