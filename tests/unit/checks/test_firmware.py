import pickle

import pytest
from pydantic import TypeAdapter, ValidationError

from auditor.checks.firmware import Allowed, not_allowed

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
