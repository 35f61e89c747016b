"""Devices as a plan, a CSV file or NetBox describe them, in the words of the inventory."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from auditor.canonical import printable
from auditor.errors import ErrorList, InventoryError, SetupError
from auditor.model import Status
from auditor.plan.formats.netbox_document import DEVICES, Object, called, choice, text
from auditor.plan.formats.netbox_document import decode as decode_netbox
from auditor.platforms import platforms
from auditor.settings import suggest
from auditor.workflows import plan as plans
from auditor.workflows.project import load_settings

TEXTS = ("role", "site", "pod", "rack", "position", "hardware_model", "bmc_address", "status")
"""What is kept under `data` of a host, in this order."""

COLUMNS = ("name", "address", "port", "platform", "platforms", "groups", *TEXTS)
"""The columns of a CSV file of devices; `name` is the one that must be there."""

_STATUSES = {"active": "accepted", "staged": "installed", "planned": "planned"}
"""NetBox's words for devices that are there or will be; others (offline, failed, inventory, decommissioning) are left out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One device as a source describes it; empty where it says nothing. `place` is where it says so, `line` in a file."""

    name: str
    place: str
    line: int | None = None
    address: str = ""
    port: int | None = None
    platforms: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """File and line, for people."""
        return self.place if self.line is None else f"{self.place}:{self.line}"


def from_plan(folder: str, file: str | None, form: str, options: Mapping[str, str]) -> tuple[list[Entry], list[str]]:
    """Every device of a plan (default: the project's) in any of its formats, and the notes of reading it."""
    path = Path(file) if file else load_settings(folder).plan
    _, imported = plans.read(path, form, options)
    known = platforms()
    entries = []
    for device in imported.devices:
        hints = tuple(name for hint in device.platforms if (name := hint.replace("-", "_")) in known)
        data = {"role": device.role, "rack": device.rack, "position": device.position, "hardware_model": device.hardware_model}
        entries.append(Entry(device.name, str(path), platforms=hints, data={key: value for key, value in data.items() if value}))
    return entries, list(imported.notes)


def from_csv(file: Path) -> list[Entry]:
    """Devices of a CSV file; raises InventoryError or ErrorList with file and line."""
    try:
        raw = file.read_bytes()
        content = raw.decode("utf-8-sig")
    except OSError as problem:
        raise InventoryError(f"cannot be read: {problem.strerror}", file) from None
    except UnicodeDecodeError as problem:
        raise InventoryError("is not UTF-8 text", file, raw[: problem.start].count(b"\n") + 1) from None
    reader, errors, entries = csv.reader(io.StringIO(content, newline=""), strict=True), list[SetupError](), list[Entry]()
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            number, line = line, reader.line_num + 1
            if not any(map(str.strip, cells)):
                continue
            if header is None:
                header = _header([cell.strip() for cell in cells], file, number)
            elif len(cells) != len(header):
                errors.append(InventoryError(f"has {len(cells)} fields where the header has {len(header)}", file, number))
            else:
                entries += _row(dict(zip(header, map(str.strip, cells), strict=True)), file, number, errors)
    except csv.Error as problem:
        raise InventoryError(f"is no CSV: {problem}", file, line) from None
    if errors:
        raise ErrorList(errors) if len(errors) > 1 else errors[0]
    if header is None:
        raise InventoryError("is empty: it starts with a line of column names, of which name must be one", file)
    return entries


def _header(names: list[str], file: Path, line: int) -> list[str]:
    for name in names:
        if name not in COLUMNS:
            raise InventoryError(f"no such column: {printable(name, 40)!r}{suggest(name, list(COLUMNS))}", file, line)
        if names.count(name) > 1:
            raise InventoryError(f"column {name!r} stands twice", file, line)
    if "name" not in names:
        raise InventoryError("column 'name' is missing", file, line)
    return names


def _row(row: Mapping[str, str], file: Path, line: int, errors: list[SetupError]) -> Iterator[Entry]:
    named = tuple(re.split(r"[\s;|]+", f"{row.get('platform', '')} {row.get('platforms', '')}".strip()))
    names = tuple(dict.fromkeys(name for name in named if name))
    wrong = [f"unknown platform {name!r}{suggest(name, sorted(platforms()))}" for name in names if name not in platforms()]
    status, port = row.get("status", ""), row.get("port", "")
    if status and status not in list(Status):
        wrong.append(f"status must be one of {', '.join(Status)}")
    if port and not (port.isdecimal() and 0 < int(port) < 65536):
        wrong.append("port must be a number from 1 to 65535")
    wrong += [f"{column}: control character" for column, value in row.items() if not value.isprintable()]
    if wrong:
        errors.extend(InventoryError(words, file, line) for words in wrong)
        return
    groups = tuple(name for name in re.split(r"[\s;|]+", row.get("groups", "")) if name)
    data = {key: row[key] for key in TEXTS if row.get(key)}
    yield Entry(row["name"], str(file), line, row.get("address", ""), int(port) if port else None, names, groups, data)


def from_netbox(raw: bytes | Sequence[Object], place: str) -> tuple[list[Entry], list[str]]:
    """Devices of NetBox, as answered by its REST API or from a document with the list `dcim/devices`, and what was left out."""
    devices = decode_netbox(raw, place).get(DEVICES, []) if isinstance(raw, bytes) else raw
    known, entries, notes = platforms(), list[Entry](), list[str]()
    names = Counter(text(device, "name") for device in devices)
    for device in devices:
        name = text(device, "name")
        shown = name or f"device {text(device, 'id')}"
        status = choice(device, "status")
        if not name:
            notes.append(f"{shown}: has no name")
        elif names[name] > 1:
            notes.append(f"{shown} (id {text(device, 'id')}): several devices have this name; filter by site or tenant")
        elif status and status not in _STATUSES:
            notes.append(f"{shown}: status {status}")
        else:
            entries.append(_device(device, name, place, status, known))
    return entries, notes


def _device(device: Object, name: str, place: str, status: str, known: Collection[str]) -> Entry:
    def address(field_: str) -> str:
        return (text(device, field_, "address") or text(device, field_)).partition("/")[0]

    platform = called(device, "platform", slug=True).replace("-", "_")
    data = {
        "role": called(device, "role", slug=True) or called(device, "device_role", slug=True),
        "site": called(device, "site", slug=True),
        "rack": called(device, "rack"),
        "position": re.sub(r"\.0$", "", text(device, "position")),
        "hardware_model": text(device, "device_type", "model"),
        "bmc_address": address("oob_ip"),
        "status": _STATUSES.get(status, ""),
    }
    reached = address("primary_ip") or address("primary_ip4") or address("primary_ip6")
    hints = (platform,) if platform in known else ()
    return Entry(name, place, None, reached, None, hints, (), {key: value for key, value in data.items() if value})
