from __future__ import annotations

from fractions import Fraction

import pytest

from auditor.model import Device, Plan, Severity
from auditor.plan.document import inspect_plan
from auditor.plan.fabric import parse_fabric
from auditor.plan.generate import Wanted, design, links
from auditor.plan.lint import KnownPorts, Linted, Surroundings, lint
from auditor.plan.tiers import hosts

HEAD = "a_device,a_port,b_device,b_port"


def look(text: str, around: Surroundings | None = None) -> Linted:
    plan, errors = inspect_plan(text, "plan.csv")
    return lint(plan, around or Surroundings(), errors)


def told(text: str, around: Surroundings | None = None) -> list[str]:
    return [str(finding) for finding in look(text, around).findings]


def one(text: str, rule: str, around: Surroundings | None = None) -> str:
    """The one finding of a rule; there must be no other of any rule."""
    (found,) = told(text, around)
    assert found.endswith(f"[{rule}]")
    return found


def devices(*names: str, role: str = "", model: str = "", rack: str = "") -> dict[str, Device]:
    return {name: Device(name, ("linux",), role=role, hardware_model=model, rack=rack) for name in names}


def rows(count: int = 4, rails: int = 4, *, change: dict[tuple[int, int], str] | None = None) -> str:
    """A rail-wired pod of hosts in which NIC n is on leaf-n, with some lines replaced."""
    lines = [
        (change or {}).get((host, rail), f"gpu-{host},nic{rail},leaf-{rail},swp{host + 1},compute,{rail}")
        for host in range(count)
        for rail in range(rails)
    ]
    return "\n".join([f"{HEAD},plane,rail", *filter(None, lines)]) + "\n"


def test_errors_of_reading_and_of_meaning_come_together_by_line() -> None:
    text = f"{HEAD},speed\nh1,nic0,l1,swp1,x\nh2,nic0,l1,swp2,400G\nh3,nic0,l1,swp2,400G\nh4,nic0,h4,nic1,\n"
    found = look(text)
    assert [finding.line for finding in found.findings] == [2, 4, 5]
    assert found.errors == 3
    assert str(found.findings[1]) == "plan.csv:4: error: port l1:swp2 is already used by line 3 [unreadable]"


def test_a_sound_pod_is_clean_and_its_sums_are_shown() -> None:
    found = look(rows())
    assert found.findings == ()
    assert found.sums[0] == "compute: 4 hosts with 16 links"
    assert "no uplinks" in found.sums[1]


def test_unknown_devices_are_told_once_with_a_name_that_is_close() -> None:
    inventory = devices("gpu-01", "gpu-02") | {"Leaf-01.dc": Device("Leaf-01.dc", ("sonic",))}
    around = Surroundings(devices=inventory)
    text = f"{HEAD}\ngpu-1,nic0,leaf-01.dc,swp1\ngpu-1,nic1,leaf-01.dc,swp2\ngpu-02,eth0,Leaf-01.dc,swp3\n"
    found = [item for item in told(text, around) if "unknown_device" in item]
    assert found == [
        "plan.csv:2: error: device 'gpu-1' is not in the inventory; did you mean 'gpu-01'? [unknown_device]",
        "plan.csv:2: error: device 'leaf-01.dc' is not in the inventory; did you mean 'Leaf-01.dc'? [unknown_device]",
    ]


def test_without_an_inventory_no_device_is_unknown() -> None:
    assert told(f"{HEAD}\nh1,eth0,l1,swp1\n") == []


def test_ports_that_a_device_certainly_lacks_are_errors() -> None:
    around = Surroundings(ports={"l1": KnownPorts(("swp1", "swp2"), frozenset({"swp11"}))})
    found = one(f"{HEAD}\nh1,eth0,l1,swp11\nh2,eth0,l1,swp2\n", "unknown_port", around)
    assert "plan.csv:2: error: l1 has no port 'swp11'; it has 'swp1'" in found


