"""`auditor scan`: audit the whole fleet, every source of it."""

from __future__ import annotations

from typing import Any

import click

from auditor.cli.check import audit_command
from auditor.cli.options import report_options


@click.command("scan")
@report_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Audit every device of the project with everything its platforms can show, and store what was seen.

    \b
    Examples:
      auditor -C /etc/auditor scan
      auditor scan --format json -o last-night.json
    """
    ctx.exit(audit_command(ctx, options, everything=True))
