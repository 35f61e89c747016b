"""`auditor baseline learn`: a first baseline from the devices that are there."""

from __future__ import annotations

from typing import Any

import click

from auditor.cli.options import scope_options
from auditor.errors import ExitCode


@click.command("learn")
@scope_options
@click.option("--from", "capture", metavar="CAPTURE", help="Learn from this capture instead of the last stored states.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write: baselines/<profile>/<version>.yaml.")
@click.option(
    "--share", type=click.FloatRange(0.5, 1.0, min_open=True), default=0.9, show_default=True, help="Share that must agree."
)
@click.option("--least", type=click.IntRange(1), default=3, show_default=True, help="Devices that must agree.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Propose a baseline from what most devices of a role agree on; a person reviews it and assigns it.

    Devices are taken together by role, platform, hardware model and port group. Who differs is named beside the line. What
    a rule calls faulty is never written, however many have it.

    \b
    Examples:
      auditor baseline learn --role leaf -o baselines/site-leaf/1.0.0.yaml
      auditor baseline learn --role gpu_host --from capture/ -o baselines/site-host/1.0.0.yaml
    """
    from auditor.workflows.learn import learn

    scope = {name: options[name] for name in ("devices", "groups", "roles", "racks", "pods")}
    done = learn(
        ctx.obj["project"],
        options["output"],
        scope,
        ctx.obj["progress"],
        capture=options["capture"],
        share=options["share"],
        least=options["least"],
    )
    lesson = done.lesson
    odd = sum("; not " in line.note for line in lesson.lines)
    count = len(lesson.lines) + len(lesson.psids)
    click.echo(f"{done.file}: {count} lines from {lesson.members} devices; {odd} of them name devices that differ")
    for text in lesson.refused:
        click.echo(f"not written, the whole fleet may be wrong: {text}")
    if lesson.open:
        click.echo(f"not written, too few agree: {len(lesson.open)} places, listed at the end of the file")
    for text in (*lesson.small, *(f"{name}: nothing is known of it" for name in done.unseen)):
        click.echo(text, err=True)
    click.echo("Nothing is assigned. Review it, run `auditor baseline lint`, then name it in baselines/assignments.yaml.")
    ctx.exit(ExitCode.INCOMPLETE if done.unseen else ExitCode.CLEAN)
