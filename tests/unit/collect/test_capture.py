from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.collect import Collector
from auditor.collect.capture import CaptureCollector, write_capture
from auditor.errors import CaptureError, ErrorList, SetupError
from auditor.model import Device, GapReason, Platform, RawOutput, Status, digest

Platforms = dict[str, Platform]


def make(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, body in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body if isinstance(body, bytes) else body.encode())
    return folder


def outputs(collector: CaptureCollector, device: str = "swi-a1", reads: frozenset[str] | None = None) -> dict[str, RawOutput]:
    (collected,) = collector.collect([next(one for one in collector.devices if one.name == device)], reads)
    return {output.command: output for output in collected.outputs}


def test_without_a_list_the_file_names_tell_the_commands(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/show_version.txt": "v1\n", "swi-a1/lldpctl_f_json.json": "{}", "swi-a1/notes_of_ops.txt": "hm"})
    collector = CaptureCollector(tmp_path, platforms)
    (device,) = collector.devices
    assert device.platforms == ("demo",)
    found = outputs(collector)
    assert set(found) == {"show version", "lldpctl -f json"}
    assert found["show version"].body == "v1\n"
    assert found["show version"].source == "version"
    assert found["show version"].digest == digest("v1\n")
    assert collector.notes == ("swi-a1/notes_of_ops.txt: no command of its platforms has this file name",)


def test_a_parameter_comes_back_from_the_names_in_the_capture(tmp_path: Path, platforms: Platforms) -> None:
    files = {"show_links.txt": "link Eth1/1\nlink e9\n", "show_mtu_i_Eth1_1.txt": "9100", "show_mtu_i_e9.txt": "1500"}
    make(tmp_path / "swi-a1", files)
    found = outputs(CaptureCollector(tmp_path, platforms))
    assert found["show mtu -i Eth1/1"].parameters == {"port": "Eth1/1"}
    assert found["show mtu -i e9"].parameters == {"port": "e9"}


def test_a_parameter_stays_slugged_when_nothing_tells_its_name(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/show_mtu_i_Eth1_1.txt": "9100"})
    assert outputs(CaptureCollector(tmp_path, platforms))["show mtu -i Eth1_1"].parameters == {"port": "Eth1_1"}


def test_the_longest_fixed_text_wins_over_a_parameter(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/show_links.txt": "link e0\n", "swi-a1/show_mtu_i_e0.txt": "9100", "swi-a1/show_e0.txt": "x"})
    by_source = {output.source for output in outputs(CaptureCollector(tmp_path, platforms)).values()}
    assert by_source == {"links", "mtu", "detail"}


LISTED = """\
platforms: [demo]
role: leaf
rack: R7
status: installed
prompt: "ops@swi-a1:~$ "
collected_at: 2031-02-03T04:05:06Z
outputs:
  - {file: a.txt, command: show   ver, seconds: 1.5, exit: 0}
  - {file: b.txt, command: sudo -n show mtu -i Eth1/1, collected_at: 2031-02-03T05:00:00+01:00, excerpt: [interface]}
  - {file: c.txt, command: show links, failure: timeout, detail: no answer}
  - {file: d.txt, command: lldpctl -f json, exit: 127}
  - {file: e.txt, command: reload}
"""


@pytest.fixture
def listed(tmp_path: Path, platforms: Platforms) -> CaptureCollector:
    bodies = {f"swi-a1/{name}.txt": f"body of {name}\n" for name in "abcde"}
    return CaptureCollector(make(tmp_path, {**bodies, "swi-a1/device.yaml": LISTED}), platforms)


def test_device_yaml_describes_the_device(listed: CaptureCollector) -> None:
    (device,) = listed.devices
    assert (device.role, device.rack, device.status) == ("leaf", "R7", Status.INSTALLED)
    assert listed.prompt("swi-a1") == "ops@swi-a1:~$ "


def test_listed_outputs_keep_what_was_recorded_of_them(listed: CaptureCollector) -> None:
    found = outputs(listed)
    version = found["show ver"]
    assert (version.source, version.seconds, version.exit_status) == ("version", 1.5, 0)
    assert version.collected_at == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)
    mtu = found["show mtu -i Eth1/1"]
    assert (mtu.parameters, mtu.excerpt) == ({"port": "Eth1/1"}, ("interface",))
    assert mtu.collected_at == datetime(2031, 2, 3, 4, 0, tzinfo=UTC)
    assert (found["show links"].failure, found["show links"].detail) == (GapReason.TIMEOUT, "no answer")
    assert found["lldpctl -f json"].failure is GapReason.REJECTED
    assert listed.notes == ("swi-a1/e.txt: no platform of the device declares 'reload'",)


def test_reads_choose_what_is_read(listed: CaptureCollector) -> None:
    assert set(outputs(listed, reads=frozenset({"system.os_version"}))) == {"show ver"}


def test_a_fallback_is_read_for_the_source_it_stands_in_for(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/lldpctl.txt": "x", "swi-a1/show_version.txt": "v"})
    assert set(outputs(CaptureCollector(tmp_path, platforms), reads=frozenset({"neighbour.system"}))) == {"lldpctl"}


def test_secrets_are_taken_out_of_captures_too(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/show_version.txt": "community s3cr3t\npassword: hunter2\n"})
    body = outputs(CaptureCollector(tmp_path, platforms))["show version"].body
    assert body == "community <redacted>\npassword: <redacted>\n"


def test_an_inventory_device_without_a_folder_is_a_gap(listed: CaptureCollector) -> None:
    collector: Collector = listed
    (collected,) = collector.collect([Device("swi-z9", ("demo",))], None)
    assert [(gap.table, gap.reason) for gap in collected.gaps] == [("*", GapReason.NOT_COLLECTED)]


def test_a_listed_file_that_is_missing_is_a_gap_of_that_command(tmp_path: Path, platforms: Platforms) -> None:
    text = "platforms: [demo]\noutputs:\n- {file: gone.txt, command: show version}\n- {file: a.txt, command: show links}\n"
    found = outputs(CaptureCollector(make(tmp_path, {"swi-a1/device.yaml": text, "swi-a1/a.txt": "x"}), platforms))
    assert found["show version"].failure is GapReason.NOT_COLLECTED
    assert "gone.txt" in found["show version"].detail
    assert found["show links"].failure is None


def test_an_unknown_platform_is_a_gap_of_that_device_alone(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"a/device.yaml": "role: x\nplatforms: [demo2]\n", "a/x.txt": "", "b/show_version.txt": "v"})
    collector = CaptureCollector(tmp_path, platforms)
    first, second = collector.collect(collector.devices, None)
    (gap,) = first.gaps
    assert "device.yaml:2: unknown platform 'demo2' (did you mean 'demo'?)" in gap.detail
    assert len(second.outputs) == 1


def test_files_that_fit_no_platform_are_a_gap_of_the_device(tmp_path: Path, platforms: Platforms) -> None:
    collector = CaptureCollector(make(tmp_path, {"a/whatever.txt": "x"}), platforms)
    (collected,) = collector.collect(collector.devices, None)
    assert collected.gaps[0].reason is GapReason.NOT_COLLECTED


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("platfroms: [demo]\n", 1, "did you mean 'platforms'"),
        ("platforms: [demo]\noutputs:\n- {file: a.txt}\n", 3, "`file` and `command`"),
        ("platforms: [demo]\noutputs:\n- {file: ../b/a.txt, command: show version}\n", 3, "no plain file"),
        ("platforms: [demo]\noutputs:\n- {file: /etc/passwd, command: show version}\n", 3, "no plain file"),
        ("platforms: [demo]\noutputs:\n- {file: a.txt, command: show version, failure: sad}\n", 3, "failure must be one of"),
        ("platforms: [demo]\noutputs:\n- {file: a.txt, command: show version, failure: [x]}\n", 3, "failure must be one of"),
        ("platforms: [demo]\noutputs:\n- {file: a.txt, command: show version, exit: yes}\n", 3, "exit"),
        ("platforms: [demo]\noutputs:\n- {file: a.txt, command: show version, collected_at: noon}\n", 3, "collected_at"),
        ("platforms: [demo]\nstatus: [x]\n", 2, "status"),
        ("platforms: [demo]\nrole: [x]\n", 2, "role"),
        ("- a\n", 1, "mapping"),
        ("a: [\n", 2, "not YAML"),
    ],
)
def test_a_wrong_device_yaml_names_file_and_line(tmp_path: Path, platforms: Platforms, text: str, line: int, words: str) -> None:
    with pytest.raises(CaptureError, match=words) as caught:
        CaptureCollector(make(tmp_path, {"swi-a1/device.yaml": text, "swi-a1/a.txt": "x"}), platforms)
    assert (Path(caught.value.file or "").name, caught.value.line) == ("device.yaml", line)


def test_errors_of_several_devices_come_at_once(tmp_path: Path, platforms: Platforms) -> None:
    with pytest.raises(ErrorList) as caught:
        CaptureCollector(make(tmp_path, {"a/device.yaml": "x: 1\n", "b/device.yaml": "y: 1\n"}), platforms)
    assert len(caught.value.errors) == 2


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"secret.txt": "hunter2", "cap/swi-a1/show_links.txt": "x"})
    (tmp_path / "cap/swi-a1/show_version.txt").symlink_to(tmp_path / "secret.txt")
    assert set(outputs(CaptureCollector(tmp_path / "cap", platforms))) == {"show links"}
    listed = "platforms: [demo]\noutputs:\n- {file: show_version.txt, command: show version}\n"
    make(tmp_path, {"cap/swi-a1/device.yaml": listed})
    with pytest.raises(CaptureError, match="no plain file"):
        CaptureCollector(tmp_path / "cap", platforms)


