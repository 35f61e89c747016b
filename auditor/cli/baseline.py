"""`auditor baseline`: what devices should be."""

from __future__ import annotations

import click

from auditor.errors import ExitCode


@click.group("baseline")
def command() -> None:
    """List, lint and show baselines."""


@command.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """Every profile and version that can be used here, and where it lies.

    \b
    Example:
      auditor baseline list
    """
    from auditor.workflows.baseline import listed

    for profile, version, changes, file in listed(ctx.obj["project"]):
        click.echo(f"{profile}@{version}\t{changes}\t{file}")


@command.command("lint")
@click.pass_context
def lint(ctx: click.Context) -> None:
    """Read every baseline, assignment, waiver, fabric and plan document; report all errors at once, with file and line.

    \b
    Example:
      auditor baseline lint
    """
    from auditor.workflows.baseline import lint as lint_project

    errors, counted = lint_project(ctx.obj["project"])
    for error in errors:
        click.echo(str(error), err=True)
    click.echo(f"{counted} documents, {len(errors)} errors")
    ctx.exit(ExitCode.SETUP if errors else ExitCode.CLEAN)
