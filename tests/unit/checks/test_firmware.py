import pickle

import pytest
from pydantic import TypeAdapter, ValidationError

from auditor.checks.firmware import Allowed, not_allowed, pair_not_allowed
from auditor.checks.firmware.versions import same_part

PARAMS = TypeAdapter(not_allowed.params_type)


def test_params_as_baselines_write_them():
    (line,) = PARAMS.validate_python(
        [{"component": "nic.*", "part": "X", "psid": ["P"], "version": ">=28.39,<28.43", "severity": "critical", "why": "tested"}]
    )
    assert line.allows("28.41.1000")
    assert not line.allows("28.43.1000")
    assert str(line.severity) == "critical"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"component": "bios", "why": "x"}, "either `version`"),
        ({"component": "bios", "why": "x", "version": ">=1", "in": ["1"]}, "either `version`"),
        ({"component": "bios", "why": "x", "in": []}, "at least 1 item"),
        ({"component": "bios", "why": "x", "in": [1.5]}, "valid string"),
        ({"component": "bios", "in": ["1"]}, "Field required"),
        ({"component": "bios", "why": "x", "in": ["1"], "versoin": ">1"}, "Extra inputs"),
        ({"component": "bios", "why": "x", "version": "newest"}, "no version range"),
        ({"component": "bios", "why": "x", "version": ">=2,<1"}, "no version lies in"),
    ],
)
def test_a_line_that_says_nothing_or_too_much_is_refused(line, words):
    with pytest.raises(ValidationError, match=words):
        PARAMS.validate_python([line])


def test_params_travel_to_workers():
    line = Allowed.model_validate({"component": "bios", "in": ["1"], "why": "x"})
    assert pickle.loads(pickle.dumps(line)) == line


def test_a_component_without_wildcards_is_explicit():
    def explicit(component):
        return Allowed.model_validate({"component": component, "in": ["1"], "why": "x"}).explicit

    assert explicit("nic.0000:3b:00.0")
    assert not explicit("nic.*")
    assert not explicit("cpld.[12]")


@pytest.mark.parametrize(
    ("wanted", "seen", "same"),
    [
        ("MCX75310AAS-NEAT", "MCX75310AAS-NEAT", True),
        ("MCX75310AAS-NEAT", "MCX75310AAS-NEA_Ax", True),
        ("MCX75310AAS-NEA_Ax", "MCX75310AAS-NEAT", True),
        ("MCX354A-FCBT", "MCX354A-FCB_A2-A5", True),
        ("MBF2H536C-CECOT", "MBF2H536C-CECO_Ax_Bx", True),
        ("MCX75310AAS-NEAT", "MCX75310AAC-NEA_Ax", False),
        ("MCX75310AAS-NEAT", "MCX75310AAS-NEA", False),
        ("MCX75310AAS-*", "MCX75310AAS-NEA_Ax", True),
        ("MCX623106AN-CDAT", "MCX75310AAS-NEA_Ax", False),
        ("8025_X", "8025_Y", False),
    ],
)
def test_a_board_with_its_revisions_is_the_part_that_is_ordered(wanted, seen, same):
    assert same_part(wanted, seen) is same


PAIRS = TypeAdapter(pair_not_allowed.params_type)
SIDE = {"component": "bios", "in": ["1"]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"if": SIDE, "then": SIDE}, "Field required"),
        ({"if": SIDE, "why": "x"}, "Field required"),
        ({"if": {"component": "bios"}, "then": SIDE, "why": "x"}, "either `version`"),
        ({"if": {**SIDE, "why": "x"}, "then": SIDE, "why": "x"}, "Extra inputs"),
        ({"when": SIDE, "then": SIDE, "why": "x"}, "Extra inputs"),
    ],
)
def test_a_pair_that_says_nothing_or_too_much_is_refused(line, words):
    with pytest.raises(ValidationError, match=words):
        PAIRS.validate_python([line])


def test_pairs_travel_to_workers():
    (line,) = PAIRS.validate_python([{"if": SIDE, "then": {"component": "bmc", "version": ">=2"}, "why": "x"}])
    assert pickle.loads(pickle.dumps(line)) == line
