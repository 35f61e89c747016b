"""`auditor cabling`: the crossed pair, the work order in two languages, the rail rule without a plan, the sheet."""

import csv
from io import StringIO
from pathlib import Path

import pytest

from auditor.lab.fabric import Size, design
from auditor.lab.faults import inject
from auditor.lab.project import CLEAN_AT, generate, write_capture
from tests.e2e.conftest import Answer, Auditor, Pod

CROSSED = ("gpu-03", "enp77s0np0")


@pytest.fixture
def crossed(tmp_path: Path) -> Path:
    """A generated pod with one capture in which two cables of gpu-03 are exchanged, and a healthy one."""
    size = Size(hosts=4, nics=4, leaves=4, spines=2)
    folder = tmp_path / "crossed"
    generate(folder, size, {})
    fabric = design(size)
    inject(fabric, "swapped_cables", *CROSSED)
    write_capture(folder / "captures" / "crossed", fabric, CLEAN_AT)
    write_capture(folder / "captures" / "healthy", design(size), CLEAN_AT.replace(day=CLEAN_AT.day + 1))
    return folder


def check(auditor: Auditor, folder: Path, capture: str, *words: str) -> Answer:
    return auditor("-C", str(folder), "cabling", "check", "--from", str(folder / "captures" / capture), *words)


def test_two_exchanged_cables_are_one_cause_and_resolved_after_the_move(auditor: Auditor, crossed: Path) -> None:
    wrong = check(auditor, crossed, "crossed", "--format", "json")
    assert wrong.code == 1
    (cause,) = wrong.report["causes"]
    assert cause["kind"] == "swapped"
    assert len(cause["members"]) == 2
    assert len(cause["work_order"]) == 3
    assert {finding["rule"] for finding in wrong.report["findings"]} == {"cabling.wrong_peer"}
    assert all(finding["evidence"] for finding in wrong.report["findings"])
    assert wrong.report["coverage"]["links"]["wrong"] == 2
    right = check(auditor, crossed, "healthy")
    assert right.code == 0
    assert "Resolved (2)" in right.out


def test_the_work_order_is_written_in_chinese_on_request(auditor: Auditor, crossed: Path) -> None:
    shown = check(auditor, crossed, "crossed", "--no-store", "--lang", "zh")
    assert shown.code == 1
    assert "gpu-03" in shown.out
    assert "插头" in shown.out


def test_a_scope_tells_only_of_its_own_cables(auditor: Auditor, crossed: Path) -> None:
    assert check(auditor, crossed, "crossed", "--no-store", "--device", "gpu-01").code == 0
    shown = check(auditor, crossed, "crossed", "--no-store", "--device", "gpu-03", "--format", "json")
    assert shown.code == 1
    assert shown.report["coverage"]["links"]["planned"] == 4


def test_the_rail_rule_finds_the_same_pair_without_a_plan(auditor: Auditor, crossed: Path) -> None:
    (crossed / "plan" / "plan.csv").unlink()
    assert check(auditor, crossed, "healthy", "--rails").code == 0
    shown = check(auditor, crossed, "crossed", "--rails", "--format", "json")
    assert shown.code == 1
    (cause,) = shown.report["causes"]
    assert "gpu-03" in cause["title"]


def test_the_rail_rule_names_the_ports_of_which_it_saw_nothing(auditor: Auditor, crossed: Path) -> None:
    for device in ("gpu-02", "leaf-01"):
        for file in (crossed / "captures" / "healthy" / device).glob("lldpctl*"):
            file.write_text('{"lldp": {}}')
    scope = ("--device", "gpu-02", "--device", "leaf-0*", "--no-store", "--rails")
    shown = check(auditor, crossed, "healthy", *scope)
    assert "gpu-02 enp26s0np0" in shown.out
    assert "nobody says where they lead" in shown.out


def test_a_link_that_nobody_proves_ends_with_3(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 2, ["gpu-01", "leaf-01"])
    for device in ("gpu-01", "leaf-01"):
        file = next(path for path in (Path(capture) / device).iterdir() if path.name.startswith(("lldpctl", "sudo_lldpctl")))
        file.write_text('{"lldp": {}}')
    for table in ("show_ndp.txt", "show_arp.txt"):  # else addresses that the leaf learned prove the cable
        file = Path(capture) / "leaf-01" / table
        head = [line for line in file.read_text().splitlines() if "Ethernet" not in line and "Total" not in line]
        rows = sum("eth0" in line for line in head)
        file.write_text("\n".join([*head, f"Total number of entries {rows} ", ""]))
    scope = ("--device", "gpu-01", "--device", "leaf-01")
    shown = auditor("-C", str(pod.folder), "cabling", "check", "--from", capture, *scope, "--format", "json")
    assert shown.code == 3
    assert shown.report["coverage"]["links"]["link_only"] == 1
    assert shown.report["coverage"]["links"]["missing"] == 0
    assert shown.report["coverage"]["links"]["wrong"] == 0


def test_the_sheet_lists_each_cable_of_the_rack_from_its_own_end(auditor: Auditor, pod: Pod) -> None:
    shown = auditor("-C", str(pod.folder), "cabling", "sheet", "--rack", "R01")
    assert shown.code == 0
    rows = list(csv.DictReader(StringIO(shown.out)))
    assert len(rows) == 32
    assert {row["rack"] for row in rows} == {"R01"}
    assert {row["to rack"] for row in rows} == {"R-NET1"}
    target = pod.folder / "sheet.html"
    assert auditor("-C", str(pod.folder), "cabling", "sheet", "-o", str(target)).code == 0
    page = target.read_text()
    assert page.count("<tr><td") == 64
    assert "http" not in page


def test_a_rack_without_cables_is_an_error_that_names_those_there_are(auditor: Auditor, pod: Pod) -> None:
    shown = auditor("-C", str(pod.folder), "cabling", "sheet", "--rack", "R99")
    assert shown.code == 2
    assert "R01" in shown.err


def test_a_row_that_names_no_port_of_the_switch_is_the_plans_fault_and_moves_nothing(auditor: Auditor, crossed: Path) -> None:
    plan = crossed / "plan" / "plan.csv"
    plan.write_text(plan.read_text().replace(",leaf-01,Ethernet4,", ",leaf-01,Ethernet5,"))
    shown = check(auditor, crossed, "healthy", "--no-store", "--format", "json")
    assert shown.code == 1
    (cause,) = [cause for cause in shown.report["causes"] if cause["severity"] != "information"]
    assert cause["kind"] == "plan_wrong"
    assert "leaf-01 has no port Ethernet5" in cause["title"]
    assert len(cause["work_order"]) == 1
    assert "Touch no cable" in cause["work_order"][0]
