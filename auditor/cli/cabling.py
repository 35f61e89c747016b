"""`auditor cabling`: which cable is wrong, which hand movement mends it, and the sheet for the rack."""

from __future__ import annotations

from typing import Any

import click

from auditor.cli.options import colour, report_options, scope_options, scope_text, width, write


@click.group("cabling")
def command() -> None:
    """Prove the cables of the plan, find the cause behind wrong ones, and print the shortest work order.

    \b
    Examples:
      auditor cabling check --rack R01
      auditor cabling check --rack R01 --watch
      auditor cabling sheet --rack R01 -o sheet.html
    """


@command.command("check")
@scope_options
@click.option("--watch", is_flag=True, help="Ask the scope again and again; tell what turned green; end when all is.")
@click.option(
    "--every", type=click.FloatRange(1, 3600), default=5.0, show_default=True, help="Seconds between two looks of --watch."
)
@click.option("--rails", is_flag=True, help="Without a plan: judge by the rail rule, as most hosts keep it.")
@click.option("--from", "capture", metavar="CAPTURE", help="Read outputs from this capture folder or .tar.gz; contact no device.")
@click.option("--plan", metavar="FILE", help="The wiring plan (CSV) instead of the project's.")
@click.option("--no-store", is_flag=True, help="Keep nothing: no database, no history.")
@click.option("--lang", type=click.Choice(("en", "zh")), default="en", show_default=True, help="Language of titles and steps.")
@report_options
@click.pass_context
def check_command(ctx: click.Context, /, **options: Any) -> None:
    """Compare the cables with the plan: what is wrong, why, and the steps that mend it, plug by plug.

    The far ends of the scope's cables are asked too. Ends with 0 only when every planned cable that is built was
    proven; with 3 when some was not, and nothing is wrong. Other things that could not be seen count with --strict.

    \b
    Examples:
      auditor cabling check --rack R01
      auditor cabling check --from captures/clean
      auditor cabling check --from captures/clean --rails
      auditor cabling check --rack R01 --lang zh
    """
    from auditor.report import Options, formats
    from auditor.workflows import cabling, check

    form = check.report_format(formats(), options["form"])
    scope = {name: options.get(name, ()) for name in ("devices", "groups", "roles", "racks", "pods")}
    wish = cabling.wish(
        check.Wish(
            folder=ctx.obj["project"],
            scope=scope,
            scope_text=scope_text(**scope),
            capture=options["capture"],
            plan=options["plan"],
            keep=not options["no_store"] and not options["rails"],
            fail_on=options["fail_on"],
            lang=options["lang"],
        ),
        rails=options["rails"],
    )
    if options["watch"]:
        if options["capture"] or options["output"]:
            raise click.UsageError("--watch asks devices and writes to the screen: it goes with neither --from nor -o")
        ctx.exit(_watch(ctx, wish, options["every"]))
    run, fail_on = check.run(wish, ctx.obj["progress"])
    output = options["output"]
    shown = Options(colour=output is None and colour(), width=width(output), fail_on=fail_on)
    write(form.render(run, shown), output)
    ctx.exit(cabling.exit_code(run, fail_on.rank, strict=options["strict"]))


def _watch(ctx: click.Context, wish: Any, every: float) -> int:
    """Tell each look in a few lines; returns 0 when everything is right, 1 when the person stops before."""
    from auditor.canonical import printable
    from auditor.workflows import cabling

    shown: tuple[str, ...] = ()
    try:
        for look in cabling.watch(wish, ctx.obj["progress"], every):
            for name in look.green:
                click.secho(f"right now: {printable(name, 200)}", fg="green")
            lines = tuple(
                line for cause in look.run.causes for line in (cause.title, *(f"  {step}" for step in cause.work_order))
            )
            waiting = tuple(
                f"waiting for LLDP ({seconds:.0f} s; frames come every {cabling.LLDP_INTERVAL_S:.0f} s): {printable(name, 200)}"
                for name, seconds in look.waiting.items()
            )
            if lines != shown:
                for line in lines:
                    click.echo(printable(line, 400))
                shown = lines
            for line in waiting:
                click.secho(line, fg="yellow")
            click.echo(f"{len(look.open)} cables not right yet" if look.open else "every planned cable of the scope is right")
    except KeyboardInterrupt:
        return 1
    return 0


@command.command("sheet")
@click.option("--rack", "racks", multiple=True, metavar="RACK", help="Cables of this rack; may be given again; none: all.")
@click.option("--plan", metavar="FILE", help="The wiring plan (CSV) instead of the project's.")
@click.option(
    "--format", "form", type=click.Choice(("html", "csv")), default=None, help="By default what -o is called, else CSV."
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the sheet here instead of stdout.")
@click.pass_context
def sheet_command(ctx: click.Context, racks: tuple[str, ...], plan: str | None, form: str | None, output: str | None) -> None:
    """Print the cables of a rack: label, both ends, place on the faceplate, a box to tick.

    \b
    Examples:
      auditor cabling sheet --rack R01 -o sheet.html
      auditor cabling sheet --rack R01 --format csv
    """
    from auditor.report.sheet import as_csv, as_html
    from auditor.workflows import cabling

    lines = cabling.sheet(ctx.obj["project"], racks, plan)
    html = form == "html" or (form is None and bool(output) and str(output).lower().endswith((".html", ".htm")))
    title = "Cables of " + ", ".join(racks) if racks else "All cables"
    write(as_html(lines, title) if html else as_csv(lines), output)
