"""Facts about lossless Ethernet: trust, maps, priority flow control, queues, priority groups and buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class QosPort(Row):
    """How one port of a switch or host classifies and pauses."""

    TABLE: ClassVar[str] = "qos_port"

    port: Annotated[str, Key("Port", port=True)]
    trust: Annotated[tuple[str, ...] | None, Column("What the port classifies by: dscp, pcp; sorted", peer="role")] = None
    dscp_map: Annotated[str | None, Column("Name of the DSCP map bound to the port", peer="role")] = None
    tc_to_queue: Annotated[str | None, Column("Name of the traffic class to queue map", peer="role")] = None
    tc_to_pg: Annotated[str | None, Column("Name of the traffic class to priority group map", peer="role")] = None
    pfc_to_queue: Annotated[str | None, Column("Name of the PFC priority to queue map", peer="role")] = None
    pfc_priorities: Annotated[tuple[int, ...] | None, Column("Priorities with PFC, sorted; empty: none", peer="role")] = None
    pfc_direction: Annotated[str | None, Column("both, rx or tx", peer="role")] = None
    global_pause_rx: Annotated[bool | None, Column("802.3x pause obeyed", peer="role")] = None
    global_pause_tx: Annotated[bool | None, Column("802.3x pause sent", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DscpMap(Row):
    """One of the 64 effective rows of a DSCP to traffic class map of a switch."""

    TABLE: ClassVar[str] = "dscp_map"

    name: Annotated[str, Key("Name of the map")]
    dscp: Annotated[str, Key("Code point, 0 to 63, decimal")]
    traffic_class: Annotated[int | None, Column("Traffic class", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDscp(Row):
    """One of the 64 rows of a NIC's DSCP to priority map."""

    TABLE: ClassVar[str] = "host_dscp"

    netdev: Annotated[str, Key("Network device", port=True)]
    dscp: Annotated[str, Key("Code point, 0 to 63, decimal")]
    priority: Annotated[int | None, Column("Priority", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMap(Row):
    """One row of a map between traffic classes, priorities, priority groups and queues."""

    TABLE: ClassVar[str] = "class_map"

    name: Annotated[str, Key("Kind and name of the map, as kind:name")]
    source: Annotated[str, Key("The class or priority mapped from, decimal")]
    kind: Annotated[str | None, Column("tc_to_queue, tc_to_pg, pfc_to_queue")] = None
    to: Annotated[int | None, Column("The queue or priority group mapped to", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Row):
    """One egress queue of a port."""

    TABLE: ClassVar[str] = "queue"

    port: Annotated[str, Key("Port", port=True)]
    queue: Annotated[str, Key("Queue number, decimal")]
    scheduler: Annotated[str | None, Column("strict, dwrr, wrr", peer="role")] = None
    weight: Annotated[int | None, Column("Weight, where the scheduler has one", peer="role")] = None
    buffer_profile: Annotated[str | None, Column("Egress buffer profile")] = None
    ecn_enabled: Annotated[bool | None, Column("ECN marking on", peer="role")] = None
    ecn_min_bytes: Annotated[int | None, Column("Lower marking threshold", unit="bytes", peer="role")] = None
    ecn_max_bytes: Annotated[int | None, Column("Upper marking threshold", unit="bytes", peer="role")] = None
    ecn_probability: Annotated[float | None, Column("Marking probability at the upper threshold, 0 to 1", peer="role")] = None
    ecn_profile: Annotated[str | None, Column("Name of the WRED/ECN profile")] = None
    watchdog_enabled: Annotated[bool | None, Column("PFC watchdog watches the queue", peer="role")] = None
    watchdog_detection_s: Annotated[float | None, Column("Storm detection time", unit="s", peer="role")] = None
    watchdog_restoration_s: Annotated[float | None, Column("Restoration time", unit="s", peer="role")] = None
    watchdog_action: Annotated[str | None, Column("drop, forward or alert", peer="role")] = None
    watchdog_state: Annotated[str | None, Column("operational or stormed", volatile=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityGroup(Row):
    """One ingress priority group of a port."""

    TABLE: ClassVar[str] = "priority_group"

    port: Annotated[str, Key("Port", port=True)]
    pg: Annotated[str, Key("Priority group number, decimal")]
    lossless: Annotated[bool | None, Column("Its profile reserves headroom", peer="role")] = None
    profile: Annotated[str | None, Column("Name of the ingress buffer profile")] = None
    size_bytes: Annotated[int | None, Column("Reserved size", unit="bytes")] = None
    headroom_bytes: Annotated[int | None, Column("What absorbs traffic after pause is sent (SONiC: xoff)", unit="bytes")] = None
    xon_bytes: Annotated[int | None, Column("Level at which pause is lifted", unit="bytes")] = None
    threshold_kind: Annotated[str | None, Column("static or dynamic", peer="role")] = None
    threshold: Annotated[float | None, Column("Bytes when static, alpha when dynamic", peer="role")] = None
    xoff_trigger_bytes: Annotated[int | None, Column("Level at which pause is sent; static only", unit="bytes")] = None
    profile_cable_length_m: Annotated[float | None, Column("Cable length the profile was made for", unit="m")] = None
    profile_speed: Annotated[int | None, Column("Speed the profile was made for", unit="bit/s")] = None
    pool: Annotated[str | None, Column("Name of the buffer pool", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer(Row):
    """The packet buffer of a switch as a whole. One row."""

    TABLE: ClassVar[str] = "buffer"

    mode: Annotated[str | None, Column("lossless or lossy", peer="role")] = None
    ingress_pools: Annotated[int | None, Column("Number of ingress pools", peer="role")] = None
    model: Annotated[str | None, Column("static or dynamic buffer model", peer="role")] = None
    vendor_word: Annotated[str | None, Column("The vendor's own word for the model or mode")] = None
    total_bytes: Annotated[int | None, Column("Size of the whole buffer", unit="bytes", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPool(Row):
    """One buffer pool."""

    TABLE: ClassVar[str] = "buffer_pool"

    name: Annotated[str, Key("Name of the pool")]
    direction: Annotated[str | None, Column("ingress or egress", peer="role")] = None
    size_bytes: Annotated[int | None, Column("Size", unit="bytes")] = None
    mode: Annotated[str | None, Column("static or dynamic", peer="role")] = None
    shared_headroom_bytes: Annotated[int | None, Column("Headroom shared by all priority groups", unit="bytes")] = None
