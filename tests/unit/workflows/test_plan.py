from __future__ import annotations

from pathlib import Path

import pytest

from auditor.errors import ErrorList, PlanError, SetupError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.formats import Imported, formats
from auditor.workflows.plan import compare, native, read, translate, translated, understood

HEAD = "a_device,a_port,b_device,b_port,label"


def write(folder: Path, name: str, *lines: str, head: str = HEAD) -> Path:
    file = folder / name
    file.write_text("\n".join([head, *lines]) + "\n")
    return file


def moves(folder: Path, old: list[str], new: list[str], lang: str = "en", head: str = HEAD) -> tuple[str, ...]:
    one, other = write(folder, "old.csv", *old, head=head), write(folder, "new.csv", *new, head=head)
    found = compare(str(folder), one, other, lang)
    assert found.hands == len(found.steps)
    return found.steps


def test_two_exchanged_cables_are_three_hand_movements(tmp_path: Path) -> None:
    found = moves(tmp_path, ["h1,p0,l1,s1,A", "h2,p0,l1,s2,B"], ["h1,p0,l1,s2,A", "h2,p0,l1,s1,B"])
    assert [step.split(" the ")[0] for step in found] == ["Take", "Move", "Put"]


def test_a_cable_into_a_free_port_is_one_movement(tmp_path: Path) -> None:
    (found,) = moves(tmp_path, ["h1,p0,l1,s1,A"], ["h1,p0,l1,s9,A"])
    assert found == "Move the plug from l1 s1 to l1 s9 (label A); its other end is in h1 p0."


def test_movements_in_chinese(tmp_path: Path) -> None:
    (found,) = moves(tmp_path, ["h1,p0,l1,s1,A"], ["h1,p0,l1,s9,A"], "zh")
    assert found.startswith("把插头从 l1")


def test_new_cables_are_laid_and_gone_ones_taken_away(tmp_path: Path) -> None:
    found = moves(tmp_path, ["h1,p0,l1,s1,A", "h2,p0,l1,s2,B"], ["h1,p0,l1,s1,A", "h3,p0,l2,s2,C"])
    assert len(found) == 2
    assert found[0].startswith("Take away the cable between ")
    assert found[1] == "Lay a cable from h3 p0 to l2 s2 (label C)."


def test_lanes_that_share_the_name_of_a_port_stay_where_they_are(tmp_path: Path) -> None:
    head = f"{HEAD},cable_id,b_lane"
    lanes = ["h1,p0,l1,s1,A,C1,1", "h2,p0,l1,s1,A,C1,2"]
    (found,) = moves(tmp_path, [*lanes, "h3,p0,l1,s2,B,,"], [*lanes, "h3,p0,l1,s3,B,,"], head=head)
    assert found == "Move the plug from l1 s2 to l1 s3 (label B); its other end is in h3 p0."


def test_a_new_label_is_no_movement(tmp_path: Path) -> None:
    found = compare(str(tmp_path), write(tmp_path, "old.csv", "h1,p0,l1,s1,A"), write(tmp_path, "new.csv", "h1,p0,l1,s1,B"))
    assert found.steps == ()
    assert found.difference


def test_the_native_form_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path, "a.csv", "h1,p0,l1,s1,=A")
    done = translate(file, "auto", {})
    assert done.format.name == "csv"
    assert ",'=A," in done.text
    assert not done.errors
    assert "1 links between 2 devices" in understood(done)[0]


def test_links_that_clash_are_no_plan(tmp_path: Path) -> None:
    file = tmp_path / "t.dot"
    file.write_text('graph g {\n "h1":p0 -- "l1":s1\n "h2":p0 -- "h2":p1\n}\n')
    with pytest.raises(SetupError, match=r"t\.dot:3: both ends are on h2"):
        translate(file, "dot", {})


def test_what_a_format_does_not_refuse_itself_is_refused_here() -> None:
    ends = PlanEnd("h1", "p0"), PlanEnd("l1", "s1"), PlanEnd("l1", "s2")
    done = translated(formats()["csv"], Imported((PlanLink(*ends[:2]), PlanLink(ends[0], ends[2]))), "there")
    assert done.text == ""
    assert [str(error) for error in done.errors] == ["there: port h1:p0 is already used by the link h1:p0|l1:s1"]


def test_what_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read"):
        read(tmp_path / "none.csv", "auto", {})
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(PlanError, match="is empty"):
        read(tmp_path / "empty", "auto", {})
    file = write(tmp_path, "a.csv", "h1,p0,l1,s1,A")
    with pytest.raises(SetupError, match="formats: auto, "):
        read(file, "visio", {})
    with pytest.raises(SetupError, match="--option colour: csv has no such option"):
        read(file, "csv", {"colour": "red"})


def test_a_plan_with_names_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ErrorList):
        native(Plan("x", (PlanLink(PlanEnd("h1", ""), PlanEnd("l1", "s1")),)))
