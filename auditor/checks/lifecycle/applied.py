"""`lifecycle.unapplied`: what was configured, beside what the device says that it applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from auditor.address import Address, Layer
from auditor.checks.lifecycle import layer as layers
from auditor.facts import Buffer, BufferPool, ClassMap, DscpMap, Interface, PriorityGroup, QosPort, Queue, Row
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Gap,
    GapReason,
    Judgement,
    RuleContext,
    Severity,
    State,
    check,
    failed,
    passed,
    unseen,
)

COMPARED: Mapping[type[Row], tuple[str, ...]] = {
    Interface: ("enabled", "mtu", "speed", "fec"),
    PriorityGroup: (
        "lossless", "profile", "threshold_kind", "threshold", "size_bytes", "headroom_bytes", "xon_bytes", "pool",
    ),
    BufferPool: ("direction", "mode", "size_bytes", "shared_headroom_bytes"),
    QosPort: ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities"),
    DscpMap: ("traffic_class",),
    ClassMap: ("to",),
    Queue: (
        "scheduler", "weight", "buffer_profile", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability",
        "watchdog_enabled", "watchdog_detection_s", "watchdog_restoration_s", "watchdog_action",
    ),
    Buffer: ("model",),
}  # fmt: skip
"""Settings by table, the telling ones first. Names, lanes and what follows from another column are no settings."""

_READS = tuple(f"{row_type.TABLE}.{column}" for row_type, columns in COMPARED.items() for column in columns)
_ASIDE = ("interface.autoneg", "interface.lag", "system.booted_at")


@dataclass(frozen=True, slots=True)
class _Difference:
    """One setting that is configured one way and applied another (None: not at all)."""

    column: str
    configured: Cell
    applied: Cell

    @property
    def words(self) -> str:
        wanted, seen = layers.words(self.configured.value), layers.words(self.applied.value)
        return f"{self.column} {wanted} configured, {seen} applied"


@check(
    family="lifecycle",
    reads=(*_READS, *_ASIDE),
    optional=(*_READS, *_ASIDE),
    severity=Severity.ERROR,
    remedy="Look at the log of the daemon that carries the table over, and have it apply the setting: set the value once more, "
    "or reload the configuration in a maintenance window. On SONiC these are portmgrd and buffermgrd; a change of the buffer "
    "model or of a breakout needs a reload. Then look at the applied layer again.",
)
def unapplied(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """Every port, priority group and buffer pool runs with the very settings that its configuration holds.

    Compared are cells that both layers tell, row by row; what nobody configured has no wanted value and is not judged. On SONiC
    applied means APPL_DB or STATE_DB: what orchagent was told, not what the ASIC does. A table whose applied layer cannot be
    read, or was not, is not evaluated and says so; it never passes.

    Healthy and silent: the speed and FEC of a port that negotiates them, and FEC `auto`; the MTU of a member of an aggregate,
    which it takes from the aggregate; priority groups of ports that are administratively down, which lose their lossless profile
    or get one of size zero; sizes and profiles that the dynamic buffer model computes; rows that the device added by itself.
    A device that started less than ten minutes ago is not failed.

    Why it matters: everybody reads the configuration. A priority group that stayed without its profile after a breakout, or a
    static threshold that was passed on as a dynamic one, looks right there, and drops or never pauses under the first incast.
    """
    soon = layers.settling(state)
    for row_type in COMPARED:
        for judgement in _table(state, row_type):
            if judgement.deviation is not None and soon:
                table = row_type.TABLE
                yield unseen(judgement.object, Gap(state.device, table, "", GapReason.STALE, soon, Layer.APPLIED))
            else:
                yield judgement


def _table(state: State, row_type: type[Row]) -> Iterator[Judgement]:
    table = row_type.TABLE
    configured = layers.declared(state, row_type, Layer.CONFIGURED)
    columns = [name for name in COMPARED[row_type] if name in configured]
    if not columns:
        gap = layers.open_gap(state, table, Layer.CONFIGURED)
        if gap is not None:
            yield unseen(Address(table), gap)
        return
    if not layers.declared(state, row_type, Layer.APPLIED).intersection(columns):
        yield unseen(Address(table), layers.missing(state, Address(table), Layer.CONFIGURED, Layer.APPLIED, columns))
        return
    yield from _Comparison(state, row_type, columns).judge()


class _Comparison:
    """The rows of one table at both layers."""

    def __init__(self, state: State, row_type: type[Row], columns: Sequence[str]) -> None:
        self.state, self.table = state, row_type.TABLE
        self.configured = state.tables.get((row_type, Layer.CONFIGURED), {})
        self.applied = state.tables.get((row_type, Layer.APPLIED), {})
        told = layers.declared(state, row_type, Layer.APPLIED)
        gaps = [gap for gap in state.gaps if gap.reason is not GapReason.UNSUPPORTED and gap.table in ("*", self.table)]
        self.unread = [gap for gap in gaps if gap.layer in (None, Layer.CONFIGURED)]
        lost = [gap for gap in gaps if gap.layer in (None, Layer.APPLIED)]
        self.columns = [name for name in columns if name in told or any(name in gap.columns for gap in lost)]
        self.enabled = cache(self._enabled)

    def judge(self) -> Iterator[Judgement]:
        """One judgement for each configured row that has something to compare."""
        for key in sorted(self.configured):
            if self.table != "priority_group" or self.enabled(key[0]).value not in (False, ABSENT):
                yield from self._row(Address(self.table, key))

    def _enabled(self, port: str) -> Cell:
        """Whether a port is administratively up."""
        return self.state.cell(Address("interface", (port,), "enabled"))

    def _row(self, row: Address) -> Iterator[Judgement]:
        there = row.key in self.applied or self.state.has_row(replace(row, layer=Layer.APPLIED))
        wrong: list[_Difference] = []
        equal, hidden = 0, next((gap for gap in self.unread if self._touches(gap, row)), None)
        for column in self.columns:
            wanted = self._wanted(row, column)
            if not wanted.present:
                continue
            applied = self._cell(row, column, Layer.APPLIED)
            if applied.value == wanted.value:
                equal += 1
            elif there is False or (applied.known and not (applied.value is ABSENT and self.table == "interface")):
                # A table of ports prints N/A for more reasons than one; what a dump of buffers lacks was not applied.
                wrong.append(_Difference(column, wanted, applied))
            elif not applied.known and (gap := layers.gap_of(self.state, applied)).reason is not GapReason.UNSUPPORTED:
                hidden = gap
        if wrong and self.table == "priority_group" and not (enabled := self.enabled(row.key[0])).known:
            yield unseen(row, layers.gap_of(self.state, enabled))
        elif wrong:
            yield failed(row, self._deviation(row, wrong, there is not False))
        elif there is None:
            yield unseen(row, self.state.gap_at(self.table, Layer.APPLIED, row.key, None))
        elif hidden is not None:
            yield unseen(row, hidden)
        elif equal:
            yield passed(row)

    def _touches(self, gap: Gap, row: Address) -> bool:
        """Whether a gap hides a configured setting of this row."""
        return any(gap.covers(self.table, Layer.CONFIGURED, row.key, column) for column in self.columns)

    def _cell(self, row: Address, column: str, layer: Layer) -> Cell:
        """As `State.cell`, without its search where there is a value."""
        rows = self.configured if layer is Layer.CONFIGURED else self.applied
        value = getattr(rows.get(row.key), column, None)
        address = replace(row, column=column, layer=layer)
        return self.state.cell(address) if value is None else Cell(address, value, layer)

    def _wanted(self, row: Address, column: str) -> Cell:
        """The configured cell; without value where nothing is configured, or the applied one may well be another."""
        address = replace(row, column=column, layer=Layer.CONFIGURED)
        value = getattr(self.configured[row.key], column)
        if row.table != "interface":
            return Cell(address, value, Layer.CONFIGURED)
        if column in ("speed", "fec") and (value == "auto" or self._negotiates(row)):
            return Cell(address, None)
        lag = getattr(self.configured[row.key], "lag", None)
        if column == "mtu" and lag is not None:
            # A member takes its MTU from the aggregate (SONiC: teammgr, addLagMember).
            return self.state.cell(replace(address, key=(lag,)))
        return Cell(address, value, Layer.CONFIGURED)

    def _negotiates(self, row: Address) -> bool:
        return any(getattr(rows.get(row.key), "autoneg", None) for rows in (self.configured, self.applied))

    def _deviation(self, row: Address, wrong: list[_Difference], there: bool) -> Deviation:
        named = wrong if there else wrong[:2]
        expected = ", ".join(f"{item.column} {layers.words(item.configured.value)}" for item in named)
        observed = ", ".join(f"{item.column} {layers.words(item.applied.value)}" for item in wrong)
        sayings = [item.words for item in wrong if item.column not in ("threshold_kind", "threshold")]
        if any(item.column == "threshold_kind" for item in wrong):
            sayings.insert(0, f"the applied threshold type differs from the configured one: {self._threshold(row)}")
        elif len(sayings) < len(wrong):
            sayings += [item.words for item in wrong if item.column == "threshold"]
        message = f"{row}: {'; '.join(sayings)}"
        if not there:
            observed = "no such row"
            message = f"{row} is configured ({expected}), and the applied layer has no such row"
        cells = [cell for item in wrong for cell in (item.applied, item.configured)]
        return Deviation(
            expected=expected,
            observed=observed,
            message=message,
            spots=tuple(layers.spot(self.state, cell) for cell in (cells if there else cells[:2])),
            shared=self._profile(row, wrong),
        )

    def _threshold(self, row: Address) -> str:
        """`static 9497600 configured, dynamic 0.5 applied`: kind and number at both layers."""
        said = []
        for layer in (Layer.CONFIGURED, Layer.APPLIED):
            cells = [self._cell(row, name, layer) for name in ("threshold_kind", "threshold")]
            said.append(" ".join([*(layers.words(cell.value) for cell in cells if cell.present), str(layer)]))
        return ", ".join(said)

    def _profile(self, row: Address, wrong: list[_Difference]) -> Address | None:
        """The buffer profile that a priority group takes its fault from: the same name at both layers, with other content."""
        if self.table != "priority_group" or {"lossless", "profile"}.intersection(item.column for item in wrong):
            return None
        name = self._cell(row, "profile", Layer.CONFIGURED).value
        same = isinstance(name, str) and name == self._cell(row, "profile", Layer.APPLIED).value
        return Address("buffer_profile", (str(name),)) if same else None
