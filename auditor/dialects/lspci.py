"""What `lspci` prints, with and without `-v`, `-nn` and `-D`: one record per function, as plain values.

A record starts at the first column and ends at a blank line; without `-v` it is one line. The domain stands there only where some
function needs it. `(ok)` and `(downgraded)` depend on the version of pciutils and are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from auditor import canonical

CLASSES = {
    "SCSI storage controller": 0x0100, "RAID bus controller": 0x0104, "SATA controller": 0x0106,
    "Serial Attached SCSI controller": 0x0107, "Non-Volatile memory controller": 0x0108, "Ethernet controller": 0x0200,
    "Infiniband controller": 0x0207, "Network controller": 0x0280, "VGA compatible controller": 0x0300, "3D controller": 0x0302,
    "Display controller": 0x0380, "RAM memory": 0x0500, "Memory controller": 0x0580, "Host bridge": 0x0600, "ISA bridge": 0x0601,
    "PCI bridge": 0x0604, "Bridge": 0x0680, "Communication controller": 0x0780, "System peripheral": 0x0880,
    "USB controller": 0x0C03, "SMBus": 0x0C05, "Serial bus controller": 0x0C80, "Performance counters": 0x1101,
    "Signal processing controller": 0x1180, "Processing accelerators": 0x1200,
}  # fmt: skip
"""Class codes (16 bits) by the names that pci.ids has for them: those of GPU hosts."""

HEAD = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_HEAD = re.compile(rf"({HEAD})(?: (.*))?")
_CLASS = re.compile(r"(?:(.*?) )?\[([0-9a-f]{4})\]$|Class ([0-9a-f]{4})$")
_IDS = re.compile(r".*\[([0-9a-f]{4}):([0-9a-f]{4})\]")
_LINK = re.compile(r"Speed (?:(\d+(?:\.\d+)?)GT/s|unknown)(?: \(\w+\))?, Width x(\d+)")
_BUS = re.compile(r"primary=([0-9a-f]{2}), secondary=([0-9a-f]{2}), ")
_PORT = re.compile(r"\] Express (?:\(v\d+\) )?([A-Z][^,]*?)(?: \(Slot[+-]\))?(?:, |$)")
_ACS = re.compile(r"ReqRedir([+-]) CmpltRedir([+-])")
MAX_LINE = 1000
"""Characters of a line that are looked at. The longest real ones, product names of adapters, have some 300."""

_ALL_ONES = 63
"""Lanes that a register of ones says: nobody answers at this address any more."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Transfers per second of a lane, and lanes; None where a register says neither."""

    speed: int | None
    width: int | None


@dataclass(slots=True)
class Function:
    """One function. `port` is the kind of its PCI Express capability (`Endpoint`, `Root Port` …), `secondary` the bus below a
    bridge (with domain). `acs_unread`: it has access control, whose state only -vv prints. `denied`: the capabilities may be
    read by root only. `dead`: it answers with ones alone."""

    address: str
    class_code: int | None = None
    name: str = ""
    vendor_id: int | None = None
    device_id: int | None = None
    port: str = ""
    can: Ends | None = None
    runs: Ends | None = None
    secondary: str | None = None
    numa: int | None = None
    slot: str | None = None
    acs: bool | None = None
    acs_unread: bool = False
    denied: bool = False
    dead: bool = False


def functions(body: str) -> Iterator[Function]:
    """Every record of an answer. Raises ValueError for a line that belongs to none."""
    current: Function | None = None
    for number, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        if line[0] in " \t":
            if current is None:
                raise ValueError(f"line {number} belongs to no function: {line.strip()[:60]!r}")
            _detail(current, line[:MAX_LINE].strip())
            continue
        found = _HEAD.fullmatch(line[:MAX_LINE])
        if found is None:
            raise ValueError(f"line {number} names no function: {line[:60]!r}")
        if current is not None:
            yield current
        current = _headed(canonical.pci(found.group(1)), (found.group(2) or "").strip())
    if current is not None:
        yield current


def _headed(address: str, text: str) -> Function:
    """`3D controller [0302]: NVIDIA Corporation GH100 [H100] [10de:2330] (rev a1)`; numbers only with -nn, or without a name."""
    kind, _, name = text.partition(": ")
    numbered, ids = _CLASS.match(kind), _IDS.match(name)
    code = (numbered.group(2) or numbered.group(3)) if numbered is not None else None
    return Function(
        address,
        class_code=int(code, 16) if code is not None else CLASSES.get(kind),
        name=name,
        vendor_id=int(ids.group(1), 16) if ids is not None else None,
        device_id=int(ids.group(2), 16) if ids is not None else None,
    )


def _detail(function: Function, line: str) -> None:
    label, _, rest = line.partition(":")
    rest = rest.strip()
    if line.startswith("!!! Unknown header type 7f"):
        function.dead = True
    elif label == "Capabilities":
        if rest == "<access denied>":
            function.denied = True
        elif (port := _PORT.search(rest)) is not None:
            function.port = port.group(1)
        elif rest.endswith("] Access Control Services"):
            function.acs_unread = True
    elif label == "LnkCap":
        function.can = _ends(rest)
    elif label == "LnkSta":
        function.runs = _ends(rest)
    elif label == "NUMA node" and rest.isdecimal():
        function.numa = int(rest)
    elif label == "Physical Slot":
        function.slot = rest
    elif label == "Bus" and (bus := _BUS.match(rest)) is not None:
        function.secondary = f"{function.address.partition(':')[0]}:{bus.group(2)}"
    elif label == "ACSCtl" and (acs := _ACS.search(rest)) is not None:
        function.acs, function.acs_unread = "+" in acs.groups(), False


def _ends(text: str) -> Ends:
    found = _LINK.search(text)
    if found is None:
        return Ends(None, None)
    width = int(found.group(2))
    return Ends(None if found.group(1) is None else round(float(found.group(1)) * 1e9), width if 0 < width < _ALL_ONES else None)
