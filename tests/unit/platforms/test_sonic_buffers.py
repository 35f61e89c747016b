"""SONiC buffers: what profiles of priority groups, pools and queues mean, in CONFIG_DB and in APPL_DB."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.address import Address, Layer
from auditor.evidence import Place, find
from auditor.facts import PriorityGroup, Queue
from auditor.model import ABSENT, GapReason, RawOutput, Spot, State, Unread, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.platforms.sonic import PLATFORM
from auditor.platforms.sonic.database import config

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
POOL = {"ingress_lossless_pool": {"mode": "dynamic", "size": "33554432", "type": "ingress"}}
LOSSLESS = {"pool": "ingress_lossless_pool", "size": "19456", "xon": "19456", "xoff": "65536", "dynamic_th": "0"}


def database(groups: dict[str, Any], profiles: dict[str, Any], **tables: Any) -> dict[str, Any]:
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": "leaf"}}, "BUFFER_POOL": POOL, "BUFFER_PG": groups,
        "BUFFER_PROFILE": profiles, **tables,
    }  # fmt: skip


def group_of(profile: dict[str, Any], name: str = "p") -> PriorityGroup:
    document = database({"Ethernet0|3": {"profile": name}}, {name: profile})
    (row,) = (item for item in config(document, {}) if isinstance(item, PriorityGroup))
    return row


def state_of(document: Any, source: str = "config_db", *more: tuple[str, Any]) -> State:
    outputs = []
    for key, content in ((source, document), *more):
        where, body = PLATFORM.source(key), json.dumps(content, indent=4)
        outputs.append(RawOutput("leaf", "sonic", key, where.command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC)))
    return parse_device("leaf", outputs, platforms(), names=["sonic"])


def cell(state: State, column: str, layer: Layer | None = None, group: str = "3", port: str = "Ethernet0") -> object:
    found = state.cell(Address("priority_group", (port, group), column, layer))
    return found.gap.reason if found.gap is not None else found.value


@pytest.mark.parametrize("xoff,lossless,headroom", [("65536", True, 65536), ("0", False, 0), (None, False, None)])
def test_a_group_is_lossless_when_its_profile_reserves_headroom(xoff: str | None, lossless: bool, headroom: int | None):
    fields = {"pool": "p", "size": "0", "dynamic_th": "0"} | ({} if xoff is None else {"xoff": xoff})
    row = group_of(fields)
    assert (row.lossless, row.headroom_bytes) == (lossless, headroom)


@pytest.mark.parametrize("exponent,alpha", [("-8", 1 / 256), ("-1", 0.5), ("0", 1.0), ("3", 8.0)])
def test_a_dynamic_threshold_is_a_power_of_two(exponent: str, alpha: float):
    row = group_of(LOSSLESS | {"dynamic_th": exponent})
    assert (row.threshold_kind, row.threshold, row.xoff_trigger_bytes) == ("dynamic", alpha, None)


@pytest.mark.parametrize("size,trigger", [("1280", 400_000), ("85000", 419_464)])
def test_a_static_threshold_sends_pause_above_what_is_reserved_without_the_headroom(size: str, trigger: int):
    fields = {name: value for name, value in LOSSLESS.items() if name != "dynamic_th"}
    row = group_of(fields | {"static_th": "400000", "size": size})
    assert (row.threshold_kind, row.threshold, row.xoff_trigger_bytes) == ("static", 400_000.0, trigger)


def test_a_static_threshold_of_nothing_is_no_limit():
    assert group_of(LOSSLESS | {"static_th": "0"}).xoff_trigger_bytes is None


@pytest.mark.parametrize(
    "name,length,speed",
    [
        ("pg_lossless_400000_40m_profile", 40.0, 400 * 10**9),
        ("pg_lossless_100000_5m_mtu9216_th1_profile", 5.0, 100 * 10**9),
        ("pg_lossless_800000_300m_8lane_profile", 300.0, 800 * 10**9),
        ("pg_lossless_custom_profile", None, None),
        ("my_400000_40m_profile", None, None),
    ],
)
def test_a_generated_name_tells_for_which_cable_and_speed_it_was_made(name: str, length: float | None, speed: int | None):
    row = group_of(LOSSLESS, name)
    assert (row.profile, row.profile_cable_length_m, row.profile_speed) == (name, length, speed)


def test_a_group_without_a_row_is_absent_in_a_whole_database():
    state = state_of(database({"Ethernet0|0": {"profile": "p"}}, {"p": LOSSLESS}))
    assert cell(state, "headroom_bytes") is ABSENT


def test_a_database_without_the_table_says_nothing_about_groups():
    assert cell(state_of({"PORT": {"Ethernet0": {"mtu": "9100"}}}), "lossless") is GapReason.NOT_COLLECTED


@pytest.mark.parametrize("layer", [Layer.CONFIGURED, Layer.APPLIED])
def test_a_computed_profile_is_known_as_lossless_and_its_numbers_only_when_applied(layer: Layer):
    document = database({"Ethernet0|3-4": {"profile": "NULL"}}, {})
    document["DEVICE_METADATA"]["localhost"]["buffer_model"] = "dynamic"
    applied = {
        "BUFFER_PG_TABLE:Ethernet0:3-4": {"type": "hash", "value": {"profile": "pg_lossless_400000_5m_profile"}},
        "BUFFER_PROFILE_TABLE:pg_lossless_400000_5m_profile": {"type": "hash", "value": LOSSLESS},
    }
    state = state_of(document, "config_db", ("appl_db_buffers", applied))
    assert cell(state, "lossless", layer) is True
    known = {"headroom_bytes": 65536, "profile": "pg_lossless_400000_5m_profile", "xon_bytes": 19456, "threshold": 1.0}
    for column, value in known.items():
        assert cell(state, column, layer) == (value if layer is Layer.APPLIED else GapReason.UNSUPPORTED)
        assert cell(state, column) == value


def test_a_configured_group_that_was_not_applied_is_absent_there():
    applied = {"BUFFER_POOL_TABLE:ingress_lossless_pool": {"type": "hash", "value": POOL["ingress_lossless_pool"]}}
    document = database({"Ethernet0|3": {"profile": "p"}}, {"p": LOSSLESS})
    state = state_of(document, "config_db", ("appl_db_buffers", applied))
    assert cell(state, "headroom_bytes", Layer.APPLIED) is ABSENT
    assert cell(state, "headroom_bytes", Layer.CONFIGURED) == 65536


def test_an_empty_dump_leaves_the_configured_layer_to_speak():
    document = database({"Ethernet0|3": {"profile": "p"}}, {"p": LOSSLESS})
    state = state_of(document, "config_db", ("appl_db_buffers", {}))
    assert cell(state, "headroom_bytes", Layer.APPLIED) is GapReason.UNPARSED
    found = state.cell(Address("priority_group", ("Ethernet0", "3"), "headroom_bytes"))
    assert (found.value, found.layer) == (65536, Layer.CONFIGURED)


def test_a_group_that_buffermgrd_makes_at_start_is_not_missing_in_the_saved_file():
    document = database(
        {"Ethernet0|0": {"profile": "p"}}, {"p": LOSSLESS}, PORT_QOS_MAP={"Ethernet0": {"pfc_enable": "3"}}, PORT={}
    )
    state = state_of(document, "config_db_saved")
    assert cell(state, "lossless", Layer.SAVED) is GapReason.UNSUPPORTED
    assert cell(state, "lossless", Layer.SAVED, group="4") is ABSENT


def test_a_host_database_of_several_asics_says_nothing_about_their_saved_ports():
    state = state_of({"DEVICE_METADATA": {"localhost": {"hostname": "core"}}}, "config_db_saved")
    assert state.cell(Address("interface", ("Ethernet0",), "mtu", Layer.SAVED)).gap is not None
    assert state.cell(Address("system", (), "hostname", Layer.SAVED)).value == "core"


def queue_of(profile: dict[str, Any]) -> Queue:
    document = database({}, {}, QUEUE={"Ethernet0|3": {"wred_profile": "w"}}, WRED_PROFILE={"w": profile})
    (row,) = (item for item in config(document, {}) if isinstance(item, Queue))
    return row


@pytest.mark.parametrize(
    "mode,marks",
    [("ecn_none", False), ("ecn_green", True), ("ecn_yellow", False), ("ecn_red", False), ("ecn_green_yellow", True),
     ("ecn_green_red", True), ("ecn_yellow_red", False), ("ecn_all", True)],
)  # fmt: skip
def test_ecn_is_on_when_green_packets_are_marked(mode: str, marks: bool):
    assert queue_of({"ecn": mode}).ecn_enabled is marks


def test_a_wred_profile_without_ecn_marks_nothing():
    row = queue_of({"green_min_threshold": "1000", "green_max_threshold": "2000"})
    assert (row.ecn_enabled, row.ecn_min_bytes, row.ecn_max_bytes) == (False, 1000, 2000)


@pytest.mark.parametrize(
    "fields,share", [({}, 1.0), ({"green_drop_probability": "0"}, 0.0), ({"green_drop_probability": "7"}, 0.07)]
)
def test_a_profile_that_gives_no_probability_marks_everything(fields: dict[str, str], share: float):
    assert queue_of({"ecn": "ecn_all", **fields}).ecn_probability == share


@given(st.dictionaries(st.sampled_from(["pool", "size", "xoff", "xon", "dynamic_th", "static_th", "headroom_type"]),
                       st.one_of(st.text(max_size=8), st.integers(), st.none(), st.lists(st.text(max_size=2), max_size=1))),
       st.sampled_from(["Ethernet0|3", "Ethernet0", "|", "Ethernet0|3-1", "Ethernet0|a", ",|3", "Ethernet0|9999999"]),
       st.sampled_from(["static", "dynamic"]))  # fmt: skip
def test_no_profile_and_no_key_ends_the_reading_of_a_database(profile: dict[str, Any], key: str, model: str):
    document = database({key: {"profile": "p"}, "Ethernet8|0": {"profile": "q"}}, {"p": profile, "q": LOSSLESS})
    document["DEVICE_METADATA"]["localhost"]["buffer_model"] = model
    found = list(config(document, {}))
    assert any(isinstance(row, PriorityGroup) and row.port == "Ethernet8" and row.headroom_bytes == 65536 for row in found)
    for row in found:
        if isinstance(row, PriorityGroup) and row.lossless is None:
            assert any(isinstance(item, Unread) and item.key == row.key for item in found)


@pytest.mark.parametrize("group,shown", [("3", '"Ethernet0,Ethernet4|3-4": {'), ("0", '"Ethernet4|0": {')])
def test_the_row_with_a_list_and_a_range_proves_a_group(group: str, shown: str):
    document = database({"Ethernet4|0": {"profile": "p"}, "Ethernet0,Ethernet4|3-4": {"profile": "p"}}, {"p": LOSSLESS})
    body = json.dumps(document, indent=4)
    place = Place(
        Spot("leaf", Address("priority_group", ("Ethernet4", group), "headroom_bytes")), 65536, "sonic", "config_db", "d"
    )
    evidence = find(place, platforms(), lambda _: body)
    assert evidence is not None and shown in evidence.excerpt
    missing = Place(Spot("leaf", Address("priority_group", ("Ethernet4", "5"), "pool")), ABSENT, "sonic", "config_db", "d")
    evidence = find(missing, platforms(), lambda _: body)
    assert evidence is not None and evidence.excerpt == "(no Ethernet4,5 in /BUFFER_PG)"


def test_the_dump_proves_a_group_by_its_key():
    body = json.dumps({"BUFFER_PG_TABLE:Ethernet0:3-4": {"type": "hash", "value": {"profile": "p"}}}, indent=2)
    place = Place(Spot("leaf", Address("priority_group", ("Ethernet0", "4"), "profile")), "p", "sonic", "appl_db_buffers", "d")
    evidence = find(place, platforms(), lambda _: body)
    assert evidence is not None and evidence.locator == "/BUFFER_PG_TABLE:Ethernet0:3-4/value"


@pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="no collection of cases beside the checkout")
def test_breakout_ports_without_headroom():
    file = SHARED / "cases" / "05-breakout-ports-without-headroom" / "leaf-09" / "config_db.json"
    state = state_of(json.loads(file.read_text("utf-8")))
    for port in ("Ethernet449", "Ethernet450", "Ethernet451"):
        for group in ("3", "4"):
            assert cell(state, "profile", group=group, port=port) == "ingress_lossy_profile"
            assert cell(state, "lossless", group=group, port=port) is False
    for port in ("Ethernet452", "Ethernet453", "Ethernet454", "Ethernet455"):
        assert cell(state, "lossless", port=port) is ABSENT
        assert state.cell(Address("interface", (port,), "enabled")).value is ABSENT
        assert state.cell(Address("interface", (port,), "breakout_parent")).value == "Ethernet448"
    assert (cell(state, "headroom_bytes", port="Ethernet456"), cell(state, "lossless", port="Ethernet456")) == (0, False)
    assert cell(state, "headroom_bytes", port="Ethernet448") == 77824
    assert cell(state, "profile_cable_length_m", port="Ethernet472") == 5.0
    assert state.cell(Address("interface", ("Ethernet472",), "cable_length_m")).value == 40.0