def test_what_is_no_capture_is_one_error(tmp_path: Path, platforms: Platforms) -> None:
    with pytest.raises(CaptureError, match="no such"):
        CaptureCollector(tmp_path / "none", platforms)
    with pytest.raises(CaptureError, match="no device folder"):
        CaptureCollector(tmp_path, platforms)


def test_a_huge_file_is_cut_and_the_rest_of_the_device_is_read(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/show_links.txt": "link e0\n"})
    with (tmp_path / "swi-a1" / "show_version.txt").open("wb") as huge:
        huge.truncate(200 * 1024 * 1024)
    found = outputs(CaptureCollector(tmp_path, platforms, max_output=100_000))
    assert found["show version"].failure is GapReason.TRUNCATED
    assert len(found["show version"].body) <= 100_000
    assert found["show links"].failure is None


def test_bytes_that_are_no_text_do_not_end_the_reading(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"swi-a1/show_version.txt": bytes(range(256)), "swi-a1/show_links.txt": "ok"})
    assert len(outputs(CaptureCollector(tmp_path, platforms))) == 2


# archives


def pack(file: Path, members: dict[str, bytes | tarfile.TarInfo], mode: str = "w:gz") -> Path:
    with tarfile.open(file, mode) as archive:  # type: ignore[call-overload]
        for name, body in members.items():
            if isinstance(body, tarfile.TarInfo):
                archive.addfile(body)
                continue
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(body), 1_900_000_000
            archive.addfile(member, io.BytesIO(body))
    return file


