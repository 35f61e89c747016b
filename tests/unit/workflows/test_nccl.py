"""`nccl check`: what is accepted, rejected or incomplete; rails by plan and by word; causes, evidence, unreadable input."""

import gzip
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from auditor.checks import rules
from auditor.checks.nccl.log import LOG_RULES
from auditor.errors import SetupError
from auditor.model import RuleKind, Severity
from auditor.workflows import nccl
from auditor.workflows.nccl import Acceptance, Accepted, check, document, summary

HEALTHY = Path(__file__).parents[3] / "fixtures" / "nccl_log" / "two-hosts.log"


@pytest.fixture
def job(tmp_path: Path):
    """The healthy job with some lines changed, checked."""

    def run(*changes: tuple[str, str], drop: str = "", add: str = "", **options: object) -> Accepted:
        text = HEALTHY.read_text()
        for old, new in changes:
            assert re.search(old, text, re.MULTILINE)
            text = re.sub(old, new, text, flags=re.MULTILINE)
        lines = [line for line in text.splitlines() if not drop or not re.search(drop, line)]
        file = tmp_path / "job.log"
        file.write_text("\n".join([*lines, *add.splitlines()]) + "\n")
        return check([str(file)], **options)  # type: ignore[arg-type]

    return run


def told(done: Accepted) -> dict[str, tuple[str, ...]]:
    return {finding.rule: finding.devices for finding in done.run.findings}


def details(done: Accepted) -> str:
    return "\n".join(gap.detail for gap in done.run.gaps)


def plan_of(folder: Path, *lines: str) -> str:
    file = folder / "cables.csv"
    file.write_text("\n".join(["a_device,a_port,b_device,b_port,plane,rail", *lines]) + "\n")
    return str(file)


def test_a_healthy_job_is_accepted() -> None:
    done = check([str(HEALTHY)])
    assert (done.verdict, done.code, done.run.findings, done.run.gaps) == (Acceptance.ACCEPTED, 0, (), ())
    assert done.share.judged == 4
    text = summary(done)
    assert text.startswith("ACCEPTED\n")
    assert "4 ranks on 2 hosts" in text
    assert "0 (0 %) cross rails (by device)" in text


def test_one_file_for_each_rank_says_the_same_as_one_for_all(tmp_path: Path) -> None:
    ranks: dict[str, list[str]] = {}
    for line in HEALTHY.read_text().splitlines():
        ranks.setdefault(line.split(" ")[0], []).append(line)
    files = []
    for number, lines in enumerate(ranks.values()):
        files.append(str(tmp_path / f"rank-{number}.log.gz"))
        Path(files[-1]).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    done = check(files)
    assert len(files) == 4
    assert done.verdict is Acceptance.ACCEPTED
    assert done.share.judged == 4


@pytest.mark.parametrize(
    ("drop", "reason"),
    [
        (r"^cn-a02:\d+:\d+ \[1\]", "3 of 4 ranks are in these logs; missing: 3"),
        (r"^cn-a02:", "2 of 4 ranks are in these logs; missing: 2, 3"),
        (r"Init COMPLETE", "began and said no more"),
        (r"Init (?:START|COMPLETE)|nRanks", "no line names a communicator"),
        (r"\[receive\]", "with one end in these logs"),
        (r"via|Connected", "said nothing of its connections"),
        (r"via NET", "no line says how hosts are connected"),
    ],
)
def test_what_was_not_seen_is_never_passed(job, drop: str, reason: str) -> None:
    done = job(drop=drop)
    assert reason in details(done)
    assert done.verdict is Acceptance.INCOMPLETE
    assert done.code == 3


def test_a_communicator_that_was_never_used_has_no_connections(job) -> None:
    add = "\n".join(
        f"cn-a0{at}:{9100 + gpu + 10 * (at - 1)}:{9140 + gpu + 10 * (at - 1)} [{gpu}] NCCL INFO ncclCommSplit comm 0x99{at}{gpu} "
        f"rank {2 * at + gpu - 2} nranks 4 cudaDev {gpu} nvmlDev {gpu} busId {gpu + 1}a000 commId 0xfeed - Init {state}"
        for at in (1, 2)
        for gpu in (0, 1)
        for state in ("START", "COMPLETE")
    )
    done = job(add=add)
    assert done.verdict is Acceptance.ACCEPTED
    assert len(done.log.communicators) == 2


