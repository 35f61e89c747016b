"""`auditor rollout`: how far a staged change of baselines is, and whether its next wave may start."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from auditor.errors import ExitCode

if TYPE_CHECKING:
    from datetime import datetime

    from auditor.workflows.rollout import RolloutStatus, WaveStatus


@click.group("rollout")
def command() -> None:
    """See how far rollouts are, and ask whether the next wave may start."""


@command.command("status")
@click.argument("name", required=False)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def status(ctx: click.Context, name: str | None, form: str) -> None:
    """Each wave of every rollout, or of NAME: its times, its devices, and the findings that came since it started.

    \b
    Examples:
      auditor rollout status
      auditor rollout status leaf-1.1 --format json
    """
    found = _statuses(ctx, name)
    if form == "json":
        click.echo(json.dumps([_plain(one) for one in found], indent=2))
        return
    if not found:
        click.echo("baselines/assignments.yaml has no rollouts")
    for one in found:
        click.echo(f"{one.rollout.name}: {one.rollout.old} -> {one.rollout.new}")
        for wave in one.waves:
            click.echo("  " + _line(wave))
            for line in _reasons(wave):
                click.echo("      " + line)


@command.command("gate")
@click.argument("name")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def gate(ctx: click.Context, name: str, form: str) -> None:
    """May the next wave of NAME start? Exit code 0: yes. 1: no, and why.

    No as long as a wave that has started is in its window or soaks, as findings on its devices came after its start, or as
    some of its devices have not been audited since its window ended. Waived and informational findings do not count.

    \b
    Example:
      auditor rollout gate leaf-1.1 && ./start-next-wave
    """
    (found,) = _statuses(ctx, name)
    refused = found.blocking
    if form == "json":
        click.echo(json.dumps(_plain(found), indent=2))
        ctx.exit(ExitCode.CAUSES if refused else ExitCode.CLEAN)
    following = found.next
    what = f"wave {following.number}" if following is not None else "no further wave"
    if not refused:
        click.echo(f"{name}: {what} may start" if following is not None else f"{name}: all waves have started and soaked")
        ctx.exit(ExitCode.CLEAN)
    click.echo(f"{name}: {what} may not start" if following is not None else f"{name}: not finished")
    for wave in refused:
        click.echo(f"  wave {wave.number}: {wave.left}")
        for line in _reasons(wave):
            click.echo("    " + line)
    ctx.exit(ExitCode.CAUSES)


def _statuses(ctx: click.Context, name: str | None) -> list[RolloutStatus]:
    from auditor.workflows.project import load_project, open_project_store
    from auditor.workflows.rollout import statuses

    project = load_project(ctx.obj["project"])
    with closing(open_project_store(project.settings, create=False)) as store:
        return statuses(project, store, project.at, name)


def _line(wave: WaveStatus) -> str:
    plan = wave.wave
    times = "no start yet" if plan.start is None else f"starts {_time(plan.start)}, window to {_time(plan.end)}"
    times += "" if plan.start is None else f", soaks to {_time(plan.soaked)}"
    return f"wave {wave.number}  {wave.state:8} {len(wave.devices)} devices  {times}"


def _reasons(wave: WaveStatus) -> list[str]:
    from auditor.canonical import printable

    found = [f"{one.fingerprint} {one.severity} {one.rule}: {printable(one.message, 300)}" for one in wave.findings]
    return found + [f"not audited since the window ended: {name}" for name in wave.unseen]


def _time(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M %Z}"


def _plain(status: RolloutStatus) -> dict[str, Any]:
    def iso(moment: datetime | None) -> str | None:
        return None if moment is None else moment.isoformat()

    return {
        "name": status.rollout.name,
        "from": str(status.rollout.old),
        "to": str(status.rollout.new),
        "at": iso(status.at),
        "may_start": not status.blocking and status.next is not None,
        "next": None if status.next is None else status.next.number,
        "waves": [
            {
                "number": wave.number,
                "state": wave.state,
                "start": iso(wave.wave.start),
                "window_end": iso(wave.wave.end),
                "soaked": iso(wave.wave.soaked),
                "devices": list(wave.devices),
                "findings": [
                    {"fingerprint": one.fingerprint, "rule": one.rule, "severity": str(one.severity), "message": one.message}
                    for one in wave.findings
                ],
                "unseen": list(wave.unseen),
                "left": wave.left,
            }
            for wave in status.waves
        ],
    }
