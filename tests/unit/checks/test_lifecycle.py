import pickle
from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from auditor.address import Address, Layer
from auditor.checks import rules
from auditor.checks.lifecycle import layer, second_owner, unsaved
from auditor.evaluate import device
from auditor.facts import ConfigFile, DscpMap, Interface, NicOption, System
from auditor.model import ABSENT, Baseline, Fabric, Gap, GapReason, Origin, RuleContext, State

AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
PARAMS = TypeAdapter(second_owner.params_type)


def state(*rows, gaps=(), at=AT):
    """Rows with their layers; every column of their tables counts as declared by a whole answer."""
    tables, origins = {}, {}
    for where, row in rows:
        tables.setdefault((type(row), where), {})[row.key] = row
        for column in type(row).__dataclass_fields__:
            origins[type(row), where, column] = (Origin("source", "0" * 64),)
    return State("leaf-01", at, tables, origins, tuple(gaps))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "nothing"),
        (ABSENT, "nothing"),
        (True, "yes"),
        (9497600.0, "9497600"),
        (0.125, "0.125"),
        ((3, 4), "3,4"),
        ((), "none"),
        (9100, "9100"),
    ],
)
def test_values_in_words(value, said):
    assert layer.words(value) == said


def test_device_text_cannot_draw_on_the_screen():
    assert "\x1b" not in layer.words("up\x1b[31m\nlink")
    assert len(layer.words("x" * 5000)) <= 80


@pytest.mark.parametrize(
    ("booted", "soon"),
    [
        ("2026-03-01T01:59:00+00:00", True),
        ("2026-03-01T01:00:00+00:00", False),
        ("2026-03-01T02:30:00+00:00", False),
        ("yesterday", False),
        ("2026-03-01T01:59:00", False),
    ],
)
def test_a_device_settles_for_a_while_after_its_start(booted, soon):
    assert bool(layer.settling(state((Layer.APPLIED, System(booted_at=booted))))) is soon


def test_without_a_start_time_nothing_is_excused():
    assert layer.settling(state()) == ""


def test_a_layer_that_nobody_reads_is_unsupported_and_one_that_failed_is_not():
    assert layer.missing(state(), Address("queue"), Layer.CONFIGURED, Layer.APPLIED).reason is GapReason.UNSUPPORTED
    lost = Gap("leaf-01", "queue", "dump", GapReason.TIMEOUT, "after 20 s", Layer.APPLIED, columns=("weight",))
    declared = Gap("leaf-01", "queue", "sonic", GapReason.UNSUPPORTED, "straight to orchagent", Layer.APPLIED)
    gap = layer.missing(state(gaps=[declared, lost]), Address("queue"), Layer.CONFIGURED, Layer.APPLIED, ("weight",))
    assert (gap.reason, gap.detail) == (GapReason.TIMEOUT, "read: configured; applied not collected (after 20 s)")
    other = layer.missing(state(gaps=[lost]), Address("queue"), Layer.CONFIGURED, Layer.APPLIED, ("scheduler",))
    assert other.reason is GapReason.UNSUPPORTED


def test_a_saved_file_that_differs_in_a_thousand_places_is_told_in_a_few_lines():
    rows = [(Layer.SAVED, ConfigFile(name="/f", exists=True, parses=True))]
    for number in range(500):
        rows.append((Layer.CONFIGURED, Interface(name=f"Ethernet{number}", mtu=9100, description=f"peer {number}")))
        rows.append((Layer.SAVED, Interface(name=f"Ethernet{number}", mtu=1500)))
    for dscp in range(64):
        rows.append((Layer.CONFIGURED, DscpMap(name="ROCE", dscp=str(dscp), traffic_class=0)))
    rows.append((Layer.SAVED, DscpMap(name="AZURE", dscp="0", traffic_class=0)))
    (said,) = unsaved.function(state(*rows), RuleContext())
    assert said.deviation.observed == "1065 differences"
    assert "mtu and 499 more: 9100 running, 1500 saved" in said.deviation.message
    assert "more" in said.deviation.message
    assert len(said.deviation.message) < 1500


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "give `owner`, `others` or `dcbx`"),
        ({"why": "x"}, "give `owner`, `others` or `dcbx`"),
        ({"owner": "roce-qos"}, "pattern"),
        ({"owner": "roce qos.service"}, "pattern"),
        ({"others": ["lldpad"]}, "pattern"),
        ({"dcbx": "switch"}, "'os'"),
        ({"owner": "a.service", "others": ["a.service"]}, "cannot be the owner and one of the others"),
        ({"owner": "a.service", "other": ["b.service"]}, "Extra inputs"),
    ],
)
def test_an_ownership_that_says_nothing_or_too_much_is_refused(params, words):
    with pytest.raises(ValidationError, match=words):
        PARAMS.validate_python(params)


def test_params_travel_to_workers():
    params = PARAMS.validate_python({"owner": "roce-qos.service", "others": ["lldpad.service", "x@1.service"], "dcbx": "os"})
    assert pickle.loads(pickle.dumps(params)) == params


def judged(seen, role, host, only, baselines=()):
    subject = device.Subject(seen.device, role, "", host, baselines, Fabric(), {}, only)
    return device.judge(seen, subject)


def test_a_host_is_not_asked_for_layers_that_hosts_do_not_have():
    seen = state((Layer.APPLIED, Interface(name="eth0", mtu=9000)))
    said = judged(seen, "gpu_host", True, ("lifecycle.*",))
    assert {str(result.verdict) for result in said.results} == {"not_applicable"}
    assert said.gaps == []


def test_the_options_of_all_nics_of_a_host_are_one_cause():
    rows = []
    for pci in ("0000:1a:00.0", "0000:3c:00.0"):
        rows.append((Layer.APPLIED, NicOption(pci=pci, name="LINK_TYPE_P1", value="ETH")))
        rows.append((Layer.NEXT_BOOT, NicOption(pci=pci, name="LINK_TYPE_P1", value="IB")))
    said = judged(state(*rows), "gpu_host", True, ("lifecycle.pending_next_boot",))
    assert [finding.root for finding in said.findings] == [("device", "leaf-01")] * 2
    assert {finding.layer for finding in said.findings} == {"next_boot"}


def test_second_owner_without_params_is_not_applicable():
    said = judged(state(), "gpu_host", True, ("lifecycle.second_owner",))
    assert [str(result.verdict) for result in said.results] == ["not_applicable"]
    intent = PARAMS.validate_python({"owner": "roce-qos.service"})
    with_params = Baseline("host", "1.0.0", "", params={"lifecycle.second_owner": intent})
    said = judged(state(), "gpu_host", True, ("lifecycle.second_owner",), (with_params,))
    assert [str(result.verdict) for result in said.results] == ["not_evaluated"]


def test_severities():
    found = {name: str(rule.severity) for name, rule in rules().items() if rule.family == "lifecycle"}
    assert found == {
        "lifecycle.pending_next_boot": "warning",
        "lifecycle.second_owner": "warning",
        "lifecycle.unapplied": "error",
        "lifecycle.unsaved": "warning",
    }
