"""Point-to-point spreadsheets (P2P, PTP): Excel workbooks or CSV files with one cable per row, as cable contractors get them.

The columns are told from where they stand and what is in them (`p2p_layout.py`) or named by the option `columns`; the notes
show what each was understood as. What has two readings is an error that names the cell. A bare port number of a host is its
nth HCA, as in NVIDIA's Cable Validation Tool: 1 is mlx5_0. Ports of switches stay as written (`1/2`, `sw1p1`, `swp1s0`): how
a cage and its split are numbered differs by model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from auditor.canonical import printable
from auditor.errors import ErrorList, PlanError, SetupError
from auditor.model import PlanEnd, PlanLink
from auditor.plan.document import MAX_ERRORS, REQUIRED
from auditor.plan.formats import Imported, ImportedDevice, PlanFormat
from auditor.plan.formats.p2p_layout import Layout, Unclear, header_row, heading, understand
from auditor.plan.formats.p2p_options import OPTIONS, plain, read_options
from auditor.plan.formats.p2p_row import Ledger, Row
from auditor.plan.formats.sheet import Cell, Sheet, is_workbook, letter, read_sheets, values

LISTED = 5
"""How many cells a note names before it only counts."""

_SNIFFED = 200_000


def sniff(raw: bytes, name: str) -> bool:
    """Whether it is a workbook, or a table with two sides that is no native plan."""
    if is_workbook(raw):
        return True
    if not name.lower().endswith((".csv", ".tsv", ".txt")):
        return False
    try:
        sheet = read_sheets(raw if len(raw) <= _SNIFFED else raw[:_SNIFFED].rpartition(b"\n")[0], name)[0]
        head = {cell.text.lower() for cell in sheet.rows[0][1]} if sheet.rows else set()
        return not head.issuperset(REQUIRED) and understand(Sheet("", name, sheet.rows[:60])) is not None
    except Unclear:
        return True
    except PlanError:
        return False


def read(raw: bytes, name: str, options: Mapping[str, str]) -> Imported:
    """The links of every sheet. Raises PlanError or ErrorList, each error with its cell; SetupError for an option."""
    return _Reader(name, options).read(raw)


class _Reader:
    """Reads one file."""

    def __init__(self, file: str, options: Mapping[str, str]) -> None:
        self.file, self.choices = file, read_options(options)
        self.ledger = Ledger(file, self.choices)
        self.notes: list[str] = []
        self.pairs: dict[frozenset[tuple[str, str]], tuple[str, PlanEnd]] = {}
        self.ports: dict[tuple[str, str], tuple[str, PlanEnd]] = {}

    def read(self, raw: bytes) -> Imported:
        sheets = self._chosen(read_sheets(raw, self.file, self.choices.dates))
        found = [(sheet, layout) for sheet in sheets if (layout := self._layout(sheet)) is not None]
        if not found and not self.ledger.errors:
            raise PlanError("no sheet holds links: two sides with a device and a port each; name them with columns=", self.file)
        links = [link for sheet, layout in found for link in self._links(sheet, layout, several=len(found) > 1)]
        self._contradictions()
        errors: list[SetupError] = [*self.ledger.errors]
        if len(errors) > MAX_ERRORS:
            errors = [*errors[:MAX_ERRORS], PlanError(f"{len(errors) - MAX_ERRORS} more errors", self.file)]
        if errors:
            raise ErrorList(errors) if len(errors) > 1 else errors[0]
        self.notes += [f"{self.file}: {text}: {_listed(places)}" for text, places in self.ledger.remarks.items()]
        self._spellings()
        if not links:
            raise PlanError("holds no cable", self.file)
        return Imported(tuple(links), tuple(self.notes), tuple(self._devices()))

    # sheets and their columns

    def _chosen(self, sheets: tuple[Sheet, ...]) -> list[Sheet]:
        wanted = self.choices.sheets
        for item in wanted:
            if item not in {sheet.name for sheet in sheets}:
                there = ", ".join(printable(sheet.name, 40) for sheet in sheets)
                raise PlanError(f"has no sheet {item!r}; it has {there}", self.file)
        for sheet in sheets:
            if sheet.hidden and not wanted:
                self.notes.append(f"{self.file}: {_called(sheet)} is hidden and was left out; name it with sheets=")
        return [sheet for sheet in sheets if (sheet.name in wanted if wanted else not sheet.hidden)]

    def _layout(self, sheet: Sheet) -> Layout | None:
        called = _called(sheet)
        try:
            layout = self._named(sheet) if self.choices.columns else understand(sheet)
        except Unclear as problem:
            message = f"{called}: its columns have two readings: {problem}; say which with columns="
            self.ledger.errors.append(PlanError(message, self.file))
            return None
        if layout is not None:
            self._show(sheet, layout)
        elif self.choices.sheets or not sheet.name:
            message = f"{called}: no two sides with a device and a port each; name them with columns="
            self.ledger.errors.append(PlanError(message, self.file))
        elif sheet.rows:
            self.notes.append(f"{self.file}: {called} holds no links and was left out")
        return layout

    def _named(self, sheet: Sheet) -> Layout | None:
        """The layout that the option `columns` gives."""
        columns = self.choices.columns
        header = header_row(sheet)
        if header is None:  # a header of a few words is one all the same
            places = [columns[name] for name in REQUIRED]
            for number, cells in sheet.rows[:30]:
                if all(at < len(cells) and heading(cells[at].text) in ("device", "port") for at in places):
                    header = number
                    break
        words = next((cells for number, cells in sheet.rows if number == header), ())
        headers = {name: words[at].text for name, at in columns.items() if at < len(words)}
        return Layout(columns, header, headers) if sheet.rows else None

    def _show(self, sheet: Sheet, layout: Layout) -> None:
        """Note what was understood: rows, headers, each column with its first values."""
        called, rows = f"{self.file}: {_called(sheet)}", self._rows(sheet, layout)
        span = f"rows {rows[0][0]}-{rows[-1][0]}" if rows else "no rows"
        self.notes.append(f"{called}: {span}, " + (f"headers in row {layout.header}" if layout.header else "no headers"))
        for name, at in sorted(layout.columns.items(), key=lambda item: item[1]):
            shown = ", ".join(printable(text, 30) for text in values(rows, at)[:3]) or "blank"
            title = f" '{printable(layout.headers[name], 30)}'" if layout.headers.get(name) else ""
            self.notes.append(f"{called}: column {letter(at)}{title} is {name}: {shown}")
        width = max((len(cells) for _, cells in rows), default=0)
        unused = [letter(at) for at in range(width) if at not in layout.columns.values() and values(rows, at)]
        if unused:
            self.notes.append(f"{called}: not used: column {', '.join(unused)}")

    def _rows(self, sheet: Sheet, layout: Layout) -> list[tuple[int, tuple[Cell, ...]]]:
        first, last = self.choices.rows
        words = next((cells for number, cells in sheet.rows if number == layout.header), None)
        first = first or (layout.header or 0) + 1
        return [(number, cells) for number, cells in sheet.rows if first <= number <= last and cells != words]

    # links

    def _links(self, sheet: Sheet, layout: Layout, several: bool) -> Iterator[PlanLink]:
        above: dict[str, dict[str, str]] = {"a": {}, "b": {}}
        before = 0
        for number, cells in self._rows(sheet, layout):
            if number != before + 1:
                above = {"a": {}, "b": {}}
            before = number
            row = Row(self.ledger, sheet, layout, number, cells)
            if not row.is_cable():
                self._remember(row, above)
                continue
            a, b = (row.end(side, above[side]) for side in "ab")
            if a is None or b is None:
                continue
            link = row.link(a, b, {"sheet": sheet.name} if several else {})
            if not row.failed and self._is_new(link, row):
                yield link

    @staticmethod
    def _remember(row: Row, above: dict[str, dict[str, str]]) -> None:
        """A rack in a row without a cable holds for the rows below it; a title begins a new block."""
        if sum(cell.text != "" for cell in row.cells) == 1:
            above["a"], above["b"] = {}, {}
            return
        for side in "ab":
            if (
                row.cell(f"{side}_rack").text
                and not row.cell(f"{side}_rack").trouble
                and not row.cell(f"{side}_position").trouble
            ):
                above[side] = {"rack": row.location(side)[0], "unit": "", "device": ""}

    def _is_new(self, link: PlanLink, row: Row) -> bool:
        """Take the two ports; what stands twice is noted, what contradicts is an error."""
        a, b = link.a, link.b
        if a.device == b.device:
            row.fail(f"both ends are on {a.device}", "b_device")
            return False
        pair, place = frozenset((a.place, b.place)), row.place("a_device")
        if pair in self.pairs:
            first, end = self.pairs[pair]
            text = "stands twice" if end.place == a.place else "stands twice, once from each end"
            self.ledger.remark(text, f"{place} and {first}")
            return False
        for end, column in ((a, "a_port"), (b, "b_port")):
            if end.place in self.ports:
                where, far = self.ports[end.place]
                row.fail(f"port {end} is already used at {where}, to {far}", column)
        if row.failed:
            return False
        self.pairs[pair] = (place, a)
        self.ports[a.place], self.ports[b.place] = (row.place("a_port"), b), (row.place("b_port"), a)
        return True

    # what all rows say together

    def _contradictions(self) -> None:
        for device, kinds in self.ledger.kinds.items():
            if len(kinds) > 1:
                message = f"{device} is read as a host at {kinds['host']} and as a switch at {kinds['switch']}"
                self.ledger.errors.append(PlanError(f"{message}: say which with hosts= or switches=", self.file))

    def _spellings(self) -> None:
        alike: dict[str, set[str]] = {}
        for name in self.ledger.names:
            alike.setdefault(plain(name), set()).add(name)
        for names in sorted(map(sorted, alike.values())):
            if len(names) > 1:
                told = f"{' and '.join(names)} are taken as different devices; the option devices says which there are"
                self.notes.append(f"{self.file}: {told}")
        unknown = sorted(self.ledger.names - self.choices.known) if self.choices.known else []
        if unknown:
            self.notes.append(f"{self.file}: not among the known devices: {_listed(unknown)}")

    def _devices(self) -> Iterator[ImportedDevice]:
        for name in sorted({device for device, _ in self.ports}):
            fact = {what: self.ledger.fact(name, what) for what in ("type", "rack", "position")}
            yield ImportedDevice(name, fact["type"], fact["rack"], fact["position"])


def _called(sheet: Sheet) -> str:
    return f"sheet '{printable(sheet.name, 40)}'" if sheet.name else "the table"


def _listed(places: Iterable[str]) -> str:
    texts = list(places)
    return ", ".join(texts[:LISTED]) + (f" and {len(texts) - LISTED} more" if len(texts) > LISTED else "")


FORMAT = PlanFormat(
    name="p2p",
    title="point-to-point spreadsheet (xlsx or CSV)",
    suffixes=(".xlsx", ".xlsm", ".csv"),
    sniff=sniff,
    read=read,
    note="One cable per row; columns are told from their place and content, or named with the option columns.",
    options=OPTIONS,
)
