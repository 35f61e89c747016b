"""An InfiniBand fabric joined with the plan: nodes become devices, cables become what their ports see."""

from dataclasses import replace

import pytest

from auditor.address import Address, Layer
from auditor.cabling.links import build_wiring
from auditor.model import Device, FabricPort, Fact, Gap, GapReason, LinkEnd, LinkVerdict, Plan, PlanEnd, PlanLink, Via

LEAF, SPINE = "fc6a1c0300c40100", "fc6a1c0300c40300"
ONE, TWO = "b83fd2030051a000", "b83fd2030051b000"
FACTORY = "MT4129 ConnectX7   Mellanox Technologies"
PLAN = (
    ("gpu-51", "mlx5_0", "lf-1", "1"),
    ("gpu-51", "mlx5_1", "lf-1", "2"),
    ("lf-1", "33", "sp-1", "1"),
    ("lf-1", "34", "sp-1", "2"),
)
SWITCHES = {LEAF: "MF0;lf-1:MQM9700/U1", SPINE: "MF0;sp-1:MQM9700/U1"}
HOSTS = {ONE: "gpu-51 mlx5_0", TWO: "gpu-51 mlx5_1"}
CABLES = ((ONE, "1", LEAF, "1"), (TWO, "1", LEAF, "2"), (LEAF, "33", SPINE, "1"), (LEAF, "34", SPINE, "2"))


def fact(table, *key, column, value="?"):
    device = "fm-1" if table.startswith("ib_") else ""
    return Fact(Address(table, key, column), value, Layer.APPLIED, "infiniband", "ibnetdiscover", device=device)


def node(guid, description, ports=65, whole=True):
    kind = "switch" if ports > 2 else "ca"
    told = fact("ib_node", guid, column="description", value=description)
    return FabricPort("fm-1", guid, "", kind, description, ports, fact=told, whole=whole)


def port(guid, number, peer, peer_port, description="", lanes=4, speed="NDR"):
    return FabricPort(
        "fm-1", guid, number, port_guid=guid[:-1] + number if guid in HOSTS else "", peer_guid=peer, peer_port=peer_port,
        peer_description=description, width=lanes, speed=speed, rate=lanes * 100_000_000_000,
        fact=fact("ib_port", guid, number, column="peer_guid", value=peer),
    )  # fmt: skip


def walk(cables=CABLES, hosts=HOSTS, switches=SWITCHES, **options):
    names = {**hosts, **switches}
    found = [node(guid, text, **options) for guid, text in switches.items()]
    found += [node(guid, text, ports=1) for guid, text in hosts.items()]
    for a, a_port, b, b_port in cables:
        found += [port(a, a_port, b, b_port, names.get(b, "")), port(b, b_port, a, a_port, names.get(a, ""))]
    return found


def wire(seen, plan=PLAN, ends=(), ids=()):
    links = []
    for a, a_port, b, b_port in plan:
        one, other = (PlanEnd(*place, id=dict(ids).get(place, "")) for place in ((a, a_port), (b, b_port)))
        links.append(PlanLink(one, other, "compute", speed=400_000_000_000))
    names = {end.device for link in links for end in (link.a, link.b)}
    devices = {name: Device(name, ("linux",), role="gpu_host" if name.startswith("gpu") else "leaf") for name in names}
    return build_wiring(Plan("plan", tuple(links)), {(end.device, end.port): end for end in ends}, devices, seen)


def verdicts(*args, **options):
    return [link.verdict.value for link in wire(*args, **options).links]


def host(name, *identities, **facts):
    return LinkEnd("gpu-51", name, name, "gpu_host", facts, identities=(name, *identities))


def test_both_ends_of_every_cable_are_proven_once_and_devices_need_not_answer_themselves():
    wiring = wire(walk())
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN] * 4
    assert len(wiring.observed) == 8
    assert wiring.unplanned == ()
    end = wiring.ends["lf-1", "33"]
    assert (end.gap, end.interface, end.neighbours[0].via) == (None, "33", Via.FABRIC)
    assert {fact.device for fact in end.facts.values()} == {"fm-1"}


def test_parallel_cables_between_two_switches_are_told_apart():
    crossed = (*CABLES[:2], (LEAF, "33", SPINE, "2"), (LEAF, "34", SPINE, "1"))
    wiring = wire(walk(crossed))
    assert [link.verdict.value for link in wiring.links] == ["proven", "proven", "wrong", "wrong"]
    assert wiring.links[2].far == (("sp-1", "2"), ("lf-1", "34"))
    assert [str(spot) for spot in wiring.links[2].spots] == [
        f"fm-1:ib_port[{LEAF},33].peer_guid", f"fm-1:ib_port[{SPINE},1].peer_guid",
    ]  # fmt: skip


def test_switches_go_by_their_plain_name_too():
    assert verdicts(walk(switches={LEAF: "lf-1", SPINE: "SP-1"})) == ["proven"] * 4


