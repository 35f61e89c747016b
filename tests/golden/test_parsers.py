"""Every recorded answer under fixtures/<platform>/<source>/<case>: `output.*` becomes exactly what `facts.yaml` says.

`facts.yaml` holds the `command` as it was typed and, in the form that `auditor parse` prints, `rows` and `gaps`; the words of
a gap are not compared, only that there are some.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from auditor import yamldoc
from auditor.model import Parser
from auditor.platforms import platforms
from auditor.workflows.parse import find_source, parse_text

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path.parent for name in platforms() for path in (ROOT / "fixtures" / name).glob("*/*/facts.yaml"))
TEMPLATES = sorted((ROOT / "parsers").glob("*/*.ttp"))


def name(case):
    return "/".join(case.parts[-3:])


def without_words(gaps):
    kept = [{key: value for key, value in gap.items() if key != "detail"} for gap in gaps]
    return sorted(kept, key=lambda gap: (gap["table"], gap.get("key", []), gap.get("columns", []), gap["reason"]))


def by_key(rows):
    return sorted(rows, key=lambda row: (row["table"], row["layer"], row["key"]))


@pytest.mark.parametrize("case", CASES, ids=name)
def test_answer_becomes_the_facts_beside_it(case):
    platform = case.parts[-3]
    wanted = yamldoc.read(case / "facts.yaml").data
    (output,) = case.glob("output.*")
    document = parse_text(platform, wanted["command"], output.read_text("utf-8"), None)
    rows, wanted_rows = by_key(document["rows"]), by_key(wanted.get("rows", []))
    assert rows == wanted_rows
    assert json.dumps(rows, sort_keys=True) == json.dumps(wanted_rows, sort_keys=True), "1, 1.0 and true are three values"
    assert without_words(document["gaps"]) == without_words(wanted.get("gaps", []))
    assert all(gap["detail"] for gap in document["gaps"])


@pytest.mark.parametrize("case", CASES, ids=name)
def test_case_stands_in_the_folder_of_its_source(case):
    command = yamldoc.read(case / "facts.yaml").data["command"]
    source, _ = find_source(platforms()[case.parts[-3]], command)
    assert source.key == case.parts[-2]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_template_has_at_least_two_cases(template):
    cases = Counter(case.parts[-3:-1] for case in CASES)
    users = [
        source
        for source in platforms()[template.parent.name].sources
        if source.parser is Parser.TTP and (source.template or source.key) == template.stem
    ]
    assert users, "no source reads with this template"
    assert sum(cases[template.parent.name, source.key] for source in users) >= 2


def test_every_case_folder_is_whole():
    outputs = {path.parent for name in platforms() for path in (ROOT / "fixtures" / name).glob("*/*/output.*")}
    assert outputs == set(CASES)


@pytest.mark.parametrize("platform", list(platforms()))
def test_every_source_has_a_case(platform):
    assert {source.key for source in platforms()[platform].sources} == {
        case.parts[-2] for case in CASES if case.parts[-3] == platform
    }
