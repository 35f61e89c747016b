"""SONiC: what single fields of CONFIG_DB mean, which texts are no answers, and what never leaves the device."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.address import Address, Layer
from auditor.facts import Interface, QosPort, Queue
from auditor.model import ABSENT, GapReason, Parser, Privilege, RawOutput, State, digest
from auditor.parse import parse_device, parse_output
from auditor.platforms import platforms
from auditor.platforms.sonic import PLATFORM
from auditor.platforms.sonic.config_db import databases, interfaces, reference
from auditor.platforms.sonic.database import config
from auditor.platforms.sonic.qos import priorities

WATCHDOG = {"action": "drop", "detection_time": "200", "restoration_time": "400"}


def output(source: str, body: str, **changes: Any) -> RawOutput:
    where = PLATFORM.source(source)
    return RawOutput("leaf", "sonic", source, where.command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC), **changes)


def device(*outputs: RawOutput) -> State:
    return parse_device("leaf", outputs, platforms(), names=["sonic"])


def rows_of(kind: type, document: Any) -> dict[tuple[str, ...], Any]:
    return {row.key: row for row in config(document, {}) if type(row) is kind}


def database(**tables: Any) -> dict[str, Any]:
    return {"DEVICE_METADATA": {"localhost": {"hostname": "leaf"}}, **tables}


def watched(version: str, binding: dict[str, str], others: dict[str, Any] | None = None) -> list[str]:
    document = database(
        VERSIONS={"DATABASE": {"VERSION": version}},
        PORT_QOS_MAP={"Ethernet0": binding, **(others or {})},
        PFC_WD={"Ethernet0": WATCHDOG},
    )
    queues = rows_of(Queue, document)
    return [queue for (port, queue), row in sorted(queues.items()) if port == "Ethernet0" and row.watchdog_enabled]


def test_the_watchdog_follows_its_own_field():
    assert watched("version_202405_01", {"pfc_enable": "3,4", "pfcwd_sw_enable": "4"}) == ["4"]


def test_before_that_field_the_watchdog_followed_pfc():
    assert watched("version_3_0_4", {"pfc_enable": "3,4"}) == ["3", "4"]
    assert watched("", {"pfc_enable": "3"}) == ["3"]


@pytest.mark.parametrize("version", ["version_3_0_5", "version_4_0_1", "version_202305_01"])
def test_since_then_a_port_without_the_field_is_not_watched(version: str):
    assert watched(version, {"pfc_enable": "3,4"}) == []


def test_the_field_on_another_port_tells_the_age_of_the_database():
    assert watched("", {"pfc_enable": "3"}, {"Ethernet4": {"pfcwd_sw_enable": "3"}}) == []


def test_a_watchdog_without_detection_time_is_refused_by_orchagent():
    document = database(PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3"}}, PFC_WD={"Ethernet0": {"action": "drop"}})
    assert rows_of(Queue, document)["Ethernet0", "3"].watchdog_enabled is False


def test_the_watchdog_watches_the_number_of_the_priority_not_the_mapped_queue():
    document = database(
        MAP_PFC_PRIORITY_TO_QUEUE={"M": {"3": "5"}},
        PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3", "pfcwd_sw_enable": "3", "pfc_to_queue_map": "M"}},
        PFC_WD={"Ethernet0": WATCHDOG},
    )
    queues = rows_of(Queue, document)
    assert queues["Ethernet0", "3"].watchdog_enabled is True
    assert queues["Ethernet0", "5"].watchdog_enabled is False


def test_without_any_watchdog_table_a_whole_database_says_that_nothing_is_watched():
    document = database(PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3"}})
    assert rows_of(Queue, document)["Ethernet0", "3"].watchdog_enabled is False


def test_an_excerpt_without_the_watchdog_table_says_nothing_about_it():
    document = {"QUEUE": {"Ethernet0|3": {}}, "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}}
    assert rows_of(Queue, document)["Ethernet0", "3"].watchdog_enabled is None


def test_a_port_without_qos_row_trusts_nothing_and_pauses_on_nothing():
    row = rows_of(QosPort, database(PORT={"Ethernet0": {}}))["Ethernet0",]
    assert (row.trust, row.dscp_map, row.pfc_priorities) == ((), None, ())


def test_an_excerpt_without_qos_rows_says_nothing_about_ports():
    assert rows_of(QosPort, {"PORT": {"Ethernet0": {}}}) == {}


def test_trust_follows_the_bound_maps():
    bindings = {"Ethernet0": {"dot1p_to_tc_map": "A"}, "Ethernet4": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|B]"}}
    found = rows_of(QosPort, database(PORT_QOS_MAP=bindings))
    assert [(row.trust, row.dscp_map) for row in found.values()] == [(("pcp",), None), (("dscp",), "B")]


def test_the_map_of_the_whole_switch_reaches_ports_without_a_row():
    document = database(PORT={"Ethernet0": {}}, PORT_QOS_MAP={"global": {"dscp_to_tc_map": "A"}})
    assert [(row.port, row.trust, row.dscp_map) for row in rows_of(QosPort, document).values()] == [("Ethernet0", ("dscp",), "A")]


@pytest.mark.parametrize("text", ["3,", "8", "3-", "a", "3,,x"])
def test_a_broken_list_of_priorities_is_refused(text: str):
    with pytest.raises(ValueError):
        priorities(text)


@pytest.mark.parametrize("text", ["[BUFFER_POOL|pool]", "[BUFFER_POOL:pool]", "pool", " pool "])
def test_references_have_three_spellings(text: str):
    assert reference(text) == "pool"


def ports(**fields: Any) -> dict[str, str | None]:
    found = {row.key: row for row in interfaces(databases({"PORT": fields})[0]) if isinstance(row, Interface)}
    return {name: row.breakout_parent for (name,), row in found.items()}


def test_ports_of_one_cage_share_a_parent():
    found = ports(
        Ethernet100={"index": "9", "lanes": "4,5"},
        Ethernet98={"index": "9", "lanes": "2,3"},
        Ethernet8={"index": "2", "lanes": "1"},
    )
    assert found == {"Ethernet100": "Ethernet98", "Ethernet98": "Ethernet98", "Ethernet8": None}


def test_without_an_index_the_aliases_tell():
    found = ports(
        Ethernet0={"alias": "etp1a", "lanes": "1"}, Ethernet1={"alias": "etp1b", "lanes": "2"}, Ethernet2={"alias": "etp2"}
    )
    assert found == {"Ethernet0": "Ethernet0", "Ethernet1": "Ethernet0", "Ethernet2": None}


@pytest.mark.parametrize("lanes", ["7,8", "1,2", ""])
def test_an_index_shared_by_lanes_that_do_not_adjoin_is_no_cage(lanes: str):
    assert set(ports(Ethernet0={"index": "1", "lanes": "1,2"}, Ethernet6={"index": "1", "lanes": lanes}).values()) == {None}


def test_a_length_left_over_from_a_removed_port_gives_no_port():
    document = {"PORT": {"Ethernet0": {}}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "0m", "Ethernet4": "None"}}}
    found = {row.key: row.cable_length_m for row in interfaces(databases(document)[0]) if isinstance(row, Interface)}
    assert found == {("Ethernet0",): 0.0}


@pytest.mark.parametrize("document", [None, [], "x", {}, {"FOO": {}}, {"PORT": "x"}, {"localhost": {}, "asic0": {"PORT": {}}}])
def test_what_is_no_database_is_refused(document: Any):
    with pytest.raises(ValueError, match="CONFIG_DB"):
        list(config(document, {}))


WORDS = st.sampled_from(["", "N/A", "3,4", "up", "AZURE", "[X|AZURE]", "Ethernet0"])
NAMES = st.sampled_from(["Ethernet0|3", "AZURE", "26", "mtu", "pfc_enable", "scheduler", "detection_time"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 99) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
TABLES = ("PORT", "PORT_QOS_MAP", "QUEUE", "DSCP_TO_TC_MAP", "PFC_WD", "SCHEDULER", "CABLE_LENGTH", "BUFFER_POOL", "VERSIONS")


@given(st.dictionaries(st.sampled_from(TABLES), JSON, min_size=1))
def test_a_hostile_database_gives_rows_or_gaps_and_never_another_error(tables: dict[str, Any]):
    parsed = parse_output(output("config_db", json.dumps(database(**tables))), PLATFORM.source("config_db"), PLATFORM)
    assert all(gap.detail and not gap.detail.startswith(("TypeError", "AttributeError", "KeyError")) for gap in parsed.gaps)
    assert parsed.answered


NO_ANSWERS = [
    ("-bash: show: command not found", GapReason.REJECTED),
    ("bash: line 1: pfcwd: command not found", GapReason.REJECTED),
    ("sh: 1: show: not found", GapReason.REJECTED),
    ('Usage: show [OPTIONS] COMMAND [ARGS]...\n\nError: No such command "pfc".', GapReason.REJECTED),
    ("Traceback (most recent call last):\n  File \"x\", line 1\nKeyError: 'PORT'", GapReason.REJECTED),
    ("swsscommon.swsscommon.RedisError: connection lost", GapReason.REJECTED),
    ("Cannot find interface Ethernet1234", GapReason.REJECTED),
    ("Error response from daemon: No such container: lldp", GapReason.REJECTED),
    ("2026-03-01T02:00:00 [WARN/control] unable to connect to socket /var/run/lldpd.socket", GapReason.REJECTED),
    ("% Invalid input detected at '^' marker.", GapReason.REJECTED),
    ("Error: Root privileges are required. Aborting...\nAborted!", GapReason.PERMISSION),
    ("Root privileges are required for this operation", GapReason.PERMISSION),
    ("sudo: a password is required", GapReason.PERMISSION),
    ("monitor is not in the sudoers file.  This incident will be reported.", GapReason.PERMISSION),
    ("Sorry, user monitor is not allowed to execute '/usr/bin/lldpctl' as root on leaf-01.", GapReason.PERMISSION),
    ("cat: /etc/sonic/config_db.json: Permission denied", GapReason.PERMISSION),
    ("permission denied while trying to connect to the Docker daemon socket", GapReason.PERMISSION),
]


@pytest.mark.parametrize("source", [source.key for source in PLATFORM.sources])
@pytest.mark.parametrize("body,reason", NO_ANSWERS)
def test_a_text_instead_of_an_answer_is_a_gap_with_its_reason(source: str, body: str, reason: GapReason):
    parsed = parse_output(output(source, body + "\n"), PLATFORM.source(source), PLATFORM)
    assert parsed.rows == []
    assert {gap.reason for gap in parsed.gaps} == {reason}


def test_the_same_words_in_a_description_are_no_failure():
    rows = [
        ("Ethernet0", "spine", "etp1", "BR", "Error: see ticket 12"),
        ("Ethernet4", "spine", "etp2", "BR", "bash: show: command not found"),
        ("Ethernet8", "spine", "etp3", "BR", "cat: x: Permission denied"),
        ("eth0", "Traceback", "1", "BR", "Traceback (most recent call last):"),
    ]
    heads = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    lines = [heads, tuple("-" * 14 for _ in heads), *rows]
    table = "\n".join("  ".join(cell.ljust(14) for cell in line).rstrip() for line in lines)
    body = f"{table}\n------\nTotal entries displayed:  4\n"
    parsed = parse_output(output("lldp_table", body), PLATFORM.source("lldp_table"), PLATFORM)
    assert len(parsed.rows) == 4 and parsed.gaps == []


STATUS = """\
  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin    Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ------  ------  -------  ------  ----------
  Ethernet0      0,1     200G   9100     rs     etp1  routed      up       up     N/A         off
