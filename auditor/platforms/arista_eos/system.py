"""What an EOS switch is: `show version` as text and as JSON, and its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from auditor.facts import System
from auditor.model import Normalised, Unread

TEXT = ("vendor", "hardware_model", "serial", "os_name", "os_version", "kernel", "image_id")
DOCUMENT = (*TEXT, "booted_at")


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show version`. The serial number of a virtual switch is empty; a build behind the version is not part of it."""
    values: dict[str, str] = {}
    for line in body.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            values.setdefault(label.strip(), value.strip())
    model = re.search(r"^Arista (\S+)\s*$", body, re.MULTILINE)
    yield System(
        vendor="Arista",
        hardware_model=None if model is None else model.group(1),
        serial=values.get("Serial number") or None,
        os_name="EOS",
        os_version=values.get("Software image version", "").partition(" ")[0] or None,
        kernel=values.get("Kernel version") or None,
        image_id=values.get("Internal build ID") or None,
    )


def document(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show version | json`, which also has the time of the start. Raises ValueError without model and version."""
    found = data if isinstance(data, Mapping) else {}
    said = {name: _text(found, name) for name in ("modelName", "version", "serialNumber", "kernelVersion", "internalBuildId")}
    if not said["modelName"] or not said["version"]:
        raise ValueError("no members 'modelName' and 'version'")
    started = found.get("bootupTimestamp")
    known = isinstance(started, int | float) and not isinstance(started, bool) and 0 < started < 1e11
    yield System(
        vendor="Arista",
        hardware_model=said["modelName"],
        serial=said["serialNumber"],
        os_name="EOS",
        os_version=str(said["version"]).partition(" ")[0],
        kernel=said["kernelVersion"],
        image_id=said["internalBuildId"],
        booted_at=datetime.fromtimestamp(int(started or 0), UTC).isoformat().replace("+00:00", "Z") if known else None,
    )
    if not known:
        yield Unread(System, (), "booted_at", detail="no time of the start in it")


def hostname(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show hostname | json`. Raises ValueError without the name."""
    name = _text(data, "hostname") if isinstance(data, Mapping) else None
    if name is None:
        raise ValueError("no member 'hostname'")
    yield System(hostname=name)


def _text(found: Mapping[str, Any], name: str) -> str | None:
    value = found.get(name)
    return value.strip() or None if isinstance(value, str) else None