@pytest.mark.parametrize("names", [("P1", "p2"), ("swp1", "swp2"), ("01", "02")])
def test_ports_of_switches_go_by_their_number(names):
    plan = (("gpu-51", "mlx5_0", "lf-1", names[0]), ("gpu-51", "mlx5_1", "lf-1", names[1]))
    assert verdicts(walk(CABLES[:2]), plan) == ["proven"] * 2


@pytest.mark.parametrize("names", [("1/1", "1/2"), ("sw1p1", "sw1p2")])
def test_a_name_of_two_numbers_is_guessed_at_by_nobody(names):
    plan = (("gpu-51", "mlx5_0", "lf-1", names[0]), ("gpu-51", "mlx5_1", "lf-1", names[1]))
    assert verdicts(walk(CABLES[:2]), plan) == ["unknown"] * 2


def test_two_names_with_one_number_are_no_port():
    plan = (("gpu-51", "mlx5_0", "lf-1", "1"), ("gpu-51", "mlx5_1", "lf-1", "P1"))
    assert verdicts(walk(CABLES[:1]), plan)[0] == "unknown"


@pytest.mark.parametrize("names", [("mlx5_0/1", "mlx5_1/1"), ("mlx5_0/P1", "mlx5_1/P1")])
def test_ports_of_adapters_may_be_written_with_their_number(names):
    plan = (("gpu-51", names[0], "lf-1", "1"), ("gpu-51", names[1], "lf-1", "2"))
    assert verdicts(walk(CABLES[:2]), plan) == ["proven"] * 2


def test_adapters_may_be_counted_from_one():
    plan = (("gpu-51", "HCA-1", "lf-1", "1"), ("gpu-51", "hca-2", "lf-1", "2"))
    assert verdicts(walk(CABLES[:2], hosts={ONE: "gpu-51 HCA-1", TWO: "gpu-51 HCA-2"}), plan) == ["proven"] * 2
    assert verdicts(walk(hosts={ONE: "gpu-51 HCA-1", TWO: "gpu-51 HCA-2"}))[:2] == ["unknown"] * 2


def test_a_port_without_a_row_has_no_living_cable():
    wiring = wire(walk(CABLES[:3]))
    assert [link.verdict.value for link in wiring.links] == ["proven", "proven", "proven", "missing"]
    assert [str(spot) for spot in wiring.links[3].spots] == [
        f"fm-1:ib_node[{LEAF}].description", f"fm-1:ib_node[{SPINE}].description",
    ]  # fmt: skip


def test_a_walk_that_was_cut_says_nothing_of_ports_without_a_row():
    assert verdicts(walk(CABLES[:3], whole=False))[3] == "unknown"


def test_a_node_that_is_not_there_is_unknown():
    seen = walk(CABLES[1:], hosts={TWO: "gpu-51 mlx5_1"})
    wiring = wire(seen)
    assert [link.verdict.value for link in wiring.links] == ["unknown", "proven", "proven", "proven"]
    assert wiring.links[0].reason == "the state of gpu-51:mlx5_0 was not seen"


def test_a_listed_port_that_is_down_has_no_living_cable():
    down = FabricPort("fm-1", LEAF, "34", state="down", fact=fact("ib_port", LEAF, "34", column="state", value="down"))
    wiring = wire([*walk(CABLES[:3]), down])
    assert wiring.links[3].verdict is LinkVerdict.MISSING
    assert str(wiring.links[3].spots[0]) == f"fm-1:ib_port[{LEAF},34].state"


def test_a_port_that_its_host_calls_active_is_not_dead_because_the_walk_says_so():
    active = fact("rdma_port", "mlx5_1", "1", column="state", value="active")
    down = FabricPort("fm-1", TWO, "1", state="down", fact=fact("ib_port", TWO, "1", column="state", value="down"))
    wiring = wire([*walk(CABLES[:1]), down], ends=[host("mlx5_1", **{"rdma_port.state": active})])
    assert "interface.up" not in wiring.ends["gpu-51", "mlx5_1"].facts
    wiring = wire([*walk(CABLES[:1]), down], ends=[host("mlx5_1")])
    assert wiring.ends["gpu-51", "mlx5_1"].facts["interface.up"].value is False


def test_a_cable_on_half_its_lanes_is_degraded():
    seen = [replace(item, width=2, rate=200_000_000_000) if item.guid == ONE and item.port else item for item in walk()]
    link = wire(seen).links[0]
    assert (link.verdict, link.reason) == (LinkVerdict.DEGRADED, "gpu-51:mlx5_0 runs at 200G (2xNDR), 400G is planned")
    assert [str(spot) for spot in link.spots] == [f"fm-1:ib_port[{ONE},1].rate"]


def test_an_ip_interface_that_is_down_says_nothing_of_its_infiniband_port():
    own = host(
        "mlx5_0",
        **{
            "interface.up": fact("interface", "ib0", column="up", value=False),
            "interface.enabled": fact("interface", "ib0", column="enabled", value=False),
            "rdma_port.link_layer": fact("rdma_port", "mlx5_0", "1", column="link_layer", value="infiniband"),
            "rdma_port.state": fact("rdma_port", "mlx5_0", "1", column="state", value="active"),
        },
    )
    assert verdicts(walk(), ends=[own])[0] == "proven"
    assert verdicts(walk(CABLES[1:]), ends=[own])[0] == "unknown"