@pytest.mark.parametrize("prefix", ["", "./", "bundle/", "a/b/"])
@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_an_archive_reads_like_the_folder(tmp_path: Path, platforms: Platforms, prefix: str, mode: str) -> None:
    members: dict[str, bytes | tarfile.TarInfo] = {
        f"{prefix}swi-a1/show_version.txt": b"v1", f"{prefix}swi-b1/show_version.txt": b"v2",
    }  # fmt: skip
    collector = CaptureCollector(pack(tmp_path / "c.tar.gz", members, mode), platforms)
    assert [device.name for device in collector.devices] == ["swi-a1", "swi-b1"]
    output = outputs(collector)["show version"]
    assert (output.body, output.collected_at) == ("v1", datetime.fromtimestamp(1_900_000_000, UTC))


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize(
    "members",
    [
        {"/etc/x.txt": b"x"},
        {"a/../../x.txt": b"x"},
        {"a\\..\\x.txt": b"x"},
        {"a/x\x1b.txt": b"x"},
        {"l": member("a/show_version.txt", tarfile.SYMTYPE, "/etc/passwd")},
        {"l": member("a/show_version.txt", tarfile.LNKTYPE, "/etc/passwd")},
        {"l": member("a/show_version.txt", tarfile.CHRTYPE)},
        {"l": member("a/show_version.txt", tarfile.FIFOTYPE)},
        {"a/b/c/d/e/f.txt": b"x"},
    ],
    ids=["absolute", "parent", "backslash", "control", "symlink", "hardlink", "device", "fifo", "deep"],
)
def test_a_hostile_member_is_refused(tmp_path: Path, platforms: Platforms, members: dict[str, bytes | tarfile.TarInfo]) -> None:
    with pytest.raises(CaptureError) as caught:
        CaptureCollector(pack(tmp_path / "c.tar.gz", members), platforms)
    assert "\x1b" not in str(caught.value)


def test_a_member_that_claims_to_be_enormous_is_refused(tmp_path: Path, platforms: Platforms) -> None:
    info = tarfile.TarInfo("a/show_version.txt")
    info.size = 10**15
    (tmp_path / "c.tar").write_bytes(info.tobuf() + b"\0" * 1024)
    with pytest.raises(CaptureError, match="more than"):
        CaptureCollector(tmp_path / "c.tar", platforms)


