"""Answers that are none: cut, paged, refused, of another box. What they do not show is unknown, never absent.

Each kind is applied to the answer of every source that the mini-pod holds, one at a time, over otherwise whole answers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from auditor.address import Address
from auditor.collect.capture import CaptureCollector
from auditor.model import Gap, GapReason, Parser, RawOutput, State, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from tests.e2e.conftest import FIXTURE, Auditor, Pod

DEVICES = {"sonic": "leaf-01", "linux": "gpu-01"}


def half_of_the_lines(body: str) -> str:
    lines = body.splitlines(keepends=True)
    return "".join(lines[: max(1, len(lines) // 2)])


def in_the_middle(body: str, text: str) -> str:
    head = half_of_the_lines(body)
    return head + text + body[len(head) :]


@dataclass(frozen=True)
class Kind:
    """One way in which an answer is broken. `gap` False: nothing may be lost by it, but a gap is no fault either."""

    make: Callable[[str], str]
    exit: int | None = 0
    gap: bool = True


KINDS = {
    "cut_in_a_line": Kind(lambda body: body[: len(body) // 2 - 1].rstrip()),
    "cut_near_the_end": Kind(lambda body: body.rstrip()[:-2]),
    "half_a_table": Kind(half_of_the_lines, gap=False),
    "without_its_last_line": Kind(lambda body: "".join(body.rstrip().splitlines(keepends=True)[:-1]), gap=False),
    "only_the_first_line": Kind(lambda body: next(line for line in body.splitlines() if line.strip()) + "\n", gap=False),
    "only_two_lines": Kind(lambda body: "\n".join(body.splitlines()[:2]) + "\n", gap=False),
    "pager_at_the_end": Kind(lambda body: half_of_the_lines(body) + "--More--", gap=False),
    "pager_that_blinks": Kind(lambda body: half_of_the_lines(body).rstrip("\n") + "\n --More-- \b\b\b\x1b[K", gap=False),
    "pager_in_the_middle": Kind(lambda body: in_the_middle(body, "--More--\r        \r"), gap=False),
    "pager_less": Kind(lambda body: half_of_the_lines(body) + "\x1b[7mlines 1-23\x1b[27m\x1b[K", gap=False),
    "shell_error": Kind(lambda _: "-bash: show: command not found\n"),
    "shell_error_of_dash": Kind(lambda _: "sh: 1: show: not found\n"),
    "shell_error_with_status": Kind(lambda _: "-bash: show: command not found\n", exit=127),
    "refused_by_a_switch": Kind(lambda _: "% Invalid input detected at '^' marker.\n"),
    "refused_with_status": Kind(lambda _: "% Invalid input detected at '^' marker.\n", exit=1),
    "refused_by_click": Kind(lambda _: 'Usage: show [OPTIONS] COMMAND [ARGS]...\n\nError: No such command "pfc".\n'),
    "sudo_refused": Kind(lambda _: "sudo: a password is required\n", exit=1),
    "good_text_bad_status": Kind(lambda body: body, exit=1),
    "only_building": Kind(lambda _: "Building configuration...\n"),
    "connection_lost": Kind(lambda _: "Timeout, server not responding.\n"),
    "empty": Kind(lambda _: ""),
    "blank": Kind(lambda _: "\n\n  \n"),
    "binary": Kind(lambda _: "\x7fELF\x02\x01\x01\0\0\0\0\ufffd\ufffd\x00\x01" * 50),
    "binary_behind": Kind(lambda body: half_of_the_lines(body) + "\0\0\0\x01\x02\ufffd" * 20, gap=False),
    "screen_control": Kind(lambda _: "\x1b[2J\x1b[H\x07\x9b31m" * 20),
    "a_path": Kind(lambda _: "/etc/passwd"),
    "another_platform": Kind(lambda _: "Arista DCS-7060DX5-64S-F\nHardware version: 11.01\nSoftware image version: 4.31.2F\n"),
    "crlf": Kind(lambda body: body.replace("\n", "\r\n"), gap=False),
    "doubled": Kind(lambda body: body + body, gap=False),
    "banner": Kind(
        lambda body: "*******\n# Authorised use only. admin@swi:~$ no pfc\n# up 3 days\n*******\n" + body, gap=False
    ),
    "broadcast": Kind(lambda body: in_the_middle(body, "\nBroadcast message from root@swi:\n\nGoing down!\n\n"), gap=False),
    "kernel_log": Kind(lambda body: in_the_middle(body, "[12345.678] mlx5_core 0000:1a:00.0: cable unplugged\n"), gap=False),
}  # fmt: skip


@cache
def recorded(platform: str) -> tuple[RawOutput, ...]:
    """The answers of the platform's device in the clean pod."""
    device = DEVICES[platform]
    collector = CaptureCollector(FIXTURE / "captures" / "clean")
    judged = [known for known in collector.devices if known.name == device]
    return next(iter(collector.collect(judged, None))).outputs


