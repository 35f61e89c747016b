"""Arista EOS: names, what a cut answer may conclude, and the line that proves a cell."""

from __future__ import annotations

import pytest

from auditor.address import Address, Layer
from auditor.collect.commands import Recogniser
from auditor.collect.guard import allowed, wanted_sources
from auditor.collect.redaction import redact
from auditor.evidence import Place, find
from auditor.facts import Interface, Neighbour, schema
from auditor.model import ABSENT, Device, GapReason, Spot, State, Transport
from auditor.platforms import platforms
from auditor.platforms.arista_eos import PLATFORM
from auditor.platforms.arista_eos.names import in_tables, long_name
from tests.unit.platforms.answers import recorded, state, told

PORTS = recorded("arista_eos", "interfaces_status", "states_and_names")
DETAIL = recorded("arista_eos", "lldp_detail", "hosts_switch_and_nameless")
TABLE = recorded("arista_eos", "lldp_neighbors", "nameless_and_too_long")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Et1/1", "Ethernet1/1"), ("Eth1/47", "Ethernet1/47"), ("Ethernet1/1", "Ethernet1/1"), ("ethernet 3/1", "Ethernet3/1"),
        ("Ma1", "Management1"), ("Po12", "Port-Channel12"), ("port-channel12", "Port-Channel12"), ("Vl40", "Vlan40"),
        ("mlx5_0", "mlx5_0"), ("Etna1", "Etna1"), ("", ""), ("swp1", "swp1"),
    ],
)  # fmt: skip
def test_ports_have_one_name(written: str, name: str) -> None:
    assert long_name(written) == name
    assert PLATFORM.interface_name(written) == name


def test_names_and_addresses_go_back_to_how_tables_write_them() -> None:
    assert [in_tables(part) for part in ("Ethernet1/1", "Port-Channel12", "5c:25:73:07:1a:40", "enp26s0np0")] == [
        "Et1/1", "Po12", "5c25.7307.1a40", "enp26s0np0",
    ]  # fmt: skip


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


def test_an_empty_column_shifts_no_address_into_the_name() -> None:
    found = state("arista_eos", {"lldp_neighbors": TABLE})
    row = found.rows(Neighbour)["Ethernet2/1", "5c:25:73:07:1b:40"]
    assert row.system is None
    assert not any("5c25" in (row.system or "") for row in found.rows(Neighbour).values())


def test_both_forms_of_the_neighbours_agree_on_their_keys() -> None:
    detail = state("arista_eos", {"lldp_detail": DETAIL}).rows(Neighbour)
    short = state("arista_eos", {"lldp_neighbors": TABLE}).rows(Neighbour)
    document = state("arista_eos", {"lldp_detail_json": recorded("arista_eos", "lldp_detail_json", "old_and_new_quotes")})
    shared = {("Ethernet1/1", "5c:25:73:07:1a:40"), ("Ethernet64/1", "Ethernet7/1")}
    assert shared <= detail.keys() & short.keys() & document.rows(Neighbour).keys()


def test_the_detailed_form_counts_where_it_answered() -> None:
    found = state("arista_eos", {"lldp_detail": DETAIL, "lldp_neighbors": TABLE})
    assert ("Ethernet2/1", "5c:25:73:07:1b:40") not in found.rows(Neighbour)
    refused = state("arista_eos", {"lldp_detail": "% Invalid input\n", "lldp_neighbors": TABLE})
    assert ("Ethernet2/1", "5c:25:73:07:1b:40") in refused.rows(Neighbour)


def test_a_port_behind_the_end_of_a_cut_table_is_unknown() -> None:
    cut = PORTS[: PORTS.index("Et6/1")]
    found = state("arista_eos", {"interfaces_status": cut})
    assert cell(found, "interface[Ethernet1/1].up") is True
    assert cell(found, "interface[Ethernet6/1].up") is GapReason.TRUNCATED
    assert state("arista_eos", {"interfaces_status": PORTS}).has_row(Address("interface", ("Ethernet9/1",))) is False


def test_an_aggregate_with_members_must_have_a_row() -> None:
    found = state("arista_eos", {"interfaces_status": PORTS[: PORTS.rindex("Po12")]})
    assert found.has_row(Address("interface", ("Port-Channel12",))) is None
    assert cell(found, "interface[Ethernet6/1].lag") == "Port-Channel12"
    assert cell(found, "interface[Ethernet1/1].lag") is ABSENT


def test_what_a_port_without_link_could_run_at_is_no_speed() -> None:
    body = PORTS.replace(
        "spare                  notconnect   1        auto   auto ", "spare                  notconnect   1        a-full a-40G"
    )
    found = state("arista_eos", {"interfaces_status": body})
    assert cell(found, "interface[Ethernet4/1].speed") is GapReason.UNSUPPORTED
    assert cell(found, "interface[Ethernet2/1].speed") == 400_000_000_000


def test_a_text_of_the_operator_is_no_state() -> None:
    row = state("arista_eos", {"interfaces_status": PORTS}).rows(Interface)["Ethernet2/1",]
    assert (row.up, row.enabled, row.speed) == (True, True, 400_000_000_000)


