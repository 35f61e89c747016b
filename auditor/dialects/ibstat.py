"""Reads `ibstat`: the InfiniBand adapters of a host and their ports, as plain values.

    CA 'mlx5_0'
            CA type: MT4129
            Number of ports: 1
            Node GUID: 0xb83fd2030042a000
            Port 1:
                    State: Active
                    Port GUID: 0xb83fd2030042a001
                    Link layer: InfiniBand

Ports of Ethernet adapters stand in it as well. The indent is tabs, or blanks in what a terminal printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_HEAD = re.compile(r"(?:CA|Switch|Router|iWARP RNIC|\?\?\?) '(\S+)'\s*")
_PORT = re.compile(r"\s+Port (\d{1,3}):\s*")
_FIELD = re.compile(r"\s+([A-Z][\w ]*): (.*)")


@dataclass(frozen=True, slots=True)
class Port:
    """One port: its number and its lines by label, as printed."""

    number: str
    fields: Mapping[str, str]

    @property
    def infiniband(self) -> bool:
        """Whether its link layer is InfiniBand. A simulated adapter calls it IB."""
        return self.fields.get("Link layer") in ("InfiniBand", "IB")

    @property
    def active(self) -> bool:
        """Whether a subnet manager took it into service."""
        return self.fields.get("State") == "Active"


@dataclass(slots=True)
class Adapter:
    """One adapter: its name and the lines above its first port by label."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether every port it counts is there, down to the label that comes last."""
        return self.fields.get("Number of ports") == str(len(self.ports)) and all(
            "Link layer" in port.fields for port in self.ports
        )


def adapters(text: str) -> list[Adapter]:
    """Every adapter of the output, in its order. One whose text was cut is given too; its `whole` is False."""
    found: list[Adapter] = []
    fields: dict[str, str] = {}
    for line in text.splitlines():
        head, port = _HEAD.fullmatch(line), _PORT.fullmatch(line)
        if head is not None:
            found.append(Adapter(head.group(1)))
            fields = found[-1].fields
        elif port is not None and found:
            fields = {}
            found[-1].ports.append(Port(port.group(1), fields))
        elif pair := _FIELD.fullmatch(line):
            fields.setdefault(pair.group(1).strip(), pair.group(2).strip())
    return found


def fabric_adapters(text: str) -> list[str]:
    """Adapters that reach an InfiniBand fabric: those with an active port on one. Where there is none, every adapter with an
    InfiniBand port, so that the question is put and its failure tells why."""
    on_fabric = [(adapter.name, port) for adapter in adapters(text) for port in adapter.ports if port.infiniband]
    active = [name for name, port in on_fabric if port.active]
    return list(dict.fromkeys(active or [name for name, _ in on_fabric]))
