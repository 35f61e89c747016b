import random
from dataclasses import replace

import pytest

from auditor.cabling.causes import find_causes
from auditor.cabling.words import LANGUAGES, sentence, steps
from auditor.model import CauseKind, Device, Fabric, Hand, LinkVerdict, Plan, PlanEnd, PlanLink, Severity
from tests.unit.cabling.wirings import cables, causes, leaf_port, nic, plan, put, roles, swap, wiring

HOSTS = [f"gpu-{number:03}" for number in range(1, 9)]


def rotate(plan_, wires, host, by, rails=8, nics=nic):
    pairs = [((host, nics(rail)), wires[host, nics((rail + by) % rails)]) for rail in range(rails)]
    return put(wires, *pairs)


def only(found):
    assert len(found) == 1, [(cause.kind, cause.params) for cause in found]
    return found[0]


def hands(cause):
    return [move.hand for move in cause.moves]


def test_nothing_is_wrong_with_cables_as_planned():
    own = plan()
    assert causes(own, cables(own)) == ()


def test_two_exchanged_cables_of_a_host_are_one_cause():
    own = plan()
    found = only(causes(own, swap(own, cables(own), ("gpu-003", nic(3)), ("gpu-003", nic(4)))))
    assert (found.kind, found.severity) == (CauseKind.SWAPPED, Severity.ERROR)
    assert hands(found) == [Hand.UNPLUG, Hand.MOVE, Hand.PLUG]
    assert sentence(found, "en") == (
        "Two cables are exchanged: gpu-003 ens114np0 belongs to leaf-3 Ethernet16, gpu-003 ens116np0 to leaf-4 Ethernet16"
    )


def test_exchanged_cables_between_the_same_two_devices_are_a_warning():
    own = Plan("p", tuple(PlanLink(PlanEnd("leaf-1", str(33 + n)), PlanEnd("spine-0", str(3 + n)), "compute") for n in range(4)))
    found = only(causes(own, swap(own, cables(own), ("leaf-1", "33"), ("leaf-1", "34"))))
    assert (found.kind, found.severity) == (CauseKind.SWAPPED, Severity.WARNING)
    assert "the labels are wrong" in sentence(found, "en")


def test_three_cables_in_a_ring_are_a_cycle():
    own = plan()
    wires = cables(own)
    a, b, c = ("gpu-001", nic(0)), ("gpu-003", nic(5)), ("gpu-006", nic(2))
    found = only(causes(own, put(wires, (a, wires[b]), (b, wires[c]), (c, wires[a]))))
    assert found.kind is CauseKind.CYCLE
    assert len(found.moves) == 4
    assert found.params["cables"] == "3"


def test_a_plug_in_the_next_port_of_the_right_leaf_has_the_right_rail():
    own = plan()
    found = only(causes(own, put(cables(own), (("gpu-008", nic(6)), ("leaf-6", leaf_port(8))))))
    assert (found.kind, found.severity) == (CauseKind.WRONG_PORT, Severity.ERROR)
    assert hands(found) == [Hand.MOVE]
    assert sentence(found, "en") == (
        "gpu-008 ens120np0 is plugged into leaf-6 Ethernet64, the port next to Ethernet56: the rail is right, the port is not"
    )


def test_a_plug_in_another_nic_of_the_right_host():
    own = plan()
    found = only(causes(own, put(cables(own), (("gpu-008", "ens140np0"), ("leaf-6", leaf_port(7))))))
    assert found.kind is CauseKind.WRONG_PORT
    assert "the host is right" in sentence(found, "en")


def test_a_plug_in_another_switch_says_so():
    own = plan()
    found = only(causes(own, put(cables(own), (("gpu-008", nic(6)), ("leaf-5", leaf_port(9))))))
    assert found.kind is CauseKind.WRONG_PORT
    assert "another device" in sentence(found, "en")


def test_a_rotated_host_is_one_cause():
    own = plan()
    found = only(causes(own, rotate(own, cables(own), "gpu-002", 1)))
    assert (found.kind, found.params["form"]) == (CauseKind.NIC_ORDER, "nic_order.rotation")
    assert len(found.links) == 8
    assert len(found.moves) == 9


