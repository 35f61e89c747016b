"""`auditor parse`: one raw output as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from auditor.errors import ExitCode


@click.command("parse")
@click.argument("platform")
@click.argument("command_text", metavar="COMMAND")
@click.argument("file", default="-")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def command(ctx: click.Context, platform: str, command_text: str, file: str, output: str | None) -> None:
    """Show what one raw output becomes: rows and gaps, as JSON.

    COMMAND is the command as it was typed, FILE its output (- for stdin). Exit code 0 with rows, 3 with only gaps.

    \b
    Examples:
      auditor parse sonic "show interfaces status" status.txt
      ssh leaf-01 show version | auditor parse sonic "show version"
      auditor parse linux "mlnx_qos -i eth2" qos.txt | jq .rows
    """
    from auditor.errors import SetupError
    from auditor.workflows.parse import parse_text

    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise SetupError(f"{file}: cannot be read: {error.strerror}") from error
    document = parse_text(platform, command_text, raw.decode("utf-8", "replace"), parsers=None)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if output:
        Path(output).write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False)
    ctx.exit(ExitCode.CLEAN if document["rows"] else ExitCode.INCOMPLETE)
