"""Runs to report: one healthy, one with every part filled."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from auditor.address import Layer
from auditor.model import (
    Cause,
    Change,
    Coverage,
    Document,
    DocumentOrigin,
    Evidence,
    Finding,
    Gap,
    GapReason,
    Result,
    Run,
    Severity,
    Verdict,
)

BODY_DIGEST = "c0" * 32


def finding(rule="mtu.compute", object_="leaf-07:interface[Ethernet16]", **more):
    values = {
        "fingerprint": f"{rule}/{object_}",
        "rule": rule,
        "object": object_,
        "severity": Severity.CRITICAL,
        "devices": ("leaf-07",),
        "address": "interface[Ethernet16].mtu@applied",
        "expected": "9100",
        "observed": "1500",
        "message": "MTU 1500 where 9100 is wanted",
        "remedy": "config interface mtu Ethernet16 9100",
        "layer": "applied",
        "cause": "cause-mtu",
        "evidence": (
            Evidence(
                "leaf-07",
                "interface_status",
                "show interfaces status",
                BODY_DIGEST,
                "lines 6-6",
                "  Ethernet16    40,41,42,43     400G   1500    rs   etp3",
                "2031-03-04T05:06:08.123456+00:00",
            ),
        ),
        "origin": DocumentOrigin("roce-leaf", "2.1.0", "baselines/roce-leaf/2.1.0.yaml", 14),
    }
    return Finding(**{**values, **more})


def cause(id_="cause-mtu", *members, **more):
    values = {
        "id": id_,
        "root": "leaf-07:interface[Ethernet16]",
        "kind": "interface",
        "title": "leaf-07 Ethernet16: MTU 1500, wanted 9100",
        "severity": Severity.CRITICAL,
        "members": members or ("mtu.compute/leaf-07:interface[Ethernet16]",),
        "status": "open",
    }
    return Cause(**{**values, **more})


@pytest.fixture
def make_finding():
    return finding


@pytest.fixture
def make_cause():
    return cause


@pytest.fixture
def healthy():
    return Run(
        id="run-1",
        started_at=datetime(2031, 3, 4, 5, 6, 7, tzinfo=UTC),
        finished_at=datetime(2031, 3, 4, 5, 6, 19, 500000, tzinfo=UTC),
        tool_version="0.1.0",
        scope="all 3 devices",
        source="live",
        inputs=(
            Document("baseline", "roce-leaf", "ab" * 32, "baselines/roce-leaf/2.1.0.yaml", "", "roce-leaf", "2.1.0"),
            Document("fabric", "fabric", "cd" * 32, "fabric.yaml", ""),
            Document("plan", "wiring", "ef" * 32, "plan/wiring.csv", ""),
        ),
        coverage=Coverage({"planned": 3, "reached": 3}, {Verdict.PASS: 42}, {"planned": 2, "proven": 2}),
        results=(),
        findings=(),
        causes=(),
        gaps=(Gap("leaf-07", "queue", "", GapReason.UNSUPPORTED, "the applied layer is not readable", Layer.APPLIED),),
    )


@pytest.fixture
def faulty(healthy):
    far = finding(
        "mtu.link_ends_differ",
        "link[gpu-03:ens5|leaf-07:Ethernet16]",
        severity=Severity.ERROR,
        devices=("leaf-07", "gpu-03"),
        address="link[gpu-03:ens5|leaf-07:Ethernet16]",
        message="gpu-03 sends packets of 9000 bytes into a port of 1500",
        origin=DocumentOrigin(),
        remedy="",
    )
    mode = finding(
        "lossless.buffer_mode",
        "leaf-02:buffer",
        severity=Severity.ERROR,
        devices=("leaf-02",),
        address="buffer.model@configured",
        expected="dynamic",
        observed="static",
        message="buffer model static where dynamic is wanted",
        cause="cause-buffer",
        evidence=(),
        layer="configured",
    )
    mirror = finding(
        "collection.unreachable", "leaf-09:*", severity=Severity.INFORMATION, devices=("leaf-09",), cause="c-9", evidence=()
    )
    old = finding("lossless.watchdog_missing", "leaf-09:queue[Ethernet0,3]", status="unverified", cause="", message="no watchdog")
    gone = finding("firmware.os", "leaf-01:system", status="resolved", cause="", message="version 4.4.1 where 4.4.2 is wanted")
    return replace(
        healthy,
        findings=(mode, far, finding(), mirror),
        causes=(
            cause(
                "cause-buffer", mode.fingerprint, root="leaf-02:buffer", title="leaf-02: buffer model", severity=Severity.ERROR
            ),
            cause("cause-mtu", finding().fingerprint, far.fingerprint),
            cause("c-9", mirror.fingerprint, root="leaf-09", title="leaf-09 is unreachable", severity=Severity.INFORMATION),
        ),
        gaps=(*healthy.gaps, Gap("leaf-09", "*", "", GapReason.UNREACHABLE, "connection refused on port 22")),
        changes=(Change("leaf-07", "interface[Ethernet16].mtu", "applied", 9100, 1500),),
        unverified=(old,),
        resolved=(gone,),
        results=(Result("mtu.other", "leaf-01", Verdict.ERROR, reason="KeyError: 'x'"),),
    )
