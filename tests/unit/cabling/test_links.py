import pytest

from auditor.address import Address, Layer
from auditor.cabling.links import build_wiring
from auditor.model import (
    ABSENT,
    Device,
    Fact,
    Gap,
    GapReason,
    LinkEnd,
    LinkVerdict,
    NeighbourSeen,
    Plan,
    PlanEnd,
    PlanLink,
    Status,
)

HOST, LEAF = ("gpu-01", "ens1np0"), ("leaf-01", "Ethernet0")
HOST_MAC, LEAF_MAC = "b8:3f:d2:00:00:01", "02:00:5e:00:00:01"
SEES_LEAF = ("leaf-01", "etp1", "local", "Ethernet0", LEAF_MAC)
SEES_HOST = ("gpu-01", HOST_MAC, "mac", "ens1np0", HOST_MAC)
NIC_AGENT = ("", HOST_MAC, "mac", "", HOST_MAC)
STRANGER = ("", "b8:3f:d2:ff:00:01", "mac", "", "b8:3f:d2:ff:00:01")


def end(place, *neighbours, up=True, enabled=True, there=True, gap=None, identities=None):
    device, port = place
    facts = {}
    for column, value in (("up", up), ("enabled", enabled)):
        if value is not None:
            facts[f"interface.{column}"] = Fact(Address("interface", (port,), column), value, Layer.APPLIED)
    own = {HOST: ("ens1np0", HOST_MAC), LEAF: ("Ethernet0", "etp1", LEAF_MAC)}.get(place, (port,))
    role = "gpu_host" if device.startswith("gpu") else "leaf"
    seen, own = tuple(NeighbourSeen(*item) for item in neighbours), own if identities is None else identities
    return LinkEnd(device, port, port if there else None, role, facts, seen, own, gap=gap)


def build(*ends, plan=((HOST, LEAF),), planned=(), unknown=()):
    links = tuple(PlanLink(PlanEnd(*a), PlanEnd(*b)) for a, b in plan)
    names = {place[0] for pair in plan for place in pair} | {item.device for item in ends}
    devices = {
        name: Device(name, ("linux",), status=Status.PLANNED if name in planned else Status.ACCEPTED)
        for name in names
        if name not in unknown
    }
    return build_wiring(Plan("plan", links), {(item.device, item.port): item for item in ends}, devices).links


def verdict(*ends, **options):
    return build(*ends, **options)[0].verdict


def test_proven_when_both_ends_name_the_planned_port():
    assert verdict(end(HOST, SEES_LEAF), end(LEAF, SEES_HOST)) is LinkVerdict.PROVEN


def test_proven_at_one_end_when_the_other_is_silent():
    link = build(end(HOST), end(LEAF, SEES_HOST))[0]
    assert (link.verdict, link.reason) == (LinkVerdict.PROVEN_ONE_END, "seen by leaf-01:Ethernet0 only")


def test_proven_at_one_end_when_the_other_was_not_collected():
    assert verdict(end(LEAF, SEES_HOST)) is LinkVerdict.PROVEN_ONE_END


def test_proven_at_one_end_when_the_other_sees_somebody_who_cannot_be_named():
    assert verdict(end(HOST, STRANGER), end(LEAF, SEES_HOST)) is LinkVerdict.PROVEN_ONE_END


def test_the_agent_of_an_adapter_proves_the_link_by_its_mac():
    assert verdict(end(HOST), end(LEAF, NIC_AGENT)) is LinkVerdict.PROVEN_ONE_END


def test_of_two_neighbours_on_a_port_one_that_fits_is_enough():
    old = ("gpu-07", "ens9np0", "name", "", "")
    assert verdict(end(HOST, SEES_LEAF), end(LEAF, old, SEES_HOST)) is LinkVerdict.PROVEN


def test_of_two_neighbours_that_do_not_fit_both_are_shown():
    link = build(end(HOST), end(LEAF, STRANGER, ("leaf-09", "Ethernet4", "name", "", "")), end(("leaf-09", "Ethernet4")))[0]
    assert link.verdict is LinkVerdict.WRONG
    assert "b8:3f:d2:ff:00:01" in link.reason and "leaf-09 Ethernet4" in link.reason


def test_wrong_when_an_end_names_another_port():
    link = build(end(HOST, ("leaf-01", "etp2", "local", "Ethernet8", LEAF_MAC)), end(LEAF))[0]
    assert link.verdict is LinkVerdict.WRONG
    assert link.reason == 'gpu-01:ens1np0 sees leaf-01 etp2 "Ethernet8"'


def test_wrong_when_a_third_port_sees_the_planned_one_though_its_host_sees_nobody():
    other = end(("leaf-01", "Ethernet40"), NIC_AGENT)
    link = build(end(HOST), end(LEAF, up=False), other)[0]
    assert (link.verdict, link.reason) == (LinkVerdict.WRONG, "leaf-01:Ethernet40 sees gpu-01:ens1np0")


def test_what_a_port_sees_beside_its_planned_peer_speaks_against_no_other_link():
    plan = ((HOST, LEAF), (("gpu-02", "ens1np0"), ("leaf-01", "Ethernet8")))
    old = ("gpu-01", "ens1np0", "name", "", "")
    there = end(("leaf-01", "Ethernet8"), old, ("gpu-02", "ens1np0", "name", "", ""))
    links = build(end(HOST), end(LEAF), there, end(("gpu-02", "ens1np0")), plan=plan)
    assert [link.verdict for link in links] == [LinkVerdict.LINK_ONLY, LinkVerdict.PROVEN_ONE_END]


