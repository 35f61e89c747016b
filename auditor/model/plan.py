"""The wiring plan, the fabric's intent, and links as the rules see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from auditor.address import Address, Layer
from auditor.facts import Value
from auditor.model.raw import Gap, GapReason
from auditor.model.state import Absent
from auditor.model.verdict import Spot

Place = tuple[str, str]
"""A port of the plan, or of today where the plan does not know it: (device, port)."""


@dataclass(frozen=True, slots=True, order=True)
class PlanEnd:
    """One end of a planned cable, as the plan writes it. `id` is a PCI address, GUID or MAC where the plan has one."""

    device: str
    port: str
    rack: str = ""
    position: str = ""
    lane: str = ""
    id: str = ""

    def __str__(self) -> str:
        return f"{self.device}:{self.port}"

    @property
    def place(self) -> Place:
        """The port this end plugs into."""
        return self.device, self.port


@dataclass(frozen=True, slots=True)
class PlanLink:
    """One planned link. `line` is where the plan says so; `speed` in bit/s; further CSV columns are `tags`."""

    a: PlanEnd
    b: PlanEnd
    plane: str = ""
    rail: str = ""
    speed: int | None = None
    label: str = ""
    type: str = ""
    length_m: float | None = None
    cable_id: str = ""
    via: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    line: int | None = None

    @property
    def name(self) -> str:
        """`a:p|b:q` with the ends sorted: how findings name the link."""
        return "|".join(sorted((str(self.a), str(self.b))))

    def end(self, device: str, port: str) -> PlanEnd:
        """The end at this port; raises KeyError."""
        for end in (self.a, self.b):
            if (end.device, end.port) == (device, port):
                return end
        raise KeyError(f"{device}:{port}")

    def other(self, end: PlanEnd) -> PlanEnd:
        """The far end."""
        return self.b if end == self.a else self.a


@dataclass(frozen=True, slots=True)
class TrafficClass:
    """One class of a plane: its DSCPs, its priority and the DSCP of its congestion notifications."""

    name: str
    dscp: tuple[int, ...]
    priority: int
    cnp_dscp: int | None = None
    lossless: bool = True


@dataclass(frozen=True, slots=True)
class Plane:
    """One network of the cluster: its classes, the RDMA MTU that must fit, and what encapsulation takes of a packet."""

    name: str
    classes: tuple[TrafficClass, ...] = ()
    rdma_mtu: int | None = None
    overhead_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Tiers:
    """The shape of one plane, as planned: how far each device is from the hosts (0 is a host, 1 a leaf), and the switches of the
    next tier that each switch has a cable to. `compute`: the plane must be non-blocking."""

    of: Mapping[str, int] = field(default_factory=dict)
    up: Mapping[str, frozenset[str]] = field(default_factory=dict)
    compute: bool = False


@dataclass(frozen=True, slots=True)
class FabricAdapter:
    """Which plane an adapter of the fabric-manager hosts hangs in: an InfiniBand fabric does not tell its name.

    `hca` is the RDMA device (`mlx5_0`), `port` its port number, None for the only one that is used.
    """

    plane: str
    hca: str
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Fabric:
    """`fabric.yaml`: what crosses devices. `document` is the plain content for references like `$fabric.compute.…`.

    `separate`: groups of planes of which no two may share a switch or a cable.
    """

    planes: Mapping[str, Plane] = field(default_factory=dict)
    port_groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    nics: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rail_scheme: str = ""
    fabrics: tuple[FabricAdapter, ...] = ()
    separate: tuple[tuple[str, ...], ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""
    file: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The wiring plan as read from its file."""

    name: str = ""
    links: tuple[PlanLink, ...] = ()
    digest: str = ""
    file: str = ""
    text: str = ""

    def links_of(self, device: str) -> Iterator[tuple[PlanEnd, PlanLink]]:
        """Every planned link of a device with the end that is its own."""
        for link in self.links:
            for end in (link.a, link.b):
                if end.device == device:
                    yield end, link


@dataclass(frozen=True, slots=True)
class PlannedPort:
    """What the plan says about one port of a device: the slice that travels to its device job."""

    port: str
    plane: str
    rail: str
    peer: PlanEnd
    peer_role: str
    id: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanSlice:
    """All that a device job needs of the plan: its planned ports, and the patterns of further port groups."""

    ports: tuple[PlannedPort, ...] = ()
    patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fact:
    """One cell of a link end: a value, ABSENT, or (value None) the gap that hides it; with its place for evidence.

    `device`: where it was read, if that is not the end's own device (the walk of an InfiniBand fabric).
    """

    address: Address
    value: Value | Absent | None
    layer: Layer | None = None
    platform: str = ""
    source: str = ""
    digest: str = ""
    gap: Gap | None = None
    command: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class HopCell:
    """One thing a hop must have: `name` (trust, dscp_map, priority_group, headroom, pfc, queue, watchdog, ecn …), what it
    is and what it should be in words, and the fact behind it. `ok` is None when the fact is unknown (`fact.gap` says why) and
    True also where nothing is demanded. `shared` names the object (a map, a profile) that several ports take it from. `read`
    says which layer was read, and why no better one: `applied`, `configured; applied unsupported`."""

    name: str
    ok: bool | None
    seen: str
    wanted: str
    fact: Fact
    shared: Address | None = None
    read: str = ""