def test_a_rotation_by_two_is_one_cause_though_it_has_two_rings():
    own = plan()
    assert only(causes(own, rotate(own, cables(own), "gpu-002", 2))).kind is CauseKind.NIC_ORDER


def test_a_reversed_host_is_one_cause():
    own = plan()
    wires = cables(own)
    found = only(causes(own, put(wires, *[(("gpu-002", nic(rail)), wires["gpu-002", nic(7 - rail)]) for rail in range(8)])))
    assert found.params["form"] == "nic_order.reversal"


def test_two_racks_rotated_differently_are_two_causes():
    own = plan()
    wires = cables(own)
    for host in HOSTS:
        rotate(own, wires, host, 1 if host <= "gpu-004" else 3)
    found = causes(own, wires)
    assert [cause.kind for cause in found] == [CauseKind.NIC_ORDER] * 2
    assert {cause.params["hosts"] for cause in found} == {"\n".join(HOSTS[:4]), "\n".join(HOSTS[4:])}


def test_the_same_swap_on_several_hosts_is_one_cause():
    own = plan()
    wires = cables(own)
    for host in HOSTS[:3]:
        swap(own, wires, (host, nic(3)), (host, nic(4)))
    found = only(causes(own, wires))
    assert (found.kind, found.params["form"]) == (CauseKind.NIC_ORDER, "nic_order.other")


def test_a_rotation_of_the_whole_plane_asks_about_the_plan_and_keeps_its_moves():
    own = plan(spines=2)
    wires = cables(own)
    for host in HOSTS:
        rotate(own, wires, host, 1)
    found = only(causes(own, wires))
    assert found.kind is CauseKind.NIC_ORDER
    assert len(found.moves) == 8 * 9
    assert steps(found, own, roles(own), "en")[0].startswith("Check the plan before anybody touches a cable: 8 hosts")


def test_a_rotation_survives_lost_neighbours():
    own = plan(hosts=16)
    wires = cables(own)
    for host in range(1, 17):
        rotate(own, wires, f"gpu-{host:03}", 1)
    lost = {("gpu-003", nic(2)), ("gpu-009", nic(0)), ("gpu-009", nic(1))}
    found = only(causes(own, wires, lost=lost))
    assert found.kind is CauseKind.NIC_ORDER
    assert Hand.LAY not in hands(found)


@pytest.mark.parametrize("seed", range(3))
def test_a_fleet_wide_mistake_stays_one_cause_while_a_tenth_of_the_cables_is_not_seen(seed):
    own = plan(hosts=32, racks=4, spines=2)
    wires = cables(own)
    chance = random.Random(seed)
    lost = {place for place in sorted(wires) if chance.random() < 0.1 and place[0].startswith("gpu")}
    for host in range(1, 33):
        rotate(own, wires, f"gpu-{host:03}", 3)
    assert [cause.kind for cause in causes(own, wires, lost=lost)] == [CauseKind.NIC_ORDER]


def test_hosts_wired_in_port_order_are_one_cause():
    own = plan()
    wires = cables(own)
    pairs = [((HOSTS[host], nic(rail)), (f"leaf-{host}", leaf_port(rail))) for host in range(8) for rail in range(8)]
    found = only(causes(own, put(wires, *pairs)))
    assert found.kind is CauseKind.PORT_ORDER
    assert len(found.links) == 56


def test_two_exchanged_hosts_ask_for_names_and_places_first():
    own = plan()
    wires = cables(own)
    for rail in range(8):
        swap(own, wires, ("gpu-002", nic(rail)), ("gpu-007", nic(rail)))
    found = only(causes(own, wires))
    assert (found.kind, found.params["ring"]) == (CauseKind.HOSTS_EXCHANGED, "gpu-002\ngpu-007")
    order = steps(found, own, roles(own), "en")
    assert order[0].startswith("Before anybody touches a cable, compare the name")
    assert len(order) == 1 + len(found.moves) == 1 + 8 * 3


