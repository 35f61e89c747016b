"""What a device says of every attribute in which it should be like its peers: emitted by its job, compared in `peers`.

An attribute pools the rows that should be alike: ports of the same port groups, adapters with the same parameter-set id. Its
value is the set of their values, so a device with two kinds of ports is like another one that has both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice

from auditor.address import Address, Layer
from auditor.baseline.operators import shown
from auditor.canonical import printable
from auditor.checks import rules
from auditor.evaluate.device import lines
from auditor.facts import TABLES, Firmware, NcclEnv, NcclPath, NcclTopology, Pci, RdmaPort, Row, schema
from auditor.model import Absent, Baseline, Cell, Fact, Gap, GapReason, PeerFact, PeerGroup, Result, RuleKind, State
from auditor.plan.groups import IN_USE
from auditor.topology.places import NETWORK, is_gpu

CELLS = 5
"""Distinct values of one attribute on one device of which a cell travels along."""

NEAREST = 32
"""Pairs of a GPU and a nearest port of which a cell travels with a topology."""

LONG = 160
"""A longer value travels as its first characters and a digest."""

_BESIDE = ("lifecycle", "collection")
"""Families whose rules compare layers or mirror gaps: they judge no value."""

_WITHIN = ("host.numa_mismatch", "host.pcie_degraded")
"""Rules that compare a value with another one of the same host: one that passes says nothing of what is usual."""

_OF_THE_OS = ("system.kernel", "system.image_id")
"""Columns that come with the operating system: compared among devices with the same version of it."""

_NEAREST = "nccl_path.nearest"
"""One attribute for the whole host, which GPU is nearest to which ports; a topology that was dumped says it with all the rest."""

_OF_ACTIVE = ("rdma_port.active_mtu", "rdma_port.rate")
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_TRAFFIC_CLASSES = ("NCCL_IB_TC", "NCCL_GIN_IB_TC")
_OWN_VARIABLES = ("NCCL_HOSTID", "NCCL_DEBUG_FILE", "NCCL_COMM_ID", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE")
"""Variables that name the host, or a file of its own."""


def emit(
    state: State,
    role: str,
    model: str,
    groups: Mapping[str, frozenset[str]],
    results: Iterable[Result],
    baselines: Iterable[Sequence[Baseline]],
) -> tuple[PeerFact, ...]:
    """What this device says of every attribute that no rule judged. `groups` are its port groups; `results` what its rules
    said, with the lines of `baselines` among them."""
    judged = _judged_cells(results, baselines)
    labels = _labels(groups)
    out: list[PeerFact] = []
    for row_type in TABLES.values():
        table = _Table(state, row_type, labels, groups.get(IN_USE, frozenset()), judged)
        for name, field in schema(row_type).columns.items():
            group = _group(field.info.peer, role, model)
            if group is not None:
                out.extend(table.tell(name, group))
    return tuple(out)


class _Table:
    """One table of one device, about to be told column by column."""

    def __init__(
        self,
        state: State,
        row_type: type[Row],
        labels: Mapping[str, str],
        planned: frozenset[str],
        judged: Mapping[str, set[str]],
    ) -> None:
        self.state, self.row_type, self.labels, self.planned, self.judged = state, row_type, labels, planned, judged
        shape = schema(row_type)
        self.table, self.port_key, self.port_column = row_type.TABLE, shape.port_key, shape.port_column
        self.port_at = 0 if shape.port_key is None else list(shape.keys).index(shape.port_key)
        self._rows: dict[Layer, list[_Placed]] = {}

    def tell(self, name: str, group: PeerGroup) -> Iterator[PeerFact]:
        """What the rows say in one column, attribute by attribute."""
        full, layer = f"{self.table}.{name}", self.state.layer_of(self.row_type, name)
        hiding = _hiding(self.state, self.table, name, layer)
        if hiding is not None:
            yield PeerFact(group, "", full, None, (Fact(Address(self.table), None, gap=hiding),))
        if layer is None or hiding is not None or (full == _NEAREST and self.state.layer_of(NcclTopology, "fingerprint_shape")):
            return
        pools: dict[str, dict[str, Fact]] = defaultdict(dict)
        unknown: dict[str, Fact] = {}
        known: set[tuple[str, object]] = set()
        across, of_the_os = full in _across(), full in _OF_THE_OS
        for placed in self.rows(layer):
            if name in placed.judged or (across and placed.planned) or (placed.idle and full in _OF_ACTIVE):
                continue
            key, value = placed.key, getattr(placed.row, name)
            place = f"{placed.place}[{self._system()}]" if of_the_os else placed.place
            if full == _NEAREST and value is False:
                continue
            if value is not None and full != _NEAREST:
                if (place, value) in known:
                    continue
                known.add((place, value))
            cell = self.state.cell(Address(self.table, key, name))
            if cell.value is not None:
                pools[place][canonical(full, key, cell.value)] = _fact(cell)
            elif cell.gap is None or cell.gap.reason is not GapReason.UNSUPPORTED:
                unknown.setdefault(place, _fact(cell))
        for place in sorted({*(place for place in pools if pools[place]), *unknown}):
            address = f"{place}.{name}"
            if place in unknown:
                yield PeerFact(group, address, full, None, (unknown[place],))
            else:
                texts = sorted(pools[place])
                cells = tuple(pools[place][text] for text in texts[:CELLS])
                words = self._words(name, layer, texts)
                yield PeerFact(group, address, full, _short(", ".join(texts)), (*cells, *self._beside()), words)

    def _words(self, name: str, layer: Layer, texts: Sequence[str]) -> tuple[str, ...]:
        """What a hash stands for, from the column that says it; of the nearest ports all pairs."""
        column = schema(self.row_type).columns[name].info.words
        if self.row_type is NcclPath:
            return tuple(texts)
        return next((tuple(getattr(placed.row, column) or ()) for placed in self.rows(layer)), ()) if column else ()

    def _beside(self) -> Iterator[Fact]:
        """Cells that show what a topology's hash stands for: which ports are nearest to which GPU."""
        if self.row_type is NcclTopology:
            cells = [self.state.cell(Address(NcclPath.TABLE, key, "nearest")) for key in self.state.keys(NcclPath, "nearest")]
            yield from islice((_fact(cell) for cell in cells if cell.value is True), NEAREST)

    def rows(self, layer: Layer) -> list[_Placed]:
        """The rows of a layer that belong to some attribute."""
        if layer not in self._rows:
            found = []
            for key, row in self.state.tables.get((self.row_type, layer), {}).items():
                port = self._port(row)
                place = self._place(row, key, port)
                if place is not None:
                    judged: Collection[str] = self.judged.get(f"{self.state.device}:{Address(self.table, key)}", frozenset())
                    idle = isinstance(row, RdmaPort) and row.state != "active"
                    found.append(_Placed(key, row, place, judged, port in self.planned, idle))
            self._rows[layer] = found
        return self._rows[layer]

    def _system(self) -> str:
        """The version of the operating system, in the form of a key; empty where it is not known."""
        version = self.state.cell(Address("system", (), "os_version")).value
        return printable(version, 80) if isinstance(version, str) else ""

    def _port(self, row: Row) -> str | None:
        """The interface that a row belongs to; None in tables that know no ports, empty where it is not known."""
        if self.port_key is not None:
            return str(getattr(row, self.port_key))
        if self.port_column is not None:
            return getattr(row, self.port_column) or self.state.port_of(self.table, row.key) or ""
        return None

    def _place(self, row: Row, found: tuple[str, ...], port: str | None) -> str | None:
        """The attribute that a row belongs to, without column; None: it is not compared."""
        key = list(found)
        if port is not None:
            if port in self.labels:
                label = "@" + self.labels[port]
            elif isinstance(row, RdmaPort) and not self.labels:  # no plan: ports of one rate stand in for a port group
                label = f"{row.rate} bit/s"
            else:
                return None
            key = [*key[: self.port_at], label, *(key[self.port_at + 1 :] if self.port_key is not None else [])]
        elif isinstance(row, Firmware):
            if row.component.startswith("optic."):
                return None
            key = [_PCI.sub("*", row.component), *([row.psid] if row.psid else [])]
        elif isinstance(row, Pci):  # machines of one model have the same card at the same address
            if not is_gpu(row.class_code, row.vendor_id) and (row.class_code or 0) >> 8 != NETWORK:
                return None
        elif isinstance(row, NcclPath):
            key = []
        elif isinstance(row, NcclEnv):
            if row.variable in _OWN_VARIABLES:
                return None
        else:
            key = ["*" if _PCI.fullmatch(part) else part for part in key]
        text = ",".join(printable(part, 80) for part in key)
        return f"{self.table}[{text}]" if key else self.table


