"""Impact over stored devices: CPU seconds to read the last states of a fleet and judge them by another version of a baseline."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from auditor.collect.capture import CaptureCollector
from auditor.evaluate import job as unit
from auditor.model import Severity
from auditor.store import open_store
from auditor.workflows import impact as story
from auditor.workflows.project import load_project
from bench import fleet
from bench.stages import keep

PROFILE, OLD, NEW = "pod-leaf", "1.0.0", "2.0.0"
LINE = '  - {id: mtu.tried, at: "interface[@compute].mtu", eq: 1500, severity: error, why: no healthy port has it}\n'


@dataclass
class Asked:
    """What one fleet took. Every leaf fails by the version that was tried, nobody else is asked."""

    pods: int
    devices: int
    seconds: float


def measure(pods: int) -> Asked:
    """Store a healthy fleet of this many pods, then ask for the impact of a version that every leaf fails."""
    with TemporaryDirectory() as home:
        folder = Path(home) / "project"
        project = fleet.make(folder, pods)
        collected = list(CaptureCollector(folder / "captures" / "clean").collect(list(project.devices.values()), None))
        store = open_store(f"sqlite:///{Path(home) / 'auditor.db'}", Path(home) / "raw")
        keep(store, "night", [], [unit.run(job) for job in fleet.jobs(project, collected)], [])
        profile = folder / "baselines" / PROFILE
        text = (profile / f"{OLD}.yaml").read_text().replace(f"version: {OLD}", f"version: {NEW}")
        (profile / f"{NEW}.yaml").write_text(text.replace("expect:\n", "expect:\n" + LINE, 1))
        project = load_project(folder)
        started = time.process_time()
        found = story.impact(project, store, f"{PROFILE}@{NEW}")
        seconds = time.process_time() - started
        store.close()
    leaves = sum(device.role == "leaf" for device in project.devices.values())
    if len(found.failing(Severity.ERROR)) != leaves or found.incomplete or leaves > story.IN_PROCESS:
        raise RuntimeError("not every leaf fails, or not in this process: not what was put in")
    return Asked(pods, leaves, seconds)


if __name__ == "__main__":
    json.dump(asdict(measure(int(sys.argv[1]))), sys.stdout)
