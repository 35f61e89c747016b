"""The `show` tables of SONiC, which Python's tabulate prints: ports, modules, FEC, LLDP, watchdog, PFC, component firmware.

They are read by their line of dashes (`dialects.ruler`), not by templates: cells are empty (a neighbour without name), hold
blanks (`QSFP+ or later`), and the width and side of a column change with its content and its release.

Every one of them can stop in the middle without an exit status that says so. A row that does not reach its last column, or a
line without its end, ends what can be concluded: that row is not read, and the rest of the table is a gap. Where a table of ports
stops between two lines only the ports that another answer lists can tell (`Platform.censuses`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from auditor import canonical
from auditor.canonical import printable
from auditor.dialects.ruler import RulerRow, RulerTable, tables
from auditor.facts import Firmware, Interface, Neighbour, Optic, QosPort, Queue, Row
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.sonic.cells import Cells, is_up, never, not_given, whole_number
from auditor.platforms.sonic.config_db import port_name
from auditor.platforms.sonic.qos import priorities

_NAME = re.compile(r"[A-Za-z][\w./:-]{0,63}")
_COPPER = "RJ45"
"""The type of a port without a cage, which intfutil knows from the platform and not from STATE_DB."""
_MANAGEMENT = "the management port is not in this table"
_ASICS = "on a box with several ASICs this table does not say to which one a port belongs"


def one_table(body: str, *columns: str) -> RulerTable:
    """The one table with these columns. Raises ValueError when it is not there."""
    found = [table for table in tables(body) if set(columns) <= set(table.headers)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} tables with the columns {', '.join(columns)}, not one")
    return found[0]


def port_rows(table: RulerTable, key: str, last: str, row_type: type[Row]) -> Iterator[tuple[str, Mapping[str, str]] | Unread]:
    """Name and cells of each whole row; an Unread where a row is broken, or where it breaks off."""
    for row in table.rows:
        if not row.ended:
            yield broken_off(row_type, row)
        elif row.cells is None:
            yield Unread(row_type, detail=does_not_fit(row))
        elif last not in row.cells:
            yield broken_off(row_type, row)
        elif not _NAME.fullmatch(row.cells[key]):
            yield Unread(row_type, detail=f"line {row.line}: {printable(row.cells[key], 40)!r} is no name of a port")
        else:
            yield row.cells[key], row.cells


def does_not_fit(row: RulerRow) -> str:
    """In words: the text of this row does not stand under the columns."""
    return f"line {row.line} does not fit under the columns: {printable(row.text, 80)!r}"


def broken_off(row_type: type[Row], row: RulerRow) -> Unread:
    """The rest of the table is unknown behind a row that stops before its last column."""
    return Unread(row_type, reason=GapReason.TRUNCATED, detail=f"line {row.line} breaks off: {printable(row.text, 80)!r}")


def interfaces_status(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces status`: APPL_DB PORT_TABLE and LAG_TABLE, and the negotiated speed of ports that are up (STATE_DB).

    Modules are those of the column Type. The FEC column is left to `show interfaces fec status`, which knows the operational
    mode; VLAN and aggregate come from CONFIG_DB, and so does the MTU of an aggregate, which is therefore not known at this
    layer.
    """
    table = one_table(body, "Interface", "Speed", "MTU", "Oper", "Admin")
    for row_type in (Interface, Optic):
        yield from _no_ports(table, row_type)
    found = list(port_rows(table, "Interface", table.headers[-1], Interface))
    kinds = {item[1].get("Type", "") for item in found if not isinstance(item, Unread)}
    filled = any(kind != _COPPER and not canonical.nothing(kind) for kind in kinds)
    for item in found:
        if isinstance(item, Unread):
            yield item
            yield replace(item, row_type=Optic)
            continue
        name, row = item
        if name.startswith("Ethernet-"):
            for row_type in (Interface, Optic):
                yield Unread(row_type, reason=GapReason.UNSUPPORTED, detail=_ASICS)
            continue
        if not name.startswith("PortChannel"):
            yield _module(name, row, filled)
        cells = Cells(Interface, name)
        cells.read("enabled", row["Admin"], is_up)
        cells.read("up", row["Oper"], is_up)
        cells.read("speed", row["Speed"], canonical.speed)
        cells.read("alias", row.get("Alias"), str)
        cells.read("lanes", row.get("Lanes"), str)
        if name.startswith("PortChannel"):
            detail = "the table takes the MTU of an aggregate from CONFIG_DB"
            cells.unread.append(Unread(Interface, cells.key, "mtu", GapReason.UNSUPPORTED, detail))
        else:
            cells.read("mtu", row["MTU"], whole_number)
        cells.read("mtu_shown", row["MTU"], str)
        yield from cells.rows()


