from __future__ import annotations

from pathlib import Path

import pytest

from auditor.baseline.assignments import read_assignments, uses_of
from auditor.errors import ErrorList
from auditor.model import Device

LEAF = Device("leaf-01", ("sonic",), role="leaf", rack="12", pod="pod1", hardware_model="DellEMC-Z9432f")
HOST = Device("gpu-01", ("linux", "infiniband"), role="gpu_host")


def read(tmp_path: Path, text: str):
    file = tmp_path / "assignments.yaml"
    file.write_text(text)
    return read_assignments(file)


def names(device: Device, assignments: object) -> list[str]:
    return [str(use) for use in uses_of(device, assignments)]


def test_all_matching_assignments_count_in_order(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """\
assignments:
  - select: {platform: sonic}
    use: [ethernet-fabric@1.0.0]
  - select: {role: [leaf, tor], hardware_model: "DellEMC-*"}
    use: [roce-leaf@1.0.0]
  - select: {role: spine}
    use: [roce-spine@1.0.0]
  - select: {platform: infini*}
    use: [manager@1.0.0]
""",
    )
    assert names(LEAF, found) == ["ethernet-fabric@1.0.0", "roce-leaf@1.0.0"]
    assert names(HOST, found) == ["manager@1.0.0"]
    assert found[1].line == 4
    assert found[1].use[0].line == 5


def test_of_one_profile_the_version_assigned_last_counts_alone(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """\
assignments:
  - {select: {role: leaf}, use: [roce-leaf@1.0.0, site@1.0.0]}
  - {select: {name: "leaf-0?", rack: 12}, use: [roce-leaf@1.1.0]}
""",
    )
    assert names(LEAF, found) == ["site@1.0.0", "roce-leaf@1.1.0"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("assignment: []\n", ":1: unknown key 'assignment' (did you mean 'assignments'?)"),
        ("[]\n", ":1: must have 'assignments'"),
        ("assignments: {}\n", ":1: must have 'assignments'"),
        ("assignments:\n- 3\n", ":2: an assignment must be a mapping"),
        ("assignments:\n- {select: {rle: leaf}, use: [a@1.0.0]}\n", ":2: cannot select by 'rle' (did you mean 'role'?)"),
        ("assignments:\n- {select: {role: true}, use: [a@1.0.0]}\n", ":2: role must be a text"),
        ("assignments:\n- {select: {role: []}, use: [a@1.0.0]}\n", ":2: role must be a text"),
        ("assignments:\n- {select: {}, use: [a@1.0.0]}\n", ":2: 'select' must name"),
        ("assignments:\n- select: {role: leaf}\n  use: [a]\n", ":3: 'a' names no baseline"),
        ("assignments:\n- {select: {role: leaf}, use: a@1.0.0}\n", ":2: 'use' must be a list"),
        ("assignments:\n- {select: {role: leaf}, use: [a@1.0.0], uses: 1}\n", ":2: unknown key 'uses'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ErrorList) as caught:
        read(tmp_path, text)
    assert any("assignments.yaml" + words in str(error) for error in caught.value.errors)


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ErrorList, match="cannot be read"):
        read_assignments(tmp_path / "assignments.yaml")
