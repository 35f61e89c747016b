"""The priority chain: does every lossless class keep its promise at every hop of every planned path?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.address import Address
from auditor.checks.hops import READS
from auditor.checks.routes import Routes, count_hosts, counted, whole_plan
from auditor.model import (
    Deviation,
    Gap,
    GapReason,
    Hop,
    HopCell,
    Judgement,
    Link,
    LinkEnd,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    check,
    failed,
    passed,
    unseen,
)

SAFETY_NETS = frozenset({"watchdog", "ecn", "cnp", "cnp_dscp", "reaction_point", "notification_point"})
"""Cells without which traffic is still lossless: error instead of critical."""

BESIDE = {
    "trust": ("dscp_map",),
    "priority_group": ("profile", "headroom_bytes"),
    "headroom": ("profile", "lossless"),
    "ecn": ("ecn_enabled", "ecn_profile"),
}
"""Columns of the same row that other rules cite for the same fault: what they and the chain say is one cause."""


@dataclass(frozen=True, slots=True)
class _Break:
    """The first place on a port where the chain is broken."""

    end: LinkEnd
    hop: Hop
    cell: HopCell

    @property
    def severity(self) -> Severity:
        return Severity.ERROR if self.cell.name in SAFETY_NETS else Severity.CRITICAL

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for breaks of one device that have one origin, or look the same on several ports."""
        cell, hop = self.cell, self.hop
        return self.end.device, hop.traffic_class, hop.direction, cell.name, cell.shared, cell.seen, cell.wanted


@check(
    reads=READS,
    severity=Severity.CRITICAL,
    kind=RuleKind.FABRIC,
    family="lossless",
    remedy="Mend the first broken place that is named, on that device; `auditor explain lossless --path A B` shows the chain "
    "hop by hop. What several ports take from one map or profile is mended there, once.",
)
def priority_chain_broken(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:
    """On every hop of every planned path each lossless class ends in its priority, with all that makes the priority lossless.

    Judged is every planned port, in and out, against the classes of its plane in `fabric.yaml`: into a switch trust, DSCP map,
    priority group, headroom and PFC; out of it queue, PFC, watchdog and ECN on that queue; on hosts trust, DSCP map, PFC,
    reaction and notification point. The numbers and names of the maps between DSCP and priority are free. Of a port the first
    break on the way is named, what loses packets before what takes away a safety net, with the paths and hosts it touches.

    Why it matters: each setting alone looks fine, and the class is lossless only if all of them agree at each hop. One hop that
    disagrees drops or stalls RoCE packets without a word, and the whole job waits for the slowest flow.
    """
    by_plane: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.plan is not None:
            by_plane[link.plan.plane].append(link)
    planes = context.fabric.planes if context.fabric is not None else {}
    for name, of_plane in by_plane.items():
        if name in planes and any(item.lossless for item in planes[name].classes):
            yield from _judge(of_plane)


def _judge(links: Sequence[Link]) -> Iterator[Judgement]:
    """Every port of one plane."""
    breaks: list[_Break] = []
    for end in {(end.device, end.port): end for link in links for end in link.ends}.values():
        enabled = end.facts.get("interface.enabled")
        if enabled is not None and enabled.value is False:
            continue  # nothing flows there, and SONiC takes the buffers of such a port away
        found = _first(end)
        if found is not None:
            breaks.append(found)
        else:
            yield from _whole(end)
    if breaks:
        yield from _told(breaks, Routes(links) if whole_plan(links) else None)


def _first(end: LinkEnd) -> _Break | None:
    """The first break on the way through the port; packet loss comes before a missing safety net."""
    found = [_Break(end, hop, cell) for hop in end.hops if (cell := hop.broken) is not None]
    return min(found, key=lambda item: item.severity.rank, default=None)


def _whole(end: LinkEnd) -> Iterator[Judgement]:
    """A port on which nothing is broken: whole, or not fully seen. What its platform cannot show is told apart."""
    object_ = _object(end)
    if not end.hops:
        yield unseen(object_, end.gap or _gap(end, "the chain of this port was never looked at"))
        return
    hidden = [cell.fact for hop in end.hops for cell in hop.cells if cell.ok is None]
    gaps = [fact.gap or _gap(end, "not known") for fact in hidden]
    real = next((gap for gap in gaps if gap.reason is not GapReason.UNSUPPORTED), None)
    yield passed(object_) if real is None else unseen(object_, real)
    rows = {fact.address.row: gap for fact, gap in zip(hidden, gaps, strict=True) if gap.reason is GapReason.UNSUPPORTED}
    for row, gap in rows.items():
        if row != object_.address:
            yield unseen(Spot(end.device, row), gap)


def _told(breaks: Sequence[_Break], routes: Routes | None) -> Iterator[Judgement]:
    groups: dict[tuple[object, ...], list[_Break]] = defaultdict(list)
    for item in breaks:
        groups[item.kind].append(item)
    for group in groups.values():
        touched = _touched(group, routes)
        for item in group:
            yield failed(_object(item.end), _deviation(item, touched))


def _touched(group: Sequence[_Break], routes: Routes | None) -> str:
    """How many ports, paths and hosts a break touches. A route enters and leaves a device once, so ports may be added up."""
    words = [f"{len(group)} ports"] if len(group) > 1 else []
    if routes is not None:
        places = [(item.end.device, item.end.port) for item in group]
        paths, hosts = sum(routes.crossing.get(place, 0) for place in places), count_hosts(routes.hosts.get(p, 0) for p in places)
        words += [counted(paths, "path"), counted(hosts, "host")] if paths else []
    return "; touches " + ", ".join(words) if words else ""


def _deviation(item: _Break, touched: str) -> Deviation:
    end, cell, row = item.end, item.cell, item.cell.fact.address.row
    port = end.port if end.interface in (None, end.port) else f"{end.port} ({end.interface})"
    columns = () if item.hop.direction in ("send", "receive") and cell.name == "trust" else BESIDE.get(cell.name, ())
    beside = (Address(row.table, row.key, column, cell.fact.layer) for column in columns)
    lost = "breaks" if item.severity is Severity.CRITICAL else "lacks a safety net"
    read = f" (read: {cell.read})" if cell.read else ""
    return Deviation(
        expected=cell.wanted,
        observed=cell.seen,
        message=f"class {item.hop.traffic_class} {lost} at {end.device} {port} {item.hop.direction}: {cell.seen}, "
        f"wanted: {cell.wanted}{touched}{read}",
        spots=tuple(dict.fromkeys(Spot(end.device, address) for address in (cell.fact.address, *beside))),
        shared=cell.shared,
        severity=item.severity,
    )


def _object(end: LinkEnd) -> Spot:
    return Spot(end.device, Address("qos_port", (end.interface or end.port,)))


def _gap(end: LinkEnd, words: str) -> Gap:
    return Gap(end.device, "qos_port", "", GapReason.NOT_COLLECTED, words)
