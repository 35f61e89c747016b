from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditor.baseline.document import Vocabulary
from auditor.baseline.lint import lint
from auditor.cli import app
from auditor.errors import BaselineError, SetupError
from auditor.workflows.baseline_import import LISTED, translate

NAPALM = "- get_facts:\n    os_version: 4.4.2\n- get_interfaces:\n    Ethernet0: {mtu: '>=9100'}\n"
ANTA = "anta.tests.software:\n- VerifyEOSVersion: {versions: [4.31.2F]}\n- VerifyTerminAttrVersion: {versions: [v1.13.6]}\n"


def put(folder: Path, text: str, name: str = "checks.yml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, ["baseline", "import", *map(str, words)])


def test_what_is_imported_passes_lint_where_it_is_written(tmp_path: Path):
    file = put(tmp_path, NAPALM)
    target = tmp_path / "baselines" / "site-leaf" / "1.0.0.yaml"
    done = run(file, "--to", "site-leaf@1.0.0", "-o", target)
    assert done.exit_code == 0, done.output
    assert lint(tmp_path / "baselines", Vocabulary(), []) == []
    text = target.read_text()
    assert '{id: firmware.os, at: "system.os_version", eq: "4.4.2", severity: error' in text
    assert '{id: mtu.ethernet0, at: "interface[Ethernet0].mtu", ge: 9100, severity: error' in text


def test_all_mapped_ends_with_0_and_what_changed_its_meaning_is_on_stderr(tmp_path: Path):
    file = put(tmp_path, NAPALM)
    done = run(file, "--to", "site-leaf@1.0.0")
    assert done.exit_code == 0
    assert done.stdout.startswith("# Imported from the NAPALM validate file checks.yml: 2 lines, 0 left out.")
    assert f"note: {file}:2: NAPALM searched for it anywhere" in done.stderr


def test_something_left_out_ends_with_3_and_is_listed_with_file_line_and_reason(tmp_path: Path):
    file = put(tmp_path, ANTA)
    done = run(file, "--to", "site-leaf@1.0.0")
    assert done.exit_code == 3
    assert f"left out: {file}:3: VerifyTerminAttrVersion: no fact holds what this test looks at" in done.stderr
    assert "#   checks.yml:3: VerifyTerminAttrVersion" in done.stdout, "the document says what it does not cover"


def test_where_nothing_fits_no_document_is_written(tmp_path: Path):
    file = put(tmp_path, "- get_bgp_neighbors: {global: {router_id: 192.0.2.1}}\n")
    done = run(file, "--to", "site-leaf@1.0.0", "-o", tmp_path / "out.yaml")
    assert done.exit_code == 3
    assert not (tmp_path / "out.yaml").exists()
    assert "nothing to write" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profile: a\nversion: 1.0.0\n", "is no ANTA catalog and no NAPALM validate file"),
        ("", "is no ANTA catalog"),
        ("a: &a [x]\nb: *a\n", "aliases"),
        ("- get_facts: {os_version: a, os_version: b}\n", "stands twice"),
        ("[" * 60, "nested deeper"),
        ("- get_facts: [\n", "not YAML"),
    ],
)
def test_a_file_that_is_neither_is_one_error_that_names_it(tmp_path: Path, text: str, message: str):
    file = put(tmp_path, text)
    with pytest.raises(BaselineError, match=message) as caught:
        translate(file, "site-leaf@1.0.0")
    assert str(file) in str(caught.value)
    assert caught.value.exit_code == 2


def test_an_alias_bomb_costs_nothing(tmp_path: Path):
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]\n" for at in range(1, 60))
    with pytest.raises(BaselineError, match="aliases"):
        translate(put(tmp_path, bomb), "site-leaf@1.0.0")


def test_a_wrong_name_or_format_is_refused(tmp_path: Path):
    file = put(tmp_path, NAPALM)
    with pytest.raises(SetupError, match="names no baseline"):
        translate(file, "site-leaf")
    with pytest.raises(SetupError, match="formats: anta, napalm"):
        translate(file, "site-leaf@1.0.0", "ansible")
    with pytest.raises(BaselineError, match="is no ANTA catalog"):
        translate(file, "site-leaf@1.0.0", "anta")


def test_a_baseline_is_never_written_over(tmp_path: Path):
    file, target = put(tmp_path, NAPALM), put(tmp_path, "kept", "1.0.0.yaml")
    done = run(file, "--to", "site-leaf@1.0.0", "-o", target)
    assert isinstance(done.exception, SetupError)
    assert "exists already" in str(done.exception)
    assert target.read_text() == "kept"


def test_hostile_words_reach_neither_the_screen_nor_the_structure_of_the_document(tmp_path: Path):
    text = (
        '- get_facts: {os_version: "a\\nexpect: x\\e(2J"}\n'
        '- get_interfaces: {"Ethernet0].mtu\\n#": {mtu: 9100, "x\\e[2J\\n": 1}}\n'
        '- "get_x\\e[31m": {a: 1}\n'
    )
    file = put(tmp_path, text, "checks\n.yml")
    done = run(file, "--to", "site-leaf@1.0.0")
    assert done.exit_code == 3
    assert "\x1b" not in done.output
    assert done.stdout.count("\nexpect:\n") == 1
    assert len(translate(file, "site-leaf@1.0.0").imported.lines) == 2


def test_the_head_names_some_of_what_is_left_out_and_counts_the_rest(tmp_path: Path):
    many = "".join(f"- get_x{at}: {{}}\n" for at in range(LISTED + 5))
    text = translate(put(tmp_path, NAPALM + many), "site-leaf@1.0.0").text
    assert text.count("\n#   checks.yml:") == LISTED
    assert "\n#   and 5 more\n" in text


def test_names_that_differ_only_in_signs_get_ids_of_their_own(tmp_path: Path):
    text = "- get_interfaces:\n" + "".join(f"    '{'!' * at}': {{mtu: 9100}}\n" for at in range(1, 500))
    lines = translate(put(tmp_path, text), "site-leaf@1.0.0").imported.lines
    assert len({line.id for line in lines}) == 499