def test_two_cables_exchanged_are_two_wrong_links():
    plan = ((("gpu-01", "ens1np0"), ("leaf-01", "Ethernet0")), (("gpu-01", "ens2np0"), ("leaf-02", "Ethernet0")))
    links = build(
        end(("gpu-01", "ens1np0"), ("leaf-02", "etp1", "local", "Ethernet0", "")),
        end(("gpu-01", "ens2np0"), ("leaf-01", "etp1", "local", "Ethernet0", "")),
        end(("leaf-01", "Ethernet0")),
        end(("leaf-02", "Ethernet0")),
        plan=plan,
    )
    assert [link.verdict for link in links] == [LinkVerdict.WRONG] * 2


def test_ends_that_contradict_each_other_prove_nothing():
    link = build(end(HOST, SEES_LEAF), end(LEAF, ("leaf-09", "Ethernet4", "name", "", "")), end(("leaf-09", "Ethernet4")))[0]
    assert link.verdict is LinkVerdict.UNKNOWN
    assert "leaf-01:Ethernet0 sees leaf-09:Ethernet4: one port cannot have two cables" in link.reason


def test_link_only_when_both_are_up_and_nobody_speaks():
    assert verdict(end(HOST), end(LEAF)) is LinkVerdict.LINK_ONLY


def test_a_neighbour_that_cannot_be_named_is_neither_wrong_nor_missing():
    link = build(end(LEAF, STRANGER))[0]
    assert link.verdict is LinkVerdict.UNKNOWN
    assert "b8:3f:d2:ff:00:01" in link.reason


@pytest.mark.parametrize("ends", [(end(HOST), end(LEAF, up=False)), (end(HOST, up=False), end(LEAF, up=False))])
def test_missing_when_a_port_is_down_and_nobody_is_seen_elsewhere(ends):
    assert verdict(*ends) is LinkVerdict.MISSING


def test_missing_when_the_device_has_no_such_port_and_the_far_one_is_down():
    link = build(end(HOST, up=ABSENT, enabled=ABSENT, there=False), end(LEAF, up=False))[0]
    assert link.verdict is LinkVerdict.MISSING
    assert "gpu-01 has no port ens1np0" in link.reason


def test_not_missing_when_the_device_has_no_such_port_and_the_far_one_is_up():
    link = build(end(HOST, up=ABSENT, enabled=ABSENT, there=False), end(LEAF))[0]
    assert link.verdict is LinkVerdict.UNKNOWN
    assert "gpu-01 has no port ens1np0, and leaf-01:Ethernet0 is up" in link.reason


def test_not_missing_when_one_end_was_not_collected():
    assert verdict(end(LEAF, up=False)) is LinkVerdict.UNKNOWN


def test_not_missing_when_the_state_of_a_port_is_a_gap():
    gap = Gap("gpu-01", "interface", "ip_link", GapReason.TIMEOUT)
    assert verdict(end(HOST, up=None, enabled=None, gap=gap), end(LEAF, up=False)) is LinkVerdict.UNKNOWN


def test_not_missing_when_a_port_is_switched_off():
    link = build(end(HOST, up=False), end(LEAF, up=False, enabled=False))[0]
    assert (link.verdict, link.reason) == (LinkVerdict.UNKNOWN, "leaf-01:Ethernet0 is switched off")


def test_a_neighbour_on_a_port_that_is_down_is_old_and_no_evidence():
    assert verdict(end(HOST), end(LEAF, SEES_HOST, up=False)) is LinkVerdict.MISSING


def test_not_yet_when_an_end_is_planned_whatever_is_seen():
    link = build(end(LEAF, up=False), planned=("gpu-01",))[0]
    assert (link.verdict, link.reason) == (LinkVerdict.NOT_YET, "gpu-01 is planned, not installed")


def test_not_yet_when_an_end_is_not_in_the_inventory():
    assert verdict(end(LEAF, up=False), unknown=("gpu-01",)) is LinkVerdict.NOT_YET


def test_unknown_when_nothing_was_collected():
    link = build()[0]
    assert link.verdict is LinkVerdict.UNKNOWN
    assert link.a.gap is not None and link.b.gap is not None
    assert link.a.fact("interface.mtu").gap is not None


def test_links_stand_in_the_order_of_the_plan_with_its_line():
    plan = Plan("p", tuple(PlanLink(PlanEnd(f"gpu-{n:02}", "e"), PlanEnd("leaf-01", f"Ethernet{n}"), line=n) for n in (9, 3, 5)))
    assert [link.plan.line for link in build_wiring(plan, {}, {}).links] == [9, 3, 5]


def test_a_pod_of_four_thousand_links_is_matched_by_name():
    pairs = [((f"gpu-{n // 8:04}", f"ens{n % 8}np0"), (f"leaf-{n % 8}", f"Ethernet{n // 8}")) for n in range(4000)]
    ends = []
    for host, leaf in pairs:
        ends.append(end(host, (leaf[0], leaf[1], "name", "", "")))
        ends.append(end(leaf, (host[0], host[1], "name", "", "")))
    assert {link.verdict for link in build(*ends, plan=pairs)} == {LinkVerdict.PROVEN}
