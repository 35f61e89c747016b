"""Interfaces of a Linux host in the forms of `ip link`."""

import json
import re

import pytest

from auditor.address import Address
from auditor.model import ABSENT, GapReason
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.bonds import bonds
from tests.unit.platforms.linux_host import cell, reason, recorded, state


def test_a_host_without_any_interface_is_no_answer():
    assert reason(state(("ip -j -d link", "[]")), "interface[eth0].mtu") is GapReason.UNPARSED


def test_nothing_is_asked_about_one_interface_because_the_list_holds_it():
    assert list(PLATFORM.source("ip_link_one").parameter.names(recorded("rdma_link", "infiniband_software_and_none"))) == []


def test_the_text_form_stands_in_for_json_that_an_old_release_lacks():
    seen = state(
        ("ip -j -d link", 'Option "-j" is unknown, try "ip -help".\n'),
        ("ip -d link", recorded("ip_link_text", "details")),
    )
    assert cell(seen, "interface[ens15f0np0].mtu").value == 4200
    assert not [gap for gap in seen.gaps if gap.source == "ip_link"]


def test_json_and_text_of_the_same_host_give_the_same_rows():
    document = [
        {
            "ifname": "ens3f0", "flags": ["NO-CARRIER", "BROADCAST", "SLAVE", "UP"], "mtu": 9000, "operstate": "DOWN",
            "link_type": "ether", "address": "3c:ec:ef:9b:00:10", "permaddr": "3c:ec:ef:9b:00:11", "master": "bond1",
            "parentbus": "pci", "parentdev": "0000:31:00.1",
        },
        {
            "ifname": "bond1", "flags": ["BROADCAST", "MULTICAST", "MASTER", "UP", "LOWER_UP"], "mtu": 9000, "operstate": "UP",
            "link_type": "ether", "address": "3c:ec:ef:9b:00:10",
        },
    ]  # fmt: skip
    json_form = state(("ip -j -d link", json.dumps(document)))
    text_form = state(("ip -d link", recorded("ip_link_text", "details")))
    for address in ("interface[ens3f0]", "interface[bond1]", "nic[0000:31:00.1]"):
        for column in ("enabled", "up", "mtu", "mac", "lag", "netdev"):
            if (column == "netdev") != address.startswith("nic") and column != "mac":
                continue
            assert cell(json_form, f"{address}.{column}").value == cell(text_form, f"{address}.{column}").value


def test_an_interface_that_is_not_in_the_whole_list_is_absent():
    seen = state(("ip -j -d link", recorded("ip_link", "bond_vlan_infiniband")))
    assert seen.has_row(Address.parse("interface[ens99]")) is False


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_no_interface_is_absent_from_a_list_that_stops_behind_a_header(keep):
    lines = recorded("ip_link_text", "details").splitlines(keepends=True)
    headers = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    seen = state(("ip -d link", "".join(lines[: headers[keep] + 1])))
    assert seen.has_row(Address.parse("interface[ens99]")) is None


def test_one_interface_alone_proves_nothing_about_the_others():
    seen = state(("ip link show ens19np0", recorded("ip_link_one", "port_down")))
    assert cell(seen, "interface[ens19np0].mtu").value == 1500
    assert cell(seen, "interface[ens19np0].lag").value is ABSENT
    assert seen.has_row(Address.parse("interface[ens20np0]")) is None


@pytest.mark.parametrize("body", ["{}", '[1, "x"]', '[{"mtu": 1500}]', '"text"', "[[]]"])
def test_json_of_another_shape_is_refused(body):
    seen = state(("ip -j -d link", body))
    assert seen.has_row(Address.parse("interface[eth0]")) is None
    assert {gap.reason for gap in seen.gaps if gap.source == "ip_link"} == {GapReason.UNPARSED}


def test_cut_json_is_refused_as_cut():
    seen = state(("ip -j -d link", recorded("ip_link", "bond_vlan_infiniband")[:900]))
    assert reason(seen, "interface[lo].mtu") is GapReason.TRUNCATED


