"""`auditor check` over real SSH: a device that misbehaves is named with the reason, and costs nobody but itself."""

import csv
import time
from pathlib import Path
from typing import Any

import pytest

from auditor import yamldoc
from auditor.lab.client import write_project
from auditor.lab.server import Lab
from tests.e2e.conftest import FIXTURE, Answer, Auditor, Pod, auditor, pod

__all__ = ["auditor", "pod"]  # fixtures

DEVICES = ("gpu-01", "leaf-01", "leaf-05")
BAD = "leaf-05"
"""The one that misbehaves; in the faulty capture it has a wrong DSCP map."""
FAULT = "lossless.roce_map"
DEADLINES = {"device_deadline": 5, "login_timeout": 2, "connect_timeout": 2}


class Fleet:
    """Three devices of the mini-pod with the links between them, and one database for every run."""

    def __init__(self, pod: Pod, run: Auditor) -> None:
        self.pod, self.run = pod, run
        self.folder = pod.folder
        hosts = yamldoc.read(FIXTURE / "inventory" / "hosts.yaml").data
        (self.folder / "inventory" / "hosts.yaml").write_text(yamldoc.dump({name: hosts[name] for name in DEVICES}))
        with (FIXTURE / "plan" / "plan.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        inside = [row for row in rows if {row["a_device"], row["b_device"]} <= set(DEVICES)]
        with (self.folder / "plan" / "plan.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(inside)
        self.settings: dict[str, Any] = {
            "plan": "plan/plan.csv",
            "store": f"sqlite:///{self.folder / 'auditor.db'}",
            "raw": str(self.folder / "raw"),
            "collection": DEADLINES,
        }
        self.hour = 0

    def client(self, lab: Lab, **host: Any) -> Path:
        """A project folder that reaches the lab; `host` is data of the bad device."""
        (self.folder / "auditor.yaml").write_text(yamldoc.dump(self.settings))
        self.hour += 1
        target = self.folder.parent / f"client-{self.hour}"
        write_project(lab, target, self.folder)
        if host:
            file = target / "inventory" / "hosts.yaml"
            hosts = yamldoc.read(file).data
            hosts[BAD]["data"] = {**hosts[BAD].get("data", {}), **host}
            file.write_text(yamldoc.dump(hosts))
        return target

    def check(self, kind: str, misbehaviour: str = "", *words: str, **host: Any) -> Answer:
        """One `check` of a capture of this kind, served live."""
        capture = Path(self.pod.capture(kind, self.hour + 1, DEVICES))
        with Lab(capture, {BAD: misbehaviour} if misbehaviour else None) as lab:
            return self.run("-C", str(self.client(lab, **host)), "check", *(words or ("--format", "json")))


@pytest.fixture
def fleet(pod: Pod, auditor: Auditor) -> Fleet:
    return Fleet(pod, auditor)


def gaps(answer: Answer) -> dict[str, set[str]]:
    """Reasons by device, those apart that a platform declares."""
    found: dict[str, set[str]] = {}
    for gap in answer.report["gaps"]:
        if gap["reason"] != "unsupported":
            found.setdefault(gap["device"], set()).add(gap["reason"])
    return found


def statuses(answer: Answer) -> dict[str, str]:
    return {finding["rule"]: finding["status"] for finding in answer.report["findings"] if BAD in finding["devices"]}


def test_a_decent_fleet_is_clean(fleet: Fleet) -> None:
    answer = fleet.check("clean")
    assert (answer.code, gaps(answer), answer.report["findings"]) == (0, {}, [])
    assert answer.report["coverage"]["links"]["proven"] == answer.report["coverage"]["links"]["planned"] > 0


@pytest.mark.parametrize(
    ("misbehaviour", "reasons"),
    [
        ("down", {"unreachable"}),
        ("wrong_password", {"auth"}),
        ("changed_host_key", {"auth"}),
        ("silent", {"timeout"}),
        ("drop:3000", {"truncated", "unreachable"}),
        ("slow:30", {"timeout"}),
    ],
)
def test_a_device_that_cannot_be_seen_leaves_its_findings_unverified(fleet: Fleet, misbehaviour: str, reasons: set[str]) -> None:
    first = fleet.check("faulty")
    assert first.code == 1
    assert statuses(first)[FAULT] == "open"
    begin = time.monotonic()
    answer = fleet.check("clean", misbehaviour)
    spent = time.monotonic() - begin
    assert answer.code == 3, "nothing else is wrong, and the device was not seen"
    assert gaps(answer).pop(BAD) & reasons
    assert set(gaps(answer)) == {BAD}, "no other device lost anything"
    assert statuses(answer)[FAULT] == "unverified"
    assert not [finding for finding in answer.report["findings"] if finding["status"] == "resolved" and BAD in finding["devices"]]
    assert spent < DEADLINES["device_deadline"] + DEADLINES["login_timeout"] + 6


def test_a_device_that_came_back_healed_resolves_its_findings(fleet: Fleet) -> None:
    assert [fleet.check("faulty").code, fleet.check("clean", "down").code] == [1, 3]
    healed = fleet.check("clean")
    assert healed.code == 0
    assert statuses(healed)[FAULT] == "resolved"


@pytest.mark.parametrize(
    ("misbehaviour", "reason"),
    [
        ("truncated:show interfaces fec", "truncated"),
        ("truncated:show runningconfiguration", "truncated"),
        ("rejected:show runningconfiguration", "rejected"),
        ("refused_sudo", "permission"),
        ("pager:10", "truncated"),
    ],
)
def test_one_answer_that_is_none_is_a_gap_and_the_rest_is_judged(fleet: Fleet, misbehaviour: str, reason: str) -> None:
    answer = fleet.check("clean", misbehaviour)
    assert answer.code == 3
    assert gaps(answer) == {BAD: {reason}}
    assert {finding["rule"] for finding in answer.report["findings"]} <= {"collection.partial", "cabling.not_proven"}
    assert answer.report["coverage"]["devices"] == {"planned": 3, "reached": 3, "partial": 1, "unreachable": 0}
    assert answer.report["coverage"]["results"]["pass"] > 0


@pytest.mark.parametrize("misbehaviour", ["", "banner", "slow:0.2"])
@pytest.mark.parametrize("transport", ["exec", "shell"])
def test_what_is_only_tedious_costs_nothing_over_either_transport(fleet: Fleet, misbehaviour: str, transport: str) -> None:
    fleet.settings["collection"] = {**DEADLINES, "device_deadline": 40}
    answer = fleet.check("clean", misbehaviour, transport=transport)
    assert gaps(answer) == {}
    assert answer.code == 0


@pytest.mark.parametrize(
    ("misbehaviour", "reasons"),
    [("wrong_password", {"auth"}), ("silent", {"timeout"}), ("drop:3000", {"truncated", "unreachable"})],
)
def test_a_shell_that_misbehaves_is_a_gap_too(fleet: Fleet, misbehaviour: str, reasons: set[str]) -> None:
    answer = fleet.check("clean", misbehaviour, transport="shell")
    assert answer.code == 3
    assert set(gaps(answer)) == {BAD}
    assert gaps(answer)[BAD] & reasons


def test_the_screen_says_which_device_and_why(fleet: Fleet) -> None:
    answer = fleet.check("clean", "wrong_password", "--format", "text")
    assert answer.code == 3
    assert f"{BAD}  the login was refused: nothing of it was seen" in answer.out
    assert "2 of 3 devices reached" in answer.out


def test_a_capture_taken_live_is_judged_like_the_devices(fleet: Fleet, tmp_path: Path) -> None:
    target = tmp_path / "taken"
    with Lab(Path(fleet.pod.capture("faulty", 1, DEVICES))) as lab:
        client = str(fleet.client(lab))
        taken = fleet.run("-C", client, "capture", str(target))
        live = fleet.run("-C", client, "check", "--no-store", "--format", "json")
    assert taken.code == 0, taken.err
    later = fleet.run("-C", client, "check", "--no-store", "--from", str(target), "--format", "json")
    assert later.code == live.code == 1
    assert {one["fingerprint"] for one in later.report["findings"]} == {one["fingerprint"] for one in live.report["findings"]}
    again = fleet.run("-C", client, "capture", str(target))
    assert again.code == 2
    assert "not empty" in again.err
