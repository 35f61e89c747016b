"""The story of `auditor inventory test`: can each device be reached, and is it what the inventory says?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from auditor.canonical import printable
from auditor.collect import LoginReport
from auditor.workflows.project import load_project

if TYPE_CHECKING:
    from auditor.workflows.check import Telling


def test_logins(folder: str, scope: Mapping[str, Sequence[str]], told: Telling) -> Iterator[tuple[str, bool]]:
    """One line per device, and whether it is ready, as they finish. Raises SetupError."""
    from auditor.collect.live import LiveCollector

    project = load_project(folder)
    devices = project.inventory.select(**scope)
    told.start(len(devices), f"{len(devices)} devices")
    for report in LiveCollector(project.inventory, project.settings.collection).login_test(devices):
        told.step(report.device.name)
        yield line(report), ready(report)


def ready(report: LoginReport) -> bool:
    """Whether a device can be audited: login works, and it answers like each platform the inventory gives it."""
    return report.failure is None and set(report.device.platforms) <= set(report.answers_like)


def line(report: LoginReport) -> str:
    """The report in one line: device, verdict, privilege, platforms."""
    name = report.device.name
    if report.failure is not None:
        return f"{name}\t{report.failure}\t{printable(report.detail, 200)}"
    sudo = {True: "sudo -n works", False: "sudo -n is refused", None: "sudo not tried"}[report.sudo]
    wanted, answered = ", ".join(report.device.platforms), ", ".join(report.answers_like) or "nothing known"
    verdict = "ready" if ready(report) else f"is {wanted} in the inventory"
    return f"{name}\t{verdict}\tanswers like {answered}\t{sudo}\t{report.seconds:.1f} s"
