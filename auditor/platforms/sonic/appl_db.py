"""APPL_DB, what orchagent was told: the applied layer of ports and buffers, read with `sonic-db-dump`.

The commands, with the least that a switch answers (redisdl prints sorted JSON, two blanks deep, without a newline at its end;
`expireat` is the time of the answer, `ttl` is -0.001 for a key that stays):

- `sonic-db-dump -n APPL_DB -k 'PORT_TABLE:*' -y`

      {
        "PORT_TABLE:Ethernet0": {
          "expireat": 1772409600.1, "ttl": -0.001, "type": "hash",
          "value": {"admin_status": "up", "alias": "etp1", "autoneg": "off", "description": "…", "lanes": "1,2", "mtu": "9100", …}
        },
        "PORT_TABLE:PortConfigDone": {… "value": {"count": "64"}},
        "PORT_TABLE:PortInitDone": {… "value": {"lanes": "0"}}
      }

- `sonic-db-dump -n APPL_DB -k 'BUFFER_*' -y`: keys `BUFFER_POOL_TABLE:ingress_lossless_pool`,
  `BUFFER_PROFILE_TABLE:pg_lossless_400000_5m_profile` and `BUFFER_PG_TABLE:Ethernet0:3-4`, each with the fields that the table
  of that name has in CONFIG_DB. In the dynamic model sizes and headroom stand only here; a port that is administratively
  down has lost its lossless groups.

A switch that has several ASICs keeps these tables in a database per ASIC, which this command does not reach: the dump is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from auditor.address import Layer
from auditor.facts import BufferPool, Interface, PriorityGroup
from auditor.model import Fill, Normalised, Parser, Source
from auditor.platforms.sonic import buffers
from auditor.platforms.sonic.cells import Cells, is_on, is_up, not_given, whole_number
from auditor.platforms.sonic.config_db import KEYED, Database

_SIGNALS = ("PortConfigDone", "PortInitDone")
_PROVEN = "redis-dump-load redisdl.py and sonic-buildimage sonic_py_common/sonic_db_dump_load.py; sonic-swss cfgmgr/buffermgr.cpp"


def _database(document: Any, *wanted: str) -> Database:
    """The tables of a dump under their CONFIG_DB names. Raises ValueError when none of those wanted is in it."""
    if not isinstance(document, Mapping):
        raise ValueError("APPL_DB: an object was expected")
    tables: dict[str, dict[str, Mapping[str, Any]]] = {}
    for key, entry in document.items():
        table, separator, name = key.partition(":")
        fields = entry.get("value") if isinstance(entry, Mapping) else None
        if not separator:
            continue  # BUFFER_PG_TABLE_KEY_SET and its like: what orchagent has not taken yet
        if not isinstance(fields, Mapping):
            raise ValueError(f"APPL_DB: {key[:60]!r} has no fields")
        tables.setdefault(table.removesuffix("_TABLE"), {})[name.replace(":", "|")] = fields
    if not any(name in tables for name in wanted):
        raise ValueError(f"APPL_DB holds no {wanted[0]}_TABLE: not filled yet, or each ASIC has a database of its own")
    return Database(tables)


def applied_buffers(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Buffer pools, and priority groups with what their profiles reserve, as buffermgrd told orchagent."""
    database = _database(document, "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG")
    tables = {"BUFFER_POOL": {}, "BUFFER_PG": {}, **database.tables}
    database = Database(tables)
    yield from buffers.priority_groups(database)
    yield from buffers.buffer_pools(database)


def applied_ports(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Front ports with their settings. What they do stands in `show interfaces status`, which knows the negotiated values."""
    for name, fields in _database(document, "PORT").rows("PORT"):
        if name in _SIGNALS:
            continue
        cells = Cells(Interface, name)
        cells.read("enabled", fields.get("admin_status"), is_up)
        cells.read("mtu", fields.get("mtu"), whole_number)
        cells.read("autoneg", fields.get("autoneg"), is_on)
        cells.read("description", fields.get("description"), str, not_given)
        yield from cells.rows()


BUFFERS = Source(
    key="appl_db_buffers",
    command="sonic-db-dump -n APPL_DB -k 'BUFFER_*' -y",
    aliases=("sonic-db-dump -n APPL_DB -k BUFFER_* -y", 'sonic-db-dump -n APPL_DB -k "BUFFER_*" -y'),
    fills=(
        Fill(PriorityGroup, Layer.APPLIED, buffers.GROUP_COLUMNS),
        Fill(BufferPool, Layer.APPLIED, buffers.POOL_COLUMNS),
    ),
    parser=Parser.JSON,
    normalise=applied_buffers,
    proof={
        "buffer_pool": "/BUFFER_POOL_TABLE:{0}/value",
        "priority_group": "/" + KEYED.replace("~", "~BUFFER_PG_TABLE:", 1) + "/value",
    },
    proven_by=_PROVEN,
    seconds=20.0,
)

PORTS = Source(
    key="appl_db_ports",
    command="sonic-db-dump -n APPL_DB -k 'PORT_TABLE:*' -y",
    aliases=("sonic-db-dump -n APPL_DB -k PORT_TABLE:* -y", 'sonic-db-dump -n APPL_DB -k "PORT_TABLE:*" -y'),
    fills=(Fill(Interface, Layer.APPLIED, ("enabled", "mtu", "autoneg", "description")),),
    parser=Parser.JSON,
    normalise=applied_ports,
    proof={"interface": "/PORT_TABLE:{0}/value"},
    proven_by=_PROVEN,
    seconds=20.0,
)
