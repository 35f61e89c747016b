"""Looks at the cells of one device for its hops, and says of an unknown one which layer was not seen."""

from __future__ import annotations

from dataclasses import replace

from auditor.address import Address, Layer
from auditor.facts import TABLES
from auditor.model import ABSENT, Cell, Fact, Gap, GapReason, HopCell, State


def fact(cell: Cell) -> Fact:
    """A cell as link ends carry it: its address with the layer that was read, and where that was read."""
    origin, address = cell.origin, cell.address
    return Fact(
        address if address.layer is cell.layer else Address(address.table, address.key, address.column, cell.layer),
        cell.value,
        cell.layer,
        origin.platform if origin else "",
        origin.source if origin else "",
        origin.digest if origin else "",
        cell.gap,
        origin.command if origin else "",
    )


def why_unknown(state: State, cell: Cell) -> Gap | None:
    """Why a cell is not known; None when it is. Where the configuration cannot tell, because only the device computes the
    value, it is the applied layer that was not seen."""
    if cell.known:
        return None
    address = cell.address
    found = cell.gap or state.gap_at(address.table, cell.layer, address.key, address.column)
    if found.reason is not GapReason.UNSUPPORTED or found.layer is not Layer.CONFIGURED:
        return found
    applied = state.gap_at(address.table, Layer.APPLIED, address.key, address.column)
    if applied.reason is GapReason.UNSUPPORTED:
        return found
    words = f"{found.detail} (applied: {applied.detail})"
    return replace(applied, table=address.table, detail=words, layer=Layer.APPLIED)


class Look:
    """Looks into a State and makes cells of hops. What several ports share (rows of maps, words) exists once."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._facts: dict[tuple[str, tuple[str, ...], str], Fact] = {}
        self._layers: dict[tuple[str, str], Layer | None] = {}
        self._made: dict[tuple[str, Address, bool | None, str, str], HopCell] = {}
        self._notes: dict[tuple[str, str | None, Layer], str] = {}
        self._words: dict[str, str] = {}

    def fact(self, table: str, key: tuple[str, ...], column: str) -> Fact:
        """The fact of one cell."""
        place = (table, key, column)
        found = self._facts.get(place)
        if found is None:
            if (table, column) not in self._layers:
                self._layers[table, column] = self.state.layer_of(TABLES[table], column)
            cell = self.state.cell(Address(table, key, column, self._layers[table, column]))
            found = self._facts[place] = fact(replace(cell, gap=why_unknown(self.state, cell)))
        return found

    def make(self, name: str, found: Fact, ok: bool, seen: str, wanted: str, shared: Address | None = None) -> HopCell:
        """A cell of a hop; unknown, whatever `ok`, when the fact behind it is unknown."""
        judged, words = (ok, seen) if found.value is not None else (None, "not known")
        place = (name, found.address, judged, words, wanted)
        made = self._made.get(place)
        if made is None:
            words, wanted = self._words.setdefault(words, words), self._words.setdefault(wanted, wanted)
            made = self._made[place] = HopCell(name, judged, words, wanted, found, shared, self._note(found))
        return made

    def _note(self, found: Fact) -> str:
        """Which layer was read, and why it was not the applied one."""
        if found.layer is None or found.layer is Layer.APPLIED:
            return found.layer or ""
        place = (found.address.table, found.address.column, found.layer)
        if place not in self._notes:
            gap = self.state.gap_at(found.address.table, Layer.APPLIED, (), found.address.column)
            self._notes[place] = f"{found.layer}; applied {gap.reason.replace('_', ' ')}"
        return self._notes[place]

    def mapped(self, kind: str, binding: Fact, number: int) -> Fact:
        """The row of the bound map `kind` for a traffic class or priority; the binding itself where no map is bound."""
        if not present(binding):
            return binding
        return self.fact("class_map", (f"{kind}:{binding.value}", str(number)), "to")


def present(found: Fact) -> bool:
    """Whether a value was seen."""
    return found.value is not None and found.value is not ABSENT
