"""`auditor check`: audit devices now."""

from __future__ import annotations

from typing import Any

import click

from auditor.cli.options import colour, report_options, scope_options, scope_text, width, write


@click.command("check")
@scope_options
@click.option("--only", multiple=True, metavar="RULE-GLOB", help="Only rules whose id matches, as mtu.*; may be given again.")
@click.option("--from", "capture", metavar="CAPTURE", help="Read outputs from this capture folder or .tar.gz; contact no device.")
@click.option("--plan", metavar="FILE", help="The wiring plan (CSV) instead of the project's.")
@click.option("--baseline", "baselines", multiple=True, metavar="P@V", help="This baseline instead of the assigned ones.")
@click.option("--no-store", is_flag=True, help="Keep nothing: no database, no history.")
@report_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Audit devices now, tell what is wrong with the lines that prove it, and end with the answer as exit code.

    Works in a project folder (see `auditor -C`). With --from it needs none, and then it stores nothing; a
    baseline that refers to `fabric.yaml` needs the project folder. --baseline goes to every device in scope.

    \b
    Examples:
      auditor check
      auditor check --device leaf-01 --device 'gpu-0*'
      auditor check --rack R01 --only 'mtu.*' --format junit -o report.xml
      auditor check --from captures/clean --role leaf --baseline roce-leaf@1.0.0
    """
    ctx.exit(audit_command(ctx, options, everything=False))


def audit_command(ctx: click.Context, options: dict[str, Any], *, everything: bool) -> int:
    """What `check` and `scan` share; returns the exit code."""
    from auditor.report import Options, formats
    from auditor.workflows import check

    form = check.report_format(formats(), options["form"])
    scope = {name: options.get(name, ()) for name in ("devices", "groups", "roles", "racks", "pods")}
    wish = check.Wish(
        folder=ctx.obj["project"],
        scope=scope,
        scope_text=scope_text(**scope),
        only=options.get("only", ()),
        capture=options.get("capture"),
        plan=options.get("plan"),
        baselines=options.get("baselines", ()),
        keep=not options.get("no_store"),
        everything=everything,
        fail_on=options["fail_on"],
    )
    run, fail_on = check.run(wish, ctx.obj["progress"])
    output = options["output"]
    shown = Options(colour=output is None and colour(), width=width(output), fail_on=fail_on)
    write(form.render(run, shown), output)
    return check.exit_code(run, fail_on.rank, strict=options["strict"])
