"""SONiC outputs of other projects' collections, values read by hand. Skipped where the collection is not beside the checkout."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.address import Layer
from auditor.facts import (
    Buffer,
    BufferPool,
    ClassMap,
    DscpMap,
    Firmware,
    Interface,
    Neighbour,
    PriorityGroup,
    QosPort,
    Queue,
    Row,
    System,
)
from auditor.model import Gap, GapReason, RawOutput, digest
from auditor.parse import parse_output
from auditor.platforms.sonic import PLATFORM

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch"
pytestmark = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")

SOURCES = {
    "cisco8201_202305/show_version.txt": "version",
    "cisco8201_400g_dac/show_interfaces_transceiver_eeprom.txt": "transceiver_eeprom",
    "cmdref_generic/show_interfaces_fec_status.txt": "interfaces_fec_status",
    "cmdref_msn2700/show_buffer_configuration.txt": "mmuconfig",
    "cmdref_msn3800/show_platform_firmware_status.txt": "platform_firmware",
    "cmdref_msn3800_early/show_platform_firmware.txt": "platform_firmware",
    "cmdref_t0/show_lldp_neighbors.txt": "lldp_neighbors",
    "dut_40g/show_interfaces_status.txt": "interfaces_status",
    "msn3700_t1_v1_0_6/config_db_json_buffer_tables.json": "config_db",
    "msn4600c_c64/qos_json.json": "config_db",
    "msn4600c_t1_dynamic/buffers_json.json": "config_db",
    "msn4700_o28/qos_json.json": "config_db",
    "t0_full/lldpctl_f_json.json": "lldpctl",
    "tunnel_qos_remap_nvidia/qos_maps.json": "config_db",
    "ut_cmis/show_interfaces_transceiver_eeprom.txt": "transceiver_eeprom",
    "ut_history/pfcwd_show_config.txt": "pfcwd_config",
    "ut_multi_asic/mmuconfig_l.txt": "mmuconfig",
    "ut_multi_asic/show_pfc_priority.txt": "pfc_priority",
    "ut_multi_asic_brs/pfcwd_show_config.txt": "pfcwd_config",
    "ut_multi_asic_unknown_port/show_pfc_priority_Ethernet1234.txt": "pfc_priority",
    "ut_osfp/show_interfaces_transceiver_eeprom_dom.txt": "transceiver_eeprom",
    "ut_qos_rendered/config_db_qos_tables.json": "config_db",
    "ut_single/pfcwd_show_config.txt": "pfcwd_config",
    "ut_single/pfcwd_show_stats.txt": "pfcwd_stats",
    "ut_single/show_buffer_information.txt": "buffer_information",
    "ut_t0_mixed_speed/show_interfaces_status.txt": "interfaces_status",
    "ut_two_macs/show_lldp_table.txt": "lldp_table",
    "vlab_t2_new_dbfmt/config_db_json.json": "config_db",
    "vlab_t2_old_dbfmt/config_db_json.json": "config_db",
}

Found = tuple[dict[tuple[type[Row], tuple[str, ...]], Row], list[Gap]]


def read(name: str, source: str = "") -> Found:
    body = (CAPTURES / "sonic" / name).read_text("utf-8")
    where = PLATFORM.source(source or SOURCES[name])
    output = RawOutput("dut", "sonic", where.key, where.command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC))
    parsed = parse_output(output, where, PLATFORM)
    return {(type(row), row.key): row for _, row in parsed.rows}, parsed.gaps


def cells(row: Row, *columns: str) -> tuple[object, ...]:
    return tuple(getattr(row, column) for column in columns)


@pytest.mark.parametrize("name", SOURCES)
def test_every_capture_of_a_command_gives_rows_or_says_why_not(name: str):
    rows, gaps = read(name)
    assert rows or gaps
    assert all(gap.detail for gap in gaps)


@pytest.mark.parametrize("source", [source.key for source in PLATFORM.sources])
def test_no_source_crashes_on_the_output_of_any_other_command(source: str):
    for file in sorted(CAPTURES.glob("sonic*/*/*")):
        rows, gaps = read(
            str(file.relative_to(CAPTURES / "sonic")) if "sonic/" in str(file) else f"../{file.relative_to(CAPTURES)}", source
        )
        assert rows or gaps or file.name.startswith(("show_lldp", "pfcwd", "show_pfc", "lldpctl"))


def test_ports_with_a_speed_in_megabits_and_an_aggregate_without_state():
    rows, gaps = read("ut_t0_mixed_speed/show_interfaces_status.txt")
    assert len(rows) == 15 + 2  # modules: one of a port that is up without is not known
    what = ("enabled", "up", "mtu", "speed", "alias", "lanes")
    assert cells(rows[Interface, ("Ethernet0",)], *what) == (True, False, 9100, 25 * 10**9, "Ethernet0", "0")
    assert cells(rows[Interface, ("Ethernet16",)], *what) == (True, True, 9100, 100 * 10**6, "etp5", "16")
    assert cells(rows[Interface, ("Ethernet28",)], *what) == (True, True, 9100, 10**9, "etp8", "28")
    assert cells(rows[Interface, ("Ethernet124",)], *what) == (True, True, 9100, 40 * 10**9, "etp32", "97,98,99,100")
    assert cells(rows[Interface, ("PortChannel1001",)], *what) == (None, None, None, 40 * 10**9, None, None)
    assert {gap.key for gap in gaps if gap.table == "interface"} == {
        ("eth0",),
        *((f"PortChannel{at}",) for at in ("0001", "0002", "0003", "0004", "1001")),
    }


def test_a_table_cut_by_its_author_is_not_whole():
    rows, gaps = read("dut_40g/show_interfaces_status.txt")
    what = ("up", "mtu", "speed", "alias", "lanes")
    assert cells(rows[Interface, ("Ethernet8",)], *what) == (True, 9100, 40 * 10**9, "etp3", "8,9,10,11")
    assert {(gap.table, gap.reason) for gap in gaps if not gap.key} == {
        ("interface", GapReason.TRUNCATED), ("optic", GapReason.TRUNCATED),
    }  # fmt: skip


def test_fec_of_ports_that_are_up_and_down():
    rows, _ = read("cmdref_generic/show_interfaces_fec_status.txt")
    assert {key[0]: row.fec for (_, key), row in rows.items()} == {
        "Ethernet0": "rs", "Ethernet32": "rs", "Ethernet36": None, "Ethernet112": "rs", "Ethernet116": "rs", "Ethernet120": "rs",
        "Ethernet124": "rs",
    }  # fmt: skip


def test_two_neighbours_on_one_port():
    rows, gaps = read("ut_two_macs/show_lldp_table.txt")
    assert cells(rows[Neighbour, ("Ethernet0", "00:00:00:00:00:01")], "system", "port_description") == ("dummy", "First MAC")
    assert cells(rows[Neighbour, ("Ethernet0", "00:00:00:00:00:02")], "system", "port_description") == ("dummy", "Second MAC")
    assert (len(rows), gaps) == (2, [])


def test_neighbours_as_printed():
    rows, gaps = read("cmdref_t0/show_lldp_neighbors.txt")
    what = ("system", "port_kind", "port_description", "chassis", "management_address", "since_s", "ttl_s")
    assert cells(rows[Neighbour, ("eth0", "GigabitEthernet 0/2")], *what) == (
        "swtor-b2lab2-1610", "name", None, "00:01:e8:81:e3:45", None, 44481.0, 20.0,
    )  # fmt: skip
    assert cells(rows[Neighbour, ("Ethernet116", "hundredGigE1/2")], *what) == (
        "T1-2", "local", "T0-2:hundredGigE1/30", "4c:76:25:e7:f0:c0", "10.11.162.40", 44449.0, 120.0,
    )  # fmt: skip
    assert (len(rows), gaps) == (2, [])


def test_neighbours_of_a_whole_switch():
    rows, gaps = read("t0_full/lldpctl_f_json.json")
    assert (len(rows), gaps) == (33, [])
    management = rows[Neighbour, ("eth0", "ge-0/0/17")]
    what = ("system", "port_kind", "port_description", "chassis", "chassis_kind", "management_address", "since_s", "ttl_s")
    assert cells(management, *what) == (
        "switch218ad08", "name", "TPS report vending machine", "00:11:22:33:44:55", "mac", None, 18542.0, 90.0,
    )  # fmt: skip
    assert cells(rows[Neighbour, ("Ethernet100", "Ethernet26")], *what) == (
        "switch13", "name", None, "00:11:22:33:44:55", "mac", "10.3.147.196", 18544.0, 120.0,
    )  # fmt: skip


def test_identity_of_the_image_and_the_chassis():
    rows, gaps = read("cisco8201_202305/show_version.txt")
    assert cells(rows[System, ()], "os_name", "os_version", "kernel", "image_id", "serial") == (
        "SONiC", "azure_cisco_tortuga_202305.10234-dirty-20240326.030556", "5.10.0-23-2-amd64", "1de235e21", "FOC2217DTWE",
    )  # fmt: skip
    assert gaps == []


@pytest.mark.parametrize(
    "name,versions",
    [
        (
            "cmdref_msn3800/show_platform_firmware_status.txt",
            {
                "onie": "2020.11-5.2.0022-9600", "ssd": "0202-000", "bios": "0ACLH004_02.02.008_9600",
                "cpld.1": "CPLD000120_REV0900", "cpld.2": "CPLD000165_REV0500", "cpld.3": "CPLD000166_REV0300",
                "cpld.4": "CPLD000167_REV0100",
            },
        ),
        (
            "cmdref_msn3800_early/show_platform_firmware.txt",
            {
                "bios": "0ACLH004_02.02.007_9600", "cpld.1": "CPLD000000_REV0400", "cpld.2": "CPLD000000_REV0300",
                "cpld.3": "CPLD000000_REV0300", "cpld.4": "CPLD000000_REV0100",
            },
        ),
    ],
)  # fmt: skip
def test_components_under_their_headers_though_a_sample_shifts_its_rows(name: str, versions: dict[str, str]):
    rows, gaps = read(name)
    assert {key[0]: row.version for (kind, key), row in rows.items() if kind is Firmware} == versions
    assert gaps == []


@pytest.mark.parametrize("name", ["ut_single/pfcwd_show_config.txt", "ut_history/pfcwd_show_config.txt"])
def test_the_watchdog_table_names_ports_and_no_queues(name: str):
    rows, gaps = read(name)
    assert rows == {}
    assert [(gap.table, gap.reason) for gap in gaps] == [("queue", GapReason.UNSUPPORTED)]
    assert "3 ports (Ethernet0 to Ethernet8)" in gaps[0].detail


def test_a_watchdog_table_of_several_asics_belongs_to_none_of_them():
    rows, gaps = read("ut_multi_asic_brs/pfcwd_show_config.txt")
    assert (rows, [gap.reason for gap in gaps]) == ({}, [GapReason.UNSUPPORTED])


def test_priorities_of_two_namespaces():
    rows, gaps = read("ut_multi_asic/show_pfc_priority.txt")
    assert len(rows) == 10 and gaps == []
    assert {cells(row, "pfc_priorities") for row in rows.values()} == {((3, 4),)}
    assert (QosPort, ("asic0/Ethernet-BP260",)) in rows and (QosPort, ("asic1/Ethernet-BP260",)) not in rows


def test_an_error_text_is_no_table():
    rows, gaps = read("ut_multi_asic_unknown_port/show_pfc_priority_Ethernet1234.txt")
    assert (rows, [(gap.table, gap.reason) for gap in gaps]) == ({}, [("qos_port", GapReason.REJECTED)])


@pytest.mark.parametrize(
    "name,host,lag",
    [("vlab_t2_new_dbfmt", "Linecard1", "PortChannel0002"), ("vlab_t2_old_dbfmt", "Linecard2", "PortChannel0001")],
)
def test_a_database_with_new_and_one_with_old_references_mean_the_same(name: str, host: str, lag: str):
    rows, gaps = read(f"{name}/config_db_json.json")
    assert gaps == []
    assert cells(rows[System, ()], "hostname", "hardware_model") == (host, "Force10-S6000")
    port = rows[Interface, ("Ethernet0",)]
    assert cells(port, "enabled", "mtu", "speed", "alias", "lag", "cable_length_m") == (
        True, 9100, 40 * 10**9, "fortyGigE0/0", lag, 300.0,
    )  # fmt: skip
    assert cells(rows[Interface, ("Ethernet44",)], "enabled", "lag", "breakout_parent") == (None, None, None)
    bound = ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities")
    assert cells(rows[QosPort, ("Ethernet4",)], *bound) == (("dscp",), "AZURE", "AZURE", "AZURE", "AZURE", (3, 4))
    assert cells(rows[QosPort, ("Ethernet44",)], "trust", "dscp_map", "pfc_priorities") == ((), None, ())
    assert cells(rows[PriorityGroup, ("Ethernet4", "0")], "lossless", "profile", "threshold", "pool") == (
        False, "ingress_lossy_profile", 8.0, "ingress_lossless_pool",
    )  # fmt: skip
    assert [key for kind, key in rows if kind is PriorityGroup and key[1] != "0"] == []
    assert cells(rows[BufferPool, ("egress_lossless_pool",)], "direction", "size_bytes", "mode") == ("egress", 12766208, "static")
    queue = rows[Queue, ("Ethernet4", "4")]
    assert cells(queue, "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "buffer_profile") == (
        True, 1048576, 2097152, 0.05, "egress_lossless_profile",
    )  # fmt: skip
    assert cells(queue, "scheduler", "weight", "watchdog_enabled", "watchdog_action") == ("dwrr", 15, False, None)
    assert cells(rows[Queue, ("Ethernet0", "1")], "scheduler", "weight") == ("dwrr", 14)
    assert [rows[DscpMap, ("AZURE", str(dscp))].traffic_class for dscp in (0, 3, 4, 5, 8, 46, 63)] == [1, 3, 4, 2, 0, 5, 1]
    assert cells(rows[ClassMap, ("tc_to_pg:AZURE", "7")], "kind", "to") == ("tc_to_pg", 7)
    assert cells(rows[Buffer, ()], "model", "vendor_word", "mode", "ingress_pools") == ("static", "traditional", "lossy", 1)


def test_the_same_database_as_a_saved_file_stands_at_the_saved_layer():
    name = "vlab_t2_old_dbfmt/config_db_json.json"
    body = (CAPTURES / "sonic" / name).read_text("utf-8")
    where = PLATFORM.source("config_db_saved")
    output = RawOutput("dut", "sonic", where.key, where.command, body, digest(body), datetime(2026, 3, 1, tzinfo=UTC))
    parsed = parse_output(output, where, PLATFORM)
    assert {layer for layer, _ in parsed.rows} == {Layer.SAVED}
    running, _ = read(name)
    assert len(parsed.rows) == len(running) + 1
    (file,) = (row for _, row in parsed.rows if row.TABLE == "config_file")
    assert cells(file, "exists", "parses") == (True, True)


def test_maps_that_differ_by_port_are_looked_up_by_name():
    rows, _ = read("msn4600c_c64/qos_json.json")
    what = ("trust", "dscp_map", "pfc_priorities")
    assert cells(rows[QosPort, ("Ethernet0",)], *what) == (("dscp",), "AZURE_UPLINK", (3, 4))
    assert cells(rows[QosPort, ("Ethernet136",)], *what) == (("dscp",), "AZURE", (2, 3, 4, 6))
    assert cells(rows[Queue, ("Ethernet0", "3")], "scheduler", "weight", "watchdog_enabled") == ("dwrr", 15, None)
    assert cells(rows[DscpMap, ("AZURE", "2")], "traffic_class") == (2,)
    assert (QosPort, ("global",)) not in rows
    ecn = ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "ecn_profile")
    assert cells(rows[Queue, ("Ethernet0", "3")], *ecn) == (True, 2_000_000, 10_000_000, 0.05, "AZURE_LOSSLESS")


def test_a_dynamic_model_computes_its_lossless_profiles():
    rows, gaps = read("msn4600c_t1_dynamic/buffers_json.json")
    assert cells(rows[Buffer, ()], "mode", "ingress_pools", "model") == ("lossless", 1, None)
    assert {gap.columns for gap in gaps if gap.table == "buffer"} == {("model",), ("vendor_word",)}
    what = ("lossless", "profile", "size_bytes", "headroom_bytes")
    assert cells(rows[PriorityGroup, ("Ethernet0", "4")], *what) == (True, None, None, None)
    assert cells(rows[PriorityGroup, ("Ethernet0", "0")], *what) == (False, "ingress_lossy_profile", 0, None)
    computed = [gap for gap in gaps if gap.table == "priority_group"]
    assert {(gap.reason, gap.columns) for gap in computed} == {(GapReason.UNSUPPORTED, ())}
    assert {gap.key for gap in computed} == {key for kind, key in rows if kind is PriorityGroup and key[1] != "0"}
    pool = ("direction", "size_bytes", "mode", "shared_headroom_bytes")
    assert cells(rows[BufferPool, ("egress_lossless_pool",)], *pool) == ("egress", 60817392, "dynamic", None)
    assert [gap.key for gap in gaps if gap.table == "buffer_pool"] == [("ingress_lossless_pool",), ("egress_lossy_pool",)]
    assert rows[Queue, ("Ethernet0", "4")].buffer_profile == "egress_lossless_profile"


def test_references_without_their_table_are_gaps():
    rows, gaps = read("msn4700_o28/qos_json.json")
    assert cells(rows[QosPort, ("Ethernet224",)], "dscp_map", "tc_to_pg", "pfc_priorities") == ("AZURE", "AZURE_DPC", ())
    assert cells(rows[Buffer, ()], "ingress_pools", "model") == (1, None)
    assert any(gap.key == ("Ethernet216", "3") and gap.columns == ("scheduler",) for gap in gaps)
    assert any(gap.key == ("Ethernet216", "3") and gap.columns == ("ecn_enabled",) for gap in gaps)
    assert cells(rows[Queue, ("Ethernet216", "3")], "ecn_enabled", "ecn_profile") == (None, "AZURE_LOSSLESS")
    assert rows[Queue, ("Ethernet224", "3")].ecn_enabled is False
    assert rows[BufferPool, ("ingress_lossless_pool",)].shared_headroom_bytes == 5590944
    zero = [row for (kind, _), row in rows.items() if kind is PriorityGroup and row.pool == "ingress_zero_pool"]
    assert {cells(row, "lossless", "threshold_kind", "threshold", "xoff_trigger_bytes") for row in zero} == {
        (False, "static", 0.0, None)
    }


def test_maps_for_tunnels_beside_the_usual_ones():
    rows, gaps = read("tunnel_qos_remap_nvidia/qos_maps.json")
    assert {(gap.table, gap.reason) for gap in gaps} == {
        ("priority_group", GapReason.NOT_COLLECTED), ("buffer_pool", GapReason.NOT_COLLECTED)
    }  # fmt: skip
    assert [rows[DscpMap, ("AZURE", dscp)].traffic_class for dscp in ("3", "33", "48")] == [3, 8, 7]
    assert cells(rows[ClassMap, ("tc_to_queue:AZURE_TUNNEL", "4")], "kind", "to") == ("tc_to_queue", 6)
    assert len({key[0] for kind, key in rows if kind is DscpMap}) == 3


def test_a_rendered_file_without_ports_gives_maps_and_no_ports():
    rows, _ = read("ut_qos_rendered/config_db_qos_tables.json")
    assert {kind for kind, _ in rows} == {Buffer, BufferPool, ClassMap, DscpMap, PriorityGroup, Queue}
    assert cells(rows[PriorityGroup, ("Ethernet100", "0")], "lossless", "threshold", "pool") == (
        False,
        8.0,
        "ingress_lossless_pool",
    )
    assert cells(rows[Queue, ("Ethernet0", "6")], "buffer_profile", "ecn_enabled") == ("egress_lossy_profile", False)
    assert cells(rows[Buffer, ()], "mode", "ingress_pools") == ("lossy", 1)


def test_a_flat_migration_file_reads_like_a_nested_one():
    rows, gaps = read("msn3700_t1_v1_0_6/config_db_json_buffer_tables.json")
    assert gaps == []
    assert cells(rows[Interface, ("Ethernet65",)], "speed", "alias", "lanes", "breakout_parent", "fec") == (
        25 * 10**9, "etp17b", "65", "Ethernet64", None,
    )  # fmt: skip
    assert cells(rows[Interface, ("Ethernet2",)], "alias", "fec", "cable_length_m", "breakout_parent") == (
        "etp1b",
        "none",
        None,
        None,
    )
    assert cells(rows[Buffer, ()], "model", "mode", "ingress_pools") == ("static", "lossless", 2)
    what = ("lossless", "profile", "size_bytes", "headroom_bytes", "xon_bytes", "threshold_kind", "threshold", "pool")
    assert cells(rows[PriorityGroup, ("Ethernet8", "4")], *what) == (
        True, "pg_lossless_50000_300m_profile", 95232, 75776, 19456, "dynamic", 1.0, "ingress_lossless_pool",
    )  # fmt: skip
    assert cells(rows[PriorityGroup, ("Ethernet20", "3")], "profile_cable_length_m", "profile_speed") == (300.0, 200 * 10**9)
    assert cells(rows[PriorityGroup, ("Ethernet124", "0")], *what[:4]) == (False, "ingress_lossy_profile", 0, None)
    assert rows[Queue, ("Ethernet0", "6")].buffer_profile == "q_lossy_profile"
    assert rows[BufferPool, ("egress_lossless_pool",)].size_bytes == 34287552


def test_storms_of_the_watchdog():
    rows, gaps = read("ut_single/pfcwd_show_stats.txt")
    assert gaps == []
    assert {key: row.watchdog_state for (_, key), row in rows.items()} == {
        ("Ethernet0", "3"): "stormed", ("Ethernet4", "3"): "operational", ("Ethernet8", "4"): "stormed",
    }  # fmt: skip


def test_pools_as_text_of_one_and_of_several_asics():
    what = ("direction", "size_bytes", "mode", "shared_headroom_bytes")
    rows, gaps = read("ut_single/show_buffer_information.txt")
    assert (len(rows), gaps) == (4, [])
    assert cells(rows[BufferPool, ("egress_lossless_pool",)], *what) == ("egress", 13945824, "dynamic", None)
    rows, gaps = read("ut_multi_asic/mmuconfig_l.txt")
    assert (len(rows), gaps) == (5, [])
    assert cells(rows[BufferPool, ("asic0/ingress_lossless_pool_hbm",)], *what) == ("ingress", 139458240, "static", None)
    assert cells(rows[BufferPool, ("asic1/egress_lossy_pool",)], *what) == ("egress", None, "dynamic", None)
    rows, gaps = read("cmdref_msn2700/show_buffer_configuration.txt")
    assert cells(rows[BufferPool, ("egress_lossless_pool",)], *what) == ("egress", 34340822, "dynamic", None)
    computed = {"ingress_lossless_pool", "ingress_lossy_pool", "egress_lossy_pool"}
    assert {(gap.key[0], gap.columns, gap.reason) for gap in gaps} == {
        (name, ("size_bytes",), GapReason.UNSUPPORTED) for name in computed
    }
