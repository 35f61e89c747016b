"""Facts about ports and what is seen across their cables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface(Row):
    """A port or another network interface."""

    TABLE: ClassVar[str] = "interface"

    name: Annotated[str, Key("Name, in the platform's long form", port=True)]
    enabled: Annotated[bool | None, Column("Administrative state")] = None
    up: Annotated[bool | None, Column("Operational state")] = None
    up_since: Annotated[str | None, Column("Time of the last link-up, UTC, ISO 8601", volatile=True)] = None
    mtu: Annotated[int | None, Column("Largest IP packet; converted from what the vendor counts", unit="bytes", peer="role")] = (
        None
    )
    frame_bytes: Annotated[int | None, Column("Largest Ethernet frame, where the device states it", unit="bytes")] = None
    mtu_shown: Annotated[str | None, Column("MTU as the device printed it")] = None
    speed: Annotated[int | None, Column("Speed; of a down port the configured one", unit="bit/s", peer="role")] = None
    fec: Annotated[str | None, Column("Forward error correction: rs, fc, none, auto", peer="role")] = None
    autoneg: Annotated[bool | None, Column("Auto-negotiation on", peer="role")] = None
    mac: Annotated[str | None, Column("MAC address, lower case with colons")] = None
    alias: Annotated[str | None, Column("Second name of the port (SONiC alias, Linux altname)")] = None
    cable_length_m: Annotated[float | None, Column("Cable length the switch was told", unit="m")] = None
    breakout_parent: Annotated[str | None, Column("Port this one was split from")] = None
    lanes: Annotated[str | None, Column("Serial lanes, as listed")] = None
    lag: Annotated[str | None, Column("Aggregate the port belongs to")] = None
    description: Annotated[str | None, Column("Operator's text")] = None
    error_disabled: Annotated[bool | None, Column("Switched off by the device itself")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour(Row):
    """One LLDP neighbour of a port. A port may have several; none is no evidence of a missing cable."""

    TABLE: ClassVar[str] = "neighbour"

    port: Annotated[str, Key("Local port", port=True)]
    port_id: Annotated[str, Key("Port id as the neighbour sent it")]
    system: Annotated[str | None, Column("System name as sent")] = None
    port_kind: Annotated[str | None, Column("Subtype of the port id: name, alias, mac, local, address, other")] = None
    port_description: Annotated[str | None, Column("Port description as sent")] = None
    chassis: Annotated[str | None, Column("Chassis id as sent; a MAC in lower case with colons")] = None
    chassis_kind: Annotated[str | None, Column("Subtype of the chassis id: mac, name, local, address, other")] = None
    management_address: Annotated[str | None, Column("First management address")] = None
    heard_s: Annotated[float | None, Column("Age of the entry", unit="s", volatile=True)] = None
    since_s: Annotated[float | None, Column("Time since the neighbour appeared", unit="s", volatile=True)] = None
    ttl_s: Annotated[float | None, Column("Time to live", unit="s", volatile=True)] = None
    protocol: Annotated[str | None, Column("Protocol it was learned by, as printed")] = None
