"""The story of `auditor inventory import`: devices of a plan, a CSV file or NetBox become hosts of the inventory.

Nothing that stands there is changed. A host that is new is appended, a field that a host lacks is filled in, and a field that
says something else is an error that names the line of either side; then nothing is written at all.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.canonical import printable
from auditor.collect import inventory as inventories
from auditor.collect.inventory import NAME
from auditor.errors import ErrorList, FileError, InventoryError, SetupError
from auditor.platforms import platforms
from auditor.settings import suggest
from auditor.workflows.inventory_sources import TEXTS, Entry
from auditor.workflows.project import load_settings
from auditor.yamldoc import YamlDocument

Choice = tuple[str, str]
"""A glob of device names, and what those devices get."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What an import would make of the inventory: hosts that are new, fields that are filled in, and the file's new text."""

    file: Path
    text: str
    new: tuple[Entry, ...] = ()
    filled: tuple[tuple[str, Mapping[str, str]], ...] = ()
    same: int = 0
    left_out: tuple[str, ...] = ()


def merge(
    folder: str,
    entries: Iterable[Entry],
    *,
    platform: Sequence[Choice] = (),
    role: Sequence[Choice] = (),
    group: Sequence[Choice] = (),
    skip: Sequence[str] = (),
) -> Merge:
    """What the inventory of a project becomes. `platform`, `role` and `group` are given to devices by glob where the source
    is silent; `skip` are globs of devices that are not wanted. Raises InventoryError or ErrorList for conflicts."""
    target = load_settings(folder).inventory
    return _Merger(target, platform, role, group).run([e for e in entries if not any(fnmatchcase(e.name, s) for s in skip)])


def save(done: Merge) -> None:
    """Write `hosts.yaml`, whole or not at all. Raises SetupError."""
    part = done.file.with_name(done.file.name + ".part")
    try:
        done.file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(done.text, encoding="utf-8")
        if done.file.exists():
            part.chmod(done.file.stat().st_mode & 0o777)
        part.replace(done.file)
    except OSError as problem:
        part.unlink(missing_ok=True)
        raise SetupError(f"{done.file} cannot be written: {problem.strerror}") from None


def _raise(errors: list[SetupError]) -> None:
    if errors:
        raise ErrorList(errors) if len(errors) > 1 else errors[0]


