"""Rules about GPUs, kernel and services of a host: what their intent may say, and what becomes one cause or no gap."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from auditor.address import Layer
from auditor.checks.host import iommu, kernel_parameter, module_missing, service_unexpected
from auditor.evaluate import causes, device, findings
from auditor.facts import Gpu
from auditor.model import Baseline, Fabric, Gap, GapReason, Origin, State

AT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def judge(state, only, params=None):
    subject = device.Subject(
        device="gpu-1", role="gpu_host", hardware_model="M", host=True, fabric=Fabric(), groups={}, only=only,
        baselines=(Baseline(profile="p", version="1.0.0", digest="0", params=params or {}),),
    )  # fmt: skip
    return device.judge(state, subject)


def gpus(*rows, gaps=()):
    columns = ("fabric_state", "fabric_status", "nvlinks_up", "model")
    origins = {(Gpu, Layer.APPLIED, column): (Origin("nvidia_smi", "0" * 64),) for column in columns} if rows else {}
    tables = {(Gpu, Layer.APPLIED): {row.key: row for row in rows}} if rows else {}
    return State("gpu-1", AT, tables, origins, tuple(gaps))


@pytest.mark.parametrize(
    ("rule", "params", "words"),
    [
        (kernel_parameter, [{"name": "a", "why": "w"}], "exactly one"),
        (kernel_parameter, [{"name": "a", "eq": "1", "absent": True, "why": "w"}], "exactly one"),
        (kernel_parameter, [{"name": "a", "eq": "1"}], "why"),
        (kernel_parameter, [{"name": "a", "equals": "1", "why": "w"}], "equals"),
        (module_missing, [{"names": [], "why": "w"}], "names"),
        (module_missing, [{"names": ["a"]}], "why"),
        (service_unexpected, [{"unit": "a", "state": "enabled", "why": "w"}], "unit"),
        (service_unexpected, [{"unit": "a.service", "state": "off", "why": "w"}], "state"),
        (service_unexpected, [{"unit": "a.service", "state": "enabled", "why": ""}], "why"),
        (iommu, {}, "why"),
        (iommu, {"mode": "pt", "why": "w"}, "mode"),
    ],
)
def test_a_wish_without_a_reason_or_with_an_unknown_word_is_refused(rule, params, words):
    with pytest.raises(ValidationError, match=words):
        TypeAdapter(rule.params_type).validate_python(params)


def test_without_intent_nothing_is_judged():
    wanting = ("host.kernel_parameter", "host.iommu", "host.module_missing", "host.service_unexpected")
    judged = judge(gpus(), wanting)
    assert {result.rule: str(result.verdict) for result in judged.results} == dict.fromkeys(wanting, "not_applicable")
    assert not judged.gaps


def test_eight_gpus_that_wait_for_their_fabric_are_one_cause():
    waiting = [Gpu(pci=f"0000:{bus}0:00.0", fabric_state="in progress") for bus in range(8)]
    judged = judge(gpus(*waiting), ("host.gpu_fabric_failed",))
    assert len(judged.findings) == 8
    assert len(causes.gather(judged.findings)[1]) == 1


def test_a_gpu_outside_its_fabric_and_without_links_is_one_cause():
    fine = [
        Gpu(pci=f"0000:{bus}0:00.0", model="M", fabric_state="completed", fabric_status="success", nvlinks_up=18)
        for bus in range(3)
    ]
    bad = Gpu(pci="0000:a0:00.0", model="M", fabric_state="completed", fabric_status="insufficient resources", nvlinks_up=0)
    judged = judge(gpus(*fine, bad), ("host.gpu_fabric_failed", "host.nvlinks_differ"))
    assert sorted(finding.rule for finding in judged.findings) == ["host.gpu_fabric_failed", "host.nvlinks_differ"]
    assert len(causes.gather(judged.findings)[1]) == 1


def test_an_idle_gpu_is_not_judged_for_it():
    idle = Gpu(
        pci="0000:a0:00.0", fabric_state="completed", fabric_status="success", performance_state="P8", link_speed=2_500_000_000
    )
    assert not judge(gpus(idle), ("host.gpu_fabric_failed", "host.nvlinks_differ")).findings


@pytest.mark.parametrize(("reason", "incomplete"), [(GapReason.UNSUPPORTED, False), (GapReason.REJECTED, True)])
def test_a_host_without_gpus_is_complete_and_one_whose_driver_fails_is_not(reason, incomplete):
    gap = Gap("gpu-1", "gpu", "nvidia_smi", reason, "said", Layer.APPLIED, columns=("fabric_state", "fabric_status"))
    judged = judge(gpus(gaps=(gap,)), ("host.gpu_fabric_failed", "host.nvlinks_differ"))
    assert any(findings.counts_as_incomplete(found) for found in judged.gaps) is incomplete
    assert not judged.findings
