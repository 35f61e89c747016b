"""`auditor db`: the database of a project."""

from __future__ import annotations

from contextlib import closing

import click


@click.group("db")
def command() -> None:
    """Create, upgrade and describe the database of a project."""


@command.command("upgrade")
@click.pass_context
def upgrade(ctx: click.Context) -> None:
    """Create the database, or bring it to the schema of this version. Nothing is lost.

    \b
    Example:
      auditor db upgrade
    """
    from auditor.workflows.project import load_settings, open_project_store

    with closing(open_project_store(load_settings(ctx.obj["project"]))) as store:
        click.echo(f"schema {store.info().schema}")


@command.command("info")
@click.pass_context
def info(ctx: click.Context) -> None:
    """What the database holds: schema, runs, findings, row sets, bytes.

    \b
    Example:
      auditor db info
    """
    from auditor.workflows.project import load_settings, open_project_store

    with closing(open_project_store(load_settings(ctx.obj["project"]), create=False)) as store:
        info = store.info()
        for name, value in {"url": info.url, "schema": info.schema, "raw": info.raw_dir, **info.rows}.items():
            click.echo(f"{name}\t{value}")