def _module(name: str, row: Mapping[str, str], filled: bool) -> Normalised:
    """The module of a port: the type in its entry of STATE_DB, `N/A` where it has no entry (`port_optics_get` of intfutil), by
    which `show interfaces transceiver presence` goes too. Nothing can be said where nobody fills that table (`filled`), or of
    a port that is up without an entry.
    """
    kind = row.get("Type")
    if kind is None:
        return Unread(Optic, (name,), reason=GapReason.NOT_COLLECTED, detail="this table has no column Type")
    if kind == _COPPER:
        return Unread(Optic, (name,), reason=GapReason.UNSUPPORTED, detail="a copper port has no cage")
    if not canonical.nothing(kind):
        return Optic(port=name, present=True, type=kind)
    if row["Oper"] != "down":
        return Unread(Optic, (name,), reason=GapReason.UNSUPPORTED, detail="no module is known of a port that is not down")
    return Optic(port=name, present=False) if filled else _no_modules(name)


def _no_modules(name: str) -> Unread:
    detail = "no module is known of any port: none is in, or nothing reads them (xcvrd)"
    return Unread(Optic, (name,), reason=GapReason.UNSUPPORTED, detail=detail)


def transceiver_presence(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces transceiver presence`: whether STATE_DB has an entry for the module of a front port."""
    table = one_table(body, "Port", "Presence")
    yield from _no_ports(table, Optic)
    found = list(port_rows(table, "Port", "Presence", Optic))
    filled = any(not isinstance(item, Unread) and item[1]["Presence"] == "Present" for item in found)
    for item in found:
        if isinstance(item, Unread):
            yield item
        elif item[0].startswith("Ethernet-"):
            yield Unread(Optic, reason=GapReason.UNSUPPORTED, detail=_ASICS)
        elif item[1]["Presence"] not in ("Present", "Not present"):
            yield Unread(Optic, (item[0],), "present", detail=f"neither there nor not: {item[1]['Presence'][:60]!r}")
        elif filled:
            yield Optic(port=item[0], present=item[1]["Presence"] == "Present")
        else:
            yield _no_modules(item[0])


def _no_ports(table: RulerTable, row_type: type[Row]) -> Iterator[Unread]:
    """What such a table never lists; and a switch without ports is no answer but a database that is not ready."""
    if not table.rows:
        yield Unread(row_type, reason=GapReason.TRUNCATED, detail="no port in the table")
    yield Unread(row_type, ("eth0",), reason=GapReason.UNSUPPORTED, detail=_MANAGEMENT)


def fec_status(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces fec status`: the operational mode (STATE_DB), of a port that is down the applied one (APPL_DB)."""
    table = one_table(body, "Interface", "FEC Oper", "FEC Admin")
    yield from _no_ports(table, Interface)
    for item in port_rows(table, "Interface", "FEC Admin", Interface):
        if isinstance(item, Unread):
            yield item
            continue
        name, row = item
        if name.startswith("Ethernet-"):
            yield Unread(Interface, reason=GapReason.UNSUPPORTED, detail=_ASICS)
            continue
        cells = Cells(Interface, name)
        cells.read("fec", row["FEC Admin"] if not_given(row["FEC Oper"]) else row["FEC Oper"], canonical.fec, not_given)
        yield from cells.rows()


def lldp_table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp table`: what lldpd heard, cut down to name, port id and description. Subtypes are not in it.

    A description of several lines goes on in rows without port. The last line counts the neighbours.
    """
    table = one_table(body, "LocalPort", "RemoteDevice", "RemotePortID", "RemotePortDescr")
    found: list[Cells] = []
    for row in table.rows:
        if not row.ended:
            yield broken_off(Neighbour, row)
        elif row.cells is None or not (row.cells.get("LocalPort") or row.cells.get("RemotePortDescr")):
            yield Unread(Neighbour, detail=does_not_fit(row))
        elif not row.cells["LocalPort"]:
            if found and "port_description" in found[-1].values:
                found[-1].values["port_description"] = f"{found[-1].values['port_description']} {row.cells['RemotePortDescr']}"
        elif not row.cells.get("RemotePortID"):
            yield broken_off(Neighbour, row)
        else:
            cells = Cells(Neighbour, row.cells["LocalPort"], row.cells["RemotePortID"])
            cells.read("system", row.cells["RemoteDevice"], str, not_given)
            cells.read("port_description", row.cells.get("RemotePortDescr"), str, not_given)
            found.append(cells)
    total = re.search(r"^Total entries displayed:\s+(\d{1,9})\s*$", body, re.MULTILINE)
    if total is None and found:
        found[-1].values.pop("port_description", None)  # its next lines may be missing
    if total is not None and int(total.group(1)) != len(found):
        detail = f"the table counts {total.group(1)} neighbours, {len(found)} were read"
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail=detail)
    for cells in found:
        yield from cells.rows()


