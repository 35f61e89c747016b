"""Path kinds out of the ports above two functions."""

import pytest

from auditor.topology.places import Function, affinity, is_gpu, kind, places

# Two sockets. Below 20:01.0 a switch with a GPU and a NIC and, behind a second switch, another GPU and NIC; one NIC beside it.
TREE = {
    "0000:20:01.0": Function(None, 0),
    "0000:21:00.0": Function("0000:20:01.0", 0),
    "0000:22:00.0": Function("0000:21:00.0", 0),
    "0000:22:01.0": Function("0000:21:00.0", 0),
    "0000:22:02.0": Function("0000:21:00.0", 0),
    "0000:23:00.0": Function("0000:22:00.0", 0),
    "0000:24:00.0": Function("0000:22:01.0", 0),
    "0000:25:00.0": Function("0000:22:02.0", 0),
    "0000:26:00.0": Function("0000:25:00.0", 0),
    "0000:26:01.0": Function("0000:25:00.0", 0),
    "0000:27:00.0": Function("0000:26:00.0", 0),
    "0000:28:00.0": Function("0000:26:01.0", 0),
    "0000:20:02.0": Function(None, 0),
    "0000:29:00.0": Function("0000:20:02.0", 0),
    "0000:40:01.0": Function(None, 0),
    "0000:41:00.0": Function("0000:40:01.0", 0),
    "0000:41:00.1": Function("0000:40:01.0", 0),
    "0000:a0:01.0": Function(None, 1),
    "0000:a1:00.0": Function("0000:a0:01.0", 1),
}


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("0000:23:00.0", "0000:24:00.0", "PIX"),  # one switch
        ("0000:41:00.0", "0000:41:00.1", "PIX"),  # one port of the processor
        ("0000:27:00.0", "0000:28:00.0", "PIX"),  # the inner switch
        ("0000:23:00.0", "0000:28:00.0", "PXB"),  # two switches
        ("0000:23:00.0", "0000:29:00.0", "PHB"),  # two ports of one host bridge
        ("0000:23:00.0", "0000:41:00.0", "NODE"),  # two host bridges of one node
        ("0000:23:00.0", "0000:a1:00.0", "SYS"),
    ],
)
def test_kinds_by_what_lies_between(one, other, wanted):
    hanging = places(TREE)
    assert kind(hanging[one], hanging[other]) == wanted
    assert kind(hanging[other], hanging[one]) == wanted


def test_without_a_numa_node_only_what_hangs_together_is_told():
    hanging = places({address: Function(function.parent) for address, function in TREE.items()})
    assert kind(hanging["0000:23:00.0"], hanging["0000:24:00.0"]) == "PIX"
    assert kind(hanging["0000:23:00.0"], hanging["0000:41:00.0"]) is None


def test_several_nics_may_be_nearest_and_a_nic_may_be_nearest_to_nobody():
    hanging = places(TREE)
    gpus = {"0": hanging["0000:23:00.0"]}
    nics = {name: hanging[address] for name, address in (("a", "0000:41:00.0"), ("b", "0000:41:00.1"), ("c", "0000:a1:00.0"))}
    assert {nic: near for _, nic, _, near in affinity(gpus, nics)} == {"a": True, "b": True, "c": False}


def test_a_machine_that_names_no_node_has_no_nearest_nic_below_its_one_host_bridge():
    flat = {f"0000:00:02.{at}": Function(None) for at in range(3)} | {
        f"0000:0{at + 1}:00.0": Function(f"0000:00:02.{at}") for at in range(3)
    }
    hanging = places(flat)
    pairs = list(affinity({"0": hanging["0000:01:00.0"]}, {"a": hanging["0000:02:00.0"], "b": hanging["0000:03:00.0"]}))
    assert [(found, near) for _, _, found, near in pairs] == [("PHB", None), ("PHB", None)]


def test_ports_in_a_circle_are_an_error_and_an_unknown_port_is_a_host_bridge():
    with pytest.raises(ValueError, match="never end"):
        places({"0000:01:00.0": Function("0000:02:00.0"), "0000:02:00.0": Function("0000:01:00.0")})
    assert places({"0000:03:00.0": Function("0000:00:01.0")})["0000:03:00.0"].host == "0000:00"


@pytest.mark.parametrize(
    ("class_code", "vendor", "gpu"),
    [
        (0x0302, None, True), (0x1200, 0x1002, True), (0x0380, 0x1002, True), (0x0300, 0x10DE, True),
        (0x0300, 0x1A03, False), (0x0300, None, False), (0x0207, 0x15B3, False), (None, None, False),
    ],
)  # fmt: skip
def test_the_picture_of_a_bmc_is_no_gpu(class_code, vendor, gpu):
    assert is_gpu(class_code, vendor) is gpu