@cache
def clean(platform: str) -> State:
    return parse_device(DEVICES[platform], recorded(platform), platforms(), names=(platform,))


def broken(platform: str, key: str, body: str, exit_status: int | None) -> State:
    """The state with the first answer of one source replaced."""
    outputs = list(recorded(platform))
    at = next(at for at, output in enumerate(outputs) if output.source == key)
    outputs[at] = replace(outputs[at], body=body, digest=digest(body), exit_status=exit_status)
    return parse_device(DEVICES[platform], outputs, platforms(), names=(platform,))


def cells(state: State) -> Iterator[Address]:
    """Every cell that some answer declares, of every row."""
    for row_type, layer, column in state.origins:
        for key in state.tables[row_type, layer]:
            yield Address(row_type.TABLE, key, column, layer)


def lies(platform: str, state: State) -> list[str]:
    """What is said of the device that is not so: another value, an absence, a row that it does not have."""
    whole, found = clean(platform), []
    for address in cells(whole):
        was, now = whole.cell(address), state.cell(address)
        if now.known and now.value != was.value:
            found.append(f"{address} was {was.value!r}, is {now.value!r}")
        if was.present and state.has_row(replace(address, column=None)) is False:
            found.append(f"{address.row} is gone")
    known = {(row_type, layer, key) for (row_type, layer), rows in whole.tables.items() for key in rows}
    for (row_type, layer), rows in state.tables.items():
        found += [f"{row_type.TABLE}{key}@{layer} is new" for key in rows if (row_type, layer, key) not in known]
    return found


def new_gaps(platform: str, state: State, key: str) -> list[Gap]:
    return [gap for gap in state.gaps if gap not in clean(platform).gaps and gap.source == key]


def sources() -> list[Any]:
    """Every source of both platforms."""
    return [(platform, source.key) for platform in DEVICES for source in platforms()[platform].sources]


def one_line(platform: str, key: str) -> bool:
    """Whether the answer is a bare word: nothing tells it from the answer to another such command."""
    source = platforms()[platform].source(key)
    body = next(output.body for output in recorded(platform) if output.source == key)
    return source.parser is Parser.TEXT and len(body.strip().splitlines()) == 1


UNPROVEN = {"a_path", "another_platform"}
"""What a bare word may well be. The marks around each command keep answers apart on the way here."""

ENDLESS = {
    ("sonic", "platform_firmware"), ("linux", "os_release"), ("linux", "rdma_link"), ("linux", "ibv_devinfo"),
    ("linux", "mlxconfig"), ("linux", "rdma_tclass"), ("linux", "nccl_conf"), ("linux", "unit_files"),
    ("linux", "rdma_pci"), ("linux", "ethtool_private_flags"), ("linux", "devlink_dev_info"),
    ("linux", "pci_sysfs"), ("linux", "nvidia_smi_nvlink"),
}  # fmt: skip
"""Listings that nothing in their text ends: cut between two lines they look whole. What proves them is the mark that the
transport prints behind each answer, and the exit status beside it in a capture."""
BETWEEN_LINES = {"half_a_table", "without_its_last_line", "only_the_first_line", "only_two_lines", "pager_less", "broadcast"}
OF_A_PERSON = {("linux", "nccl_conf")}
"""A file in which a person may write anything, or nothing."""


@pytest.mark.parametrize(("platform", "key"), sources())
def test_a_broken_answer_is_a_gap_or_changes_nothing(platform: str, key: str) -> None:
    body = next((output.body for output in recorded(platform) if output.source == key), None)
    if body is None or not body.strip() or (platform, key) in OF_A_PERSON:
        pytest.skip("the pod has no answer to it, or any text is one")
    told = []
    for name, kind in KINDS.items():
        if name in UNPROVEN and one_line(platform, key):
            continue
        if name in BETWEEN_LINES and (platform, key) in ENDLESS:
            continue
        made = kind.make(body)
        source = platforms()[platform].source(key)
        if source.empty and not made.strip():
            continue  # nothing to list is a whole answer here
        state = broken(platform, key, made, kind.exit)
        told += [f"{name}: {lie}" for lie in lies(platform, state)[:3]]
        gaps = new_gaps(platform, state, key)
        if not gaps and (state.tables != clean(platform).tables or kind.exit not in (0, *source.ok_status)):
            told.append(f"{name}: no gap")
        told += [f"{name}: a gap without detail" for gap in gaps if not gap.detail.strip()]
        if gaps and kind.gap and all(gap.reason is GapReason.UNSUPPORTED for gap in gaps):
            told.append(f"{name}: called unsupported, so it would not count")
    assert not told, "\n".join(told)


