"""Laws of the operators and of the order of versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.baseline.operators import ACROSS_OBJECTS, OPERATORS, agree, check_value, holds, settle, words
from auditor.baseline.version import parse_range, satisfies, version_key
from auditor.model import ABSENT

KINDS = ("str", "int", "float", "bool", "strs", "ints")
texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.integers(-(10**12), 10**12)
SCALARS = {
    "str": texts,
    "int": numbers,
    "float": st.floats(allow_nan=False, allow_infinity=False),
    "bool": st.booleans(),
    "strs": st.lists(texts, max_size=4),
    "ints": st.lists(numbers, max_size=4),
}


def observed(value: object) -> object:
    return tuple(sorted(set(value))) if isinstance(value, list) else value


versions = st.lists(
    st.one_of(st.integers(0, 9999).map(str), st.sampled_from(["a", "b", "F", "rc", "beta", "R"])), min_size=1
).flatmap(
    lambda runs: st.lists(st.sampled_from([".", "-", "", "_", "+"]), min_size=len(runs), max_size=len(runs)).map(
        lambda marks: "".join(run + mark for run, mark in zip(runs, marks, strict=True)).rstrip(".-_+")
    )
)
plain_versions = st.lists(st.integers(0, 999), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))


@given(st.data(), st.sampled_from(KINDS))
def test_ne_is_the_negation_of_eq_for_every_value_there_is(data: st.DataObject, kind: str) -> None:
    wanted, value = data.draw(SCALARS[kind]), data.draw(SCALARS[kind])
    settled = settle("eq", wanted, kind)
    assert holds("eq", observed(value), settled) is not holds("ne", observed(value), settled)
    assert holds("eq", observed(wanted), settled)


@given(st.data(), st.sampled_from(KINDS))
def test_not_in_is_the_negation_of_in_and_in_is_some_eq(data: st.DataObject, kind: str) -> None:
    wanted, value = data.draw(st.lists(SCALARS[kind], min_size=1, max_size=4)), data.draw(SCALARS[kind])
    settled = settle("in", wanted, kind)
    inside = holds("in", observed(value), settled)
    assert inside is not holds("not_in", observed(value), settled)
    assert inside is any(holds("eq", observed(value), settle("eq", item, kind)) for item in wanted)


@given(numbers, numbers)
def test_number_operators_part_the_line_at_the_boundary(value: int, bound: int) -> None:
    assert holds("lt", value, bound) is not holds("ge", value, bound)
    assert holds("gt", value, bound) is not holds("le", value, bound)
    assert holds("le", bound, bound)
    assert holds("ge", bound, bound)
    assert not holds("lt", bound, bound)
    assert not holds("gt", bound, bound)
    assert holds("lt", bound - 1, bound)


@given(numbers, numbers, numbers)
def test_between_includes_both_bounds_and_nothing_outside(value: int, one: int, other: int) -> None:
    low, high = sorted((one, other))
    wanted = settle("between", [low, high], "int")
    assert holds("between", low, wanted)
    assert holds("between", high, wanted)
    assert not holds("between", low - 1, wanted)
    assert not holds("between", high + 1, wanted)
    assert holds("between", value, wanted) is (low <= value <= high)


@given(st.lists(numbers, max_size=6), st.lists(numbers, max_size=6))
def test_superset_is_contains_of_every_item(value: list[int], wanted: list[int]) -> None:
    settled = settle("superset", wanted, "ints")
    assert holds("superset", observed(value), settled) is all(holds("contains", observed(value), item) for item in wanted)


WANTED = {
    "between": [1, 2], "in": [1], "not_in": [1], "matches": "a", "contains": 1, "superset": [1], "version": ">=1",
    "absent": True, "present": True,
}  # fmt: skip


@pytest.mark.parametrize("operator", sorted(set(OPERATORS) - ACROSS_OBJECTS))
def test_only_absent_holds_for_an_absent_value(operator: str) -> None:
    assert holds(operator, ABSENT, WANTED.get(operator, 1)) is (operator == "absent")


@given(st.lists(st.one_of(st.integers(0, 3), st.just(ABSENT)), min_size=1, max_size=6))
def test_same_and_unique_are_never_both_true_of_two_values_and_never_of_an_absent_one(values: list[object]) -> None:
    same, unique = agree("same", values), agree("unique", values)
    if ABSENT in values:
        assert not same
        assert not unique
    elif len(values) > 1:
        assert not (same and unique)
    else:
        assert same
        assert unique


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=5)


@given(st.sampled_from(sorted(OPERATORS)), st.sampled_from(KINDS), anything)
def test_any_value_is_either_refused_in_words_or_can_be_judged(operator: str, kind: str, wanted: object) -> None:
    problem = check_value(operator, wanted, kind)
    if problem is not None:
        assert problem
        return
    settled = settle(operator, wanted, kind)
    assert words(operator, settled)
    sample = {"str": "x", "int": 1, "float": 1.0, "bool": True, "strs": ("x",), "ints": (1,)}[kind]
    if operator in ACROSS_OBJECTS:
        assert agree(operator, [sample])
    else:
        assert holds(operator, sample, settled) in (True, False)


@given(versions, versions, versions)
def test_versions_have_one_total_order(a: str, b: str, c: str) -> None:
    x, y, z = version_key(a), version_key(b), version_key(c)
    assert (x < y) + (x == y) + (y < x) == 1
    if x <= y <= z:
        assert x <= z


@given(plain_versions, st.integers(0, 999))
def test_a_later_number_is_later_and_a_longer_version_too(version: str, number: int) -> None:
    assert version_key(f"{version}.{number}") < version_key(f"{version}.{number + 1}")
    assert version_key(f"{version}.7") < version_key(f"{version}.7.{number + 1}")


@given(plain_versions)
def test_a_letter_or_build_comes_after_the_plain_version_and_a_candidate_before(version: str) -> None:
    stem = f"{version}.7"
    key = version_key(stem)
    assert version_key(f"{stem}-rc1") < key < version_key(f"{stem}F") < version_key(f"{stem}.1")
    assert key < version_key(f"{stem}+build5")
    assert version_key(f"v{stem}") == version_key(f"{stem}.0") == key


@given(plain_versions, plain_versions, plain_versions)
def test_a_range_is_half_open_as_written(a: str, b: str, version: str) -> None:
    low, high = sorted((a, b), key=version_key)
    if version_key(low) == version_key(high):
        with pytest.raises(ValueError, match="no version lies in"):
            parse_range(f">={low},<{high}")
        return
    text = f">={low},<{high}"
    assert satisfies(low, text)
    assert not satisfies(high, text)
    assert satisfies(version, text) is (version_key(low) <= version_key(version) < version_key(high))


@given(versions, plain_versions)
def test_version_bounds_negate_each_other(version: str, bound: str) -> None:
    assert satisfies(version, f">={bound}") is not satisfies(version, f"<{bound}")
    assert satisfies(version, f">{bound}") is not satisfies(version, f"<={bound}")
    assert satisfies(version, f"=={bound}") is not satisfies(version, f"!={bound}")


@given(versions)
def test_a_build_suffix_or_letter_stays_inside_the_range_of_its_release(version: str) -> None:
    assert version_key(version) < version_key(f"{version}+build5")
    assert version_key(version) < version_key(f"{version}.1a")


@given(plain_versions, st.sampled_from(["a", "F", "M", "+build7", "-hotfix2", ".1002", "_p3"]))
def test_a_half_open_range_up_to_the_next_release_holds_every_suffix_of_this_one(version: str, suffix: str) -> None:
    text = f">={version}.7,<{version}.8"
    assert satisfies(f"{version}.7{suffix}", text)
    assert not satisfies(f"{version}.8{suffix}", text)
    assert not satisfies(f"{version}.7-rc1", text)
    assert not satisfies(f"{version}.7{suffix}", f"<={version}.7")
    assert satisfies(f"{version}.7{suffix}", f"!={version}.7")


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_number_operators_part_the_line_for_fractions_too(value: float, bound: float) -> None:
    assert holds("lt", value, bound) is not holds("ge", value, bound)
    assert holds("gt", value, bound) is not holds("le", value, bound)
    assert holds("between", value, (min(value, bound), max(value, bound)))


@given(st.data(), st.sampled_from(KINDS))
def test_present_is_the_negation_of_absent(data: st.DataObject, kind: str) -> None:
    for value in (observed(data.draw(SCALARS[kind])), ABSENT):
        assert holds("present", value, True) is not holds("absent", value, True)
