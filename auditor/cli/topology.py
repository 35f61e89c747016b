"""`auditor topology`: the fabric as a picture."""

from __future__ import annotations

import click

from auditor.cli.options import write


@click.command("topology")
@click.option("--pod", "pods", multiple=True, metavar="POD", help="Only cables of this pod's devices; may be given again.")
@click.option("--rack", "racks", multiple=True, metavar="RACK", help="Only cables of this rack's devices; may be given again.")
@click.option("--format", "form", type=click.Choice(("html", "svg", "dot")), default="html", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the picture here instead of stdout.")
@click.pass_context
def command(ctx: click.Context, pods: tuple[str, ...], racks: tuple[str, ...], form: str, output: str | None) -> None:
    """Draw the fabric as it was last seen: hosts against leaves by rail, tier against tier, faults coloured.

    Contacts no device: drawn is the plan, with what the last runs left in the store. The page loads nothing from elsewhere.

    \b
    Examples:
      auditor topology -o fabric.html
      auditor topology --pod pod-1 --format svg -o pod-1.svg
      auditor topology --rack B07 --format dot | dot -Tpdf > B07.pdf
    """
    from auditor.report.fabric_map import as_dot, as_html, as_svg
    from auditor.workflows.fabric_map import draw

    drawn = draw(ctx.obj["project"], pods, racks)
    write({"html": as_html, "svg": as_svg, "dot": as_dot}[form](drawn), output)
