"""The wiring plan, the fabric's intent, and links as the rules see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from auditor.address import Address, Layer
from auditor.facts import Value
from auditor.model.raw import Gap, GapReason
from auditor.model.state import Absent


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
class Fabric:
    """`fabric.yaml`: what crosses devices. `document` is the plain content for references like `$fabric.compute.…`."""

    planes: Mapping[str, Plane] = field(default_factory=dict)
    port_groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    nics: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rail_scheme: str = ""
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
    """One cell of a link end: a value, ABSENT, or (value None) the gap that hides it; with its place for evidence."""

    address: Address
    value: Value | Absent | None
    layer: Layer | None = None
    platform: str = ""
    source: str = ""
    digest: str = ""
    gap: Gap | None = None
    command: str = ""


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


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link with the facts its device job emitted. `port` is the planned name, `interface` the device's own.

    `facts` is keyed by `table.column` (`interface.mtu`, `qos_port.pfc_priorities`). `neighbours` are the raw identities
    seen on the port: (system, port_id, port_kind, port_description, chassis). `stale_of` is the time of stored facts.
    `failed` are the cells (as text) that a baseline line already failed; `identities` the names and MACs of the port.
    """

    device: str
    port: str
    interface: str | None
    role: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    neighbours: tuple[tuple[str, str, str, str, str], ...] = ()
    identities: tuple[str, ...] = ()
    collected_at: datetime | None = None
    stale_of: datetime | None = None
    failed: tuple[str, ...] = ()
    gap: Gap | None = None
    hops: tuple[Hop, ...] = ()

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
    """A planned link (or, without `plan`, an unplanned pair) with both ends and the verdict of the evidence."""

    a: LinkEnd
    b: LinkEnd
    verdict: LinkVerdict
    plan: PlanLink | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """`a:p|b:q` with the ends sorted."""
        return "|".join(sorted((f"{self.a.device}:{self.a.port}", f"{self.b.device}:{self.b.port}")))

    @property
    def ends(self) -> tuple[LinkEnd, LinkEnd]:
        """Both ends."""
        return self.a, self.b
