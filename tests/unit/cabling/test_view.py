"""Which sightings count, and which can be true together."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auditor.address import Address, Layer
from auditor.cabling.links import build_wiring
from auditor.model import Device, Fact, LinkEnd, LinkVerdict, NeighbourSeen, Plan, PlanEnd, PlanLink, Spot, Via

AT = datetime(2026, 4, 1, 2, 0, tzinfo=UTC)
HOST, OTHER_HOST = ("gpu-01", "ens1np0"), ("gpu-02", "ens1np0")
LEAF, NEXT, SPARE = ("leaf-01", "Ethernet0"), ("leaf-01", "Ethernet4"), ("leaf-01", "Ethernet8")
MACS = {HOST: "b8:3f:d2:00:00:01", OTHER_HOST: "b8:3f:d2:00:00:02"}
PLAN = ((HOST, LEAF), (OTHER_HOST, NEXT))


def fact(table, key, column, value):
    return Fact(Address(table, key, column), value, Layer.APPLIED)


def sees(place, **more):
    """The neighbour that this port is, as its own device names it."""
    near = fact("neighbour", ("?", place[1]), "system", place[0])
    return NeighbourSeen(place[0], place[1], "name", fact=near)._replace(**more)


def learned(mac, via=Via.MAC):
    return NeighbourSeen("", mac, "mac", "", mac, via)


def end(place, *neighbours, up=True, **facts):
    known = {"interface.up": up, "interface.mac": MACS.get(place)} | {f"interface.{name}": value for name, value in facts.items()}
    found = {name: fact("interface", (place[1],), name[10:], value) for name, value in known.items() if value is not None}
    role = "gpu_host" if place[0].startswith("gpu") else "leaf"
    own = tuple(filter(None, (place[1], MACS.get(place))))
    return LinkEnd(*place, place[1], role, found, neighbours, own, AT)


def wire(*ends, plan=PLAN, near=None):
    links = tuple(PlanLink(PlanEnd(*a), PlanEnd(*b), "compute", speed=400_000_000_000) for a, b in plan)
    places = [place for pair in plan for place in pair]
    full = {place: end(place) for place in places} | {(item.device, item.port): item for item in ends}
    devices = {name: Device(name, ("linux",)) for name, _ in full}
    return build_wiring(Plan("plan", links), full, devices, near=near)


def first(*ends, **options):
    return wire(*ends, **options).links[0]


@pytest.mark.parametrize(
    ("neighbour", "told"),
    [
        (sees(LEAF, since_s=3600.0), LinkVerdict.PROVEN_ONE_END),
        (sees(LEAF, since_s=9000.0), LinkVerdict.LINK_ONLY),
        (sees(LEAF, since_s=7210.0), LinkVerdict.PROVEN_ONE_END),
        (sees(LEAF, since_s=9000.0, heard_s=10.0), LinkVerdict.PROVEN_ONE_END),
        (sees(LEAF, heard_s=130.0, ttl_s=120.0), LinkVerdict.LINK_ONLY),
        (sees(LEAF, heard_s=20.0, ttl_s=120.0), LinkVerdict.PROVEN_ONE_END),
    ],
    ids=["since the link came up", "older than the link", "as old as the link", "heard since", "past its time", "young"],
)
def test_an_entry_counts_if_it_is_younger_than_its_link_and_not_past_its_time(neighbour, told):
    up_since = (AT - timedelta(hours=2)).isoformat()
    link = first(end(HOST, neighbour, up_since=up_since))
    assert link.verdict is told
    assert told is LinkVerdict.PROVEN_ONE_END or "gpu-01:ens1np0 shows a neighbour" in link.reason


def test_stored_neighbours_of_a_link_that_came_up_since_are_old():
    host = end(HOST, sees(LEAF), up_since=(AT - timedelta(hours=2)).isoformat())
    assert first(host).verdict is LinkVerdict.PROVEN_ONE_END
    assert first(replace(host, stale_of=AT - timedelta(hours=1))).verdict is LinkVerdict.PROVEN_ONE_END
    assert first(replace(host, stale_of=AT - timedelta(hours=9))).verdict is LinkVerdict.LINK_ONLY


@pytest.mark.parametrize("up_since", ["yesterday", "", "2026-04-01T01:00:00"])
def test_a_time_that_cannot_be_read_makes_no_entry_old(up_since):
    assert first(end(HOST, sees(LEAF, since_s=60.0), up_since=up_since)).verdict is LinkVerdict.PROVEN_ONE_END


def test_a_port_that_sees_its_own_device_sees_nobody_and_it_is_said():
    link = first(end(HOST, sees(HOST)), end(LEAF, sees(NEXT)))
    assert link.verdict is LinkVerdict.LINK_ONLY
    assert "gpu-01:ens1np0 sees its own device" in link.reason
    assert "leaf-01:Ethernet0 sees its own device" in link.reason


def test_one_neighbour_listed_twice_is_one():
    link = first(end(HOST, sees(NEXT), sees(NEXT, since_s=4.0)))
    assert (link.verdict, link.reason) == (LinkVerdict.WRONG, "gpu-01:ens1np0 sees leaf-01 Ethernet4")


def test_a_neighbour_that_a_switch_shows_on_two_ports_proves_neither():
    wiring = wire(end(LEAF, sees(HOST)), end(NEXT, sees(HOST)))
    assert [link.verdict for link in wiring.links] == [LinkVerdict.UNKNOWN] * 2
    assert "leaf-01:Ethernet4 sees it too: one port cannot have two cables" in wiring.links[0].reason
    assert wiring.observed == {}


def test_a_neighbour_that_a_switch_shows_on_two_ports_is_where_the_neighbour_says():
    wiring = wire(end(LEAF, sees(HOST)), end(NEXT, sees(HOST)), end(HOST, sees(LEAF)))
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN, LinkVerdict.UNKNOWN]
    assert "see each other" in wiring.links[1].reason
    assert wiring.observed == {HOST: LEAF, LEAF: HOST}


def test_a_bridge_that_shows_everybody_to_everybody_proves_no_stranger():
    wiring = wire(
        end(HOST, sees(LEAF), sees(NEXT)), end(LEAF, sees(HOST), sees(OTHER_HOST)), end(NEXT, sees(HOST), sees(OTHER_HOST))
    )
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END]


def test_three_ports_that_all_see_each_other_lead_nowhere():
    three = (HOST, OTHER_HOST, LEAF)
    ends = [end(place, *(sees(far) for far in three if far[0] != place[0])) for place in three]
    wiring = wire(*ends, plan=((HOST, NEXT), (OTHER_HOST, SPARE)))
    assert wiring.observed == {}
    assert {link.verdict for link in wiring.links} == {LinkVerdict.UNKNOWN}


def test_two_ends_that_see_each_other_outweigh_one_that_sees_its_planned_peer():
    wiring = wire(end(HOST, sees(LEAF)), end(LEAF, sees(OTHER_HOST)), end(OTHER_HOST, sees(LEAF)))
    assert [link.verdict for link in wiring.links] == [LinkVerdict.WRONG] * 2
    assert wiring.observed == {LEAF: OTHER_HOST, OTHER_HOST: LEAF}


def test_a_contradiction_leads_nowhere_in_either_direction():
    wiring = wire(end(HOST, sees(LEAF)), end(LEAF, sees(OTHER_HOST)))
    assert wiring.observed == {}
    assert [link.verdict for link in wiring.links] == [LinkVerdict.UNKNOWN] * 2
    assert [link.far for link in wiring.links] == [(None, None)] * 2


def test_a_wrong_link_shows_the_sighting_the_address_and_the_port_that_is_down():
    moved = end(SPARE, NeighbourSeen("", MACS[HOST], "mac", "", MACS[HOST], fact=fact("neighbour", ("x", "y"), "chassis", "z")))
    link = first(moved, end(LEAF, up=False))
    assert (link.verdict, link.reason) == (LinkVerdict.WRONG, "leaf-01:Ethernet8 sees gpu-01:ens1np0")
    assert [str(spot) for spot in link.spots] == [
        "leaf-01:neighbour[x,y].chassis", "gpu-01:interface[ens1np0].mac", "leaf-01:interface[Ethernet0].up",
    ]  # fmt: skip
    assert link.far == (SPARE, None)


def test_what_an_end_leads_to_is_known_from_either_side():
    wiring = wire(end(LEAF, sees(OTHER_HOST)))
    assert wiring.links[0].far == (None, OTHER_HOST)
    assert wiring.links[1].far == (LEAF, None)
    assert wiring.observed == {LEAF: OTHER_HOST, OTHER_HOST: LEAF}


# Address tables


@pytest.mark.parametrize("via", [Via.MAC, Via.ARP])
def test_the_one_address_on_a_silent_port_tells_the_host(via):
    assert first(end(LEAF, learned(MACS[HOST], via))).verdict is LinkVerdict.PROVEN_ONE_END
    assert first(end(LEAF, learned(MACS[OTHER_HOST], via))).verdict is LinkVerdict.WRONG
    assert first(end(LEAF, up=False), end(SPARE, learned(MACS[HOST], via))).verdict is LinkVerdict.WRONG


@pytest.mark.parametrize(
    "macs", [(MACS[HOST], MACS[OTHER_HOST]), (MACS[OTHER_HOST], "b8:3f:d2:ff:ff:01"), ("b8:3f:d2:ff:ff:01",)]
)
def test_several_or_unknown_addresses_tell_nobody(macs):
    assert first(end(LEAF, *map(learned, macs))).verdict is LinkVerdict.LINK_ONLY


def test_addresses_are_not_asked_where_lldp_tells():
    assert first(end(LEAF, sees(HOST), learned(MACS[OTHER_HOST]))).verdict is LinkVerdict.PROVEN_ONE_END


def test_an_address_gives_way_to_a_port_that_hears_its_owner():
    wiring = wire(end(LEAF, sees(HOST)), end(NEXT, learned(MACS[HOST])))
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN_ONE_END, LinkVerdict.LINK_ONLY]


def test_addresses_that_pass_between_switches_are_no_neighbours():
    uplink, spine = ("leaf-01", "Ethernet64"), ("spine-01", "Ethernet0")
    wiring = wire(end(spine, learned(MACS[HOST])), plan=((HOST, LEAF), (uplink, spine)))
    assert [link.verdict for link in wiring.links] == [LinkVerdict.LINK_ONLY] * 2


def test_addresses_in_the_table_of_a_host_are_no_neighbours():
    assert first(end(HOST, learned(MACS[OTHER_HOST]))).verdict is LinkVerdict.LINK_ONLY


def test_a_bond_is_told_by_the_address_of_its_member():
    two = ("gpu-01", "ens2np0")
    macs = {HOST: MACS[HOST], two: "b8:3f:d2:00:00:09"}
    members = [replace(end(place), identities=(place[1], "bond0", mac)) for place, mac in macs.items()]
    bond = NeighbourSeen("gpu-01", "bond0", "name")
    plan = ((HOST, LEAF), (two, NEXT))
    assert first(*members, end(LEAF, bond), plan=plan).verdict is LinkVerdict.UNKNOWN
    assert first(*members, end(LEAF, bond, learned(MACS[HOST])), plan=plan).verdict is LinkVerdict.PROVEN_ONE_END
    assert first(*members, end(LEAF, bond, learned(macs[two])), plan=plan).verdict is LinkVerdict.WRONG


def test_a_bond_that_the_planned_port_is_no_member_of_is_another_port():
    others = [("gpu-01", "ens2np0"), ("gpu-01", "ens3np0")]
    members = [replace(end(place), identities=(place[1], "bond0")) for place in others]
    assert first(*members, end(LEAF, NeighbourSeen("gpu-01", "bond0", "name"))).verdict is LinkVerdict.WRONG


# Lanes of one port


def test_the_lanes_of_a_port_may_lead_to_several_hosts():
    plan = ((HOST, LEAF), (OTHER_HOST, LEAF))
    wiring = wire(end(HOST, sees(LEAF)), end(OTHER_HOST, sees(LEAF)), end(LEAF, sees(HOST)), plan=plan)
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END]
    third = ("gpu-03", "ens1np0")
    wiring = wire(*(end(host, sees(LEAF)) for host in (HOST, OTHER_HOST, third)), plan=(*plan, (third, NEXT)))
    assert [link.verdict for link in wiring.links] == [LinkVerdict.UNKNOWN] * 3


# Speed


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"speed": 400_000_000_000}, LinkVerdict.PROVEN_ONE_END),
        ({"speed": 200_000_000_000}, LinkVerdict.DEGRADED),
        ({}, LinkVerdict.PROVEN_ONE_END),
        ({"speed": 0}, LinkVerdict.PROVEN_ONE_END),
    ],
)
def test_a_right_cable_below_the_planned_speed_is_degraded(facts, told):
    link = first(end(LEAF, sees(HOST), **facts))
    assert link.verdict is told
    if told is LinkVerdict.DEGRADED:
        assert link.reason == "leaf-01:Ethernet0 runs at 200G, 400G is planned"
        assert link.spots == (Spot("leaf-01", Address("interface", ("Ethernet0",), "speed")),)
        assert link.far == (LEAF, HOST)


def test_the_speed_of_a_port_that_is_down_is_what_somebody_configured():
    assert first(end(LEAF, sees(HOST)), end(HOST, up=False, speed=100_000_000_000)).verdict is LinkVerdict.PROVEN_ONE_END


def test_the_negotiated_speed_goes_before_the_rate_of_an_rdma_device():
    host = end(HOST)
    host = replace(host, facts=dict(host.facts) | {"rdma_port.rate": fact("rdma_port", ("mlx5_0", "1"), "rate", 100_000_000_000)})
    assert first(end(LEAF, sees(HOST)), host).verdict is LinkVerdict.DEGRADED
    assert first(end(LEAF, sees(HOST), speed=400_000_000_000), host).verdict is LinkVerdict.PROVEN_ONE_END


# A living end whose cable is not where it should be


def test_a_living_end_may_be_in_a_port_that_says_nothing():
    link = first(end(LEAF, up=False), end(SPARE))
    assert link.verdict is LinkVerdict.UNKNOWN
    assert "leaf-01:Ethernet0 is down, gpu-01:ens1np0 is up: its cable may be in leaf-01:Ethernet8" in link.reason


def test_without_such_a_port_the_cable_is_missing():
    assert first(end(LEAF, up=False)).verdict is LinkVerdict.MISSING


def test_an_empty_cage_is_missing_whatever_its_state():
    empty = replace(end(LEAF), facts={"optic.present": fact("optic", ("Ethernet0",), "present", False)})
    link = first(empty, end(HOST, up=False), plan=((LEAF, HOST),))
    assert link.verdict is LinkVerdict.MISSING
    assert link.reason == "leaf-01:Ethernet0 is down, without a module, and neither end is seen anywhere else"


# Scope


def test_only_links_near_are_told_and_all_count_as_evidence():
    wiring = wire(end(LEAF, sees(OTHER_HOST)), near={"gpu-02"})
    assert [link.name for link in wiring.links] == ["gpu-02:ens1np0|leaf-01:Ethernet4"]
    assert wiring.links[0].verdict is LinkVerdict.WRONG
