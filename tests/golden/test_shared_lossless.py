"""Lossless rules on SONiC boxes of other people: the field case of a split port, default profiles, reference configurations."""

import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor import yamldoc
from auditor.evaluate.causes import gather
from auditor.evaluate.job import run
from auditor.model import Device, DeviceJob, PlanEnd, PlannedPort, PlanSlice, RawOutput, Severity, Verdict, digest
from auditor.plan.fabric import parse_fabric

SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[3] / "shared")
CASE = SHARED / "cases" / "05-breakout-ports-without-headroom"
CAPTURES = SHARED / "captures" / "switch" / "sonic"
FABRIC = parse_fabric(
    "planes: {compute: {classes: [{name: three, dscp: [3], priority: 3}, {name: four, dscp: [4], priority: 4}]}}"
)
BOXES = (
    "msn3700_t1_v1_0_6/config_db_json_buffer_tables.json",
    "msn4600c_c64/qos_json.json",
    "msn4600c_t1_dynamic/buffers_json.json",
    "msn4700_o28/qos_json.json",
    "ut_qos_rendered/config_db_qos_tables.json",
    "vlab_t2_new_dbfmt/config_db_json.json",
    "vlab_t2_old_dbfmt/config_db_json.json",
)
TRUE_THERE = {"lossless.watchdog_missing", "lossless.no_headroom", "lossless.buffer_mode"}
"""Nothing starts the watchdog in those files, and the buffer manager has not made the lossless groups and profiles yet."""

pytestmark = pytest.mark.skipif(not CAPTURES.is_dir() or not CASE.is_dir(), reason="no captures and cases beside the checkout")


def judge(body, ports, *, excerpt=(), only=("lossless.*",)):
    """The outcome of one switch whose ports lie in the plane of FABRIC."""
    output = RawOutput(
        "leaf-09", "sonic", "config_db", "show runningconfiguration all", body, digest(body), datetime(2026, 3, 2, tzinfo=UTC),
        excerpt=tuple(excerpt),
    )  # fmt: skip
    planned = (PlannedPort(port, "compute", "", PlanEnd("gpu", port), "gpu_host", groups=("compute", "in_use")) for port in ports)
    return run(DeviceJob(Device("leaf-09", ("sonic",), role="leaf"), (output,), (), PlanSlice(tuple(planned)), FABRIC, only=only))


def database(file):
    """The tables of a CONFIG_DB file, nested; flat keys `TABLE|key` are taken apart.

    A file without bindings of ports is a part of a database: what marks a whole one is taken out.
    """
    tables = {}
    for name, body in json.loads((CAPTURES / file).read_text()).items():
        table, flat, row = name.partition("|")
        tables.setdefault(table, {}).update({row: body} if flat else body)
    if not tables.get("PORT_QOS_MAP"):
        for table in ("DEVICE_METADATA", "PORT_QOS_MAP"):
            tables.pop(table, None)
    return tables


def ports_of(tables):
    """The ports with PFC; every port where the file holds no row of PORT_QOS_MAP."""
    bound = {key for key, fields in tables.get("PORT_QOS_MAP", {}).items() if fields.get("pfc_enable")}
    lengths = tables.get("CABLE_LENGTH", {}).get("AZURE", {})
    return sorted({port for key in bound or {*tables.get("PORT", {}), *lengths} for port in key.split(",")})


def test_the_field_case_of_a_split_port():
    intent = yamldoc.read(CASE / "intent.yaml").data
    body = (CASE / "leaf-09" / "config_db.json").read_text()
    outcome = judge(body, intent["ports_in_use"], only=("lossless.no_headroom", "lossless.headroom*", "lossless.profile*"))
    found, causes = gather(outcome.findings)
    assert {cause.root: str(cause.severity) for cause in causes} == {
        "leaf-09:interface[Ethernet448]": "critical",
        "leaf-09:interface[Ethernet456]": "critical",
        "leaf-09:interface[Ethernet472]": "error",
    }
    by_port = {finding.object.split("[")[1].rstrip("]"): finding for finding in found}
    assert set(by_port) == {f"Ethernet{number}" for number in (449, 450, 451, 452, 453, 454, 455, 456, 472)}
    group = [by_port[f"Ethernet{number}"] for number in range(449, 456)]
    assert {finding.rule for finding in group} == {"lossless.no_headroom"}
    assert {finding.observed for finding in group} == {
        "priority group 3, 4 is lossy (ingress_lossy_profile)",
        "priority group 3, 4 does not exist",
    }
    for finding in group:
        assert all(f"Ethernet{number}" in finding.message for number in range(449, 456))
        assert "admin_status is missing" in finding.message
        assert finding.evidence
    assert "reserves 0 bytes (pg_lossless_400000_0m_profile)" in by_port["Ethernet456"].message
    assert (by_port["Ethernet472"].rule, by_port["Ethernet472"].expected, by_port["Ethernet472"].observed) == (
        "lossless.profile_for_other_cable", "40 m", "5 m",
    )  # fmt: skip


@pytest.mark.parametrize("file", BOXES)
def test_no_alarm_on_a_reference_box(file):
    tables = database(file)
    excerpt = () if "PORT_QOS_MAP" in tables else ("qos_port", "queue", "dscp_map", "class_map")
    outcome = judge(json.dumps(tables), ports_of(tables), excerpt=excerpt)
    loud = Counter(
        (finding.rule, str(finding.severity))
        for finding in outcome.findings
        if finding.severity.rank <= Severity.WARNING.rank and finding.rule not in TRUE_THERE
    )
    assert loud == {}
    assert all(result.verdict is not Verdict.ERROR for result in outcome.results)


def test_default_profiles_of_every_speed_hold_the_lower_bound():
    tables = database(BOXES[0])
    outcome = judge(json.dumps(tables), ports_of(tables), only=("lossless.headroom_too_small",))
    assert outcome.findings == ()
    assert sum(len(result.passed) for result in outcome.results) >= 50