def test_hosts_exchanged_on_one_plane_only_are_exchanged_bundles():
    compute = plan(hosts=4, rails=4)
    storage = [
        PlanLink(PlanEnd(f"gpu-{host + 1:03}", f"ens200np{port}"), PlanEnd(f"tor-{port}", leaf_port(host)), "storage")
        for host in range(4)
        for port in range(2)
    ]
    own = Plan("p", (*compute.links, *storage))
    wires = cables(own)
    for rail in range(4):
        swap(own, wires, ("gpu-002", nic(rail)), ("gpu-003", nic(rail)))
    assert only(causes(own, wires)).params["form"] == "hosts_exchanged.bundle"


def test_a_host_one_port_further_on_every_leaf_is_shifted():
    own = plan()
    found = only(causes(own, put(cables(own), *[(("gpu-008", nic(rail)), (f"leaf-{rail}", leaf_port(8))) for rail in range(8)])))
    assert (found.kind, found.params["step"]) == (CauseKind.SHIFTED, "1")


def test_a_rack_shifted_by_one_port_is_one_cause():
    own = plan()
    wires = cables(own)
    pairs = [
        ((f"gpu-{host + 1:03}", nic(rail)), (f"leaf-{rail}", leaf_port(host + 1))) for host in range(4, 8) for rail in range(8)
    ]
    found = only(causes(own, put(wires, *pairs)))
    assert (found.kind, found.params["racks"]) == (CauseKind.SHIFTED, "R02")
    assert len(found.moves) == 32


def test_exchanged_leaf_names_give_no_move():
    own = plan(spines=4)
    wires = cables(own)
    names = {"leaf-2": "leaf-5", "leaf-5": "leaf-2"}
    told = {(names.get(a, a), p): (names.get(b, b), q) for (a, p), (b, q) in wires.items()}
    found = only(causes(own, told))
    assert (found.kind, found.moves) == (CauseKind.SWITCH_NAMES_EXCHANGED, ())
    assert steps(found, own, roles(own), "en")[0].startswith("Touch no cable")


def test_exchanged_hosts_with_one_more_mistake_are_two_causes():
    own = plan()
    wires = cables(own)
    for rail in range(8):
        swap(own, wires, ("gpu-002", nic(rail)), ("gpu-007", nic(rail)))
    swap(own, wires, ("gpu-002", nic(0)), ("gpu-005", nic(1)))
    found = causes(own, wires)
    assert {cause.kind for cause in found} == {CauseKind.HOSTS_EXCHANGED, CauseKind.CYCLE}


def test_rails_exchanged_on_every_host_with_uplinks_right_are_no_exchanged_names():
    own = plan(spines=4)
    wires = cables(own)
    for host in HOSTS:
        swap(own, wires, (host, nic(2)), (host, nic(5)))
    assert only(causes(own, wires)).kind is CauseKind.NIC_ORDER


def mlx(rail):
    return f"mlx5_{rail}"


def test_counted_names_give_no_move():
    own = plan(nics=mlx)
    found = only(causes(own, swap(own, cables(own), ("gpu-003", "mlx5_3"), ("gpu-003", "mlx5_4"))))
    assert (found.kind, found.moves) == (CauseKind.CABLES_OR_NUMBERING, ())


def test_counted_names_give_no_move_across_planes():
    storage = PlanLink(PlanEnd("gpu-001", "mlx5_8", "R01"), PlanEnd("tor-1", "Ethernet0"), "storage")
    own = Plan("p", (*plan(nics=mlx).links, storage))
    found = only(causes(own, swap(own, cables(own), ("gpu-001", "mlx5_8"), ("gpu-001", "mlx5_0"))))
    assert (found.kind, found.moves) == (CauseKind.CABLES_OR_NUMBERING, ())


def test_counted_names_give_no_move_when_one_end_was_not_seen():
    own = plan(nics=mlx)
    wires = swap(own, cables(own), ("gpu-003", "mlx5_3"), ("gpu-003", "mlx5_4"))
    found = only(causes(own, wires, lost={("gpu-003", "mlx5_3")}))
    assert (found.kind, found.moves) == (CauseKind.CABLES_OR_NUMBERING, ())


