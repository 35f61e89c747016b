"""A field case, in the hosts' own words: cards limited by their slots are fine, two links are really degraded."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.checks import rules
from auditor.evidence import Place, find
from auditor.model import RawOutput, RuleContext, RuleKind, Verdict, digest
from auditor.parse import parse_device
from auditor.platforms import platforms

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[3] / "shared"))
CASE = SHARED / "cases" / "11-pcie-slot-limit-is-not-degradation"
pytestmark = pytest.mark.skipif(not CASE.is_dir(), reason="the field cases are not beside the checkout")

FILES = {"lspci": "lspci_-vv.txt", "lspci_tree": "lspci_-t.txt", "nvidia_smi_query": "nvidia-smi_pcie.csv"}
RULE = rules()["host.pcie_degraded"]


def outputs(device):
    for source, file in FILES.items():
        path = CASE / device / file
        if path.is_file():
            body = path.read_text()
            yield RawOutput(device, "linux", source, file, body, digest(body), datetime(2026, 9, 1, tzinfo=UTC), excerpt=("*",))


def judge(device, rule=RULE):
    state = parse_device(device, list(outputs(device)), platforms())
    return {str(item.object): item for item in rule.function(state, RuleContext(role="gpu_host"))}


def test_two_links_are_degraded_and_each_is_one_finding_at_its_lower_end():
    failed = {name: item.deviation for name, item in judge("gpu-42").items() if item.verdict is Verdict.FAIL}
    assert set(failed) == {"pci[0000:5b:00.0]", "pci[0000:9b:00.0]"}
    slow, narrow = failed["pci[0000:5b:00.0]"], failed["pci[0000:9b:00.0]"]
    assert (slow.expected, slow.observed, str(slow.severity)) == ("32 GT/s", "16 GT/s", "error")
    assert (narrow.expected, narrow.observed, str(narrow.severity)) == ("x16", "x8", "error")
    assert slow.message == (
        "the PCI link from 0000:5a:00.0 down to the NIC 0000:5b:00.0 runs at 16 GT/s, both ends can do 32 GT/s"
    )
    assert "from 0000:9a:00.0 down to the NIC 0000:9b:00.0 runs at x8" in narrow.message


def test_both_ends_prove_it_with_a_line_of_the_output():
    deviation = judge("gpu-42")["pci[0000:5b:00.0]"].deviation
    body = (CASE / "gpu-42" / FILES["lspci"]).read_text()
    shown = [
        find(Place(spot, value, "linux", "lspci", digest(body)), platforms(), {digest(body): body}.get).excerpt
        for spot, value in zip(deviation.spots, (16_000_000_000, 32_000_000_000, 32_000_000_000), strict=True)
    ]
    assert shown[0].startswith("5b:00.0 Ethernet controller") and "LnkSta:\tSpeed 16GT/s (downgraded)" in shown[0]
    assert shown[1].startswith("5b:00.0 Ethernet controller") and "LnkCap:\tPort #0, Speed 32GT/s" in shown[1]
    assert shown[2].startswith("5a:00.0 PCI bridge") and "LnkCap:\tPort #0, Speed 32GT/s" in shown[2]


def test_cards_in_slots_that_are_slower_than_they_are_pass():
    said = judge("gpu-41")
    assert {name: item.verdict for name, item in said.items()} == {
        f"pci[0000:{address}]": Verdict.PASS for address in ("17:00.0", "39:00.0", "98:00.0", "c9:00.0")
    }


def test_the_idle_gpu_and_the_port_above_it_are_fine():
    said = judge("gpu-42")
    assert said["pci[0000:5c:00.0]"].verdict is Verdict.PASS
    assert "pci[0000:5a:01.0]" not in said


@pytest.mark.parametrize("device", ["gpu-41", "gpu-42"])
def test_no_other_rule_finds_anything(device):
    others = [rule for rule in rules().values() if rule.kind is RuleKind.DEVICE and not rule.needs_params and rule is not RULE]
    for rule in others:
        if not rule.id.startswith("collection."):
            assert [item for item in judge(device, rule).values() if item.verdict is Verdict.FAIL] == [], rule.id