def test_a_state_word_that_nobody_knows_leaves_the_other_cells():
    seen = state(("ip -j -d link", recorded("ip_link", "bad_cells_and_representor")))
    assert reason(seen, "interface[ens21f0np0].up") is GapReason.UNPARSED
    assert cell(seen, "interface[ens21f0np0].enabled").value is True


def test_the_short_form_says_nothing_of_the_columns_that_it_lacks():
    seen = state(("ip -br link", recorded("ip_link_brief", "bond_infiniband_and_down")))
    assert cell(seen, "interface[ens15f0np0].up").value is False
    for column in ("mtu", "lag", "alias", "description"):
        assert reason(seen, f"interface[ens15f0np0].{column}") is GapReason.NOT_COLLECTED
    assert reason(seen, "interface[eno1].mac") is GapReason.UNSUPPORTED
    assert seen.has_row(Address.parse("interface[ens99]")) is False


def test_the_long_form_counts_where_both_were_recorded():
    seen = state(
        ("ip -br link", recorded("ip_link_brief", "bond_infiniband_and_down")),
        ("ip -j -d link", recorded("ip_link", "bond_vlan_infiniband")),
    )
    assert not [origin for origins in seen.origins.values() for origin in origins if origin.source == "ip_link_brief"]


# Bonds and who answered behind them


def test_a_bond_is_whole_for_its_own_members_alone():
    seen = state(("cat /proc/net/bonding/bond1", recorded("bonding", "lacp_one_of_four_carries")))
    assert cell(seen, "lag_member[bond1,eno1].active").value is True
    assert seen.has_row(Address.parse("lag_member[bond1,eno9]")) is False
    assert seen.has_row(Address.parse("lag_member[bond2,eno9]")) is None


def test_a_bond_without_an_active_aggregator_carries_nothing():
    body = recorded("bonding", "lacp_one_of_four_carries")
    head, tail = body.index("Active Aggregator Info"), body.index("\nSlave Interface: eno1")
    seen = state(("cat /proc/net/bonding/bond1", body[:head] + "bond bond1 has no active aggregator\n" + body[tail:]))
    assert cell(seen, "lag_member[bond1,eno1].active").value is False


def test_without_the_right_to_see_lacp_states_the_aggregator_decides():
    body = recorded("bonding", "lacp_one_of_four_carries")
    plain = re.sub(r"^details (?:actor|partner) lacp pdu:\n(?: {4}.*\n)+", "", body, flags=re.MULTILINE)
    seen = state(("cat /proc/net/bonding/bond1", plain))
    values = [cell(seen, f"lag_member[bond1,eno{number}].active").value for number in (1, 2, 3, 4)]
    assert values == [True, True, False, False]


@pytest.mark.parametrize("word,active", [("going down", True), ("going back", False), ("testing", None)])
def test_a_member_within_its_delay_works_as_before(word, active):
    body = recorded("bonding", "active_backup").replace("eno2\nMII Status: up", f"eno2\nMII Status: {word}")
    seen = state(("cat /proc/net/bonding/bond2", body))
    assert cell(seen, "lag_member[bond2,eno2].active").value is active


def test_bonds_are_found_in_the_list_of_interfaces():
    assert bonds(recorded("ip_link", "bond_vlan_infiniband")) == ["bond0"]
    assert bonds("[]") == []


def test_an_address_that_nobody_answered_at_is_no_neighbour():
    seen = state(("ip -j neigh", recorded("ip_neigh", "both_families")))
    assert seen.has_row(Address.parse("arp_entry[198.51.100.9]")) is False
    assert cell(seen, "arp_entry[10.1.0.9].mac").value is ABSENT  # InfiniBand


def test_the_printed_neighbours_stand_in_for_json_that_an_old_release_lacks():
    seen = state(
        ("ip -j neigh", 'Option "-j" is unknown, try "ip -help".\n'),
        ("ip neigh", recorded("ip_neigh_text", "states")),
    )
    assert cell(seen, "arp_entry[192.0.2.1].mac").value == "9c:05:91:bb:00:0a"
