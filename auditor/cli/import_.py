"""`auditor baseline import`: checks of other tools as a baseline."""

from __future__ import annotations

from pathlib import Path

import click

from auditor.errors import ExitCode


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--format", "form", default="", metavar="FORMAT", help="napalm or anta (default: told from the file).")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Also ANTA tests for devices with this tag; may be given again."
)
@click.option("--to", required=True, metavar="PROFILE@VERSION", help="What the baseline is to be called.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here, to a new file (default: stdout)."
)
@click.pass_context
def command(ctx: click.Context, file: Path, form: str, tags: tuple[str, ...], to: str, output: Path | None) -> None:
    """Turn a NAPALM validate file or an ANTA catalog into a baseline, as far as its checks are about our facts.

    What was left out is listed on stderr with file, line and reason, and so is what a line now means that its check did
    not. Exit code 0: every check has its line; 3: some were left out; 2: the file is neither.

    \b
    Examples:
      auditor baseline import validate-leaf.yml --to site-leaf@1.0.0 -o baselines/site-leaf/1.0.0.yaml
      auditor baseline import catalog.yml --tag spine --to site-spine@1.0.0
    """
    from auditor.canonical import printable
    from auditor.workflows.baseline_import import save, told, translate

    done = translate(file, to, form, tags)
    lines, left = done.imported.lines, done.imported.left_out
    if done.text and output is not None:
        save(done.text, output)
    elif done.text:
        click.echo(done.text, nl=False)
    for note in done.imported.notes:
        where = ", ".join(map(str, note.lines[:10])) + (" …" if len(note.lines) > 10 else "")
        click.echo(printable(f"note: {file}:{where}: {note.text}", 1000), err=True)
    for item in left:
        click.echo(printable(f"left out: {told(item, str(file))}", 1000), err=True)
    wrote = "nothing to write" if not lines else f"{len(lines)} lines"
    click.echo(f"{done.format.title}: {wrote}, {len(left)} left out", err=True)
    ctx.exit(ExitCode.INCOMPLETE if left or not lines else ExitCode.CLEAN)
