"""Each format's fixture, with the quirks it is known for, becomes the plan and the notes that stand beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditor.model import Plan
from auditor.plan.document import parse_plan
from auditor.plan.formats import PlanFormat, columns_of, formats, recognise

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "plans"
FILES = {
    "batfish": "layer1_topology.json",
    "csv": "plan.csv",
    "dot": "topology.dot",
    "ibnetdiscover": "ibnetdiscover.txt",
    "intent": "intent.yaml",
    "topo": "fabric.topo",
}
CASES = [pytest.param(formats()[name], FIXTURES / name / file, id=name) for name, file in FILES.items()]


@pytest.mark.parametrize(("format_", "file"), CASES)
def test_a_fixture_becomes_the_plan_beside_it(format_: PlanFormat, file: Path) -> None:
    found = format_.read(file.read_bytes(), file.name, {})
    assert formats()["csv"].write(Plan("x", found.links))[0] == (file.parent / "expected.csv").read_text("utf-8")
    assert "".join(f"{note}\n" for note in found.notes) == (file.parent / "notes.txt").read_text("utf-8")


@pytest.mark.parametrize(("format_", "file"), CASES)
def test_what_is_imported_is_a_plan(format_: PlanFormat, file: Path) -> None:
    found = format_.read(file.read_bytes(), file.name, {})
    text = formats()["csv"].write(Plan("x", found.links))[0]
    assert {tuple(columns_of(link).items()) for link in parse_plan(text, "x.csv").links} == {
        tuple(columns_of(link).items()) for link in found.links
    }


@pytest.mark.parametrize(("format_", "file"), CASES)
def test_a_document_is_recognised_as_one_format_whatever_its_name(format_: PlanFormat, file: Path) -> None:
    assert recognise(file.read_bytes(), file.name) is format_
    assert recognise(b"\xef\xbb\xbf" + file.read_bytes(), "noname") is format_


@pytest.mark.parametrize(("format_", "file"), CASES)
def test_carriage_returns_change_nothing(format_: PlanFormat, file: Path) -> None:
    raw = file.read_bytes()
    assert format_.read(raw.replace(b"\n", b"\r\n"), file.name, {}).links == format_.read(raw, file.name, {}).links