def test_a_cable_in_a_card_that_the_plan_does_not_know_may_be_a_number_too():
    own = plan(nics=mlx)
    found = only(causes(own, put(cables(own), (("gpu-003", "mlx5_9"), ("leaf-3", leaf_port(2))))))
    assert (found.kind, found.moves) == (CauseKind.CABLES_OR_NUMBERING, ())


def test_counted_names_do_not_excuse_cables_of_two_hosts():
    own = plan(nics=mlx)
    found = only(causes(own, swap(own, cables(own), ("gpu-003", "mlx5_3"), ("gpu-004", "mlx5_3"))))
    assert found.kind is CauseKind.SWAPPED


@pytest.mark.parametrize("how", ["ids", "nics"])
def test_an_address_of_the_card_turns_the_same_into_exchanged_cables(how):
    own = plan(nics=mlx, ids=how == "ids")
    fabric = (
        Fabric(nics={"model-x": {mlx(rail): f"0000:{rail + 16:02x}:00.0" for rail in range(8)}}) if how == "nics" else Fabric()
    )
    devices = {name: Device(name, (), role=device.role, hardware_model="model-x") for name, device in roles(own).items()}
    found = only(
        causes(own, swap(own, cables(own), ("gpu-003", "mlx5_3"), ("gpu-003", "mlx5_4")), fabric=fabric, devices=devices)
    )
    assert found.kind is CauseKind.SWAPPED


def test_renumbered_cards_whose_bus_order_fits_the_plan():
    own = plan(nics=mlx)
    wires = cables(own)
    identities = {}
    for host in HOSTS:
        rotate(own, wires, host, 1, nics=mlx)
        identities |= {(host, mlx(rail)): (f"0000:{16 + (rail + 1) % 8:02x}:00.0", mlx(rail)) for rail in range(8)}
    found = only(causes(own, wires, identities=identities))
    assert (found.kind, found.moves) == (CauseKind.RENUMBERED, ())


def test_rows_of_leaves_off_by_one_over_several_racks_question_the_plan():
    own = plan(hosts=16)
    wires = cables(own)
    pairs = [
        ((f"gpu-{host + 1:03}", nic(rail)), (f"leaf-{rail}", leaf_port(host + 1))) for host in range(16) for rail in range(8)
    ]
    found = only(causes(own, put(wires, *pairs)))
    assert (found.kind, found.moves) == (CauseKind.PLAN_WRONG, ())
    assert len(found.links) == 128


def test_rows_in_the_opposite_order_question_the_plan():
    own = plan(hosts=16)
    wires = cables(own)
    pairs = [((f"gpu-{host + 1:03}", nic(0)), ("leaf-0", leaf_port(15 - host))) for host in range(16)]
    found = only(causes(own, put(wires, *pairs)))
    assert found.params["form"] == "plan_wrong.reversal"


def test_a_missing_cable_is_laid_after_a_look():
    own = plan()
    found = only(causes(own, put(cables(own), out=[("gpu-003", nic(3))])))
    assert (found.kind, hands(found)) == (CauseKind.MISSING, [Hand.LAY])
    assert not found.moves[0].look_first


def test_all_cables_of_a_device_missing_are_one_cause():
    own = plan()
    found = only(causes(own, put(cables(own), out=[("gpu-003", nic(rail)) for rail in range(8)])))
    assert found.params["form"] == "missing.device"
    assert len(found.links) == len(found.moves) == 8


def test_the_missing_cables_of_one_leaf_in_scope_are_not_all_of_it():
    own = plan()
    wires = put(cables(own), out=[("leaf-2", leaf_port(host)) for host in range(4)])
    assert len(causes(own, wires)) == 4


def breakout():
    return Plan(
        "p",
        tuple(
            PlanLink(PlanEnd("gpu-001", nic(n)), PlanEnd("leaf-0", f"Ethernet{2 * n}", "", "", str(n)), "compute", cable_id="B1")
            for n in range(4)
        ),
    )