class _Merger:
    """Compares entries with the inventory that stands in a folder."""

    def __init__(self, folder: Path, platform: Sequence[Choice], role: Sequence[Choice], group: Sequence[Choice]) -> None:
        self.folder, self.file = folder, folder / "hosts.yaml"
        self.platform, self.role, self.group = platform, role, group
        empty = YamlDocument({}, str(self.file), "")
        self.hosts = yamldoc.read(self.file, InventoryError) if self.file.exists() else empty
        self.inventory = inventories.load(folder) if self.hosts.data else None
        self.groups = self._plain("groups.yaml")
        self.has_default = self._names_platform(self._plain("defaults.yaml"))
        self.errors: list[SetupError] = []
        for _, name in platform:
            for each in name.split(","):
                if each not in platforms():
                    raise SetupError(f"--platform: unknown platform {each!r}{suggest(each, sorted(platforms()))}")
        for _, name in group:
            if name not in self.groups:
                raise SetupError(f"--group: there is no group {name!r} in {folder / 'groups.yaml'}")

    def _plain(self, name: str) -> Mapping[str, Any]:
        file = self.folder / name
        data = yamldoc.read(file, InventoryError).data if file.exists() else {}
        return data if isinstance(data, dict) else {}

    @staticmethod
    def _names_platform(element: Any) -> bool:
        data = element.get("data") if isinstance(element, dict) else None
        return isinstance(element, dict) and bool(element.get("platform") or (isinstance(data, dict) and data.get("platforms")))

    def run(self, entries: Sequence[Entry]) -> Merge:
        existing = {device.name: device for device in self.inventory.devices} if self.inventory else {}
        folded = {name.lower(): name for name in existing}
        seen: dict[str, Entry] = {}
        new, filled, left, same = [], [], [], 0
        for raw in entries:
            entry = self._completed(raw, new=raw.name not in existing)
            twin = seen.setdefault(entry.name.lower(), raw)
            if not NAME.fullmatch(entry.name):
                message = f"device name {printable(entry.name, 60)!r}: letters, digits, `_`, `-` and `.` only, at most 128"
                self.errors.append(InventoryError(message, entry.place, entry.line))
            elif twin is not raw:
                self.errors.append(InventoryError(f"{entry.name} stands at {twin.where} already", entry.place, entry.line))
            elif entry.name in existing:
                lacking = self._compared(raw)
                same += not lacking
                filled += [(entry.name, lacking)] if lacking else []
            elif entry.name.lower() in folded:
                known = folded[entry.name.lower()]
                message = f"{known} is {entry.name} in {entry.where}: names must not differ in case alone"
                self.errors.append(self.hosts.error(InventoryError, message, known))
            elif not (entry.platforms or self.has_default or any(map(self._group_has_platform, entry.groups))):
                left.append(f"{entry.name}: no platform is known; give it one with --platform '{entry.name}=…' or --group")
            else:
                new.append(entry)
        _raise(self.errors)
        text_ = self._text(new, filled)
        self._check(text_)
        return Merge(self.file, text_, tuple(new), tuple(filled), same, tuple(left))

    def _completed(self, entry: Entry, *, new: bool) -> Entry:
        """The entry with what the command line gives it; an existing host only gets what its source says."""
        if not new:
            return entry
        chosen = next((names for glob, names in self.platform if fnmatchcase(entry.name, glob)), "")
        given = tuple(name for glob, name in self.group if fnmatchcase(entry.name, glob))
        role = next((name for glob, name in self.role if fnmatchcase(entry.name, glob)), "")
        data = {**entry.data, "role": role} if role else entry.data
        return replace(
            entry,
            platforms=tuple(chosen.split(",")) if chosen else entry.platforms,
            groups=tuple(dict.fromkeys((*entry.groups, *given))),
            data=data,
        )

    def _group_has_platform(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        element = self.groups.get(name)
        parents = element.get("groups") if isinstance(element, dict) else None
        return self._names_platform(element) or any(
            self._group_has_platform(parent, seen | {name}) for parent in parents or () if parent not in seen
        )

    def _compared(self, entry: Entry) -> dict[str, str]:
        """What the host lacks; errors for what it says otherwise."""
        assert self.inventory is not None
        device, own = self.inventory.device(entry.name), self.hosts.data[entry.name] or {}
        known = {key: str(getattr(device, key)) for key in TEXTS}
        known |= {"hostname": str(own.get("hostname") or ""), "port": str(device.port or "")}
        wanted = {"hostname": entry.address, "port": str(entry.port or ""), **entry.data}
        lacking = {}
        for key, value in wanted.items():
            if not value or known[key] == value or (key == "hostname" and value == device.address):
                continue
            if known[key]:
                self._conflict(entry, key, f"{key} is {known[key]} here and {value} in {entry.where}")
            else:
                lacking[key] = value
        if not set(entry.platforms) <= set(device.platforms):
            told = f"{', '.join(device.platforms)} here and {', '.join(entry.platforms)} in {entry.where}"
            self._conflict(entry, "platform", f"platform is {told}")
        return lacking

    def _conflict(self, entry: Entry, key: str, message: str) -> None:
        path = (entry.name, "data", key) if key in TEXTS else (entry.name, key)
        self.errors.append(self.hosts.error(InventoryError, f"{entry.name}: {message}", *path))

    # the new text

    def _text(self, new: Sequence[Entry], filled: Sequence[tuple[str, Mapping[str, str]]]) -> str:
        before = self.hosts.text
        expected = dict(self.hosts.data or {})
        lines = before.splitlines(keepends=True)
        for name, values in filled:
            expected[name] = _with(expected[name] or {}, values)
            self._replace(lines, name, expected[name])
        after = "".join(lines)
        if new:
            added = {entry.name: _host(entry) for entry in new}
            expected |= added
            after = after.rstrip() + "\n" if after.strip() not in ("", "{}", "---") else ""
            after += yamldoc.dump(added)
        if (yamldoc.parse(after, str(self.file), InventoryError).data or {}) != expected:
            raise InventoryError("is written in a way that cannot be added to; give every host lines of its own", self.file)
        return after

    def _replace(self, lines: list[str], name: str, host: Mapping[str, Any]) -> None:
        """Write one host anew, in its place. Refused where that would lose a comment."""
        starts = [at for at, line in enumerate(lines) if re.match(rf"(['\"]?){re.escape(name)}\1\s*:", line)]
        end = next((at for at in range(starts[0] + 1, len(lines)) if re.match(r"[^\s#]", lines[at])), len(lines)) if starts else 0
        while starts and end > starts[0] + 1 and re.match(r"\s*(#.*)?$", lines[end - 1]):
            end -= 1
        if len(starts) != 1 or any("#" in line for line in lines[starts[0] : end]):
            lacks = ", ".join(f"{key}: {value}" for key, value in host.items())
            raise self.hosts.error(InventoryError, f"{name} has comments or is written otherwise; add by hand: {lacks}", name)
        lines[starts[0] : end] = [yamldoc.dump({name: dict(host)})]

    def _check(self, text_: str) -> None:
        """The inventory as it would be must load; its errors are given at their lines."""
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("groups.yaml", "defaults.yaml"):
                if (self.folder / name).exists():
                    (Path(scratch) / name).write_bytes((self.folder / name).read_bytes())
            (Path(scratch) / "hosts.yaml").write_text(text_, encoding="utf-8")
            try:
                inventories.load(Path(scratch))
            except (FileError, ErrorList) as problem:
                found = problem.errors if isinstance(problem, ErrorList) else [problem]
                _raise([self._moved(error) for error in found])

    def _moved(self, error: SetupError) -> SetupError:
        if not isinstance(error, FileError) or error.file is None:
            return error
        return InventoryError(f"would be refused: {error.message}", self.folder / Path(error.file).name, error.line)


def _host(entry: Entry) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if entry.address:
        out["hostname"] = entry.address
    if entry.port:
        out["port"] = entry.port
    if len(entry.platforms) == 1:
        out["platform"] = entry.platforms[0]
    if entry.groups:
        out["groups"] = list(entry.groups)
    data: dict[str, Any] = {key: entry.data[key] for key in TEXTS if key in entry.data}
    if len(entry.platforms) > 1:
        data = {"platforms": list(entry.platforms), **data}
    return out | ({"data": data} if data else {})


def _with(host: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    out = {key: dict(value) if isinstance(value, dict) else value for key, value in host.items()}
    for key, value in values.items():
        if key in TEXTS:
            out["data"] = {**(out.get("data") or {}), key: value}
        else:
            out = {key: int(value) if key == "port" else value, **out}
    return out
