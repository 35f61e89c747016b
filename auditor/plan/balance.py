"""What is uneven in a plan: rails that hosts miss or mix up, uplinks that differ, leaves that carry more than goes up.

Pure functions over one plane; each gives (severity, rule, message, line). What is usual is told by most of the like devices,
so one slip in a plan stands out and a design of its own kind does not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from auditor.canonical import natural
from auditor.model import Device, PlanEnd, PlanLink, Severity
from auditor.plan.tiers import Load, PlaneShape, carries, some, weight

FEW = Fraction(1, 4)
"""A rail with at most this share of a leaf's most frequent rail does not belong there."""

MOST = Fraction(9, 10)
"""Share of the hosts that must follow a rule before the others are said to break it."""


class Told(NamedTuple):
    """One thing to say about a plan, and the line where it shows first."""

    severity: Severity
    rule: str
    message: str
    line: int | None


def _line(links: Iterable[PlanLink]) -> int | None:
    return min((link.line for link in links if link.line is not None), default=None)


def _called(plane: PlaneShape) -> str:
    return f"plane {plane.name}" if plane.name else "links without plane"


def balance(plane: PlaneShape, devices: Mapping[str, Device], allowed: Fraction) -> Iterator[Told]:
    """Everything uneven in a plane. `allowed` is the most bandwidth down by bandwidth up that its leaves may have."""
    yield from rails(plane, devices)
    yield from uplinks(plane)
    if plane.compute:
        yield from oversubscription(plane, allowed)


def rails(plane: PlaneShape, devices: Mapping[str, Device]) -> Iterator[Told]:
    """Rails without some hosts, hosts whose NICs take other rails than those of their like, leaves with a stray rail."""
    if not plane.rails:
        return
    without = [link for _, _, link in plane.host_links if not link.rail]
    if without:
        words = f"{_called(plane)}: {len(without)} host links have no rail, {len(plane.host_links) - len(without)} have one"
        yield Told(Severity.WARNING, "rail_missing", words, _line(without))
    by_host: dict[str, list[tuple[PlanEnd, PlanEnd, PlanLink]]] = defaultdict(list)
    for entry in plane.host_links:
        if entry[2].rail:
            by_host[entry[0].device].append(entry)
    yield from _missed(plane, by_host)
    yield from _order(plane, by_host, devices)
    yield from _strays(plane)
    yield from _port_numbers(plane, by_host)


def _missed(plane: PlaneShape, by_host: Mapping[str, list[tuple[PlanEnd, PlanEnd, PlanLink]]]) -> Iterator[Told]:
    every = sorted({link.rail for entries in by_host.values() for _, _, link in entries}, key=natural)
    missed: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for host, entries in by_host.items():
        lacks = set(every) - {link.rail for _, _, link in entries}
        if lacks:
            missed[tuple(sorted(lacks, key=natural))].append(host)
    for rails_, names in missed.items():
        words = (
            f"{_called(plane)}: rail {', '.join(rails_)} has no link of {some(names)}: {len(by_host) - len(names)} of "
            f"{len(by_host)} hosts have one"
        )
        yield Told(Severity.WARNING, "rail_imbalance", words, _line(link for _, _, link in by_host[names[0]]))


def _order(
    plane: PlaneShape, by_host: Mapping[str, list[tuple[PlanEnd, PlanEnd, PlanLink]]], devices: Mapping[str, Device]
) -> Iterator[Told]:
    """Which NIC takes which rail: hosts that differ from their like, and an order that is not that of the names."""
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for host, entries in by_host.items():
        ordered = sorted(entries, key=lambda entry: natural(entry[0].port))
        model = devices[host].hardware_model if host in devices else ""
        ports = tuple(near.port for near, _, _ in ordered)
        groups[model, ports].append((host, tuple(link.rail for _, _, link in ordered)))
    for (_, ports), found in groups.items():
        usual, count = Counter(order for _, order in found).most_common(1)[0]
        odd: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for host, order in found if len(found) > 2 and 2 * count > len(found) else ():
            if order != usual:
                odd[order].append(host)
        for order, names in odd.items():
            moved = [(port, rail, want) for port, rail, want in zip(ports, order, usual, strict=True) if rail != want]
            words = (
                f"{_called(plane)}: {some(names)} has {', '.join(f'{port} rail {rail}' for port, rail, _ in moved)}; {count} of "
                f"{len(found)} such hosts have {', '.join(f'{port} rail {want}' for port, _, want in moved)}"
            )
            yield Told(Severity.WARNING, "rail_order", words, _line(link for _, _, link in by_host[names[0]]))
        if len(set(usual)) == len(usual) and list(usual) != sorted(usual, key=natural):
            first = next(host for host, order in found if order == usual)
            pairs = ", ".join(f"{port} rail {rail}" for port, rail in zip(ports, usual, strict=True))
            words = f"{_called(plane)}: rails do not follow the names of the ports on {count} hosts ({pairs}): is that meant?"
            yield Told(Severity.INFORMATION, "rail_order", words, _line(link for _, _, link in by_host[first]))


def _strays(plane: PlaneShape) -> Iterator[Told]:
    by_leaf: dict[str, dict[str, list[PlanLink]]] = defaultdict(lambda: defaultdict(list))
    for _, end, link in plane.host_links:
        if link.rail:
            by_leaf[end.device][link.rail].append(link)
    for leaf, found in by_leaf.items():
        top, links = max(found.items(), key=lambda item: len(item[1]))
        for rail, few in found.items():
            if len(links) >= 4 and len(few) <= FEW * len(links):
                named = some([link.name for link in few])
                words = f"{leaf} serves rail {top} ({len(links)} links), and {len(few)} of rail {rail}: {named}"
                yield Told(Severity.ERROR, "rail_on_wrong_leaf", words, _line(few))


