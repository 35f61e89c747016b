"""Which devices the traffic between hosts can cross, by the plan: the switches on the shortest paths of each plane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import networkx as nx

from auditor.model import Plan

MAX_LEAVES = 64
"""Leaves of one plane between which paths are looked for; above it every switch of the plane is on the way of some pair."""


def devices_between(plan: Plan, hosts: Iterable[str], endpoints: frozenset[str]) -> frozenset[str]:
    """The hosts, their leaves, and every switch on a shortest path between two of these leaves, in each plane.

    Of one leaf alone the switches next to it count: what leaves the host goes through them. `endpoints` are all hosts of the
    plan: they let nothing through. Hosts that the plan does not have are left out.
    """
    wanted = frozenset(hosts)
    found = set()
    for plane in _planes(plan, endpoints).values():
        leaves = set()
        for host in wanted & plane.leaves.keys():
            found.add(host)
            leaves |= plane.leaves[host]
        found |= leaves | _on_the_way(plane.switches, leaves)
    return frozenset(found)


class _Plane:
    """The switches of one plane as a graph, and the leaves of each host."""

    def __init__(self) -> None:
        self.switches: nx.Graph[str] = nx.Graph()
        self.leaves: dict[str, set[str]] = defaultdict(set)


def _planes(plan: Plan, endpoints: frozenset[str]) -> Mapping[str, _Plane]:
    planes: dict[str, _Plane] = defaultdict(_Plane)
    for link in plan.links:
        plane = planes[link.plane]
        hosts = [end.device for end in (link.a, link.b) if end.device in endpoints]
        switches = [end.device for end in (link.a, link.b) if end.device not in endpoints]
        if len(switches) == 2:
            plane.switches.add_edge(*switches)
        elif hosts and switches:
            plane.switches.add_node(switches[0])
            plane.leaves[hosts[0]].add(switches[0])
    return planes


def _on_the_way(switches: nx.Graph[str], leaves: set[str]) -> set[str]:
    if len(leaves) == 1:
        return set(switches.neighbors(next(iter(leaves))))
    if len(leaves) > MAX_LEAVES:
        return set(switches)
    far = {leaf: nx.single_source_shortest_path_length(switches, leaf) for leaf in leaves}
    found = set()
    for one in leaves:
        for other in leaves:
            length = far[one].get(other)
            if one < other and length is not None:
                found |= {device for device, steps in far[one].items() if steps + far[other].get(device, length + 1) == length}
    return found
