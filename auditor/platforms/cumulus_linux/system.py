"""What a Cumulus switch says of itself: `nv show system`, `/etc/lsb-release`, `nv show platform`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.facts import System
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
