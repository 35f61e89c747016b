"""Reads `ibv_devinfo` and `ibv_devinfo -v`: RDMA devices and their ports, as plain values.

A line template cannot read it: the same label stands in several sections of one device (`max_sge` of the device and of
tag matching), flags hang below their label without one, and blank lines stand inside a device as well as behind it. So the
sections are kept: a device begins at `hca_id:`, a port at `port:`, and what stands between `hca_id:` and the first `port:`
belongs to the device, its first line of a label counting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_GID = re.compile(r"GID\[ *(\d+)\]")


@dataclass(frozen=True, slots=True)
class Port:
    """One port: its number and its lines by label. `gids` by index, as printed; `gid_kinds` what stands behind them (`RoCE v2`),
    which InfiniBand ports and tools before rdma-core 28 do not print."""

    number: str
    fields: Mapping[str, str]
    gids: Mapping[int, str]
    gid_kinds: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Device:
    """One RDMA device. `verbose` says that it was printed by `-v`, so that its ports carry width and speed."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)

    @property
    def verbose(self) -> bool:
        """Whether the attributes that only `-v` prints are there."""
        return "max_mr_size" in self.fields

    @property
    def whole(self) -> bool:
        """Whether every port it counts is there, down to the last label that always comes."""
        last = "active_speed" if self.verbose else "link_layer"
        return self.fields.get("phys_port_cnt") == str(len(self.ports)) and all(last in port.fields for port in self.ports)


def devices(text: str) -> Iterator[Device]:
    """Every device of the output, in its order. A device whose text was cut is given too; its `whole` is False."""
    device: Device | None = None
    fields: dict[str, str] = {}
    gids: dict[int, str] = {}
    kinds: dict[int, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        name, value = name.strip(), value.strip()
        gid = _GID.fullmatch(name)
        if gid is not None and value:
            address, _, kind = value.partition(",")
            gids.setdefault(int(gid.group(1)), address.strip())
            kinds.setdefault(int(gid.group(1)), kind.strip())
        if not colon or not name.isidentifier() or not name.islower():
            continue
        if name == "hca_id" and not line[:1].isspace():
            if device is not None:
                yield device
            device = Device(value)
            fields, gids, kinds = device.fields, {}, {}
        elif name == "port" and device is not None:
            fields, gids, kinds = {}, {}, {}
            device.ports.append(Port(value, fields, gids, kinds))
        else:
            fields.setdefault(name, value)
    if device is not None:
        yield device
