"""One row of a point-to-point spreadsheet, read cell by cell, and what all rows together say of devices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from auditor import canonical
from auditor.canonical import printable
from auditor.errors import PlanError
from auditor.model import PlanEnd, PlanLink
from auditor.plan.document import REQUIRED
from auditor.plan.formats.p2p_layout import BARE, NOTHING, Layout, node_kind
from auditor.plan.formats.p2p_layout import position as rack_unit
from auditor.plan.formats.p2p_options import Choices, plain
from auditor.plan.formats.sheet import BLANK, Cell, Sheet, letter

_FACTORS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "'": 0.3048, "in": 0.0254, '"': 0.0254}
_UNITS = {
    **{unit: unit for unit in _FACTORS},
    **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("feet", "foot"), "ft"),
}


@dataclass(slots=True)
class Ledger:
    """What all rows of a file say: errors, remarks with their places, and facts of devices with where they stand."""

    file: str
    choices: Choices
    errors: list[PlanError] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    facts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    kinds: dict[str, dict[str, str]] = field(default_factory=dict)

    def remark(self, text: str, place: str) -> None:
        """Something to say of a cell; what is said of several cells is one note."""
        self.remarks.setdefault(text, []).append(place)

    def fact(self, device: str, name: str) -> str:
        """What is known of a device (`rack`, `position`, `type`), or an empty text."""
        return self.facts.get((device, name), ("", ""))[0]


class Row:
    """One row. Reading a cell that cannot be relied on puts an error into the ledger and marks the row as `failed`."""

    def __init__(self, ledger: Ledger, sheet: Sheet, layout: Layout, number: int, cells: tuple[Cell, ...]) -> None:
        self.ledger, self.sheet, self.layout, self.number, self.cells = ledger, sheet, layout, number, cells
        self.failed = False

    def cell(self, column: str) -> Cell:
        """The cell of a column by its meaning; blank where the sheet has no such column."""
        at = self.layout.columns.get(column)
        return BLANK if at is None or at >= len(self.cells) else self.cells[at]

    def place(self, column: str) -> str:
        """Where the cell is, for people."""
        return self.sheet.place(self.number, self.layout.columns.get(column, 0))

    def fail(self, message: str, column: str) -> str:
        """Record an error that names the cell."""
        self.failed = True
        self.ledger.errors.append(self.sheet.error(message, self.number, self.layout.columns.get(column, 0)))
        return ""

    def text(self, column: str) -> str:
        """The text of a cell that is needed."""
        cell = self.cell(column)
        if cell.trouble:
            return self.fail(f"{column} {cell.trouble}", column)
        if cell.remark and cell.text:
            self.ledger.remark(cell.remark, f"{self.place(column)} ({cell.text})")
        return cell.text

    def is_cable(self) -> bool:
        """Whether both sides are filled in. Rows without a cable are told as notes, half-written ones are errors."""
        for name in REQUIRED:
            if self.cell(name).text.lower() in NOTHING:
                self.ledger.remark("nothing decided yet, left out", f"{self.place(name)} ({self.cell(name).text})")
                return False
        filled = {name: self.cell(name) != BLANK for name in REQUIRED}
        sides = [filled[f"{side}_device"] or filled[f"{side}_port"] for side in "ab"]
        if all(filled.values()):
            return True
        if not any(sides) or (sum(filled.values()) == 1 and not filled["a_port"] and not filled["b_port"]):
            first = next((name for name in self.layout.columns if self.cell(name) != BLANK), "a_device")
            self.ledger.remark("no cable in this row, left out", self.place(first))
        elif not all(sides):
            self.ledger.remark("no far end, left out", self.place("b_device" if sides[0] else "a_device"))
        else:
            missing = next(name for name, full in filled.items() if not full)
            self.fail(f"{missing} is blank, though the rest of the row is filled in", missing)
        return False

    def end(self, side: str, above: dict[str, str]) -> PlanEnd | None:
        """One end; None after an error. `above` is what the row above says of this side, empty at the start of a block."""
        device, (rack, unit) = self.text(f"{side}_device"), self.location(side)
        if above and not rack and above["rack"]:
            rack = above["rack"]
            self.ledger.remark("blank, taken from the row above", self.place(f"{side}_rack"))
        if above and not unit and device == above["device"]:
            unit = above["unit"]
        above.update(rack=rack, unit=unit, device=device)
        if not device:
            return None
        name = self.name(device, f"{side}_device")
        port = self.port(name, side) if name else ""
        for fact, value in (("rack", rack), ("position", unit)):
            if name and value:
                self.learn(name, fact, value, f"{side}_{fact}")
        return PlanEnd(name, port, rack, unit) if name and port else None

    def location(self, side: str) -> tuple[str, str]:
        """Rack and rack unit; `R1.U22` in the rack's column is both."""
        rack, unit = self.text(f"{side}_rack"), self.text(f"{side}_position")
        rack, unit = ("" if text.lower() in NOTHING else text for text in (rack, unit))
        if found := re.fullmatch(r"(?i)(\S.*?)[ ._/-]+R?U ?(\d{1,2})", rack):
            rack, joined = found.groups()
            if unit and rack_unit(unit) != rack_unit(joined):
                self.fail(f"{side}_rack says U{joined}, {side}_position says {unit}", f"{side}_position")
            unit = unit or joined
        if unit and not rack_unit(unit):
            self.ledger.remark("no rack unit, kept as written", f"{self.place(f'{side}_position')} ({unit})")
        return rack, rack_unit(unit) or unit

    def name(self, written: str, column: str) -> str:
        """The device; another spelling only where exactly one known device is written like that."""
        choices = self.ledger.choices
        name = written
        if choices.known and written not in choices.known:
            near = choices.near.get(plain(written), frozenset())
            if len(near) > 1:
                return self.fail(f"{written!r} could be {' or '.join(sorted(near))}", column)
            if near:
                name = next(iter(near))
                self.ledger.remark(f"{written} was read as {name}", self.place(column))
        self.ledger.names.add(name)
        return name

    def port(self, device: str, side: str) -> str:
        """The port as the plan writes it."""
        column = f"{side}_port"
        written = self.text(column)
        kind = self.kind(device, side) if written else ""
        hcas = self.ledger.choices.hcas
        if kind == "host":
            if written in hcas:
                return hcas[written]
            if found := re.fullmatch(r"(mlx5_\d+)[ /]?[Pp]?(\d)", written):
                return "/".join(found.groups())
            if re.fullmatch(r"[\d/:]+", written):
                there = ", ".join(list(hcas)[:10])
                return self.fail(f"{device}: which HCA is {written}? hca_map has {there}; is it a host at all (hosts=)?", column)
        elif BARE.fullmatch(written) and not kind:
            sheet = f"sheet '{printable(self.sheet.name, 40)}' " if self.sheet.name else ""
            at = f"{sheet}column {letter(self.layout.columns[column])}"
            self.ledger.remarks.setdefault("bare port numbers stay as written; those of hosts become HCAs with hosts=GLOB", [at])
        return written

    def kind(self, device: str, side: str) -> str:
        """`host` or `switch`: by the options, by the type column, by a header that speaks of HCAs. Empty where nothing says."""
        bare = bool(BARE.fullmatch(self.cell(f"{side}_port").text))
        kind = self.ledger.choices.kind(device)
        if kind:
            return kind
        if kind := node_kind(self.text(f"{side}_type")):
            self.learn(device, "type", kind, f"{side}_type")
        elif self._speaks_of_hcas(side):
            kind = "host"
        elif self._speaks_of_hcas("b" if side == "a" else "a"):
            kind = "switch"
        if kind and bare:
            self.ledger.kinds.setdefault(device, {}).setdefault(kind, self.place(f"{side}_port"))
        return kind

    def _speaks_of_hcas(self, side: str) -> bool:
        return bool(re.search(r"(?i)\bhcas?\b", self.layout.headers.get(f"{side}_port", "")))

    def learn(self, device: str, fact: str, value: str, column: str) -> None:
        """A fact of a device; an error where an earlier row says otherwise."""
        known, where = self.ledger.facts.setdefault((device, fact), (value, self.place(column)))
        if known != value:
            self.fail(f"{device}: {fact} {value} here, {known} at {where}", column)

    # what a link has beside its ends

    def link(self, a: PlanEnd, b: PlanEnd, tags: Mapping[str, str]) -> PlanLink:
        """The planned link of this row."""
        plane = self.text("plane") or self.ledger.choices.plane
        if plane and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", plane):
            self.fail(f"{plane!r} cannot be the name of a plane", "plane")
        speed, rate = self.speed()
        return PlanLink(
            a=a,
            b=b,
            plane=plane,
            rail=self.text("rail"),
            speed=speed,
            label=self.text("label"),
            type=self.text("cable_type"),
            length_m=self.length(),
            tags={**tags, **({"rate": rate} if rate else {})},
            line=self.number,
        )

    def speed(self) -> tuple[int | None, str]:
        """Bit/s from `400G`, `400GbE`, `400 Gb/s`; words such as NDR, which tell no width, as text."""
        written = self.text("speed")
        if not written or written.lower() in NOTHING:
            return None, ""
        try:
            return canonical.speed(re.sub(r"(?i)(?<=\d)\s*([gt])(?:be|b|bit)?(?:/s|ps)?$", r"\1", written).upper()), ""
        except ValueError:
            self.ledger.remark("no number with a unit, kept as the tag rate", f"{self.place('speed')} ({written})")
            return None, written

    def length(self) -> float | None:
        """Metres from `3m`, `10 ft`, `10'`; of a bare number by the unit in the header or the option."""
        written = self.text("length")
        if not written or written.lower() in NOTHING:
            return None
        found = re.fullmatch(r"(\d{1,5}(?:[.,]\d{1,4})?)\s*([A-Za-z]*|'|\")\.?", written)
        unit = _UNITS.get(found.group(2).lower(), "") if found else ""
        if found is None or (found.group(2) and not unit):
            self.fail(f"{written!r} is no length", "length")
            return None
        words = [word for word in re.findall("[a-z]+", self.layout.headers.get("length", "").lower()) if word != "in"]
        unit = unit or next((_UNITS[word] for word in words if word in _UNITS), "") or self.ledger.choices.length
        if not unit:
            self.fail(f"the length {written} has no unit: say length=m or length=ft (or length=ignore)", "length")
        if unit in ("", "ignore"):
            return None
        metres = round(float(found.group(1).replace(",", ".")) * _FACTORS[unit], 3)
        return metres if metres > 0 else None
