import pytest

from auditor.address import Address, Layer
from auditor.cabling.identity import Directory, Sight, describe, normal
from auditor.model import Fact, LinkEnd, NeighbourSeen

FAR = ("gpu-21", "ens108np0")
NEAR = ("leaf-07", "Ethernet0")


def end(device, port, *identities, role="gpu_host", hostname=None):
    facts = {}
    if hostname is not None:
        facts["system.hostname"] = Fact(Address("system", (), "hostname"), hostname, Layer.APPLIED)
    return LinkEnd(device, port, port if identities else None, role, facts, identities=identities)


def directory(*ends, devices=("gpu-21", "gpu-22", "leaf-07", "leaf-08"), ids=None):
    return Directory(ends, devices, ids or {})


def look(book, *neighbour, far=FAR, near=NEAR):
    return book.look(near, far, book.resolve(NeighbourSeen(*neighbour))).sight


HOST = (
    end("gpu-21", "ens108np0", "ens108np0", "b8:3f:d2:01:02:10", "mlx5_0"),
    end("gpu-21", "ens110np0", "ens110np0", "b8:3f:d2:01:02:11", "mlx5_1"),
    end("gpu-22", "ens108np0", "ens108np0", "b8:3f:d2:01:02:20", "mlx5_0"),
)
BASE = "02:00:5e:40:00:07"
LEAF = (
    end("leaf-07", "Ethernet0", "Ethernet0", "etp1", BASE, role="leaf"),
    end("leaf-07", "Ethernet8", "Ethernet8", "etp2", BASE, role="leaf"),
)


@pytest.mark.parametrize("system", ["gpu-21", "GPU-21", "gpu-21.pod3.example.net", "gpu-21.", " gpu-21 "])
def test_system_name_fits_in_any_case_and_with_domain(system):
    assert look(directory(*HOST), system, "ens108np0", "name", "", "b8:3f:d2:01:02:10") is Sight.FITS


@pytest.mark.parametrize(
    ("port_id", "kind", "description"),
    [
        ("b83f.d201.0210", "mac", "ens108np0"),
        ("B8:3F:D2:01:02:10", "mac", ""),
        ("ens108np0", "name", "rail 0 to leaf-07"),
        ("mlx5_0", "local", ""),
        ("17", "local", "ens108np0"),
    ],
)
def test_port_fits_by_mac_name_rdma_name_or_description(port_id, kind, description):
    assert look(directory(*HOST), "gpu-21", port_id, kind, description, "") is Sight.FITS


def test_another_nic_of_the_right_host_is_another_port():
    book = directory(*HOST)
    assert look(book, "gpu-21", "b8:3f:d2:01:02:11", "mac", "ens110np0", "") is Sight.OTHER
    assert book.resolve(NeighbourSeen("gpu-21", "b8:3f:d2:01:02:11", "mac", "ens110np0")).place == ("gpu-21", "ens110np0")


def test_a_nic_nobody_listed_is_another_port_when_its_name_has_the_planned_form():
    assert look(directory(*HOST[:1]), "gpu-21", "b8:3f:d2:01:02:99", "mac", "ens114np0", "") is Sight.OTHER


def test_a_name_of_another_form_on_the_right_host_cannot_be_told():
    assert look(directory(*HOST[:1]), "gpu-21", "eth2", "name", "", "") is Sight.UNRESOLVED
    assert look(directory(*HOST[:1]), "gpu-21", "b8:3f:d2:01:02:99", "mac", "rail 0", "") is Sight.UNRESOLVED


def test_alias_is_compared_with_the_alias():
    far = ("leaf-07", "Ethernet8")
    assert look(directory(*LEAF), "leaf-07", "etp2", "local", "Ethernet8", BASE, far=far, near=FAR) is Sight.FITS
    assert look(directory(*LEAF), "leaf-07", "etp1", "local", "Ethernet0", BASE, far=far, near=FAR) is Sight.OTHER


def test_a_far_end_that_was_not_collected_is_matched_by_its_planned_name():
    book = directory(end("leaf-08", "Ethernet16", role="leaf"))
    far = ("leaf-08", "Ethernet16")
    assert look(book, "leaf-08.example.net", "etp3", "local", "Ethernet16", BASE, far=far, near=FAR) is Sight.FITS
    assert look(book, "leaf-08", "etp5", "local", "Ethernet32", BASE, far=far, near=FAR) is Sight.OTHER
    assert look(book, "leaf-08", "etp3", "local", "", BASE, far=far, near=FAR) is Sight.UNRESOLVED
    assert look(book, "leaf-08", "Ethernet3/1", "local", "", BASE, far=far, near=FAR) is Sight.UNRESOLVED


def test_the_one_mac_of_a_switch_does_not_prove_a_port():
    far = ("leaf-07", "Ethernet8")
    assert look(directory(*LEAF), "leaf-07", BASE, "mac", "", BASE, far=far, near=FAR) is Sight.UNRESOLVED
    assert look(directory(*LEAF), "", BASE, "mac", "", BASE, far=far, near=FAR) is Sight.UNRESOLVED
    assert look(directory(LEAF[1]), "", BASE, "mac", "", BASE, far=far, near=FAR) is Sight.UNRESOLVED
    assert look(directory(LEAF[1]), "leaf-07", "Ethernet32", "name", "", BASE, far=far, near=FAR) is Sight.OTHER


