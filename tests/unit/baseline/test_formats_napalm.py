from __future__ import annotations

from typing import Any

import pytest

from auditor import yamldoc
from auditor.baseline.formats import Imported, Options
from auditor.baseline.formats.napalm_validate import demand, read, recognises

FILE = """\
---
- get_facts:
    os_version: 4.4.2
    hostname: ^oob-
    vendor: Edgecore|Accton
    uptime: '>3600'
    interface_list:
      _mode: strict
      list:
        - Ethernet0
        - eth.*
- get_interfaces:
    Ethernet0:
      is_up: true
      is_enabled: yes
      mtu: '>=9100'
      speed: 400000.0
      mac_address: 52-54-00-AA-00-01
      last_flapped: 3.0
    Ethernet4:
      _mode: strict
      mtu: 9000<->9216
      speed: 10%100000
    "@in_use":
      mtu: '9100'
- get_bgp_neighbors:
    global:
      router_id: 192.0.2.7
      peers:
        192.0.2.9: {is_up: true}
- get_lldp_neighbors:
    Ethernet0:
      list: [{hostname: spine-09, port: Ethernet8}]
- ping:
    _name: gateway
    _kwargs: {destination: 192.0.2.1}
    success: {packet_loss: 0}
"""


def imported(text: str, taken: frozenset[str] = frozenset()) -> Imported:
    return read(yamldoc.parse(text, "checks/oob.yml"), Options(taken))


def lines(found: Imported) -> list[tuple[str, str, Any]]:
    return [(line.at, line.operator, line.value) for line in found.lines]


def test_facts_and_interfaces_become_lines_in_our_units():
    assert lines(imported(FILE)) == [
        ("system.os_version", "eq", "4.4.2"),
        ("system.hostname", "matches", "^oob-.*"),
        ("system.vendor", "matches", "Edgecore|Accton"),
        ("interface[Ethernet0].enabled", "present", True),
        ("interface[Ethernet0].up", "eq", True),
        ("interface[Ethernet0].enabled", "eq", True),
        ("interface[Ethernet0].mtu", "ge", 9100),
        ("interface[Ethernet0].speed", "eq", 400_000_000_000),
        ("interface[Ethernet0].mac", "eq", "52:54:00:aa:00:01"),
        ("interface[Ethernet4].mtu", "between", (9000, 9216)),
        ("interface[Ethernet4].speed", "between", (90_000_000_000, 110_000_000_000)),
        ('interface["@in_use"].mtu', "eq", 9100),
    ]


def test_what_has_no_line_is_listed_with_its_line_and_reason():
    left = {(item.line, item.what): item.reason for item in imported(FILE).left_out}
    assert sorted(left) == [
        (6, "get_facts.uptime"),
        (8, "get_facts.interface_list._mode"),
        (11, "get_facts.interface_list: 'eth.*'"),
        (19, "get_interfaces.Ethernet0.last_flapped"),
        (21, "get_interfaces.Ethernet4._mode"),
        (26, "get_bgp_neighbors (values: 2)"),
        (31, "get_lldp_neighbors (values: 2)"),
        (34, "ping (values: 1)"),
    ]
    assert "wiring plan" in left[31, "get_lldp_neighbors (values: 2)"]
    assert "nothing else" in left[21, "get_interfaces.Ethernet4._mode"]


def test_a_search_that_became_whole_is_said_with_its_lines():
    notes = {note.text: note.lines for note in imported(FILE).notes}
    assert notes["NAPALM searched for it anywhere in the text; now it is the whole text"] == (3,)
    assert notes["NAPALM searched with one end open; the open end is written out"] == (4,)
    assert notes["NAPALM searched for it anywhere in the text; now it must match the whole text"] == (5,)
    assert notes["NAPALM searched for these digits anywhere in the number; now it is the number"] == (25,)


