"""The smallest hop of every planned path: does it hold an RDMA packet with its headers and wrappings?

No path is walked. A path is too small exactly when one of its ports is, so every port that a path crosses is compared with what
the plane must carry; `routes` counts in one pass up the tiers and one down how many paths and hosts a narrow port touches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from auditor.address import Address
from auditor.checks.routes import Routes, count_hosts, counted, whole_plan
from auditor.model import (
    Deviation,
    Gap,
    GapReason,
    Judgement,
    Link,
    LinkEnd,
    Plane,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    check,
    failed,
    passed,
    unseen,
)

ROCE_BYTES = 96
"""What RoCEv2 adds to the RDMA MTU inside the IP packet, at most: IPv6 40, UDP 8, BTH 12, the longest extended headers of a write
with immediate or an atomic 32 (RETH 16 and ImmDt 4, or AtomicETH 28), ICRC 4 (InfiniBand specification volume 1, annex A17)."""


@check(
    reads=("interface.mtu",),
    severity=Severity.ERROR,
    kind=RuleKind.FABRIC,
    family="mtu",
    remedy="Raise the MTU of the port that is named (and of the port across its cable) to that of its port group. Where a tunnel "
    "or encryption was added, name it under `encapsulation` of the plane in fabric.yaml, so that its bytes are counted.",
)
def path_too_small(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """Every port on a planned path between hosts holds the RDMA MTU of its plane, its headers and what encapsulation takes.

    Needed are the RDMA MTU of the plane in `fabric.yaml` and 96 bytes of headers in an IP packet; between switches also the bytes
    of the plane's `encapsulation` and `overhead_bytes`. A finding is told once for each narrow port, with the paths and hosts
    that it touches. Not judged are planes without an RDMA MTU, ports that are switched off, cables inside a tier, which no path
    takes, and InfiniBand: the MTU of its interfaces is that of IPoIB, which RDMA does not go through.

    Why it matters: one leaf-spine cable without jumbo frames swallows the large packets of every path that is hashed onto it.
    Pings are small and pass, so the fabric looks whole while jobs are slow or hang.
    """
    by_plane: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.plan is not None:
            by_plane[link.plan.plane].append(link)
    planes = context.fabric.planes if context.fabric is not None else {}
    for name, of_plane in sorted(by_plane.items()):
        plane = planes.get(name)
        if plane is not None and plane.rdma_mtu is not None:
            yield from _judge(of_plane, plane, context)


def _judge(links: Sequence[Link], plane: Plane, context: RuleContext) -> Iterator[Judgement]:
    tiers = context.tiers.get(plane.name)
    narrow: list[tuple[LinkEnd, int, int]] = []
    for link in links:
        heights = [tiers.of.get(end.device, 0) if tiers is not None else 0 for end in link.ends]
        between = min(heights) > 0
        if between and heights[0] == heights[1]:
            continue
        need = (plane.rdma_mtu or 0) + ROCE_BYTES + (plane.overhead_bytes if between else 0)
        for end in link.ends:
            if end.device not in context.judged or _outside(end):
                continue
            fact = end.fact("interface.mtu")
            object_ = Spot(end.device, Address("interface", (end.interface or end.port,), "mtu"))
            if not isinstance(fact.value, int):
                words = f"the MTU of {end.device} {end.port} is not known"
                gap = Gap(end.device, "interface", fact.source, GapReason.NOT_COLLECTED, words, fact.layer, columns=("mtu",))
                yield unseen(object_, fact.gap or gap)
            elif fact.value >= need:
                yield passed(object_)
            else:
                narrow.append((end, fact.value, need))
    if narrow:
        routes = Routes(links) if tiers is not None and whole_plan(links) else None
        for end, size, need in narrow:
            yield _told(end, size, need, plane, routes)


def _outside(end: LinkEnd) -> bool:
    """Whether no RDMA packet is bound by the MTU of this interface."""
    enabled, layer = (end.facts.get(name) for name in ("interface.enabled", "rdma_port.link_layer"))
    return (enabled is not None and enabled.value is False) or (layer is not None and layer.value == "infiniband")


def _told(end: LinkEnd, size: int, need: int, plane: Plane, routes: Routes | None) -> Judgement:
    fact = end.fact("interface.mtu")
    extra = f" and {plane.overhead_bytes} of encapsulation" if need > (plane.rdma_mtu or 0) + ROCE_BYTES else ""
    touched = ""
    if routes is not None and routes.crossing.get((end.device, end.port)):
        place = (end.device, end.port)
        hosts = count_hosts([routes.hosts[place]])
        touched = f"; touches {counted(routes.crossing[place], 'path')} of {counted(hosts, 'host')} below it"
    return failed(
        Spot(end.device, Address("interface", (end.interface or end.port,), "mtu")),
        Deviation(
            expected=f"at least {need} bytes: RDMA MTU {plane.rdma_mtu}, {ROCE_BYTES} of headers{extra}",
            observed=f"{size} bytes",
            message=f"{end.device} {end.port} lets IP packets of {size} bytes through, RDMA of {plane.rdma_mtu} needs "
            f"{need}{touched}",
            spots=(Spot(end.device, replace(fact.address, layer=fact.layer)),),
        ),
    )
