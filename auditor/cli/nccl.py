"""`auditor nccl`: is this job's network what the machines have, as the library's own logs show it."""

from __future__ import annotations

import json
from typing import Any

import click

from auditor.cli.options import colour, report_options, width, write


@click.group("nccl")
def command() -> None:
    """Judge jobs by the logs of the collective library.

    \b
    Examples:
      auditor nccl check all_reduce.log
      auditor nccl check logs/rank-*.log --plan plan/cables.csv
    """


@command.command("check")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...", type=click.Path(allow_dash=True))
@click.option("--plan", metavar="FILE", help="The wiring plan (CSV): which rail each adapter of a host hangs on.")
@click.option(
    "--rail-of", "rail_of", multiple=True, metavar="[HOST:]DEVICE=RAIL", help="The rail of a device; comes before the plan."
)
@report_options
@click.pass_context
def check_command(ctx: click.Context, /, **options: Any) -> None:
    """An acceptance verdict on one job from its logs (NCCL or RCCL, NCCL_DEBUG=INFO), with the hosts that spoil it.

    LOG are all files of the job, as plain text or gzip, from all ranks in one file or in many; - reads standard input. What
    mpirun, srun, container engines and log collectors put around a line does no harm. Nothing is stored and no host is asked.

    Ends with 0 only when every rank of the job is in the logs, from its start to its connections, and nothing is wrong; with 3
    when nothing is wrong in what was seen.

    \b
    Examples:
      auditor nccl check all_reduce.log
      auditor nccl check logs/*.log.gz --plan plan/cables.csv
      auditor nccl check job.log --rail-of mlx5_0=1 --rail-of mlx5_3=2
      srun ... | auditor nccl check - --format json
    """
    from auditor.errors import SetupError
    from auditor.model import Severity
    from auditor.report import Options, formats
    from auditor.workflows import nccl
    from auditor.workflows.check import report_format

    form = report_format(formats(), options["form"])
    fail_on = Severity(options["fail_on"] or Severity.ERROR)
    if list(options["logs"]).count(nccl.STDIN) > 1:
        raise SetupError("standard input can be read once")
    done = nccl.check(options["logs"], options["plan"], options["rail_of"], fail_on, strict=options["strict"])
    output = options["output"]
    if form.name == "json":
        text = json.dumps(nccl.document(done), indent=2, allow_nan=False) + "\n"
    else:
        shown = Options(colour=output is None and colour(), width=width(output), fail_on=fail_on)
        parts = [nccl.summary(done)] if form.name == "text" else []
        if done.run.findings or done.run.gaps or done.run.notes or not parts:
            parts.append(form.render(done.run, shown))
        text = "\n".join(parts)
    write(text, output)
    ctx.exit(done.code)
