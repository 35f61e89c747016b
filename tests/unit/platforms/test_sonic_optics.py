"""Modules in the ports of SONiC: when a cage is called empty, and when nothing is said."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.model import ABSENT, GapReason, RawOutput, State, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.platforms.sonic import PLATFORM

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "sonic"
SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
STATUS = """\
  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin             Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ------  ------  -------  ---------------  ----------
  Ethernet0        1     400G   9100     rs     etp1  routed      up       up  QSFP56 or later         off
  Ethernet8        2     400G   9100     rs     etp2  routed    down       up              N/A         off
"""


def recorded(source: str, case: str) -> str:
    return (FIXTURES / source / case / "output.txt").read_text("utf-8")


def device(**answers: str) -> State:
    outputs = [
        RawOutput("leaf", "sonic", key, PLATFORM.source(key).command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC))
        for key, body in answers.items()
    ]
    return parse_device("leaf", outputs, platforms(), names=["sonic"])


def said(state: State, port: str, column: str = "present") -> object:
    cell = state.cell(Address("optic", (port,), column))
    return cell.gap.reason if cell.gap is not None else cell.value


def test_the_table_of_ports_says_which_cages_are_empty():
    state = device(interfaces_status=STATUS)
    assert said(state, "Ethernet0") is True
    assert said(state, "Ethernet0", "type") == "QSFP56 or later"
    assert said(state, "Ethernet8") is False


def test_a_port_that_the_table_does_not_list_is_not_called_empty():
    assert said(device(interfaces_status=STATUS), "Ethernet16") is GapReason.NOT_COLLECTED
    presence = recorded("transceiver_presence", "one_cage_empty")
    assert said(device(transceiver_presence=presence), "Ethernet16") is GapReason.NOT_COLLECTED


def test_a_port_that_is_up_has_something_in_its_cage_whatever_the_database_knows():
    state = device(interfaces_status=STATUS.replace("down       up", "  up       up"))
    assert said(state, "Ethernet8") is GapReason.UNSUPPORTED


def test_where_no_port_has_a_module_nothing_is_called_empty():
    state = device(interfaces_status=STATUS.replace("QSFP56 or later", "            N/A"))
    assert said(state, "Ethernet8") is GapReason.UNSUPPORTED


def test_a_release_without_the_column_leaves_modules_unknown():
    lines = [line[:79].rstrip() for line in STATUS.splitlines()]
    state = device(interfaces_status="\n".join(lines) + "\n")
    assert state.cell(Address("interface", ("Ethernet8",), "up")).value is False
    assert said(state, "Ethernet8") is GapReason.NOT_COLLECTED


def test_the_management_port_is_in_none_of_these_tables():
    assert said(device(interfaces_status=STATUS), "eth0") is GapReason.UNSUPPORTED


def test_the_answers_about_one_module_make_one_row():
    eeprom = recorded("transceiver_eeprom", "optic_cable_and_empty_cage").replace(
        "OSFP 8X Pluggable Transceiver", "QSFP56 or later"
    )
    presence = "Port       Presence\n---------  -----------\nEthernet0  Present\nEthernet8  Not present\n"
    state = device(interfaces_status=STATUS, transceiver_presence=presence, transceiver_eeprom=eeprom)
    assert said(state, "Ethernet0") is True
    assert said(state, "Ethernet0", "serial") == "OW24B00117"
    assert said(state, "Ethernet0", "length_m") is ABSENT
    assert said(state, "Ethernet0", "type") == "QSFP56 or later"


def test_two_answers_that_contradict_each_other_are_a_conflict():
    presence = "Port       Presence\n---------  -----------\nEthernet0  Present\nEthernet8  Present\n"
    assert said(device(interfaces_status=STATUS, transceiver_presence=presence), "Ethernet8") is GapReason.CONFLICT


def test_answers_that_lack_a_port_of_the_status_table_were_cut():
    presence = "Port       Presence\n---------  -----------\nEthernet0  Present\n"
    state = device(interfaces_status=STATUS.replace("N/A", "DAC", 1), transceiver_presence=presence)
    gaps = [gap for gap in state.gaps if gap.source == "transceiver_presence" and gap.reason is GapReason.TRUNCATED]
    assert [gap.detail for gap in gaps] == ["cut short: Ethernet8 of interfaces_status is not in it"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="no field cases beside the checkout")
def test_case_08_the_port_that_is_down_has_no_module():
    folder = SHARED / "cases" / "08-lldp-eaten-by-nic-firmware" / "leaf-11"
    state = device(
        interfaces_status=(folder / "show_interfaces_status.txt").read_text(),
        lldp_table=(folder / "show_lldp_table.txt").read_text(),
    )
    assert {port: said(state, f"Ethernet{port}") for port in (0, 8, 16, 24, 32, 40)} == {
        0: True, 8: True, 16: True, 24: True, 32: False, 40: True,
    }  # fmt: skip
    seen = state.cell(Address("neighbour", ("Ethernet40", "b4:96:91:5c:34:00"), "system"))
    assert seen.value is ABSENT


@pytest.mark.skipif(not SHARED.is_dir(), reason="no captures beside the checkout")
def test_modules_of_a_real_switch_and_of_two_samples():
    folder = SHARED / "captures" / "switch" / "sonic"
    dac = device(transceiver_eeprom=(folder / "cisco8201_400g_dac" / "show_interfaces_transceiver_eeprom.txt").read_text())
    row = {name: said(dac, "Ethernet48", name) for name in ("vendor", "part_number", "serial", "length_m", "firmware")}
    assert row == {
        "vendor": "CISCO-LEONI", "part_number": "L45593-K218-C20", "serial": "LCC2419G903-B", "length_m": 2.0, "firmware": ABSENT,
    }  # fmt: skip
    optic = device(transceiver_eeprom=(folder / "ut_cmis" / "show_interfaces_transceiver_eeprom.txt").read_text())
    assert [said(optic, "Ethernet64", name) for name in ("type", "length_m", "firmware")] == [
        "QSFP-DD Double Density 8X Pluggable Transceiver", ABSENT, "X.X",
    ]  # fmt: skip
    copper = device(transceiver_eeprom=(folder / "ut_osfp" / "show_interfaces_transceiver_eeprom_dom.txt").read_text())
    assert [said(copper, "Ethernet72", name) for name in ("vendor", "part_number", "serial", "length_m")] == [
        "vendor1", "some-model", "serial1", 1.0,
    ]  # fmt: skip
