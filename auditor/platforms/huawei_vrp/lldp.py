"""LLDP neighbours of VRP: `display lldp neighbor`, with a number of neighbours for each port."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.facts import Neighbour
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.huawei_vrp import names

COLUMNS = ("system", "port_kind", "port_description", "chassis", "chassis_kind", "management_address")

_PORT = re.compile(r"(\S+) has (\d{1,4}) neighbor(?:\(s\)|s)?:?\s*")
_FIELD = re.compile(r"([A-Z][A-Za-z() -]{2,40}?) *: ?(.*)")
_FIRST = ("Chassis type", "Chassis ID", "Port ID subtype", "Port ID", "Port description", "System name")
_LATER = ("Management address type", "Management address")
_BEHIND = "System capabilities supported"
"""What stands behind a description: fields before it are taken before, and others only behind it."""
_KINDS = {
    "macaddress": "mac", "interfacename": "name", "interfacealias": "alias", "locallyassigned": "local", "local": "local",
    "networkaddress": "address",
}  # fmt: skip


def neighbours(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every neighbour with its port. A port of which fewer are told than counted is not whole."""
    port, wanted = "", 0
    told: list[dict[str, str]] = []
    for line in (*body.splitlines(), "- has 0 neighbor(s)"):
        head = _PORT.fullmatch(line)
        if head is not None:
            yield from _of(port, wanted, told)
            port, wanted, told = names.long_name(head.group(1)), int(head.group(2)), []
        elif re.match(r"Neighbor index *:", line):
            told.append({})
        elif told and (field := _FIELD.fullmatch(line)) is not None:
            _take(told[-1], field.group(1), field.group(2).strip())


def _take(fields: dict[str, str], label: str, value: str) -> None:
    behind = _BEHIND in fields
    if label == _BEHIND or (label in _LATER and behind) or (label in _FIRST and not behind):
        fields.setdefault(label, value)


def _of(port: str, wanted: int, told: list[dict[str, str]]) -> Iterator[Normalised]:
    whole = [fields for fields in told if fields.get("Port ID") and _BEHIND in fields]
    for fields in whole:
        chassis = fields.get("Chassis ID", "")
        yield Neighbour(
            port=port,
            port_id=names.address(fields["Port ID"]) or fields["Port ID"],
            port_kind=_kind(fields.get("Port ID subtype")),
            system=_text(fields.get("System name")),
            port_description=_text(fields.get("Port description")),
            chassis=names.address(chassis) or _text(chassis),
            chassis_kind=_kind(fields.get("Chassis type")),
            management_address=_text(fields.get("Management address")) if fields.get(_LATER[0]) == "IPv4" else None,
        )
    if len(whole) != wanted:
        detail = f"{port} has {wanted} neighbours, {len(whole)} were read"
        yield Unread(Neighbour, (port,), reason=GapReason.TRUNCATED, detail=detail)


def _kind(word: str | None) -> str | None:
    return None if not word or word == "--" else _KINDS.get(word.replace(" ", "").lower(), "other")


def _text(word: str | None) -> str | None:
    return None if not word or word in ("-", "--") else word