def test_a_numbered_nic_needs_an_address_in_fabric_yaml_or_an_id() -> None:
    fabric = parse_fabric('nics: {model-x: {nic0: "0000:18:00.0"}}')
    text = (
        f"{HEAD},a_id\nx1,nic0,l1,s1,\nx1,nic9,l1,s2,\ny1,nic0,l1,s3,\ny1,nic1,l1,s4,\nz1,nic0,l1,s5,\nz1,nic1,l1,s6,00:1a:00.0\n"
    )
    text = text.replace("00:1a:00.0", "0000:1a:00.0")
    inventory = devices("x1", model="model-x") | devices("y1", model="model-y") | devices("z1") | devices("l1", role="leaf")
    found = told(text, Surroundings(fabric=fabric, devices=inventory))
    assert [item for item in found if "[unknown_port]" not in item] == []
    assert len(found) == 3
    assert "plan.csv:3: error: fabric.yaml names no nic9 of model 'model-x'" in found[0]
    assert "plan.csv:4: warning: fabric.yaml has no nics of model 'model-y'" in found[1]
    assert "on 2 links" in found[1]
    assert "plan.csv:6: warning: z1 has no hardware_model" in found[2]


def test_a_rail_without_some_hosts_is_unbalanced() -> None:
    found = one(rows(change={(2, 3): ""}), "rail_imbalance")
    assert "rail 3 has no link of gpu-2: 3 of 4 hosts have one" in found


def test_a_host_whose_nics_take_other_rails_than_those_of_its_like() -> None:
    change = {(1, 0): "gpu-1,nic0,leaf-1,swp2,compute,1", (1, 1): "gpu-1,nic1,leaf-0,swp2,compute,0"}
    found = one(rows(change=change), "rail_order")
    assert "gpu-1 has nic0 rail 1, nic1 rail 0; 3 of 4 such hosts have nic0 rail 0, nic1 rail 1" in found


def test_hosts_with_the_same_wrong_order_are_told_together() -> None:
    change = {(host, 0): f"gpu-{host},nic0,leaf-1,swp{host + 1},compute,1" for host in (1, 3)}
    change |= {(host, 1): f"gpu-{host},nic1,leaf-0,swp{host + 1},compute,0" for host in (1, 3)}
    assert "gpu-1, gpu-3 has nic0 rail 1, nic1 rail 0; 5 of 7 such hosts" in one(rows(7, change=change), "rail_order")


def test_an_order_of_rails_that_all_hosts_share_is_only_noted() -> None:
    text = rows().replace("nic0", "nicX").replace("nic1", "nic0").replace("nicX", "nic1")
    found = look(text)
    assert [(item.rule, item.severity) for item in found.findings] == [("rail_order", Severity.INFORMATION)]
    assert found.errors == 0


def test_a_rail_that_strays_to_another_leaf_is_an_error_on_its_line() -> None:
    found = told(rows(count=8, change={(5, 2): "gpu-5,nic2,leaf-3,swp60,compute,2"}))
    assert any(
        item.startswith("plan.csv:24: error: leaf-3 serves rail 3 (8 links), and 1 of rail 2: gpu-5:nic2") for item in found
    )


def test_two_rails_on_one_leaf_by_design_are_no_stray() -> None:
    assert told(rows().replace("leaf-1,swp", "leaf-0,swp10").replace("leaf-3,swp", "leaf-2,swp10")) == []


def test_links_without_rail_among_others_with_one() -> None:
    text = rows(change={(0, 0): "gpu-0,nic0,leaf-0,swp1,compute,"})
    assert any("plan.csv:2: warning: plane compute: 1 host links have no rail, 15 have one" in item for item in told(text))


def test_one_port_number_on_each_leaf_where_nearly_all_hosts_have_it() -> None:
    found = one(rows(count=10, change={(4, 1): "gpu-4,nic1,leaf-1,swp50,compute,1"}), "rail_port_number")
    assert "1 not: gpu-4 is on port swp5 of its leaves, but on leaf-1:swp50" in found


