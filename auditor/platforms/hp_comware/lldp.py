"""LLDP neighbours of Comware: `display lldp neighbor-information verbose`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.facts import Neighbour
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.hp_comware import names

COLUMNS = ("system", "port_kind", "port_description", "chassis", "chassis_kind", "management_address", "ttl_s")

_PORT = re.compile(r"LLDP neighbor-information of port \d+\[([^\]\n]+)\]:[ \t]*")
_FIELD = re.compile(r" ([A-Z][\w() -]{1,40}?)[ \t]*: ?(.*)")
_KINDS = {
    "Interface name": "name", "Interface alias": "alias", "MAC address": "mac", "Locally assigned": "local",
    "Network address": "address",
}  # fmt: skip
"""Words for the subtypes of IEEE 802.1AB; every other one is `other`."""
_LAST = "Maximum frame size"


def verbose(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every neighbour with its port. Further lines of a description begin at the column of values, so no field is there."""
    told: list[tuple[str, dict[str, str]]] = []
    for line in body.splitlines():
        head, field = _PORT.fullmatch(line), _FIELD.fullmatch(line)
        if head is not None:
            told.append((names.long_name(head.group(1)), {}))
        elif field is not None and told:
            if field.group(1) == "LLDP neighbor index" and "Port ID" in told[-1][1]:
                told.append((told[-1][0], {}))
            told[-1][1].setdefault(field.group(1), field.group(2).strip())
    for at, (port, fields) in enumerate(told, start=1):
        yield from _neighbour(port, fields, last=at == len(told))


def _neighbour(port: str, fields: Mapping[str, str], *, last: bool) -> Iterator[Normalised]:
    """One neighbour. Behind the last one nothing tells whether it was cut, so that must end as a whole one does."""
    whole = not last or _LAST in fields
    if not fields.get("Port ID") or not fields.get("Time to live", "").isdecimal() or not whole:
        yield Unread(Neighbour, (port,), reason=GapReason.TRUNCATED, detail=f"the neighbour on {port} is not told to its end")
        return
    chassis = fields.get("Chassis ID", "")
    yield Neighbour(
        port=port,
        port_id=names.address(fields["Port ID"]) or fields["Port ID"],
        port_kind=_kind(fields.get("Port ID type")),
        system=_text(fields.get("System name")),
        port_description=_text(fields.get("Port description")),
        chassis=names.address(chassis) or _text(chassis),
        chassis_kind=_kind(fields.get("Chassis type")),
        management_address=_text(fields.get("Management address")) if fields.get("Management address type") == "IPv4" else None,
        ttl_s=float(fields["Time to live"]),
    )


def _kind(word: str | None) -> str | None:
    return None if not word else _KINDS.get(word, "other")


def _text(word: str | None) -> str | None:
    return None if not word or word == "-" else word
