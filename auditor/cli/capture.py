"""`auditor capture`: raw outputs into a folder."""

from __future__ import annotations

from typing import Any

import click

from auditor.cli.options import scope_options


@click.command("capture")
@click.argument("folder", type=click.Path(file_okay=False))
@scope_options
@click.pass_context
def command(ctx: click.Context, /, folder: str, **options: Any) -> None:
    """Collect everything the platforms declare and write it into FOLDER: one folder per device, one file per command.

    Secrets are redacted before anything is written. `auditor check --from FOLDER` reads it, here or elsewhere.

    \b
    Examples:
      auditor capture /tmp/pod-01 --pod pod-01
      auditor capture bug-report --device leaf-07
    """
    from auditor.workflows.capture import capture

    ctx.exit(capture(ctx.obj["project"], folder, options, ctx.obj["progress"]))