def test_the_lanes_of_a_missing_breakout_are_one_cause_with_one_cable():
    extra = tuple(
        PlanLink(PlanEnd("gpu-001", f"ens9{n}np0"), PlanEnd("leaf-0", f"Ethernet{100 + n}"), "compute") for n in range(2)
    )
    own = Plan("p", (*breakout().links, *extra))
    found = only(causes(own, put(cables(own), out=[("gpu-001", nic(n)) for n in range(4)])))
    assert found.params["form"] == "missing.breakout"
    assert [len(move.target) for move in found.moves] == [4]


def test_a_slow_link_is_degraded_and_nothing_is_moved():
    own = plan()
    name = own.links[9].name
    found = only(causes(own, cables(own), slow={name}))
    assert (found.kind, found.links, found.moves) == (CauseKind.DEGRADED, (name,), ())


def test_cables_that_no_plan_has_are_information_by_pair_of_devices():
    own = plan()
    wires = put(
        cables(own),
        (("leaf-0", "Ethernet800"), ("leaf-1", "Ethernet800")),
        (("leaf-0", "Ethernet808"), ("leaf-1", "Ethernet808")),
    )
    found = causes(own, wires)
    assert {cause.severity for cause in found} == {Severity.INFORMATION}
    assert sum(len(cause.links) for cause in found) == 2


def test_only_causes_at_judged_devices_are_wanted():
    own = plan()
    wires = swap(own, cables(own), ("gpu-003", nic(3)), ("gpu-003", nic(4)))
    put(wires, out=[("gpu-005", nic(0))])
    assert [cause.kind for cause in causes(own, wires, judged={"gpu-005"})] == [CauseKind.MISSING]
    assert [cause.kind for cause in causes(own, wires, judged={"leaf-4"})] == [CauseKind.SWAPPED]
    assert causes(own, wires, judged={"gpu-001"}) == ()


def test_the_key_of_an_order_stays_while_hosts_are_mended():
    own = plan(hosts=16)
    wires = cables(own)
    for host in range(1, 13):
        rotate(own, wires, f"gpu-{host:03}", 1)
    before = only(causes(own, wires)).key
    for host in range(1, 6):
        rotate(own, wires, f"gpu-{host:03}", 7)
    assert only(causes(own, wires)).key == before


def test_unlike_faults_stay_apart():
    own = plan()
    wires = rotate(own, cables(own), "gpu-002", 1)
    swap(own, wires, ("gpu-004", nic(0)), ("gpu-006", nic(5)))
    put(wires, (("gpu-008", nic(6)), ("leaf-6", leaf_port(8))))
    assert sorted(cause.kind for cause in causes(own, wires)) == [CauseKind.NIC_ORDER, CauseKind.SWAPPED, CauseKind.WRONG_PORT]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_cause_speaks(lang):
    own = plan()
    wires = rotate(own, cables(own), "gpu-002", 1)
    swap(own, wires, ("gpu-004", nic(0)), ("gpu-006", nic(5)))
    put(wires, (("gpu-008", nic(6)), ("leaf-6", leaf_port(8))), out=[("gpu-001", nic(0))])
    for cause in causes(own, wires):
        assert sentence(cause, lang)
        assert all(steps(cause, own, roles(own), lang))


def test_a_wrong_link_whose_cable_nobody_can_follow_is_looked_at():
    own = plan()
    seen = wiring(own, cables(own))
    one = seen.links[0]
    odd = replace(one, verdict=LinkVerdict.WRONG, reason="leaf-0:Ethernet0 sees \x1b[31mstranger", far=(None, None))
    observed = {place: other for place, other in seen.observed.items() if one.plan.a.place not in (place, other)}
    found = only(find_causes(replace(seen, links=(odd, *seen.links[1:]), observed=observed), own, Fabric(), roles(own)))
    assert (found.kind, found.params["form"], found.moves) == (CauseKind.MIXED, "mixed.unseen", ())
    assert "\x1b" not in sentence(found, "en")
    assert [step.partition(" by hand")[0] for step in steps(found, own, roles(own), "en")] == [
        "Follow the cable in gpu-001 ens108np0, and the one in leaf-0 Ethernet0,"
    ]