def test_hosts_with_all_links_of_a_plane_on_one_leaf() -> None:
    good = "".join(f"h{at},eth0,l1,swp{at},storage\nh{at},eth1,l2,swp{at},storage\n" for at in range(1, 4))
    text = f"{HEAD},plane\n{good}h9,eth0,l1,swp8,storage\nh9,eth1,l1,swp9,storage\n"
    found = one(text, "one_leaf")
    assert found.startswith("plan.csv:8: warning: plane storage: h9 has all its links on l1")


def test_the_lanes_of_one_cable_are_one_link() -> None:
    lanes = "h1,eth0,l1,swp1s0,storage,C1,1\nh1,eth1,l1,swp1s1,storage,C1,2\n"
    assert told(f"{HEAD},plane,cable_id,b_lane\n{lanes}h2,eth0,l2,swp1,storage,,\n") == []


def fabric_of(up: int, *, plane: str = "compute", spines: int = 2) -> str:
    """Two leaves with four hosts each, and so many uplinks to each spine."""
    lines = [f"h{leaf}{at},eth0,leaf-{leaf},swp{at},{plane},400G" for leaf in range(2) for at in range(4)]
    lines += [
        f"leaf-{leaf},swp{10 + spine * up + at},spine-{spine},swp{leaf * up + at},{plane},400G"
        for leaf in range(2)
        for spine in range(spines)
        for at in range(up)
    ]
    return "\n".join([f"{HEAD},plane,speed", *lines]) + "\n"


def test_compute_leaves_carry_no_more_down_than_up() -> None:
    assert told(fabric_of(2)) == []
    found = one(fabric_of(1), "oversubscribed")
    assert "leaf-0, leaf-1: 4 x 400G = 1.6T down, 2 x 400G = 800G up: 2:1; 1:1 is the most here" in found


def test_oversubscription_is_allowed_by_plane_and_elsewhere_only_counted() -> None:
    assert told(fabric_of(1), Surroundings(allowed={"compute": Fraction(2)})) == []
    storage = look(fabric_of(1, plane="storage"))
    assert storage.findings == ()
    assert any("2:1" in line for line in storage.sums)


def test_a_leaf_without_uplinks_beside_others_with_some() -> None:
    text = fabric_of(2) + "h90,eth0,leaf-9,swp1,compute,400G\n"
    assert "leaf-9: 1 x 400G = 400G down, no uplinks" in one(text, "oversubscribed")


def test_uplinks_shared_unevenly_between_spines() -> None:
    text = fabric_of(2).replace("leaf-0,swp12,spine-1,swp0", "leaf-0,swp12,spine-0,swp30")
    found = [item for item in told(text) if "[uplinks_asymmetric]" in item]
    assert len(found) == 1
    assert "leaf-0 shares 4 uplinks unevenly: 1 to spine-1; 3 to spine-0" in found[0]


def test_switches_that_are_uneven_alike_are_told_together() -> None:
    text = fabric_of(2)
    for leaf in range(2):
        text = text.replace(f"leaf-{leaf},swp12,spine-1,swp{leaf * 2}", f"leaf-{leaf},swp12,spine-0,swp3{leaf}")
    found = [item for item in told(text) if "[uplinks_asymmetric]" in item]
    assert len(found) == 1
    assert found[0].endswith("3 to spine-0, and 1 others likewise [uplinks_asymmetric]")


def test_a_leaf_with_fewer_uplinks_than_those_beside_it() -> None:
    plan = list(links(design(Wanted(hosts=16, rails=4, ports=16))))
    gone = next(link for link in plan if link.a.device == "leaf-r1-02" and link.b.device == "spine-03")
    every = tuple(link for link in plan if not (link.a.device == "leaf-r1-02" and link.b.device == "spine-03"))
    found = lint(Plan("plan.csv", every), Surroundings()).findings
    assert gone not in every
    words = [item.message for item in found if item.rule == "uplinks_asymmetric"]
    assert len(words) == 1
    assert "leaf-r1-02 has 6 uplinks to 3 switches; 7 of the 8 beside it have 8 to 4" in words[0]


