"""How the layers of one device are told apart and told: cells at a named layer, gaps of a layer, values in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from auditor.address import Address, Layer
from auditor.canonical import printable
from auditor.facts import Row, schema
from auditor.model import ABSENT, Cell, Gap, GapReason, Spot, State

SETTLING = timedelta(minutes=10)
"""How long after a start settings may still be on their way: daemons read the database, services set the NICs. Our choice: a
switch applies its configuration within two or three minutes, a host with many NICs within five."""


def declared(state: State, row_type: type[Row], layer: Layer) -> frozenset[str]:
    """The columns of a table that some answer declares at a layer."""
    return frozenset(name for name in schema(row_type).columns if state.origins.get((row_type, layer, name)))


def open_gap(state: State, table: str, *layers: Layer) -> Gap | None:
    """The first gap of a table at one of these very layers (or of the whole device) that no platform declared."""
    return next(
        (
            gap
            for gap in state.gaps
            if gap.reason is not GapReason.UNSUPPORTED and (gap.table == "*" or (gap.table == table and gap.layer in layers))
        ),
        None,
    )


def missing(state: State, what: Address, read: Layer, wanted: Layer, columns: Iterable[str] = ()) -> Gap:
    """The gap of a layer that nothing was read of, for a table or a row, in words that say which layer was read instead.

    `columns` are those of interest; a gap of others tells nothing. Without any word about it, it is unsupported where no source
    of the platform reads that layer, and else was not asked for.
    """
    gaps = [
        gap
        for gap in state.gaps
        if gap.layer in (None, wanted)
        and any(gap.covers(what.table, wanted, what.key, column) for column in (tuple(columns) or (None,)))
    ]
    found = next((gap for gap in gaps if gap.reason is not GapReason.UNSUPPORTED), gaps[0] if gaps else None)
    words = f"read: {read}; {wanted} not collected"
    if found is None:
        reason = GapReason.NOT_COLLECTED if (what.table, wanted) in state.readable else GapReason.UNSUPPORTED
        return Gap(state.device, what.table, "", reason, words, wanted, what.key)
    return replace(found, table=what.table, detail=f"{words} ({found.detail})" if found.detail else words, layer=wanted)


def settling(state: State) -> str:
    """In words, that the device has started only just now; empty when it has not, or when nothing tells."""
    booted = state.cell(Address("system", (), "booted_at"))
    if not isinstance(booted.value, str):
        return ""
    try:
        age = state.collected_at - datetime.fromisoformat(booted.value)
    except (ValueError, TypeError):
        return ""
    if not timedelta(0) <= age < SETTLING:
        return ""
    return f"the device had started {int(age.total_seconds())} s before; what differs may still be on its way"


def spot(state: State, cell: Cell) -> Spot:
    """The place of a cell with the layer it was read at."""
    return Spot(state.device, replace(cell.address, layer=cell.layer or cell.address.layer))


def gap_of(state: State, cell: Cell) -> Gap:
    """Why a cell is unknown."""
    address = cell.address
    return cell.gap or state.gap_at(address.table, cell.layer or address.layer, address.key, address.column)


def words(value: object) -> str:
    """A value as a message shows it."""
    if value is None or value is ABSENT:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.12g}"
    return printable(",".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value), 80)
