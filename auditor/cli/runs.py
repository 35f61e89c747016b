"""`auditor runs`: what the store remembers of runs."""

from __future__ import annotations

from contextlib import closing

import click


@click.group("runs")
def command() -> None:
    """List stored runs."""


@command.command("list")
@click.option("-n", "number", type=click.IntRange(1), default=20, show_default=True, help="How many, the newest first.")
@click.pass_context
def list_(ctx: click.Context, number: int) -> None:
    """One line per run: id, state, scope, start.

    \b
    Example:
      auditor runs list -n 5
    """
    from auditor.workflows.project import load_settings, open_project_store

    with closing(open_project_store(load_settings(ctx.obj["project"]), create=False)) as store:
        for run in store.runs()[:number]:
            click.echo(f"{run.id}\t{run.status}\t{run.scope}\t{run.started_at:%Y-%m-%d %H:%M:%S}")
