"""Laws of drift: nothing differs from itself, and the changes between two sets turn the one into the other."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from auditor import drift
from auditor.address import Address, Layer
from auditor.facts import Neighbour, Queue, Row
from auditor.model import Change, RowSet, SetKey

QUEUE_COLUMNS = ("scheduler", "weight", "ecn_enabled", "ecn_probability", "watchdog_state")
queues = st.lists(
    st.builds(
        Queue,
        port=st.text(min_size=1, max_size=12),
        queue=st.sampled_from([str(at) for at in range(8)]),
        scheduler=st.none() | st.sampled_from(["strict", "dwrr"]),
        weight=st.none() | st.integers(0, 100),
        ecn_enabled=st.none() | st.booleans(),
        ecn_probability=st.none() | st.floats(0, 1),
        watchdog_state=st.none() | st.text(max_size=4),
    ),
    max_size=8,
)
NEIGHBOUR_COLUMNS = ("system", "chassis", "heard_s")
neighbours = st.lists(
    st.builds(
        Neighbour,
        port=st.text(max_size=6),
        port_id=st.text(max_size=6),
        system=st.none() | st.text(max_size=6),
        chassis=st.none() | st.text(max_size=6),
        heard_s=st.none() | st.floats(0, 1e6),
    ),
    max_size=6,
)


def made(kind: type[Row], columns: tuple[str, ...], rows: list[Any]) -> RowSet:
    return drift.row_set(SetKey(kind.TABLE, Layer.APPLIED, "any"), kind, columns, rows)


def apply(found: list[Change], rows: tuple[Any, ...], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """What the rows are after the changes, by nothing but their addresses and values."""
    out = {tuple(row[name] for name in names): dict(row) for row in rows}
    for change in found:
        at = Address.parse(change.address)
        if at.column is None:
            if change.after is None:
                assert out.pop(at.key) == change.before
            else:
                assert at.key not in out
                out[at.key] = dict(change.after)
        else:
            assert out[at.key].get(at.column) == change.before
            out[at.key][at.column] = change.after
    return [{name: value for name, value in out[key].items() if value is not None} for key in sorted(out)]


@given(queues)
def test_a_set_does_not_differ_from_itself(rows: list[Queue]) -> None:
    assert drift.changes("leaf", made(Queue, QUEUE_COLUMNS, rows), made(Queue, QUEUE_COLUMNS, rows)) == []


@given(queues, queues)
def test_changes_turn_the_first_set_into_the_second(one: list[Queue], two: list[Queue]) -> None:
    before, after = made(Queue, QUEUE_COLUMNS, one), made(Queue, QUEUE_COLUMNS, two)
    assert apply(drift.changes("leaf", before, after), before.rows, ("port", "queue")) == list(after.rows)


@given(neighbours, neighbours)
def test_changes_hold_for_keys_that_devices_choose(one: list[Neighbour], two: list[Neighbour]) -> None:
    before, after = made(Neighbour, NEIGHBOUR_COLUMNS, one), made(Neighbour, NEIGHBOUR_COLUMNS, two)
    assert apply(drift.changes("leaf", before, after), before.rows, ("port", "port_id")) == list(after.rows)


@given(queues, queues)
def test_equal_digests_mean_equal_content(one: list[Queue], two: list[Queue]) -> None:
    before, after = made(Queue, QUEUE_COLUMNS, one), made(Queue, QUEUE_COLUMNS, two)
    assert (before.digest == after.digest) == (drift.canonical((), before.rows) == drift.canonical((), after.rows))
