"""Reads AMD's `nicctl show port|qos|dcqcn`: blocks of labels, one block for each adapter.

    NIC  : 42424650-4c32-3531-3230-303443000000 (0000:f6:00.0)

    Port : 04908130-a7a0-4242-4242-000011010000 (eth1/1)
      Spec:
        speed                                    : 400G
      Status:
        speed                                    : 400G

`Spec:` is what was asked for, `Status:` what is; they share labels. Copies lose the indentation, so it is not read: a label
belongs to the last heading above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from auditor import canonical

_NIC = re.compile(r"\s*NIC\s*: \S+\s+\(([0-9a-fA-F:.]+)\)\s*")
_HEADING = re.compile(r"\s*(Spec|Status):\s*")
_PAIR = re.compile(r"\s*([A-Z][\w ()/-]*?|speed)\s*:(?: (.*?))?\s*")
_MAPPED = re.compile(r"\s*DSCP\s*: ([\d, -]+?)\s*==> priority : (\d)\s*")


@dataclass(slots=True)
class Nic:
    """One adapter: its PCI address, its labels under `Spec:`, and those under `Status:` or under no heading.

    `dscp` are the code points by priority, from the lists (not the bit maps) of `show qos`; None where none is printed.
    """

    pci: str
    spec: dict[str, str] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    dscp: dict[int, int] | None = None


def nics(text: str) -> Iterator[Nic]:
    """Every adapter of the output, in its order. Raises ValueError for lists of code points that are none."""
    nic: Nic | None = None
    into: dict[str, str] = {}
    for line in text.splitlines():
        if head := _NIC.fullmatch(line):
            if nic is not None:
                yield nic
            nic = Nic(canonical.pci(head[1]))
            into = nic.status
        elif nic is None:
            continue
        elif heading := _HEADING.fullmatch(line):
            into = nic.spec if heading[1] == "Spec" else nic.status
        elif mapped := _MAPPED.fullmatch(line):
            points = canonical.number_list(mapped[1].replace(" ", ""))
            nic.dscp = {**(nic.dscp or {}), **dict.fromkeys(points, int(mapped[2]))}
        elif pair := _PAIR.fullmatch(line):
            into.setdefault(pair[1], pair[2] or "")
    if nic is not None:
        yield nic
