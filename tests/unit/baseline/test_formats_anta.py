from __future__ import annotations

from typing import Any

import pytest

from auditor import yamldoc
from auditor.baseline.formats import Imported, Options, formats
from auditor.baseline.formats.anta_catalog import read, recognises

CATALOG = """\
---
anta.tests:
  interfaces:
    - VerifyL3MTU:
        mtu: 9214
        ignored_interfaces: [Management, Vxlan1]
        specific_mtu:
          - vl200: 9214
    - VerifyInterfacesSpeed:
        interfaces:
          - name: eth7/1
            speed: 400
            auto: true
            lanes: 8
          - {name: Ethernet8, speed: 2.5, auto: false}
    - VerifyInterfacesStatus:
        interfaces:
          - {name: ethernet7/1, status: up}
          - {name: Po3, status: down}
          - {name: Ethernet9, status: adminDown, line_protocol_status: notPresent}
    - VerifyInterfaceErrDisabled:
  connectivity:
    - VerifyLLDPNeighbors:
        neighbors:
          - {port: Ethernet7/1, neighbor_device: spine-03, neighbor_port: Ethernet1/1}
anta.tests.software:
  - VerifyEOSVersion:
      versions: [4.31.2F, 4.32.1F]
      result_overwrite: {description: tested with the adapters of hall 3}
anta.tests.configuration:
  - VerifyRunningConfigDiffs:
site.tests.power:
  - VerifyEOSVersion:
      versions: [ok]
"""


def imported(text: str, *tags: str) -> Imported:
    return read(yamldoc.parse(text, "catalog.yml"), Options(tags=frozenset(tags)))


def lines(found: Imported) -> list[tuple[str, str, Any]]:
    return [(line.at, line.operator, line.value) for line in found.lines]


def interfaces(test: str, inputs: str) -> str:
    return f"anta.tests.interfaces:\n- {test}: {inputs}\n"


def test_tests_become_lines_under_the_long_names_of_interfaces():
    assert lines(imported(CATALOG)) == [
        ("system.os_version", "in", ("4.31.2F", "4.32.1F")),
        ("interface[Vlan200].mtu", "eq", 9214),
        ("interface[@in_use].mtu", "eq", 9214),
        ("interface[Ethernet7/1].speed", "eq", 400_000_000_000),
        ("interface[Ethernet7/1].autoneg", "eq", True),
        ("interface[Ethernet8].speed", "eq", 2_500_000_000),
        ("interface[Ethernet7/1].enabled", "eq", True),
        ("interface[Ethernet7/1].up", "eq", True),
        ("interface[Port-Channel3].enabled", "eq", True),
        ("interface[Port-Channel3].up", "eq", False),
        ("interface[Ethernet9].enabled", "eq", False),
        ("interface[*].error_disabled", "eq", False),
    ]


def test_what_has_no_line_is_listed_with_its_line_and_reason():
    left = {(item.line, item.what): item.reason for item in imported(CATALOG).left_out}
    assert sorted(left) == [
        (4, "VerifyL3MTU on other interfaces"),
        (14, "VerifyInterfacesSpeed Ethernet7/1 lanes"),
        (20, "VerifyInterfacesStatus Ethernet9 line_protocol_status"),
        (23, "VerifyLLDPNeighbors"),
        (31, "VerifyRunningConfigDiffs"),
        (33, "VerifyEOSVersion"),
    ]
    assert "lifecycle.unsaved" in left[31, "VerifyRunningConfigDiffs"]
    assert "no fact" in left[33, "VerifyEOSVersion"], "a test of another package only shares the name"


def test_a_description_becomes_the_why():
    (line,) = (line for line in imported(CATALOG).lines if line.id == "firmware.os")
    assert line.why == "tested with the adapters of hall 3 (VerifyEOSVersion, line 27 of catalog.yml)"


TAGGED = """\
anta.tests.software:
  - VerifyEOSVersion: {versions: [4.31.2F], filters: {tags: [leaf, spine]}}
  - VerifyEOSVersion: {versions: [4.30.1F], filters: {tags: [oob]}}
"""


def test_a_test_for_tagged_devices_is_left_out_until_its_tag_is_asked_for():
    found = imported(TAGGED)
    assert not found.lines
    assert [item.line for item in found.left_out] == [2, 3]
    assert "tagged leaf, spine: import those with --tag" in found.left_out[0].reason


def test_with_a_tag_the_tests_for_others_are_a_note_and_nothing_is_left_out():
    found = imported(TAGGED, "leaf")
    assert lines(found) == [("system.os_version", "eq", "4.31.2F")]
    assert not found.left_out
    assert [note.lines for note in found.notes] == [(3,)]


@pytest.mark.parametrize("filters", ["{devices: [leaf-09]}", "{tags: leaf}", "[leaf]", "{tags: [leaf], custom: x}"])
def test_a_filter_that_is_not_understood_leaves_the_test_out(filters: str):
    found = imported(f"anta.tests.software:\n- VerifyEOSVersion: {{versions: [a], filters: {filters}}}\n", "leaf")
    assert not found.lines
    assert "filters" in found.left_out[0].reason


