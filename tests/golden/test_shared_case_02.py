"""A field case, in the devices' own words: NCCL marks packets outside the only lossless class of four hosts and a leaf."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor import yamldoc
from auditor.checks import rules
from auditor.model import RawOutput, RuleContext, RuleKind, Verdict, digest
from auditor.parse import parse_device
from auditor.plan.fabric import parse_fabric
from auditor.platforms import platforms

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CASE = SHARED / "cases" / "02-nccl-traffic-class-outside-lossless"
pytestmark = pytest.mark.skipif(not CASE.is_dir(), reason="the field cases are not beside the checkout")

SOURCES = {"nccl_env": {}, "rdma_tclass_all": {}, "mlnx_qos": {"netdev": "eth2"}}
FILES = {"nccl_env": "nccl_env.txt", "rdma_tclass_all": "rdma_traffic_class.txt", "mlnx_qos": "mlnx_qos_-i_eth2.txt"}
RULE = "nccl.traffic_class_not_lossless"


def fabric():
    intent = yamldoc.read(CASE / "intent.yaml").data["fabric"]
    only = {"name": "roce", "dscp": [intent["lossless_dscp"]], "priority": intent["lossless_priority"]}
    return parse_fabric(yamldoc.dump({"planes": {"compute": {"classes": [only]}}}))


def output(device, platform, source, file, parameters):
    body = (CASE / device / file).read_text()
    excerpt = ("*",) if platform == "sonic" else ()
    return RawOutput(
        device, platform, source, file, body, digest(body), datetime(2026, 9, 1, tzinfo=UTC), parameters, excerpt=excerpt
    )


def state(device, without=()):
    if device == "leaf-02":
        outputs = [output(device, "sonic", "config_db", "config_db.json", {})]
    else:
        outputs = [output(device, "linux", key, FILES[key], SOURCES[key]) for key in SOURCES if key not in without]
    return parse_device(device, outputs, platforms())


def judge(rule, device, ports, role, without=()):
    context = RuleContext(fabric=fabric(), groups={"compute": frozenset(ports)}, role=role)
    return list(rules()[rule].function(state(device, without), context))


def host(device, without=()):
    (said,) = judge(RULE, device, ["eth2"], "gpu_host", without)
    return said


def test_a_dscp_written_where_its_class_belongs_is_an_error_beside_the_override():
    deviation = host("gpu-06").deviation
    assert str(deviation.severity) == "error"
    assert (deviation.expected, deviation.observed) == ("DSCP 46", "DSCP 11")
    assert "NCCL_IB_TC=46 (nccl_env) means DSCP 11, which eth2 maps to priority 0 without PFC" in deviation.message
    assert "184 was meant" in deviation.message
    assert "the mlx5 override was seen (tclass 184 on mlx5_0, mlx5_1, mlx5_2, mlx5_3)" in deviation.message
    assert [str(spot) for spot in deviation.spots] == [
        "gpu-06:nccl_env[nccl_env,NCCL_IB_TC].value@configured",
        "gpu-06:host_dscp[eth2,11].priority@applied",
        "gpu-06:rdma_port[mlx5_0,1].global_tclass@applied",
    ]


def test_an_unset_class_is_a_warning_that_names_the_lossless_dscp_and_the_override():
    deviation = host("gpu-04").deviation
    assert str(deviation.severity) == "warning"
    assert "lossless is DSCP 46 (traffic class 184, priority 5)" in deviation.message
    assert "the mlx5 override was seen (tclass 184" in deviation.message
    assert "take class 0, DSCP 0, which eth2 maps to priority 0 without PFC" in deviation.message


@pytest.mark.parametrize("device", ["gpu-05", "gpu-07"])
def test_classes_that_differ_in_their_ecn_bits_alone_are_fine(device):
    assert host(device).verdict is Verdict.PASS


@pytest.mark.parametrize(("device", "severity"), [("gpu-06", "error"), ("gpu-04", "warning")])
def test_an_override_that_was_not_read_is_not_called_missing(device, severity):
    deviation = host(device, without=("rdma_tclass_all",)).deviation
    assert str(deviation.severity) == severity
    assert "whether the mlx5 override is set was not seen" in deviation.message


def test_nothing_is_said_against_the_leaf():
    ports = ("Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24")
    device_rules = [rule.id for rule in rules().values() if rule.kind is RuleKind.DEVICE and not rule.needs_params]
    said = {rule: judge(rule, "leaf-02", ports, "leaf") for rule in device_rules if not rule.startswith("collection.")}
    assert [item for each in said.values() for item in each if item.verdict is Verdict.FAIL] == []
    assert {item.verdict for item in said["lossless.trust_without_dscp"]} == {Verdict.PASS}
    assert said[RULE] == []