@dataclass(frozen=True, slots=True)
class Hop:
    """One direction of one planned port for one traffic class of its plane: `send` or `receive` on a host, `ingress` or
    `egress` on a switch; its cells in the order in which traffic meets them."""

    traffic_class: str
    direction: str
    cells: tuple[HopCell, ...] = ()

    @property
    def broken(self) -> HopCell | None:
        """The first cell that is known to be wrong."""
        return next((cell for cell in self.cells if cell.ok is False), None)

    @property
    def unknown(self) -> HopCell | None:
        """The first cell that is not known."""
        return next((cell for cell in self.cells if cell.ok is None), None)


class Via(StrEnum):
    """How a port came to know what is across its cable, most trustworthy first."""

    FABRIC = "fabric"
    LLDP = "lldp"
    BMC = "bmc"
    MAC = "mac"
    ARP = "arp"


class NeighbourSeen(NamedTuple):
    """What one port was told of the far end of its cable, as it was sent.

    `via` other than `lldp`: a MAC that a switch learned (port id = chassis = the MAC), or what a subnet manager's walk of an
    InfiniBand fabric shows (`fabric`: system and port id are the planned device and port as far as they were recognised).
    Ages in seconds, None where the source does not tell: `since_s` since the neighbour appeared or last changed, `heard_s`
    since its last frame. `fact` is the cell that proves it.
    """

    system: str
    port_id: str
    port_kind: str = ""
    port_description: str = ""
    chassis: str = ""
    via: Via = Via.LLDP
    since_s: float | None = None
    heard_s: float | None = None
    ttl_s: float | None = None
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class FabricPort:
    """One port of an InfiniBand node, as the host that walked the subnet lists it; `port` is empty for the node itself.

    `witness` is that host; `fact` a cell of the row, with that host as its device. GUIDs are 16 hex digits, ports decimal
    numbers, `rate` is in bit/s.
    `whole` (of a node): the walk lists every port of it that has a living cable.
    """

    witness: str
    guid: str
    port: str = ""
    kind: str = ""
    description: str = ""
    node_ports: int | None = None
    port_guid: str = ""
    peer_guid: str = ""
    peer_port: str = ""
    peer_port_guid: str = ""
    peer_description: str = ""
    width: int | None = None
    speed: str = ""
    rate: int | None = None
    state: str = ""
    fact: Fact | None = None
    collected_at: datetime | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link with the facts its device job emitted. `port` is the planned name, `interface` the device's own.

    `facts` is keyed by `table.column` (`interface.mtu`, `qos_port.pfc_priorities`). `neighbours` are the identities seen on
    the port, LLDP first, then what address tables say. `stale_of` is the time of stored facts.
    `failed` are the cells (as text) that a baseline line already failed; `identities` the names and MACs of the port.
    `gpus`: of a host's port the cells `nccl_path[gpu,nic].nearest` of the GPUs to which no NIC is nearer than this one.
    """

    device: str
    port: str
    interface: str | None
    role: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    neighbours: tuple[NeighbourSeen, ...] = ()
    identities: tuple[str, ...] = ()
    collected_at: datetime | None = None
    stale_of: datetime | None = None
    failed: tuple[str, ...] = ()
    gap: Gap | None = None
    hops: tuple[Hop, ...] = ()
    gpus: tuple[Fact, ...] = ()

    def fact(self, name: str) -> Fact:
        """The fact `table.column` of this end; a gap when its device job gave none."""
        found = self.facts.get(name)
        if found is not None:
            return found
        table, _, column = name.partition(".")
        gap = self.gap or Gap(self.device, table, "", GapReason.NOT_COLLECTED, "no facts of this end", columns=(column,))
        return Fact(Address(table, (self.interface or self.port,), column), None, gap=gap)


class LinkVerdict(StrEnum):
    """What the evidence says about a planned link."""

    PROVEN = "proven"
    PROVEN_ONE_END = "proven_one_end"
    WRONG = "wrong"
    LINK_ONLY = "link_only"
    MISSING = "missing"
    DEGRADED = "degraded"
    NOT_YET = "not_yet"
    UNKNOWN = "unknown"
    UNPLANNED = "unplanned"


@dataclass(frozen=True, slots=True)
class Link:
    """A planned link (or, without `plan`, an unplanned pair) with both ends and the verdict of the evidence.

    `far`: the places that the cables in its two ends lead to, as far as the evidence tells. `spots`: the cells that say so.
    """

    a: LinkEnd
    b: LinkEnd
    verdict: LinkVerdict
    plan: PlanLink | None = None
    reason: str = ""
    far: tuple[Place | None, Place | None] = (None, None)
    spots: tuple[Spot, ...] = ()

    @property
    def name(self) -> str:
        """`a:p|b:q` with the ends sorted."""
        return "|".join(sorted((f"{self.a.device}:{self.a.port}", f"{self.b.device}:{self.b.port}")))

    @property
    def ends(self) -> tuple[LinkEnd, LinkEnd]:
        """Both ends."""
        return self.a, self.b