@pytest.mark.parametrize(("platform", "key"), sources())
def test_the_answer_to_another_command_is_not_taken_for_this_one(platform: str, key: str) -> None:
    if all(output.source != key for output in recorded(platform)) or one_line(platform, key) or (platform, key) in OF_A_PERSON:
        pytest.skip("no answer in the pod, or a bare word, which only the marks around a command tell apart")
    alike = {"config_db", "config_db_saved"}
    told = []
    for other in {output.source: output for output in recorded(platform)}.values():
        if other.source == key or {other.source, key} == alike or not other.body.strip():
            continue
        state = broken(platform, key, other.body, 0)
        told += [f"{other.source}: {lie}" for lie in lies(platform, state)[:3]]
    assert not told, "\n".join(told)


COMMANDS = [
    ("leaf-01", "show runningconfiguration all"),
    ("leaf-01", "show interfaces status"),
    ("leaf-01", "show version"),
    ("gpu-01", "ip -j -d link"),
    ("gpu-01", "mlnx_qos -i enp26s0np0"),
]


def replace_answer(pod: Pod, capture: str, device: str, command: str, kind: Kind) -> None:
    file = pod.output(capture, device, command)
    file.write_bytes(kind.make(file.read_text()).encode("utf-8", "surrogateescape"))
    if kind.exit:
        listing = Path(capture) / device / "device.yaml"
        lines = [
            line.replace('"exit": 0', f'"exit": {kind.exit}') if f'"{command}"' in line else line
            for line in listing.read_text().splitlines()
        ]
        listing.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(("device", "command"), COMMANDS)
def test_a_run_over_a_broken_answer_is_incomplete_and_accuses_nobody(
    auditor: Auditor, pod: Pod, device: str, command: str
) -> None:
    folder = str(pod.folder)
    assert auditor("-C", folder, "check", "--from", pod.capture("clean", 1)).code == 0
    told = []
    chosen = {name: kind for name, kind in KINDS.items() if kind.gap}
    for hour, (name, kind) in enumerate(chosen.items(), 2):
        capture = pod.capture("clean", hour, [device])
        replace_answer(pod, capture, device, command, kind)
        answer = auditor("-C", folder, "check", "--device", device, "--from", capture, "--format", "json")
        rules = {finding["rule"] for finding in answer.report["findings"]}
        gaps = [gap for gap in answer.report["gaps"] if gap["reason"] != "unsupported"]
        if answer.code != 3:
            told.append(f"{name}: exit {answer.code}")
        if rules - {"collection.partial"}:
            told.append(f"{name}: {sorted(rules)}")
        if {gap["device"] for gap in gaps} != {device} or not all(gap["detail"] for gap in gaps):
            told.append(f"{name}: {gaps[:2]}")
    assert not told, "\n".join(told)
    assert auditor("-C", folder, "check", "--device", device, "--from", pod.capture("clean", 23, [device])).code == 0


def test_what_stands_before_the_cut_is_still_judged(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("faulty", 1)
    file = pod.output(capture, "leaf-03", "show interfaces status")
    lines = file.read_text().splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if line.strip().startswith("Ethernet4 "))
    file.write_text("".join(lines[: end + 1]) + "     Ethernet8   8,9,1")
    answer = auditor("-C", str(pod.folder), "check", "--only", "mtu.*", "--from", capture, "--format", "json")
    assert answer.code == 1
    assert {finding["address"] for finding in answer.report["findings"] if finding["rule"] == "mtu.compute"} == {
        "leaf-03:interface[Ethernet4].mtu@applied"
    }
    assert any(gap["device"] == "leaf-03" and gap["reason"] == "truncated" for gap in answer.report["gaps"])


def test_the_text_report_names_the_device_the_reason_and_the_words_of_the_answer(auditor: Auditor, pod: Pod) -> None:
    capture = pod.capture("clean", 1)
    replace_answer(pod, capture, "leaf-01", "show interfaces status", KINDS["shell_error"])
    answer = auditor("-C", str(pod.folder), "check", "--from", capture)
    assert answer.code == 3
    assert "incomplete" in answer.out
    assert "leaf-01" in answer.out
    assert "-bash: show: command not found" in answer.out
