"""Objects of NetBox's REST API as a document: which kinds there are, what is kept of each, and how their fields are read.

Objects differ by release. Choices are a word or `{value, label}`; ends of a cable are lists since 3.3 and `termination_a` before;
a front port has one `rear_port` before 4.5 and a list of mappings since. Nautobot writes names instead of choices, UUIDs instead
of numbers, and ends as references. The functions here take all of these and never fail on another shape.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.canonical import printable
from auditor.errors import PlanError

CABLES = "dcim/cables"
TERMINATIONS = "dcim/cable-terminations"
INTERFACES = "dcim/interfaces"
FRONT_PORTS = "dcim/front-ports"
REAR_PORTS = "dcim/rear-ports"
DEVICES = "dcim/devices"
KINDS = (CABLES, TERMINATIONS, INTERFACES, FRONT_PORTS, REAR_PORTS, DEVICES)
"""The lists that tell of cables, by their path below `/api/`."""

INTERFACE, FRONT, REAR = "dcim.interface", "dcim.frontport", "dcim.rearport"
TYPE_OF = {INTERFACES: INTERFACE, FRONT_PORTS: FRONT, REAR_PORTS: REAR}

_FIELDS = {
    CABLES: (
        "id", "type", "status", "profile", "label", "color", "length", "length_unit", "tenant", "tags", "custom_fields",
        "a_terminations", "b_terminations", *(f"termination_{end}{part}" for end in "ab" for part in ("", "_type", "_id")),
    ),
    TERMINATIONS: ("id", "cable", "cable_end", "termination_type", "termination_id", "connector", "positions"),
    INTERFACES: ("id", "name", "device", "type", "speed", "mac_address", "primary_mac_address"),
    FRONT_PORTS: ("id", "name", "device", "rear_port", "rear_port_position", "rear_ports"),
    REAR_PORTS: ("id", "name", "device", "positions", "front_ports"),
    DEVICES: (
        "id", "name", "role", "device_role", "device_type", "platform", "site", "location", "rack", "position", "status",
        "tenant", "primary_ip", "primary_ip4", "primary_ip6", "oob_ip", "tags",
    ),
}  # fmt: skip
_KEPT = frozenset(
    {"id", "value", "label", "name", "slug", "model", "address", "mac_address", "object", "object_type", "object_id", "device"}
    | {
        "termination",
        "connector",
        "position",
        "positions",
        "front_port",
        "front_port_position",
        "rear_port",
        "rear_port_position",
    }
)

Object = Mapping[str, Any]
Key = tuple[str, str]
"""Type (`dcim.interface`) and id of an object."""


def slim(kind: str, item: Object) -> dict[str, Any]:
    """An object with no more than what is read of it: a tenth of its size."""
    out: dict[str, Any] = {}
    for name in _FIELDS[kind]:
        if name in item:
            out[name] = item[name] if name == "custom_fields" else _pruned(item[name], 4)
    return out


def _pruned(value: Any, depth: int) -> Any:
    if isinstance(value, list):
        return [_pruned(item, depth) for item in value]
    if isinstance(value, dict):
        return {key: _pruned(item, depth - 1) for key, item in value.items() if key in _KEPT} if depth else {}
    return value


def decode(raw: bytes, name: str) -> dict[str, list[Object]]:
    """The lists of a document by kind: a list of cables, an answer of `dcim/cables`, or an object of such lists by kind.

    Raises PlanError for what is none of these, and for an answer that is only one page of several.
    """
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise PlanError("is not UTF-8 text", name, raw[: problem.start].count(b"\n") + 1) from None
    except json.JSONDecodeError as problem:
        raise PlanError(f"is no JSON: {problem.msg}", name, problem.lineno) from None
    except (RecursionError, ValueError):
        raise PlanError("is no JSON that can be read: nested too deeply, or a number is too long", name) from None
    if isinstance(data, list) or (isinstance(data, dict) and "results" in data):
        data = {CABLES: data}
    if not isinstance(data, dict):
        raise PlanError("is no list of cables", name)
    out: dict[str, list[Object]] = {}
    for key, value in data.items():
        kind = kind_of(key)
        if kind:
            out[kind] = _list(value, kind, name)
    if CABLES not in out and DEVICES not in out:
        raise PlanError(f"holds neither {CABLES} nor {DEVICES}", name)
    return out


def kind_of(key: str) -> str:
    """The kind from `dcim/cables`, `cables`, `front_ports`, or an empty text."""
    plain = key.strip("/").lower().replace("_", "-").removeprefix("api/")
    plain = plain if plain.startswith("dcim/") else f"dcim/{plain}"
    return plain if plain in KINDS else ""


def _list(value: Any, kind: str, name: str) -> list[Object]:
    if isinstance(value, dict) and isinstance(value.get("results"), list):
        count, got = value.get("count"), len(value["results"])
        if value.get("next") or value.get("previous") or (isinstance(count, int) and count > got):
            raise PlanError(f"{kind}: holds {got} of {count} objects, one page of several: fetch all of them (limit=0)", name)
        value = value["results"]
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise PlanError(f"{kind}: is no list of objects", name)
    return value


# fields


def get(item: Any, *path: str) -> Any:
    """What stands at a path of keys, or None."""
    for key in path:
        if not isinstance(item, Mapping):
            return None
        item = item.get(key)
    return item


def text(item: Any, *path: str) -> str:
    """A text or a number at a path as one printable line; empty where there is none."""
    value = get(item, *path)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return printable(" ".join(str(value).split()), 200)


def choice(item: Any, field: str) -> str:
    """The word of a choice: its `value`, in Nautobot its name in lower case; empty where it has none."""
    value = get(item, field)
    if isinstance(value, Mapping):
        return text(value, "value") or text(value, "name").lower().replace(" ", "-")
    return text(item, field)


def called(item: Any, field: str, *, slug: bool = False) -> str:
    """The name (or the slug) of a nested object."""
    names = ("slug", "name", "display") if slug else ("name", "model", "slug")
    return next((found for key in names if (found := text(item, field, key))), "") or text(item, field)


def key_of(item: Object, kind: str) -> Key:
    """Type and id of an object of `dcim/interfaces` and the like."""
    return TYPE_OF[kind], text(item, "id")


def ends(cable: Object, side: str) -> Iterator[tuple[Key, Object, Object]]:
    """Every end of one side (`a` or `b`): type and id, the object as far as the cable shows it, and the entry itself."""
    listed = get(cable, f"{side}_terminations")
    if isinstance(listed, list):
        for entry in listed:
            kind, number = text(entry, "object_type"), text(entry, "object_id")
            if kind and number:
                found = get(entry, "object")
                yield (kind.lower(), number), found if isinstance(found, Mapping) else {}, entry
        return
    kind, found = text(cable, f"termination_{side}_type"), get(cable, f"termination_{side}")
    number = text(cable, f"termination_{side}_id") or text(found, "id")
    if kind and number:
        yield (kind.lower(), number), found if isinstance(found, Mapping) else {}, {}


def numbers(value: Any) -> tuple[int, ...]:
    """Whole numbers from a number or a list of them."""
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool) and 0 < item <= 1024)
