"""Bad input: one clear message with file and line, or device and command; the right exit code; the rest unharmed."""

import io
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import Auditor, Pod

LEAF = "baselines/pod-leaf/1.0.0.yaml"

DOCUMENTS = {
    "unknown setting": ("auditor.yaml", "+nosuch: 3\n", r"auditor\.yaml:\d+: .*'nosuch'"),
    "setting of another type": ("auditor.yaml", "+peer_max_age: [3]\n", r"auditor\.yaml:\d+: peer_max_age"),
    "settings that are no YAML": ("auditor.yaml", "+store: {\n", r"auditor\.yaml:\d+: not YAML"),
    "settings that are a list": ("auditor.yaml", "- a\n- b\n", r"auditor\.yaml:1: must be a mapping"),
    "settings that are no text": ("auditor.yaml", b"\xff\xfe\x00", r"auditor\.yaml: is not UTF-8"),
    "unknown key of fabric": ("fabric.yaml", "+nosuch: 1\n", r"fabric\.yaml:\d+: nosuch"),
    "a key that stands twice": ("fabric.yaml", "+planes: 1\n", r"fabric\.yaml:\d+: key 'planes' stands twice"),
    "unknown key of a baseline": (LEAF, "+x: 1\n", r"1\.0\.0\.yaml:\d+: unknown key 'x'"),
    "unknown address": (LEAF, ("system.os_version", "system.os_vrsion"), r"1\.0\.0\.yaml:\d+: .*did you mean 'os_version'"),
    "unknown table": (LEAF, ("system.os_version", "sistem.os_version"), r"1\.0\.0\.yaml:\d+: .*sistem"),
    "value of another type": (LEAF, ("eq: rs", "eq: [1]"), r"1\.0\.0\.yaml:\d+: eq: interface\.fec"),
    "unknown operator": (LEAF, ("eq: rs", "eqq: rs"), r"1\.0\.0\.yaml:\d+: unknown key 'eqq'"),
    "unknown severity": (LEAF, ("severity: error", "severity: fatal"), r"1\.0\.0\.yaml:\d+: no severity 'fatal'"),
    "baseline that is not there": (LEAF, ("roce-leaf@1.0.0", "none@1.0.0"), r"1\.0\.0\.yaml:\d+: there is no baseline none@1"),
    "port used twice": ("plan/plan.csv", "again", r"plan\.csv:66: .*"),
    "line that is too short": ("plan/plan.csv", "+leaf-01,Ethernet0\n", r"plan\.csv:66: has 2 fields"),
    "plan that is no text": ("plan/plan.csv", b"+\xff\xfe,a,b,c\n", r"plan\.csv:66: is not UTF-8"),
    "plan without its header": ("plan/plan.csv", "a,b\n1,2\n", r"plan\.csv:1: column 'a_device' is missing"),
    "plan that is empty": ("plan/plan.csv", "", r"plan\.csv: is empty"),
    "device that stands twice": ("inventory/hosts.yaml", "+leaf-01:\n  hostname: x\n", r"hosts\.yaml:\d+: key 'leaf-01'"),
    "unknown key of a device": ("inventory/hosts.yaml", "+new-01:\n  hostnam: x\n", r"hosts\.yaml:\d+: unknown key 'hostnam'"),
    "unknown group": ("inventory/hosts.yaml", "+n:\n  hostname: x\n  groups: [nogroup]\n", r"hosts\.yaml:\d+: unknown group"),
    "unknown platform": ("inventory/hosts.yaml", "+n:\n  hostname: x\n  platform: sonicx\n", r"hosts\.yaml:\d+: .*'sonic'"),
    "path as device name": ("inventory/hosts.yaml", '+"../e":\n  hostname: x\n', r"hosts\.yaml:\d+: device name"),
    "escape as device name": ("inventory/hosts.yaml", '+"e\\e[31m":\n  hostname: x\n', r"hosts\.yaml:\d+: .*name"),
    "waiver without an end": ("baselines/waivers.yaml", "waivers:\n  - {rule: a, object: b, owner: x}\n", r"waivers\.yaml:2"),
}  # fmt: skip