@pytest.mark.parametrize(
    ("source", "case", "endless"),
    [
        ("version", "leaf_of_64_ports", False),
        ("interfaces_status", "states_and_names", False),
        ("lldp_detail", "hosts_switch_and_nameless", True),
        ("lldp_detail_json", "old_and_new_quotes", False),
        ("lldp_neighbors", "nameless_and_too_long", True),
        ("version_json", "leaf_of_64_ports", False),
        ("hostname", "name_and_domain", False),
        ("interfaces_status_json", "states_and_modules", False),
        ("interfaces_json", "routed_switched_and_made", False),
        ("interfaces", "routed_switched_and_made", True),
        ("error_correction", "each_encoding", False),
        ("flow_control", "off_on_and_odd", False),
        ("transceivers", "with_and_without_measurements", False),
        ("inventory", "slots_of_both_kinds", False),
        ("running_config_json", "profile_routed_and_member", False),
        ("running_config", "ports_of_their_own", False),
    ],
)
def test_a_broken_answer_is_a_gap_or_changes_nothing(source: str, case: str, endless: bool) -> None:
    found = told("arista_eos", source, recorded("arista_eos", source, case), endless=endless)
    if source == "version":  # the other platform's answer is one of EOS
        found = [text for text in found if not text.startswith("another_platform")]
    assert found == []


@pytest.mark.parametrize(
    ("source", "case"),
    [
        ("version", "leaf_of_64_ports"), ("interfaces_status", "states_and_names"), ("interfaces", "routed_switched_and_made"),
        ("lldp_detail", "hosts_switch_and_nameless"), ("running_config", "ports_of_their_own"),
        ("running_config_json", "profile_routed_and_member"), ("interfaces_json", "routed_switched_and_made"),
    ],
)  # fmt: skip
def test_an_answer_cut_at_any_line_gives_no_other_value(source: str, case: str) -> None:
    body = recorded("arista_eos", source, case)
    whole, lines = state("arista_eos", {source: body}), body.splitlines(keepends=True)
    for at in range(1, len(lines)):
        cut = state("arista_eos", {source: "".join(lines[:at])})
        for (row_type, layer), rows in cut.tables.items():
            for key, row in rows.items():
                known = whole.tables[row_type, layer].get(key)
                assert known is not None, (at, key)
                for column in schema(row_type).columns:
                    assert getattr(row, column) in (None, getattr(known, column)), (at, key, column)


def test_a_switched_port_has_no_ip_mtu() -> None:
    found = state("arista_eos", {"interfaces_json": recorded("arista_eos", "interfaces_json", "routed_switched_and_made")})
    assert cell(found, "interface[Ethernet1/1].mtu") == 9214
    assert cell(found, "interface[Ethernet2/1].mtu") is GapReason.UNSUPPORTED
    assert cell(found, "interface[Ethernet2/1].mtu_shown") == "9214"


def test_a_port_that_another_answer_lists_and_this_one_lacks_is_unknown() -> None:
    status = recorded("arista_eos", "interfaces_status_json", "states_and_modules")
    detail = recorded("arista_eos", "interfaces_json", "routed_switched_and_made")
    found = state("arista_eos", {"interfaces_status_json": status, "interfaces_json": detail})
    assert cell(found, "interface[Ethernet48].mtu") is GapReason.TRUNCATED


def test_lines_of_a_profile_count_at_its_ports_and_two_that_differ_conclude_nothing() -> None:
    body = recorded("arista_eos", "running_config", "ports_of_their_own")
    lines = "   priority-flow-control on\n   priority-flow-control priority 4 no-drop\n"
    lossless = body.replace("qos profile LOSSY\n", f"qos profile LOSSY\n{lines}")
    assert cell(state("arista_eos", {"running_config": lossless}), "qos_port[Ethernet2/1].pfc_priorities") == (4,)
    both = lossless.replace("   service-profile LOSSY\n", "   service-profile LOSSY\n   priority-flow-control on\n")
    assert cell(state("arista_eos", {"running_config": both}), "qos_port[Ethernet2/1].pfc_priorities") is GapReason.UNSUPPORTED
    off = body.replace("!\nip routing\n", "!\npriority-flow-control all off\n!\nip routing\n")
    assert cell(state("arista_eos", {"running_config": off}), "qos_port[Ethernet1/1].pfc_priorities") == ()


@pytest.mark.parametrize("inserted", ["[1.5] mlx5_core: link down", "", "         deeper than any mode"])
def test_a_line_that_is_no_configuration_tears_its_block_alone(inserted: str) -> None:
    body = recorded("arista_eos", "running_config", "ports_of_their_own")
    torn = body.replace("   mtu 9214\n", f"   mtu 9214\n{inserted}\n")
    found = state("arista_eos", {"running_config": torn})
    assert cell(found, "qos_port[Ethernet1/1].pfc_priorities") is GapReason.TRUNCATED
    assert cell(found, "qos_port[Ethernet3/1].pfc_priorities") == ()


