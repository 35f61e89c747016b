"""GPUs of one host: what stays unknown, what is absent, which line proves it, and what a broken answer may do."""

import pytest

from auditor import evidence
from auditor.address import Address
from auditor.facts import Gpu
from auditor.model import ABSENT, GapReason, Spot
from auditor.platforms import platforms
from auditor.platforms.linux.gpus import gpu_names
from tests.unit.platforms.answers import told
from tests.unit.platforms.linux_host import cell, output, reason, recorded, state

XML = "nvidia-smi -q -x"
TWO = recorded("nvidia_smi", "schema_12_one_outside_its_fabric")
LOST = recorded("nvidia_smi", "one_gpu_is_lost")


def test_no_part_in_a_fabric_is_an_answer_and_a_driver_that_is_silent_about_it_is_none():
    outside = state((XML, recorded("nvidia_smi", "schema_13_no_fabric")))
    assert cell(outside, "gpu[0001:61:00.0].fabric_state").value is ABSENT
    old = state((XML, recorded("nvidia_smi", "schema_11_without_a_fabric")))
    assert reason(old, "gpu[0000:3b:00.0].fabric_state") is GapReason.UNSUPPORTED


def test_a_gpu_that_is_not_in_a_whole_log_is_not_there():
    whole = state((XML, TWO))
    assert whole.has_row(Address(Gpu.TABLE, ("0000:2b:00.0",))) is False
    part = state((XML, recorded("nvidia_smi", "schema_12_one_of_four_shown")))
    assert part.has_row(Address(Gpu.TABLE, ("0000:2b:00.0",))) is None


def test_a_lost_gpu_keeps_its_place_and_everything_else_of_it_is_unknown():
    seen = state((XML, LOST))
    assert cell(seen, "gpu[0000:db:00.0].index").value == 1
    for column in ("model", "uuid", "fabric_state", "performance_state", "link_speed"):
        assert reason(seen, f"gpu[0000:db:00.0].{column}") is GapReason.REJECTED
    assert reason(seen, 'firmware["gpu.0000:db:00.0.vbios"].version') is GapReason.REJECTED
    assert cell(seen, "gpu[0000:1a:00.0].fabric_status").value == "success"


@pytest.mark.parametrize(
    "words",
    [
        "bash: nvidia-smi: command not found",
        "sh: 1: nvidia-smi: not found",
        "/bin/sh: line 1: nvidia-smi: command not found",
        "timeout: failed to run command 'nvidia-smi': No such file or directory",
    ],
)
def test_a_host_without_the_tool_lacks_nothing(words):
    seen = state((XML, words + "\n"), ("nv-fabricmanager --version", words.replace("nvidia-smi", "nv-fabricmanager") + "\n"))
    assert {gap.reason for gap in seen.gaps if gap.table == "gpu"} == {GapReason.UNSUPPORTED}
    assert reason(seen, "firmware[driver.gpu].version") is GapReason.UNSUPPORTED
    assert reason(seen, "firmware[fabric_manager].version") is GapReason.UNSUPPORTED


def test_missing_tools_hide_nothing_of_other_firmware():
    seen = state(
        (XML, "bash: nvidia-smi: command not found\n"),
        ("nv-fabricmanager --version", "bash: nv-fabricmanager: command not found\n"),
        ("cat /sys/class/dmi/id/bios_version", "2.1.7\n"),
    )
    assert cell(seen, "firmware[bios].version").value == "2.1.7"
    assert all(gap.key for gap in seen.gaps if gap.table == "firmware" and gap.source in ("nvidia_smi", "fabric_manager"))


def test_a_driver_that_fails_counts_as_unseen():
    assert reason(state((XML, recorded("nvidia_smi", "driver_fails"))), "gpu[0000:1a:00.0].model") is GapReason.REJECTED


def test_the_links_are_asked_for_by_the_addresses_of_the_log():
    assert list(gpu_names(TWO)) == ["0000:1a:00.0", "0000:db:00.0"]
    seen = state(
        (XML, TWO), ("nvidia-smi nvlink -s -i 0000:1a:00.0", recorded("nvidia_smi_nvlink", "eighteen_links_one_inactive"))
    )
    assert cell(seen, "gpu[0000:1a:00.0].nvlinks_up").value == 17
    assert cell(seen, "gpu[0000:db:00.0].nvlinks_up").value is None


def test_an_answer_about_several_gpus_is_none_about_one():
    seen = state(("nvidia-smi nvlink -s -i 0000:1a:00.0", recorded("nvidia_smi_by_number", "links_of_two_gpus")))
    assert reason(seen, "gpu[0000:1a:00.0].nvlinks_up") is GapReason.UNPARSED


def test_the_text_form_stands_in_for_the_xml():
    text = recorded("nvidia_smi_text", "two_gpus_of_which_one_waits")
    both = state((XML, TWO), ("nvidia-smi -q", text))
    assert cell(both, "gpu[0000:db:00.0].fabric_state").value == "completed"
    assert cell(state(("nvidia-smi -q", text)), "gpu[0000:db:00.0].fabric_state").value == "in progress"


@pytest.mark.parametrize(
    ("address", "lines", "held"),
    [
        ("gpu[0000:db:00.0].fabric_status", "Insufficient Resources", '<gpu id="00000000:DB:00.0">'),
        ("gpu[0000:db:00.0].model", "<product_name>NVIDIA H200", '<gpu id="00000000:DB:00.0">'),
        ("firmware[gpu.0000:db:00.0.vbios].version", "<vbios_version>96.00.BC.00.02", '<gpu id="00000000:DB:00.0">'),
        ("firmware[driver.gpu].version", "<driver_version>550.127.08", ""),
    ],
)
def test_the_lines_that_prove_a_cell_are_those_of_its_gpu(address, lines, held):
    raw = output(XML, TWO)
    found = cell(state(raw), address)
    place = evidence.Place(Spot("gpu-1", found.address), found.value, "linux", found.origin.source, raw.digest)
    proof = evidence.find(place, platforms(), {raw.digest: raw.body}.get)
    assert lines in proof.excerpt
    assert held in proof.excerpt


def test_amd_gpus_have_their_links_among_each_other():
    seen = state(("amd-smi topology", recorded("amd_topology", "three_gpus_one_pair_over_pcie")))
    assert {key[0]: row.nvlinks_up for key, row in seen.rows(Gpu).items()} == {
        "0000:05:00.0": 1, "0000:26:00.0": 2, "0000:46:00.0": 1,
    }  # fmt: skip


BROKEN = {
    "nvidia_smi": TWO,
    "nvidia_smi_text": recorded("nvidia_smi_text", "two_gpus_of_which_one_waits"),
    "fabric_manager": recorded("fabric_manager", "version"),
}


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_answer_tells_no_lie(source):
    assert told("linux", source, BROKEN[source], endless=source == "fabric_manager") == []
