"""Row sets, drift and link facts of devices: what `save_outcome` writes, and reading it back."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from auditor import drift
from auditor.address import Layer
from auditor.errors import StoreError
from auditor.model import Change, DeviceOutcome, LinkEnd, RowSet, SetKey
from auditor.store import ends as link_ends
from auditor.store import schema
from auditor.store.intervals import Head, Look, Timeline, chunks, missing
from auditor.store.raw import pack, unpack
from auditor.store.schema import table_of, utc

CONTENTS = table_of(schema.RowSetContent)
ROW_SETS = Timeline(table_of(schema.RowSetInterval), ("device", "table", "layer", "source"))
ACCEPTED = table_of(schema.AcceptedSet)
CHANGES = table_of(schema.Change)
DEVICES = table_of(schema.DeviceState)
RUN_DEVICES = table_of(schema.RunDevice)

OPEN = CHANGES.c.reverted_at.is_(None) & CHANGES.c.accepted_at.is_(None)


class Contents:
    """Row sets by digest, read once each; those at hand need no reading."""

    def __init__(self, connection: Connection, at_hand: Iterable[RowSet] = ()) -> None:
        self.connection = connection
        self.found: dict[str, tuple[tuple[str, ...], tuple[Mapping[str, Any], ...]]] = {
            item.digest: (item.columns, item.rows) for item in at_hand
        }

    def get(self, key: SetKey, digest: str) -> RowSet | None:
        """The row set with this content, None when the store does not hold it."""
        if digest not in self.found:
            body = self.connection.scalar(select(CONTENTS.c.body).where(CONTENTS.c.digest == digest))
            if body is None:
                return None
            self._take(digest, body)
        return RowSet(key, digest, *self.found[digest])

    def fetch(self, digests: Iterable[str]) -> None:
        """Read many at once."""
        for some in chunks(set(digests) - self.found.keys()):
            for digest, body in self.connection.execute(select(CONTENTS).where(CONTENTS.c.digest.in_(some))):
                self._take(digest, body)

    def _take(self, digest: str, body: bytes) -> None:
        plain = json.loads(unpack(body))
        self.found[digest] = tuple(plain["columns"]), tuple(plain["rows"])


def set_key(parts: Sequence[str]) -> SetKey:
    """The row set that an interval's key (device, table, layer, source) names."""
    return SetKey(parts[1], Layer(parts[2]), parts[3])


def digests_of(connection: Connection, devices: Iterable[str]) -> dict[str, dict[SetKey, str]]:
    """Digests of the newest row sets, by device."""
    out: dict[str, dict[SetKey, str]] = defaultdict(dict)
    for key, head in ROW_SETS.heads(connection, "device", devices).items():
        out[key[0]][set_key(key)] = head.digest
    return dict(out)


def save(connection: Connection, run_id: str, outcomes: Sequence[DeviceOutcome]) -> dict[str, tuple[Change, ...]]:
    """Store outcomes of distinct devices; gives what changed since the stored predecessors, by device."""
    names = [outcome.device for outcome in outcomes]
    known: dict[str, tuple[datetime, str]] = {}
    for some in chunks(names):
        query = select(DEVICES.c.device, DEVICES.c.collected_at, DEVICES.c.fact_names).where(DEVICES.c.device.in_(some))
        known.update({device: (at, facts) for device, at, facts in connection.execute(query)})
    current = {o.device: o.device not in known or utc(o.collected_at) >= known[o.device][0] for o in outcomes}
    _note_devices(connection, run_id, outcomes, current)
    _keep_contents(connection, outcomes)
    heads = ROW_SETS.heads(connection, "device", names)
    looks = [
        Look((outcome.device, key.table, str(key.layer), key.source), digest, utc(outcome.collected_at), current[outcome.device])
        for outcome in outcomes
        for key, digest in outcome.seen.items()
    ]
    moved = ROW_SETS.advance(connection, looks, heads)
    # A look equal to a head that began at its very time is a repetition: it reports the same changes again.
    again = [look for look in looks if look.key in heads and heads[look.key][1:] == (look.digest, look.at) and look.current]
    contents = Contents(connection, (item for outcome in outcomes for item in outcome.row_sets))
    contents.fetch(heads[look.key].digest for look in moved if look.key in heads)
    changes = _changes(connection, contents, moved + again, heads)
    _follow_drift(connection, contents, run_id, looks, moved, heads)
    _keep_ends(connection, [o for o in outcomes if current[o.device] and o.reached], known)
    return changes


