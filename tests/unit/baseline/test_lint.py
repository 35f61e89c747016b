from __future__ import annotations

from pathlib import Path

import pytest

from auditor.baseline.document import Vocabulary
from auditor.baseline.lint import lint
from auditor.model import Device

WORDS = Vocabulary(rule_ids=frozenset({"mtu.link_ends_differ"}))
DEVICES = [Device("leaf-01", ("sonic",), role="leaf")]
GOOD = """\
profile: leaf
version: 1.0.0
expect:
  - {id: mtu.port, at: "interface[*].mtu", eq: 9100, severity: error, why: w}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "baselines", "leaf/1.0.0.yaml", GOOD)
    put(tmp_path / "baselines", "assignments.yaml", "assignments:\n- {select: {role: leaf}, use: [leaf@1.0.0]}\n")
    waiver = "waivers:\n- {owner: a, reason: b, expires: 2030-01-01, rule: mtu.*, object: '*'}\n"
    put(tmp_path / "baselines", "waivers.yaml", waiver)
    (tmp_path / "none").mkdir()
    return tmp_path / "baselines"


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def found(folder: Path) -> list[str]:
    return [str(error).removeprefix(f"{folder}/") for error in lint(folder, WORDS, DEVICES, shipped=folder.parent / "none")]


def test_a_sound_folder_has_no_errors(folder: Path) -> None:
    assert found(folder) == []


def test_errors_of_all_files_come_at_once_once_each_and_sorted(folder: Path) -> None:
    put(folder, "leaf/1.0.0.yaml", GOOD.replace("eq: 9100", "eq: big").replace("why: w", "why: ''"))
    put(folder, "site/1.0.0.yaml", "profile: site\nversion: 1.0.0\nextends: [leaf@1.0.0, nothing@1.0.0]\n")
    put(
        folder,
        "assignments.yaml",
        "assignments:\n- {select: {role: leef}, use: [site@1.0.0]}\n- {select: {role: leaf}, use: [gone@1.0.0]}\n",
    )
    put(folder, "waivers.yaml", "waivers:\n- {owner: a, reason: b, expires: 2030-01-01, rule: mtuu.*, object: '*'}\n")
    errors = found(folder)
    leaf = ["leaf/1.0.0.yaml:4"] * 2
    places = [error.partition(": ")[0] for error in errors]
    assert places == ["assignments.yaml:2", "assignments.yaml:3", *leaf, "site/1.0.0.yaml:3", "waivers.yaml:2"]
    assert "selects no device" in errors[0]
    assert "gone@1.0.0" in errors[1]
    assert "nothing@1.0.0" in errors[4]
    assert "'mtuu.*' is the name of no rule" in errors[5]


@pytest.mark.parametrize("name", ["leaf/1.0.yaml", "leaf/1.0.1.yml", "leaf.yaml", "Leaf/1.0.0.yaml", "leaf/old/1.0.0.yaml"])
def test_a_file_that_would_never_be_read_is_an_error(folder: Path, name: str) -> None:
    put(folder, name, GOOD)
    assert len(found(folder)) == 1
    assert f"{name}: is never read" in found(folder)[0]


def test_a_missing_folder_is_one_clear_error(tmp_path: Path) -> None:
    assert [str(error) for error in lint(tmp_path / "x", WORDS, DEVICES)] == [f"{tmp_path}/x: there is no such folder"]


def test_a_waiver_may_name_a_line_of_a_shipped_baseline_in_use(folder: Path) -> None:
    shipped = folder.parent / "none"
    put(shipped, "spine/1.0.0.yaml", GOOD.replace("leaf", "spine").replace("mtu.port", "host.only_here"))
    put(folder, "waivers.yaml", "waivers:\n- {owner: a, reason: b, expires: 2030-01-01, rule: host.only_here, object: '*'}\n")
    assert len(found(folder)) == 1
    put(folder, "assignments.yaml", "assignments:\n- {select: {role: leaf}, use: [spine@1.0.0]}\n")
    assert found(folder) == []
