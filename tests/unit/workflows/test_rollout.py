"""How far waves are and what stands in the way of the next, at times that the test gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.baseline.assignments import read_assignments
from auditor.baseline.rollout import read_rollouts
from auditor.errors import SetupError
from auditor.model import Device, Finding, Severity
from auditor.store import FindingEvent
from auditor.workflows.rollout import RolloutStatus, statuses

START = datetime(2030, 5, 6, 22, tzinfo=UTC)
END = START + timedelta(hours=4)
SOAKED = END + timedelta(hours=72)
DEVICES = [Device(f"leaf-0{number}", ("sonic",), role="leaf", rack="R1") for number in (1, 2, 3)]
TEXT = """\
assignments: [{select: {role: leaf}, use: [leaf@1.0.0]}]
rollouts:
  - name: leaf-1.1
    from: leaf@1.0.0
    to: leaf@1.1.0
    window: 4h
    waves:
      - {select: {name: leaf-01}, start: 2030-05-06T22:00:00Z}
      - {select: {rack: R1}}
"""


class Store:
    def __init__(self, findings: list[Finding], seen: datetime | None, events: list[FindingEvent]) -> None:
        self.found, self.seen, self.happened = findings, seen, events

    def findings(self, states: Any) -> list[Finding]:
        return [finding for finding in self.found if finding.status in states]

    def last_states(self, devices: Any) -> Any:
        return [(name, self.seen, ()) for name in sorted(devices)] if self.seen else []

    def events(self, fingerprint: str) -> list[FindingEvent]:
        return self.happened


@pytest.fixture
def project(tmp_path: Path) -> Any:
    file = tmp_path / "assignments.yaml"
    file.write_text(TEXT)
    return SimpleNamespace(
        rollouts=read_rollouts(file), assignments=read_assignments(file), inventory=SimpleNamespace(devices=DEVICES)
    )


def finding(
    first_seen: datetime, *, status: str = "open", severity: Severity = Severity.ERROR, device: str = "leaf-01"
) -> Finding:
    return Finding(
        fingerprint="f" * 16,
        rule="mtu.x",
        object=f"{device}:interface[a]",
        severity=severity,
        devices=(device,),
        address="",
        expected="",
        observed="",
        message="mtu is small",
        status=status,
        first_seen=first_seen.isoformat(),
    )


def ask(
    project: Any, at: datetime, findings: list[Finding] | None = None, seen: datetime | None = SOAKED, events: Any = ()
) -> RolloutStatus:
    (found,) = statuses(project, Store(findings or [], seen, list(events)), at, "leaf-1.1")  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("at", "state", "blocked"),
    [
        (START - timedelta(seconds=1), "planned", False),
        (START, "window", True),
        (END - timedelta(seconds=1), "window", True),
        (END, "soaking", True),
        (SOAKED - timedelta(seconds=1), "soaking", True),
        (SOAKED, "soaked", False),
    ],
)
def test_a_wave_goes_through_its_states_and_the_next_waits_for_its_soak(
    project: Any, at: datetime, state: str, blocked: bool
) -> None:
    found = ask(project, at)
    assert [wave.state for wave in found.waves] == [state, "planned"]
    assert bool(found.blocking) is blocked
    assert [wave.devices for wave in found.waves] == [("leaf-01",), ("leaf-02", "leaf-03")]
    assert found.next is not None
    assert found.next.number == (1 if state == "planned" else 2)


def test_a_new_finding_on_the_predecessor_holds_the_next_wave_up_and_is_named(project: Any) -> None:
    (wave,) = ask(project, SOAKED, [finding(END)]).blocking
    assert wave.number == 1
    assert [one.rule for one in wave.findings] == ["mtu.x"]
    assert wave.left == "1 new findings"


@pytest.mark.parametrize(
    "harmless",
    [
        finding(START - timedelta(days=1)),
        finding(END, status="waived"),
        finding(END, status="resolved"),
        finding(END, severity=Severity.INFORMATION),
        finding(END, device="leaf-02"),
    ],
    ids=["old", "waived", "resolved", "information", "another device"],
)
def test_what_is_not_new_or_not_of_the_wave_holds_nothing_up(project: Any, harmless: Finding) -> None:
    assert not ask(project, SOAKED, [harmless]).blocking


def test_a_finding_that_came_back_after_the_start_is_new(project: Any) -> None:
    old = finding(START - timedelta(days=9), status="regressed")
    back = [FindingEvent("r", "", "open", START - timedelta(days=9)), FindingEvent("r", "resolved", "regressed", END)]
    assert ask(project, SOAKED, [old], events=back).blocking
    assert not ask(project, SOAKED, [old], events=[FindingEvent("r", "unverified", "open", END), back[0]]).blocking


@pytest.mark.parametrize("seen", [None, END - timedelta(hours=1)])
def test_a_device_not_seen_since_the_window_is_no_green_light(project: Any, seen: datetime | None) -> None:
    (wave,) = ask(project, SOAKED, seen=seen).blocking
    assert wave.unseen == ("leaf-01",)
    assert "1 devices not audited since its window ended" in wave.left


def test_an_unknown_name_is_an_error_with_a_hint(project: Any) -> None:
    with pytest.raises(SetupError, match=r"no rollout 'leaf-1\.2' \(did you mean 'leaf-1\.1'"):
        statuses(project, Store([], None, []), SOAKED, "leaf-1.2")  # type: ignore[arg-type]
