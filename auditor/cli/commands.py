"""`auditor commands`: what would be sent."""

from __future__ import annotations

import json

import click

from auditor.cli.options import write


@click.command("commands")
@click.argument("devices", nargs=-1, metavar="[DEVICE]...")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def command(ctx: click.Context, devices: tuple[str, ...], form: str, output: str | None) -> None:
    """List every command that would be sent, its privilege and deadline, and the rules that read its answer.

    Nothing else is ever sent. DEVICE is a name or glob; without one, every device of the project.

    \b
    Examples:
      auditor commands leaf-01
      auditor commands 'gpu-*' --format json -o for-the-security-team.json
    """
    from auditor.workflows.commands import sent_to
    from auditor.workflows.project import load_project

    project = load_project(ctx.obj["project"])
    chosen = project.inventory.select(devices=devices)
    sent = sent_to(chosen, {device.name: project.baselines_for(device) for device in chosen}, project.inventory.routes)
    if form == "json":
        rows = [{name: getattr(item, name) for name in item.__slots__} for item in sent]
        write(json.dumps(rows, indent=2) + "\n", output)
        return
    lines = []
    for item in sent:
        read = ", ".join(item.rules) or "no rule; kept as state"
        lines.append(f"{item.device}\t{item.command}\t{item.privilege}\t{item.seconds:g} s\t{read}")
    write("device\tcommand\tprivilege\tdeadline\tread by\n" + "\n".join(lines) + "\n", output)
