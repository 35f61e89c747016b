"""Facts about GPU hosts: adapters and RDMA ports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Nic(Row):
    """One network function on the PCI bus."""

    TABLE: ClassVar[str] = "nic"

    pci: Annotated[str, Key("PCI address with domain, lower case")]
    part_number: Annotated[str | None, Column("Vendor part number")] = None
    driver: Annotated[str | None, Column("Kernel driver")] = None
    netdev: Annotated[str | None, Column("Network device", port=True)] = None
    mac: Annotated[str | None, Column("Permanent MAC address, lower case with colons")] = None
    role: Annotated[str | None, Column("compute, storage or management")] = None
    numa_node: Annotated[int | None, Column("NUMA node; unknown where the firmware says -1")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RdmaPort(Row):
    """One port of an RDMA device."""

    TABLE: ClassVar[str] = "rdma_port"

    name: Annotated[str, Key("RDMA device")]
    port: Annotated[str, Key("Port number, decimal")]
    pci: Annotated[str | None, Column("PCI address of the device")] = None
    netdev: Annotated[str | None, Column("Network device of the port", port=True)] = None
    node_guid: Annotated[str | None, Column("Node GUID, 16 hex digits, lower case")] = None
    port_guid: Annotated[str | None, Column("Port GUID, 16 hex digits, lower case")] = None
    link_layer: Annotated[str | None, Column("ethernet or infiniband")] = None
    state: Annotated[str | None, Column("active, down, init, armed")] = None
    rate: Annotated[int | None, Column("Width times lane speed; only of an active port", unit="bit/s")] = None
    active_mtu: Annotated[int | None, Column("RDMA MTU in use; only of an active port", unit="bytes")] = None
    global_tclass: Annotated[int | None, Column("mlx5 global traffic class override")] = None
    rdma_tos: Annotated[int | None, Column("Default ToS of RDMA-CM queue pairs")] = None
