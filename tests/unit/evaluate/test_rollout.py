"""In a rollout's window a device passes wholly on either version, and half migrated fails with the nearer one named."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from auditor.address import Layer, Pattern
from auditor.evaluate.device import Judged, Subject
from auditor.evaluate.rollout import judge_any
from auditor.facts import Interface
from auditor.model import Baseline, DocumentOrigin, Expectation, Fabric, Origin, Severity, State, Verdict

COLUMNS = ("mtu", "fec", "speed")


def state(mtu: int | None = None, fec: str | None = None, speed: int | None = None, *, whole: bool = True) -> State:
    row = Interface(name="Ethernet0", mtu=mtu, fec=fec, speed=speed)
    origin = Origin("show", "d", "sonic", whole=whole)
    return State(
        "leaf-01",
        datetime(2030, 1, 1, tzinfo=UTC),
        {(Interface, Layer.CONFIGURED): {("Ethernet0",): row}},
        {(Interface, Layer.CONFIGURED, name): (origin,) for name in COLUMNS},
    )


def version(number: str, **wanted: object) -> tuple[Baseline, ...]:
    origin = DocumentOrigin("leaf", number, "f", 1)
    lines = tuple(
        Expectation(f"fabric.{name}", Pattern.parse(f"interface[Ethernet0].{name}"), "eq", value, Severity.ERROR, "w", origin)
        for name, value in wanted.items()
    )
    return (Baseline("leaf", number, "", lines),)


OLD = version("1.0.0", mtu=9000, fec="rs", speed=400)
NEW = version("1.1.0", mtu=9100, fec="rs", speed=800)
SUBJECT = Subject("leaf-01", "leaf", "", False, OLD, Fabric(), {}, only=("fabric.mtu", "fabric.fec", "fabric.speed"))


def judge(found: State) -> Judged:
    return judge_any(found, SUBJECT, (NEW,))


@pytest.mark.parametrize("found", [state(9000, "rs", 400), state(9100, "rs", 800)], ids=["old", "new"])
def test_a_device_wholly_on_either_version_passes(found: State) -> None:
    judged = judge(found)
    assert judged.findings == []
    assert {result.verdict for result in judged.results} == {Verdict.PASS}


def test_after_the_window_only_the_new_one_passes() -> None:
    assert [finding.rule for finding in judge_any(state(9000, "rs", 400), _only(NEW), ()).findings] == [
        "fabric.mtu",
        "fabric.speed",
    ]
    assert judge_any(state(9100, "rs", 800), _only(NEW), ()).findings == []


def _only(baselines: tuple[Baseline, ...]) -> Subject:
    return Subject("leaf-01", "leaf", "", False, baselines, Fabric(), {}, only=SUBJECT.only)


def test_a_half_migrated_device_fails_with_the_nearer_version_named() -> None:
    wide = version("1.1.0", mtu=9100, fec="fc", speed=800)
    (finding,) = judge_any(state(9100, "fc", 400), SUBJECT, (wide,)).findings
    assert (finding.rule, finding.object) == ("fabric.speed", "leaf-01:interface[Ethernet0]")
    assert finding.origin.version == "1.1.0"
    assert "nearest to leaf@1.1.0 (1 failures), not leaf@1.0.0 (2 failures)" in finding.message
    near_old = judge_any(state(9100, "rs", 400), SUBJECT, (wide,)).findings
    assert [(finding.rule, finding.origin.version) for finding in near_old] == [("fabric.mtu", "1.0.0")]


def test_of_two_equally_near_versions_the_newer_is_named() -> None:
    (finding,) = judge(state(9100, "rs", 400)).findings
    assert (finding.rule, finding.origin.version) == ("fabric.speed", "1.1.0")


def test_a_fault_that_both_versions_agree_on_names_none_and_does_not_make_a_device_half_migrated() -> None:
    (finding,) = judge(state(9100, "none", 800)).findings
    assert (finding.rule, "rollout" in finding.message) == ("fabric.fec", False)
    rules = {finding.rule: "nearest" in finding.message for finding in judge(state(9100, "none", 400)).findings}
    assert rules == {"fabric.fec": False, "fabric.speed": True}


def test_a_value_that_neither_version_wants_is_told_once() -> None:
    found = judge(state(1500, "rs", 800)).findings
    assert [(finding.rule, finding.origin.version) for finding in found] == [("fabric.mtu", "1.1.0")]


def test_what_could_not_be_seen_is_never_a_pass() -> None:
    judged = judge(state(None, "rs", 800, whole=False))
    assert judged.findings == []
    assert {result.rule: result.verdict for result in judged.results}["fabric.mtu"] is Verdict.NOT_EVALUATED


def test_the_version_with_less_unseen_counts_where_neither_fails() -> None:
    judged = judge_any(state(None, "rs", 800, whole=False), SUBJECT, (version("1.1.0", fec="rs", speed=800),))
    assert {result.verdict for result in judged.results} == {Verdict.PASS}