def test_a_large_member_is_cut_on_the_disk_too(tmp_path: Path, platforms: Platforms) -> None:
    archive = pack(tmp_path / "c.tar.gz", {"a/show_version.txt": b"y" * 5_000_000, "a/show_links.txt": b"x"})
    collector = CaptureCollector(archive, platforms, max_output=1000)
    assert (collector.path / "a" / "show_version.txt").stat().st_size == 1001
    assert outputs(collector, "a")["show version"].failure is GapReason.TRUNCATED


@pytest.mark.parametrize("body", [b"", b"junk" * 300, b"\x1f\x8b junk"])
def test_a_file_that_is_no_archive_is_one_error(tmp_path: Path, platforms: Platforms, body: bytes) -> None:
    (tmp_path / "c.tar.gz").write_bytes(body)
    with pytest.raises(CaptureError):
        CaptureCollector(tmp_path / "c.tar.gz", platforms)


def test_a_cut_archive_is_one_error(tmp_path: Path, platforms: Platforms) -> None:
    archive = pack(tmp_path / "c.tar.gz", {f"a{at}/show_version.txt": bytes(str(at) * 999, "ascii") for at in range(99)})
    archive.write_bytes(archive.read_bytes()[:-400])
    with pytest.raises(CaptureError, match="tar archive"):
        CaptureCollector(archive, platforms)


# writing


def test_what_is_written_reads_back_the_same(tmp_path: Path, listed: CaptureCollector, platforms: Platforms) -> None:
    (before,) = listed.collect(listed.devices, None)
    write_capture(tmp_path / "out", before.device, before.outputs, platforms)
    again = CaptureCollector(tmp_path / "out", platforms)
    (after,) = again.collect(again.devices, None)
    assert after.device == before.device
    assert after.outputs == before.outputs


def test_outputs_of_one_slug_get_files_of_their_own(tmp_path: Path, platforms: Platforms) -> None:
    make(tmp_path, {"in/swi-a1/show_links.txt": "link e.1\nlink e/1\n", "in/swi-a1/show_mtu_i_e_1.txt": "x"})
    reader = CaptureCollector(tmp_path / "in", platforms)
    one = next(output for output in outputs(reader).values() if output.source == "mtu")
    two = replace(one, command="show mtu -i e/1", parameters={"port": "e/1"}, body="y", digest=digest("y"))
    folder = write_capture(tmp_path / "out", reader.devices[0], [one, two], platforms)
    assert sorted(file.name for file in folder.iterdir()) == ["device.yaml", "show_mtu_i_e_1.txt", "show_mtu_i_e_1_2.txt"]
    assert outputs(CaptureCollector(tmp_path / "out", platforms))["show mtu -i e/1"].body == "y"


@pytest.mark.parametrize("name", ["..", "../x", "/x", "a/b", ""])
def test_a_device_name_cannot_lead_out_of_the_folder(tmp_path: Path, platforms: Platforms, name: str) -> None:
    with pytest.raises(CaptureError, match="folder name"):
        write_capture(tmp_path / "out", Device(name, ("demo",)), [], platforms)
    assert not (tmp_path / "x").exists()


def test_an_existing_capture_is_never_overwritten(tmp_path: Path, listed: CaptureCollector, platforms: Platforms) -> None:
    (collected,) = listed.collect(listed.devices, None)
    write_capture(tmp_path / "out", collected.device, collected.outputs, platforms)
    with pytest.raises(SetupError, match="not empty"):
        write_capture(tmp_path / "out", collected.device, collected.outputs, platforms)


def test_an_archive_cut_between_two_members_is_one_error(tmp_path: Path, platforms: Platforms) -> None:
    archive = pack(tmp_path / "c.tar", {f"a{at}/show_version.txt": b"SONiC 1\n" for at in range(9)}, mode="w")
    archive.write_bytes(archive.read_bytes()[: 5 * 1024])
    with pytest.raises(CaptureError, match=r"c\.tar: .*cut off"):
        CaptureCollector(archive, platforms)


def test_an_error_in_an_archive_names_the_archive(tmp_path: Path, platforms: Platforms) -> None:
    archive = pack(tmp_path / "c.tar.gz", {"a/device.yaml": b"outputs: 3\n", "b/show_version.txt": b"x\n"})
    with pytest.raises(CaptureError) as told:
        CaptureCollector(archive, platforms)
    assert str(told.value).startswith(f"{archive}:a/device.yaml:1: ")
