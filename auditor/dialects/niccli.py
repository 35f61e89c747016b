"""Reads Broadcom's `niccli`: its lists of adapters in both generations, and how a port classifies and pauses.

    1 ) Broadcom BCM57608 1x400G QSFP-DD PCIe Ethernet NIC (Adp#1 Port#1)
         Device Interface Name     : ens1np0
         MAC Address               : 5C:6F:69:00:12:30
         PCI Address               : 0000:16:00.0

The older list is a table whose PCI addresses are written `00:16:00:01`: domain, bus, device, function. The numbers in front are
the tool's own and follow neither slots nor ports. In the QoS block `PFC enabled:` lists priorities; entries of the application
table with `Sel: 5` map one code point each, and code points without an entry are not printed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditor import canonical

_HEAD = re.compile(r"^\s*\d+ ?\) (?=\S)(.*)$", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]+([A-Z][\w ]*?)[ \t]*: (\S+)[ \t]*$", re.MULTILINE)
_OLD = re.compile(
    r"^\s*\d+\) (\S+)\s+([0-9A-Fa-f:]{17})\s+(\S+)\s+([0-9a-f]{2,4}):([0-9a-f]{2}):([0-9a-f]{2}):([0-9a-f]{2})\s",
    re.IGNORECASE,
)
_APP = re.compile(r"Priority: (\d)\s+Sel: 5\s+DSCP: (\d+)\s")
_PFC = re.compile(r"^[ \t]*PFC enabled:[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Adapter:
    """One port of an adapter. `netdev` is empty in the older list, `firmware` in the newer one."""

    pci: str
    mac: str
    netdev: str = ""
    firmware: str = ""


def adapters(text: str) -> list[Adapter]:
    """Every port of a list of either generation. Raises ValueError for a port without addresses."""
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return [_adapter(text[head.start() : end]) for head, end in zip(heads, ends, strict=True)]


def _adapter(block: str) -> Adapter:
    old = _OLD.match(block)
    if old is not None:
        domain, bus, device, function = (int(part, 16) for part in old.groups()[3:])
        return Adapter(f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}", canonical.mac(old[2]), firmware=old[3])
    fields = dict(_FIELD.findall(block))
    if "PCI Address" not in fields or "MAC Address" not in fields:
        raise ValueError(f"an adapter without its addresses: {block.strip().splitlines()[0][:80]!r}")
    return Adapter(
        canonical.pci(fields["PCI Address"]), canonical.mac(fields["MAC Address"]), fields.get("Device Interface Name", "")
    )


def pfc(text: str) -> tuple[int, ...] | None:
    """The priorities with PFC; None where the line is missing. Raises ValueError for what is no list."""
    found = _PFC.search(text)
    return None if found is None else canonical.number_list("" if canonical.nothing(found[1]) else found[1])


def dscp_map(text: str) -> dict[int, int]:
    """The priority of every code point that has an entry."""
    return {int(dscp): int(priority) for priority, dscp in _APP.findall(text)}
