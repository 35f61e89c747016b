"""The chain on SONiC boxes of other people: what their maps, trust, PFC and ECN say is whole."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.checks.hops import hops
from auditor.facts import QosPort
from auditor.model import RawOutput, TrafficClass, digest
from auditor.parse import parse_device
from auditor.platforms import platforms

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[3] / "shared")
SONIC = SHARED / "captures" / "switch" / "sonic"
CLASSES = (TrafficClass("three", (3,), 3, 48), TrafficClass("four", (4,), 4))
TRUE_THERE = {"watchdog", "priority_group", "headroom"}
"""Nothing starts the watchdog in those files, and the buffer manager has not made the lossless groups and profiles yet."""

pytestmark = pytest.mark.skipif(not SONIC.is_dir(), reason="no captures and cases beside the checkout")


def broken(file, classes, *, excerpt=()):
    """(port, direction, cell) of everything that is known to be wrong on the ports with PFC."""
    body = file.read_text()
    at = datetime(2026, 3, 2, tzinfo=UTC)
    output = RawOutput("leaf", "sonic", "config_db", "show runningconfiguration all", body, digest(body), at, excerpt=excerpt)
    state = parse_device("leaf", [output], platforms(), names=["sonic"])
    paused = {row.port: classes for row in state.rows(QosPort).values() if row.pfc_priorities}
    assert paused, "no port has PFC"
    found = hops(state, paused, host=False)
    return {(port, hop.direction, cell.name) for port in found for hop in found[port] for cell in hop.cells if cell.ok is False}


@pytest.mark.parametrize(
    ("file", "excerpt"),
    [
        ("vlab_t2_new_dbfmt/config_db_json.json", ()),
        ("vlab_t2_old_dbfmt/config_db_json.json", ()),
        ("msn4600c_c64/qos_json.json", ("*",)),
        ("msn4700_o28/qos_json.json", ("*",)),
    ],
)
def test_no_map_trust_pfc_or_ecn_of_a_reference_box_breaks_the_chain(file, excerpt):
    assert {cell for _, _, cell in broken(SONIC / file, CLASSES, excerpt=excerpt)} <= TRUE_THERE


def test_the_switch_of_the_field_case_of_the_traffic_class_agrees_with_the_intent():
    file = SHARED / "cases" / "02-nccl-traffic-class-outside-lossless" / "leaf-02" / "config_db.json"
    assert broken(file, (TrafficClass("rdma", (46,), 5),), excerpt=("*",)) == set()