"""


def test_a_port_that_a_whole_table_does_not_list_is_absent_and_the_management_port_unknown():
    state = device(output("interfaces_status", STATUS))
    assert state.cell(Address.parse("interface[Ethernet0].mtu")).value == 9100
    assert state.cell(Address.parse("interface[Ethernet4].mtu")).value is ABSENT
    assert state.cell(Address.parse("interface[eth0].mtu")).value is None


def test_a_cut_table_proves_no_absence():
    state = device(output("interfaces_status", STATUS + "  Ethernet4      2,3     20"))
    assert state.cell(Address.parse("interface[Ethernet0].mtu")).value == 9100
    assert state.cell(Address.parse("interface[Ethernet4].mtu")).value is None
    assert state.cell(Address.parse("interface[Ethernet8].mtu")).gap.reason is GapReason.TRUNCATED


def test_tables_of_config_db_agree_with_the_database_they_read():
    document = database(
        PORT={"Ethernet0": {}, "Ethernet4": {}},
        PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3", "pfcwd_sw_enable": "3"}},
        PFC_WD={"Ethernet0": WATCHDOG},
    )
    pfc = "\nInterface    Lossless priorities\n-----------  ---------------------\nEthernet0    3\n\n"
    watchdog = output("pfcwd_config", WATCHDOG_HEAD + WATCHDOG_ROW)
    state = device(output("config_db", json.dumps(document)), output("pfc_priority", pfc), watchdog)
    assert [gap for gap in state.gaps if gap.reason is not GapReason.UNSUPPORTED] == []
    assert state.cell(Address.parse("qos_port[Ethernet0].pfc_priorities")).value == (3,)
    assert state.cell(Address.parse("qos_port[Ethernet4].pfc_priorities")).value == ()
    assert state.cell(Address.parse("queue[Ethernet0,3].watchdog_enabled")).value is True
    assert state.cell(Address.parse("queue[Ethernet0,3].watchdog_restoration_s")).value == 0.4


WATCHDOG_HEAD = """\
     PORT    ACTION    DETECTION TIME    RESTORATION TIME    HISTORY
