"""`auditor inventory`: who is in it, and can they be reached."""

from __future__ import annotations

from typing import Any

import click

from auditor.cli.options import scope_options


@click.group("inventory")
def command() -> None:
    """Look at the inventory and test logins."""


@command.command("test")
@scope_options
@click.pass_context
def test(ctx: click.Context, /, **options: Any) -> None:
    """Log in to each device: does the login work, does sudo -n, and does the platform answer like itself?

    Exit code 0 when every device is ready, 3 when one is not.

    \b
    Examples:
      auditor inventory test
      auditor inventory test --rack R01
    """
    from auditor.workflows.inventory import test_logins

    failed = False
    for line, ready in test_logins(ctx.obj["project"], options, ctx.obj["progress"]):
        failed |= not ready
        click.echo(line)
    ctx.exit(3 if failed else 0)
