"""What a Nexus says of itself: `show version` and `show inventory`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.facts import Firmware, System
from auditor.model import GapReason, Normalised, Unread


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The release without its build, the model of the chassis, the name, and the BIOS."""
    yield System(
        vendor="Cisco",
        os_name="NX-OS",
        os_version=_one(body, r"^ +NXOS: version (\S+)"),
        hardware_model=_one(body, r"^ +cisco Nexus9000 (\S+) Chassis"),
        hostname=_one(body, r"^ +Device name: (\S+)"),
        image_id=_one(body, r"^ +NXOS image file is: (\S+)"),
    )
    bios = _one(body, r"^ +BIOS: version (\S+)")
    if bios is not None:
        yield Firmware(component="bios", version=bios)


def inventory(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The serial number of the chassis; `N/A` where it tells none."""
    found = re.search(r'^NAME: "Chassis".*\n+PID: .*?SN: (\S+)', body, re.MULTILINE)
    serial = None if found is None else found.group(1)
    yield System(serial=None if serial in (None, "N/A") else serial)
    if serial == "N/A":
        yield Unread(System, (), "serial", GapReason.UNSUPPORTED, "the chassis tells no serial number")


def _one(body: str, pattern: str) -> str | None:
    found = re.search(pattern, body, re.MULTILINE)
    return None if found is None else found.group(1)
