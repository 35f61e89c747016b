"""What CONFIG_DB says about lossless Ethernet: maps and their ports, queues with ECN and the PFC watchdog.

Facts about SONiC that the code below relies on, with where they were read:

- A port trusts DSCP when a DSCP map is bound to it, 802.1p when a dot1p map is, and nothing otherwise ("To enable/disable
  trust DSCP, Map ID should be added/removed on port. Default no map", saiport.h, saiswitch.h). `PORT_QOS_MAP|global` binds
  the DSCP map of the whole switch (qosorch, handleGlobalQosMap), which ports without one of their own follow.
- `pfc_enable` absent, or no PORT_QOS_MAP row at all: no priority has PFC (qosorch starts from 0).
- Code points that a DSCP map does not list map to traffic class 0 ("Defaults: All Dot1p/DSCP maps to traffic class 0",
  saiqosmaps.h, SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST).
- The watchdog watches queue n for each n in `pfcwd_sw_enable` of a port with a PFC_WD row; the PFC-priority-to-queue map plays
  no part (pfcwdorch: `port.m_queue_ids[i]` for bit i). The field came with database version 3_0_5, whose migration copies
  `pfc_enable`; before it the watchdog took `pfc_enable`, since then an absent field means no queue (qosorch).
- A queue marks with ECN when its WRED profile does so for green, the colour of all traffic that no policer has coloured; without
  `ecn` it never does. A profile without `green_drop_probability` marks with 100 % (qosorch, WredMapHandler::addQosItem).
- PFC_WD times are milliseconds, the action is `drop` unless given, and a row without detection time is refused (pfcwdorch).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from auditor import canonical
from auditor.facts import ClassMap, DscpMap, QosPort, Queue
from auditor.model import Normalised, Unread
from auditor.platforms.sonic.cells import Cells, never, text, whole_number
from auditor.platforms.sonic.config_db import Database, numbers_of, port_keys, reference

_CLASS_MAPS = {
    "TC_TO_QUEUE_MAP": "tc_to_queue", "TC_TO_PRIORITY_GROUP_MAP": "tc_to_pg", "MAP_PFC_PRIORITY_TO_QUEUE": "pfc_to_queue",
}  # fmt: skip
_BINDINGS = {"tc_to_queue_map": "tc_to_queue", "tc_to_pg_map": "tc_to_pg", "pfc_to_queue_map": "pfc_to_queue"}
_SCHEDULERS = {"STRICT": "strict", "DWRR": "dwrr", "WRR": "wrr"}
_ACTIONS = ("drop", "forward", "alert")
_ECN = {
    "ecn_none": False, "ecn_green": True, "ecn_yellow": False, "ecn_red": False, "ecn_green_yellow": True, "ecn_green_red": True,
    "ecn_yellow_red": False, "ecn_all": True,
}  # fmt: skip
"""Whether green packets are marked, by what `ecn` of a WRED profile can be (qosorch, ecn_map)."""
_ECN_COLUMNS = ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability")


@lru_cache(maxsize=1024)
def priorities(raw: str) -> tuple[int, ...]:
    """Sorted priorities from `3,4` or an empty text; raises ValueError for a list that breaks off (`3,`) or goes beyond 7."""
    found = canonical.number_list(raw)
    if raw.strip().endswith(",") or any(priority > 7 for priority in found):
        raise ValueError(f"no list of priorities: {raw[:60]!r}")
    return found


def _within(most: int) -> Any:
    def convert(raw: str) -> int:
        number = whole_number(raw)
        if number > most:
            raise ValueError(f"{number} is more than {most}")
        return number

    return convert


def _bindings(database: Database) -> dict[str, Mapping[str, Any]]:
    """PORT_QOS_MAP by port, `global` apart; with an empty row for each front port that has none, when that can be known."""
    rows = {port: fields for key, fields in database.rows("PORT_QOS_MAP") for port in port_keys(key)}
    rows.pop("global", None)
    if database.holds("PORT_QOS_MAP"):
        for port, _ in database.rows("PORT"):
            rows.setdefault(port, {})
    return rows


def qos_ports(database: Database) -> Iterator[Normalised]:
    """Trust, bound maps and PFC of every front port."""
    switch_wide = dict(database.rows("PORT_QOS_MAP")).get("global", {}).get("dscp_to_tc_map")
    for port, fields in _bindings(database).items():
        cells = Cells(QosPort, database.port(port))
        dscp_map = fields.get("dscp_to_tc_map") or switch_wide
        cells.read("dscp_map", dscp_map, database.name)
        for field, column in _BINDINGS.items():
            cells.read(column, fields.get(field), database.name)
        trusts = (("dscp", dscp_map), ("pcp", fields.get("dot1p_to_tc_map")))
        cells.values["trust"] = tuple(word for word, bound in trusts if bound)
        cells.read("pfc_priorities", fields.get("pfc_enable", ""), priorities, lambda raw: raw == "N/A")
        yield from cells.rows()


def dscp_maps(database: Database) -> Iterator[Normalised]:
    """The 64 effective rows of every DSCP map."""
    for key, fields in database.rows("DSCP_TO_TC_MAP"):
        name = database.name(key)
        for dscp in (str(number) for number in range(64)):
            cells = Cells(DscpMap, name, dscp)
            cells.read("traffic_class", fields.get(dscp, "0"), _within(15), never)
            yield from cells.rows()
        for odd in fields.keys() - {str(number) for number in range(64)}:
            yield Unread(DscpMap, (name,), detail=f"{odd[:40]!r} is no DSCP")


def class_maps(database: Database) -> Iterator[Normalised]:
    """Rows of the maps between traffic classes, priorities, priority groups and queues, named `kind:name`."""
    for table, kind in _CLASS_MAPS.items():
        for key, fields in database.rows(table):
            for source, to in fields.items():
                cells = Cells(ClassMap, f"{kind}:{database.name(key)}", source)
                cells.values["kind"] = kind
                cells.read("to", to, _within(255))
                yield from cells.rows()


def queues(database: Database) -> Iterator[Normalised]:
    """Scheduler, ECN, buffer profile and PFC watchdog of every queue that has a row, has PFC, or is watched.

    Virtual output queues of a chassis (`Linecard1|Asic0|Ethernet0|3`) belong to ports of other cards and are left out.
    """
    found: defaultdict[str, dict[int, Cells]] = defaultdict(dict)

    def cells_of(port: str, queue: int) -> Cells:
        return found[port].setdefault(queue, Cells(Queue, database.port(port), str(queue)))

    fills: tuple[tuple[str, Callable[[Cells, Mapping[str, Any]], None]], ...] = (
        ("QUEUE", partial(_settle, dict(database.rows("SCHEDULER")), _wred_profiles(database))),
        ("BUFFER_QUEUE", lambda cells, fields: cells.read("buffer_profile", fields.get("profile"), database.name)),
    )
    for table, fill in fills:
        for key, fields in database.rows(table):
            ports, _, numbers = key.partition("|")
            if "|" in numbers:
                continue
            for port in port_keys(ports):
                try:
                    for queue in numbers_of(numbers):
                        fill(cells_of(port, queue), fields)
                except ValueError as error:
                    yield Unread(Queue, (database.port(port),), detail=f"{table} {key[:60]!r}: {error}")
    if database.holds("PFC_WD"):
        rows = {port: fields for key, fields in database.rows("PFC_WD") for port in port_keys(key) if port != "GLOBAL"}
        field = _watchdog_field(database)
        maps = dict(database.rows("MAP_PFC_PRIORITY_TO_QUEUE"))
        bindings = _bindings(database)
        for port in sorted(bindings.keys() | rows.keys() | found.keys()):
            binding = bindings.get(port, {})
            try:
                watched = _watched(binding, rows.get(port), field)
                for queue in watched | _paused(binding, maps):
                    cells_of(port, queue)
            except ValueError as error:
                yield Unread(Queue, (database.port(port),), detail=f"PFC watchdog: {error}")
                continue
            for queue, cells in found[port].items():
                _watch(cells, rows[port] if queue in watched else None)
    for by_queue in found.values():
        for cells in by_queue.values():
            if database.holds("QUEUE") and all(item.column != "ecn_enabled" for item in cells.unread):
                cells.values.setdefault("ecn_enabled", False)
            yield from cells.rows()


def _settle(
    schedulers: Mapping[str, Mapping[str, Any]], profiles: Mapping[str, Cells], cells: Cells, fields: Mapping[str, Any]
) -> None:
    """What a row of QUEUE refers to: its scheduler and its WRED profile."""
    _schedule(cells, fields.get("scheduler"), schedulers)
    bound = fields.get("wred_profile")
    if bound is None:
        return
    name = reference(text(bound))
    if name not in profiles:
        detail = f"WRED profile {name[:60]!r} is not in the database"
        cells.values["ecn_profile"] = name
        cells.unread += [Unread(Queue, cells.key, column, detail=detail) for column in _ECN_COLUMNS]
        return
    cells.values |= profiles[name].values
    cells.unread += [replace(item, key=cells.key) for item in profiles[name].unread]


def _wred_profiles(database: Database) -> dict[str, Cells]:
    """The ECN cells of a queue by the name of its WRED profile."""
    out = {}
    for name, fields in database.rows("WRED_PROFILE"):
        cells = out[name] = Cells(Queue, "", "")
        cells.values["ecn_profile"] = database.name(name)
        cells.read("ecn_enabled", fields.get("ecn", "ecn_none"), _marks_green)
        cells.read("ecn_min_bytes", fields.get("green_min_threshold"), whole_number)
        cells.read("ecn_max_bytes", fields.get("green_max_threshold"), whole_number)
        cells.read("ecn_probability", fields.get("green_drop_probability", "100"), _share)
    return out


def _marks_green(raw: str) -> bool:
    try:
        return _ECN[raw]
    except KeyError:
        raise ValueError(f"no ECN mode: {raw[:60]!r}") from None


def _share(percent: str) -> float:
    number: int = _within(100)(percent)
    return number / 100


def _schedule(cells: Cells, bound: Any, schedulers: Mapping[str, Mapping[str, Any]]) -> None:
    """Kind and weight of the scheduler that a queue refers to."""
    if bound is None:
        return
    name = reference(text(bound))
    if name not in schedulers:
        detail = f"scheduler {name[:60]!r} is not in the database"
        cells.unread += [Unread(Queue, cells.key, column, detail=detail) for column in ("scheduler", "weight")]
        return
    cells.read("scheduler", schedulers[name].get("type"), _scheduler)
    cells.read("weight", schedulers[name].get("weight"), _within(100))


def _scheduler(raw: str) -> str:
    try:
        return _SCHEDULERS[raw.upper()]
    except KeyError:
        raise ValueError(f"no scheduler: {raw[:60]!r}") from None


def _watchdog_field(database: Database) -> str:
    """The field of PORT_QOS_MAP that names the watched queues, by the age of the database."""
    if any("pfcwd_sw_enable" in fields for _, fields in database.rows("PORT_QOS_MAP")):
        return "pfcwd_sw_enable"
    version = str(dict(database.rows("VERSIONS")).get("DATABASE", {}).get("VERSION", ""))
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", version))
    # version_3_0_5 on the trunk, version_202305_01 on release branches
    return "pfcwd_sw_enable" if numbers >= (3, 0, 5) else "pfc_enable"


def _watched(binding: Mapping[str, Any], row: Mapping[str, Any] | None, field: str) -> set[int]:
    if row is None or not row.get("detection_time"):
        return set()
    return set(priorities(text(binding.get(field, ""))))


def _paused(binding: Mapping[str, Any], maps: Mapping[str, Mapping[str, Any]]) -> set[int]:
    """The queues that obey a pause: those of the port's PFC priorities, by its PFC-priority-to-queue map."""
    bound = maps.get(reference(text(binding.get("pfc_to_queue_map", ""))), {})
    on = priorities(text(binding.get("pfc_enable", "")))
    return {whole_number(text(bound.get(str(priority), priority))) for priority in on}


def _watch(cells: Cells, row: Mapping[str, Any] | None) -> None:
    cells.values["watchdog_enabled"] = row is not None
    if row is not None:
        cells.read("watchdog_detection_s", row.get("detection_time"), _seconds)
        cells.read("watchdog_restoration_s", row.get("restoration_time"), _seconds)
        cells.read("watchdog_action", row.get("action", "drop"), _action)


def _seconds(milliseconds: str) -> float:
    return whole_number(milliseconds) / 1000


def _action(raw: str) -> str:
    if raw.lower() not in _ACTIONS:
        raise ValueError(f"no watchdog action: {raw[:60]!r}")
    return raw.lower()
