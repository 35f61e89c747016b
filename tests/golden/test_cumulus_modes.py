"""The four RoCE modes of Cumulus Linux are what they say: no alarm once `fabric.yaml` says so too, else one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from auditor.checks.hops import hops
from auditor.evaluate.job import run
from auditor.model import (
    Device,
    DeviceJob,
    PlanEnd,
    PlannedPort,
    PlanSlice,
    RawOutput,
    Severity,
    TrafficClass,
    Verdict,
    digest,
)
from auditor.parse import parse_device
from auditor.plan.fabric import parse_fabric
from auditor.platforms import platforms
from tests.unit.platforms.answers import recorded

PORT = "swp7"
LOSSLESS = "planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3, cnp_dscp: 48}]}}"
LOSSY = "planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3, lossless: false}]}}"
MULTI_TC = (
    "planes: {compute: {classes: [{name: one, dscp: [1, 2], priority: 1, lossless: false}, "
    "{name: two, dscp: [3, 4], priority: 2, lossless: false}, {name: three, dscp: [5, 6], priority: 3, lossless: false}]}}"
)
STATUS = recorded("cumulus_linux", "roce_status", "lossless")
UNPAUSED = (
    STATUS.replace("pfc-priority      3", "pfc-priority      -")
    .replace("rx-enabled        yes", "rx-enabled        no ")
    .replace("tx-enabled        yes", "tx-enabled        no ")
)
MODES = {
    "lossless": (STATUS, LOSSLESS),
    "lossless_single_ipool": (STATUS.replace("lossless  ", "lossless-single-ipool  "), LOSSLESS),
    "lossy": (UNPAUSED.replace("lossless  ", "lossy     "), LOSSY),
    "lossy_multi_tc": (recorded("cumulus_linux", "roce_status", "lossy"), MULTI_TC),
}


def outputs(mode: str, status: str, *more: tuple[str, str]) -> tuple[RawOutput, ...]:
    out = []
    for key, body in (("roce", recorded("cumulus_linux", "roce", mode)), ("roce_status", status), *more):
        source = platforms()["cumulus_linux"].source(key)
        asked = {} if source.parameter is None else {"port": PORT}
        command, when = source.command.replace("{port}", PORT), datetime(2026, 3, 2, tzinfo=UTC)
        out.append(RawOutput("leaf-1", "cumulus_linux", key, command, body, digest(body), when, asked, exit_status=0))
    return tuple(out)


def judged(mode: str, status: str, fabric: str, *more: tuple[str, str]):
    planned = PlannedPort(PORT, "compute", "", PlanEnd("gpu", PORT), "gpu_host", groups=("compute", "in_use"))
    device = Device("leaf-1", ("cumulus_linux",), role="leaf")
    job = DeviceJob(
        device, outputs(mode, status, *more), (), PlanSlice((planned,)), parse_fabric(fabric),
        only=("lossless.*", "lifecycle.unapplied"),
    )  # fmt: skip
    return run(job)


def loud(outcome) -> set[tuple[str, str]]:
    assert all(result.verdict is not Verdict.ERROR for result in outcome.results)
    return {(finding.rule, finding.object) for finding in outcome.findings if finding.severity.rank <= Severity.WARNING.rank}


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_raises_no_alarm_once_the_intent_says_the_same(mode: str) -> None:
    outcome = judged(mode, *MODES[mode])
    assert loud(outcome) == set()
    assert "lossless.trust_without_dscp" in {result.rule for result in outcome.results if result.passed}


@pytest.mark.parametrize("mode", ["lossless", "lossless_single_ipool"])
def test_a_lossless_mode_keeps_the_chain_whole_and_the_buffer_lossless(mode: str) -> None:
    status, fabric = MODES[mode]
    assert {"lossless.buffer_mode", "lossless.other_class_in_lossless_queue"} <= {
        result.rule for result in judged(mode, status, fabric).results if result.passed
    }
    found = parse_device("leaf-1", outputs(mode, status), platforms(), names=["cumulus_linux"])
    both_ways = hops(found, {PORT: (TrafficClass("roce", (26,), 3, 48),)}, host=False)[PORT]
    cells = {(hop.direction, cell.name): cell.ok for hop in both_ways for cell in hop.cells}
    assert False not in cells.values()
    assert {name for (_, name), ok in cells.items() if ok} >= {"trust", "dscp_map", "pfc", "tc_to_queue", "pfc_to_queue", "cnp"}


@pytest.mark.parametrize("mode", ["lossy", "lossy_multi_tc"])
def test_a_lossy_mode_under_a_lossless_intent_is_told(mode: str) -> None:
    assert ("lossless.buffer_mode", "leaf-1:buffer") in loud(judged(mode, MODES[mode][0], LOSSLESS))


def test_a_lossless_mode_under_a_lossy_intent_is_told() -> None:
    assert loud(judged("lossless", STATUS, LOSSY)) == {("lossless.pfc_on_lossy_class", f"leaf-1:qos_port[{PORT}]")}


def test_another_class_in_the_lossless_queue_is_told() -> None:
    intent = LOSSLESS.replace("}]", "}, {name: bulk, dscp: [27], priority: 2, lossless: false}]")
    assert loud(judged("lossless", STATUS, intent)) == {("lossless.other_class_in_lossless_queue", "leaf-1:dscp_map[roce,27]")}


def test_a_watchdog_that_is_off_and_one_that_sees_a_storm_are_told() -> None:
    for case, rule, row in (
        ("off", "lossless.watchdog_missing", f"qos_port[{PORT}]"),
        ("a_deadlock", "lossless.watchdog_storm_now", f"queue[{PORT},3]"),
    ):
        body = recorded("cumulus_linux", "pfc_watchdog", case)
        assert loud(judged("lossless", STATUS, LOSSLESS, ("pfc_watchdog", body))) == {(rule, f"leaf-1:{row}")}
    body = recorded("cumulus_linux", "pfc_watchdog", "on_and_quiet")
    assert loud(judged("lossless", STATUS, LOSSLESS, ("pfc_watchdog", body))) == set()
