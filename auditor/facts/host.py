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
    driver: Annotated[str | None, Column("Kernel driver", peer="role")] = None
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
    link_layer: Annotated[str | None, Column("ethernet or infiniband", peer="role")] = None
    state: Annotated[str | None, Column("active, down, init, armed")] = None
    rate: Annotated[int | None, Column("Width times lane speed; only of an active port", unit="bit/s", peer="role")] = None
    active_mtu: Annotated[int | None, Column("RDMA MTU in use; only of an active port", unit="bytes", peer="role")] = None
    global_tclass: Annotated[int | None, Column("mlx5 global traffic class override", peer="role")] = None
    rdma_tos: Annotated[int | None, Column("Default ToS of RDMA-CM queue pairs", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostQos(Row):
    """Congestion control and ownership of the QoS settings of one NIC port."""

    TABLE: ClassVar[str] = "host_qos"

    netdev: Annotated[str, Key("Network device", port=True)]
    cnp_dscp: Annotated[int | None, Column("DSCP of the congestion notifications the NIC sends", peer="role")] = None
    ecn_np: Annotated[tuple[int, ...] | None, Column("Priorities whose marks it answers, sorted", peer="role")] = None
    ecn_rp: Annotated[tuple[int, ...] | None, Column("Priorities that it slows down, sorted", peer="role")] = None
    dcbx_owner: Annotated[str | None, Column("Who owns the settings: os or firmware", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NicOption(Row):
    """One firmware option of a NIC (mlxconfig), at layers applied and next_boot."""

    TABLE: ClassVar[str] = "nic_option"

    pci: Annotated[str, Key("PCI address with domain, lower case")]
    name: Annotated[str, Key("Name of the option")]
    value: Annotated[str | None, Column("Value as printed, an enumeration without its number", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclEnv(Row):
    """One variable of the collective library's environment."""

    TABLE: ClassVar[str] = "nccl_env"

    source: Annotated[str, Key("File that sets it")]
    variable: Annotated[str, Key("Name of the variable")]
    value: Annotated[str | None, Column("Value as set", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(Row):
    """One systemd unit."""

    TABLE: ClassVar[str] = "service"

    name: Annotated[str, Key("Unit name with its suffix")]
    enabled: Annotated[str | None, Column("Unit file state: enabled, disabled, static, masked …")] = None
