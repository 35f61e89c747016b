"""Facts that tell what hangs on a port beside LLDP: address tables, aggregates, optics, and the nodes of InfiniBand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class MacEntry(Row):
    """One address that a switch learned on a port. Evidence of a cable only where LLDP is silent."""

    TABLE: ClassVar[str] = "mac_entry"
    VOLATILE: ClassVar[bool] = True

    port: Annotated[str, Key("Port, or the aggregate it was learned on", port=True)]
    mac: Annotated[str, Key("MAC address, lower case with colons")]
    vlan: Annotated[int | None, Column("VLAN id")] = None
    kind: Annotated[str | None, Column("dynamic or static")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArpEntry(Row):
    """One resolved neighbour of the IP layer (ARP or IPv6 neighbour discovery)."""

    TABLE: ClassVar[str] = "arp_entry"
    VOLATILE: ClassVar[bool] = True

    address: Annotated[str, Key("IP address")]
    mac: Annotated[str | None, Column("MAC address, lower case with colons")] = None
    interface: Annotated[str | None, Column("Interface it was resolved on, a port or a VLAN interface")] = None
    state: Annotated[str | None, Column("As printed, lower case: reachable, stale, permanent …")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LagMember(Row):
    """One member port of an aggregate."""

    TABLE: ClassVar[str] = "lag_member"

    lag: Annotated[str, Key("Aggregate: PortChannel0001, bond0, Port-Channel1")]
    port: Annotated[str, Key("Member port")]
    active: Annotated[bool | None, Column("Whether it carries traffic")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Optic(Row):
    """The module or cable in a port. A whole table without the port's row, or `present` false: the cage is empty."""

    TABLE: ClassVar[str] = "optic"

    port: Annotated[str, Key("Port", port=True)]
    present: Annotated[bool | None, Column("Whether a module is in the cage")] = None
    vendor: Annotated[str | None, Column("Maker as coded in the module")] = None
    part_number: Annotated[str | None, Column("Part number as coded")] = None
    serial: Annotated[str | None, Column("Serial number as coded; both ends of a copper cable show the same")] = None
    type: Annotated[str | None, Column("Form factor and media as printed")] = None
    length_m: Annotated[float | None, Column("Cable length as coded; none of optics with a plug of their own", unit="m")] = None
    firmware: Annotated[str | None, Column("Firmware of the module")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NicFlag(Row):
    """One private flag of an adapter's driver (`ethtool --show-priv-flags`)."""

    TABLE: ClassVar[str] = "nic_flag"

    netdev: Annotated[str, Key("Network device", port=True)]
    name: Annotated[str, Key("Flag as the driver calls it")]
    value: Annotated[bool | None, Column("On or off", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IbNode(Row):
    """One node of an InfiniBand fabric as its subnet was walked. Aggregation nodes inside switches (SHARP) are no rows."""

    TABLE: ClassVar[str] = "ib_node"

    guid: Annotated[str, Key("Node GUID, 16 hex digits, lower case")]
    kind: Annotated[str | None, Column("switch, ca or router")] = None
    description: Annotated[str | None, Column("Node description as sent")] = None
    device_id: Annotated[int | None, Column("Device id of the chip")] = None
    system_guid: Annotated[str | None, Column("System image GUID: the same for the chips of one box")] = None
    ports: Annotated[int | None, Column("Ports of the node, those without a plug included")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IbPort(Row):
    """One port of an InfiniBand node that has a cable with a living far end; of others only iblinkinfo has rows."""

    TABLE: ClassVar[str] = "ib_port"

    guid: Annotated[str, Key("Node GUID")]
    port: Annotated[str, Key("Port number, decimal")]
    port_guid: Annotated[str | None, Column("Port GUID")] = None
    lid: Annotated[int | None, Column("Local id", volatile=True)] = None
    width: Annotated[int | None, Column("Lanes in use")] = None
    speed: Annotated[str | None, Column("Generation of a lane: SDR, QDR, FDR, EDR, HDR, NDR, XDR")] = None
    rate: Annotated[int | None, Column("Width times the generation's lane rate", unit="bit/s")] = None
    state: Annotated[str | None, Column("active, armed, init, down")] = None
    peer_guid: Annotated[str | None, Column("Node GUID across the cable")] = None
    peer_port: Annotated[str | None, Column("Port number across the cable, decimal")] = None
    peer_port_guid: Annotated[str | None, Column("Port GUID across the cable, where that is no switch")] = None
    peer_description: Annotated[str | None, Column("Node description of the far end as sent")] = None
