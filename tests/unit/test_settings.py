from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from auditor import settings as module
from auditor.errors import ErrorList, FileError, SetupError
from auditor.model import Severity
from auditor.settings import load


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUDITOR_STORE", "AUDITOR_FAIL_ON", "AUDITOR_COLLECTION__WORKERS", "AUDITOR_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


def write(folder: Path, text: str) -> Path:
    (folder / "auditor.yaml").write_text(text)
    return folder


def test_an_empty_file_gives_the_defaults_with_absolute_paths(tmp_path: Path) -> None:
    settings = load(write(tmp_path, ""))
    root = tmp_path.resolve()
    assert settings.project == root
    assert settings.inventory == root / "inventory"
    assert settings.plan == root / "plan" / "plan.csv"
    assert settings.store == f"sqlite:///{root}/auditor.db"
    assert settings.peer_max_age == timedelta(hours=26)
    assert settings.fail_on is Severity.ERROR
    assert settings.collection.workers == 50


def test_values_of_the_file_are_typed(tmp_path: Path) -> None:
    settings = load(
        write(
            tmp_path,
            "peer_max_age: 30min\nfail_on: warning\nstore: postgresql+psycopg://audit@db/audit\n"
            "retention: {raw: 3d}\ncollection:\n  known_hosts: [keys/known]\n  credentials: {username: audit, key_file: id}\n",
        )
    )
    assert settings.peer_max_age == timedelta(minutes=30)
    assert settings.retention.raw == timedelta(days=3)
    assert settings.retention.history == timedelta(days=730)
    assert settings.collection.known_hosts == (tmp_path.resolve() / "keys" / "known",)
    assert settings.collection.credentials.key_file == tmp_path.resolve() / "id"
    assert settings.store == "postgresql+psycopg://audit@db/audit"


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITOR_FAIL_ON", "critical")
    monkeypatch.setenv("AUDITOR_COLLECTION__WORKERS", "7")
    settings = load(write(tmp_path, "fail_on: warning\ncollection: {workers: 3, connect_timeout: 4}\n"))
    assert settings.fail_on is Severity.CRITICAL
    assert (settings.collection.workers, settings.collection.connect_timeout) == (7, 4)


def test_an_unknown_key_names_file_line_and_the_likely_word(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="did you mean 'fail_on'") as caught:
        load(write(tmp_path, "store: sqlite:///x.db\nfail_onn: error\n"))
    assert (Path(caught.value.file or "").name, caught.value.line) == ("auditor.yaml", 2)


def test_unknown_keys_inside_a_section_are_found_all_at_once(tmp_path: Path) -> None:
    with pytest.raises(ErrorList) as caught:
        load(write(tmp_path, "colour: red\ncollection:\n  worker: 3\n"))
    assert "'workers'" in str(caught.value)
    assert "auditor.yaml:1" in str(caught.value)
    assert "auditor.yaml:3" in str(caught.value)


def test_project_cannot_be_set_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no setting 'project'"):
        load(write(tmp_path, "project: /etc\n"))


@pytest.mark.parametrize("text", ["password: hunter2\n", "collection:\n  credentials:\n    password: hunter2\n"])
def test_a_password_is_refused_with_the_ways_that_work_and_is_not_repeated(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match="AUDITOR_PASSWORD") as caught:
        load(write(tmp_path, text))
    assert "hunter2" not in str(caught.value)
    assert caught.value.line == text.count("\n")


def test_a_database_url_with_a_password_is_refused_in_the_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://audit:hunter2@db/audit"
    with pytest.raises(FileError, match="AUDITOR_STORE") as caught:
        load(write(tmp_path, f"store: {url}\n"))
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("AUDITOR_STORE", url)
    assert load(write(tmp_path, "")).store == url


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("fail_on: loud\n", 1),
        ("\ncollection: {workers: 101}\n", 2),
        ("peer_max_age: 26\n", 1),
        ("collection:\n  workers: many\n", 2),
    ],
)
def test_a_wrong_value_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(FileError) as caught:
        load(write(tmp_path, text))
    assert caught.value.line == line


def test_a_wrong_environment_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDITOR_COLLECTION__WORKERS", "many")
    with pytest.raises(SetupError, match="AUDITOR_COLLECTION__WORKERS"):
        load(write(tmp_path, ""))


def test_a_folder_without_settings_is_no_project_unless_that_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no auditor\.yaml"):
        load(tmp_path)
    assert load(tmp_path, required=False).fail_on is Severity.ERROR


@pytest.mark.parametrize("text", ["- a\n", "collection: 3\n", "a: [1\n", "a: 1\na: 2\n"])
def test_what_is_no_mapping_of_settings_is_one_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(FileError, match=r"auditor\.yaml"):
        load(write(tmp_path, text))


def test_a_suggestion_needs_a_close_word() -> None:
    assert module.suggest("leef01", ["leaf01", "host9"]) == " (did you mean 'leaf01'?)"
    assert module.suggest("zzz", ["leaf01"]) == ""


def test_authorities_stand_beside_the_settings(tmp_path: Path) -> None:
    text = "collection:\n  bmc: {ca_file: pki/bmc.pem}\n  api: {username: audit, ca_file: pki/switches.pem}\n"
    collection = load(write(tmp_path, text)).collection
    assert collection.bmc.ca_file == tmp_path.resolve() / "pki" / "bmc.pem"
    assert collection.api.ca_file == tmp_path.resolve() / "pki" / "switches.pem"


def test_a_password_of_the_api_in_the_settings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no credential"):
        load(write(tmp_path, "collection:\n  api: {password: secret}\n"))
