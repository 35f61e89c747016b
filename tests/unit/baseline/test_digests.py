from __future__ import annotations

from pathlib import Path

import pytest

from auditor.baseline.digests import FILE, freeze, read_digests
from auditor.baseline.document import Use, Vocabulary
from auditor.baseline.library import Library
from auditor.baseline.lint import lint
from auditor.errors import ErrorList
from auditor.model import digest

LEAF = "profile: leaf\nversion: 1.0.0\nextends: [core@1.0.0]\n"
CORE = "profile: core\nversion: 1.0.0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "none").mkdir()
    for text, name in ((LEAF, "leaf"), (CORE, "core")):
        file = tmp_path / "baselines" / name / "1.0.0.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    return tmp_path / "baselines"


def library(folder: Path) -> Library:
    return Library(folder, Vocabulary(), shipped=folder.parent / "none")


def errors(folder: Path) -> list[str]:
    return [str(error) for error in lint(folder, Vocabulary(), [], shipped=folder.parent / "none")]


def test_a_release_covers_what_it_extends_and_lint_is_silent(folder: Path) -> None:
    assert freeze(folder, library(folder), Use("leaf", "1.0.0")) == ["core@1.0.0", "leaf@1.0.0"]
    assert {name: found for name, (found, _) in read_digests(folder / FILE).items()} == {
        "core@1.0.0": digest(CORE), "leaf@1.0.0": digest(LEAF),
    }  # fmt: skip
    assert freeze(folder, library(folder), Use("leaf", "1.0.0")) == []
    assert errors(folder) == []


def test_a_changed_released_file_is_refused_with_both_digests(folder: Path) -> None:
    freeze(folder, library(folder), Use("leaf", "1.0.0"))
    changed = CORE + "changes: quietly\n"
    (folder / "core" / "1.0.0.yaml").write_text(changed)
    (error,) = errors(folder)
    assert str(folder / "core" / "1.0.0.yaml") in error
    assert digest(CORE) in error
    assert digest(changed) in error
    with pytest.raises(ErrorList, match="has been changed"):
        freeze(folder, library(folder), Use("leaf", "1.0.0"))


def test_a_released_file_that_is_gone_is_an_error_at_its_line(folder: Path) -> None:
    freeze(folder, library(folder), Use("leaf", "1.0.0"))
    (folder / "leaf" / "1.0.0.yaml").unlink()
    (error,) = errors(folder)
    assert "digests.yaml:3: there is no baseline leaf@1.0.0" in error


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]\n", ":1: must be a mapping"),
        ("leaf: x\n", ":1: 'leaf' names no baseline"),
        ("leaf@1.0.0: 3\n", ":1: leaf@1.0.0: a digest"),
    ],
)
def test_a_damaged_digest_file_is_told_with_its_line(folder: Path, text: str, words: str) -> None:
    (folder / FILE).write_text(text)
    assert any(FILE + words in error for error in errors(folder))


def test_what_has_errors_cannot_be_released(folder: Path) -> None:
    (folder / "core" / "1.0.0.yaml").write_text(CORE + "nonsense: 1\n")
    with pytest.raises(ErrorList, match="unknown key 'nonsense'"):
        freeze(folder, library(folder), Use("leaf", "1.0.0"))
    assert not (folder / FILE).exists()
