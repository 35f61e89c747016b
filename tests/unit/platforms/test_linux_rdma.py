"""RDMA ports of a Linux host: values, absence, and what stays unknown; which devices are asked."""

import pytest

from auditor.address import Address
from auditor.collect.guard import PARAMETER
from auditor.collect.output import Answer, Request, raw_output
from auditor.model import ABSENT, Device, GapReason
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.rdma import ethernet_netdevs, qos_netdevs, rdma_netdevs, roce_devices
from tests.unit.platforms.linux_host import NOW, cell, reason, recorded, state


def test_a_port_that_is_down_has_no_rate_and_no_active_mtu_and_that_is_known():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert cell(seen, "rdma_port[mlx5_3,1].rate").value is ABSENT
    assert cell(seen, "rdma_port[mlx5_3,1].active_mtu").value is ABSENT


def test_an_unreadable_rate_is_unknown_and_the_other_cells_of_the_port_stand():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert reason(seen, "rdma_port[mlx5_9,1].rate") is GapReason.UNPARSED
    assert cell(seen, "rdma_port[mlx5_9,1].active_mtu").value == 4096


def test_without_v_the_rate_is_not_collected():
    seen = state(("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports")))
    assert reason(seen, "rdma_port[mlx4_0,1].rate") is GapReason.NOT_COLLECTED
    assert cell(seen, "rdma_port[mlx4_0,1].active_mtu").value == 2048


def test_the_guid_of_an_ethernet_port_is_unsupported_not_absent():
    seen = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    assert reason(seen, "rdma_port[mlx5_bond_0,1].port_guid") is GapReason.UNSUPPORTED