def spoil(file: Path, change: str | bytes | tuple[str, str]) -> None:
    """Append what begins with `+`, put another text, or replace a word."""
    if change == "again":
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join([*lines, lines[1]]))
    elif isinstance(change, tuple):
        text = file.read_text()
        assert change[0] in text
        file.write_text(text.replace(*change))
    else:
        body = change if isinstance(change, bytes) else change.encode()
        file.write_bytes((file.read_bytes() if body.startswith(b"+") else b"") + body.removeprefix(b"+"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_wrong_document_is_told_with_its_file_and_line(auditor: Auditor, pod: Pod, name: str) -> None:
    file, change, told = DOCUMENTS[name]
    capture = pod.capture("clean", 1, ["leaf-01"])
    spoil(pod.folder / file, change)
    answer = auditor("-C", str(pod.folder), "check", "--from", capture)
    assert answer.code == 2
    assert answer.out == ""
    assert re.search(told, answer.err), answer.err
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err
    assert "\x1b" not in answer.err
    assert len(answer.err.splitlines()) <= 4
    assert not (pod.folder / "auditor.db").exists()


WORDS = {
    "rule that is not there": (["--only", "mtux.*"], "--only 'mtux.*' matches no rule"),
    "format that is not there": (["--format", "yaml"], "no report format 'yaml'"),
    "folder that is not there": (["-o", "/nowhere/at/all.txt"], "/nowhere/at/all.txt"),
    "device that is not there": (["--device", "nosuch*"], "no device matches 'nosuch*'"),
    "rack that is not there": (["--rack", "R99"], "R99"),
    "plan that is not there": (["--plan", "none.csv"], "none.csv"),
    "baseline that is not there": (["--baseline", "none@1.0.0"], "none@1.0.0"),
    "baseline that is no name": (["--baseline", "@@"], "@@"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_a_wrong_word_on_the_command_line_ends_with_two_before_anything_is_done(auditor: Auditor, pod: Pod, name: str) -> None:
    words, told = WORDS[name]
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("clean", 1, ["leaf-01"]), *words)
    assert answer.code == 2
    assert told in answer.err
    assert answer.out == ""
    assert not (pod.folder / "auditor.db").exists()


@pytest.mark.parametrize(
    "words",
    [["check"], ["scan"], ["capture", "x"], ["findings", "list"], ["runs", "list"], ["db", "info"], ["inventory", "test"]],
)
def test_outside_a_project_every_command_says_so(auditor: Auditor, tmp_path: Path, words: list[str]) -> None:
    answer = auditor("-C", str(tmp_path), *words)
    assert answer.code == 2
    assert "is no project folder: it has no auditor.yaml" in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["none", "plan/plan.csv", "inventory"])
def test_what_is_no_capture_is_said(auditor: Auditor, pod: Pod, name: str) -> None:
    answer = auditor("-C", str(pod.folder), "check", "--from", str(pod.folder / name))
    assert answer.code == 2
    assert name in answer.err


def test_a_device_that_only_the_plan_knows_is_said_and_its_links_are_not_called_proven(auditor: Auditor, pod: Pod) -> None:
    plan = pod.folder / "plan" / "plan.csv"
    plan.write_text(plan.read_text().replace("gpu-04", "gpu-99"))
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("clean", 1))
    assert "the plan names gpu-99, which is not in the inventory: 8 links counted as not built yet" in answer.out
    assert "56 proven, 8 not yet" in answer.out


def test_an_expired_waiver_hides_nothing_and_is_said(auditor: Auditor, pod: Pod) -> None:
    (pod.folder / "baselines" / "waivers.yaml").write_text(
        'waivers:\n  - {rule: "mtu.*", object: "*", owner: net, reason: old cable, expires: 2020-01-01}\n'
    )
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("faulty", 1), "--format", "json")
    assert answer.code == 1
    assert {finding["rule"] for finding in answer.report["findings"] if finding["waiver"] is None} >= {"mtu.compute"}
    assert any("waiver" in finding["rule"] for finding in answer.report["findings"])


# captures


def listing(capture: str, device: str, change: tuple[str, str]) -> None:
    file = Path(capture) / device / "device.yaml"
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change, 1))


