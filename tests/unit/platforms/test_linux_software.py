"""What the software of a Linux host is told: variables of the collective library, units."""

import pytest

from auditor.address import Address
from auditor.collect.output import Answer, Request, raw_output
from auditor.model import ABSENT, Device, GapReason
from auditor.platforms.linux import PLATFORM
from tests.unit.platforms.linux_host import NOW, cell, reason, recorded, state


def test_a_missing_file_of_the_library_sets_nothing_and_says_nothing_of_a_jobs_file():
    for body in ("", "cat: /etc/nccl.conf: No such file or directory\n"):
        seen = state(("cat /etc/nccl.conf", body))
        assert cell(seen, "nccl_env[/etc/nccl.conf,NCCL_IB_TC].value").value is ABSENT
        assert reason(seen, "nccl_env[nccl_env,NCCL_IB_TC].value") is GapReason.NOT_COLLECTED
        assert seen.has_row(Address.parse("nccl_env[nccl_env,NCCL_IB_TC]")) is None


def test_a_missing_file_is_an_answer_over_a_connection_too():
    device, source = Device("gpu-1", ("linux",)), PLATFORM.source("nccl_conf")
    request = Request(PLATFORM, source, source.command)
    gone = Answer(b"", b"cat: /etc/nccl.conf: No such file or directory\n", 1)
    assert cell(state(raw_output(device, request, gone, NOW)), "nccl_env[/etc/nccl.conf,NCCL_IB_TC].value").value is ABSENT
    locked = Answer(b"", b"cat: /etc/nccl.conf: Permission denied\n", 1)
    seen = state(raw_output(device, request, locked, NOW))
    assert reason(seen, "nccl_env[/etc/nccl.conf,NCCL_IB_TC].value") is GapReason.PERMISSION
    assert reason(seen, "nccl_env[nccl_env,NCCL_IB_TC].value") is GapReason.NOT_COLLECTED


def test_a_variable_that_a_jobs_file_does_not_set_is_absent_there_and_unknown_in_another():
    seen = state(("nccl_env", "NCCL_DEBUG=WARN\n"), ("nccl_env train", "NCCL_IB_TC=98\n"))
    assert cell(seen, "nccl_env[nccl_env,NCCL_IB_TC].value").value is ABSENT
    assert cell(seen, "nccl_env[train,NCCL_IB_TC].value").value == "98"
    assert cell(seen, "nccl_env[train,NCCL_DEBUG].value").value is ABSENT
    assert reason(seen, "nccl_env[eval,NCCL_DEBUG].value") is GapReason.NOT_COLLECTED


def test_after_a_line_that_may_set_anything_nothing_is_absent():
    seen = state(("nccl_env", "NCCL_DEBUG=WARN\nmodule load hpcx\n"))
    assert cell(seen, "nccl_env[nccl_env,NCCL_DEBUG].value").value == "WARN"
    assert reason(seen, "nccl_env[nccl_env,NCCL_IB_TC].value") is GapReason.UNPARSED


@pytest.mark.parametrize(
    "line", ["WANDB_API_KEY=s3cr3t", "export HF_TOKEN='s3cr3t'", "DB_PASSWORD=s3cr3t", "AWS_SECRET_ACCESS_KEY = s3cr3t"]
)
def test_secrets_of_a_jobs_file_are_redacted_before_anything_is_kept(line):
    source = PLATFORM.source("nccl_env")
    answer = Answer(f"NCCL_IB_TC=98\n{line}\nNCCL_DEBUG=WARN\n".encode(), status=0)
    kept = raw_output(Device("gpu-1", ("linux",)), Request(PLATFORM, source, source.command), answer, NOW)
    assert "s3cr3t" not in kept.body
    assert cell(state(kept), "nccl_env[nccl_env,NCCL_DEBUG].value").value == "WARN"


def test_a_unit_that_is_not_listed_is_absent_unless_the_list_was_cut():
    listed = state(("systemctl list-unit-files --type=service", recorded("unit_files", "two_columns")))
    assert cell(listed, "service[lldpad.service].enabled").value == "disabled"
    assert cell(listed, "service[openibd.service].enabled").value is ABSENT
    cut = state(("systemctl list-unit-files --type=service --no-legend --no-pager", recorded("unit_files", "cut")))
    assert reason(cut, "service[openibd.service].enabled") is GapReason.TRUNCATED