def test_nothing_is_absent_from_a_cut_list_of_devices():
    whole = state(("ibv_devinfo -v", recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")))
    cut = state(("ibv_devinfo -v", recorded("ibv_devinfo", "cut_in_a_port")))
    row = Address.parse("rdma_port[mlx5_7,1]")
    assert whole.has_row(row) is False
    assert cut.has_row(row) is None
    assert reason(cut, "rdma_port[mlx5_bond_0,1].rate") is GapReason.TRUNCATED


@pytest.mark.parametrize("label", ["max_msg_sz", "active_width", "active_speed"])
def test_a_verbose_answer_that_stops_inside_its_last_port_is_not_whole(label):
    body = recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")
    seen = state(("ibv_devinfo -v", body[: body.rindex(f"\t\t\t{label}")]))
    assert seen.has_row(Address.parse("rdma_port[mlx5_7,1]")) is None


def test_a_device_that_counts_two_ports_and_shows_one_leaves_the_other_unknown():
    body = recorded("ibv_devinfo", "short_two_ports")
    first, second = body.index("\t\tport:\t2"), body.index("hca_id:\tsiw0")
    seen = state(("ibv_devinfo", body[:first] + body[second:]))
    assert seen.has_row(Address.parse("rdma_port[mlx4_0,2]")) is None


def test_both_answers_about_a_port_make_one_row():
    seen = state(
        ("rdma link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0 \n"),
        ("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports").replace("siw0", "mlx5_0")),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].netdev").value == "ens1f0np0"
    assert cell(seen, "rdma_port[mlx5_0,1].active_mtu").value == 1024
    assert seen.port_of("rdma_port", ("mlx5_0", "1")) == "ens1f0np0"


def test_a_port_without_network_device_says_so_unless_its_line_was_cut():
    seen = state(("rdma link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP \nlink mlx5_1/1 state ACT"))
    assert cell(seen, "rdma_port[mlx5_0,1].netdev").value is ABSENT
    assert reason(seen, "rdma_port[mlx5_1,1].netdev") is GapReason.TRUNCATED
    assert reason(seen, "rdma_port[mlx5_1,1].state") is GapReason.UNPARSED


def test_no_output_of_rdma_link_is_a_host_without_rdma_ports():
    assert state(("rdma link", "")).has_row(Address.parse("rdma_port[mlx5_0,1]")) is False


def test_a_list_of_links_without_a_device_that_verbs_open_was_cut():
    seen = state(
        ("rdma link", "link mlx5_7/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0 \n"),
        ("ibv_devinfo", recorded("ibv_devinfo", "short_two_ports")),
    )
    assert seen.has_row(Address.parse("rdma_port[mlx5_9,1]")) is None
    assert cell(seen, "rdma_port[mlx5_7,1].netdev").value == "ens1f0np0"


def test_network_devices_come_from_rdma_ports_without_software_and_repeats():
    body = (
        recorded("rdma_link", "infiniband_software_and_none") + "link mlx5_5/1 state DOWN physical_state POLLING netdev bond1 \n"
    )
    assert rdma_netdevs(body) == ["ibp154s0", "ens15f0np0", "bond1", "enp7s0"]
    assert ethernet_netdevs(body) == ["ens15f0np0", "bond1", "enp7s0"]


def test_mlnx_qos_is_not_asked_about_other_makers_adapters():
    body = (
        "link ionic_2/1 state ACTIVE physical_state LINK_UP netdev enp33s0 \n"
        "link bnxt_re0/1 state ACTIVE physical_state LINK_UP netdev ens3 \n"
        "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens9np0 \n"
    )
    assert qos_netdevs(body) == ["ens9np0"]
    assert rdma_netdevs(body) == ["enp33s0", "ens3", "ens9np0"]


def test_network_devices_are_found_in_the_form_of_old_releases():
    assert rdma_netdevs(recorded("rdma_link", "old_release")) == ["ens1f0"]


@pytest.mark.parametrize("body", ["", "Failed to open NETLINK_RDMA socket\n", "link \nlink a\n\0\n", "link mlx5_0/1 netdev"])
def test_no_network_devices_come_from_what_is_no_answer(body):
    assert rdma_netdevs(body) == []


def test_a_hostile_name_is_refused_before_it_could_be_sent():
    (name,) = rdma_netdevs("link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev $(reboot);x\n")
    assert not PARAMETER.fullmatch(name)


def test_an_empty_traffic_class_is_known_to_be_none_and_only_for_its_device():
    seen = state(
        (
            "rdma link",
            "".join(f"link mlx5_{n}/1 state ACTIVE physical_state LINK_UP netdev e{n} \n" for n in (0, 1)),
        ),
        ("cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class", ""),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].global_tclass").value is ABSENT
    assert reason(seen, "rdma_port[mlx5_1,1].global_tclass") is GapReason.NOT_COLLECTED


def test_a_driver_that_knows_no_traffic_class_sets_none():
    device, source = Device("gpu-1", ("linux",)), PLATFORM.source("rdma_tclass")
    command = "cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class"
    request = Request(PLATFORM, source, command, {"rdma": "mlx5_0"})
    words = "cat: /sys/class/infiniband/mlx5_0/tc/1/traffic_class: {}\n"
    for answer in (Answer(b"", words.format("No such file or directory").encode(), 1), Answer(b"", b"", 0)):
        seen = state(raw_output(device, request, answer, NOW))
        assert cell(seen, "rdma_port[mlx5_0,1].global_tclass").value is ABSENT
    assert cell(state((command, words.format("No such file or directory"))), "rdma_port[mlx5_0,1].global_tclass").value is ABSENT
    locked = Answer(b"", words.format("Permission denied").encode(), 1)
    seen = state(raw_output(device, request, locked, NOW))
    assert reason(seen, "rdma_port[mlx5_0,1].global_tclass") is GapReason.PERMISSION


def test_the_two_forms_of_the_traffic_class_agree_and_make_one_cell():
    seen = state(
        ("cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=98\n"),
        ("rdma_traffic_class", "infiniband/mlx5_0/tc/1/traffic_class:Global tclass=98\n"),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].global_tclass").value == 98


def test_only_devices_with_one_port_on_ethernet_are_asked_for_their_traffic_class():
    line = "link {} state ACTIVE physical_state LINK_UP netdev x \n"
    body = "".join(line.format(name) for name in ("mlx5_0/1", "mlx5_1/1", "mlx5_1/2", "bnxt_re0/1", "rxe0/1", "mlx5_bond_0/1"))
    body += "link mlx5_9/1 subnet_prefix fe80:0000:0000:0000 lid 4 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP \n"
    assert roce_devices(body) == ["mlx5_0", "mlx5_bond_0"]


def test_the_bus_address_joins_the_other_answers_about_a_port():
    seen = state(
        ("ls -l /sys/class/infiniband", recorded("rdma_pci", "bond_software_and_renamed")),
        ("rdma link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens15f0np0 \n"),
    )
    assert cell(seen, "rdma_port[mlx5_0,1].pci").value == "0000:1a:00.0"
    assert cell(seen, "rdma_port[mlx5_0,1].netdev").value == "ens15f0np0"