def test_a_file_without_a_line_of_the_library_is_incomplete(tmp_path: Path) -> None:
    file = tmp_path / "other.log"
    file.write_text("loss 0.1\n" * 10)
    done = check([str(file)])
    assert done.code == 3
    assert "NCCL_DEBUG=INFO" in details(done)


def test_a_cut_file_is_incomplete(tmp_path: Path) -> None:
    file = tmp_path / "cut.log"
    file.write_bytes(HEALTHY.read_bytes()[:-40])
    assert "ends in the middle of line 62" in details(check([str(file)]))


def test_a_broken_archive_is_cut_and_not_a_crash(tmp_path: Path) -> None:
    file = tmp_path / "job.log.gz"
    packed = gzip.compress(HEALTHY.read_bytes())
    file.write_bytes(packed[: len(packed) // 2])
    done = check([str(file)])
    assert done.code == 3
    assert "ends in the middle" in details(done)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(HEALTHY.read_bytes())))
    assert check(["-"]).verdict is Acceptance.ACCEPTED


@pytest.mark.parametrize("name", ["absent.log", "."])
def test_what_cannot_be_read_is_one_clear_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetupError, match=re.escape(str(tmp_path / name))):
        check([str(tmp_path / name)])


def test_a_rank_without_gpudirect_is_named_and_fails_the_job(job) -> None:
    done = job((r"^(cn-a02\S+ \[1\] .*\[receive\].*)/GDRDMA", r"\1"))
    assert told(done) == {"nccl.gdr_off": ("cn-a02",)}
    assert done.offending == ("cn-a02",)
    assert done.code == 1
    (item,) = done.run.findings[0].evidence
    line = HEALTHY.read_text().splitlines()[int(item.locator.removeprefix("line ")) - 1]
    assert item.excerpt == line.removesuffix("/GDRDMA")
    assert item.source.endswith("job.log")


def test_one_direction_without_gpudirect_on_all_ranks_is_how_the_platform_is(job) -> None:
    assert job((r"(\[send\].*)/GDRDMA", r"\1")).verdict is Acceptance.ACCEPTED


def test_no_gpudirect_at_all_is_one_warning_for_the_job(job) -> None:
    done = job((r"/GDRDMA", ""))
    assert [(finding.rule, finding.severity) for finding in done.run.findings] == [("nccl.gdr_off", Severity.WARNING)]
    assert done.code == 0
    assert job((r"/GDRDMA", ""), fail_on=Severity.WARNING).code == 1


def test_a_variable_of_another_value_on_one_host(job) -> None:
    done = job((r"^(cn-a02.*)NCCL_IB_TC set by environment to 104", r"\1NCCL_IB_TC set by environment to 0"))
    assert list(told(done)) == ["nccl.env_differs"]
    assert "NCCL_IB_TC is" in done.run.findings[0].message


def test_the_congestion_bits_of_a_traffic_class_are_no_difference(job) -> None:
    done = job((r"^(cn-a02.*)NCCL_IB_TC set by environment to 104", r"\1NCCL_IB_TC set by environment to 106"))
    assert not done.run.findings


def test_a_variable_that_a_whole_host_never_prints_is_unset_there(job) -> None:
    done = job(drop=r"^cn-a02.*NCCL_IB_TC")
    assert told(done) == {"nccl.env_differs": ("cn-a02",)}
    assert "NCCL_IB_TC is unset, not 104" in done.run.findings[0].message


def test_a_variable_may_be_missing_where_a_host_is_not_whole(job) -> None:
    done = job(drop=r"^cn-a02.*(?:NCCL_IB_TC|Init COMPLETE)")
    assert not done.run.findings


