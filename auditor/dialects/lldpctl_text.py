"""Reads what `lldpctl` and `lldpcli show neighbors [details]` print without `-f`: the neighbours of each port, as plain values.

Lines of dashes part the neighbours; the words `LLDP neighbors:` stand between the first two, so an empty list is those three
lines. How far a line is set in tells what it is (`txt_data` of lldpd's text_writer.c): 0 blanks a port, 2 a section, 4 a
value, 18 and more the next line of a value, so no text of a neighbour can pass for another value of its own. Cut behind a
line of dashes the answer looks whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from auditor.dialects.lldpctl import LldpEntry, entry

RULE = r"^-{79}[ \t]*$"
END = RULE + r"\s*\n\Z"
"""What a whole list ends with."""
_PORT = re.compile(r"Interface: +(\S+), via: ([^,]+)(?:, RID: \d+)?(?:, Time: (.+))?")
_VALUE = re.compile(r" {4}([A-Za-z][\w ]*?): *(.*)")
_MORE = " " * 18


def neighbours(text: str) -> Iterator[LldpEntry | str]:
    """Every neighbour in order; in place of one that cannot be read, or was cut, a text that says why."""
    begun = False
    block: list[str] = []
    for line in text.splitlines():
        if re.fullmatch(RULE, line):
            if block and begun:
                yield _read(block)
            block = []
        elif line.rstrip() == "LLDP neighbors:":
            begun, block = True, []
        elif begun and (block or line.strip()):
            block.append(line)
    if block and begun:
        yield f"no line of dashes behind {block[0].strip()[:60]!r}: the answer breaks off"


def _read(block: list[str]) -> LldpEntry | str:
    found = _PORT.fullmatch(block[0].rstrip())
    if found is None:
        return f"no port: {block[0].strip()[:80]!r}"
    name, via, age = found.groups()
    sections: dict[str, list[list[str]]] = {"Chassis": [], "Port": []}
    values: list[list[str]] = []
    for line in block[1:]:
        value = _VALUE.match(line)
        if line.startswith(_MORE) or not line.strip():
            if values:
                values[-1][1] += "\n" + line[len(_MORE) :].rstrip()
        elif value is not None:
            values.append([value.group(1), value.group(2).rstrip()])
        elif line[:2] == "  " and line[2:3].strip():
            values = sections.setdefault(line.strip().partition(":")[0], [])
        elif not line.startswith("    "):
            return f"a line on {name} that is no part of a neighbour: {line.strip()[:60]!r}"
    try:
        return entry(name, {"via": via, "age": age, "chassis": _fields(sections["Chassis"]), "port": _fields(sections["Port"])})
    except ValueError as error:
        return str(error)


_LABELS = {"SysName": "name", "MgmtIP": "mgmt-ip", "PortDescr": "descr", "TTL": "ttl"}


def _fields(values: list[list[str]]) -> dict[str, Any]:
    """The members that the JSON form has for these lines; the first of a label counts."""
    fields: dict[str, Any] = {}
    for label, value in values:
        if label in ("ChassisID", "PortID"):
            kind, _, identity = value.partition(" ")
            fields.setdefault("id", {"type": kind, "value": identity.strip()})
        elif label in _LABELS:
            fields.setdefault(_LABELS[label], value)
    return fields
