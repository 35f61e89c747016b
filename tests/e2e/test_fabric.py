"""Faults of the whole fabric through the command: jumpers, a small MTU in the middle, a lost uplink, planes that meet."""

import csv
from pathlib import Path
from typing import Any

import pytest

from auditor.lab.fabric import Size
from auditor.lab.project import generate
from tests.e2e.conftest import Auditor

FAULTS = {
    "clean": [],
    "leaves": [("jumper", "leaf-01", "leaf-02")],
    "harmless": [("jumper", "spine-01", "spine-02")],
    "ring": [("jumper", f"spine-0{one}", f"spine-0{other}") for one, other in ((1, 2), (2, 3), (3, 1))],
    "jumbo": [("mtu", "leaf-01", "Ethernet256")],
    "slow": [("slow_link", "leaf-01", "Ethernet256")],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pod of four leaves and four spines, captured whole and with each fault."""
    found = tmp_path_factory.mktemp("fabric")
    generate(found, Size(hosts=4, nics=4, leaves=4, spines=4), FAULTS)
    return found


def check(auditor: Auditor, folder: Path, kind: str, *words: str) -> dict[str, Any]:
    answer = auditor(
        "-C", str(folder), "check", "--from", str(folder / "captures" / kind), "--no-store", "--format", "json", *words
    )
    assert answer.code == (1 if answer.report["findings"] else 0)
    return answer.report


def told(report: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    return [finding for finding in report["findings"] if finding["rule"] == rule]


def test_a_clean_pod_shows_nothing_and_was_judged(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "clean")
    assert report["findings"] == []
    assert report["coverage"]["results"]["pass"] > 1000
    for only in ("fabric.*", "mtu.path_too_small"):
        assert check(auditor, folder, "clean", "--only", only)["coverage"]["results"]["pass"] > 0, only


def test_a_jumper_between_leaves_is_one_deadlock_that_names_the_link(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "leaves")
    (cause,) = report["causes"]
    assert cause["severity"] == "critical"
    (deadlock,) = told(report, "fabric.pfc_deadlock_possible")
    assert set(deadlock["devices"]) == {"leaf-01", "leaf-02"}
    assert "leaf-01 Ethernet20 to leaf-02 Ethernet20 closes it" in deadlock["message"]
    assert "assumed routing" in deadlock["message"]
    assert any("leaf-02" in seen["excerpt"] for seen in deadlock["evidence"])
    assert {finding["rule"] for finding in report["findings"]} == {
        "fabric.pfc_deadlock_possible",
        "fabric.same_tier_link",
        "cabling.unplanned",
    }


def test_three_jumpers_in_a_ring_are_one_deadlock_that_names_all_of_them(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "ring")
    assert len(report["causes"]) == 1
    (deadlock,) = told(report, "fabric.pfc_deadlock_possible")
    assert deadlock["observed"].count(" to ") == 3
    assert len(told(report, "fabric.same_tier_link")) == 3


def test_a_single_jumper_between_spines_is_only_inside_a_tier(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "harmless")
    (cause,) = report["causes"]
    assert cause["severity"] == "error"
    assert {finding["rule"] for finding in report["findings"]} == {"fabric.same_tier_link", "cabling.unplanned"}


def test_one_uplink_without_jumbo_frames_is_one_cause_with_its_paths(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "jumbo")
    assert len(report["causes"]) == 1
    (narrow,) = told(report, "mtu.path_too_small")
    assert narrow["address"] == "leaf-01:interface[Ethernet256].mtu@applied"
    assert "touches 48 paths of 4 hosts below it" in narrow["message"], "4 host ports below it, each to 12 elsewhere"
    assert any("1500" in seen["excerpt"] for seen in narrow["evidence"])


def test_the_paths_are_not_counted_where_only_a_part_of_them_was_looked_at(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "jumbo", "--device", "leaf-01")
    (narrow,) = told(report, "mtu.path_too_small")
    assert "touches" not in narrow["message"]


def test_a_slow_uplink_is_one_cause_and_carries_what_it_carries(auditor: Auditor, folder: Path) -> None:
    report = check(auditor, folder, "slow")
    assert len(report["causes"]) == 1
    (short,) = [finding for finding in told(report, "fabric.oversubscribed") if finding["devices"][0] == "leaf-01"]
    assert short["observed"] == "1400 Gb/s up"


def test_storage_and_out_of_band_that_meet_at_one_switch_are_one(auditor: Auditor, folder: Path, tmp_path: Path) -> None:
    plan = folder / "plan" / "plan.csv"
    rows = list(csv.reader(plan.read_text().splitlines()))
    for row in rows:
        if row[2] == "spine-04":
            row[4] = "oob" if row[0] == "leaf-04" else "storage"
    shared = tmp_path / "plan.csv"
    shared.write_text("".join(",".join(row) + "\n" for row in rows))
    report = check(auditor, folder, "clean", "--plan", str(shared), "--only", "fabric.*")
    (leak,) = told(report, "fabric.plane_leak")
    assert "planes oob and storage meet at spine-04" in leak["message"]
    assert "leaf-04 Ethernet268 to spine-04 Ethernet12" in leak["message"]
    assert leak["evidence"]
