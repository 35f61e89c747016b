"""Every case of fixtures/checks: what a rule must say about given facts, and that no rule goes without cases."""

import pytest

from auditor.checks import rules
from auditor.model import Rule
from tests.golden.rulecases import case_files, cases, expected, judge

CASES = cases()


@pytest.mark.parametrize(("rule", "case"), CASES, ids=[f"{rule}: {case['name']}" for rule, case in CASES])
def test_rule_says_what_the_case_expects(rule, case):
    want, got = expected(case, judge(rule, case))
    assert got == want


@pytest.mark.parametrize("rule", [rule for rule in rules().values() if isinstance(rule, Rule)], ids=lambda rule: rule.id)
def test_every_rule_has_a_case_that_passes_and_one_that_fails(rule):
    verdicts = {
        wish if isinstance(wish, str) else wish["verdict"]
        for name, case in CASES
        if name == rule.id
        for wish in case["expect"].values()
    }
    assert {"pass", "fail"} <= verdicts


def test_every_case_file_is_named_after_a_rule():
    assert {file.stem for file in case_files()} == set(rules())


def test_names_of_cases_are_unique():
    names = [(rule, case["name"]) for rule, case in CASES]
    assert len(set(names)) == len(names)