def test_secrets_of_a_configuration_stay_on_the_switch() -> None:
    body = (
        "username ops secret sha512 $6$abc$defghijklmnop\nenable password sha512 $6$xyz$qrstuvwxyz\n"
        "snmp-server community oranges ro\nsnmp-server user nms ops v3 auth sha lemons12 priv aes limes345\n"
        "ntp authentication-key 1 sha1 7 0822455D0A16\ntacacs-server host 192.0.2.1 key 7 070E234F1F5B\n"
        "   neighbor 192.0.2.2 password 7 kx1a2b3c==\nradius-server key 7 1234ABCD\n"
    )
    told = redact(body, PLATFORM.secrets)
    for secret in (
        "defghijklmnop",
        "qrstuvwxyz",
        "oranges",
        "lemons12",
        "limes345",
        "0822455D",
        "070E234F",
        "kx1a2b",
        "1234ABCD",
    ):
        assert secret not in told, secret
    assert told.count("\n") == body.count("\n")


@pytest.mark.parametrize("source", ["version", "interfaces_status", "lldp_detail", "lldp_neighbors"])
def test_the_answer_to_another_command_is_not_taken_for_this_one(source: str) -> None:
    bodies = {
        "version": recorded("arista_eos", "version", "leaf_of_64_ports"), "interfaces_status": PORTS, "lldp_detail": DETAIL,
        "lldp_neighbors": TABLE,
    }  # fmt: skip
    for other, body in bodies.items():
        if other != source:
            found = state("arista_eos", {source: body})
            assert not any(found.tables.values()), other
            assert any(gap.source == source and gap.reason is not GapReason.UNSUPPORTED for gap in found.gaps), other


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("% Invalid input\n", GapReason.REJECTED),
        ("% Incomplete command\n", GapReason.REJECTED),
        ("% Ambiguous command\n", GapReason.REJECTED),
        ("% LLDP is not enabled\n", GapReason.REJECTED),
        ("% Invalid input (privileged mode required)\n", GapReason.PERMISSION),
        ("% Authorization denied for command 'show lldp neighbors detail'\n", GapReason.PERMISSION),
    ],
)
def test_complaints_are_no_answers(text: str, reason: GapReason) -> None:
    found = state("arista_eos", {"lldp_detail": text}, None)
    assert not any(found.tables.values())
    assert {gap.reason for gap in found.gaps if gap.source == "lldp_detail"} == {reason}


def excerpt(source: str, body: str, address: str, value: object) -> str:
    place = Place(Spot("leaf", Address.parse(address)), value, "arista_eos", source, "d")
    evidence = find(place, platforms(), lambda _: body)
    assert evidence is not None
    return evidence.excerpt


def test_the_line_of_a_port_is_found_under_its_short_name() -> None:
    found = excerpt("interfaces_status", PORTS, "interface[Ethernet6/1].up", False)
    assert found.splitlines()[-1].startswith("Et6/1 ")
    found = excerpt("lldp_neighbors", TABLE, 'neighbour[Ethernet1/1,"5c:25:73:07:1a:40"].system', "gpu-41.lab.example.net")
    assert found.splitlines()[-1].startswith("Et1/1         gpu-41")


def test_the_lines_of_a_neighbour_are_found_behind_its_port() -> None:
    address = 'neighbour[Ethernet1/1,"5c:25:73:07:1a:40"]'
    found = excerpt("lldp_detail", DETAIL, f"{address}.system", "gpu-41.lab.example.net")
    assert found.splitlines() == ["Interface Ethernet1/1 detected 1 LLDP neighbors:", '  - System Name: "gpu-41.lab.example.net"']
    found = excerpt("lldp_detail", DETAIL, f"{address}.chassis", "5c:25:73:07:1a:40")
    assert found.splitlines()[-1] == "  Neighbor 5c25.7307.1a40/5c25.7307.1a40, age 17 seconds"


def test_json_is_asked_for_and_the_text_stays_behind_it() -> None:
    sent = [command for _, _, command in allowed(Device("leaf", ("arista_eos",)), platforms())]
    assert {"show version | json", "show interfaces | json", "show running-config | json", "show running-config"} <= set(sent)
    first = [source.command for source in wanted_sources(PLATFORM, None)]
    assert all(command.endswith(" | json") for command in first)
    (request,) = Recogniser([PLATFORM]).by_text("show lldp neighbors detail | json")
    assert request.source.key == "lldp_detail_json"
    (request,) = Recogniser([PLATFORM]).by_stem("show_lldp_neighbors_detail_json")
    assert request.source.key == "lldp_detail_json"
    assert (PLATFORM.transport, PLATFORM.also, PLATFORM.napalm) == (Transport.CLI, (Transport.NAPALM,), "eos")


def test_what_nothing_reads_is_unsupported_with_a_reason() -> None:
    found = state("arista_eos", {"interfaces_status": PORTS})
    for address in ("qos_port[Ethernet1/1].pfc_priorities@applied", "queue[Ethernet1/1,3].watchdog_enabled", "optic[x].firmware"):
        gap = found.cell(Address.parse(address)).gap
        assert gap is not None
        assert gap.reason is GapReason.UNSUPPORTED
        assert gap.detail
    assert Layer.CONFIGURED not in {layer for _, layer in found.tables}
