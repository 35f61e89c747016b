"""The inventory: Nornir SimpleInventory files, read strictly, as Devices; how to reach each stays with the collector."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nornir.core.inventory import Defaults, Group, Groups, Host, ParentGroups

from auditor import yamldoc
from auditor.canonical import printable
from auditor.errors import ErrorList, InventoryError, SetupError
from auditor.model import Device, Status, Transport
from auditor.platforms import platforms as all_platforms
from auditor.settings import SECRET_KEY, suggest
from auditor.yamldoc import YamlDocument

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
"""What a device may be called: it becomes a folder name and a part of finding ids."""

_ATTRIBUTES = ("hostname", "port", "username", "platform", "groups", "data", "connection_options")
_TEXTS = ("role", "site", "pod", "rack", "position", "hardware_model", "bmc_address", "aaa_group")
_DATA = (*_TEXTS, "platforms", "status", "maintenance_until", "tags", "transport")


@dataclass(frozen=True, slots=True)
class Route:
    """How a device is reached. Empty fields are filled from the SSH configuration and the settings."""

    hostname: str
    port: int | None = None
    username: str = ""
    transport: Transport | None = None
    aaa_group: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """All devices in the order of their names, and the route to each."""

    devices: tuple[Device, ...]
    routes: Mapping[str, Route] = field(default_factory=dict)
    file: str = ""

    def device(self, name: str) -> Device:
        """The device of this name; raises SetupError with the likely one."""
        for device in self.devices:
            if device.name == name:
                return device
        raise SetupError(f"the inventory has no device {name!r}{suggest(name, [device.name for device in self.devices])}")

    def select(
        self,
        devices: Iterable[str] = (),
        groups: Iterable[str] = (),
        roles: Iterable[str] = (),
        racks: Iterable[str] = (),
        pods: Iterable[str] = (),
    ) -> tuple[Device, ...]:
        """Devices that match one glob of every kind that is given; all of them when none is given.

        Raises SetupError for a glob that matches nothing, and when no device satisfies all kinds at once.
        """
        chosen = self.devices
        kinds = (
            ("device", devices, lambda device: (device.name,)),
            ("group", groups, lambda device: device.groups),
            ("role", roles, lambda device: (device.role,)),
            ("rack", racks, lambda device: (device.rack,)),
            ("pod", pods, lambda device: (device.pod,)),
        )
        for kind, globs, words in kinds:
            wanted = tuple(globs)
            for glob in wanted:
                known = sorted({word for device in self.devices for word in words(device) if word})
                if not any(fnmatchcase(word, glob) for word in known):
                    raise SetupError(f"no {kind} matches {printable(glob, 80)!r}{suggest(glob, known)}")
            if wanted:
                chosen = tuple(d for d in chosen if any(fnmatchcase(word, glob) for word in words(d) for glob in wanted))
        if not chosen and self.devices:
            raise SetupError("no device satisfies all of the given filters at once")
        return chosen


def load(folder: Path, platforms: Collection[str] | None = None) -> Inventory:
    """Read `hosts.yaml`, `groups.yaml` and `defaults.yaml` (the last two may be missing) of `folder`.

    `platforms` are the known names (default: all registered). Raises InventoryError, or an ErrorList of all that is
    wrong, with file and line.
    """
    return _Reader(folder, frozenset(all_platforms() if platforms is None else platforms)).inventory()


class _Reader:
    """Checks each file on its own, where lines are known, and then lets Nornir resolve what inherits from what."""

    def __init__(self, folder: Path, platforms: frozenset[str]) -> None:
        self.platforms = platforms
        self.errors: list[SetupError] = []
        self.hosts = yamldoc.read(folder / "hosts.yaml", InventoryError)
        self.groups = self._optional(folder / "groups.yaml")
        self.defaults = self._optional(folder / "defaults.yaml")

    @staticmethod
    def _optional(file: Path) -> YamlDocument:
        return yamldoc.read(file, InventoryError) if file.exists() else YamlDocument({}, str(file), "")

    def fail(self, document: YamlDocument, message: str, *path: str | int) -> None:
        self.errors.append(document.error(InventoryError, message, *path))

    def inventory(self) -> Inventory:
        for document, called in ((self.hosts, "device"), (self.groups, "group"), (self.defaults, "")):
            self._check_file(document, called)
        self._check_cycles()
        self._raise()
        found = list(self._devices())
        self._check_twice(found)
        self._raise()
        ordered = sorted(found, key=lambda pair: pair[0].name)
        return Inventory(
            tuple(device for device, _ in ordered), {device.name: route for device, route in ordered}, self.hosts.file
        )

    def _raise(self) -> None:
        if self.errors:
            raise ErrorList(self.errors) if len(self.errors) > 1 else self.errors[0]

    # one file at a time

    def _check_file(self, document: YamlDocument, called: str) -> None:
        data = {} if document.data is None else document.data
        if not isinstance(data, dict):
            self.fail(document, f"must be a mapping of {called or 'setting'}s")
            self._raise()
        if not called:
            self._check_element(document, (), data, ())
            return
        for name, element in data.items():
            if not NAME.fullmatch(name):
                shown = printable(name, 60)
                self.fail(document, f"{called} name {shown!r}: letters, digits, `_`, `-` and `.` only, at most 128", name)
            self._check_element(document, (name,), element, self.groups.data or {})

    def _check_element(self, document: YamlDocument, at: tuple[str, ...], element: Any, groups: Collection[str]) -> None:
        if element is None:
            return
        if not isinstance(element, dict):
            self.fail(document, "must be a mapping", *at)
            return
        for key in element:
            if key == "name":
                continue  # Nornir's own examples repeat the name here
            if SECRET_KEY.fullmatch(key):
                self._refuse_secret(document, *at, key)
            elif key not in _ATTRIBUTES:
                hint = "; such a key belongs under `data`" if key in _DATA else suggest(key, list(_ATTRIBUTES))
                self.fail(document, f"unknown key {key!r}{hint}", *at, key)
        for key in ("hostname", "username", "platform"):
            if not isinstance(element.get(key), str | None):
                self.fail(document, f"{key} must be a text", *at, key)
        if not re.fullmatch(r"[^\x00-\x20\x7f/@]{0,253}", str(element.get("hostname") or "")):
            self.fail(document, "hostname must be a host name or an address", *at, "hostname")
        port = element.get("port")
        if port is not None and (not isinstance(port, int) or isinstance(port, bool) or not 0 < port < 65536):
            self.fail(document, "port must be a number from 1 to 65535", *at, "port")
        if element.get("platform") is not None:
            self._check_platform(document, element["platform"], *at, "platform")
        self._check_groups(document, at, element.get("groups"), groups)
        self._check_secrets(document, (*at, "connection_options"), element.get("connection_options"))
        self._check_data(document, (*at, "data"), element.get("data"))

    def _refuse_secret(self, document: YamlDocument, *path: str | int) -> None:
        self.fail(
            document,
            f"{path[-1]!r}: no credential may stand in the inventory; use an SSH agent, a key file or AUDITOR_PASSWORD",
            *path,
        )

    def _check_secrets(self, document: YamlDocument, path: tuple[str | int, ...], data: Any) -> None:
        items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        for key, value in items:
            if isinstance(key, str) and SECRET_KEY.fullmatch(key) and value is not None:
                self._refuse_secret(document, *path, key)
            self._check_secrets(document, (*path, key), value)

    def _check_platform(self, document: YamlDocument, name: Any, *path: str | int) -> None:
        if not isinstance(name, str) or name not in self.platforms:
            shown = printable(str(name), 40)
            self.fail(document, f"unknown platform {shown!r}{suggest(shown, sorted(self.platforms))}", *path)

    def _check_groups(self, document: YamlDocument, at: tuple[str, ...], named: Any, known: Collection[str]) -> None:
        if named is None:
            return
        if document is self.defaults or not isinstance(named, list):
            self.fail(document, "groups must be a list of group names, and defaults have none", *at, "groups")
            return
        for index, group in enumerate(named):
            if not isinstance(group, str) or group not in known:
                shown = printable(str(group), 40)
                self.fail(document, f"unknown group {shown!r}{suggest(shown, list(known))}", *at, "groups", index)

    def _check_data(self, document: YamlDocument, path: tuple[str, ...], data: Any) -> None:
        if data is None:
            return
        if not isinstance(data, dict):
            self.fail(document, "data must be a mapping", *path)
            return
        self._check_secrets(document, path, data)
        for key, value in data.items():
            wrong = None
            if SECRET_KEY.fullmatch(key) or value is None:
                continue
            if key not in _DATA:
                wrong = f"unknown key {key!r}{suggest(key, list(_DATA)) or '; keys of your own belong under `tags`'}"
            elif key in _TEXTS and _text(value) is None:
                wrong = f"{key} must be a text or a whole number"
            elif key == "status" and value not in list(Status):
                wrong = f"status must be one of {', '.join(Status)}"
            elif key == "transport" and value not in list(Transport):
                wrong = f"transport must be one of {', '.join(Transport)}"
            elif key == "maintenance_until" and _moment(value) is None:
                wrong = "maintenance_until must be a date or a time, such as 2031-05-01T06:00:00Z"
            elif key == "tags" and not (isinstance(value, dict) and all(_text(item) is not None for item in value.values())):
                wrong = "tags must be a mapping of texts"
            elif key == "platforms":
                names = value if isinstance(value, list) else [value]
                for index, name in enumerate(names):
                    self._check_platform(document, name, *path, key, *((index,) if isinstance(value, list) else ()))
            if wrong is not None:
                self.fail(document, wrong, *path, key)

    def _check_cycles(self) -> None:
        if self.errors:
            return
        parents = {name: tuple((group or {}).get("groups") or ()) for name, group in (self.groups.data or {}).items()}
        done: set[str] = set()

        def visit(name: str, trail: tuple[str, ...]) -> None:
            if name in trail:
                ring = " > ".join((*trail[trail.index(name) :], name))
                self.fail(self.groups, f"groups inherit from each other: {ring}", name)
            elif name not in done:
                for parent in parents[name]:
                    visit(parent, (*trail, name))
                done.add(name)

        for name in parents:
            visit(name, ())

    # resolved

    def _devices(self) -> Iterator[tuple[Device, Route]]:
        own = self.defaults.data or {}
        defaults = Defaults(
            hostname=own.get("hostname"), port=own.get("port"), username=own.get("username"),
            platform=own.get("platform"), data=own.get("data") or {},
        )  # fmt: skip
        groups = Groups({name: Group(name, **_plain(data), defaults=defaults) for name, data in (self.groups.data or {}).items()})
        for name, data in (self.groups.data or {}).items():
            groups[name].groups = ParentGroups([groups[parent] for parent in (data or {}).get("groups") or ()])
        for name, data in (self.hosts.data or {}).items():
            host = Host(name, **_plain(data), defaults=defaults)
            host.groups = ParentGroups([groups[parent] for parent in (data or {}).get("groups") or ()])
            yield self._device(host)

    def _device(self, host: Host) -> tuple[Device, Route]:
        data = host.extended_data()
        named = data.get("platforms") or ([host.platform] if host.platform else [])
        platforms = tuple(dict.fromkeys(named if isinstance(named, list) else [named]))
        if not platforms:
            self.fail(self.hosts, f"{host.name} has no platform, neither of its own nor from a group or the defaults", host.name)
        texts = {key: _text(data.get(key)) or "" for key in _TEXTS}
        route = Route(
            host.hostname or host.name,
            host.port,
            host.username or "",
            Transport(data["transport"]) if data.get("transport") else None,
            texts["aaa_group"],
        )
        device = Device(
            host.name,
            platforms,
            address=route.hostname,
            port=route.port,
            status=Status(data.get("status") or Status.ACCEPTED),
            maintenance_until=_moment(data.get("maintenance_until")),
            groups=tuple(group.name for group in host.extended_groups()),
            tags={key: _text(value) or "" for key, value in (data.get("tags") or {}).items()},
            **texts,
        )
        return device, route

    def _check_twice(self, found: Sequence[tuple[Device, Route]]) -> None:
        seen: dict[object, str] = {}
        for device, route in found:
            folded = ("name", device.name.lower())
            place = ("address", route.hostname.lower(), route.port or 22)
            for key, message in ((folded, "differs only in case from"), (place, "has the same address and port as")):
                if seen.setdefault(key, device.name) != device.name:
                    self.fail(self.hosts, f"{device.name} {message} {seen[key]}", device.name)


def _plain(data: Mapping[str, Any] | None) -> dict[str, Any]:
    data = data or {}
    return {**{key: data.get(key) for key in ("hostname", "port", "username", "platform")}, "data": data.get("data") or {}}


def _text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value)
    return text if text.isprintable() and len(text) <= 256 else None


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, 23, 59, 59)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
