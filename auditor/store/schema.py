"""The tables of the store. What a column holds is said here once; migrations bring old databases to this shape."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, ForeignKey, Index, LargeBinary, Table, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

REVISION = "0001"
"""The migration that gives this shape. A database with a revision that this program does not know is newer than it."""


class Moment(TypeDecorator[datetime]):
    """A time in UTC on every engine; SQLite itself would forget the zone. A naive time is taken as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 (the interface)
        """To the engine."""
        return None if value is None else utc(value)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """From the engine."""
        return None if value is None else utc(value)


class DeviceText(TypeDecorator[str]):
    """Text that a device may have had a hand in: PostgreSQL refuses NUL, both refuse lone surrogates."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 (the interface)
        """To the engine."""
        return None if value is None else clean(value)


def clean(text_: str) -> str:
    """Device text as every engine takes it: NUL becomes its picture, a lone surrogate a question mark."""
    return text_.replace("\0", "\u2400").encode("utf-8", "replace").decode()


def utc(moment: datetime) -> datetime:
    """The same moment in UTC; a naive time is taken as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = {str: Text(), datetime: Moment(), bytes: LargeBinary()}  # noqa: RUF012 (read by SQLAlchemy as it stands)


def table_of(model: type[Base]) -> Table:
    """The table of a model, for bulk work without its objects."""
    table = model.__table__
    assert isinstance(table, Table)
    return table


class Run(Base):
    """One audit. `status` is open until its last transaction, then finished or failed."""

    __tablename__ = "runs"
    id: Mapped[str] = mapped_column(primary_key=True)
    status: Mapped[str]
    scope: Mapped[str]
    source: Mapped[str]
    tool_version: Mapped[str]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class Input(Base):
    """Text of a baseline, plan or fabric document, once per content (compressed)."""

    __tablename__ = "inputs"
    digest: Mapped[str] = mapped_column(primary_key=True)
    body: Mapped[bytes]


class RunInput(Base):
    """Which documents a run used."""

    __tablename__ = "run_inputs"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey("inputs.digest"), primary_key=True)
    file: Mapped[str]
    profile: Mapped[str]
    version: Mapped[str]


class RunDevice(Base):
    """What a run got of a device. `current` is false when the store already held something newer."""

    __tablename__ = "run_devices"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    device: Mapped[str] = mapped_column(primary_key=True)
    collected_at: Mapped[datetime]
    reached: Mapped[bool]
    current: Mapped[bool]


class DeviceState(Base):
    """The newest look at a device, and the latest facts of its planned ports (`ends`, see `ends.py`)."""

    __tablename__ = "device_states"
    device: Mapped[str] = mapped_column(primary_key=True)
    collected_at: Mapped[datetime]
    fact_names: Mapped[str]
    ends: Mapped[bytes]


class RowSetContent(Base):
    """A row set once per content: compressed canonical JSON of its columns and rows."""

    __tablename__ = "row_set_contents"
    digest: Mapped[str] = mapped_column(primary_key=True)
    body: Mapped[bytes]


class RowSetInterval(Base):
    """When a row set had which content: from the first look that saw it to the first that saw another (open: still so).

    An interval of no length is one look from an old capture, between two looks that saw something else.
    """

    __tablename__ = "row_set_intervals"
    id: Mapped[int] = mapped_column(primary_key=True)
    device: Mapped[str]
    table: Mapped[str]
    layer: Mapped[str]
    source: Mapped[str]
    digest: Mapped[str] = mapped_column(ForeignKey("row_set_contents.digest"))
    from_at: Mapped[datetime]
    to_at: Mapped[datetime | None]
    __table_args__ = (
        Index("row_set_intervals_start", "device", "table", "layer", "source", "from_at", unique=True),
        Index(
            "row_set_intervals_open", "device", "table", "layer", "source", unique=True,
            sqlite_where=text("to_at IS NULL"), postgresql_where=text("to_at IS NULL"),
        ),
    )  # fmt: skip


class AcceptedSet(Base):
    """The content that drift is measured against: the first one seen, until somebody accepts another."""

    __tablename__ = "accepted_sets"
    device: Mapped[str] = mapped_column(primary_key=True)
    table: Mapped[str] = mapped_column(primary_key=True)
    layer: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(ForeignKey("row_set_contents.digest"))


class Change(Base):
    """One difference from the accepted content. It ends when the value comes back or is accepted. Values are JSON."""

    __tablename__ = "changes"
    id: Mapped[int] = mapped_column(primary_key=True)
    device: Mapped[str] = mapped_column(index=True)
    table: Mapped[str]
    layer: Mapped[str]
    source: Mapped[str]
    address: Mapped[str] = mapped_column(DeviceText)
    before: Mapped[str]
    after: Mapped[str]
    run_id: Mapped[str]
    first_seen: Mapped[datetime]
    last_seen: Mapped[datetime]
    reverted_at: Mapped[datetime | None]
    accepted_at: Mapped[datetime | None]


class ResultContent(Base):
    """What a rule said in a scope, once per content: compressed JSON of a Result without its rule and scope."""

    __tablename__ = "result_contents"
    digest: Mapped[str] = mapped_column(primary_key=True)
    body: Mapped[bytes]


class ResultInterval(Base):
    """When a rule said what in which scope; as for row sets."""

    __tablename__ = "result_intervals"
    id: Mapped[int] = mapped_column(primary_key=True)
    rule: Mapped[str]
    scope: Mapped[str]
    digest: Mapped[str] = mapped_column(ForeignKey("result_contents.digest"))
    from_at: Mapped[datetime]
    to_at: Mapped[datetime | None]
    __table_args__ = (
        Index("result_intervals_start", "scope", "rule", "from_at", unique=True),
        Index(
            "result_intervals_open", "scope", "rule", unique=True,
            sqlite_where=text("to_at IS NULL"), postgresql_where=text("to_at IS NULL"),
        ),
    )  # fmt: skip


class Finding(Base):
    """A finding over time. `state` is what reports show, `mode` how it fails while it does: open, regressed, flapping."""

    __tablename__ = "findings"
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    rule: Mapped[str]
    object: Mapped[str] = mapped_column(DeviceText)
    family: Mapped[str]
    severity: Mapped[str]
    state: Mapped[str] = mapped_column(index=True)
    mode: Mapped[str]
    first_seen: Mapped[datetime]
    last_seen: Mapped[datetime]
    times_seen: Mapped[int]
    resolved_at: Mapped[datetime | None]
    last_run: Mapped[str]
    cause: Mapped[str]
    payload: Mapped[str]


class FindingEvent(Base):
    """A step in the life of a finding. `from_state` is empty for the first."""

    __tablename__ = "finding_events"
    id: Mapped[int] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"))
    fingerprint: Mapped[str] = mapped_column(ForeignKey("findings.fingerprint", ondelete="CASCADE"), index=True)
    from_state: Mapped[str]
    to_state: Mapped[str]
    at: Mapped[datetime]


class RawReference(Base):
    """A raw output that an unresolved finding cites: not to be pruned."""

    __tablename__ = "raw_references"
    digest: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(ForeignKey("findings.fingerprint", ondelete="CASCADE"), primary_key=True)