def test_ids_name_the_concern_and_never_clash():
    found = imported(FILE, taken=frozenset({"firmware.os"}))
    ids = [line.id for line in found.lines]
    assert ids[0] == "firmware.os_2"
    assert "mtu.ethernet0" in ids
    assert len(set(ids)) == len(ids)
    assert all("checks/oob.yml" not in line.why and "oob.yml" in line.why for line in found.lines)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("4.4.2", ("eq", "4.4.2")),
        ("7.0(3)I2(2d)", ("eq", "7.0(3)I2(2d)")),
        (r"4\.4\.\d", ("matches", r"4\.4\.\d")),
        (r"^4\.", ("matches", r"^4\..*")),
        (r"F$", ("matches", r".*F$")),
        (r"F\$", ("matches", r"F\$")),
        ("^4.4$", ("matches", "^4.4$")),
        ("^a|b$", ("matches", "^a|b$")),
        ("^[a|b]", ("matches", "^[a|b].*")),
    ],
)
def test_texts(written: str, wanted: tuple[str, str]):
    assert demand(written, "str")[:2] == wanted


@pytest.mark.parametrize("written", [4.4, True, None, {}, [], ">=4.4", "4<->5", "10%4"])
def test_texts_that_napalm_never_finds_or_cannot_compare_are_refused(written: Any):
    with pytest.raises(ValueError, match=r"quotes|single value|compares numbers"):
        demand(written, "str")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (9100, ("eq", 9100)),
        (9100.0, ("eq", 9100)),
        ("9100", ("eq", 9100)),
        (">9000.5", ("ge", 9001)),
        ("<9000.5", ("le", 9000)),
        ("<=9000", ("le", 9000)),
        ("10%95", ("between", (86, 104))),
    ],
)
def test_whole_numbers(written: Any, wanted: tuple[str, Any]):
    assert demand(written, "int")[:2] == wanted


@pytest.mark.parametrize("written", [True, "91..", "==9100", ">", "> 9000", float("inf"), float("nan"), 9100.5, "9" * 40])
def test_numbers_that_cannot_be_meant_are_refused(written: Any):
    with pytest.raises(ValueError, match="number"):
        demand(written, "int")


@pytest.mark.parametrize("speed", [-1, 0, -1.0])
def test_a_speed_that_the_driver_did_not_know_is_no_demand(speed: float):
    found = imported(f"- get_interfaces: {{Ethernet0: {{speed: {speed}}}}}")
    assert not found.lines
    assert "do not know it" in found.left_out[0].reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- get_facts: {os_version: '(a+)+'}", "for ever"),
        ("- get_facts: {os_version: '[a'}", "no regular expression"),
        ("- get_facts: {os_version: $fabric.compute.mtu}", "reference to fabric.yaml"),
        ("- get_interfaces: {Ethernet0: {mac_address: 00.00}}", "quotes"),
        ("- get_interfaces: {Ethernet0: {mac_address: '^00'}}", "no MAC"),
        ("- get_interfaces: {Ethernet0: {is_up: 'true'}}", "without quotes"),
        ("- get_interfaces: {Ethernet0: up}", "no map"),
        ("- get_facts: {interface_list: [Ethernet0]}", "below `list:`"),
        ("- get_facts: {_kwargs: {a: b}, os_version: a}", "_kwargs"),
        ("- get_facts:", "no map"),
        ("- get_facts: {fqdn: a}\n", "no fact"),
    ],
)
def test_every_way_to_be_left_out_has_its_reason(text: str, reason: str):
    found = imported(text)
    assert not found.lines
    assert len(found.left_out) == 1
    assert reason in found.left_out[0].reason


def test_of_two_values_for_one_cell_the_second_is_left_out_and_a_repeat_is_one_line():
    found = imported("- get_facts: {os_version: a}\n- get_facts: {os_version: b}\n- get_facts: {os_version: a}\n")
    assert lines(found) == [("system.os_version", "eq", "a")]
    assert [(item.line, item.reason) for item in found.left_out] == [(2, "line 1 wants 'a', and no value is both")]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("- get_facts: {os_version: a}", True),
        ("- ping: {success: {packet_loss: 0}}", True),
        ("- 1\n- get_facts: {}", True),
        ("- {}", False),
        ("[]", False),
        ("get_facts: {}", False),
        ("- hosts: all", False),
    ],
)
def test_which_documents_are_validate_files(text: str, is_one: bool):
    assert recognises(yamldoc.parse(text, "x")) is is_one