def test_a_leaf_whose_hosts_are_not_planned_yet_is_a_leaf_all_the_same() -> None:
    text = "\n".join(line for line in fabric_of(2).splitlines() if not line.startswith("h1")) + "\n"
    found = look(text)
    assert found.findings == ()
    assert any("tier 1: leaf-1: 0 down, 4 x 400G = 1.6T up" in line for line in found.sums)


def test_links_without_a_speed_among_others_make_no_sum() -> None:
    text = fabric_of(1).replace("h00,eth0,leaf-0,swp0,compute,400G", "h00,eth0,leaf-0,swp0,compute,")
    assert any("leaf-0" in line and "cannot be told: some links have no speed" in line for line in look(text).sums)


def test_a_switch_that_forwards_out_of_band_and_storage_traffic() -> None:
    oob = "".join(f"h{at},bmc,oob-1,swp{at},oob\n" for at in range(4))
    storage = "h0,eth2,store-leaf,swp1,storage\nstore-leaf,swp9,store-spine,swp1,storage\n"
    text = f"{HEAD},plane\n{oob}oob-1,swp49,store-spine,swp60,oob\n{storage}"
    found = one(text, "oob_shares_storage")
    assert "store-spine carries out-of-band traffic (1 links, like oob-1:swp49|store-spine:swp60) and storage traffic" in found


def test_the_management_port_of_a_storage_switch_is_no_shared_uplink() -> None:
    oob = "".join(f"h{at},bmc,oob-1,swp{at},oob\n" for at in range(4))
    managed = "store-leaf,eth0,oob-1,swp40,oob\nstore-leaf,Management1,oob-1,swp41,oob\n"
    text = f"{HEAD},plane\n{oob}{managed}h0,eth2,store-leaf,swp1,storage\n"
    assert [item for item in told(text) if "oob_shares_storage" in item] == []


CABLE = f"{HEAD},type,length_m,speed,via"


@pytest.mark.parametrize(
    ("cable", "words"),
    [
        ("dac,3,400G,", ""),
        ("dac,3.5,400G,", "warning: h1:eth0|l1:swp1: 3.5 m of dac at 400G; the limit is 3 m (IEEE 802.3cd"),
        ("passive copper,3.5,400G,", "error: h1:eth0|l1:swp1: 3.5 m of passive copper"),
        ("DAC,5,100G,", ""),
        ("DAC,7,100G,", "the limit is 5 m (IEEE 802.3bj"),
        ("400GBASE-CR4,4,,", "the limit is 3 m (NVIDIA LinkX"),
        ("ACC,5,400G,", ""),
        ("AEC copper,7,400G,", ""),
        ("400GBASE-SR8,120,400G,", "the limit is 100 m"),
        ("400GBASE-SR4.2,120,400G,", ""),
        ("DR4,600,400G,", "the limit is 500 m"),
        ("DR4+,600,400G,", ""),
        ("400GBASE-LR4-6,7000,400G,", "the limit is 6000 m"),
        ("AOC,120,200G,", "warning: h1:eth0|l1:swp1: 120 m of AOC at 200G; the limit is 100 m"),
        ("100GBASE-DR,20,400G,", "100GBASE-DR is 100G, the link 400G"),
        ("800GBASE-DR8,20,400G,", "800GBASE-DR8 is 800G, the link 400G"),
        ("single-mode,900,400G,", ""),
        ("dac,2,400G,PP-1/3", "both plugs of dac belong to the cable: no panel can be between"),
        ("DR4,20,400G,PP-1/3", ""),
        ("dac,2,4xNDR,", ""),
    ],
)
def test_what_the_type_of_a_cable_allows(cable: str, words: str) -> None:
    found = told(f"{CABLE}\nh1,eth0,l1,swp1,{cable}\n")
    assert len(found) == bool(words)
    assert not words or words in found[0]