@pytest.mark.parametrize(
    "change",
    [
        ('"file": "show_version.txt"', '"file": "../gpu-01/uname_n.txt"'),
        ('"file": "show_version.txt"', '"file": "/etc/passwd"'),
        ("outputs:", "outputs: 3\nx:"),
        ("outputs:", "nosuch: 3\noutputs:"),
        ('"exit": 0', '"exit": many'),
    ],
)
def test_a_wrong_listing_of_a_capture_is_told_with_file_and_line(auditor: Auditor, pod: Pod, change: tuple[str, str]) -> None:
    capture = pod.capture("clean", 1)
    listing(capture, "leaf-01", change)
    answer = auditor("-C", str(pod.folder), "check", "--from", capture)
    assert answer.code == 2
    assert re.search(r"leaf-01/device\.yaml:\d+: ", answer.err), answer.err


def test_a_listed_file_that_is_a_link_is_not_followed(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 1)
    file = pod.output(capture, "leaf-01", "show version")
    file.unlink()
    file.symlink_to("/etc/passwd")
    answer = auditor("-C", str(pod.folder), "check", "--from", capture)
    assert answer.code == 2
    assert "is no plain file of this folder" in answer.err


def test_a_missing_file_is_a_gap_that_names_it(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 1)
    pod.output(capture, "leaf-01", "show version").unlink()
    answer = auditor("-C", str(pod.folder), "check", "--from", capture)
    assert answer.code == 3
    assert "leaf-01" in answer.out
    assert "show_version.txt: No such file or directory" in answer.out


def test_a_capture_of_another_platform_says_nothing_of_the_device(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 1)
    for device, platform in (("leaf-01", "linux"), ("gpu-01", "sonic")):
        file = Path(capture) / device / "device.yaml"
        file.write_text(re.sub(r"^- (sonic|linux)$", f"- {platform}", file.read_text(), flags=re.MULTILINE))
    answer = auditor("-C", str(pod.folder), "check", "--from", capture, "--format", "json")
    assert answer.code == 3
    accused = {finding["rule"] for finding in answer.report["findings"]}
    assert accused <= {"collection.partial", "collection.unreachable", "cabling.not_proven"}, accused
    assert {"leaf-01", "gpu-01"} <= {gap["device"] for gap in answer.report["gaps"] if gap["reason"] != "unsupported"}


def test_an_unknown_platform_of_a_capture_is_one_gap_with_file_and_line(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 1)
    listing(capture, "leaf-01", ("- sonic", "- nosuch"))
    answer = auditor("-C", str(pod.folder), "check", "--from", capture)
    assert answer.code == 3
    assert re.search(r"leaf-01/device\.yaml:\d: unknown platform 'nosuch'", answer.out)


