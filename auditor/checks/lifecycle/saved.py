"""`lifecycle.unsaved`: the running configuration beside the file that the next reload loads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from auditor.address import Address, Layer
from auditor.checks.lifecycle import layer as layers
from auditor.facts import (
    Buffer,
    BufferPool,
    ClassMap,
    ConfigFile,
    DscpMap,
    Interface,
    PriorityGroup,
    QosPort,
    Queue,
    Row,
    System,
)
from auditor.model import (
    Deviation,
    Gap,
    GapReason,
    Judgement,
    RuleContext,
    Severity,
    Spot,
    State,
    check,
    failed,
    passed,
    unseen,
)

COMPARED: Mapping[type[Row], tuple[str, ...]] = {
    System: ("hostname", "hardware_model"),
    Interface: (
        "enabled", "mtu", "speed", "fec", "autoneg", "alias", "lanes", "lag", "cable_length_m", "description",
    ),
    QosPort: ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities"),
    DscpMap: ("traffic_class",),
    ClassMap: ("to",),
    Queue: (
        "scheduler", "weight", "buffer_profile", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability",
        "watchdog_enabled", "watchdog_detection_s", "watchdog_restoration_s", "watchdog_action",
    ),
    PriorityGroup: ("profile", "threshold_kind", "threshold", "size_bytes", "headroom_bytes", "xon_bytes", "pool"),
    Buffer: ("model", "ingress_pools"),
    BufferPool: ("direction", "mode", "size_bytes", "shared_headroom_bytes"),
}  # fmt: skip
"""Settings by table. What follows from others (a breakout parent, whether a group is lossless) is left out."""

GENERATED = re.compile(r"pg_lossless_.*")
"""Profiles that SONiC makes by itself from speed and cable length, and writes into the running configuration."""

SHOWN = 8
"""Differences that a message lists; the number of all stands before them."""

_ASIC = re.compile(r"(?:^|:)(asic\d+)/")
_READS = tuple(f"{row_type.TABLE}.{column}" for row_type, columns in COMPARED.items() for column in columns)
_FILE = ("config_file.exists", "config_file.parses")


@check(
    family="lifecycle",
    reads=(*_FILE, *_READS),
    optional=(*_FILE, *_READS),
    severity=Severity.WARNING,
    remedy="If the running configuration is the wanted one, save it (SONiC: config save); if not, bring it back first. A saved "
    "file that is missing or broken has to be written before the device is started or reloaded again.",
)
def unsaved(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """The saved configuration file is there, can be read, and holds the running settings: the next reload changes nothing.

    A file that is missing or cannot be parsed is an error; one that differs a warning, with the cells that differ. Compared are
    settings that both the running configuration and the file tell. Priority groups with a profile that the device makes by itself
    from speed and cable length are not: it makes them again. On a device with several ASICs the ports are saved in files of
    their own, so there this file is not evaluated beyond whether it is there and can be read.

    Why it matters: a fix that was typed and not saved is gone with the next reload, months later and on one leaf of many. The
    fabric then has a lossy hop that nobody touched.
    """
    files = state.tables.get((ConfigFile, Layer.SAVED), {})
    if not files:
        gap = layers.open_gap(state, ConfigFile.TABLE, Layer.SAVED)
        if gap is not None:
            yield unseen(Address(ConfigFile.TABLE), gap)
    for key in sorted(files):
        yield _file(state, Address(ConfigFile.TABLE, key))


def _file(state: State, row: Address) -> Judgement:
    name = row.key[0]
    for column, wrong in (("exists", "is missing"), ("parses", "cannot be parsed")):
        cell = state.cell(replace(row, column=column, layer=Layer.SAVED))
        if not cell.known:
            return unseen(row, layers.gap_of(state, cell))
        if cell.value is not True:
            message = f"{name} {wrong}: the next reload does not bring the running configuration back"
            spots = (layers.spot(state, cell),)
            return failed(row, Deviation("a saved file that can be loaded", wrong, message, spots, severity=Severity.ERROR))
    comparison = _Comparison(state)
    if comparison.found:
        return failed(row, comparison.deviation(name))
    if comparison.hidden is not None:
        return unseen(row, comparison.hidden)
    return passed(row)


@dataclass(frozen=True, slots=True)
class _Difference:
    """One setting in which a row differs; without `column`, a row that only one of them has."""

    row: Address
    column: str
    running: object
    saved: object


class _Comparison:
    """All settings that the running configuration and the saved file both tell. `hidden`: why something was not compared."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.found: list[_Difference] = []
        self.hidden: Gap | None = None
        asics = sorted({asic for row_type in COMPARED for key in self._keys(row_type) for asic in _asics(key)})
        if asics:
            words = f"what belongs to {', '.join(asics)} is saved in files of its own, which are not read"
            self.hidden = Gap(state.device, ConfigFile.TABLE, "", GapReason.UNSUPPORTED, words, Layer.SAVED)
            return
        for row_type, columns in COMPARED.items():
            running, saved = (layers.declared(state, row_type, layer) for layer in (Layer.CONFIGURED, Layer.SAVED))
            self.hidden = self.hidden or layers.open_gap(state, row_type.TABLE, Layer.CONFIGURED, Layer.SAVED)
            both = [name for name in columns if name in running and name in saved]
            if both:
                self._table(row_type, both)
        if not any(layers.declared(state, row_type, Layer.CONFIGURED) for row_type in COMPARED):
            self.hidden = self.hidden or layers.missing(state, Address(ConfigFile.TABLE), Layer.SAVED, Layer.CONFIGURED)

    def _keys(self, row_type: type[Row]) -> set[tuple[str, ...]]:
        tables = (self.state.tables.get((row_type, layer), {}) for layer in (Layer.CONFIGURED, Layer.SAVED))
        return {key for table in tables for key in table}

    def _table(self, row_type: type[Row], columns: list[str]) -> None:
        running, saved = (self.state.tables.get((row_type, layer), {}) for layer in (Layer.CONFIGURED, Layer.SAVED))
        for key in sorted(self._keys(row_type)):
            if _is_generated(running.get(key), saved.get(key)):
                continue
            row = Address(row_type.TABLE, key)
            if key in running and key in saved:
                for column in columns:
                    self._cell(row, column, getattr(running[key], column), getattr(saved[key], column))
            elif self.state.has_row(replace(row, layer=Layer.SAVED if key in running else Layer.CONFIGURED)) is False:
                self.found.append(_Difference(row, "", key in running or None, key in saved or None))

    def _cell(self, row: Address, column: str, running: object, saved: object) -> None:
        if running == saved:
            return
        lacks = Layer.CONFIGURED if running is None else Layer.SAVED if saved is None else None
        if lacks is None or self.state.cell(replace(row, column=column, layer=lacks)).known:
            self.found.append(_Difference(row, column, running, saved))

    def deviation(self, name: str) -> Deviation:
        """The finding of a file that differs."""
        lines = self._lines()
        shown = lines[:SHOWN] + ([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])
        count = f"{len(self.found)} difference{'s' if len(self.found) > 1 else ''}"
        first = self.found[0]
        column = first.column or COMPARED[_row_type(first.row)][0]
        places = [replace(first.row, column=column, layer=layer) for layer in (Layer.SAVED, Layer.CONFIGURED)]
        return Deviation(
            expected="the running settings",
            observed=count,
            message=f"{name} differs from the running configuration ({count}): {'; '.join(shown)}",
            spots=tuple(Spot(self.state.device, place) for place in places),
        )

    def _lines(self) -> list[str]:
        """The differences in words, those alike on several rows together."""
        groups: dict[tuple[str, str, object, object], list[Address]] = {}
        for item in self.found:
            groups.setdefault((item.row.table, item.column, item.running, item.saved), []).append(item.row)
        lines = []
        for (_, column, running, saved), rows in groups.items():
            more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            if column:
                said = f"{rows[0]}.{column}{more}: {layers.words(running)} running, {layers.words(saved)} saved"
            else:
                said = f"{rows[0]}{more}: only {'running' if running else 'saved'}"
            lines.append(said)
        return lines


def _row_type(row: Address) -> type[Row]:
    return next(row_type for row_type in COMPARED if row.table == row_type.TABLE)


def _asics(key: tuple[str, ...]) -> list[str]:
    """The ASICs that the names in a key carry: `asic0/Ethernet-BP4`."""
    return [found.group(1) for part in key if (found := _ASIC.search(part)) is not None]


def _is_generated(*rows: Row | None) -> bool:
    """Whether what there is of a priority group has a profile that the device makes by itself."""
    there = [row for row in rows if row is not None]
    return all(isinstance(row, PriorityGroup) and GENERATED.fullmatch(row.profile or "") is not None for row in there)
