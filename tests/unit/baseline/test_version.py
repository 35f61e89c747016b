from __future__ import annotations

import pytest

from auditor.baseline.version import parse_range, satisfies, version_key

IN_ORDER = [
    "28.39-rc1",
    "28.39",
    "28.39.1002",
    "28.39.2048",
    "28.43",
    "28.43.1014",
    "28.100",
]


def test_versions_sort_by_number_and_candidates_come_first() -> None:
    shuffled = [*IN_ORDER[::2], *IN_ORDER[1::2]]
    assert sorted(shuffled, key=version_key) == IN_ORDER


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("4.31.2F", "4.31.10F"),
        ("10.3(4)M", "10.3(4a)M"),
        ("21.4R3", "21.4R3-S4.9"),
        ("5.15.0-91-generic", "5.15.0-102-generic"),
        ("SONiC.202305.3", "SONiC.202311.1"),
        ("1.2.3", "1.2.3+build5"),
        ("9" * 50, "1" + "0" * 50),
    ],
)
def test_vendor_spellings(earlier: str, later: str) -> None:
    assert version_key(earlier) < version_key(later)


@pytest.mark.parametrize(("one", "same"), [("2.0", "2"), ("v1.4", "1.4"), ("1.2-RC1", "1.2rc1"), ("01.02", "1.2")])
def test_spellings_of_one_version(one: str, same: str) -> None:
    assert version_key(one) == version_key(same)


def test_the_upper_bound_leaves_out_all_that_follows_it() -> None:
    assert satisfies("28.42.9999", ">=28.39,<28.43")
    assert not satisfies("28.43.1000", ">=28.39,<28.43")
    assert not satisfies("28.43.1000", "<=28.43")
    assert satisfies("28.43.1000", "<28.44")


@pytest.mark.parametrize("text", ["", "28.39", ">=", ">=28.39,", "~28", ">= 1 2", ">=--", ">1,<1", ">=2,<2", "==1,==2"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="version"):
        parse_range(text)


def test_one_version_is_a_range() -> None:
    assert satisfies("2.0.0", ">=2,<=2")
    assert satisfies("2.0.0", "==2.0")
