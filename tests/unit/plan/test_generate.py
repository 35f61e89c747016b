from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from auditor.errors import SetupError
from auditor.plan.generate import MOST_LINKS, Wanted, arithmetic, design, links, series


def refusal(wanted: Wanted) -> str:
    with pytest.raises(SetupError) as caught:
        design(wanted)
    return str(caught.value)


def test_a_pod_of_1024_on_64_ports_takes_32_leaves_and_16_spines() -> None:
    found = design(Wanted(hosts=128, rails=8, ports=64))
    assert (found.leaves, found.leaf_down, found.leaf_up, found.spines, found.cores) == (32, 32, 32, 16, 0)
    assert found.tiers == {"host-leaf": 1024, "leaf-spine": 1024}


def test_eight_leaves_of_sixteen_are_refused_with_the_numbers_and_what_would_do() -> None:
    said = refusal(Wanted(hosts=128, rails=8, ports=64, leaves=8, leaf_down=16))
    assert "8 leaves of 16 host ports reach 128 ports; 128 hosts with 8 NICs have 1,024" in said
    assert "32 leaves (32 host ports, 32 uplinks each) and 16 spines at 1:1" in said


def test_the_reference_fleet_has_10240_links_in_each_tier() -> None:
    found = design(Wanted(hosts=1280, rails=8, ports=128, pods=10))
    assert (found.leaves, found.spines, found.cores) == (16, 16, 80)
    assert set(found.tiers.values()) == {10_240}
    assert found.links == 30_720
    every = list(links(found))
    assert len(every) == 30_720
    ports = Counter(end.place for link in every for end in (link.a, link.b))
    assert max(ports.values()) == 1
    switches = Counter(device for device, port in ports if port.startswith("swp"))
    assert len(switches) == 400
    assert set(switches.values()) == {128}


def test_the_arithmetic_adds_up_and_is_shown() -> None:
    lines = dict(line.split(maxsplit=1) for line in arithmetic(design(Wanted(hosts=128))))
    assert lines["leaves"] == "8 rails x 4 = 32"
    assert lines["spines"] == "32 leaves x 32 uplinks = 1,024 / 64 = 16"
    assert lines["links"] == "1,024 host-leaf + 1,024 leaf-spine = 2,048"
    assert lines["optics"].startswith("2 per link = 4,096")
    assert lines["switches"] == "48 with 3,072 ports, 3,072 of them used"


def test_uplinks_that_only_make_it_even_are_said() -> None:
    found = design(Wanted(hosts=100, ports=64))
    assert (found.leaf_down, found.leaf_up) == (25, 26)
    assert any("1 more than needed" in line for line in arithmetic(found))


def test_nic_n_goes_to_rail_n_and_to_the_same_port_of_each_leaf() -> None:
    found = design(Wanted(hosts=6, rails=4, ports=8, hosts_per_rack=2))
    by_host: dict[str, list[tuple[str, str, str, str]]] = {}
    for link in links(found):
        if link.rail:
            by_host.setdefault(link.a.device, []).append((link.a.port, link.rail, link.b.device, link.b.port))
    assert by_host["gpu-002"] == [(f"nic{rail}", str(rail), f"leaf-r{rail}-01", "swp2") for rail in range(4)]
    assert {port for entries in by_host.values() for *_, port in entries} == {"swp1", "swp2", "swp3"}
    assert {link.a.rack for link in links(found) if link.a.device in ("gpu-003", "gpu-004")} == {"R02"}


def test_with_oversubscription_fewer_spines_do() -> None:
    found = design(Wanted(hosts=128, oversubscription=Fraction(2)))
    assert (found.leaf_down, found.leaf_up, found.spines) == (32, 16, 8)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(hosts=300), "a spine has 64 ports for them, and each leaf needs one on every spine; so a pod holds at most 256"),
        (Wanted(hosts=300), "--pods 3 does it"),
        (Wanted(hosts=1280, pods=4), "32 of its 64 ports"),
        (Wanted(hosts=4, rails=8, ports=4), "8 rails need a leaf each"),
        (Wanted(hosts=128, leaf_down=48), "48 host ports leave a leaf 16 of its 64 ports for uplinks; 1:1 needs 48: at most 32"),
        (Wanted(hosts=128, leaves=9), "9 leaves cannot be shared by 8 rails evenly"),
        (Wanted(hosts=2, rails=1, leaves=3), "3 leaves make 3 of a rail for 2 hosts"),
        (Wanted(hosts=128, spines=6), "6 spines have 384 ports for leaves; 32 leaves with 32 uplinks need 1,024"),
        (Wanted(hosts=128, spines=17), "17 spines: with equally many links to each a leaf has 34 uplinks, where 32 do and 32"),
        (Wanted(hosts=1280, ports=128, pods=10, cores=20), "20 cores have 2,560 ports; 10,240 links come from the spines: 80"),
        (Wanted(hosts=16, ports=64, pods=2, cores=200), "200 cores: a pod has"),
        (Wanted(hosts=16, cores=2), "cores join pods, and there is one pod"),
        (Wanted(hosts=3, pods=4), "3 hosts do not fill 4 pods"),
        (Wanted(hosts=99, rails=1, ports=8, pods=9), "a core of 8 ports does not reach them all"),
        (Wanted(hosts=0), "0 hosts: at least one"),
        (Wanted(hosts=1, ports=1), "a leaf of 1 ports"),
        (Wanted(hosts=1, oversubscription=Fraction(1, 2)), "1 is non-blocking"),
        (Wanted(hosts=MOST_LINKS, rails=1, ports=2**22, pods=1), "slip of the pen"),
    ],
)
def test_what_cannot_be_cabled_is_refused_with_the_reason(wanted: Wanted, words: str) -> None:
    assert words in refusal(wanted)


@pytest.mark.parametrize(
    ("text", "third"),
    [
        ("swp1", "swp3"),
        ("1", "3"),
        ("Ethernet0,Ethernet8", "Ethernet16"),
        ("Ethernet1/1, Ethernet2/1", "Ethernet3/1"),
        ("Ethernet1/1", "Ethernet1/3"),
        ("mlx5_0", "mlx5_2"),
        ("p08", "p10"),
        ("nic0a", "nic2a"),
    ],
)
def test_names_of_ports_count_on(text: str, third: str) -> None:
    assert series(text)(2) == third


@pytest.mark.parametrize("text", ["", "swp", "swp1,swp1", "swp2,swp1", "swp1,eth2", "1/1,2/2", "a1,a2,a3"])
def test_what_begins_no_series_is_refused(text: str) -> None:
    with pytest.raises(SetupError):
        series(text)
