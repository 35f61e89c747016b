"""`turnup.intent/v1`: racks, devices and cables of a hall, as YAML or JSON.

Keys that are not known are ignored there, and noted here. `speed_gbps` is the least speed that a cable must have there; a plan's
speed is the one that it must have. A device stands in one rack, so its rack is the rack of all its cables.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import canonical, yamldoc
from auditor.errors import PlanError
from auditor.model import Plan, PlanLink
from auditor.plan.document import REQUIRED
from auditor.plan.formats import (
    Imported,
    ImportedDevice,
    PlanFormat,
    decode,
    devices_of,
    in_order,
    lost,
    without_shared_ports,
)  # fmt: skip
from auditor.plan.formats.collector import Collector
from auditor.yamldoc import Path_, YamlDocument

SCHEMA = "turnup.intent/v1"

_ROLES = {"gpu-node": "gpu_host", "leaf-switch": "leaf", "spine-switch": "spine"}
_WORDS = {ours: theirs for theirs, ours in _ROLES.items()}
_OTHERS = frozenset({"nvlink-switch", "pdu", "cdu", "other"})
_KNOWN: dict[str, frozenset[str]] = {
    "": frozenset({"schema", "site", "simulated", "generated_at", "racks", "devices", "cables", "firmware_baseline"}),
    "cables": frozenset({"label", "a", "b", "speed_gbps"}),
    "devices": frozenset(
        {"name", "role", "rack", "position", "manufacturer", "model", "serial", "gpu_count", "mgmt", "interfaces"}
    ),
}
_UNUSED = {
    "firmware_baseline": "which firmware a model must have belongs into a baseline",
}
_UNUSED_OF_DEVICE = frozenset({"manufacturer", "serial", "gpu_count", "mgmt"})


def sniff(raw: bytes, _name: str) -> bool:
    """Whether the id of the schema stands in it, as the value of `schema`."""
    return re.search(rb"schema[\"']?\s*:\s*[\"']?turnup\.intent/v1\b", raw) is not None


def read(raw: bytes, name: str, _options: Mapping[str, str]) -> Imported:
    """The cables, with rack and position of their devices."""
    document = yamldoc.parse(decode(raw, name), name, PlanError)
    data = document.data
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise document.error(PlanError, f"must be a mapping whose schema is {SCHEMA}", "schema")
    return _Reader(document, data).read()


class _Reader:
    """Reads one document; everything wrong in it is gathered."""

    def __init__(self, document: YamlDocument, data: dict[str, Any]) -> None:
        self.document, self.data, self.out = document, data, Collector(document.file)
        self.devices: dict[str, tuple[str, dict[str, str]]] = {}
        self.macs: dict[tuple[str, str], str] = {}

    def read(self) -> Imported:
        self.unknown("", self.data, ())
        for key in _UNUSED.keys() & self.data.keys():
            self.out.note(f"{key}: {_UNUSED[key]}; left out", self.document.line(key))
        if self.data.get("simulated") is True:
            self.out.note("the document says that it is simulated", self.document.line("simulated"))
        for path, entry in self.entries("devices"):
            self.device(path, entry)
        for path, entry in self.entries("cables"):
            self.cable(path, entry)
        return self.out.result()

    def fail(self, message: str, *path: str | int) -> None:
        self.out.fail(message, self.document.line(*path))

    def entries(self, key: str) -> Iterator[tuple[Path_, dict[str, Any]]]:
        listed = self.data.get(key)
        if listed is not None and not isinstance(listed, list):
            self.fail(f"{key} must be a list", key)
            return
        for at, entry in enumerate(listed or ()):
            if isinstance(entry, dict):
                self.unknown(key, entry, (key, at))
                yield (key, at), entry
            else:
                self.fail(f"an entry of {key} must be a mapping", key, at)

    def unknown(self, part: str, entry: dict[str, Any], path: Path_) -> None:
        for key in entry.keys() - _KNOWN[part]:
            self.out.note(
                f"{part + ': ' if part else ''}{key} is no key of {SCHEMA}, and is left out", self.document.line(*path, key)
            )

    def text(self, entry: dict[str, Any], key: str, path: Path_, *, needed: bool = False) -> str:
        """A text; a number is one where a person would write one (a position)."""
        value = entry.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and not needed:
            return str(value)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            self.fail(f"{key} must be a text; put it in quotes", *path, key)
            return ""
        return value.strip()

    def device(self, path: Path_, entry: dict[str, Any]) -> None:
        name = self.text(entry, "name", path, needed=True)
        if not name:
            return
        if _key(name) in self.devices:
            self.fail(f"device {name} stands twice; case and domain aside, each name is one device", *path, "name")
            return
        said = {key: self.text(entry, key, path) for key in ("role", "rack", "position", "model")}
        role = _ROLES.get(said["role"], said["role"] if said["role"] != "other" else "")
        if said["role"] and said["role"] not in _ROLES.keys() | _OTHERS:
            self.out.note(f"role {said['role']} is none of {SCHEMA}; kept as it is", self.document.line(*path, "role"))
        self.devices[_key(name)] = (
            name,
            {"rack": said["rack"], "position": said["position"], "role": role, "model": said["model"]},
        )
        for key in sorted(_UNUSED_OF_DEVICE & entry.keys()):
            self.out.note(f"devices: {key} has no column in a plan; left out", self.document.line(*path, key))
        ports = entry.get("interfaces") or []
        if not isinstance(ports, list):
            self.fail("interfaces must be a list", *path, "interfaces")
            return
        for at, port in enumerate(ports):
            if isinstance(port, dict) and port.get("mac"):
                here = (*path, "interfaces", at)
                self.macs[_key(name), self.text(port, "name", here, needed=True)] = self.text(port, "mac", here)
        device = ImportedDevice(name, role, said["rack"], said["position"], said["model"])
        self.out.device(device, self.document.line(*path))

    def cable(self, path: Path_, entry: dict[str, Any]) -> None:
        columns = {"label": self.text(entry, "label", path)}
        for side in ("a", "b"):
            end = entry.get(side)
            if not isinstance(end, dict):
                self.fail(f"{side} must be a mapping of device and interface", *path, side)
                return
            device, port = (self.text(end, key, (*path, side), needed=True) for key in ("device", "interface"))
            name, said = self.devices.get(_key(device), (device, {}))
            if self.devices and device and not said:
                self.out.note(f"device {device} is not in the list of devices", self.document.line(*path, side, "device"))
            columns |= {f"{side}_device": name, f"{side}_port": port, f"{side}_id": self.macs.get((_key(device), port), "")}
            columns |= {f"{side}_{column}": value for column, value in said.items() if value}
        speed = entry.get("speed_gbps")
        if isinstance(speed, int) and not isinstance(speed, bool) and 0 < speed <= 100_000:
            columns["speed"] = f"{speed}G"
            self.out.note("speed_gbps is the least that a cable must have there; in the plan it is the speed that it must have")
        elif speed is not None:
            self.fail("speed_gbps must be a whole number of Gbit/s", *path, "speed_gbps")
        if all(columns[column] for column in REQUIRED):
            self.out.add(columns, self.document.line(*path) or 1)


def _key(name: str) -> str:
    """How a device is looked up there: in lower case, without its domain."""
    return name.strip().lower().partition(".")[0]


def write(plan: Plan) -> tuple[str, tuple[str, ...]]:
    """The document as JSON: racks, devices and cables by name. A role that is none of the format's becomes `other`."""
    without_shared_ports(plan, FORMAT.title)
    devices = devices_of(plan.links)
    keys: dict[str, str] = {}
    for name in devices:
        if keys.setdefault(_key(name), name) != name:
            message = f"{keys[_key(name)]} and {name} are one device for {SCHEMA}, which looks at neither case nor domain"
            raise PlanError(message, plan.file or plan.name)
    racks = sorted({device.rack for device in devices.values() if device.rack}, key=canonical.natural)
    macs = defaultdict[str, dict[str, str]](dict)
    others = set[str]()
    for link in plan.links:
        for side, end in (("a_id", link.a), ("b_id", link.b)):
            if re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", end.id):
                macs[end.device][end.port] = end.id
            elif end.id:
                others.add(side)
    document = {
        "schema": SCHEMA,
        "site": plan.name,
        "racks": [{"name": rack} for rack in racks],
        "devices": [_device(devices[name], macs[name]) for name in sorted(devices, key=canonical.natural)],
        "cables": [_cable(link) for link in in_order(plan.links)],
    }
    without = others
    if any(link.speed is not None and link.speed % 10**9 for link in plan.links):
        without.add("speed")
    if any(device.role and _WORDS.get(device.role, device.role) not in _ROLES.keys() | _OTHERS for device in devices.values()):
        without |= {"a_role", "b_role"}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n", lost(plan, FORMAT.carries - without)


