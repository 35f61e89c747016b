"""CONFIG_DB as nested JSON: its shapes, its references and keys, and the facts about the device and its ports.

Spellings, old and new: references `[TABLE|x]` and `x`; keys `Ethernet0,Ethernet4|3-4` and `Ethernet0|3`. On a multi-ASIC
box the document holds one database per namespace (`localhost`, `asic0` …), and names of the latter carry the ASIC:
`asic0/Ethernet-BP4`, `asic0/AZURE`; front ports do not, since they have one name in the whole box. Migration files are flat
(`"PORT|Ethernet0": {…}`) and read alike.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from auditor import canonical
from auditor.facts import Buffer, BufferPool, ClassMap, DscpMap, Interface, PriorityGroup, QosPort, Queue, Row, System
from auditor.model import Normalised
from auditor.platforms.sonic.cells import Cells, is_on, is_up, not_given, whole_number

KNOWN: Mapping[str, tuple[type[Row], ...]] = {
    "DEVICE_METADATA": (System, Buffer), "PORT": (Interface, QosPort), "PORTCHANNEL": (Interface,), "MGMT_PORT": (Interface,),
    "PORTCHANNEL_MEMBER": (Interface,), "CABLE_LENGTH": (Interface,), "PORT_QOS_MAP": (QosPort, Queue), "QUEUE": (Queue,),
    "DSCP_TO_TC_MAP": (DscpMap,), "TC_TO_QUEUE_MAP": (ClassMap,), "TC_TO_PRIORITY_GROUP_MAP": (ClassMap,),
    "MAP_PFC_PRIORITY_TO_QUEUE": (ClassMap, Queue), "SCHEDULER": (Queue,), "PFC_WD": (Queue,), "VERSIONS": (Queue,),
    "WRED_PROFILE": (Queue,), "BUFFER_QUEUE": (Queue,), "BUFFER_PG": (PriorityGroup,),
    "BUFFER_POOL": (Buffer, BufferPool), "BUFFER_PROFILE": (Buffer, PriorityGroup),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": (Buffer, BufferPool),
}  # fmt: skip
"""The tables that are read, with the facts that come from each."""
KEYED = r"~(?:.*,)?{0}(?:,.*)?[|:](?:.*,)?(?:{1}|[0-{1}]-[{1}-9])(?:,.*)?"
"""A step of a JSON pointer to the row of a port and number, whose key may list ports and give a range: `Ethernet0|3-4`."""
_NAMESPACE = re.compile(r"asic\d+")


@dataclass(frozen=True, slots=True)
class Database:
    """The tables of one CONFIG_DB. `prefix` stands before every name of a namespace; empty on a single-ASIC box.

    `damaged`: tables with a row that is no object. Such rows are left out.
    """

    tables: Mapping[str, Mapping[str, Mapping[str, Any]]]
    prefix: str = ""
    damaged: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether this is a device's whole database, so that a table it lacks is empty: all of them hold DEVICE_METADATA."""
        return "DEVICE_METADATA" in self.tables

    def holds(self, *names: str) -> bool:
        """Whether one of these tables is there, or the database is complete, so that their absence says something."""
        return self.complete or any(name in self.tables for name in names)

    def rows(self, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Keys and fields of a table, in its order."""
        yield from self.tables.get(name, {}).items()

    def name(self, raw: str) -> str:
        """The name of an object of this database, in our form: without reference brackets, with the ASIC."""
        return self.prefix + reference(raw)

    def port(self, raw: str) -> str:
        """The name of a port, with the ASIC where another ASIC can have a port of this name."""
        return port_name(self.prefix, raw)


def databases(document: Any) -> list[Database]:
    """The databases of a document; the first is the device's own. Raises ValueError when it holds no table of CONFIG_DB."""
    if not isinstance(document, Mapping):
        raise ValueError("CONFIG_DB: an object was expected")
    if isinstance(document.get("localhost"), Mapping) and any(map(_NAMESPACE.fullmatch, document)):
        spaces = [name for name in document if _NAMESPACE.fullmatch(name)]
        return [_database(document["localhost"]), *(_database(document[name], f"{name}/") for name in spaces)]
    return [_database(document)]


def _database(document: Any, prefix: str = "") -> Database:
    if not isinstance(document, Mapping):
        raise ValueError("CONFIG_DB: an object was expected for each namespace")
    tables: dict[str, dict[str, Mapping[str, Any]]] = {}
    damaged = []
    for name, body in document.items():
        table, flat, row = name.partition("|")
        rows = {row: body} if flat else body
        if not isinstance(rows, Mapping):
            if table in KNOWN:
                damaged.append(table)
            continue  # such as `bgpraw`, the routing configuration as one text
        good = {key: fields for key, fields in rows.items() if isinstance(fields, Mapping)}
        tables.setdefault(table, {}).update(good)
        if len(good) != len(rows):
            damaged.append(table)
    if not KNOWN.keys() & tables.keys():
        raise ValueError("CONFIG_DB: none of its tables is in the document")
    return Database(tables, prefix, tuple(damaged))


def reference(raw: str) -> str:
    """`x` from `[TABLE|x]`, `[TABLE:x]` or `x`."""
    raw = raw.strip()
    found = re.fullmatch(r"\[[A-Z0-9_]+[|:](.*)\]", raw) if raw.startswith("[") else None
    return raw if found is None else found.group(1)


def port_name(prefix: str, name: str) -> str:
    """A port of a namespace. Front ports have names of their own in the whole box; those between ASICs repeat."""
    return name if re.fullmatch(r"Ethernet\d+", name) else prefix + name


def port_keys(key: str) -> list[str]:
    """Port names from the first part of a key: `Ethernet0,Ethernet4|3-4`."""
    return [name.strip() for name in key.split("|", 1)[0].split(",") if name.strip()]


@lru_cache(maxsize=1024)
def numbers_of(raw: str) -> tuple[int, ...]:
    """Queue or priority group numbers from the last part of a key: `3`, `3-4`, `0-2,7`; raises ValueError for none.

    Remembered, because the same few ranges stand on every port.
    """
    found = canonical.number_list(raw)
    if not found:
        raise ValueError("no number after the port")
    return found


def system(found: list[Database]) -> Iterator[Normalised]:
    """Host name and HwSKU, from DEVICE_METADATA of the device's own database."""
    for key, fields in found[0].rows("DEVICE_METADATA"):
        if key == "localhost":
            cells = Cells(System)
            cells.read("hostname", fields.get("hostname"), str)
            cells.read("hardware_model", fields.get("hwsku"), str)
            yield from cells.rows()


def interfaces(database: Database) -> Iterator[Normalised]:
    """Front ports, aggregates and the management port, with what is written about them; defaults are not filled in.

    Rows of CABLE_LENGTH for ports that no longer exist are left over from a breakout and give no interface.
    """
    members = {port: lag for lag, _, port in (key.partition("|") for key, _ in database.rows("PORTCHANNEL_MEMBER")) if port}
    lengths = {port: length for _, fields in database.rows("CABLE_LENGTH") for port, length in fields.items()}
    ports = dict(database.rows("PORT"))
    parents = _parents(ports)
    for table in ("PORT", "PORTCHANNEL", "MGMT_PORT"):
        for name, fields in database.rows(table):
            cells = Cells(Interface, database.port(name))
            cells.read("enabled", fields.get("admin_status"), is_up)
            cells.read("mtu", fields.get("mtu"), whole_number)
            cells.read("description", fields.get("description"), str, not_given)
            cells.read("alias", fields.get("alias"), str)
            cells.read("autoneg", fields.get("autoneg"), is_on)
            if table == "PORT":
                cells.read("speed", fields.get("speed"), _megabits)
                cells.read("fec", fields.get("fec"), canonical.fec, not_given)
                cells.read("lanes", fields.get("lanes"), str)
                cells.read("cable_length_m", lengths.get(name), canonical.metres)
                cells.read("lag", members.get(name), database.name)
                cells.read("breakout_parent", parents.get(name), database.port)
            yield from cells.rows()


def _megabits(raw: str) -> int:
    return whole_number(raw) * 10**6


def _parents(ports: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Port -> the first of the ports that share its cage, for cages that can be seen to be split.

    Ports of one cage have the same `index` (port_config.ini); where a file has no index, the aliases tell: `etp57a`,
    `etp57b` … are the children of `etp57`. Files made from an old site description number ports anew, so the lanes must
    agree: those of one cage are disjoint and follow each other.
    """
    cages: defaultdict[str, list[str]] = defaultdict(list)
    for name, fields in ports.items():
        index, alias = str(fields.get("index", "")), str(fields.get("alias", ""))
        child = re.fullmatch(r"(.*\d)[a-h]", alias)
        if index or child:
            cages[f"index {index}" if index or child is None else f"alias {child.group(1)}"].append(name)
    return {
        name: min(names, key=_natural)
        for names in cages.values()
        if len(names) > 1 and _adjoining([str(ports[name].get("lanes", "")) for name in names])
        for name in names
    }


def _adjoining(lanes: list[str]) -> bool:
    if not all(re.fullmatch(r"\d{1,6}(?:,\d{1,6}){0,15}", item) for item in lanes):
        return False
    numbers = sorted(int(lane) for item in lanes for lane in item.split(","))
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(digits or 0), words) for words, digits in re.findall(r"(\D*)(\d{0,9})", name)]