---------  --------  ----------------  ------------------  ---------
"""
WATCHDOG_ROW = "Ethernet0      drop               200                 400    disable\n"


def test_an_empty_watchdog_table_alone_proves_that_nothing_is_watched():
    state = device(output("pfcwd_config", WATCHDOG_HEAD))
    assert state.cell(Address.parse("queue[Ethernet0,3].watchdog_enabled")).value is ABSENT


def test_a_listed_watchdog_alone_proves_no_queue():
    state = device(output("pfcwd_config", WATCHDOG_HEAD + WATCHDOG_ROW))
    assert state.cell(Address.parse("queue[Ethernet0,3].watchdog_enabled")).value is None


def test_qos_facts_are_configured_and_say_that_no_applied_layer_exists():
    state = device(output("config_db", json.dumps(database(PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3"}}))))
    assert state.cell(Address.parse("qos_port[Ethernet0].pfc_priorities")).layer is Layer.CONFIGURED
    applied = state.cell(Address.parse("qos_port[Ethernet0].pfc_priorities@applied"))
    assert applied.gap is not None and applied.gap.reason is GapReason.UNSUPPORTED


CONFIG_WITH_SECRETS = {
    "SNMP_COMMUNITY": {"rackr0": {"TYPE": "RO"}},
    "SNMP_USER": {"ops": {"SNMP_USER_AUTH_PASSWORD": "authpass9", "SNMP_USER_ENCRYPTION_PASSWORD": "encpass9"}},
    "TACPLUS": {"global": {"passkey": 'tac"key\\9', "timeout": "5"}},
    "RADIUS_SERVER": {"10.9.9.9": {"passkey": "radkey9"}},
    "NTP_KEY": {"1": {"type": "md5", "value": "ntpkey9"}, "2": {"value": "ntpkey8", "type": "sha256"}},
    "MACSEC_PROFILE": {"p": {"primary_cak": "cak9", "fallback_cak": "cak8", "primary_ckn": "6162"}},
    "PORT": {"Ethernet0": {"mtu": "9100"}},
    "bgpraw": "router bgp 65001\n neighbor 10.0.0.1 password bgppass9\n exit\n ip ospf message-digest-key 1 md5 ospfkey9\n",
}
SECRETS = ("rackr0", "authpass9", "encpass9", "tac", "radkey9", "ntpkey9", "ntpkey8", "cak9", "cak8", "bgppass9", "ospfkey9")


def redact(body: str, patterns: Iterable[str]) -> str:
    for pattern in patterns:
        body = re.sub(pattern, lambda found: found.group().replace(found.group(1), "***"), body, flags=re.MULTILINE)
    return body


@pytest.mark.parametrize("indent", [None, 4])
def test_secrets_of_config_db_go_and_json_stays_json(indent: int | None):
    text = json.dumps(CONFIG_WITH_SECRETS, indent=indent)
    clean = redact(text, PLATFORM.secrets)
    assert [secret for secret in SECRETS if secret in clean] == []
    assert len(clean.splitlines()) == len(text.splitlines())
    document = json.loads(clean)
    assert document["PORT"] == CONFIG_WITH_SECRETS["PORT"]
    assert document["TACPLUS"]["global"]["timeout"] == "5"


def test_only_the_container_command_asks_for_sudo():
    assert [source.key for source in PLATFORM.sources if source.privilege is Privilege.SUDO] == ["lldpctl"]


def test_json_sources_are_proven_by_pointers_and_text_sources_by_expressions():
    for source in PLATFORM.sources:
        for pattern in source.proof.values():
            if source.parser is Parser.JSON:
                assert pattern.startswith("/")
            else:
                re.compile(pattern.replace("{0}", "x").replace("{1}", "y"))
