"""PCI functions in the XML that `lstopo` (hwloc) writes: the port above each, and the NUMA node of what it hangs under.

hwloc leaves out bridges and devices that it finds unimportant, so nothing is absent because it is not here. The speeds that it
prints are those of the moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from auditor import canonical, xmldoc

_TYPE = re.compile(r"([0-9a-fA-F]{4}) \[([0-9a-fA-F]{4}):([0-9a-fA-F]{4})\] .*")


@dataclass(frozen=True, slots=True)
class Function:
    """One function. `parent`: the nearest bridge above it that is shown."""

    address: str
    class_code: int
    vendor_id: int
    device_id: int
    parent: str | None
    numa: int | None


def functions(body: str) -> list[Function]:
    """Every PCI function of a dump. Raises ValueError when it is none, or holds an address that is none."""
    root = xmldoc.parse(body, "lstopo")
    if root.tag != "topology":
        raise ValueError(f"lstopo: no topology but <{canonical.printable(root.tag, 40)}>")
    return list(_below(root, None, None))


def _below(root: xmldoc.Element, parent: str | None, numa: int | None) -> Iterator[Function]:
    stack = [(child, parent, numa) for child in reversed(root)]
    while stack:
        element, parent, numa = stack.pop()
        if element.tag != "object":
            continue
        if "nodeset" in element.attrib:
            numa = _only(element.attrib["nodeset"])
        bus, kind = element.get("pci_busid"), element.get("pci_type")
        if bus is not None and kind is not None:
            found = _TYPE.fullmatch(kind)
            if found is None:
                raise ValueError(f"lstopo: {bus[:40]!r} has no type: {kind[:60]!r}")
            code, vendor, device = (int(text, 16) for text in found.groups())
            address = canonical.pci(bus)
            yield Function(address, code, vendor, device, parent, numa)
            parent = address if element.get("type") == "Bridge" else parent
        stack.extend((child, parent, numa) for child in reversed(element))


def _only(nodes: str) -> int | None:
    """The node of a set of one, written as hexadecimal groups of 32 bits (empty for 0), the highest first."""
    bits = 0
    for group in nodes.split(","):
        bits = bits << 32 | int(group or "0", 16)
    return bits.bit_length() - 1 if bits and not bits & (bits - 1) else None