@dataclass(frozen=True, slots=True)
class _Placed:
    """A row and the attribute it belongs to, without column. `judged`: its columns that a rule judged."""

    key: tuple[str, ...]
    row: Row
    place: str
    judged: Collection[str]
    planned: bool
    idle: bool


@cache
def _across() -> frozenset[str]:
    """Columns that a rule compares across every planned cable."""
    return frozenset(read for rule in rules().values() if rule.kind is RuleKind.LINK for read in rule.reads)


def _group(kind: str, role: str, model: str) -> PeerGroup | None:
    """The group of a device; None where the column is not compared, or the device cannot be placed."""
    if kind == "model":
        return PeerGroup("model", model=model) if model else None
    if kind == "role":
        return PeerGroup("role", role, model) if role else None
    return PeerGroup("fleet") if kind == "fleet" else None


def _labels(groups: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The groups of every port that has some, in one word: `compute+host_facing`."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(groups):
        for port in groups[name]:
            found[port].append(name)
    return {port: "+".join([name for name in names if name != IN_USE] or names) for port, names in found.items()}


def _judged_cells(results: Iterable[Result], baselines: Iterable[Sequence[Baseline]]) -> dict[str, set[str]]:
    """The columns of each row (as text) that some rule called right or wrong. What a rule may go without it judges only where
    it calls the row wrong."""
    columns: dict[str, set[tuple[str, str]]] = defaultdict(set)
    beside: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for several in baselines:
        for line in lines(several):
            columns[line.id].add((line.at.table, str(line.at.column)))
    for rule in rules().values():
        if rule.family not in _BESIDE and rule.kind is RuleKind.DEVICE:
            for read in set(rule.reads):
                table, _, name = read.partition(".")
                (beside if read in rule.optional or rule.id in _WITHIN else columns)[rule.id].add((table, name))
    judged: dict[str, set[str]] = defaultdict(set)
    for result in results:
        known = columns.get(result.rule, set())
        wrong = known | beside.get(result.rule, set())
        for texts, pairs in ((result.passed, known), (result.failed, wrong)):
            for text in texts:
                table = text[text.index(":") + 1 :].partition("[")[0] if ":" in text else ""
                judged[text].update(name for each, name in pairs if each == table)
    return judged


def _hiding(state: State, table: str, column: str, layer: Layer | None) -> Gap | None:
    """The gap that hides rows or all cells of a column; none where the platform cannot show it at all."""
    if layer is None:
        gap = state.gap_at(table, None, (), column)
        return None if gap.reason is GapReason.UNSUPPORTED else gap
    return next(
        (
            gap
            for gap in state.gaps
            if not gap.key and gap.reason is not GapReason.UNSUPPORTED and gap.covers(table, layer, (), column)
        ),
        None,
    )


def canonical(column: str, key: tuple[str, ...], value: object) -> str:
    """A cell in the form in which peers are compared: a traffic class by its DSCP, a list of adapters in order."""
    if column == _NEAREST:
        return printable(f"GPU {key[0]}: {key[1]}", 80)
    if isinstance(value, int) and column in ("rdma_port.global_tclass", "rdma_port.rdma_tos"):
        return f"DSCP {value // 4}"
    if column == "nccl_env.value" and isinstance(value, str):
        if key[-1] in _TRAFFIC_CLASSES and re.fullmatch(r"\s*(\d{1,3}|0[xX][0-9a-fA-F]{1,2})\s*", value):
            return f"DSCP {int(value, 0 if 'x' in value.lower() else 10) // 4}"
        mark, names = re.match(r"([=^]*)(.*)", value, re.DOTALL).groups()  # type: ignore[union-attr]
        return printable(str(mark) + ",".join(sorted(part.strip() for part in names.split(","))), len(value) * 10)
    if isinstance(value, str):
        return printable(value.strip(), len(value) * 10)
    if isinstance(value, Absent | int | float | bool | tuple):
        return shown(value)
    return str(value)


def _short(text: str) -> str:
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return text if len(text) <= LONG else f"{text[: LONG - 20]}… ({digest})"


def _fact(cell: Cell) -> Fact:
    origin = cell.origin
    places = ("", "", "") if origin is None else (origin.platform, origin.source, origin.digest)
    return Fact(cell.address, cell.value, cell.layer, *places, gap=cell.gap)