def _device(device: ImportedDevice, macs: Mapping[str, str]) -> dict[str, Any]:
    role = _WORDS.get(device.role, device.role)
    said = {
        "name": device.name,
        "role": role if role in _ROLES.keys() | _OTHERS else "other",
        "rack": device.rack,
        "position": device.position,
        "model": device.hardware_model,
        "interfaces": [{"name": port, "mac": macs[port]} for port in sorted(macs, key=canonical.natural)],
    }
    return {key: value for key, value in said.items() if value}


def _cable(link: PlanLink) -> dict[str, Any]:
    ends = {side: {"device": end.device, "interface": end.port} for side, end in (("a", link.a), ("b", link.b))}
    speed = {} if link.speed is None or link.speed % 10**9 else {"speed_gbps": link.speed // 10**9}
    return ({"label": link.label} if link.label else {}) | ends | speed


FORMAT = PlanFormat(
    name="intent",
    title=SCHEMA,
    suffixes=(".yaml", ".yml", ".json"),
    sniff=sniff,
    read=read,
    write=write,
    carries=frozenset(
        {
            *REQUIRED,
            "speed",
            "label",
            "a_rack",
            "a_position",
            "b_rack",
            "b_position",
            "a_role",
            "b_role",
            "a_model",
            "b_model",
            "a_id",
            "b_id",
        }
    ),
    note="The intent document of turnup-check: racks, devices and cables, YAML or JSON.",
)
