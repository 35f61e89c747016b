"""Ratios against named references, measured in the same run on the same machine: these can be promised, seconds cannot."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import paramiko
from deepdiff import DeepDiff

from auditor.collect import script
from auditor.collect.capture import CaptureCollector
from auditor.collect.live import LiveCollector
from auditor.drift import canonical
from auditor.evaluate.job import row_sets
from auditor.model import Device, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.workflows.project import Project
from bench import fleet


def best(work: Callable[[], object], repeats: int) -> float:
    """CPU seconds of the cheapest of several runs."""
    found = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def digest_against_deepdiff(project: Project, capture: Path) -> tuple[float, float]:
    """CPU seconds to see that a leaf's plain rows are those that are stored: by digests, and by DeepDiff."""
    leaf = next(device for device in project.devices.values() if device.role == "leaf")
    (collected,) = CaptureCollector(capture).collect([leaf], None)
    state = parse_device(leaf.name, collected.outputs, platforms(), gaps=collected.gaps, names=leaf.platforms)
    sets = row_sets(state)
    stored = {str(found.key): [dict(row) for row in found.rows] for found in sets}
    seen = copy.deepcopy(stored)

    def by_digest() -> None:
        assert all(digest(canonical(found.columns, found.rows)) == found.digest for found in sets)

    def by_deepdiff() -> None:
        assert not DeepDiff(stored, seen)

    return best(by_digest, 15), best(by_deepdiff, 5)


def joined_against_separate(project: Project, capture: Path) -> tuple[float, float]:
    """Client CPU seconds for all commands of one host: joined on one exec channel, and on one channel each."""
    host = next(device for device in project.devices.values() if device.role == "gpu_host")
    (collected,) = CaptureCollector(capture).collect([host], None)
    commands = [script.Command(output.command) for output in collected.outputs if output.failure is None]
    with _connection(project, host) as client:

        def joined() -> None:
            mark = script.Mark.fresh()
            assert _read(client, script.join(commands, mark)).count(mark.text.encode()) > len(commands)

        def separate() -> None:
            for command in commands:
                assert _read(client, command.text)

        return best(joined, 20), best(separate, 20)


def _connection(project: Project, device: Device) -> paramiko.SSHClient:
    route, settings = project.inventory.routes[device.name], project.settings.collection
    client = paramiko.SSHClient()
    for file in settings.known_hosts:
        client.load_host_keys(str(file))
    key = str(settings.credentials.key_file)
    client.connect(
        route.hostname, route.port or 22, route.username, key_filename=key, allow_agent=False, look_for_keys=False, timeout=10
    )
    return client


def _read(client: paramiko.SSHClient, line: str) -> bytes:
    _, out, _ = client.exec_command(line, timeout=20)
    return bytes(out.read())


def live(project: Project) -> float:
    """Client CPU seconds to collect the whole fleet over SSH, logins included."""
    started = time.process_time()
    collected = list(LiveCollector(project.inventory, project.settings.collection).collect(list(project.devices.values()), None))
    spent = time.process_time() - started
    unseen = [f"{item.device.name}: {gap.detail}" for item in collected for gap in item.gaps if gap.table == "*"]
    if unseen:
        raise RuntimeError("the lab was not collected: " + "; ".join(unseen[:3]))
    return spent


def measure() -> dict[str, float]:
    """All of them, on one pod."""
    with TemporaryDirectory() as home:
        folder = Path(home)
        project = fleet.make(folder / "project", 1)
        capture = folder / "project" / "captures" / "clean"
        digest, deepdiff = digest_against_deepdiff(project, capture)
        with fleet.served(folder / "project", folder / "client") as reachable:
            joined, separate = joined_against_separate(reachable, capture)
            collect = live(reachable)
    return {
        "digest": digest,
        "deepdiff": deepdiff,
        "joined": joined,
        "separate": separate,
        "live": collect / len(project.devices),
    }
