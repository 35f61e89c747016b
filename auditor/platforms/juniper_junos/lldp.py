"""LLDP neighbours of Junos: the detailed answer and the short one as JSON, the detailed one as XML too.

The text form is not read: its column `Port info` has the port id or the description, as the switch is configured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.facts import Neighbour
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.juniper_junos.names import elements, from_xml, port, root, value
from auditor.xmldoc import CutOff

COLUMNS = ("system", "port_kind", "port_description", "chassis", "chassis_kind", "ttl_s")
AGES = ("heard_s",)
_KINDS = {
    "Interface name": "name", "Interface alias": "alias", "Mac address": "mac", "Locally assigned": "local",
    "Network address": "address",
}  # fmt: skip
"""Words for the subtypes of IEEE 802.1AB; every other one is `other`."""


def detail(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp neighbors detail`: `lldp-local-port-id` is an index there."""
    for item in elements(root(document, "lldp-neighbors-information"), "lldp-neighbor-information"):
        yield from _neighbour(item, value(item, "lldp-local-interface"), long=True)


def xml(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp neighbors detail | display xml`, and what `show lldp neighbors interface …` says of one port."""
    try:
        found = from_xml(body)
    except CutOff as error:
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail=str(error))
        return
    yield from detail(found, parameters)


def brief(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp neighbors`: the local port stands under one of two names."""
    for item in elements(root(document, "lldp-neighbors-information"), "lldp-neighbor-information"):
        yield from _neighbour(item, value(item, "lldp-local-interface") or value(item, "lldp-local-port-id"), long=False)


def _neighbour(item: Mapping[str, Any], local: str | None, *, long: bool) -> Iterator[Normalised]:
    far = value(item, "lldp-remote-port-id")
    if local is None:
        yield Unread(Neighbour, detail="a neighbour without a local port")
        return
    if far is None:
        yield Unread(Neighbour, (port(local),), detail=f"the neighbour on {port(local)} tells no port id")
        return
    chassis, kind = value(item, "lldp-remote-chassis-id"), value(item, "lldp-remote-port-id-subtype")
    of_chassis = value(item, "lldp-remote-chassis-id-subtype")
    yield Neighbour(
        port=port(local),
        port_id=far.lower() if _KINDS.get(kind or "") == "mac" and _is_mac(far) else far,
        port_kind=None if kind is None else _KINDS.get(kind, "other"),
        system=value(item, "lldp-remote-system-name"),
        port_description=value(item, "lldp-remote-port-description") if long else None,
        chassis=chassis.lower() if chassis is not None and _is_mac(chassis) else chassis,
        chassis_kind=None if of_chassis is None else _KINDS.get(of_chassis, "other"),
        ttl_s=_seconds(value(item, "lldp-ttl")) if long else None,
        heard_s=_seconds(value(item, "lldp-age")) if long else None,
    )


def _is_mac(text: str) -> bool:
    return re.fullmatch(r"(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}", text) is not None


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None
