"""Reads `devlink dev info`: what drivers say of the firmware of their devices, as plain values.

    pci/0000:1a:00.0:
      driver mlx5_core
      versions:
          fixed:
            fw.psid MT_0000000838
          running:
            fw.version 28.41.1000
          stored:
            fw.version 28.43.1014

`running` is what the device executes, `stored` what its next start loads (Documentation/networking/devlink/devlink-info.rst of
the kernel). Sections that a driver has nothing to say in are left out; functions on other buses stand among those on PCI.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_HANDLE = re.compile(r"([\w.-]+/\S+):\s*")
_SECTION = re.compile(r"\s+(fixed|running|stored):\s*")
_PAIR = re.compile(r"\s+([\w.-]+) (\S.*?)\s*")


@dataclass(slots=True)
class Device:
    """One device: its handle (`pci/0000:1a:00.0`), its plain attributes, and versions by name for each kind."""

    handle: str
    fields: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)


def devices(text: str) -> list[Device]:
    """Every device of the output, in its order."""
    found: list[Device] = []
    into: dict[str, str] = {}
    for line in text.splitlines():
        if handle := _HANDLE.fullmatch(line):
            found.append(Device(handle.group(1)))
            into = found[-1].fields
        elif found and (section := _SECTION.fullmatch(line)):
            into = {"fixed": found[-1].fixed, "running": found[-1].running, "stored": found[-1].stored}[section.group(1)]
        elif pair := _PAIR.fullmatch(line):
            into.setdefault(pair.group(1), pair.group(2))
    return found
