"""What a Cumulus switch says of itself: `nv show system`, `/etc/lsb-release`, `nv show platform`, its firmware."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.canonical import printable
from auditor.facts import Firmware, System
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cumulus_linux import answers

_NONE = ("", "n/a", "N/A")


def hostname(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show system`: its labels differ between releases, that of the name does not."""
    found = re.search(r"^hostname +(\S+)", body, re.MULTILINE)
    yield System(hostname=None if found is None else found.group(1))


def release(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`/etc/lsb-release`: `3.7.9`, `5.0.0`; what stands behind a `~` is a build."""
    found = re.search(r"^DISTRIB_RELEASE=\"?([\w.~+-]+)\"?\s*$", body, re.MULTILINE)
    version = None if found is None else found.group(1)
    if version is not None and f' {version}"' not in body:
        yield Unread(System, (), "os_version", GapReason.TRUNCATED, "the description does not end with this release")
        version = None
    yield System(os_name="Cumulus Linux", os_version=version)


def platform(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show platform`: maker, model, serial number."""
    told = answers.settings(body)
    values = {label: told.get(label, "") for label in ("manufacturer", "product-name", "serial-number")}
    vendor, model, serial = (None if text in _NONE else text for text in values.values())
    yield System(vendor=vendor, hardware_model=model, serial=serial)
    for column, label in (("vendor", "manufacturer"), ("hardware_model", "product-name"), ("serial", "serial-number")):
        if values[label] in _NONE:
            yield Unread(System, (), column, GapReason.UNSUPPORTED, f"no {label} is told")


def firmware(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show platform firmware`: one line for each component; `BIOS` is `bios`, `CPLD1` is `cpld.1`."""
    table = answers.plain(body)
    if {"Name", "Actual FW", "Part Number"} - set(table.headers):
        raise ValueError(f"not the columns of `nv show platform firmware`: {printable(' '.join(table.headers), 120)!r}")
    for row in table.rows:
        if row.cells is None or "FW Source" not in row.cells:
            yield Unread(Firmware, detail=f"does not fit under the columns: {printable(row.text.strip(), 80)!r}")
            continue
        name, version, part = (row.cells[header] for header in ("Name", "Actual FW", "Part Number"))
        component = re.sub(r"^cpld-?_?(?=\d)", "cpld.", name.lower())
        known = version not in _NONE and not version.endswith("…")
        number = part not in _NONE and not part.endswith("…")
        yield Firmware(component=component, version=version if known else None, part_number=part if number else None)
        if not known:
            yield Unread(
                Firmware, (component,), "version", GapReason.UNSUPPORTED, f"no version is told: {printable(version, 40)!r}"
            )
