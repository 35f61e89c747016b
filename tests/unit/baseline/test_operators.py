from __future__ import annotations

import time

import pytest

from auditor.baseline.operators import MATCH_LIMIT, OPERATORS, check_value, holds, settle, shown, words
from auditor.model import ABSENT


@pytest.mark.parametrize(
    ("operator", "observed", "wanted", "verdict"),
    [
        ("eq", 9100, 9100, True),
        ("eq", (3, 4), (3, 4), True),
        ("ne", "rs", "fc", True),
        ("in", "4.4.2", ("4.4.2", "4.4.3"), True),
        ("not_in", 1500, (1500, 1514), False),
        ("between", 5, (5, 9), True),
        ("matches", "SONiC.202311.7", r"SONiC\.2023\d+\.\d+", True),
        ("matches", "110", "10", False),
        ("matches", "10\n", "10", False),
        ("contains", (3, 4), 3, True),
        ("contains", ("dscp",), "pcp", False),
        ("contains", "uplink to spine-01", "spine", True),
        ("superset", (2, 3, 4), (3, 4), True),
        ("superset", (), (3,), False),
        ("version", "28.39.1002", ">=28.39,<28.43", True),
        ("version", "28.43.1014", ">=28.39,<28.43", False),
        ("present", "x", True, True),
        ("present", ABSENT, True, False),
        ("absent", (), True, False),
        ("absent", ABSENT, True, True),
        ("ne", ABSENT, 1500, False),
        ("not_in", ABSENT, (1500,), False),
        ("lt", ABSENT, 5, False),
    ],
)
def test_holds(operator: str, observed: object, wanted: object, verdict: bool) -> None:
    assert holds(operator, observed, wanted) is verdict


@pytest.mark.parametrize(
    ("operator", "wanted", "kind", "words_of_error"),
    [
        ("eq", "9100", "int", "a whole number, not '9100'"),
        ("eq", True, "int", "a whole number"),
        ("eq", 4.4, "str", "put it in quotes"),
        ("eq", False, "str", "put it in quotes"),
        ("eq", None, "str", "absent: true"),
        ("eq", 3, "ints", "a list of whole numbers"),
        ("eq", [3, "4"], "ints", "a whole number, not '4'"),
        ("in", 3, "int", "a list of values"),
        ("in", [], "int", "a list of values"),
        ("lt", "a", "str", "compares numbers"),
        ("ge", True, "bool", "compares numbers"),
        ("between", [9, 5], "int", "lower bound first"),
        ("between", [5], "int", "[low, high]"),
        ("matches", "(", "str", "no regular expression"),
        ("matches", "(a+)+", "str", "for ever"),
        ("matches", r"(a|b)*", "str", "for ever"),
        ("matches", r"(a?){25}", "str", "for ever"),
        ("matches", r"(a)\1", "str", "refers back"),
        ("matches", ".*a.*b.*c.*", "str", "for ever"),
        ("matches", "9100", "int", "reads texts"),
        ("contains", 3, "int", "lists and texts"),
        ("superset", ["a"], "str", "compares lists"),
        ("version", "28.39", "str", "no version range"),
        ("version", ">=2,<1", "str", "no version lies"),
        ("version", 28.39, "str", "put it in quotes"),
        ("absent", False, "int", "no value but true"),
        ("unique", "yes", "int", "no value but true"),
        ("equals", 1, "int", "no operator"),
        ("eq", float("nan"), "float", "a number"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_in_words(operator: str, wanted: object, kind: str, words_of_error: str) -> None:
    problem = check_value(operator, wanted, kind)
    assert problem is not None
    assert words_of_error in problem


@pytest.mark.parametrize(
    ("operator", "wanted", "kind"),
    [
        ("eq", 5, "float"),
        ("eq", "2026-01-01", "str"),
        ("matches", r"\d+\.\d+\.\d+\.\d+", "str"),
        ("matches", r"(SONiC|Enterprise)-[\w.]+", "str"),
        ("matches", r"(?:v)?\d+(\.\d+)?", "str"),
        ("matches", r"[(*+]{1,3}\(x\)*", "str"),
        ("version", ">=4.4.2, !=4.4.5, <5", "str"),
        ("superset", [], "ints"),
    ],
)
def test_a_value_that_fits_is_taken(operator: str, wanted: object, kind: str) -> None:
    assert check_value(operator, wanted, kind) is None


def test_lists_are_sets() -> None:
    assert settle("eq", [4, 3, 3], "ints") == (3, 4)
    assert holds("eq", (3, 4), settle("eq", [4, 3], "ints"))


def test_the_costliest_accepted_pattern_is_quick_on_the_longest_text() -> None:
    pattern = settle("matches", ".*a.*b.*c", "str")
    started = time.process_time()
    assert not holds("matches", "ab" * (MATCH_LIMIT // 2), pattern)
    assert time.process_time() - started < 5


def test_every_operator_reads_in_words() -> None:
    wanted = {"in": (1,), "not_in": (1,), "between": (1, 2)}
    assert all(words(operator, wanted.get(operator, 1)) for operator in OPERATORS)
    assert words("eq", 9100, "bytes") == "= 9100 bytes"
    assert words("in", ("a", "b")) == "in {a, b}"
    assert words("not_in", (3,), "s") == "not in {3} s"
    assert words("between", (1, 2), "m") == "1 to 2 m"


def test_shown_values_are_safe_for_a_screen() -> None:
    assert shown("a\x1b[31mb") == "a\\x1b[31mb"
    assert shown((3, 4)) == "{3, 4}"
    assert shown(True) == "true"
    assert shown(0.4) == "0.4"
    assert shown(ABSENT) == "absent"