def test_cables_with_the_same_fault_are_told_together() -> None:
    lines = "\n".join(f"h{at},eth0,l1,swp{at},dac,5,400G," for at in range(40))
    found = one(f"{CABLE}\n{lines}\n", "too_long")
    assert found.startswith("plan.csv:2: warning: 40 links (h0:eth0|l1:swp0, h1:eth0|l1:swp1 and 38 more): 5 m of dac at 400G")


def test_a_lane_may_be_slower_than_the_module_it_comes_from() -> None:
    head = f"{HEAD},cable_id,b_lane,type,speed"
    assert told(f"{head}\nh1,eth0,l1,swp1s0,C1,1,800GBASE-DR8,400G\nh2,eth0,l1,swp1s1,C1,2,800GBASE-DR8,400G\n") == []


BREAKOUT = f"{HEAD},cable_id,a_lane,b_lane"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("h1,eth0,l1,swp1s0,C1,,1\nh2,eth0,l1,swp1s1,C1,,2", ""),
        ("h1,eth0,l1,swp1s0,C1,,1\nh2,eth0,l1,swp1s1,C1,,", "lines 2, 3 are one cable, so each needs a lane"),
        ("h1,eth0,l1,swp1s0,C1,,1\nh2,eth0,l1,swp1s1,C1,,1", "lane 1 of l1 stands on several lines"),
        ("h1,eth0,l1,swp1s0,C1,,1\nh2,eth0,l2,swp1s1,C1,,2", "no device has a lane of it on every line"),
        ("h1,eth0,l1,swp1s0,,,1\nh2,eth0,l1,swp2,,,", "has a lane and no cable_id"),
    ],
)
def test_the_lines_of_a_breakout_share_one_plug_on_a_lane_each(lines: str, words: str) -> None:
    found = told(f"{BREAKOUT}\n{lines}\n")
    assert len(found) == bool(words)
    assert not words or (words in found[0] and found[0].endswith("[breakout]"))


def test_lanes_of_different_speeds() -> None:
    text = f"{BREAKOUT},speed\nh1,eth0,l1,swp1s0,C1,,1,200G\nh2,eth0,l1,swp1s1,C1,,2,100G\n"
    assert "cable C1: its lanes have different speeds: 100G, 200G" in one(text, "breakout")


def test_a_label_on_two_cables() -> None:
    found = one(f"{HEAD},label\nh1,eth0,l1,swp1,X1\nh2,eth0,l1,swp2,X1\n", "label_twice")
    assert found.startswith("plan.csv:3: warning: label 'X1' is on 2 cables: h1:eth0|l1:swp1, h2:eth0|l1:swp2")


def test_a_device_in_two_racks_or_in_another_than_the_inventory_says() -> None:
    text = f"{HEAD},a_rack,b_rack\nh1,eth0,l1,swp1,R1,R9\nh2,eth0,l1,swp2,R1,R8\n"
    around = Surroundings(devices=devices("h1", rack="R2") | devices("h2", rack="R1") | devices("l1", role="leaf"))
    found = told(text, around)
    assert found == [
        "plan.csv:2: warning: rack of h1 is 'R1' here and 'R2' in the inventory [place_differs]",
        "plan.csv:3: warning: rack of l1 is 'R8' here and 'R9' on line 2 [place_differs]",
    ]


def test_hosts_are_told_by_role_and_else_by_the_names_of_all_their_ports() -> None:
    plan, _ = inspect_plan(
        f"{HEAD}\nh1,ens108np0,l1,Ethernet0\nl1,eth0,m1,swp3\nx1,swp1,l1,Ethernet8\ng1,0000:1a:00.0,l1,1\n", "plan.csv"
    )
    assert hosts(plan, {}) == {"h1", "g1"}
    known = {"x1": Device("x1", ("sonic",), role="storage_host"), "h1": Device("h1", ("sonic",), role="leaf")}
    assert hosts(plan, known) == {"x1", "g1"}
