"""Contents over time: which digest a thing had from when to when, written only when it changes. For row sets and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, bindparam, insert, select, update

T = TypeVar("T")
Key = tuple[str, ...]


class Head(NamedTuple):
    """The open interval of a thing: its content now."""

    id: int
    digest: str
    from_at: datetime


class Look(NamedTuple):
    """One look at a thing. `current` is false when the store already holds a newer look at its device."""

    key: Key
    digest: str
    at: datetime
    current: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """The intervals of one table, whose things are named by the columns `names`."""

    table: Table
    names: tuple[str, ...]

    def heads(self, connection: Connection, column: str, values: Iterable[str]) -> dict[Key, Head]:
        """Open intervals by key, of things whose `column` is one of `values`."""
        out: dict[Key, Head] = {}
        c = self.table.c
        query = select(*(c[name] for name in self.names), c.id, c.digest, c.from_at).where(c.to_at.is_(None))
        for some in chunks(values):
            for *key, row, digest, from_at in connection.execute(query.where(c[column].in_(some))):
                out[tuple(key)] = Head(row, digest, from_at)
        return out

    def advance(self, connection: Connection, looks: Iterable[Look], heads: Mapping[Key, Head]) -> list[Look]:
        """Write what differs from the heads; gives the looks that changed or started one.

        A current look with another content ends the open interval and opens one. At the very time of the open interval it
        takes that interval over: the same output, read anew. A look from the past goes between the intervals as history.
        """
        opened, closed, replaced = [], [], []
        moved: list[Look] = []
        for look in looks:
            head = heads.get(look.key)
            if head is None:
                opened.append(self._row(look))
            elif not look.current or look.at < head.from_at:
                self._insert_past(connection, look)
                continue
            elif head.digest == look.digest:
                continue
            elif head.from_at == look.at:
                replaced.append({"row": head.id, "value": look.digest})
            else:
                closed.append({"row": head.id, "value": look.at})
                opened.append(self._row(look))
            moved.append(look)
        row = self.table.c.id == bindparam("row")
        if closed:
            connection.execute(update(self.table).where(row).values(to_at=bindparam("value")), closed)
        if replaced:
            connection.execute(update(self.table).where(row).values(digest=bindparam("value")), replaced)
        if opened:
            connection.execute(insert(self.table), opened)
        return moved

    def before(self, connection: Connection, column: str, value: str, at: datetime) -> dict[Key, str]:
        """Digests that ended at exactly `at`, of things whose `column` is `value`: the predecessors of what began then."""
        c = self.table.c
        query = select(*(c[name] for name in self.names), c.digest)
        rows = connection.execute(query.where(c[column] == value, c.to_at == at, c.from_at < at))
        return {tuple(key): digest for *key, digest in rows}

    def at(self, connection: Connection, column: str, value: str, at: datetime) -> dict[Key, str]:
        """Digests at a time, of things whose `column` is `value`; a single look at that very time wins."""
        c = self.table.c
        ended = c.to_at.is_(None) | (c.to_at > at) | ((c.from_at == at) & (c.to_at == at))
        query = select(*(c[name] for name in self.names), c.digest)
        rows = connection.execute(query.where(c[column] == value, c.from_at <= at, ended).order_by(c.from_at))
        return {tuple(key): digest for *key, digest in rows}

    def _insert_past(self, connection: Connection, look: Look) -> None:
        c = self.table.c
        query = select(c.id, c.digest, c.from_at, c.to_at).where(self._is(look.key)).order_by(c.from_at)
        intervals = connection.execute(query).all()
        if any(from_at == look.at for _, _, from_at, _ in intervals):
            return
        covering = [digest for _, digest, from_at, to_at in intervals if from_at < look.at and (to_at is None or to_at > look.at)]
        if covering:
            if covering[-1] != look.digest:
                connection.execute(insert(self.table).values(**self._row(look) | {"to_at": look.at}))
            return
        first = intervals[0]  # there is a head, so there is a first one, and it begins after this look
        if first.digest == look.digest:
            connection.execute(update(self.table).where(c.id == first.id).values(from_at=look.at))
        else:
            connection.execute(insert(self.table).values(**self._row(look) | {"to_at": first.from_at}))

    def _row(self, look: Look) -> dict[str, Any]:
        return dict(zip(self.names, look.key, strict=True)) | {"digest": look.digest, "from_at": look.at, "to_at": None}

    def _is(self, key: Key) -> ColumnElement[bool]:
        first, *rest = (self.table.c[name] == value for name, value in zip(self.names, key, strict=True))
        for condition in rest:
            first = first & condition
        return first


def chunks(values: Iterable[T], size: int = 500) -> Iterator[Sequence[T]]:
    """Distinct values in portions that fit an IN list of any engine, sorted."""
    ordered = sorted(set(values))  # type: ignore[type-var]
    for at in range(0, len(ordered), size):
        yield ordered[at : at + size]


def missing(connection: Connection, table: Table, digests: Iterable[str]) -> set[str]:
    """Which of these digests `table` does not hold yet."""
    wanted = set(digests)
    for some in chunks(wanted):
        wanted -= set(connection.scalars(select(table.c.digest).where(table.c.digest.in_(some))))
    return wanted