def test_a_neighbour_without_name_fits_by_its_mac_alone():
    assert look(directory(*HOST), "", "b83f.d201.0210", "mac", "", "b83f.d201.0210") is Sight.FITS


def test_the_firmware_agent_of_an_adapter_sends_its_mac_as_chassis():
    assert look(directory(*HOST), "", "1", "local", "", "b8:3f:d2:01:02:10") is Sight.FITS


def test_a_mac_without_name_is_another_port_only_when_it_is_known():
    assert look(directory(*HOST), "", "b8:3f:d2:01:02:20", "mac", "", "") is Sight.OTHER
    assert look(directory(*HOST), "", "b8:3f:d2:ff:0e:60", "mac", "", "b8:3f:d2:ff:0e:60") is Sight.UNRESOLVED


def test_a_mac_given_by_the_plan_stands_in_for_a_host_that_was_not_collected():
    book = directory(end("gpu-21", "nic0"), ids={("gpu-21", "nic0"): "b8:3f:d2:01:02:10"})
    assert look(book, "", "b83f.d201.0210", "mac", "", "", far=("gpu-21", "nic0")) is Sight.FITS


def test_another_known_device_is_another_port():
    assert look(directory(*HOST), "leaf-08", "Ethernet0", "name", "", "") is Sight.OTHER


def test_an_unknown_name_says_nothing_about_a_host_whose_own_name_was_not_seen():
    assert look(directory(*HOST), "installer", "eth0", "name", "", "") is Sight.UNRESOLVED


def test_an_unknown_name_is_another_device_when_the_far_end_told_its_own():
    far = end("gpu-21", "ens108np0", "ens108np0", hostname="gpu-21")
    assert look(directory(far), "printer-4", "eth0", "name", "", "") is Sight.OTHER


def test_the_name_a_device_gives_itself_counts():
    far = end("gpu-21", "ens108np0", "ens108np0", hostname="node-a4-21")
    assert look(directory(far), "node-a4-21", "ens108np0", "name", "", "") is Sight.FITS


def test_a_host_name_that_many_devices_have_excludes_and_proves_nothing():
    ends = [end(device, "ens108np0", "ens108np0", hostname="localhost") for device in ("gpu-21", "gpu-22")]
    assert look(directory(*ends), "localhost", "ens108np0", "name", "", "") is Sight.UNRESOLVED


def test_a_mac_proves_a_host_that_goes_by_another_name():
    assert look(directory(*HOST), "installer", "b8:3f:d2:01:02:10", "mac", "eth0", "") is Sight.FITS


def test_short_names_fit_only_with_a_slash():
    book = directory(end("leaf-08", "Ethernet1/47", role="leaf"), end("leaf-08", "Ethernet0", role="leaf"))
    assert look(book, "leaf-08", "Eth1/47", "name", "", "", far=("leaf-08", "Ethernet1/47"), near=FAR) is Sight.FITS
    assert look(book, "leaf-08", "eth0", "name", "", "", far=("leaf-08", "Ethernet0"), near=FAR) is Sight.UNRESOLVED


def test_a_port_that_hears_itself_hears_nobody():
    assert look(directory(*LEAF), "leaf-07", "etp1", "local", "Ethernet0", BASE) is Sight.ITSELF


def test_a_name_that_two_ports_of_a_device_share_tells_no_port():
    ends = [end("gpu-21", port, port, "bond0") for port in ("ens108np0", "ens110np0")]
    assert look(directory(*ends), "gpu-21", "bond0", "name", "", "") is Sight.UNRESOLVED


def test_the_chassis_of_a_host_with_a_name_tells_no_port():
    assert look(directory(*HOST), "gpu-21", "eth9", "name", "", "b8:3f:d2:01:02:10") is Sight.UNRESOLVED


def test_two_domains_with_one_label_are_two_devices():
    book = directory(devices=("gpu-21.pod1.example.net", "gpu-21.pod2.example.net"))
    assert book.device("gpu-21.pod2.example.net") == "gpu-21.pod2.example.net"
    assert book.device("gpu-21.pod3.example.net") is None
    assert book.device("gpu-21") is None
    assert directory(devices=("gpu-21.pod1.example.net",)).device("gpu-21.pod3.example.net") is None


def test_normal_spelling_of_identities():
    assert normal(" B83F.D201.0210 ") == "b8:3f:d2:01:02:10"
    assert normal("Ethernet1/1") == "ethernet1/1"


def test_words_of_a_neighbour_are_safe_for_a_screen():
    assert describe(NeighbourSeen("gpu\x1b[2J", "p\n1", "name", "", "")) == "gpu\\x1b[2J p\\n1"
    assert describe(NeighbourSeen("", "", "", "", "02:00:5e:40:00:07")) == "a neighbour without name 02:00:5e:40:00:07"
    assert len(describe(NeighbourSeen("x" * 5000, "y" * 5000, "", "z" * 5000, ""))) < 250
