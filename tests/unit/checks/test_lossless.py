import pytest
from pydantic import TypeAdapter, ValidationError

from auditor.checks.lossless import BufferIntent, buffer_mode, ecn_out_of_range, xoff_xon_ratio
from auditor.evaluate.causes import gather
from auditor.evaluate.device import Subject
from auditor.evaluate.device import judge as judge_device
from auditor.model import Severity
from auditor.plan.fabric import parse_fabric
from tests.golden.rulecases import judge, state

ROCE = {"planes": {"compute": {"classes": [{"name": "roce", "dscp": [26], "priority": 3}]}}}


def test_buffer_intent_knows_its_words():
    adapter = TypeAdapter(buffer_mode.params_type)
    assert adapter.validate_python({"model": "dynamic"}) == BufferIntent(mode=None, model="dynamic", why="")
    for bad in ({"model": "traditional"}, {"mode": "roce"}, {"modell": "dynamic"}):
        with pytest.raises(ValidationError):
            adapter.validate_python(bad)


def test_ports_that_fail_alike_say_the_same_so_that_they_fold_into_one_cause():
    ports = [f"Ethernet{n}" for n in range(0, 64, 8)]
    said = judge(
        "lossless.watchdog_missing",
        {
            "role": "leaf",
            "fabric": ROCE,
            "groups": {"compute": ports},
            "facts": {
                "qos_port@configured": {
                    "columns": ["pfc_priorities", "pfc_to_queue"],
                    "rows": [{"port": port, "pfc_priorities": [3, 4]} for port in ports],
                },
                "queue@configured": {"columns": ["watchdog_enabled"], "rows": []},
            },
        },
    )
    assert len(said) == 8
    assert {(item["verdict"], item["expected"], item["observed"]) for item in said.values()} == {
        ("fail", "PFC watchdog on every queue with PFC", "no watchdog on queue 3")
    }


@pytest.mark.parametrize(
    ("rule", "params"),
    [
        (ecn_out_of_range, {"min_bytes": [1, 2], "why": "tested"}),
        (ecn_out_of_range, {"max_bytes": [1, 2], "probability": [0.05, 0.1]}),
        (xoff_xon_ratio, {"xoff": [0.1, 0.15], "xon": [0.05, 0.08]}),
    ],
)
def test_ranges_are_pairs_under_known_names(rule, params):
    adapter = TypeAdapter(rule.params_type)
    adapter.validate_python(params)
    for bad in ({"minimum": [1, 2]}, {next(iter(params)): [1]}, {next(iter(params)): 5}):
        with pytest.raises(ValidationError):
            adapter.validate_python(bad)


def causes_of(facts, ports, *rules):
    """The causes that these rules find on a switch whose ports lie in the plane of ROCE."""
    fabric = parse_fabric("planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3}]}}")
    groups = {"compute": frozenset(ports), "in_use": frozenset(ports)}
    subject = Subject("leaf-01", "leaf", "", False, (), fabric, groups, only=rules)
    return gather(judge_device(state({"facts": facts}), subject).findings)[1]


def bound(ports, **row):
    return {
        "qos_port@configured": {
            "columns": ["pfc_priorities", "pfc_to_queue"],
            "rows": [{"port": p, "pfc_priorities": [3]} for p in ports],
        },
        **row,
    }


def test_children_of_one_split_port_are_one_cause_beside_a_port_of_its_own():
    ports = ["Ethernet1", "Ethernet2", "Ethernet3", "Ethernet8"]
    facts = bound(
        ports,
        **{
            "priority_group@configured": {
                "columns": ["lossless", "headroom_bytes", "profile"],
                "rows": [{"port": "Ethernet1", "pg": "3", "lossless": False, "profile": "lossy"}],
            },
            "interface@configured": {
                "columns": ["enabled", "breakout_parent"],
                "rows": [
                    *({"name": port, "breakout_parent": "Ethernet0"} for port in ports[:3]),
                    {"name": "Ethernet8", "enabled": True},
                ],
            },
        },
    )
    causes = causes_of(facts, ports, "lossless.no_headroom")
    assert [(cause.root, len(cause.members), cause.severity) for cause in causes] == [
        ("leaf-01:interface[Ethernet0]", 3, Severity.CRITICAL),
        ("leaf-01:qos_port[Ethernet8]", 1, Severity.CRITICAL),
    ]
    assert all(port in causes[0].title for port in ports[:3])


def test_queues_that_take_their_marking_from_one_profile_are_one_cause():
    ports = ["Ethernet0", "Ethernet8", "Ethernet16"]
    marks = {"ecn_enabled": True, "ecn_min_bytes": 10, "ecn_max_bytes": 20, "ecn_probability": 0.0, "ecn_profile": "SITE"}
    rows = [{"port": port, "queue": "3", **marks} for port in ports[:2]]
    rows.append({"port": ports[2], "queue": "3", **marks, "ecn_probability": 0.1})
    causes = causes_of(bound(ports, **{"queue@configured": {"rows": rows}}), ports, "lossless.ecn_never_marks")
    assert [(cause.root, len(cause.members)) for cause in causes] == [("leaf-01:ecn_profile[SITE]", 2)]


def test_rows_of_one_map_that_lead_astray_are_one_cause():
    ports = ["Ethernet0"]
    facts = {
        "qos_port@configured": {
            "columns": ["dscp_map", "tc_to_queue", "pfc_to_queue"],
            "rows": [{"port": ports[0], "dscp_map": "SITE"}],
        },
        "dscp_map@configured": {"rows": [{"name": "SITE", "dscp": str(dscp), "traffic_class": 3} for dscp in (24, 25, 26, 27)]},
    }
    causes = causes_of(facts, ports, "lossless.other_class_in_lossless_queue")
    assert [(cause.root, len(cause.members), str(cause.severity)) for cause in causes] == [
        ("leaf-01:dscp_map[SITE]", 3, "information")
    ]
