"""Cumulus Linux: what NVUE prints, what a cut answer may conclude, and captures read by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from auditor.address import Address, Layer
from auditor.collect.commands import Recogniser
from auditor.collect.guard import allowed
from auditor.evidence import Place, find
from auditor.facts import ClassMap, DscpMap, Interface, Neighbour, Optic, QosPort, Queue, System
from auditor.model import Device, GapReason, Spot, State, Transport
from auditor.platforms import platforms
from auditor.platforms.cumulus_linux import PLATFORM, answers, names
from tests.unit.platforms.answers import PARAMETER, recorded, state, told

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
CAPTURES = SHARED / "captures" / "switch" / "cumulus"
captures = pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
ROCE = recorded("cumulus_linux", "roce", "lossless")
STATUS = recorded("cumulus_linux", "roce_status", "lossless")


def read(source: str, *parts: str) -> State:
    return state("cumulus_linux", {source: CAPTURES.joinpath(*parts).read_text("utf-8")}, None)


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


def test_front_ports_are_told_from_what_the_switch_makes() -> None:
    body = recorded("cumulus_linux", "interfaces", "one_state")
    assert names.listed(body) == ["swp1", "swp2s0", "swp3"]
    assert not any(map(names.is_port, ("bond9", "br_default", "eth0", "lo", "RAIL1", "swp", "swp1s10")))


def test_values_are_those_in_operation_and_nested_ones_keep_their_path() -> None:
    told_here = answers.settings(recorded("cumulus_linux", "link", "down"))
    assert (told_here["fec"], told_here["speed"], told_here["mtu"], told_here["state"]) == ("", "", "9216", "down")
    assert answers.settings(ROCE)["pfc.pfc-priority"] == "3"
    assert answers.settings(ROCE)["congestion-control.enabled-tc"] == "0,3"
    with pytest.raises(ValueError, match="operational"):
        answers.settings("mode  lossless\n")


def test_a_table_without_data_has_no_rows_and_a_missing_one_is_an_error() -> None:
    assert list(answers.titled("Exception List\n====\nNo Data\n", "Exception List")) == []
    with pytest.raises(ValueError, match="RoCE pool"):
        list(answers.titled(STATUS, "RoCE pool"))


def test_code_points_go_by_switch_priorities_to_the_class_that_is_the_queue() -> None:
    found = state("cumulus_linux", {"roce": ROCE})
    assert cell(found, "dscp_map[roce,26].traffic_class") == 3
    assert cell(found, "dscp_map[roce,63].traffic_class") == 7
    assert [cell(found, f"class_map[tc_to_queue:roce,{at}].to") for at in range(8)] == [0, 0, 0, 3, 0, 0, 6, 0]


def test_a_port_with_settings_of_its_own_takes_the_maps_away() -> None:
    found = state("cumulus_linux", {"roce": recorded("cumulus_linux", "roce", "an_exception")})
    assert cell(found, "dscp_map[roce,26].traffic_class") is GapReason.UNPARSED
    assert cell(found, "class_map[tc_to_queue:roce,3].to") is GapReason.UNPARSED


@pytest.mark.parametrize(
    ("line", "hole"),
    [
        ("    5  5    40,41,42,43,44,45,46,47  5          \n", "dscp_map[roce,40].traffic_class"),
        ("    5  5            0              DWRR-50%        \n", "class_map[tc_to_queue:roce,5].to"),
    ],
)
def test_a_map_with_a_hole_says_so(line: str, hole: str) -> None:
    assert line in ROCE
    found = state("cumulus_linux", {"roce": ROCE.replace(line, "")})
    assert cell(found, hole) is GapReason.TRUNCATED


def test_a_port_of_a_lossy_switch_pauses_nothing_and_marks_three_classes() -> None:
    found = state("cumulus_linux", {"roce_status": recorded("cumulus_linux", "roce_status", "lossy")})
    assert cell(found, f"qos_port[{PARAMETER}].pfc_priorities") == ()
    marks = [cell(found, f"queue[{PARAMETER},{at}].ecn_enabled") for at in range(8)]
    assert marks == [False, True, True, True, False, False, False, False]
    assert cell(found, f"queue[{PARAMETER},1].ecn_min_bytes") is GapReason.UNSUPPORTED


@pytest.mark.parametrize(
    ("source", "case", "endless"),
    [
        ("system", "release_5_5", False), ("system", "release_5_16", True), ("release", "whole", False),
        ("platform", "a_leaf", True), ("interfaces", "one_state", True), ("interfaces", "two_states", True),
        ("link", "rs_on_a_fixed_port", False), ("link", "down", False), ("transceivers", "copper_and_optics", True),
        ("lldp", "two_switches", False), ("lldp_text", "two_switches", False), ("roce", "lossless", False),
        ("interfaces_json", "up_and_down", False), ("roce", "an_exception", True),
        ("roce_status", "lossless", True), ("roce_status", "lossy", True), ("roce", "lossless_single_ipool", False),
        ("roce", "lossy_multi_tc", False), ("firmware", "a_leaf", True), ("ethtool", "negotiates", False),
        ("qos_features", "groups", True), ("traffic_conf", "roce_of_release_4", True), ("pfc_watchdog", "off", True),
        ("pfc_watchdog", "a_deadlock", True),
    ],
)  # fmt: skip
def test_broken_answers_are_gaps(source: str, case: str, endless: bool) -> None:
    assert told("cumulus_linux", source, recorded("cumulus_linux", source, case), endless=endless) == []


def test_the_line_that_proves_a_cell_is_its_own() -> None:
    for source, case, address, line in (
        ("roce", "lossless", "dscp_map[roce,26].traffic_class", "24,25,26,27"),
        ("roce", "lossless", "class_map[tc_to_queue:roce,6].to", "strict-priority"),
        ("roce_status", "lossless", f"qos_port[{PARAMETER}].pfc_priorities", "pfc-priority"),
        ("link", "rs_on_a_fixed_port", f"interface[{PARAMETER}].fec", "fec  "),
        ("interfaces", "one_state", "interface[swp2s0].mtu", "swp2s0"),
        ("roce", "lossless_single_ipool", "buffer.vendor_word", "lossless-single-ipool"),
        ("roce", "lossless", "buffer_pool[roce-reserved-egress].mode", "roce-reserved-egress"),
        ("firmware", "a_leaf", "firmware[bios].version", "0ACTV"),
        ("pfc_watchdog", "a_deadlock", f"queue[{PARAMETER},3].watchdog_state", "3              DEADLOCK"),
        ("qos_features", "groups", "qos_port[swp5].trust@configured", "source.edge.packet_priority_source_set"),
        ("qos_features", "groups", "queue[swp1,3].ecn_min_bytes@configured", "ecn_red.deep.min_threshold_bytes = 160000"),
        ("ethtool", "negotiates", f"interface[{PARAMETER}].autoneg", "Auto-negotiation: on"),
    ):
        address += "" if "@" in address else "@applied"
        body = recorded("cumulus_linux", source, case)
        source_ = PLATFORM.source(source)
        asked = source_.command.replace("{port}", PARAMETER)
        spot = Spot("dut", Address.parse(address))
        place = Place(spot, cell(state("cumulus_linux", {source: body}), address), "cumulus_linux", source, "d", asked, None)
        shown = find(place, platforms(), {"d": body}.get)
        assert shown is not None and line in shown.excerpt, address


def test_only_what_reads_is_sent() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("cumulus_linux",)), platforms())]
    assert PLATFORM.transport is Transport.EXEC
    assert all(
        command.startswith(("nv show ", "cat /etc/", "lldpctl", "sudo -n lldpctl", "ethtool {", "grep -H '' /etc/cumulus/"))
        for command in sent
    ), sent


@captures
def test_ports_by_hand() -> None:
    rows = read("interfaces", "nvue_ref_cl54", "nv_show_interface.txt").rows(Interface)
    assert (rows["swp1",].mtu, rows["swp1",].speed, rows["swp1",].up) == (9000, 1_000_000_000, True)
    assert (rows["swp6",].mtu, rows["swp4",].up, rows["swp4",].speed, rows["bond3",].mtu) == (9216, False, None, 9000)
    assert ("BLUE",) not in rows and ("lo",) not in rows and ("br_default",) not in rows


@captures
def test_the_capture_cut_by_hand_is_cut() -> None:
    assert cell(read("interfaces", "nvue_ref_cl54", "nv_show_interface.txt"), "interface[swp9].mtu") is GapReason.TRUNCATED


@captures
def test_the_link_by_hand() -> None:
    found = read("link", "fec_cl515_sn2700", "nv_show_int_swp11_link.txt")
    assert (cell(found, f"interface[{PARAMETER}].fec"), cell(found, f"interface[{PARAMETER}].autoneg")) == ("none", True)


@captures
def test_modules_by_hand() -> None:
    rows = read("transceivers", "transceivers_cl513", "nv_show_platform_transceiver.txt").rows(Optic)
    assert (rows["swp15",].type, rows["swp15",].part_number, rows["swp15",].serial) == (
        "QSFP-DD", "MCP1660-W00AE30", "MT2121VS01645",
    )  # fmt: skip
    assert rows["swp10",].serial == rows["swp11",].serial == "MT2211VS01792"
    assert len(rows) == 13


@captures
def test_the_switch_by_hand() -> None:
    (row,) = read("platform", "platform_cl513", "nv_show_platform.txt").rows(System).values()
    assert (row.vendor, row.hardware_model, row.serial) == ("Cumulus", "VX", "44:38:39:22:01:7a")


@captures
def test_the_maps_of_one_ingress_pool_by_hand() -> None:
    found = read("roce", "roce_cl515_single_ipool", "nv_show_qos_roce.txt")
    assert {int(row.dscp): row.traffic_class for row in found.rows(DscpMap).values()} == {at: at // 8 for at in range(64)}
    assert {int(row.source): row.to for row in found.rows(ClassMap).values()} == {
        at: {3: 3, 6: 6}.get(at, 0) for at in range(8)
    }  # fmt: skip


@captures
def test_the_status_of_a_port_by_hand() -> None:
    found = read("roce_status", "roce_cl511", "nv_show_interface_swp16_qos_roce_status.txt")
    for column, value in (("trust", ("dscp", "pcp")), ("pfc_priorities", (3,)), ("pfc_direction", "both"), ("dscp_map", "roce")):
        assert cell(found, f"qos_port[{PARAMETER}].{column}") == value
    assert [cell(found, f"queue[{PARAMETER},{at}].ecn_enabled") for at in range(8)] == [at in (0, 3) for at in range(8)]


@captures
def test_neighbours_by_hand() -> None:
    rows = read("lldp_text", "lldp_cl513", "lldpcli_show_neighbors.txt").rows(Neighbour)
    assert rows["eth0", "swp47"].system == "PIONEERMS22" and rows["swp1", "swp1"].system == "MSP-1"
    assert rows["swp1", "swp1"].chassis == "00:01:00:00:09:00"
    rows = read("lldp", "sq_cl379_leaf01", "net_show_lldp_json.json").rows(Neighbour)
    assert any(key[0] == "swp1" and row.system == "spine01" for key, row in rows.items())


ELSEWHERE = {
    "nv_show_interface_swp16_qos_roce_counters": "counters",
    "nv_show_interface_swp1_counters_qos": "counters",
    "nv_show_interface_swp1_qos_mapping": "a port that trusts the VLAN priority; no example shows its code points under DSCP",
    "nv_show_interface_swp3_transceiver_thresholds": "readings of light, which change",
    "nv_show_interface_swp51_lldp_neighbor": "tells neither chassis nor kind of port, and two rows may be one neighbour",
    "nv_show_interface_swp5_qos_buffer_egress_traffic_class": "sizes are rounded; ALPHA_8 is no byte",
    "nv_show_interface_swp5_qos_congestion_control": "thresholds are rounded",
    "nv_show_interface_swp5_qos_pfc": "how it lists priorities no example shows",
    "nv_show_qos_advance_buffer_config_o_json": "what is set beside defaults that are not in it",
    "nv_show_qos_buffer": "how full the pools are; sizes are rounded",
    "nv_show_qos_congestion_control_default_global": "a profile; which ports have it stands elsewhere",
    "nv_show_qos_egress_queue_mapping_default_global": "a profile; under a RoCE mode its map is in the view of that",
    "nv_show_qos_pfc_default_global": "a profile; which ports have it stands elsewhere",
    "nv_show_system_forwarding_packet_trim": "no fact holds packet trimming",
    "net_show_system_json": "NCLU of Cumulus 3; the release is read from the file that stands in it",
}
"""Captures of commands that are not asked, with the reason."""


@captures
def test_every_capture_gives_rows_or_is_named_here() -> None:
    known, left = Recogniser([PLATFORM]), set()
    for file in sorted(CAPTURES.glob("*/*")):
        found = known.by_stem(file.stem)
        if not found:
            left.add(file.stem)
            continue
        assert read(found[0].source.key, *file.parts[-2:]).tables, file
    assert left == set(ELSEWHERE)


@captures
def test_ethtool_by_hand() -> None:
    found = read("ethtool", "ethtool_cl513", "ethtool_swp1.txt")
    assert cell(found, f"interface[{PARAMETER}].autoneg") is False


@captures
def test_the_pools_of_one_ingress_pool_by_hand() -> None:
    found = read("roce", "roce_cl515_single_ipool", "nv_show_qos_roce.txt")
    assert [cell(found, f"buffer.{name}") for name in ("mode", "vendor_word", "ingress_pools")] == [
        "lossless", "lossless-single-ipool", 1,
    ]  # fmt: skip
    assert cell(found, "buffer_pool[roce-reserved-egress].direction") == "egress"


def configured(body: str) -> State:
    return state("cumulus_linux", {"qos_features": body})


def test_a_comment_is_no_setting() -> None:
    found = configured(recorded("cumulus_linux", "qos_features", "comments"))
    assert cell(found, "qos_port[swp1].trust") == ("pcp",)
    assert cell(found, "qos_port[swp1].pfc_priorities") is GapReason.UNSUPPORTED
    assert cell(found, "qos_port[swp1].global_pause_rx") is False


def test_a_profile_of_a_port_replaces_what_all_have_and_only_listed_profiles_count() -> None:
    found = configured(recorded("cumulus_linux", "qos_features", "groups"))
    assert (cell(found, "qos_port[swp5].trust"), cell(found, "qos_port[swp1].trust")) == (("dscp",), ("dscp", "pcp"))
    assert cell(found, "qos_port[swp6].pfc_priorities") is GapReason.UNSUPPORTED
    assert (cell(found, "qos_port[swp6].global_pause_tx"), cell(found, "qos_port[swp1].global_pause_tx")) == (True, False)
    assert (cell(found, "queue[swp2,3].ecn_min_bytes"), cell(found, "queue[swp3,0].ecn_min_bytes")) == (160000, 150000)
    assert ("swp2", "0") not in found.rows(Queue)
    assert ("swp1.100",) not in found.rows(QosPort) and ("bond1",) not in found.rows(QosPort)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("swp1-swp3,swp6", {"swp1", "swp2", "swp3", "swp6"}), ("swp4s0-swp4s1", {"swp4s0", "swp4s1"}),
        ("swp4s0-1", {"swp4s0", "swp4s1"}),
        ("[swp1,swp5]", {"swp1", "swp5"}), ("swp2-4", {"swp2", "swp3", "swp4s0", "swp4s1"}), ("swp9", set()),
        ("swp3-swp5", {"swp3", "swp4s0", "swp4s1", "swp5"}), ("swp1", {"swp1"}),
        ("allports", {"swp1", "swp2", "swp3", "swp4s0", "swp4s1", "swp5", "swp6"}),
    ],
)  # fmt: skip
def test_a_set_of_ports(value: str, wanted: set[str]) -> None:
    body = recorded("cumulus_linux", "qos_features", "groups").replace("gpus.port_set = swp1-swp3", f"gpus.port_set = {value}")
    found = configured(body.replace("pfc.port_group_list = [gpus,storage]", "pfc.port_group_list = [gpus]"))
    assert {row.port for row in found.rows(QosPort).values() if row.pfc_priorities} == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pfc.storage.port_set = swp4s0-swp4s1", "pfc.storage.port_set = swp3"),
        ("pfc.gpus.port_set = swp1-swp3", "pfc.gpus.port_set = swp1-bond4"),
        ("traffic.port_default_priority = 0", "traffic.packet_priority_source_set = [port]"),
    ],
)
def test_a_file_that_contradicts_itself_is_not_read(old: str, new: str) -> None:
    body = recorded("cumulus_linux", "qos_features", "groups")
    assert body.count(old) == 1
    found = configured(body.replace(old, new))
    assert not found.tables
    assert cell(found, "qos_port[swp1].trust") is GapReason.UNPARSED


def test_half_of_the_file_says_nothing() -> None:
    body = recorded("cumulus_linux", "qos_features", "groups")
    for end in (body.index("pfc.storage"), body.index("link_pause.old"), body.index("/proc/net/dev:Inter")):
        found = configured(body[:end])
        assert not found.rows(QosPort)
        assert cell(found, "qos_port[swp1].trust") is GapReason.TRUNCATED


def test_the_file_counts_only_where_no_port_tells_of_a_roce_mode() -> None:
    body = recorded("cumulus_linux", "qos_features", "comments").replace("swp1", PARAMETER)
    assert cell(state("cumulus_linux", {"qos_features": body}), f"qos_port[{PARAMETER}].trust") == ("pcp",)
    both = state("cumulus_linux", {"qos_features": body, "roce_status": STATUS})
    assert (QosPort, Layer.CONFIGURED) not in both.tables
    assert cell(both, f"qos_port[{PARAMETER}].trust") == ("dscp", "pcp")


def test_a_watchdog_that_is_on_watches_queues_that_its_view_does_not_tell() -> None:
    found = state("cumulus_linux", {"pfc_watchdog": recorded("cumulus_linux", "pfc_watchdog", "a_deadlock")})
    assert [cell(found, f"queue[{PARAMETER},{at}].watchdog_state") for at in (2, 3)] == ["operational", "stormed"]
    assert cell(found, f"queue[{PARAMETER},3].watchdog_enabled") is GapReason.UNSUPPORTED
    found = state("cumulus_linux", {"pfc_watchdog": recorded("cumulus_linux", "pfc_watchdog", "off")})
    assert cell(found, f"queue[{PARAMETER},3].watchdog_enabled") is False
    odd = recorded("cumulus_linux", "pfc_watchdog", "a_deadlock").replace("DEADLOCK", "MITIGATE")
    found = state("cumulus_linux", {"pfc_watchdog": odd})
    assert cell(found, f"queue[{PARAMETER},3].watchdog_state") is GapReason.UNPARSED


def test_the_mode_with_many_classes_spreads_code_points_over_five() -> None:
    found = state("cumulus_linux", {"roce": recorded("cumulus_linux", "roce", "lossy_multi_tc")})
    wanted = {0: 0, 1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 0, 10: 0, 11: 4, 26: 4, 40: 4, 41: 0, 48: 0, 63: 0}
    assert {at: cell(found, f"dscp_map[roce,{at}].traffic_class") for at in wanted} == wanted
    assert len(found.rows(DscpMap)) == 64
    assert [cell(found, f"class_map[pfc_to_queue:roce,{at}].to") for at in range(8)] == list(range(8))


def test_without_its_pools_the_maps_stand() -> None:
    body = ROCE.replace("RoCE pool config", "RoCE pools")
    found = state("cumulus_linux", {"roce": body})
    assert cell(found, "dscp_map[roce,26].traffic_class") == 3
    assert cell(found, "buffer.mode") == "lossless"
    assert cell(found, "buffer.ingress_pools") is GapReason.TRUNCATED


def test_over_rest_only_the_proven_path_is_asked_for() -> None:
    sent = [command for _, _, command in allowed(Device("dut", ("cumulus_linux",)), platforms(), Transport.HTTPS)]
    assert sent == ["GET /nvue_v1/interface?rev=operational"]