def pack(file: Path, name: str, body: bytes = b"x\n", **more: object) -> Path:
    with tarfile.open(file, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(body)
        for key, value in more.items():
            setattr(member, key, value)
        archive.addfile(member, io.BytesIO(body))
    return file


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("/etc/evil", {}),
        ("a/../../evil", {}),
        ("leaf-01/x", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd", "size": 0}),
        ("leaf-01/x", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd", "size": 0}),
        ("leaf-01/x", {"type": tarfile.FIFOTYPE, "size": 0}),
        ("leaf\x1b[31m/x", {}),
        ("/".join("a" * 200) + "/x", {}),
    ],
)
def test_an_archive_that_attacks_is_refused_by_name(
    auditor: Auditor, pod: Pod, tmp_path: Path, name: str, more: dict[str, object]
) -> None:
    archive = pack(tmp_path / "evil.tar.gz", name, **more)
    answer = auditor("-C", str(pod.folder), "check", "--from", str(archive))
    assert answer.code == 2
    assert "evil.tar.gz: member" in answer.err
    assert "\x1b" not in answer.err


@pytest.mark.parametrize("body", ["zeros", "rows"])
def test_an_output_of_200_megabytes_costs_bounded_memory_and_is_a_gap(pod: Pod, body: str) -> None:
    capture = pod.capture("clean", 1, ["leaf-01"])
    flood = pod.output(capture, "leaf-01", "show interfaces status")
    row = flood.read_bytes().splitlines(keepends=True)[-1]
    with flood.open("ab") as stream:
        for _ in range(17 * 1024**2 // (len(row) * 1000) if body == "rows" else 1):
            stream.write(row * 1000)
        stream.truncate(200 * 1024**2)  # the rest is a hole: no disk is used
    words = ["check", "--no-store", "--from", capture, "--device", "leaf-01", "--format", "json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "auditor", "-C", str(pod.folder), *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    report = json.loads(process.stdout.read())
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 3
    assert used.ru_maxrss < 600 * 1024, "kilobytes"
    reasons = {gap["reason"] for gap in report["gaps"] if gap["source"] == "interfaces_status"}
    assert reasons & {"truncated", "unparsed"}
    assert report["coverage"]["results"]["pass"] > 50, "the other answers of the device are judged"


# the store


def test_a_store_that_cannot_be_written_ends_with_four(auditor: Auditor, pod: Pod) -> None:
    (pod.folder / "auditor.yaml").write_text("plan: plan/plan.csv\nstore: sqlite:////proc/nowhere/auditor.db\n")
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("clean", 1, ["leaf-01"]), "--device", "leaf-01")
    assert answer.code == 4
    assert "/proc/nowhere" in answer.err
    assert "internal error" not in answer.err


def test_a_store_that_is_no_database_ends_with_four_and_is_left_as_it_is(auditor: Auditor, pod: Pod) -> None:
    file = pod.folder / "auditor.db"
    file.write_bytes(b"my precious notes\n" * 99)
    answer = auditor("-C", str(pod.folder), "check", "--from", pod.capture("clean", 1, ["leaf-01"]), "--device", "leaf-01")
    assert answer.code == 4
    assert "auditor.db" in answer.err
    assert file.read_bytes() == b"my precious notes\n" * 99


@pytest.mark.parametrize("words", [["check"], ["findings", "list"], ["db", "info"], ["db", "upgrade"]])
def test_a_store_of_a_newer_program_ends_with_four(auditor: Auditor, pod: Pod, words: list[str]) -> None:
    folder = str(pod.folder)
    capture = pod.capture("clean", 1, ["leaf-01"])
    auditor("-C", folder, "check", "--from", capture, "--device", "leaf-01")
    with sqlite3.connect(pod.folder / "auditor.db") as database:
        database.execute("update auditor_version set version_num = '9999'")
    database.close()
    more = ["--from", capture, "--device", "leaf-01"] if words == ["check"] else []
    answer = auditor("-C", folder, *words, *more)
    assert answer.code == 4
    assert "newer version" in answer.err


# the way it ends


def test_two_checks_at_once_both_end_and_tell_the_same(pod: Pod) -> None:
    capture = pod.capture("faulty", 1)
    words = [sys.executable, "-m", "auditor", "-C", str(pod.folder), "check", "--from", capture, "--format", "json"]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    (one, _), (other, _) = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [1, 1]
    prints = [{finding["fingerprint"] for finding in json.loads(out)["findings"]} for out in (one, other)]
    assert prints[0] == prints[1] != set()


@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_a_check_that_was_ended_in_the_middle_can_be_run_again(auditor: Auditor, pod: Pod, name: str) -> None:
    import signal

    capture = pod.capture("clean", 1)
    words = [sys.executable, "-m", "auditor", "-C", str(pod.folder), "check", "--from", capture]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (pod.folder / "raw").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.Signals[name])
    _, err = process.communicate(timeout=30)
    assert "Traceback" not in err
    if process.returncode != 0:  # it may have been done before the signal came
        assert process.returncode == (130 if name == "SIGINT" else -9)
    assert auditor("-C", str(pod.folder), "check", "--from", capture).code == 0


def test_a_reader_who_goes_away_does_not_make_a_faulty_pod_clean(pod: Pod) -> None:
    capture = pod.capture("faulty", 1)
    words = [sys.executable, "-m", "auditor", "-C", str(pod.folder), "check", "--no-store", "--from", capture, "--format", "json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_report_is_whole_or_not_there(auditor: Auditor, pod: Pod, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    words = ("-C", str(pod.folder), "check", "--no-store", "--from", pod.capture("faulty", 1), "--format", "json", "-o")
    assert auditor(*words, str(file)).code == 1
    assert json.loads(file.read_text())["schema"] == "auditor.report/1"
    assert [found.name for found in tmp_path.iterdir() if found.name.startswith("report")] == ["report.json"]


def test_help_answers_at_once() -> None:
    best = min(_seconds("--help") for _ in range(3))
    assert best < 0.3


def _seconds(*words: str) -> float:
    """Seconds of processor time that a command takes: what it does, not what the machine does beside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "auditor", *words], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
