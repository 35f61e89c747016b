"""SONiC tables that stop: wherever the cut is, nothing wrong is read, and nothing behind it becomes absent."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.address import Address, Layer
from auditor.facts import Row, to_plain
from auditor.model import ABSENT, GapReason, RawOutput, State, digest
from auditor.parse import Parsed, parse_device, parse_output
from auditor.platforms import platforms
from auditor.platforms.sonic import PLATFORM

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "sonic"
WHOLE = {
    "interfaces_status": "split_cage_and_aggregate",
    "interfaces_fec_status": "operational_before_applied",
    "lldp_table": "nameless_neighbour_and_two_on_a_port",
    "pfc_priority": "some_without",
    "pfcwd_stats": "one_storm",
    "platform_firmware": "chassis_with_line_card",
    "lldp_neighbors": "front_ports_and_management",
    "transceiver_presence": "one_cage_empty",
    "transceiver_eeprom": "optic_cable_and_empty_cage",
    "mac_table": "vlans_tunnel_and_no_name",
    "arp_table": "routed_and_vlan",
    "ndp_table": "link_local_on_two_ports",
    "portchannel": "selected_and_not",
}


def output(source: str, body: str) -> RawOutput:
    where = PLATFORM.source(source)
    return RawOutput("leaf", "sonic", source, where.command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC))


def parsed(source: str, body: str) -> Parsed:
    return parse_output(output(source, body), PLATFORM.source(source), PLATFORM)


def rows(result: Parsed) -> dict[tuple[str, tuple[str, ...]], Row]:
    return {(row.TABLE, row.key): row for _, row in result.rows}


def recorded(source: str) -> str:
    return (FIXTURES / source / WHOLE[source] / "output.txt").read_text("utf-8")


@pytest.mark.parametrize("source", WHOLE)
def test_a_cut_at_any_character_changes_no_value_and_is_noticed_inside_a_line(source: str):
    body = recorded(source)
    whole = rows(parsed(source, body))
    assert whole
    for at in range(1, len(body) - 1, 3):
        cut = parsed(source, body[:at])
        found = rows(cut)
        for key, row in found.items():
            assert all(to_plain(whole[key])[column] == value for column, value in to_plain(row).items()), body[:at]
        if found.keys() != whole.keys() and body[at - 1] != "\n":
            assert any(gap.reason in (GapReason.TRUNCATED, GapReason.UNPARSED) for gap in cut.gaps), body[:at]


@pytest.mark.parametrize("source", ["interfaces_status", "interfaces_fec_status", "pfcwd_stats", "platform_firmware"])
def test_a_last_line_without_its_end_is_not_read(source: str):
    body = recorded(source).rstrip("\n")
    cut = parsed(source, body)
    lost = rows(parsed(source, body + "\n")).keys() - rows(cut).keys()
    assert len({key for _, key in lost}) == 1
    assert {gap.reason for gap in cut.gaps if not gap.key} == {GapReason.TRUNCATED}


STATUS = """\
  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin    Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ------  ------  -------  ------  ----------
  Ethernet0        1     400G   9100     rs     etp1  routed      up       up     N/A         off
"""
CONFIG = """{"DEVICE_METADATA": {"localhost": {}}, "MGMT_PORT": {"eth0": {}}, "PORTCHANNEL": {"PortChannel1": {}},
"PORT": {"Ethernet0": {}, "Ethernet8": {}, "Ethernet16": {}, "Ethernet-Rec0": {}}}"""


def port_table(*names: str) -> str:
    entries = ", ".join(f'"PORT_TABLE:{name}": {{"type": "hash", "value": {{"mtu": "9100"}}}}' for name in names)
    return f"{{{entries}}}"


def device(**answers: str) -> State:
    return parse_device("leaf", [output(source, body) for source, body in answers.items()], platforms(), names=["sonic"])


def up(state: State, port: str) -> object:
    cell = state.cell(Address("interface", (port,), "up"))
    return cell.gap.reason if cell.gap is not None else cell.value


def test_a_table_cut_between_two_lines_is_noticed_by_the_ports_of_the_configuration():
    state = device(interfaces_status=STATUS, config_db=CONFIG)
    assert up(state, "Ethernet0") is True
    assert up(state, "Ethernet8") is GapReason.TRUNCATED
    (gap,) = (gap for gap in state.gaps if gap.reason is GapReason.TRUNCATED)
    assert gap.detail == "cut short: Ethernet16 and 1 more of config_db is not in it"
    assert (gap.source, gap.layer) == ("interfaces_status", Layer.APPLIED)


def test_without_another_answer_that_lists_ports_the_table_is_believed():
    assert up(device(interfaces_status=STATUS), "Ethernet8") is ABSENT


def test_a_port_that_the_applied_database_lacks_too_was_never_made():
    state = device(interfaces_status=STATUS, config_db=CONFIG, appl_db_ports=port_table("Ethernet0", "PortInitDone"))
    assert up(state, "Ethernet8") is ABSENT


def test_the_applied_database_alone_notices_the_cut():
    state = device(interfaces_status=STATUS, appl_db_ports=port_table("Ethernet0", "Ethernet8"))
    assert up(state, "Ethernet8") is GapReason.TRUNCATED
    assert state.cell(Address("interface", ("Ethernet8",), "mtu")).value == 9100


def test_ports_inside_the_box_aggregates_and_the_management_port_need_not_be_in_the_table():
    body = '{"DEVICE_METADATA": {"localhost": {}}, "PORT": {"Ethernet0": {}, "Ethernet-IB0": {}}, "PORTCHANNEL": {"Po1": {}}}'
    state = device(interfaces_status=STATUS, config_db=body)
    assert not [gap for gap in state.gaps if gap.reason is GapReason.TRUNCATED]