def test_aggregation_nodes_are_nobody():
    engine = "fc6a1c0300c40108"
    text = "Mellanox Technologies Aggregation Node"
    seen = [*walk(), node(engine, text, ports=1), port(LEAF, "65", engine, "1", text), port(engine, "1", LEAF, "65")]
    wiring = wire(seen)
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN] * 4
    assert ("lf-1", "65") not in wiring.ends
    assert wiring.unplanned == ()


def test_a_cable_that_no_plan_has_is_told():
    wiring = wire(walk((*CABLES, (LEAF, "35", SPINE, "3"))))
    assert [link.name for link in wiring.unplanned] == ["lf-1:35|sp-1:3"]


# Who a node is


def test_the_text_of_the_factory_is_no_name():
    link = wire(walk(hosts={ONE: FACTORY, TWO: HOSTS[TWO]})).links[0]
    assert link.verdict is LinkVerdict.UNKNOWN
    assert "cannot be named" in link.reason
    assert FACTORY in link.reason


@pytest.mark.parametrize("word", [ONE, ONE[:-1] + "1"], ids=["of the adapter", "of the port"])
def test_a_guid_that_the_host_listed_stands_for_its_port(word):
    wiring = wire(walk(hosts={ONE: FACTORY, TWO: HOSTS[TWO]}), ends=[host("mlx5_0", word)])
    assert wiring.links[0].verdict is LinkVerdict.PROVEN
    assert wiring.ends["gpu-51", "mlx5_0"].facts["ib_node.description"].value == FACTORY


def test_a_guid_of_the_plan_stands_for_its_port():
    assert verdicts(walk(hosts={ONE: FACTORY, TWO: HOSTS[TWO]}), ids=[(("gpu-51", "mlx5_0"), ONE)])[0] == "proven"


def test_a_guid_goes_before_a_name_that_another_host_left_behind():
    seen = walk(hosts={ONE: "gpu-99 mlx5_0", TWO: HOSTS[TWO]})
    assert verdicts(seen, ends=[host("mlx5_0", ONE)])[0] == "proven"
    assert verdicts(seen)[0] == "unknown"


def test_a_list_of_guids_without_names_leaves_one_port_for_one_adapter():
    seen = walk(hosts={ONE: FACTORY, TWO: HOSTS[TWO]})
    listed = [host(guid, guid) for guid in (ONE, TWO)]
    assert verdicts(seen, ends=listed)[:2] == ["proven", "proven"]
    assert verdicts(walk(hosts={ONE: FACTORY, TWO: FACTORY}), ends=listed)[:2] == ["unknown", "unknown"]


def test_a_box_of_several_nodes_has_each_number_twice():
    other = "fc6a1c0300c40200"
    seen = walk(switches={**SWITCHES, other: "MF0;lf-1:Q3400/U2"})
    assert verdicts(seen)[:2] == ["unknown", "unknown"]
    ids = [(("lf-1", "1"), LEAF), (("lf-1", "2"), LEAF)]
    assert verdicts(seen, ids=ids)[:2] == ["proven", "proven"]


def test_two_nodes_that_describe_themselves_alike_are_nobody_until_a_guid_tells():
    seen = walk(hosts={ONE: HOSTS[ONE], TWO: HOSTS[ONE]})
    assert verdicts(seen)[:2] == ["unknown", "unknown"]
    assert verdicts(seen, ends=[host("mlx5_0", ONE)])[:2] == ["proven", "unknown"]


def test_what_is_named_by_the_guid_of_its_port_is_found():
    seen = [replace(item, peer_guid="", peer_port_guid=ONE[:-1] + "1") if item.peer_guid == ONE else item for item in walk()]
    assert verdicts(seen)[0] == "proven"


def test_two_hosts_that_walked_one_fabric_tell_it_once():
    seen = walk()
    wiring = wire([*seen, *(replace(item, witness="fm-2") for item in seen)])
    assert [link.verdict for link in wiring.links] == [LinkVerdict.PROVEN] * 4
    assert {fact.device for fact in wiring.ends["lf-1", "33"].facts.values()} == {"fm-1"}


def test_an_end_that_nobody_collected_is_known_by_the_walk():
    gap = Gap("lf-1", "*", "", GapReason.UNREACHABLE)
    unreached = LinkEnd("lf-1", "1", None, "leaf", gap=gap)
    assert verdicts(walk(), ends=[unreached])[0] == "proven"


def test_without_any_plan_the_fabric_still_tells_who_sees_whom():
    devices = {name: Device(name, ("linux",), role="gpu_host") for name in ("gpu-51", "lf-1", "sp-1")}
    wiring = build_wiring(Plan(), {("gpu-51", "mlx5_0"): host("mlx5_0", ONE)}, devices, walk())
    assert wiring.observed["gpu-51", "mlx5_0"] == ("lf-1", "1")
