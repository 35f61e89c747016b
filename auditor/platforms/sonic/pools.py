"""Buffer pools from the commands that print them as text. They are read from captures; a switch is asked for its databases.

`mmuconfig -l` and `show buffer configuration` print CONFIG_DB, `show buffer information` (`buffershow -l`) prints STATE_DB, into
which buffermgrd writes what it told orchagent, and that in the dynamic model alone. One section per pool and per profile:

    Pool for namespace asic0: ingress_lossless_pool
    ----  --------
    mode  dynamic
    type  ingress
    ----  --------

A single ASIC prints `Pool: x`, some releases `Pool: **x**`. A profile says nothing about a port, so profiles give no facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.facts import BufferPool
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread
from auditor.platforms.sonic import buffers
from auditor.platforms.sonic.config_db import Database

_HEADING = re.compile(
    r"(?:(Pool|Profile)(?: for namespace (asic\d+))?: \**([^\s*]+)\**|Lossless traffic pattern(?: for .*)?:)\s*"
)
_DASHES = re.compile(r"-+ +-+\s*")


def pools(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The pools of every ASIC. Raises ValueError when there is none."""
    tables: dict[str, dict[str, dict[str, Mapping[str, str]]]] = {}
    lines = body.splitlines()
    for at, line in enumerate(lines):
        found = _HEADING.fullmatch(line)
        if found is None or found[1] == "Profile":
            continue
        fields = _section(lines[at + 1 :])
        prefix = f"{found[2]}/" if found[2] else ""
        if found[1] == "Pool" and fields is None:
            yield Unread(
                BufferPool, (prefix + found[3],), reason=GapReason.TRUNCATED, detail=f"line {at + 1}: its section has no end"
            )
        elif fields is not None:
            table = "BUFFER_POOL" if found[1] else "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
            tables.setdefault(prefix, {}).setdefault(table, {})[found[3] or "AZURE"] = fields
    if not any("BUFFER_POOL" in namespace for namespace in tables.values()):
        raise ValueError("no section of a pool")
    for prefix, namespace in tables.items():
        yield from buffers.buffer_pools(Database(namespace, prefix))


def _section(lines: list[str]) -> dict[str, str] | None:
    """Fields and values between two lines of dashes; None when the second one is missing."""
    fields: dict[str, str] = {}
    if not lines or not _DASHES.fullmatch(lines[0]):
        return None
    for line in lines[1:]:
        if _DASHES.fullmatch(line):
            return fields
        name, _, value = line.partition(" ")
        fields[name] = value.strip()
    return None


CONFIGURED = Source(
    key="mmuconfig",
    command="mmuconfig -l",
    aliases=("show mmu", "show buffer configuration"),
    fills=(Fill(BufferPool, Layer.CONFIGURED, buffers.POOL_COLUMNS, whole=False),),
    parser=Parser.TEXT,
    normalise=pools,
    anchor=(r"^Pool\b.*: \S",),
    proof={"buffer_pool": r"^Pool\b.*: \**{0}\**\s*$"},
    proven_by="captures sonic/ut_multi_asic, cmdref_msn2700; sonic-utilities scripts/mmuconfig",
    sent=False,
)

APPLIED = Source(
    key="buffer_information",
    command="show buffer information",
    aliases=("buffershow -l",),
    fills=(Fill(BufferPool, Layer.APPLIED, buffers.POOL_COLUMNS, whole=False),),
    parser=Parser.TEXT,
    normalise=pools,
    anchor=(r"^Pool\b.*: \S",),
    proof={"buffer_pool": r"^Pool\b.*: \**{0}\**\s*$"},
    proven_by="capture sonic/ut_single; sonic-utilities scripts/mmuconfig, linked as buffershow",
    sent=False,
)