@pytest.mark.parametrize(
    "inputs",
    [
        "{mtu: 9214, specific_mtu: [{Ethernet4: 1500}]}",
        "{mtu: 9214, ignored_interfaces: [Ethernet4]}",
        "{mtu: 9214, ignored_interfaces: [Ethernet]}",
        "{mtu: 9214, ignored_interfaces: [po7]}",
    ],
)
def test_a_general_mtu_with_exceptions_makes_no_line_that_would_hit_them(inputs: str):
    found = imported(interfaces("VerifyL3MTU", inputs))
    assert "interface[@in_use].mtu" not in [at for at, _, _ in lines(found)]
    assert "cannot leave an interface out" in found.left_out[0].reason


def test_ignoring_wins_over_an_mtu_of_its_own_and_the_last_of_two_counts():
    entries = "[{Loopback0: 65535}, {Eth4: 9000}, {Ethernet4: 9214}]"
    found = imported(interfaces("VerifyL3MTU", f"{{mtu: 9214, ignored_interfaces: [Loopback], specific_mtu: {entries}}}"))
    assert lines(found) == [("interface[Ethernet4].mtu", "eq", 9214), ("interface[@in_use].mtu", "eq", 9214)]
    reasons = [item.reason for item in found.left_out]
    assert "has no effect: ANTA ignores the interface" in reasons
    assert "has no effect: a later entry replaces it" in reasons


def test_the_default_mtu_is_said_to_be_one():
    found = imported(interfaces("VerifyL3MTU", ""))
    assert lines(found) == [("interface[@in_use].mtu", "eq", 1500)]
    assert found.lines[0].note.startswith("ANTA's default")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("anta.tests.software:\n- VerifyEOSVersion: {versions: [4.30]}", "put it in quotes"),
        ("anta.tests.software:\n- VerifyEOSVersion: {versions: 4.30.1F}", "no list of versions"),
        ("anta.tests.software:\n- VerifyEOSVersion:", "no list of versions"),
        ("anta.tests.software:\n- VerifyEOSVersion: 4.30.1F", "must be a map"),
        ("anta.tests.software:\n- VerifyEOSVersion: {versions: [a], minimum: b}", "'minimum' means is not known"),
        ("anta.tests.software:\n- VerifyEOSVersion: {versions: [a]}\n  VerifyTerminAttrVersion: {}", "no list of tests"),
        ("anta.tests.software: VerifyEOSVersion", "no list of tests"),
        (interfaces("VerifyL2MTU", "{mtu: 9214}"), "Ethernet MTU"),
        (interfaces("VerifyL3MTU", "{specific_mtu: {Ethernet1: 1500}}"), "no list of maps"),
        (interfaces("VerifyInterfacesSpeed", "{interfaces: Ethernet1}"), "no list of interfaces"),
        (interfaces("VerifyInterfacesSpeed", "{interfaces: [{speed: 100}]}"), "wants the name"),
        (interfaces("VerifyInterfacesSpeed", "{interfaces: [{name: '*', speed: 100}]}"), "wants the name"),
        (interfaces("VerifyInterfacesSpeed", "{interfaces: [{name: Ethernet1, speed: fast}]}"), "1 to 1000"),
        (interfaces("VerifyInterfacesSpeed", "{interfaces: [{name: Ethernet1, speed: .nan}]}"), "1 to 1000"),
        (interfaces("VerifyInterfacesStatus", "{interfaces: [{name: Ethernet1, status: on}]}"), "status must be"),
        (
            interfaces("VerifyInterfacesStatus", "{interfaces: [{name: Ethernet1, status: up, line_protocol_status: down}]}"),
            "only",
        ),
        (interfaces("VerifyInterfaceErrDisabled", "{ignored_interfaces: [Ethernet1]}"), "not known"),
        (interfaces("VerifyInterfaceErrDisabled", "{interfaces: [1]}"), "wants the name"),
        ("anta.tests.bfd:\n- VerifyBFDPeersHealth: {down_threshold: 2}", "no fact holds"),
    ],
)
def test_every_way_to_be_left_out_has_its_reason(text: str, reason: str):
    found = imported(text)
    assert not found.lines
    assert reason in found.left_out[0].reason


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("anta.tests.interfaces: [{VerifySVI: }]", True),
        ("anta.tests: {routing: {bgp: [{VerifyBGPPeerCount: {}}]}}", True),
        ("site.checks: [{VerifyDoor: }]", True),
        ('{"anta.tests.interfaces": [{"VerifySVI": null}]}', True),
        ("profile: a\nversion: 1.0.0\nexpect:\n- {id: mtu.a, at: b, eq: 1}", False),
        ("- get_facts: {os_version: a}", False),
        ("{}", False),
        ("", False),
    ],
)
def test_which_documents_are_catalogs(text: str, is_one: bool):
    assert recognises(yamldoc.parse(text, "x")) is is_one


def test_formats_are_found_by_presence():
    assert list(formats()) == ["anta", "napalm"]
