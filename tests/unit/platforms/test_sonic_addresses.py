"""What SONiC learned behind its ports: rows that count, rows that do not, and tables that are not whole."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.model import ABSENT, GapReason, RawOutput, State, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.platforms.sonic import PLATFORM

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "sonic"
MAC = "  No.    Vlan  MacAddress         Port       Type\n-----  ------  -----------------  ---------  -------\n"


def recorded(source: str, case: str) -> str:
    return (FIXTURES / source / case / "output.txt").read_text("utf-8")


def device(**answers: str) -> State:
    outputs = [
        RawOutput("leaf", "sonic", key, PLATFORM.source(key).command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC))
        for key, body in answers.items()
    ]
    return parse_device("leaf", outputs, platforms(), names=["sonic"])


def said(state: State, address: str) -> object:
    cell = state.cell(Address.parse(address))
    return cell.gap.reason if cell.gap is not None else cell.value


def row(number: int, mac: str, port: str = "Ethernet0", vlan: str = "2") -> str:
    return f"{number:>5}  {vlan:>6}  {mac:<17}  {port:<9}  Dynamic\n"


def test_a_table_that_counts_its_rows_proves_that_an_address_was_not_learned():
    state = device(mac_table=MAC + row(1, "B8:3F:D2:77:00:08") + "Total number of entries 1\n")
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:08].vlan") == 2
    assert state.has_row(Address.parse("mac_entry[Ethernet0,b8:3f:d2:77:00:09]")) is False
    none = device(mac_table=recorded("mac_table", "none"))
    assert none.has_row(Address.parse("mac_entry[Ethernet0,b8:3f:d2:77:00:08]")) is False


@pytest.mark.parametrize("tail", ["", "Total number of entries 3\n", "Total number of entries 1\n", "Total numb"])
def test_without_the_right_count_nothing_is_absent_and_the_rows_stand(tail: str):
    state = device(mac_table=MAC + row(1, "B8:3F:D2:77:00:08") + row(2, "B8:3F:D2:77:00:18") + tail)
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:08].kind") == "dynamic"
    assert state.has_row(Address.parse("mac_entry[Ethernet0,b8:3f:d2:77:00:09]")) is None


def test_a_line_of_something_else_in_the_table_is_noticed():
    state = device(mac_table=MAC + row(1, "B8:3F:D2:77:00:08") + "\nGoing down!\n\n" + "Total number of entries 2\n")
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:99].vlan") is GapReason.TRUNCATED


def test_text_behind_the_table_hides_none_of_its_rows():
    state = device(mac_table=MAC + row(1, "B8:3F:D2:77:00:08") + "Total number of entries 1\nadmin@leaf:~$ \n")
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:08].kind") == "dynamic"


@pytest.mark.parametrize("mac", ["B8:3F:D2:77:00:0", "no address here"])
def test_what_is_no_address_is_no_row(mac: str):
    state = device(mac_table=MAC + row(1, mac) + row(2, "B8:3F:D2:77:00:18") + "Total number of entries 2\n")
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:18].vlan") == 2
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:08].vlan") is GapReason.UNPARSED


def test_the_count_alone_is_no_table():
    state = device(mac_table="Total number of entries 5\n")
    assert said(state, "mac_entry[Ethernet0,b8:3f:d2:77:00:18].vlan") is GapReason.UNPARSED


def test_both_families_fill_one_table_and_neither_speaks_for_the_other():
    v4, v6 = recorded("arp_table", "routed_and_vlan"), recorded("ndp_table", "link_local_on_two_ports")
    state = device(arp_table=v4, ndp_table=v6)
    assert said(state, "arp_entry[198.51.100.7].interface") == "Ethernet16"
    assert said(state, 'arp_entry["2001:db8::7"].state') == "reachable"
    only = device(arp_table=v4)
    assert said(only, 'arp_entry["2001:db8::7"].mac') is GapReason.NOT_COLLECTED


def test_ports_without_an_aggregate_are_known_from_the_whole_table():
    state = device(portchannel=recorded("portchannel", "selected_and_not"))
    assert said(state, "lag_member[PortChannel0001,Ethernet48].active") is True
    assert said(state, "lag_member[PortChannel0001,Ethernet99].active") is ABSENT
    cut = device(portchannel=recorded("portchannel", "cut_in_a_member"))
    assert said(cut, "lag_member[PortChannel0002,Ethernet72].active") is GapReason.TRUNCATED


def test_the_aggregates_of_a_release_with_more_columns():
    body = """\
  No.  Team Dev       Protocol     Ports                          Oper Key  Admin Key    Fast Rate
-----  -------------  -----------  ---------------------------  ----------  -----------  -----------
  01  PortChannel01  LACP(A)(Up)  Ethernet0(S)                       101  auto         false
  03  PortChannel03  LACP(A)(Up)  Ethernet60(S) Ethernet56(D)        103  auto         false
"""
    state = device(portchannel=body)
    assert said(state, "lag_member[PortChannel03,Ethernet60].active") is True
    assert said(state, "lag_member[PortChannel03,Ethernet56].active") is False
