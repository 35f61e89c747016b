"""Junos: class of service from its configuration, with ports that are named by patterns, and with configuration groups unseen."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from auditor.address import Address
from auditor.checks.hops import hops
from auditor.collect.guard import wanted_sources
from auditor.collect.napalm_session import NapalmConnection
from auditor.collect.ssh import Unreached
from auditor.dialects.junos_statements import Unfinished, below, statements
from auditor.evidence import Place, find
from auditor.facts import Optic, PriorityGroup, QosPort, Queue
from auditor.model import GapReason, Spot, State
from auditor.plan.fabric import parse_fabric
from auditor.platforms import platforms
from auditor.platforms.juniper_junos import PLATFORM, ports, system
from auditor.platforms.juniper_junos import class_of_service as cos
from tests.unit.platforms.answers import recorded, state, told

PATTERN = recorded("juniper_junos", "class_of_service", "dcqcn_by_pattern")
NAMED = recorded("juniper_junos", "class_of_service", "named_ports")
OWN = recorded("juniper_junos", "class_of_service_own", "ports_of_their_own")
PORTS = recorded("juniper_junos", "interfaces_json", "routed_switched_and_shut")


def of(config: str, ports: str | None = PORTS) -> State:
    return state("juniper_junos", {"class_of_service": config, **({} if ports is None else {"interfaces_json": ports})})


def cell(found: State, address: str) -> object:
    known = found.cell(Address.parse(address))
    return known.value if known.gap is None else known.gap.reason


def test_a_pattern_speaks_of_the_ports_that_the_switch_lists() -> None:
    found = of(PATTERN)
    assert set(found.rows(QosPort)) == {("et-0/0/1",), ("et-0/0/2",), ("et-0/0/3",)}
    row = found.rows(QosPort)["et-0/0/1",]
    assert (row.trust, row.dscp_map, row.pfc_priorities, row.pfc_direction, row.pfc_to_queue) == (
        ("dscp",), "fabric", (3,), "both", "lossless",
    )  # fmt: skip
    queue = found.rows(Queue)["et-0/0/3", "4"]
    assert (queue.ecn_enabled, queue.ecn_probability, queue.watchdog_enabled) == (True, 1.0, True)
    assert (queue.watchdog_detection_s, queue.watchdog_restoration_s, queue.watchdog_action) == (0.2, 0.2, "drop")
    assert found.rows(PriorityGroup)["et-0/0/2", "3"].lossless is True
    assert cell(found, "dscp_map[fabric,26].traffic_class") == 4
    assert cell(found, "class_map[tc_to_pg:forwarding-classes,4].to") == 3
    assert cell(found, "class_map[pfc_to_queue:lossless,3].to") == 4


def test_a_pattern_without_a_list_of_ports_says_nothing_of_any() -> None:
    found = of(PATTERN, None)
    assert not found.rows(QosPort)
    assert cell(found, "qos_port[et-0/0/1].pfc_priorities") is GapReason.UNPARSED


def test_a_broken_list_of_ports_names_none() -> None:
    assert not of(PATTERN, PORTS[: len(PORTS) // 2]).rows(QosPort)


def test_a_port_that_a_pattern_and_its_name_fit_is_not_read() -> None:
    found = of(PATTERN.replace("    et-* {", "    et-0/0/1 {\n        scheduler-map gpu;\n    }\n    et-* {"))
    assert cell(found, "qos_port[et-0/0/1].trust") is GapReason.UNSUPPORTED
    assert cell(found, "qos_port[et-0/0/2].trust") == ("dscp",)


def test_a_port_that_nothing_names_has_no_pfc() -> None:
    found = of(NAMED)
    assert cell(found, "qos_port[et-0/0/3].pfc_priorities") == (), "its entry is out of use"
    assert cell(found, "qos_port[et-0/0/3].trust") is GapReason.UNSUPPORTED
    assert cell(found, "queue[et-0/0/3,5].ecn_enabled") is False


def test_members_of_an_aggregate_with_settings_are_not_read() -> None:
    found = of(PATTERN.replace("    et-* {", "    ae0 {"))
    assert cell(found, "qos_port[et-0/0/1].pfc_priorities") is GapReason.UNSUPPORTED


def test_code_points_without_a_class_go_to_queue_0_unless_others_are_imported() -> None:
    found = of(NAMED)
    assert cell(found, "dscp_map[roce-in,0].traffic_class") == 0
    assert cell(found, "dscp_map[roce-in,28].traffic_class") == 5
    assert cell(found, "dscp_map[partly,0].traffic_class") is GapReason.UNSUPPORTED
    assert cell(found, "dscp_map[partly,56].traffic_class") is GapReason.UNSUPPORTED, "network-control differs between models"


def test_pauses_by_tag_say_nothing_of_the_class_that_they_stop() -> None:
    found = of(NAMED)
    assert cell(found, "qos_port[et-0/0/2].trust") == ("pcp",)
    assert cell(found, "qos_port[et-0/0/2].pfc_priorities") == (4,)
    assert cell(found, "priority_group[et-0/0/2,4].lossless") is GapReason.UNSUPPORTED
    assert cell(found, "class_map[pfc_to_queue:by-tag,4].to") == 4, "queues 3 and 4 obey where nothing is said"


def test_a_pause_for_a_lossy_class_is_none() -> None:
    found = of(PATTERN.replace(" no-loss", ""))
    assert cell(found, "qos_port[et-0/0/1].pfc_priorities") == ()
    assert not found.rows(PriorityGroup)


def test_a_pause_whose_priority_no_class_tells_is_not_known() -> None:
    found = of(PATTERN.replace(" pfc-priority 3", ""))
    assert cell(found, "qos_port[et-0/0/1].pfc_priorities") is GapReason.UNPARSED


def test_pauses_that_no_queue_obeys_go_one_way() -> None:
    found = of(PATTERN.replace("code-point 011 {", "code-point 100 {"))
    assert cell(found, "qos_port[et-0/0/1].pfc_direction") == "tx"


def test_thresholds_in_percent_are_no_bytes_and_headroom_is_not_told() -> None:
    found = of(PATTERN)
    assert cell(found, "queue[et-0/0/1,4].ecn_min_bytes") is GapReason.UNSUPPORTED
    assert cell(found, "priority_group[et-0/0/1,3].headroom_bytes") is GapReason.UNSUPPORTED
    assert cell(found, "priority_group[et-0/0/1,3].profile_cable_length_m") is not None


def test_without_groups_only_what_is_there_is_read() -> None:
    found = state("juniper_junos", {"class_of_service_own": OWN, "interfaces_json": PORTS})
    assert cell(found, "qos_port[et-0/0/7:1].pfc_priorities") == (3,)
    assert cell(found, "qos_port[et-0/0/8].trust") == ("dscp",)
    hidden = (
        "qos_port[et-0/0/8].pfc_priorities", "qos_port[et-0/0/1].trust", "queue[et-0/0/8,3].ecn_enabled",
        "queue[et-0/0/7:1,3].watchdog_enabled", "class_map[pfc_to_queue:edge,3].to", "dscp_map[edge,0].traffic_class",
        "qos_port[et-0/0/7:1].pfc_direction", "class_map[tc_to_pg:forwarding-classes,4].to",
    )  # fmt: skip
    assert {address: cell(found, address) for address in hidden} == dict.fromkeys(hidden, GapReason.UNSUPPORTED)


@pytest.mark.parametrize(
    ("source", "body"), [("class_of_service", PATTERN), ("class_of_service", NAMED), ("class_of_service_own", OWN)]
)
def test_broken_answers_are_gaps(source: str, body: str) -> None:
    assert told("juniper_junos", source, body, endless=True) == []


@pytest.mark.parametrize("body", [NAMED, PATTERN])
def test_cut_at_any_line_it_tells_nothing_else(body: str) -> None:
    """Between two statements at the top nothing shows a cut: then what is told is still true, and nothing is called absent."""
    whole = of(body)
    lines = body.splitlines(keepends=True)
    for at in range(len(lines)):
        cut = of("".join(lines[:at]))
        for row_type in (QosPort, Queue, PriorityGroup):
            for key, row in cut.rows(row_type).items():
                known = whole.rows(row_type).get(key)
                for column in ("trust", "dscp_map", "pfc_priorities", "ecn_enabled", "watchdog_enabled", "lossless"):
                    value = getattr(row, column, None)
                    assert value is None or (known is not None and getattr(known, column) == value), (at, key, column)


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("qos_port[et-0/0/1].pfc_priorities", "et-* {"),
        ("qos_port[et-0/0/1].dscp_map", "dscp fabric;"),
        ("dscp_map[fabric,26].traffic_class", "dscp fabric {"),
        ("class_map[tc_to_pg:forwarding-classes,4].to", "forwarding-classes {"),
    ],
)
def test_the_line_that_proves_is_that_of_the_pattern(address: str, line: str) -> None:
    found = of(PATTERN)
    spot = Spot("dut", Address.parse(f"{address}@configured"))
    shown = find(
        Place(spot, cell(found, address), "juniper_junos", "class_of_service", "d", "c", None), platforms(), lambda _: PATTERN
    )
    assert shown is not None
    assert line in shown.excerpt


def test_statements_of_braces_and_of_one_line_are_the_same() -> None:
    one = "a {\n    class B queue-num 4 no-loss;\n    c [ d e ];\n    f {\n    }\n}\n"
    assert list(statements(one)) == [("a", "class", "B", "queue-num", "4", "no-loss"), ("a", "c", "[", "d", "e", "]"), ("a", "f")]
    braces = cos.read("forwarding-classes {\n class B {\n queue-num 4;\n no-loss;\n }\n}\n", whole=True)
    line = cos.read("forwarding-classes {\n class B queue-num 4 no-loss;\n}\n", whole=True)
    assert braces.classes == line.classes == {"B": cos.ForwardingClass(4, True)}


def test_what_is_out_of_use_and_comments_are_left_out() -> None:
    body = '/* "x {" */\ninactive: a {\n    b;\n}\n## c\nd {\n    inactive: e;\n    protect: f "two words"; ## SECRET-DATA\n}\n'
    assert list(statements(body)) == [("d", "f", "two words")]
    assert below(list(statements(body)), "d") == [("f", "two words")]


@pytest.mark.parametrize("body", ["a {\n    b;\n", "a {\n"])
def test_an_open_brace_is_told(body: str) -> None:
    with pytest.raises(Unfinished):
        list(statements(body))


@pytest.mark.parametrize("body", ["a;\nBroadcast message from root\n", "}\n", "a {\n    {\n    }\n}\n", "a {\n" * 70])
def test_what_is_no_configuration_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match=r"brace|configuration"):
        list(statements(body))


def test_modules_stand_in_the_ports_that_their_slots_name() -> None:
    chassis = recorded("juniper_junos", "chassis_json", "modules")
    found = state("juniper_junos", {"chassis_json": chassis, "interfaces_json": PORTS})
    row = found.rows(Optic)["et-0/0/1",]
    assert (row.present, row.type, row.part_number, row.serial) == (True, "QSFP56-DD-400GBASE-DR4", "740-085351", "1W1CQ7A9F00K1")
    assert cell(found, "optic[et-0/0/3].part_number") is GapReason.UNSUPPORTED, "NON-JNPR"
    assert cell(found, "optic[et-0/0/3].serial") == "TEG9317C04B"
    assert ("et-0/0/2",) not in found.rows(Optic)


CAPTURES = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared") / "captures/switch/junos"


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="no collection of captures beside the checkout")
def test_modules_of_a_capture_by_hand() -> None:
    body = json.loads((CAPTURES / "sq_qfx_nossim_leaf01" / "show_chassis_hardware_display_json.json").read_text("utf-8"))
    listed = {"ports": "ge-0/0/6 xe-0/0/25 xe-0/0/45 et-0/0/54 et-0/0/55:0 et-0/0/55:1"}
    rows = {row.port: row for row in system.chassis_document(body, listed) if isinstance(row, Optic)}
    seen = {port: (row.type, row.part_number, row.serial) for port, row in rows.items()}
    assert seen == {
        "ge-0/0/6": ("SFP-SX", None, "PDE1CZW"),
        "xe-0/0/25": ("SFP+-10G-CU5M", None, "TED2237C16A"),
        "xe-0/0/45": ("SFP+-10G-USR", "740-030658", "AD1044A032H"),
        "et-0/0/54": ("QSFP28-100G-CU3M", "740-061001", "1PC422083EA"),
        "et-0/0/55:0": ("QSFP28-100G-CU3M", "740-061001", "1PC422126AB"),
        "et-0/0/55:1": ("QSFP28-100G-CU3M", "740-061001", "1PC422126AB"),
    }


def test_what_an_answer_needs_beside_it_is_asked_too() -> None:
    wanted = [source.key for source in wanted_sources(PLATFORM, ["qos_port.trust"])]
    assert wanted == ["interfaces_json", "class_of_service"]


def test_groups_have_no_request_over_netconf() -> None:
    """NAPALM would cut the pipe down, and what came back would be taken for something else."""
    session = NapalmConnection()
    session._kind = "junos"
    with pytest.raises(Unreached, match=r"NETCONF has no request for `.*inheritance") as refused:
        session._send(PLATFORM.source("class_of_service").command, 5)
    assert refused.value.reason is GapReason.UNSUPPORTED


@pytest.mark.parametrize("form", ["interfaces_json", "interfaces_xml", "interfaces"])
def test_ports_are_listed_from_every_form(form: str) -> None:
    case = {"interfaces_json": "two_up", "interfaces_xml": "reply_over_ssh", "interfaces": "two_ports"}[form]
    body = recorded("juniper_junos", form, case)
    names = {"interfaces_xml": ["et-0/0/7", "et-0/0/8"]}.get(form, ["et-0/0/1", "et-0/0/2"])
    assert list(ports.listed(body)) == names


def chain(config: str) -> dict[tuple[str, str], bool | None]:
    """What each place of the chain says of a class on DSCP 26 and priority 3, its notifications on DSCP 48."""
    intent = parse_fabric("planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3, cnp_dscp: 48}]}}")
    met = hops(of(config), {"et-0/0/1": tuple(intent.planes["compute"].classes)}, host=False)
    return {(hop.direction, place.name): place.ok for hop in met["et-0/0/1"] for place in hop.cells}


def test_the_chain_of_a_lossless_class_is_whole_but_for_what_is_no_bytes() -> None:
    places = chain(PATTERN)
    assert {place for place, good in places.items() if good is None} == {("ingress", "headroom"), ("egress", "ecn")}
    assert all(good for good in places.values() if good is not None)
    assert len(places) == 13


@pytest.mark.parametrize(
    ("was", "instead", "broken"),
    [
        ("code-points 011010", "code-points 011011", ("ingress", "dscp_map")),
        ("pfc-priority 3", "pfc-priority 4", ("ingress", "pfc")),
        ("code-point 011 {", "code-point 101 {", ("egress", "tc_to_queue")),
        ("flow-control-queue 4;", "flow-control-queue [ 3 4 ];", None),
        ("dscp fabric;", "ieee-802.1 fabric;", ("ingress", "trust")),
        ("        congestion-notification-profile lossless;\n", "", ("egress", "pfc")),
        ("        explicit-congestion-notification;\n", "", ("egress", "ecn")),
        ("        pfc-watchdog;\n", "", ("egress", "watchdog")),
        ("loss-priority low code-points 110000;", "loss-priority low code-points 110001;", None),
    ],
)
def test_one_line_breaks_the_chain_where_it_stands(was: str, instead: str, broken: tuple[str, str] | None) -> None:
    """Notifications without a class of their own go to queue 0, and pauses may stop the queues of others too: no break."""
    assert was in PATTERN
    places = chain(PATTERN.replace(was, instead))
    wrong = {place for place, good in places.items() if good is False}
    assert wrong == set() if broken is None else broken in wrong
