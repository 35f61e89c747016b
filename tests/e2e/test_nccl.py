"""`auditor nccl check` from the command line: exit codes, formats, files that cannot be used, text that is safe to print."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor

HEALTHY = Path(__file__).parents[2] / "fixtures" / "nccl_log" / "two-hosts.log"


def test_a_healthy_job_is_accepted(auditor: Auditor) -> None:
    done = auditor("nccl", "check", str(HEALTHY))
    assert done.code == 0
    assert done.out.startswith("ACCEPTED")
    assert "nothing is wrong" in done.out


def test_a_faulty_host_is_named_with_the_line_that_proves_it(auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "job.log"
    text = re.sub(r"(?m)^(cn-a02\S+ \[1\] .*\[receive\].*)/GDRDMA", r"\1", HEALTHY.read_text())
    file.write_text(text)
    done = auditor("nccl", "check", str(file))
    assert done.code == 1
    assert done.out.startswith("REJECTED: cn-a02\n")
    at = next(number for number, line in enumerate(text.splitlines(), 1) if "receive" in line and "GDRDMA" not in line)
    assert f"{file} · line {at}" in done.out
    assert f"    | {text.splitlines()[at - 1]}" in done.out
    plain = auditor("nccl", "check", str(file), "--format", "json")
    assert plain.code == 1
    assert plain.report["verdict"] == "rejected"
    assert plain.report["report"]["findings"][0]["rule"] == "nccl.gdr_off"


def test_half_of_a_job_is_incomplete(auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "half.log"
    file.write_text("".join(line for line in HEALTHY.open() if line.startswith("cn-a01")))
    done = auditor("nccl", "check", str(file))
    assert done.code == 3
    assert done.out.startswith("INCOMPLETE")
    assert "2 of 4 ranks are in these logs; missing: 2, 3" in done.out


def test_the_report_goes_to_a_file_and_to_other_formats(auditor: Auditor, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    assert auditor("nccl", "check", str(HEALTHY), "--format", "json", "-o", str(target)).code == 0
    assert json.loads(target.read_text())["verdict"] == "accepted"
    assert "<testsuites" in auditor("nccl", "check", str(HEALTHY), "--format", "junit").out


def test_the_mildest_severity_that_fails_is_the_readers_choice(auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "job.log"
    file.write_text(HEALTHY.read_text() + "cn-a01:9100:9140 [0] misc/x.cc:1 NCCL WARN Something odd\n")
    assert auditor("nccl", "check", str(file)).code == 0
    assert auditor("nccl", "check", str(file), "--fail-on", "warning").code == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["absent.log"], "absent.log: cannot be read"),
        ([str(HEALTHY), "--plan", "absent.csv"], "absent.csv: cannot be read"),
        ([str(HEALTHY), "--rail-of", "ibp0"], "give [HOST:]DEVICE=RAIL"),
        ([str(HEALTHY), "--format", "poem"], "no report format 'poem'"),
        (["-", "-"], "standard input can be read once"),
        ([], "Missing argument"),
    ],
)
def test_what_cannot_be_used_is_one_error(auditor: Auditor, words: list[str], said: str) -> None:
    done = auditor("nccl", "check", *words)
    assert done.code == 2
    assert said in done.err
    assert not done.out


def test_what_a_log_says_never_reaches_the_terminal_as_it_stands(auditor: Auditor, tmp_path: Path) -> None:
    file = tmp_path / "evil.log"
    evil = "\x07\x9b31mred\u202egnp\x00"
    file.write_text(
        HEALTHY.read_text().replace("NCCL_IB_HCA set to ibp0,ibp1", f"NCCL_IB_HCA set to ibp0{evil}")
        + f"cn-a01:9100:9140 [0] NCCL INFO NET/IB : Using [7]x{evil}:1/IB [RO]; OOB e:1<0>\n"
        + f"cn-a01:9100:9140 [0] x.cc:1 NCCL WARN {evil}\n"
    )
    for form in ("text", "json"):
        shown = auditor("nccl", "check", str(file), "--format", form).out
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
