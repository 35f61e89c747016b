"""LLDP neighbours of NX-OS: `show lldp neighbors detail`, which says at its end how many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.facts import Neighbour
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cisco_nxos import names

COLUMNS = ("system", "port_description", "chassis", "management_address")
_FIELD = re.compile(r"(Chassis id|Port id|Local Port id|Port Description|System Name|Time remaining|Management Address): ?(.*)")
_FIRST = ("Chassis id", "Port id", "Local Port id", "Port Description", "System Name")
_BEHIND = "Time remaining"
"""What stands behind a description: fields before it are taken before, and others only behind it."""


def detail(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every neighbour. The time to live is what is left of it, so it is not told."""
    told: list[dict[str, str]] = []
    for line in body.splitlines():
        field = _FIELD.fullmatch(line.rstrip())
        if field is None:
            continue
        label, value = field.groups()
        if label == "Chassis id" and (not told or _BEHIND in told[-1]):
            told.append({})
        if told and (label == _BEHIND or (label in _FIRST) != (_BEHIND in told[-1])):
            told[-1].setdefault(label, value.strip())
    read = 0
    for fields in told:
        if not fields.get("Port id") or not fields.get("Local Port id") or _BEHIND not in fields:
            continue
        read += 1
        where = fields.get("Management Address", "")
        yield Neighbour(
            port=names.long_name(fields["Local Port id"]),
            port_id=names.address(fields["Port id"]) or fields["Port id"],
            system=_text(fields.get("System Name")),
            port_description=_text(fields.get("Port Description")),
            chassis=names.address(fields.get("Chassis id", "")) or _text(fields.get("Chassis id")),
            management_address=where if re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", where) else None,
        )
    total = re.search(r"^Total entries displayed: (\d+)", body, re.MULTILINE)
    if total is None or int(total.group(1)) != read:
        counted = "no" if total is None else total.group(1)
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail=f"{counted} neighbours are counted, {read} were read")


def _text(word: str | None) -> str | None:
    return None if word in (None, "", "null", "not advertised") else word
