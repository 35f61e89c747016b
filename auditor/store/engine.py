"""Opens the database: SQLite by default, PostgreSQL by URL, one behaviour; brings its shape up to date; maps its errors.

Writers take turns on both engines, from the first statement of their transaction on: SQLite cannot turn a reader into a
writer while another one writes (it fails at once, whatever the busy timeout), and on PostgreSQL it keeps the steps
"look what is stored, write what changed" free of races.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from auditor.errors import Locked, SchemaTooNew, StoreError
from auditor.store.schema import REVISION

VERSION_TABLE = "auditor_version"
MIGRATIONS = Path(__file__).parent / "migrations"
_TURN = 0x61756469746F72  # the advisory lock of writers on PostgreSQL

_FAILURES: tuple[tuple[str, type[StoreError], str], ...] = (
    (r"database (table )?is locked|lock timeout|deadlock", Locked, "another run is writing and did not finish in time"),
    (r"unable to open database file", StoreError, "the database file cannot be opened (missing folder or permission)"),
    (r"readonly database|read-only transaction", StoreError, "the database may only be read (permission)"),
    (r"disk is full|No space left|disk I/O error", StoreError, "the disk is full or failing"),
    (r"not a database|malformed", StoreError, "the file is no SQLite database, or is damaged"),
    (r"authentication failed|no password supplied|role .* does not exist", StoreError, "the database refused the log-in"),
    (r"permission denied", StoreError, "the database user lacks a permission"),
    (r"database \"[^\"]*\" does not exist", StoreError, "there is no such database"),
    (r"connection|could not (translate|receive)|server closed", StoreError, "the database cannot be reached"),
)
"""What engines say (searched in their text), the error it becomes, and what we say instead. First match counts."""


@contextmanager
def mapped(url: URL) -> Iterator[None]:
    """Turn what the database libraries raise into StoreError, with the database's name and never its password."""
    name = url.render_as_string(hide_password=True)
    try:
        yield
    except DBAPIError as error:
        words = " ".join(str(error.orig).split())
        for pattern, kind, message in _FAILURES:
            if re.search(pattern, words, re.IGNORECASE):
                raise kind(f"{name}: {message}: {words}") from error
        raise StoreError(f"{name}: {words}") from error
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(f"{name}: no usable database URL: {error}") from error
    except ModuleNotFoundError as error:
        raise StoreError(f"{name}: needs the package {error.name!r}; for PostgreSQL install auditor[postgresql]") from error
    except SQLAlchemyError as error:
        raise StoreError(f"{name}: {error}") from error


def read_url(text_: str) -> URL:
    """A database URL; a bare path means SQLite, `postgres:` and `postgresql:` the psycopg driver. Raises StoreError."""
    if "://" not in text_:
        return URL.create("sqlite", database=text_)
    try:
        url = make_url(text_)
    except ArgumentError as error:
        raise StoreError("the database URL cannot be read; write sqlite:///FILE or postgresql://USER@HOST/NAME") from error
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("sqlite", "postgresql+psycopg"):
        raise StoreError(f"no store on {url.drivername!r}: write sqlite:///FILE or postgresql://USER@HOST/NAME")
    return url


def connect(url: URL, *, create: bool, busy_seconds: float) -> Engine:
    """An engine on an up-to-date database. Raises StoreError, SchemaTooNew, Locked."""
    file = Path(url.database) if url.drivername == "sqlite" and url.database else None
    if file is not None:
        if not create and not file.exists():
            raise StoreError(f"{file}: there is no store yet; a check or scan makes one")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{file.parent}: {error.strerror or error}") from error
    with mapped(url):
        sqlite = url.drivername == "sqlite"
        engine = create_engine(url, connect_args={"timeout": busy_seconds} if sqlite else {"connect_timeout": 10})
        _follow_rules(engine, sqlite, busy_seconds)
        try:
            _bring_up_to_date(engine, create)
        except BaseException:
            engine.dispose()
            raise
    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one moment and holds nobody up."""
    with mapped(engine.url), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that has its turn as the only writer; undone as a whole when its body raises."""
    with mapped(engine.url), engine.connect() as connection:
        connection.execution_options(auditor_writes=True)
        with connection.begin():
            yield connection


def _follow_rules(engine: Engine, sqlite: bool, busy_seconds: float) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        if sqlite:
            connection.isolation_level = None  # the driver would begin transactions by itself, and too late
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("auditor_writes", False)
        if sqlite:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
        elif writes:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(busy_seconds * 1000)}")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_TURN})")
        else:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")


def revision(connection: Connection) -> str | None:
    """The migration the database stands at; None when it holds no store."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608 (a constant)
    return None if found is None else str(found)


def _bring_up_to_date(engine: Engine, create: bool) -> None:
    with reading(engine) as connection:
        found = revision(connection)
    if found == REVISION:
        return
    # Imported here because most runs find the database up to date, and alembic takes longer to load than that check.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    name = engine.url.render_as_string(hide_password=True)
    if found is not None and found not in known:
        raise SchemaTooNew(f"{name}: written by a newer version of this program (schema {found}, this one knows {REVISION})")
    if not create:
        raise StoreError(
            f"{name}: {'holds no store' if found is None else 'is of an older schema'}; `auditor db upgrade` mends it"
        )
    with writing(engine) as connection:
        if revision(connection) != REVISION:  # another process may have been first
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