def test_names_of_interfaces_may_differ(job) -> None:
    add = "\n".join(f"cn-a0{at}:77:78 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to bond{at}" for at in (1, 2))
    assert not job(add=add).run.findings


@pytest.mark.parametrize(
    ("setting", "rule"),
    [
        ("NCCL_IGNORE_NET_MISMATCH set by environment to 1.", "nccl.checks_disabled"),
        ("NCCL_TOPO_FILE set by environment to /srv/job/topo.xml", "nccl.pinned_topology_file"),
        ("NCCL_GRAPH_FILE set by environment to /srv/job/graph.xml", "nccl.pinned_topology_file"),
        ("Loading topology file /srv/job/topo.xml", "nccl.pinned_topology_file"),
    ],
)
def test_settings_that_hide_faults(job, setting: str, rule: str) -> None:
    add = "\n".join(f"cn-a0{at}:9{at}00:1 [0] NCCL INFO {setting}" for at in (1, 2))
    done = job(add=add)
    assert set(told(done)) == {rule}
    assert done.code == 0, "warnings"


@pytest.mark.parametrize(
    "setting",
    [
        "NCCL_IGNORE_NET_MISMATCH set by environment to 0.",
        "NCCL_TOPO_FILE set by environment to /opt/microsoft/ndv5-topo.xml",
        "Loading topology file /var/run/nvidia-topologyd/virtualTopology.xml",
    ],
)
def test_settings_that_hide_nothing(job, setting: str) -> None:
    assert not job(add="\n".join(f"cn-a0{at}:9{at}00:1 [0] NCCL INFO {setting}" for at in (1, 2))).run.findings


def test_a_lost_adapter_is_the_cause_of_what_follows_from_it(job) -> None:
    done = job(
        (r"^(cn-a02.*) \[1\]ibp1:1/RoCE", r"\1"),
        (r"^(cn-a02\S+ \[1\] .*\[receive\].*)NET/IB/1/GDRDMA", r"\1NET/IB/0"),
        (r"^(cn-a02\S+ \[1\] .*\[send\].*)NET/IB/1", r"\1NET/IB/0(2)"),
    )
    assert set(told(done)) == {"nccl.network_devices_differ", "nccl.cross_rail_traffic", "nccl.gdr_off"}
    (cause,) = done.run.causes
    assert cause.kind == "shared"
    assert done.offending == ("cn-a02",)


def test_rails_by_plan_whatever_the_order_of_devices(job, tmp_path: Path) -> None:
    crossed = plan_of(
        tmp_path,
        "cn-a01,ibp0,leaf-1,1,compute,1",
        "cn-a01,ibp1,leaf-2,1,compute,2",
        "cn-a02.example.net,ibp0,leaf-2,2,compute,2",
        "cn-a02.example.net,ibp1,leaf-1,2,compute,1",
    )
    done = job(plan=crossed)
    assert list(told(done)) == ["nccl.cross_rail_traffic"]
    assert done.share.basis == {"plan"}
    assert done.share.crossing == 4
    assert "on rail" in done.run.findings[0].message
    right = plan_of(
        tmp_path,
        "leaf-1,1,cn-a01,ibp0/1,compute,1",
        "leaf-2,1,cn-a01,ibp1/1,compute,2",
        "leaf-1,2,cn-a02,ibp0/1,compute,1",
        "leaf-2,2,cn-a02,ibp1/1,compute,2",
    )
    assert job(plan=right).verdict is Acceptance.ACCEPTED


def test_a_plan_finds_devices_by_pci_address_where_the_log_tells_it(job, tmp_path: Path) -> None:
    line = r"NET/IB: [0] ibp0:uverbs0:1/RoCE provider=Mlx5 speed=400000 pciPath=/sys/devices/pci0000:10/0000:1a:00.0 ar=0"
    other = line.replace("[0] ibp0:uverbs0", "[1] ibp1:uverbs1").replace("1a:00.0", "2b:00.0")
    add = "\n".join(
        f"cn-a0{at}:{9100 + gpu + 10 * (at - 1)}:1 [{gpu}] NCCL INFO {text}"
        for at in (1, 2)
        for gpu in (0, 1)
        for text in (line, other)
    )
    plan = plan_of(
        tmp_path,
        *(f"cn-a0{at},0000:{bus}:00.0,leaf-{rail},{at},compute,{rail}" for at in (1, 2) for rail, bus in ((1, "1A"), (2, "2b"))),
    )
    done = job(add=add, plan=plan)
    assert done.verdict is Acceptance.ACCEPTED
    assert done.share.basis == {"plan"}