def watchdog(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`pfcwd show config`: CONFIG_DB PFC_WD, by port. A port that is not listed has no watchdog on any queue.

    Which queues of a listed port are watched stands in PORT_QOS_MAP and not here: CONFIG_DB gives those cells, this table
    none. A table without rows is a whole answer: no queue is watched.
    """
    table = one_table(body, "PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME")
    if any(re.search(r" on asic\d+$", line.rstrip()) for line in table.before):
        yield Unread(Queue, reason=GapReason.UNSUPPORTED, detail=_ASICS)
        return
    watched: list[str] = []
    for item in port_rows(table, "PORT", table.headers[-1], Queue):
        if isinstance(item, Unread):
            yield item
        else:
            watched.append(item[0])
    if watched:
        detail = f"the table does not say which queues are watched on {len(watched)} ports ({watched[0]} to {watched[-1]})"
        yield Unread(Queue, reason=GapReason.UNSUPPORTED, detail=detail)


def watchdog_stats(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`pfcwd show stats`: COUNTERS_DB, the queues that ever had a storm or traffic counted by the watchdog.

    A queue in a storm has at least one storm counted, so a queue that is not listed is in none. `N/A`: not watched.
    """
    table = one_table(body, "QUEUE", "STATUS", "STORM DETECTED/RESTORED")
    for item in port_rows(table, "QUEUE", table.headers[-1], Queue):
        if isinstance(item, Unread):
            yield item
            continue
        port, separator, queue = item[0].partition(":")
        if port.startswith("Ethernet-"):
            yield Unread(Queue, reason=GapReason.UNSUPPORTED, detail=_ASICS)
        elif not separator or not re.fullmatch(r"\d{1,2}", queue):
            yield Unread(Queue, detail=f"{printable(item[0], 40)!r} is no queue of a port")
        else:
            cells = Cells(Queue, port, queue)
            cells.read("watchdog_state", item[1]["STATUS"], _watchdog_state)
            yield from cells.rows()


def _watchdog_state(raw: str) -> str:
    if raw not in ("operational", "stormed"):
        raise ValueError(f"neither operational nor stormed: {raw[:60]!r}")
    return raw


def pfc_priority(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show pfc priority`: CONFIG_DB PORT_QOS_MAP `pfc_enable`, one table per namespace. `N/A` and empty: no priority.

    The same row of the same database that the whole CONFIG_DB holds, so both sources agree.
    An empty last cell is not printed, so a last row without priorities may as well be a row cut short: it is unread.
    """
    found = [table for table in tables(body) if {"Interface", "Lossless priorities"} <= set(table.headers)]
    if not found:
        raise ValueError("no table with the columns Interface, Lossless priorities")
    last = found[-1].rows[-1].line if found[-1].rows else 0
    for table in found:
        spaces = [match.group(1) for match in map(re.compile(r"Namespace (asic\d+)\s*").fullmatch, table.before) if match]
        prefix = f"{spaces[-1]}/" if spaces else ""
        for row in table.rows:
            name = "" if row.cells is None else row.cells["Interface"]
            shown = None if row.cells is None else row.cells.get("Lossless priorities")
            if not row.ended or (shown is None and row.line == last):
                yield broken_off(QosPort, row)
            elif not _NAME.fullmatch(name):
                yield Unread(QosPort, detail=does_not_fit(row))
            elif name != "global":
                cells = Cells(QosPort, port_name(prefix, name))
                cells.read("pfc_priorities", "" if shown in (None, "N/A") else shown, priorities, never)
                yield from cells.rows()


def firmware(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show platform firmware status`: components of the chassis and its modules; empty cells repeat the row above.

    Names: `bios`, `bmc`, `cpld.1` for CPLD1, the others in lower case; of a module `line-card0.cpld.1`.
    """
    table = one_table(body, "Chassis", "Module", "Component", "Version")
    module = ""
    for row in table.rows:
        if not row.ended:
            yield broken_off(Firmware, row)
            continue
        if row.cells is None or not row.cells.get("Component"):
            yield Unread(Firmware, detail=does_not_fit(row))
            continue
        if "Version" not in row.cells:
            yield broken_off(Firmware, row)
            continue
        if row.cells["Module"]:
            module = "" if canonical.nothing(row.cells["Module"]) else f"{_component(row.cells['Module'])}."
        elif row.cells["Chassis"]:
            module = ""
        cells = Cells(Firmware, module + _component(row.cells["Component"]))
        cells.read("version", row.cells["Version"], str)
        yield from cells.rows()


def _component(word: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")
    return re.sub(r"^cpld-?(\d+)$", r"cpld.\1", name)
