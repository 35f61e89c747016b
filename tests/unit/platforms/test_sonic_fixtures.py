"""Every recorded answer under fixtures/sonic becomes exactly the rows and gaps that stand beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from auditor import yamldoc
from auditor.platforms.sonic import PLATFORM
from auditor.workflows.parse import find_source, parse_text

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "sonic"
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/facts.yaml"))


def case_name(case: Path) -> str:
    return f"{case.parent.name}-{case.name}"


def sorted_gaps(gaps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [{name: value for name, value in gap.items() if name != "detail"} for gap in gaps]
    return sorted(kept, key=lambda gap: (gap["table"], gap.get("key", []), gap.get("columns", []), gap["reason"]))


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_answer_becomes_the_rows_and_gaps_beside_it(case: Path):
    wanted = yamldoc.read(case / "facts.yaml").data
    body = next(case.glob("output.*")).read_text("utf-8")
    document = parse_text("sonic", wanted["command"], body, None)
    assert find_source(PLATFORM, wanted["command"])[0].key == case.parent.name
    assert document["rows"] == wanted["rows"]
    assert sorted_gaps(document["gaps"]) == sorted_gaps(wanted["gaps"])
    assert all(gap["detail"] for gap in document["gaps"])


def test_every_source_has_at_least_two_cases():
    names = [case.parent.name for case in CASES]
    assert {source.key for source in PLATFORM.sources} == {name for name in names if names.count(name) > 1}
