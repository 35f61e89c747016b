"""The story of `auditor capture`: raw outputs into a folder, redacted, whatever the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from auditor.collect.capture import write_capture
from auditor.errors import CaptureError, ExitCode
from auditor.workflows.check import Telling
from auditor.workflows.project import load_project


def capture(folder: str, target: str, scope: Mapping[str, Sequence[str]], told: Telling) -> ExitCode:
    """Collect all sources of the devices in scope into `target`; INCOMPLETE when something could not be collected."""
    from auditor.collect.live import LiveCollector

    project = load_project(folder)
    devices = project.inventory.select(**scope)
    place = Path(target)
    if place.exists() and any(place.iterdir()):
        raise CaptureError("is not empty; captures are never mixed", place)
    place.mkdir(parents=True, exist_ok=True)
    told.start(len(devices), f"{len(devices)} devices")
    complete = True
    for collected in LiveCollector(project.inventory, project.settings.collection).collect(devices, None):
        write_capture(place, collected.device, collected.outputs)
        for gap in collected.gaps:
            told.note(f"{gap.device}: {gap.table}: {gap.reason}: {gap.detail}")
        complete &= not collected.gaps and all(output.failure is None for output in collected.outputs)
        told.step(collected.device.name)
    return ExitCode.CLEAN if complete else ExitCode.INCOMPLETE
