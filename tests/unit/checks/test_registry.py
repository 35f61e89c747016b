import pytest

from auditor.checks import rules
from auditor.facts import TABLES, schema
from auditor.model import RuleKind

RULES = sorted(rules().values(), key=lambda rule: rule.id)
COLUMNS = {f"{table}.{column}" for table, row_type in TABLES.items() for column in schema(row_type).columns}


def test_rules_are_named_by_module_and_function():
    assert set(rules()) >= {
        "collection.partial",
        "collection.stale",
        "collection.unreachable",
        "firmware.not_allowed",
        "lossless.buffer_mode",
        "lossless.pfc_priorities_differ",
        "lossless.trust_without_dscp",
        "lossless.watchdog_missing",
        "mtu.link_ends_differ",
    }
    assert all(name == rule.id for name, rule in rules().items())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_reads_columns_that_exist(rule):
    assert {*rule.reads, *rule.optional} <= COLUMNS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule_says_what_holds_why_it_matters_and_what_to_do(rule):
    holds, _, rest = rule.doc.partition("\n")
    assert len(holds) > 30
    assert "Why it matters:" in rest
    assert len(rule.remedy) > 30


def test_the_rules_of_cables_are_link_rules():
    assert {rule.id for rule in RULES if rule.kind is RuleKind.LINK} == {
        "fabric.fec_differs",
        "fabric.speed_differs",
        "firmware.far_end_not_allowed",
        "lossless.pfc_priorities_differ",
        "mtu.link_ends_differ",
    }


def test_mirrors_of_gaps_are_information():
    assert {str(rule.severity) for rule in RULES if rule.family == "collection"} == {"information"}
