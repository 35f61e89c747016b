"""PCI functions out of the kernel's device tree, as `grep -r . /sys/devices` prints it: one `path:value` line for each file.

The path is the tree: `pci0000:15/0000:15:01.0/0000:16:00.0` says which port a function hangs under. Files of other devices below
a function (its network devices, its disks) have the same names and are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from auditor import canonical

FILES = (
    "class", "vendor", "device", "numa_node", "current_link_speed", "current_link_width", "max_link_speed", "max_link_width",
)  # fmt: skip
"""Files of a function that are read; all are world-readable."""

SLOTS = "/sys/bus/pci/slots"

_FILE = re.compile(rf"^(/sys/devices/\S*?)/({'|'.join(FILES)}):(.*)$", re.MULTILINE)
_ROOT = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_RDMA = re.compile(r"^(/sys/devices/\S*?)/infiniband/([^/\s]+)/node_type:", re.MULTILINE)
_SLOT = re.compile(rf"{SLOTS}/([^/\n]+)/address:([0-9a-f]{{4,8}}:[0-9a-f]{{2}}:[0-9a-f]{{2}})\s*")
_SPEED = re.compile(r"(\d+(?:\.\d+)?) GT/s(?: PCIe)?")
_ALL_ONES = 63
"""Lanes that a register of ones says: nobody answers at this address any more."""


@dataclass(slots=True)
class Function:
    """One function: the port above it (None at a host bridge), how many ports stand above, and its files by name."""

    address: str
    parent: str | None
    depth: int
    files: dict[str, str] = field(default_factory=dict)

    def number(self, name: str) -> int | None:
        """A number in hexadecimal (`0x15b3`); raises ValueError."""
        return None if name not in self.files else int(self.files[name], 16)

    @property
    def numa(self) -> int | None:
        """The NUMA node; None where the firmware says -1. Raises ValueError."""
        node = int(self.files.get("numa_node", "-1"))
        return node if node >= 0 else None

    def speed(self, name: str) -> int | None:
        """Transfers per second of a lane from `16.0 GT/s PCIe` or, of older kernels, `16 GT/s`; None for `Unknown`."""
        text = self.files.get(name, "").strip()
        found = _SPEED.fullmatch(text)
        if found is None and text and not text.lower().startswith("unknown"):
            raise ValueError(f"no speed: {text[:40]!r}")
        return None if found is None else round(float(found.group(1)) * 1e9)

    def width(self, name: str) -> int | None:
        """Lanes; None for 0 (no link) and for what a register of ones says. Raises ValueError."""
        lanes = int(self.files.get(name, "0"))
        return lanes if 0 < lanes < _ALL_ONES else None

    @property
    def dead(self) -> bool:
        """Whether the function answers with ones alone: it fell off the bus, and the kernel does not know yet."""
        return self.files.get("current_link_width", "").strip() == str(_ALL_ONES)


def functions(body: str) -> dict[str, Function]:
    """Every function of an answer, by address."""
    found: dict[str, Function] = {}
    paths: dict[str, list[str]] = {}
    for path, name, value in _FILE.findall(body):
        above = paths[path] if path in paths else paths.setdefault(path, _above(path))
        if not above:
            continue
        if above[-1] not in found:
            found[above[-1]] = Function(above[-1], above[-2] if len(above) > 1 else None, len(above) - 1)
        found[above[-1]].files[name] = value.strip()
    return found


def _above(path: str) -> list[str]:
    """The functions of a path from its host bridge down; none where the path leads to something that hangs on a function."""
    parts = path.split("/")
    roots = [at for at, part in enumerate(parts) if _ROOT.fullmatch(part)]
    below = parts[roots[-1] + 1 :] if roots else []
    return [canonical.pci(part) for part in below] if all(map(_ADDRESS.fullmatch, below)) else []


def rdma_devices(body: str) -> Mapping[str, str]:
    """Addresses of the functions behind RDMA devices, by their names; software devices have none."""
    paths = {name: _above(path) for path, name in _RDMA.findall(body)}
    return {name: above[-1] for name, above in paths.items() if above}


def slots(body: str) -> Mapping[str, str]:
    """Names of the machine's slots by device address without function (`0000:19:00`)."""
    return {address: name for name, address in _SLOT.findall(body)}
