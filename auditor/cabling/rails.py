"""The rail rule without a plan: what most hosts show becomes the plan against which the odd ones are judged.

The rule of rail-optimised wiring: NIC n of every host is on the leaves of rail n, and all NICs of one host sit in ports of the
same name on their leaves (field case 45). Where that holds for most hosts, every cable of the others has one place to be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from auditor.model import Place, Plan, PlanEnd, PlanLink

LEAST_HOSTS = 3
"""Hosts that must show the same for it to be a rule."""

MOST = 0.75
"""Share of the hosts that must keep the rule before the others are called wrong."""


@dataclass(frozen=True, slots=True)
class RailSight:
    """One NIC port of a host with what is across its cable. `nic` names the same slot in every host of one `model`."""

    host: str
    model: str
    nic: str
    port: str
    far: Place


@dataclass(frozen=True, slots=True)
class RailPlan:
    """The plan that the rail rule gives, and in words what was left out of it and why. `left`: ports without a place in it."""

    plan: Plan
    notes: tuple[str, ...] = ()
    left: int = 0


def infer_plan(sights: Iterable[RailSight]) -> RailPlan:
    """The wiring that most hosts have, for all hosts. Empty with a note when too few hosts agree to make a rule."""
    everything = sorted(sights, key=lambda sight: (sight.host, sight.nic, sight.far))
    rail_of = _rails(everything)
    usual = _usual_ports(everything, rail_of)
    rails, notes = _kept(everything, rail_of, usual)
    if not rails:
        return RailPlan(Plan(), ("too few hosts agree on which NIC belongs to which leaf: there is no rail rule to check",))
    here = [sight for sight in everything if (sight.model, sight.nic) in rails]
    leaves = _neighbours(here, rail_of)
    links, order = [], {rail: at for at, rail in enumerate(sorted(rails))}
    for sight in here:
        if sight.host not in usual:
            continue
        rail = (sight.model, sight.nic)
        leaf = leaves.get(sight.host, {}).get(rail)
        if leaf is not None:
            ends = PlanEnd(sight.host, sight.port), PlanEnd(leaf, usual[sight.host])
            links.append(PlanLink(*ends, plane="compute", rail=str(order[rail])))
    once = _each_once(links)
    placed = {link.a.place for link in once}
    without = [f"{sight.host} {sight.port}" for sight in here if (sight.host, sight.port) not in placed]
    if without:
        more = f" and {len(without) - 8} more" if len(without) > 8 else ""
        notes.append(f"the rail rule gives these no place of their own, so they are not judged: {', '.join(without[:8])}{more}")
    return RailPlan(Plan("the rail rule, without a plan", once), tuple(notes), len(without))


Rail = tuple[str, str]
"""(hardware model, NIC): what stands on one rail."""


def _rails(sights: Sequence[RailSight]) -> dict[str, Rail]:
    """The rail of each leaf: the NIC that most of its hosts are cabled to it with."""
    found: defaultdict[str, Counter[Rail]] = defaultdict(Counter)
    for sight in sights:
        found[sight.far[0]][sight.model, sight.nic] += 1
    out = {}
    for leaf, counts in found.items():
        rail, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= LEAST_HOSTS and count >= MOST * sum(counts.values()):
            out[leaf] = rail
    return out


def _usual_ports(sights: Sequence[RailSight], rail_of: Mapping[str, Rail]) -> dict[str, str]:
    """The port name that most NICs of a host have on their leaves; a host without one of at least two NICs is left out."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sight in sights:
        if sight.far[0] in rail_of:
            found[sight.host][sight.far[1]] += 1
    out = {}
    for host, counts in found.items():
        (port, count), *more = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= 2 and not (more and more[0][1] == count):
            out[host] = port
    return out


def _kept(sights: Sequence[RailSight], rail_of: Mapping[str, Rail], usual: Mapping[str, str]) -> tuple[set[Rail], list[str]]:
    """The rails whose NICs keep the rule of the port on most hosts; storage and management NICs as a rule do not."""
    agree: Counter[Rail] = Counter()
    hosts: Counter[Rail] = Counter()
    for sight in sights:
        rail = (sight.model, sight.nic)
        if rail in rail_of.values() and sight.host in usual:
            hosts[rail] += 1
            agree[rail] += sight.far[1] == usual[sight.host]
    kept = {rail for rail, count in hosts.items() if count >= LEAST_HOSTS and agree[rail] >= MOST * count}
    left = sorted({(sight.model, sight.nic) for sight in sights} - kept)
    named = [" ".join(filter(None, rail)) for rail in left]
    return kept, [f"{name}: most hosts do not keep the rail rule with it, so it is not judged" for name in named]


def _neighbours(sights: Sequence[RailSight], rail_of: Mapping[str, Rail]) -> dict[str, dict[Rail, str]]:
    """For each host the leaf of every rail: its own where a NIC is on its rail, else the one that its leaves' other hosts use.

    A host all of whose NICs are on other rails, as after a rotation, has the leaves that belong with those it is on.
    """
    own: defaultdict[str, dict[Rail, str]] = defaultdict(dict)
    touched: defaultdict[str, list[str]] = defaultdict(list)
    for sight in sights:
        if sight.far[0] in rail_of:
            touched[sight.host].append(sight.far[0])
        rail = (sight.model, sight.nic)
        if rail_of.get(sight.far[0]) == rail:
            own[sight.host][rail] = sight.far[0]
    beside: defaultdict[str, defaultdict[Rail, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for leaves in own.values():
        for leaf in leaves.values():
            for rail, other in leaves.items():
                beside[leaf][rail][other] += 1
    out = {}
    for host, around in touched.items():
        leaves = own.get(host, {})
        votes: defaultdict[Rail, Counter[str]] = defaultdict(Counter)
        for leaf in leaves.values() or around:
            for rail, counts in beside[leaf].items():
                votes[rail].update(counts)
        out[host] = {rail: min(counts, key=lambda leaf: (-counts[leaf], leaf)) for rail, counts in votes.items()} | leaves
    return out


def _each_once(links: Iterable[PlanLink]) -> tuple[PlanLink, ...]:
    """The links whose ports nobody else claims: two hosts that would share a port show that the rule does not fit them."""
    links = tuple({link.name: link for link in links}.values())
    users = Counter(end.place for link in links for end in (link.a, link.b))
    return tuple(link for link in links if users[link.a.place] == 1 and users[link.b.place] == 1)
