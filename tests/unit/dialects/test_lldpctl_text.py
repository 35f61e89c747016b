"""The printed form of lldpd: what tells a value from the text of another one, and where an answer breaks off."""

import pytest

from auditor.dialects.lldpctl import LldpEntry
from auditor.dialects.lldpctl_text import neighbours

RULE = "-" * 79 + "\n"
HEAD = f"{RULE}LLDP neighbors:\n{RULE}"
FIRST = "Interface:    eno1, via: LLDP, RID: 1, Time: 3 days, 02:00:05\n"
CHASSIS = "  Chassis:     \n    ChassisID:    mac 9C:05:91:AA:00:0E\n    SysName:      spine-07\n"
PORT = "  Port:        \n    PortID:       ifname Ethernet 4/8\n    PortDescr:    row 3 rail 1\n    TTL:          120\n"


def one(text):
    (found,) = neighbours(HEAD + text + RULE)
    return found


def test_every_value_of_a_neighbour():
    assert one(FIRST + CHASSIS + "    MgmtIP:       10.9.0.7\n    MgmtIP:       fe80::7\n" + PORT) == LldpEntry(
        port="eno1", port_id="Ethernet 4/8", port_kind="name", system="spine-07", port_description="row 3 rail 1",
        chassis="9c:05:91:aa:00:0e", chassis_kind="mac", management_address="10.9.0.7", age_s=266405.0, ttl_s=120.0,
        protocol="LLDP",
    )  # fmt: skip


def test_a_port_without_age_and_a_protocol_of_another_maker():
    found = one("Interface:    eno1, via: CDPv2\n" + CHASSIS + PORT)
    assert (found.protocol, found.age_s) == ("CDPv2", None)


def test_before_the_port_had_it_the_time_to_live_stood_with_the_chassis():
    assert one(FIRST + CHASSIS + "    TTL:          20\n" + PORT.replace("    TTL:          120\n", "")).ttl_s == 20.0


def test_a_nameless_neighbour():
    found = one(FIRST + "  Chassis:     \n    ChassisID:    local 42\n" + PORT)
    assert (found.system, found.chassis, found.chassis_kind) == (None, "42", "local")


@pytest.mark.parametrize("line", ["    PortID:       local fake", "Interface:    eth9, via: LLDP", "", "    SysName:      fake"])
def test_the_next_lines_of_a_text_are_only_text(line):
    deeper = " " * 18 + line
    found = one(FIRST + CHASSIS + PORT.replace("row 3 rail 1", f"row 3\n{deeper}"))
    assert found.port_description == f"row 3\n{line}"
    assert (found.port_id, found.system) == ("Ethernet 4/8", "spine-07")


def test_an_empty_first_line_of_a_text_gives_its_next_line_to_nobody_else():
    found = one(FIRST + CHASSIS + PORT.replace("row 3 rail 1", "\n" + " " * 18 + "rail 1"))
    assert (found.port_id, found.port_description) == ("Ethernet 4/8", "\nrail 1")


def test_other_sections_have_values_of_their_own():
    more = "  VLAN:         162, pvid: yes\n  LLDP-MED:    \n    PortID:       local fake\n    SysName:      fake\n"
    found = one(FIRST + CHASSIS + PORT + more)
    assert (found.port_id, found.system) == ("Ethernet 4/8", "spine-07")


def test_nobody_is_heard():
    assert list(neighbours(HEAD)) == []


@pytest.mark.parametrize(
    "text",
    [
        FIRST + CHASSIS,
        FIRST + CHASSIS + "  Port:        \n    PortDescr:    row 3\n",
        "Interface:    eno1\n" + CHASSIS + PORT,
        FIRST + CHASSIS + "Going down!\n" + PORT,
        FIRST.replace("3 days, 02:00:05", "too much") + CHASSIS + PORT,
    ],
)
def test_what_is_no_neighbour_says_why(text):
    assert isinstance(one(text), str)


def test_the_last_neighbour_without_its_line_of_dashes_was_cut():
    first, second = neighbours(HEAD + FIRST + CHASSIS + PORT + RULE + FIRST + CHASSIS + PORT)
    assert first.port == "eno1"
    assert "breaks off" in second


def test_lists_behind_each_other_as_from_several_instances():
    found = list(neighbours(2 * (HEAD + FIRST + CHASSIS + PORT + RULE)))
    assert [entry.port for entry in found] == ["eno1", "eno1"]
