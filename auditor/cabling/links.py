"""From plan and evidence to the wiring: every planned link with a verdict, what no plan has, and what leads where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from auditor.cabling.fabric_ports import join_fabric
from auditor.cabling.identity import Directory
from auditor.cabling.unplanned import unplanned_pairs
from auditor.cabling.verdicts import Judge
from auditor.cabling.view import Sightings
from auditor.model import Device, FabricPort, Gap, GapReason, LinkEnd, Place, Plan, PlanEnd, Wiring

READS = (
    "interface.up", "interface.up_since", "interface.enabled", "interface.speed", "interface.mac", "nic.mac", "optic.present",
    "rdma_port.state", "rdma_port.rate", "rdma_port.link_layer", "system.hostname",
)  # fmt: skip
"""Facts of a link end, as `table.column`, that the verdicts use where they are there."""


def build_wiring(
    plan: Plan,
    ends: Mapping[Place, LinkEnd],
    devices: Mapping[str, Device],
    fabric_ports: Sequence[FabricPort] = (),
    near: Container[str] | None = None,
) -> Wiring:
    """What the evidence says of the cables, causes aside: planned links in the plan's order, each with its verdict.

    `ends` are keyed by (device, planned port); ends of unplanned ports may be among them and count as evidence. An end that
    is not there becomes one with a gap. `devices` is the inventory: what it does not hold as installed is `not_yet`.
    `fabric_ports` is what hosts that walked an InfiniBand subnet saw. `near`: links without an end on one of these devices
    are left out of the result; as evidence and for names they count all the same.
    """
    planned = [end for link in plan.links for end in (link.a, link.b)]
    full = dict(ends)
    if fabric_ports:
        full.update(join_fabric(plan.links, full, devices, fabric_ports))
    gaps: dict[str, Gap] = {}
    for end in planned:
        if end.place not in full:
            full[end.place] = _unseen(end, devices.get(end.device), gaps)
    directory = Directory(full.values(), devices, {end.place: end.id for end in planned if end.id})
    peers: defaultdict[Place, set[Place]] = defaultdict(set)
    for link in plan.links:
        one, other = link.a.place, link.b.place
        peers[one].add(other)
        peers[other].add(one)
    sightings = Sightings(full, directory, peers)
    judge = Judge(plan, full, devices, directory, sightings, peers)
    chosen = [link for link in plan.links if near is None or link.a.device in near or link.b.device in near]
    return Wiring(
        links=tuple(map(judge.link, chosen)),
        unplanned=unplanned_pairs(plan, full, devices, sightings, near),
        observed=sightings.observed,
        ends=full,
    )


def _unseen(end: PlanEnd, device: Device | None, gaps: dict[str, Gap]) -> LinkEnd:
    """An end of which nothing is known; the gap is one for the whole device."""
    if end.device not in gaps:
        detail = "outside the scope, and the store holds no facts of it that are young enough"
        gaps[end.device] = Gap(end.device, "*", "", GapReason.NOT_COLLECTED, detail)
    return LinkEnd(end.device, end.port, None, "" if device is None else device.role, gap=gaps[end.device])
