"""Answers held against each other: one that lacks rows which another one lists proves no absence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from auditor.address import Address, Layer
from auditor.facts import Interface, Row
from auditor.model import ABSENT, Census, Fill, Gap, GapReason, Parser, Platform, RawOutput, Source, State, digest
from auditor.parse import parse_device

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def states(data: str, _parameters: Mapping[str, str]) -> Iterator[Interface]:
    for name in data.split():
        yield Interface(name=name, up=True)


def settings(data: str, _parameters: Mapping[str, str]) -> Iterator[Interface]:
    for name in data.split():
        yield Interface(name=name, mtu=9100)


def front(row: Row) -> bool:
    return row.key[0].startswith("E")


def source(key: str, normalise: object, layer: Layer, column: str) -> Source:
    return Source(key, f"show {key}", (Fill(Interface, layer, (column,)),), Parser.TEXT, normalise, empty=True)  # type: ignore[arg-type]


PLATFORM = Platform(
    name="toy",
    title="Toy",
    sources=(
        source("status", states, Layer.APPLIED, "up"),
        source("first", settings, Layer.CONFIGURED, "mtu"),
        source("second", settings, Layer.CONFIGURED, "mtu"),
    ),
    censuses=(Census("status", ("first", "second"), front),),
)


def device(**bodies: str) -> State:
    outputs = [RawOutput("d", "toy", key, f"show {key}", body, digest(body), NOW) for key, body in bodies.items()]
    return parse_device("d", outputs, {"toy": PLATFORM})


def gaps(state: State) -> list[Gap]:
    return [gap for gap in state.gaps if gap.reason is not GapReason.UNSUPPORTED]


def up(state: State, name: str) -> object:
    cell = state.cell(Address("interface", (name,), "up"))
    return cell.gap.reason if cell.gap is not None else cell.value


def test_an_answer_that_lists_all_of_them_is_whole():
    state = device(status="E1 E2", first="E1 E2")
    assert (up(state, "E2"), up(state, "E3"), gaps(state)) == (True, ABSENT, [])


def test_what_an_answer_lacks_is_unknown():
    state = device(status="E1", first="E1 E2 E3")
    assert (up(state, "E1"), up(state, "E2"), up(state, "E9")) == (True, GapReason.TRUNCATED, GapReason.TRUNCATED)
    (gap,) = gaps(state)
    assert gap.detail == "cut short: E2 and 1 more of first is not in it"
    assert (gap.columns, gap.layer, gap.source) == (("up",), Layer.APPLIED, "status")


def test_only_rows_that_count_are_missed():
    assert gaps(device(status="E1", first="E1 lo")) == []


def test_the_first_lister_that_answered_is_asked_and_no_other():
    assert gaps(device(status="E1", first="E1", second="E1 E2")) == []
    assert [gap.reason for gap in gaps(device(status="E1", second="E1 E2"))] == [GapReason.TRUNCATED]


def test_an_answer_that_was_not_given_lacks_nothing():
    assert gaps(device(first="E1 E2")) == []
