"""Rules over the whole fabric against what walking every way says: circles of buffers, and the smallest hop of every path."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.address import Address, Layer
from auditor.checks import rules
from auditor.model import (
    Device,
    Fact,
    Link,
    LinkEnd,
    LinkVerdict,
    NeighbourSeen,
    Plan,
    PlanEnd,
    PlanLink,
    RuleContext,
    Tiers,
    Verdict,
)
from auditor.plan.fabric import parse_fabric
from auditor.plan.tiers import tiers

OVERHEAD = 50
FABRIC = parse_fabric(
    "planes: {compute: {rdma_mtu: 4096, encapsulation: [vxlan], classes: [{name: roce, dscp: [26], priority: 3}]}}"
)
NEED = 4096 + 96
PROVEN, MISSING, UNPLANNED = LinkVerdict.PROVEN, LinkVerdict.MISSING, LinkVerdict.UNPLANNED


@dataclass
class Drawn:
    """A planned fabric and the cables beside the plan."""

    planned: list[Link]
    beside: list[Link] = field(default_factory=list)
    ports: Counter[str] = field(default_factory=Counter)

    @property
    def shape(self) -> Tiers:
        names = {end.device for link in self.planned for end in link.ends}
        devices = {name: Device(name, ("linux" if is_host(name) else "sonic",), role=role(name)) for name in names}
        return tiers(Plan("plan", tuple(link.plan for link in self.planned if link.plan is not None)), devices)["compute"]

    def failed(self, rule: str, links: list[Link]) -> list[object]:
        """The judgements of a rule that fail."""
        names = frozenset(end.device for link in links for end in link.ends)
        context = RuleContext(None, FABRIC, tiers={"compute": self.shape}, judged=names)
        return [item for item in rules()[rule].function(links, context) if item.verdict is Verdict.FAIL]

    def cable(self, one: str, other: str, verdict: LinkVerdict, sizes: tuple[int, int] = (9100, 9100)) -> Link:
        """A cable between the next free ports of two devices."""
        ends = [end(name, self._port(name), size) for name, size in zip((one, other), sizes, strict=True)]
        plan = None
        if verdict is not UNPLANNED:
            plan = PlanLink(*(PlanEnd(found.device, found.port) for found in ends), plane="compute")
        return Link(*ends, verdict, plan)

    def _port(self, device: str) -> str:
        self.ports[device] += 1
        return f"Ethernet{self.ports[device]}"


def is_host(device: str) -> bool:
    return device.startswith("gpu-")


def role(device: str) -> str:
    return "gpu_host" if is_host(device) else device.partition("-")[0]


def end(device: str, port: str, size: int) -> LinkEnd:
    mtu = Fact(Address("interface", (port,), "mtu"), size, Layer.APPLIED)
    return LinkEnd(device, port, port, role(device), {"interface.mtu": mtu}, (NeighbourSeen("x", "y"),))


@st.composite
def fabrics(draw: st.DrawFn, *, whole: bool = False, sizes: bool = False) -> Drawn:
    """Clos fabrics of two or three tiers; with cables missing unless `whole`, with odd MTUs if `sizes`."""
    pods = draw(st.integers(1, 2))
    leaves, spines, hosts = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    cores = draw(st.integers(0, 2))
    pairs = []
    for pod in range(pods):
        pairs += [(f"gpu-{pod}{leaf}{host}", f"leaf-{pod}{leaf}") for leaf in range(leaves) for host in range(hosts)]
        pairs += [(f"leaf-{pod}{leaf}", f"spine-{pod}{spine}") for leaf in range(leaves) for spine in range(spines)]
        pairs += [(f"spine-{pod}{spine}", f"core-{core}") for spine in range(spines) for core in range(cores)]
    drawn = Drawn([])
    size = st.sampled_from((1500, NEED - 1, NEED, NEED + OVERHEAD - 1, NEED + OVERHEAD, 9100)) if sizes else st.just(9100)
    verdict = st.just(PROVEN) if whole else st.sampled_from((PROVEN, PROVEN, PROVEN, MISSING))
    for one, other in pairs:
        drawn.planned.append(
            drawn.cable(
                one, other, PROVEN if is_host(one) else draw(verdict), draw(st.tuples(size, size)) if sizes else (9100, 9100)
            )
        )
    return drawn


@st.composite
def jumpered(draw: st.DrawFn) -> Drawn:
    """A fabric with some cables between any of its switches that no plan has."""
    drawn = draw(fabrics())
    switches = sorted({name for link in drawn.planned for name in (link.a.device, link.b.device) if not is_host(name)})
    for _ in range(draw(st.integers(0, 4))):
        one, other = draw(st.sampled_from(switches)), draw(st.sampled_from(switches))
        if one != other:
            drawn.beside.append(drawn.cable(one, other, UNPLANNED))
    return drawn


def circles(drawn: Drawn) -> set[frozenset[str]]:
    """The cables inside tiers of every circle, over one node for each direction of every cable that is there."""
    height = drawn.shape.of
    there = [link for link in (*drawn.planned, *drawn.beside) if link.verdict is not MISSING]
    ways = [(link.name, *names) for link in there for names in ((link.a.device, link.b.device), (link.b.device, link.a.device))]
    leaving = defaultdict(list)
    for way in ways:
        leaving[way[1]].append(way)
    graph = nx.DiGraph()
    for way in ways:
        for onward in leaving[way[2]]:
            down_then_up = height[way[1]] > height[way[2]] < height[onward[2]]
            if not is_host(way[2]) and onward[2] != way[1] and not down_then_up:
                graph.add_edge(way, onward)
    flat = {link.name for link in drawn.beside if height[link.a.device] == height[link.b.device]}
    found = (component for component in nx.strongly_connected_components(graph) if len(component) > 1)
    return {frozenset(name for name, _, _ in component if name in flat) for component in found}


@settings(max_examples=150, deadline=None)
@given(jumpered())
def test_a_circle_is_told_exactly_where_walking_all_buffers_closes_one(drawn):
    wanted = circles(drawn)
    said = drawn.failed("fabric.pfc_deadlock_possible", [*drawn.planned, *drawn.beside])
    assert len(said) <= len(wanted), "a circle and its mirror image are one"
    named = {name for item in said for name in item.deviation.observed.split(" and ")[0].split(", ")}
    flat = {" to ".join(link.name.replace(":", " ").split("|")): link.name for link in drawn.beside}
    assert {flat[name] for name in named} == {name for found in wanted for name in found}


@settings(max_examples=60, deadline=None)
@given(fabrics())
def test_without_jumpers_no_circle_and_no_link_inside_a_tier(drawn):
    assert circles(drawn) == set()
    for rule in ("fabric.pfc_deadlock_possible", "fabric.same_tier_link"):
        assert drawn.failed(rule, drawn.planned) == []


def paths(drawn: Drawn) -> list[list[tuple[Link, bool]]]:
    """Every way from one host port to another that climbs, turns once and descends, as planned."""
    height = drawn.shape.of
    near = defaultdict(list)
    for link in drawn.planned:
        near[link.a.device].append((link, link.b.device))
        near[link.b.device].append((link, link.a.device))
    found, open_ways = [], [([], name, True) for name in near if is_host(name)]
    while open_ways:
        way, at, climbing = open_ways.pop()
        if way and is_host(at):
            found.append(way)
            continue
        for link, onward in near[at]:
            up = height[onward] > height[at]
            if link not in way and (climbing or not up):
                open_ways.append(([*way, link], onward, up))
    return found


@settings(max_examples=60, deadline=None)
@given(fabrics(whole=True, sizes=True))
def test_the_narrow_ports_are_those_of_all_paths_that_are_too_small(drawn):
    height = drawn.shape.of
    wanted = set()
    for way in paths(drawn):
        for link in way:
            need = NEED + (OVERHEAD if all(height[found.device] for found in link.ends) else 0)
            wanted |= {(found.device, found.port) for found in link.ends if found.fact("interface.mtu").value < need}
    said = drawn.failed("mtu.path_too_small", drawn.planned)
    told = {(item.object.device, item.object.address.key[0]) for item in said}
    assert len(told) == len(said), "one finding for each narrow port"
    crossed = {(found.device, found.port) for way in paths(drawn) for link in way for found in link.ends}
    assert told & crossed == wanted
    assert all(
        ("touches" in item.deviation.message) <= ((item.object.device, item.object.address.key[0]) in crossed) for item in said
    )
