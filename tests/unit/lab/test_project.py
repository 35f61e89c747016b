import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor import yamldoc
from auditor.collect.capture import CaptureCollector
from auditor.lab.fabric import Size
from auditor.lab.project import MINI_POD, MINI_POD_CAPTURES, generate
from auditor.model import Device, GapReason
from auditor.parse import parse_device
from auditor.platforms import platforms

MINI = Path(__file__).parents[3] / "fixtures" / "fabrics" / "mini-pod"
DEVICES = {"gpu": 4, "leaf": 8, "spine": 2}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def timeless(folder: Path) -> dict[str, bytes]:
    """The files without what tells when they were written."""
    times = re.compile(rb"(expireat\"|collected_at): [^\n,]*")
    return {file: times.sub(b"", body) for file, body in contents(folder).items()}


def devices(capture: str) -> Iterator[tuple[CaptureCollector, Device]]:
    collector = CaptureCollector(MINI / "captures" / capture)
    for device in collector.devices:
        yield collector, device


def test_the_mini_pod_is_what_the_generator_writes(tmp_path: Path) -> None:
    generate(tmp_path, MINI_POD, MINI_POD_CAPTURES)
    assert contents(tmp_path) == contents(MINI)


def test_the_same_size_gives_the_same_bytes(tmp_path: Path) -> None:
    size = Size(hosts=2, nics=2, leaves=2, spines=1, pods=2, cores=1)
    generate(tmp_path / "one", size)
    generate(tmp_path / "two", size)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_the_mini_pod_holds_its_devices_and_no_file_that_nobody_reads() -> None:
    for capture in MINI_POD_CAPTURES:
        collector = CaptureCollector(MINI / "captures" / capture)
        names = [device.name for device in collector.devices]
        assert names == [f"{kind}-{at + 1:02d}" for kind, count in DEVICES.items() for at in range(count)]
        assert collector.notes == ()


@pytest.mark.parametrize("capture", MINI_POD_CAPTURES)
def test_every_command_that_a_platform_sends_was_captured(capture: str) -> None:
    for collector, device in devices(capture):
        (collected,) = collector.collect([device], None)
        have = {output.source for output in collected.outputs}
        known = platforms()[device.platforms[0]].sources
        wanted = {source.key for source in known if source.sent and not source.fallback_for}
        assert wanted <= have


@pytest.mark.parametrize("capture", MINI_POD_CAPTURES)
def test_every_output_is_read_whole(capture: str) -> None:
    for collector, device in devices(capture):
        (collected,) = collector.collect([device], None)
        state = parse_device(device.name, collected.outputs, platforms())
        assert [gap for gap in state.gaps if gap.reason is not GapReason.UNSUPPORTED] == []
        assert state.tables


def test_the_faulty_capture_differs_on_four_devices_only() -> None:
    clean, faulty = timeless(MINI / "captures" / "clean"), timeless(MINI / "captures" / "faulty")
    assert clean.keys() == faulty.keys()
    changed = {Path(file).parent.name for file in clean if clean[file] != faulty[file]}
    assert changed == {"leaf-03", "leaf-05", "leaf-07", "gpu-04"}


def test_every_device_has_its_place_in_the_inventory() -> None:
    hosts = yamldoc.read(MINI / "inventory" / "hosts.yaml").data
    assert sum(DEVICES.values()) == len(hosts)
    assert all(host["data"]["rack"] for host in hosts.values())