def _port_numbers(plane: PlaneShape, by_host: Mapping[str, list[tuple[PlanEnd, PlanEnd, PlanLink]]]) -> Iterator[Told]:
    """The rule that the NICs of a host take the same port number on each leaf; only where nearly all hosts follow it."""
    several = {
        host: entries
        for host, entries in by_host.items()
        if len(entries) > 1 and len({leaf.device for _, leaf, _ in entries}) == len(entries)
    }
    odd = {host: entries for host, entries in several.items() if len({leaf.port for _, leaf, _ in entries}) > 1}
    if len(several) < 4 or len(several) - len(odd) < MOST * len(several):
        return
    told, first = [], []
    for host, entries in odd.items():
        usual = Counter(leaf.port for _, leaf, _ in entries).most_common(1)[0][0]
        others = [(leaf, link) for _, leaf, link in entries if leaf.port != usual]
        told.append(f"{host} is on port {usual} of its leaves, but on {some([str(leaf) for leaf, _ in others])}")
        first += [link for _, link in others]
    if told:
        words = f"{_called(plane)}: hosts are on one port number of all their leaves, {len(told)} not: {some(told, 2)}"
        yield Told(Severity.WARNING, "rail_port_number", words, _line(first))


def uplinks(plane: PlaneShape) -> Iterator[Told]:
    """Switches that share their uplinks unevenly, or have others than the switches beside them."""
    uneven: dict[tuple[int, ...], list[Load]] = defaultdict(list)
    for loads in _neighbourhoods(plane):
        for load in loads:
            counts = [len(links) for links in load.far().values()]
            if max(counts) - min(counts) > (1 if len(load.up) % len(counts) else 0):
                uneven[tuple(sorted(counts))].append(load)
            elif max(counts) == min(counts) and len({weight(links) for links in load.far().values()}) > 1:
                words = f"{_called(plane)}: the uplinks of {load.device} have different speeds: {carries(load)}"
                yield Told(Severity.WARNING, "uplinks_asymmetric", words, _line(load.up))
        yield from _unlike(plane, loads)
    for loads in uneven.values():
        first = loads[0]
        told = _by_count({far: len(links) for far, links in first.far().items()})
        more = f", and {len(loads) - 1} others likewise" if len(loads) > 1 else ""
        words = f"{_called(plane)}: {first.device} shares {len(first.up)} uplinks unevenly: {told}{more}"
        yield Told(Severity.WARNING, "uplinks_asymmetric", words, _line(first.up))


def _by_count(counts: Mapping[str, int]) -> str:
    by_count: dict[int, list[str]] = defaultdict(list)
    for far, count in counts.items():
        by_count[count].append(far)
    return "; ".join(f"{count} to {some(sorted(names, key=natural))}" for count, names in sorted(by_count.items()))


def _unlike(plane: PlaneShape, loads: list[Load]) -> Iterator[Told]:
    """Switches with fewer or more uplinks, or fewer or more switches above, than most of those they share switches with."""
    usual, count = Counter((weight(load.up), len(load.far())) for load in loads).most_common(1)[0]
    if len(loads) < 3 or 2 * count <= len(loads):
        return
    like = next(load for load in loads if (weight(load.up), len(load.far())) == usual)
    for load in loads:
        found = (weight(load.up), len(load.far()))
        if found == usual or (found[1] == usual[1] and load.ratio == like.ratio):
            continue
        words = (
            f"{_called(plane)}: {load.device} has {len(load.up)} uplinks to {found[1]} switches; {count} of the {len(loads)} "
            f"beside it have {len(like.up)} to {usual[1]}"
        )
        yield Told(Severity.WARNING, "uplinks_asymmetric", words, _line(load.up))


def _neighbourhoods(plane: PlaneShape) -> list[list[Load]]:
    """Switches of one tier that are joined, directly or by others of their tier, through the switches above: those of a pod."""
    above = {load.device: list(load.far()) for load in plane.loads.values() if load.up}
    below: dict[tuple[int, str], list[str]] = defaultdict(list)
    for name, found in above.items():
        for far in found:
            below[plane.loads[name].tier, far].append(name)
    out: list[list[Load]] = []
    seen: set[str] = set()
    walked: set[tuple[int, str]] = set()
    for name in above:
        if name in seen:
            continue
        seen.add(name)
        members = [name]
        for member in members:
            for joint in ((plane.loads[member].tier, far) for far in above[member]):
                if joint not in walked:
                    walked.add(joint)
                    members += (fresh := [each for each in below[joint] if each not in seen])
                    seen.update(fresh)
        out.append(sorted((plane.loads[member] for member in members), key=lambda load: natural(load.device)))
    return out


def oversubscription(plane: PlaneShape, allowed: Fraction) -> Iterator[Told]:
    """Switches below the highest tier that carry more down than up, alike ones together."""
    top = max((load.tier for load in plane.loads.values()), default=0)
    alike: dict[tuple[int, str], list[Load]] = defaultdict(list)
    for load in plane.loads.values():
        over = load.ratio is not None and load.ratio > allowed
        if load.tier < top and load.down and (over or not load.up):
            alike[load.tier, carries(load)].append(load)
    for (tier, words), loads in sorted(alike.items()):
        names = some(sorted((load.device for load in loads), key=natural))
        most = f"{float(allowed):.4g}:1"
        message = f"{_called(plane)}: tier {tier}: {names}: {words}; {most} is the most here"
        yield Told(Severity.ERROR, "oversubscribed", message, _line(link for load in loads for link in load.down))
