"""Pairs of ports that see each other and that no plan has."""

import pytest

from auditor.address import Address, Layer
from auditor.cabling.links import build_wiring
from auditor.model import Device, Fact, LinkEnd, LinkVerdict, NeighbourSeen, Plan, PlanEnd, PlanLink, Status, Via

PLAN = (
    (("gpu-01", "ens1np0"), ("leaf-01", "Ethernet0"), "compute"),
    (("leaf-01", "Ethernet64"), ("spine-01", "Ethernet0"), "compute"),
    (("gpu-01", "eno1"), ("oob-01", "swp1"), "oob"),
)


def end(place, *fars, via=Via.LLDP):
    fact = Fact(Address("neighbour", (place[1], "x"), "system"), "?", Layer.APPLIED)
    seen = tuple(NeighbourSeen(*far, "name", via=via, fact=fact) for far in fars)
    up = Fact(Address("interface", (place[1],), "up"), True, Layer.APPLIED)
    role = "gpu_host" if place[0].startswith("gpu") else "leaf"
    return LinkEnd(*place, place[1], role, {"interface.up": up}, seen, (place[1],))


def unplanned(*ends, planned=(), near=None):
    links = tuple(PlanLink(PlanEnd(*a), PlanEnd(*b), plane) for a, b, plane in PLAN)
    names = {place[0] for a, b, _ in PLAN for place in (a, b)} | {item.device for item in ends}
    devices = {
        name: Device(name, ("linux",), status=Status.PLANNED if name in planned else Status.ACCEPTED) for name in sorted(names)
    }
    full = {(item.device, item.port): item for item in ends}
    return build_wiring(Plan("plan", links), full, devices, near=near).unplanned


LEAF, SPINE = ("leaf-01", "Ethernet4"), ("spine-01", "Ethernet4")


def test_two_free_ports_that_see_each_other_are_one_pair():
    (link,) = unplanned(end(SPINE, LEAF), end(LEAF, SPINE))
    assert (link.verdict, link.name, link.plan) == (LinkVerdict.UNPLANNED, "leaf-01:Ethernet4|spine-01:Ethernet4", None)
    assert link.reason.startswith("leaf-01:Ethernet4 sees spine-01:Ethernet4; spine-01:Ethernet4 sees leaf-01:Ethernet4")
    assert link.far == (SPINE, LEAF)
    assert [str(spot) for spot in link.spots] == [
        "leaf-01:neighbour[Ethernet4,x].system", "spine-01:neighbour[Ethernet4,x].system",
    ]  # fmt: skip


def test_one_end_that_sees_the_other_is_enough():
    (link,) = unplanned(end(SPINE, LEAF))
    assert link.a.gap is not None
    assert unplanned(end(SPINE, LEAF), near={"leaf-01"}) == (link,)
    assert unplanned(end(SPINE, LEAF), near={"gpu-01"}) == ()


@pytest.mark.parametrize(
    ("near", "far"),
    [
        (("leaf-01", "eth0"), ("spine-01", "eth0")),
        (("leaf-01", "Ethernet4"), ("printer-01", "Ethernet4")),
        (("leaf-01", "Ethernet4"), ("oob-01", "swp4")),
        (("leaf-01", "Ethernet4"), ("gpu-01", "eno2")),
        (("leaf-01", "Ethernet0"), ("spine-01", "Ethernet4")),
    ],
    ids=["management ports", "no device of the plan", "no plane in common", "a port of another plane", "a planned port"],
)
def test_what_is_no_unplanned_cable_of_a_planned_plane(near, far):
    assert unplanned(end(near, far), end(far, near)) == ()


def test_devices_that_are_not_installed_have_no_unplanned_cables():
    assert unplanned(end(SPINE, LEAF), planned=("spine-01",)) == ()


def test_addresses_alone_prove_no_unplanned_cable():
    host = LinkEnd("gpu-01", "ens2np0", "ens2np0", "gpu_host", identities=("ens2np0", "b8:3f:d2:00:00:02"))
    near = end(LEAF)
    seen = NeighbourSeen("", "b8:3f:d2:00:00:02", "mac", "", "b8:3f:d2:00:00:02")
    learned, heard = (LinkEnd(*LEAF, LEAF[1], "leaf", near.facts, (seen._replace(via=via),)) for via in (Via.MAC, Via.LLDP))
    assert unplanned(host, learned) == ()
    assert [link.name for link in unplanned(host, heard)] == ["gpu-01:ens2np0|leaf-01:Ethernet4"]
