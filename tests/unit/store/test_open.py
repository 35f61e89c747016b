"""Opening a store: making, upgrading, refusing; what stands in the way is said in words. Killed and competing writers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from auditor.errors import Locked, SchemaTooNew, StoreError
from auditor.model import DeviceOutcome
from auditor.store import Store, open_store
from auditor.store.database import Database
from auditor.store.engine import MIGRATIONS, VERSION_TABLE, writing
from auditor.store.schema import REVISION, Base

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_migrations_give_the_shape_that_the_code_expects(store: Database) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, Base.metadata) == []


def test_the_code_expects_the_newest_migration() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [REVISION]


def test_a_store_opened_again_holds_what_it_held(opened: Callable[..., Store]) -> None:
    opened().begin_run("one", NOW, "all", "0.1", "live")
    assert [run.id for run in opened(create=False).runs()] == ["one"]


def test_a_missing_store_is_not_made_for_reading(opened: Callable[..., Store], tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        opened(create=False)
    assert not (tmp_path / "auditor.db").exists()


def test_a_store_of_a_newer_program_is_refused(opened: Callable[..., Store], store: Database) -> None:
    with writing(store.engine) as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(SchemaTooNew, match="schema 9999"):
        opened()


def test_processes_may_make_the_store_at_once(opened: Callable[..., Store]) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: opened(), range(4)))
    assert {store.info().schema for store in stores} == {REVISION}


def test_a_writer_that_does_not_end_is_waited_for_and_then_named(opened: Callable[..., Store], store: Database) -> None:
    other = opened(busy_seconds=0.2)
    with writing(store.engine), pytest.raises(Locked, match="another run is writing"):
        other.begin_run("two", NOW, "all", "0.1", "live")
    other.begin_run("two", NOW, "all", "0.1", "live")


def test_readers_are_not_held_up_by_a_writer(opened: Callable[..., Store], store: Database) -> None:
    other = opened(busy_seconds=0.2)
    with writing(store.engine):
        assert other.runs() == []
        assert other.findings() == []


def test_two_writers_take_turns_and_lose_nothing(opened: Callable[..., Store]) -> None:
    stores = [opened(), opened()]
    for at, store in enumerate(stores):
        store.begin_run(f"run-{at}", NOW, "all", "0.1", "live")

    def work(at: int) -> None:
        for number in range(20):
            stores[at].save_outcome(f"run-{at}", DeviceOutcome(f"leaf-{number}", NOW))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (0, 1)))
    rows = stores[0].info().rows
    assert (rows["run_devices"], rows["device_states"]) == (40, 20)


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from auditor.store import open_store, verdicts
from auditor.model import DeviceOutcome

store = open_store(sys.argv[1], Path(sys.argv[2]))
store.begin_run("killed", datetime(2026, 3, 1, tzinfo=UTC), "all", "0.1", "live")
store.save_outcome("killed", DeviceOutcome("leaf-01", datetime(2026, 3, 1, tzinfo=UTC)))
verdicts.keep_findings = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
store.finish_run("killed", datetime(2026, 3, 2, tzinfo=UTC), (), (), None, frozenset(), only=())
"""


def test_a_run_killed_in_its_last_transaction_is_open_and_can_be_finished(url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, url, str(tmp_path / "raw")]
    assert subprocess.run(command, cwd=Path.cwd(), env=os.environ, timeout=60).returncode == -signal.SIGKILL
    store = open_store(url, tmp_path / "raw")
    try:
        assert [(run.id, run.status) for run in store.runs()] == [("killed", "open")]
        store.begin_run("killed", NOW, "all", "0.1", "live")
        store.finish_run("killed", NOW, (), (), None, frozenset(), only=())
        assert store.runs()[0].status == "finished"
        if url.startswith("sqlite"):
            assert isinstance(store, Database)
            with store.engine.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    finally:
        store.close()


# What stands in the way


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "auditor.db").write_text("hostname leaf-01\n" * 200)
    with pytest.raises(StoreError, match=r"auditor\.db: the file is no SQLite database"):
        open_store(str(tmp_path / "auditor.db"), tmp_path)


def test_a_folder_in_the_place_of_the_database_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(f"sqlite:///{tmp_path}", tmp_path)


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="data"):
        open_store(str(tmp_path / "data" / "auditor.db"), tmp_path)


def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        open_store(f"postgresql://auditor:s3cret@/cluster?host={tmp_path}", tmp_path)
    assert "s3cret" not in str(caught.value)


def test_a_database_that_the_server_lacks_is_named(postgres: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such database"):
        open_store(postgres.format("nowhere"), tmp_path)


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite+pysqlcipher:///x", "nonsense://", "post gres://x:y@"])
def test_other_databases_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="sqlite:///FILE"):
        open_store(url, tmp_path)


def test_sqlite_keeps_a_log_ahead_and_its_references(tmp_path: Path) -> None:
    store = Database(str(tmp_path / "auditor.db"), tmp_path / "raw")
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    store.close()
