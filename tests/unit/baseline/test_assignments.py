from __future__ import annotations

from pathlib import Path

import pytest

from auditor.baseline.assignments import Resolver, read_assignments, resolve_uses, uses_of
from auditor.baseline.document import Use, Vocabulary
from auditor.baseline.library import Library
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
        ("rollouts: []\nassignments: []\n", ":1: 'rollouts' are not supported yet"),
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


def test_devices_with_the_same_assignments_share_their_baselines(tmp_path: Path) -> None:
    file = tmp_path / "baselines" / "leaf" / "1.0.0.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("profile: leaf\nversion: 1.0.0\n")
    found = read(tmp_path, "assignments:\n- {select: {role: leaf}, use: [leaf@1.0.0]}\n")
    resolver = Resolver(Library(tmp_path / "baselines", Vocabulary(), shipped=tmp_path), found)
    other = Device("leaf-02", ("sonic",), role="leaf")
    assert resolver.baselines_for(LEAF) is resolver.baselines_for(other)
    assert resolver.baselines_for(LEAF)[0].profile == "leaf"
    assert resolver.baselines_for(HOST) == ()


def test_errors_of_all_baselines_of_a_device_come_at_once_and_name_the_assignment(tmp_path: Path) -> None:
    library = Library(tmp_path, Vocabulary(), shipped=tmp_path)
    with pytest.raises(ErrorList) as caught:
        resolve_uses(library, [Use("a", "1.0.0", "assignments.yaml", 3), Use("b", "1.0.0", "assignments.yaml", 4)])
    assert [str(error).partition(": ")[0] for error in caught.value.errors] == ["assignments.yaml:3", "assignments.yaml:4"]
