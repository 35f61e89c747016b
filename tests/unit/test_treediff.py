"""Differences of plain trees."""

from __future__ import annotations

from typing import Any

import pytest

from auditor import treediff
from auditor.model import ABSENT
from auditor.treediff import differences


def test_equal_trees_do_not_differ_and_never_reach_deepdiff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treediff, "DeepDiff", None)
    tree = {"PORT": {"Ethernet0": {"mtu": "9100", "lanes": [1, 2]}}, "n": [1, {"a": None}]}
    assert differences(tree, {"n": [1, {"a": None}], "PORT": {"Ethernet0": {"lanes": [1, 2], "mtu": "9100"}}}) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, [(("a", "b"), 1, 2)]),
        ({"a": 1}, {}, [(("a",), 1, ABSENT)]),
        ({}, {"a": 1}, [(("a",), ABSENT, 1)]),
        ({"a": None}, {}, [(("a",), None, ABSENT)]),
        ({"a": {"x": 1}}, {"a": [1]}, [(("a",), {"x": 1}, [1])]),
        ([1, 2], [1, 3], [((1,), 2, 3)]),
        ([0, 1, 2, 3], [0, 2, 3], [((1,), 1, ABSENT)]),
        ([0, 1], [0, 1, 2], [((2,), ABSENT, 2)]),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, [(("a",), 1, 2), (("b",), 1, 2)]),
        ("x", "y", [((), "x", "y")]),
    ],
)
def test_each_difference_is_named_by_its_path(before: Any, after: Any, expected: list[Any]) -> None:
    assert differences(before, after) == expected


def test_numbers_and_truth_values_are_different_things() -> None:
    assert differences({"a": [1, True, 1.0]}, {"a": [True, 1, 1]}) == [
        (("a", 0), 1, True),
        (("a", 1), True, 1),
        (("a", 2), 1.0, 1),
    ]


def test_positions_are_sorted_as_numbers() -> None:
    assert [path for path, *_ in differences(list(range(12)), [-1] * 12)] == [(at,) for at in range(12)]
