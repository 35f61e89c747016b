"""Reads `lldpctl -f keyvalue`: the neighbours of each port, as plain values.

One `lldp.PORT.key=value` per line; a neighbour begins at its `via`. The type of an id is the key it stands under
(`port.local=etp3`), as kv_writer.c of lldpd has it. Names of ports may hold dots. Releases before 1.0 print the further lines
of a text as they are, so a neighbour can write lines of this form into its description: live, JSON is asked for. No neighbour
is no line, and nothing ends the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from auditor.dialects.lldpctl import LldpEntry, entry

START = r"^lldp\.(\S+)\.via=(.*)$"
_START = re.compile(START)
_NO_TYPE = ("name", "descr", "ttl", "mgmt-ip", "mgmt-iface", "mfs", "aggregation")


def neighbours(text: str) -> Iterator[LldpEntry | str]:
    """Every neighbour in order; in place of one that cannot be read, or was cut, a text that says why."""
    port = ""
    lines: list[list[str]] = []
    for line in text.splitlines():
        start = _START.fullmatch(line)
        if start is not None:
            if port:
                yield _read(port, lines)
            port, lines = start.group(1), [["via", start.group(2)]]
            continue
        key, equals, value = line.partition("=")
        if equals and port and key.startswith(f"lldp.{port}."):
            lines.append([key.removeprefix(f"lldp.{port}."), value])
        elif line.startswith("lldp."):
            yield f"a line that belongs to no neighbour: {line[:60]!r}"
        elif lines:
            lines[-1][1] += "\n" + line
    if port and any(key in ("port.ttl", "chassis.ttl") for key, _ in lines):
        yield _read(port, lines)
    elif port:
        yield f"the neighbour on {port} breaks off behind {lines[-1][0]}"


def _read(port: str, lines: list[list[str]]) -> LldpEntry | str:
    body: dict[str, Any] = {"chassis": {}, "port": {}}
    for key, value in lines:
        section, dot, rest = key.partition(".")
        if not dot:
            body.setdefault(key, value)
        elif section in ("chassis", "port") and "." not in rest:
            kind = {"id": {"type": rest, "value": value}} if rest not in _NO_TYPE else {rest: value}
            for member, content in kind.items():
                body[section].setdefault(member, content)
    try:
        return entry(port, body)
    except ValueError as error:
        return str(error)
