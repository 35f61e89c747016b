"""Reads `mlxfwmanager --query` and its XML form: part, parameter-set id and firmware of NVIDIA adapters, as plain values.

    Device #1:
    ----------

      Device Type:      ConnectX7
      Part Number:      MCX75310AAS-NEA_Ax
      PSID:             MT_0000000838
      PCI Device Name:  0000:1a:00.0
      Versions:         Current        Available
         FW             28.43.1014     N/A
         FW (Running)   28.41.1000     N/A

`Current` is the image in the flash, which the next start loads; the line of the running version is printed only while it is
another one. `Available` is what the images at hand hold; without one it is `N/A` and says nothing about the adapter, so it is
not read. An adapter that could not be opened has dashes instead of values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from auditor import canonical, xmldoc

_BLOCK = re.compile(r"^Device #\d+:[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"^[ \t]+([A-Z][\w ]*?):[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_VERSION = re.compile(r"^[ \t]+(FW(?: \(Running\))?)[ \t]+(\S+)[ \t]+\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Device:
    """One adapter. `name` is how the tool calls it: a PCI address or a device node; the others None where nothing is said."""

    name: str
    part_number: str | None
    psid: str | None
    stored: str | None
    running: str | None


def devices(text: str) -> list[Device]:
    """Every adapter of the text form, in its order."""
    starts = [found.end() for found in _BLOCK.finditer(text)]
    blocks = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [_device(dict(reversed(_LINE.findall(block))), dict(_VERSION.findall(block))) for block in blocks]


def xml_devices(text: str) -> list[Device]:
    """Every adapter of the XML form. Raises ValueError when it is no whole document of this kind."""
    root = xmldoc.parse(text)
    if root.tag != "Devices":
        raise ValueError(f"no list of devices, but {root.tag[:40]!r}")
    found = []
    for item in root.iter("Device"):
        labels = {"PCI Device Name": item.get("pciName"), "Part Number": item.get("partNumber"), "PSID": item.get("psid")}
        versions = {label: node.get("current") for label, node in _versions(item).items()}
        found.append(_device(labels, versions))
    return found


def _versions(item: xmldoc.Element) -> Mapping[str, xmldoc.Element]:
    nodes = {"FW": item.find("Versions/FW"), "FW (Running)": item.find("Versions/FW_Running")}
    return {label: node for label, node in nodes.items() if node is not None}


def _device(labels: Mapping[str, str | None], versions: Mapping[str, str | None]) -> Device:
    stored, running = _stated(versions.get("FW")), _stated(versions.get("FW (Running)"))
    return Device(
        labels.get("PCI Device Name") or "", _stated(labels.get("Part Number")), _stated(labels.get("PSID")), stored,
        running or stored,
    )  # fmt: skip


def _stated(value: str | None) -> str | None:
    return None if value is None or canonical.nothing(value) else value.strip()
