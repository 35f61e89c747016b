"""Generated fabrics of growing size, as project folders with a capture, and what a run needs of them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from auditor.collect import Collected
from auditor.lab.fabric import Size
from auditor.lab.project import generate
from auditor.model import DeviceJob, PlanSlice
from auditor.plan import groups
from auditor.workflows.project import Project, load_project

POD = Size(hosts=8, nics=8, leaves=8, spines=4)
"""One pod: 20 devices. Larger fleets are more pods of the same kind, so that devices stay as they are."""


def make(folder: Path, pods: int) -> Project:
    """Write and load a project of this many pods; its healthy capture lies in `captures/clean`."""
    generate(folder, replace(POD, pods=pods))
    return load_project(folder)


def jobs(project: Project, collected: list[Collected]) -> list[DeviceJob]:
    """One device job per collected device, as an audit makes them."""
    slices = groups.slices(project.plan, project.fabric, project.devices)
    fabric = replace(project.fabric, text="", document={})
    return [
        DeviceJob(
            device=project.devices[item.device.name],
            outputs=item.outputs,
            baselines=project.baselines_for(project.devices[item.device.name]),
            plan=slices.get(item.device.name, PlanSlice()),
            fabric=fabric,
            gaps=item.gaps,
        )
        for item in collected
    ]


@contextmanager
def served(folder: Path, client: Path) -> Iterator[Project]:
    """The project's healthy capture over SSH on loopback, by a process of its own; gives the project that reaches it."""
    words = ["lab", "up", str(folder / "captures" / "clean"), "--client", str(client), "--like", str(folder)]
    command = [sys.executable, "-c", "from auditor.cli import main; main()", *words]
    lab = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert lab.stderr is not None
        line = lab.stderr.readline()
        if "127.0.0.1" not in line:
            raise RuntimeError(f"the lab did not start: {line}{lab.stderr.read()}")
        time.sleep(0.2)
        yield load_project(client)
    finally:
        lab.terminate()
        lab.wait(20)
