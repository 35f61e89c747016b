"""Every recorded answer under fixtures/linux becomes exactly the rows and gaps that stand beside it."""

from pathlib import Path

import pytest

from auditor import yamldoc
from auditor.platforms.linux import PLATFORM
from auditor.workflows.parse import find_source, parse_text

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "linux"
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/facts.yaml"))


def case_name(case):
    return f"{case.parent.name}-{case.name}"


def without_detail(gaps):
    kept = [{name: value for name, value in gap.items() if name != "detail"} for gap in gaps]
    return sorted(kept, key=lambda gap: (gap["table"], gap.get("key", []), gap.get("columns", []), gap["reason"]))


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_answer_becomes_the_rows_and_gaps_beside_it(case):
    wanted = yamldoc.read(case / "facts.yaml").data
    body = next(case.glob("output.*")).read_text("utf-8")
    document = parse_text("linux", wanted["command"], body, None)
    assert find_source(PLATFORM, wanted["command"])[0].key == case.parent.name
    assert document["rows"] == wanted["rows"]
    assert without_detail(document["gaps"]) == without_detail(wanted["gaps"])
    assert all(gap["detail"] for gap in document["gaps"])


def test_every_source_has_a_case():
    assert {source.key for source in PLATFORM.sources} == {case.parent.name for case in CASES}