def _note_devices(connection: Connection, run_id: str, outcomes: Sequence[DeviceOutcome], current: Mapping[str, bool]) -> None:
    rows = [
        {
            "run_id": run_id, "device": outcome.device, "collected_at": outcome.collected_at,
            "reached": outcome.reached, "current": current[outcome.device],
        }
        for outcome in outcomes
    ]  # fmt: skip
    for some in chunks(outcome.device for outcome in outcomes):
        connection.execute(delete(RUN_DEVICES).where(RUN_DEVICES.c.run_id == run_id, RUN_DEVICES.c.device.in_(some)))
    connection.execute(insert(RUN_DEVICES), rows)


def _keep_contents(connection: Connection, outcomes: Sequence[DeviceOutcome]) -> None:
    given = {item.digest: item for outcome in outcomes for item in outcome.row_sets}
    new = [
        {"digest": digest, "body": pack(drift.canonical(given[digest].columns, given[digest].rows))}
        for digest in missing(connection, CONTENTS, given)
    ]
    if new:
        connection.execute(insert(CONTENTS), new)


def _changes(
    connection: Connection, contents: Contents, looks: Iterable[Look], heads: Mapping[tuple[str, ...], Head]
) -> dict[str, tuple[Change, ...]]:
    """Changes of these looks against what was there before them, joined per device."""
    found: dict[str, list[Change]] = defaultdict(list)
    ended: dict[tuple[str, datetime], dict[tuple[str, ...], str]] = {}
    for look in looks:
        head = heads.get(look.key)
        if head is None:
            continue
        device = look.key[0]
        before: str | None = head.digest
        if head.from_at == look.at:
            if (device, look.at) not in ended:
                ended[device, look.at] = ROW_SETS.before(connection, "device", device, look.at)
            before = ended[device, look.at].get(look.key)
        if before is not None:
            found[device] += _compare(contents, look.key, before, look.digest)
    return {device: tuple(drift.join(changes)) for device, changes in found.items() if changes}


def _compare(contents: Contents, key: tuple[str, ...], before: str, after: str) -> list[Change]:
    name = set_key(key)
    now = contents.get(name, after)
    if now is None:
        raise StoreError(f"{key[0]}: the store lacks the content {after} of {name.table}@{name.layer}")
    return drift.changes(key[0], contents.get(name, before), now)


def _follow_drift(
    connection: Connection,
    contents: Contents,
    run_id: str,
    looks: Iterable[Look],
    moved: Sequence[Look],
    heads: Mapping[tuple[str, ...], Head],
) -> None:
    """Bring the list of differences from the accepted contents up to date with what these looks saw."""
    seen = {look.key: look for look in looks if look.current}
    accepted = _accepted(connection, (look.key[0] for look in moved))
    standing = _standing(connection, (key[0] for key in seen))
    contents.fetch(accepted[look.key] for look in moved if look.key in accepted)
    new, updated, reverted, first, reread = [], [], [], [], []
    for look in moved:
        here = standing.pop(look.key, {})
        head = heads.get(look.key)
        if look.key not in accepted:
            first.append(_place(look.key) | {"digest": look.digest})
            continue
        if head is not None and head.from_at == look.at and head.digest == accepted[look.key]:
            # The output that was accepted, read anew: no drift of the device.
            reread.append({f"its_{name}": part for name, part in _place(look.key).items()} | {"value": look.digest})
            accepted[look.key] = look.digest
        differences = {schema.clean(x.address): x for x in _compare(contents, look.key, accepted[look.key], look.digest)}
        for address, change in differences.items():
            before, after = json.dumps(change.before), json.dumps(change.after)
            if address in here:
                updated.append({"row": here[address].id, "old": before, "new": after, "at": look.at})
            else:
                values = {"address": address, "before": before, "after": after, "run_id": run_id}
                new.append(_place(look.key) | values | {"first_seen": look.at, "last_seen": look.at})
        reverted += [{"row": row.id, "at": look.at} for address, row in here.items() if address not in differences]
    still = [
        {"row": row.id, "at": seen[key].at}
        for key, rows in standing.items()
        for row in rows.values()
        if key in seen and row.last_seen < seen[key].at
    ]
    mine = update(CHANGES).where(CHANGES.c.id == bindparam("row"))
    at: Any = bindparam("at")
    own = [ACCEPTED.c[name] == bindparam(f"its_{name}") for name in ROW_SETS.names]
    _many(connection, insert(ACCEPTED), first)
    _many(connection, update(ACCEPTED).where(*own).values(digest=bindparam("value")), reread)
    _many(connection, insert(CHANGES), new)
    _many(connection, mine.values(before=bindparam("old"), after=bindparam("new"), last_seen=at), updated)
    _many(connection, mine.values(last_seen=at), still)
    _many(connection, mine.values(reverted_at=at), reverted)


