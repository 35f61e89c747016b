"""LLDP of a Linux host: the forms of lldpd stand in for each other, and none of them turns a cut list into a missing cable."""

import pytest

from auditor.address import Address
from auditor.model import ABSENT, GapReason
from tests.unit.platforms.linux_host import cell, reason, recorded, state

RULE = "-" * 79 + "\n"
EMPTY = f"{RULE}LLDP neighbors:\n{RULE}"


def block(port, name="leaf-r2-03", port_id="local Ethernet72", more=""):
    return (
        f"Interface:    {port}, via: LLDP, RID: 1, Time: 0 day, 00:01:00\n  Chassis:     \n"
        f"    ChassisID:    mac 9c:05:91:bb:00:02\n    SysName:      {name}\n"
        f"  Port:        \n    PortID:       {port_id}\n{more}    TTL:          120\n{RULE}"
    )


def test_an_empty_printed_list_is_a_whole_answer_and_so_is_no_line_of_the_keyvalue_form():
    for command, body in (("lldpctl", EMPTY), ("lldpcli show neighbors", EMPTY), ("lldpctl -f keyvalue", "")):
        assert state((command, body)).has_row(Address.parse("neighbour[ens15f0np0,Ethernet72]")) is False


@pytest.mark.parametrize("keep", range(1, 12))
def test_after_a_cut_inside_a_neighbour_nothing_is_absent(keep):
    lines = (EMPTY + block("ens15f0np0", more="    PortDescr:    etp10a\n")).splitlines(keepends=True)
    body = "".join(lines[:keep])
    seen = state(("lldpctl", body))
    wanted = False if keep == 3 else None  # the three lines of an empty list
    assert seen.has_row(Address.parse("neighbour[ens99,x]")) is wanted
    assert cell(seen, "neighbour[ens15f0np0,Ethernet72].system").value is not ABSENT or keep == 3


def test_the_whole_printed_list_gives_what_the_cut_ones_did_not():
    seen = state(("lldpctl", EMPTY + block("ens15f0np0", more="    PortDescr:    etp10a\n")))
    assert cell(seen, "neighbour[ens15f0np0,Ethernet72].port_description").value == "etp10a"
    assert seen.has_row(Address.parse("neighbour[ens99,x]")) is False


@pytest.mark.parametrize("command", ["lldpctl", "lldpctl -f keyvalue"])
def test_the_other_forms_stand_in_for_json_that_gave_no_answer(command):
    case = {"lldpctl": ("lldpctl_text", "details"), "lldpctl -f keyvalue": ("lldpctl_keyvalue", "repeated_keys_and_dots")}
    seen = state(("lldpctl -f json", "sudo: a password is required\n"), (command, recorded(*case[command])))
    assert cell(seen, "neighbour[ens15f0np0,Ethernet72].system").value == "leaf-r2-03"
    assert not [gap for gap in seen.gaps if gap.source == "lldpctl"]


def test_json_counts_where_both_answered():
    seen = state(("lldpctl", EMPTY + block("ens15f0np0")), ("lldpctl -f json", recorded("lldpctl", "two_on_one_port")))
    assert cell(seen, "neighbour[ens15f0np0,Ethernet64].system").value == "leaf-r0-01"
    assert seen.has_row(Address.parse("neighbour[ens15f0np0,Ethernet72]")) is False


def test_a_text_of_a_neighbour_cannot_make_another_neighbour_in_the_printed_form():
    fake = "    PortDescr:    row 3\n" + " " * 18 + "Interface:    ens99, via: LLDP\n"
    seen = state(("lldpctl", EMPTY + block("ens15f0np0", more=fake)))
    assert cell(seen, "neighbour[ens15f0np0,Ethernet72].port_description").value == "row 3\nInterface:    ens99, via: LLDP"
    assert not [row for _, row in seen.all_rows() if row.port == "ens99"]


def test_what_fell_into_the_middle_of_a_neighbour_leaves_that_neighbour_unread_and_the_other_one_read():
    broken = block("ens15f0np0").replace("  Port:", "[12345.678] mlx5_core 0000:1a:00.0: cable unplugged\n  Port:")
    seen = state(("lldpctl", EMPTY + broken + block("ens16np0")))
    assert cell(seen, "neighbour[ens16np0,Ethernet72].system").value == "leaf-r2-03"
    assert reason(seen, "neighbour[ens15f0np0,Ethernet72].system") is GapReason.TRUNCATED


def test_how_long_ago_a_neighbour_was_heard_is_not_printed_in_any_form():
    for command, case in (("lldpctl", ("lldpctl_text", "details")), ("lldpctl -f keyvalue", ("lldpctl_keyvalue", "none"))):
        seen = state((command, recorded(*case)))
        assert reason(seen, "neighbour[ens15f0np0,Ethernet72].heard_s") is GapReason.UNSUPPORTED
