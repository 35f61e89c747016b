"""Reads the JSON of `lldpctl -f json` and `-f json0`: what lldpd heard on each port, as plain values.

lldpd folds its tree when it prints plain `json`: a list of one becomes the element itself, an element with a name becomes
an object keyed by that name, and what is empty is left out. So one document can hold `interface` as an object (one
neighbour), as a list of one-key objects (several, two of them perhaps with the same port), or not at all (none); the
chassis is keyed by the system name, or flat when the neighbour sent none. `json0` always prints lists, with leaf values
under `value`. Both are read here. The printed and the keyvalue form have modules of their own, which end in `entry` too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from auditor import canonical
from auditor.facts import Neighbour

_PORT_KINDS = {"ifname": "name", "ifalias": "alias", "mac": "mac", "local": "local", "ip": "address"}
_CHASSIS_KINDS = {"ifname": "name", "ifalias": "name", "mac": "mac", "local": "local", "ip": "address"}


@dataclass(frozen=True, slots=True)
class LldpEntry:
    """One neighbour on one local port.

    `port_kind`: name, alias, mac, local, address or other; `chassis_kind`: the same without alias. `chassis` is in lower
    case with colons when it is a MAC; every other text stands as it was sent. Ages in seconds. None: it was not sent.
    """

    port: str
    port_id: str
    port_kind: str
    system: str | None = None
    port_description: str | None = None
    chassis: str | None = None
    chassis_kind: str | None = None
    management_address: str | None = None
    age_s: float | None = None
    ttl_s: float | None = None
    protocol: str | None = None

    def row(self) -> Neighbour:
        """The same as a fact. lldpd's age counts from the last change of what the neighbour says, not from its last frame."""
        return Neighbour(
            port=self.port, port_id=self.port_id, system=self.system, port_kind=self.port_kind,
            port_description=self.port_description, chassis=self.chassis, chassis_kind=self.chassis_kind,
            management_address=self.management_address, since_s=self.age_s, ttl_s=self.ttl_s, protocol=self.protocol,
        )  # fmt: skip


COLUMNS = (
    "system", "port_kind", "port_description", "chassis", "chassis_kind", "management_address", "since_s", "ttl_s", "protocol",
)  # fmt: skip
"""What a source of any of these forms fills in `neighbour`."""


def neighbours(document: Any) -> Iterator[LldpEntry]:
    """Every neighbour of the decoded document, in its order; two on one port are both given.

    Raises ValueError when the document is something else, or when an entry lacks what every LLDP frame carries.
    """
    if not isinstance(document, Mapping) or "lldp" not in document:
        raise ValueError("no lldpctl document: it has no member 'lldp'")
    for top in _many(document["lldp"], "lldp"):
        for item in _many(top.get("interface"), "interface"):
            if isinstance(item.get("name"), str):
                yield entry(item["name"], item)
                continue
            for port, bodies in item.items():
                for body in _many(bodies, port):
                    yield entry(port, body)


def entry(name: str, body: Mapping[str, Any]) -> LldpEntry:
    """The neighbour on the local port `name` from its object. Raises ValueError as `neighbours` does."""
    ports = _many(body.get("port"), f"port of {name}")
    if not name or len(ports) != 1:
        raise ValueError(f"lldpctl: neighbour on port {name!r} has {len(ports)} port elements, not one")
    port = ports[0]
    port_type, port_id = _identity(port.get("id"), f"port id on {name}")
    if port_id is None:
        raise ValueError(f"lldpctl: neighbour on port {name!r} has no port id")
    system, chassis = _chassis(body.get("chassis"), name)
    chassis_type, chassis_id = _identity(chassis.get("id"), f"chassis id on {name}")
    if chassis_id is not None and chassis_type == "mac":
        chassis_id = canonical.mac(chassis_id)
    age, ttl = _leaf(body.get("age")), _leaf(port.get("ttl")) or _leaf(chassis.get("ttl"))
    return LldpEntry(
        port=name,
        port_id=port_id,
        port_kind=_PORT_KINDS.get(port_type, "other"),
        system=system,
        port_description=_leaf(port.get("descr")),
        chassis=chassis_id,
        chassis_kind=None if chassis_id is None else _CHASSIS_KINDS.get(chassis_type, "other"),
        management_address=_leaf(chassis.get("mgmt-ip")),
        age_s=None if age is None else canonical.age(age),
        ttl_s=None if ttl is None else float(int(ttl)),
        protocol=_leaf(body.get("via")),
    )


def _chassis(raw: Any, port: str) -> tuple[str | None, Mapping[str, Any]]:
    """System name and fields. A system may be called `id` or `name`, so the key alone decides nothing."""
    found = _many(raw, f"chassis on {port}")
    if not found:
        return None, {}
    if len(found) > 1:
        raise ValueError(f"lldpctl: neighbour on port {port!r} has {len(found)} chassis")
    chassis = found[0]
    if len(chassis) == 1:
        ((name, body),) = chassis.items()
        if isinstance(body, Mapping) and "value" not in body:
            return name or None, body
    return _leaf(chassis.get("name")), chassis


def _identity(raw: Any, what: str) -> tuple[str, str | None]:
    """Subtype and value of a port id or chassis id; ("", None) when there is none."""
    found = _many(raw, what)
    if not found:
        return "", None
    if len(found) > 1:
        raise ValueError(f"lldpctl: {what}: {len(found)} values, not one")
    kind, value = found[0].get("type"), _leaf(found[0].get("value"))
    return (kind if isinstance(kind, str) else ""), value


def _many(raw: Any, what: str) -> list[Mapping[str, Any]]:
    """Objects of a one-or-many place: none for null, one for an object, the items of a list."""
    items = [] if raw is None else raw if isinstance(raw, list) else [raw]
    for item in items:
        if not isinstance(item, Mapping):
            raise ValueError(f"lldpctl: {what}: an object was expected, not {str(item)[:60]!r}")
    return items


def _leaf(raw: Any) -> str | None:
    """The first text of a one-or-many place, plain or under `value`; None when there is none or it is empty."""
    if isinstance(raw, list):
        raw = raw[0] if raw else None
    if isinstance(raw, Mapping):
        raw = raw.get("value")
    if raw is None or raw == "":
        return None
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise ValueError(f"lldpctl: a text was expected, not {str(raw)[:60]!r}")
    return str(raw)
