"""Routes through a port, counted against a walk over all of them."""

from collections import defaultdict

import pytest

from auditor.checks.routes import Routes, count_hosts
from auditor.lab.fabric import Size, design
from auditor.model import Link, LinkEnd, LinkVerdict, PlanEnd, PlanLink


def cable(a: tuple[str, str], b: tuple[str, str], host: bool) -> Link:
    ends = (LinkEnd(*a, a[1], "gpu_host" if host else "leaf"), LinkEnd(*b, b[1], "leaf"))
    return Link(*ends, LinkVerdict.PROVEN, PlanLink(PlanEnd(*a), PlanEnd(*b), "compute"))


def links(size: Size) -> list[Link]:
    fabric = design(size)
    return [cable(item.a, item.b, item.a.device in fabric.hosts) for item in fabric.plan]


def walked(of: list[Link], hosts: frozenset[str]) -> dict[tuple[str, str], int]:
    """Every shortest route from each host port to each other, walked one by one: how many cross each port on the way."""
    near: dict[str, list[tuple[tuple[str, str], tuple[str, str]]]] = defaultdict(list)
    ports = []
    for link in of:
        a, b = ((end.device, end.port) for end in link.ends)
        if a[0] in hosts:
            ports.append((a, b))
            continue
        near[a[0]].append((a, b))
        near[b[0]].append((b, a))
    crossing: dict[tuple[str, str], int] = defaultdict(int)
    for start, first in ports:
        routes: dict[str, list[list[tuple[str, str]]]] = {first[0]: [[start, first]]}
        front = [first[0]]
        while front:
            later: dict[str, list[list[tuple[str, str]]]] = defaultdict(list)
            for device in front:
                for out, into in near[device]:
                    if into[0] not in routes:
                        later[into[0]] += [[*route, out, into] for route in routes[device]]
            routes.update(later)
            front = list(later)
        for goal, last in ports:
            for route in routes.get(last[0], ()) if goal != start else ():
                for place in (*route, last, goal):
                    crossing[place] += 1
    return crossing


SIZES = [
    Size(hosts=2, nics=1, leaves=1, spines=1),
    Size(hosts=4, nics=2, leaves=4, spines=2),
    Size(hosts=2, nics=2, leaves=2, spines=1, pods=2, cores=2),
]


@pytest.mark.parametrize("size", SIZES, ids=["one leaf", "leaf and spine", "two pods and cores"])
def test_counted_routes_are_those_that_a_walk_finds(size: Size) -> None:
    of = links(size)
    found = Routes(of).crossing
    # a walk counts a port once for each direction, and as many routes come back as go
    by_walk = {place: number // 2 for place, number in walked(of, frozenset(design(size).hosts)).items()}
    assert {place: number for place, number in found.items() if number} == by_walk


def test_the_pod_of_the_demonstration() -> None:
    routes = Routes(links(Size()))
    host_port, uplink = ("leaf-05", "Ethernet0"), ("leaf-05", "Ethernet256")
    assert routes.crossing[host_port] == 3 + 4 * 2 * 7 * 4, "three in the leaf; four uplinks, two cables to each of seven leaves"
    assert routes.crossing[uplink] == 4 * 2 * 7 * 4
    assert count_hosts([routes.hosts[host_port]]) == 1
    assert count_hosts([routes.hosts[uplink]]) == 4


def test_hosts_are_counted_once_however_many_ports_they_are_behind() -> None:
    routes = Routes(links(Size()))
    assert count_hosts(routes.hosts["leaf-05", f"Ethernet{256 + 4 * at}"] for at in range(4)) == 4


def test_a_cable_inside_a_tier_carries_no_route() -> None:
    of = links(Size(hosts=2, nics=2, leaves=2, spines=1))
    of.append(cable(("leaf-01", "peer"), ("leaf-02", "peer"), host=False))
    assert ("leaf-01", "peer") not in Routes(of).crossing


def test_no_hosts_no_routes() -> None:
    assert Routes([cable(("leaf-01", "e1"), ("spine-01", "e1"), host=False)]).crossing == {}
    assert Routes([]).crossing == {}