def test_a_plan_that_names_no_device_of_the_log_judges_nothing(job, tmp_path: Path) -> None:
    done = job(plan=plan_of(tmp_path, "cn-a01,enp26s0np0,leaf-1,1,compute,1"))
    assert done.verdict is Acceptance.INCOMPLETE
    assert "no rail is given for ibp0" in details(done)
    assert "enp26s0np0" in details(done)


def test_rails_by_word_come_before_the_plan(job, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, *(f"cn-a0{at},ibp{nic},leaf-{nic},{at},compute,{nic}" for at in (1, 2) for nic in (0, 1)))
    assert job(plan=plan).verdict is Acceptance.ACCEPTED
    done = job(plan=plan, rail_of=["cn-a02:ibp1=7"])
    assert done.share.crossing == 2
    assert job(rail_of=["ibp0=1", "ibp1=2"]).verdict is Acceptance.ACCEPTED


@pytest.mark.parametrize("pair", ["ibp0", "=1", "ibp0=", "host:=1"])
def test_rails_that_are_no_pairs_are_refused(pair: str) -> None:
    with pytest.raises(SetupError, match="HOST"):
        check([str(HEALTHY)], rail_of=[pair])


def test_crossings_that_are_allowed_are_told_and_no_finding(job) -> None:
    add = "\n".join(f"cn-a0{at}:9{at}00:1 [0] NCCL INFO NCCL_CROSS_NIC set by environment to 1." for at in (1, 2))
    done = job((r"^(cn-a02\S+ \[1\] .*)NET/IB/1", r"\1NET/IB/0"), add=add)
    assert done.verdict is Acceptance.ACCEPTED
    assert "2 (50 %) cross rails" in summary(done)
    assert "NCCL_CROSS_NIC=1 allows 2 of them" in summary(done)


def test_a_rule_that_crashes_makes_the_check_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(log: object, context: object) -> None:
        raise ValueError("odd")

    monkeypatch.setattr(nccl, "LOG_RULES", (SimpleNamespace(id="nccl.odd", function=broken, severity=Severity.ERROR, remedy=""),))
    done = check([str(HEALTHY)])
    assert done.code == 3
    assert done.run.results[0].reason == "ValueError: odd"


def test_the_document_holds_the_report_as_every_check_writes_it(job) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from auditor.report.json import schema

    done = job((r"^(cn-a02\S+ \[1\] .*\[receive\].*)/GDRDMA", r"\1"))
    plain = document(done)
    jsonschema.validate(plain["report"], schema())
    assert (plain["schema"], plain["verdict"], plain["offending_hosts"]) == ("auditor.nccl/1", "rejected", ["cn-a02"])
    assert plain["job"]["rings"] == 2
    assert plain["job"]["rings_that_return"] == 0
    assert plain["connections"]["gpu_direct"] == {"with": 7, "without": 1}
    assert plain["hosts"][0]["devices"][1]["name"] == "ibp1"


def test_rules_of_logs_are_registered_or_share_their_name_with_a_rule_of_devices() -> None:
    known = rules()
    for rule in LOG_RULES:
        assert rule.kind is RuleKind.LOG
        assert rule.doc
        assert rule.remedy
        assert known[rule.id] is rule or known[rule.id].kind is not RuleKind.LOG
        if known[rule.id] is not rule:
            assert known[rule.id].severity is rule.severity
    assert {rule.id for rule in known.values() if rule.kind is RuleKind.LOG} <= {rule.id for rule in LOG_RULES}