def _place(key: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(ROW_SETS.names, key, strict=True))


def _accepted(connection: Connection, devices: Iterable[str]) -> dict[tuple[str, ...], str]:
    query = select(*(ACCEPTED.c[name] for name in ROW_SETS.names), ACCEPTED.c.digest)
    out = {}
    for some in chunks(devices):
        out.update({tuple(key): digest for *key, digest in connection.execute(query.where(ACCEPTED.c.device.in_(some)))})
    return out


def _standing(connection: Connection, devices: Iterable[str]) -> dict[tuple[str, ...], dict[str, Any]]:
    """Open changes by row set and address."""
    out: dict[tuple[str, ...], dict[str, Any]] = defaultdict(dict)
    for some in chunks(devices):
        for row in connection.execute(select(CHANGES).where(OPEN, CHANGES.c.device.in_(some))):
            out[row.device, row.table, row.layer, row.source][row.address] = row
    return out


def _many(connection: Connection, statement: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(statement, rows)


def _keep_ends(connection: Connection, outcomes: Sequence[DeviceOutcome], known: Mapping[str, tuple[datetime, str]]) -> None:
    new, updated = [], []
    for outcome in outcomes:
        at, names = known.get(outcome.device, (None, ""))
        saw_neighbours = any(key.table == link_ends.NEIGHBOURS for key in outcome.seen)
        kept: Iterable[link_ends.KeptEnd] = map(link_ends.KeptEnd, outcome.ends)
        if at is not None and not link_ends.complete(outcome.ends, names, saw_neighbours):
            body = connection.scalar(select(DEVICES.c.ends).where(DEVICES.c.device == outcome.device))
            old = () if body is None else link_ends.load(body)
            kept = link_ends.merge(old, outcome.ends, at, saw_neighbours=saw_neighbours)
        kept = tuple(kept)
        values = {"ends": link_ends.dump(kept), "fact_names": link_ends.fact_names(item.end for item in kept)}
        if at is None:
            new.append({"device": outcome.device, "collected_at": outcome.collected_at} | values)
        else:
            updated.append(
                {"who": outcome.device, "at": outcome.collected_at, "blob": values["ends"], "names": values["fact_names"]}
            )
    change = update(DEVICES).where(DEVICES.c.device == bindparam("who"))
    change = change.values(collected_at=bindparam("at"), ends=bindparam("blob"), fact_names=bindparam("names"))
    _many(connection, insert(DEVICES), new)
    _many(connection, change, updated)


def read_ends(connection: Connection, devices: Iterable[str], not_before: datetime) -> list[LinkEnd]:
    """Stored ends of these devices with their facts that are no older than `not_before`."""
    out = []
    for some in chunks(devices):
        query = select(DEVICES.c.collected_at, DEVICES.c.ends).where(DEVICES.c.device.in_(some)).order_by(DEVICES.c.device)
        for collected_at, body in connection.execute(query.where(DEVICES.c.collected_at >= not_before)):
            out += [link_ends.give(kept, collected_at, utc(not_before)) for kept in link_ends.load(body)]
    return [end for end in out if end is not None]


def accept(connection: Connection, device: str, at: datetime) -> int:
    """Make the newest row sets of a device the accepted ones; gives the number of changes that ended."""
    heads = ROW_SETS.heads(connection, "device", [device])
    connection.execute(delete(ACCEPTED).where(ACCEPTED.c.device == device))
    rows = [_place(key) | {"digest": head.digest} for key, head in heads.items()]
    _many(connection, insert(ACCEPTED), rows)
    ended: int = connection.execute(update(CHANGES).where(OPEN, CHANGES.c.device == device).values(accepted_at=at)).rowcount
    return ended
