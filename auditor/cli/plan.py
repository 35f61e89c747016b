"""`auditor plan`: wiring plans."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from auditor.cli.options import write
from auditor.errors import ExitCode, SetupError

if TYPE_CHECKING:
    from auditor.plan.lint import Linted
    from auditor.workflows.plan import Moves, Translation


@click.group("plan")
def command() -> None:
    """Lint, import, export, generate and compare wiring plans."""


@command.command("lint")
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@click.option("--allow", "allow", multiple=True, metavar="PLANE=RATIO", help="Oversubscription allowed in a plane, like 2:1.")
@click.option("--stored", is_flag=True, help="Also look for ports that devices did not have when they were last seen.")
@click.option("--from", "capture", metavar="CAPTURE", help="Look for such ports in a capture instead.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def lint(ctx: click.Context, file: str | None, allow: tuple[str, ...], stored: bool, capture: str | None, form: str) -> None:
    """Everything wrong with a plan (default: the project's) at once, with file, line and severity, and what its planes carry.

    In a project folder devices are looked up in the inventory. Exit code 2: at least one error; 0: none, warnings perhaps.

    \b
    Examples:
      auditor plan lint
      auditor plan lint plan/pod-2.csv --allow compute=2:1
    """
    from auditor.workflows.plan import lint as lint_plan

    allowed = dict(_pair(text, "--allow") for text in allow)
    ratios = {plane: ratio(text, f"--allow {plane}") for plane, text in allowed.items()}
    done = lint_plan(ctx.obj["project"], file, ratios, use_store=stored, capture=capture)
    if form == "json":
        click.echo(json.dumps(_linted_plain(done), indent=2))
    else:
        from auditor.canonical import printable

        for finding in done.findings:
            click.echo(printable(str(finding), 1000), err=True)
        for line in done.sums:
            click.echo(printable(line, 1000))
        others = len(done.findings) - done.errors
        click.echo(f"{done.errors} errors, {others} warnings and notes")
    ctx.exit(ExitCode.SETUP if done.errors else ExitCode.CLEAN)


def _linted_plain(done: Linted) -> dict[str, Any]:
    names = ("severity", "rule", "message", "file", "line")
    return {"findings": [{name: getattr(item, name) for name in names} for item in done.findings], "sums": list(done.sums)}


def _pair(text: str, option: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise SetupError(f"{option} {text!r}: write it as KEY=VALUE")
    return key, value


def ratio(text: str, option: str) -> Fraction:
    """`2`, `1.5`, `3:1` as a fraction; raises SetupError."""
    try:
        over, _, under = text.partition(":")
        found = Fraction(over) / Fraction(under or 1)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if found < 1:
        raise SetupError(f"{option} {text!r} is no oversubscription; write it like 2:1")
    return found


@command.command("import")
@click.argument("form", metavar="FORMAT|auto")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--url", help="Ask this NetBox server instead of reading a file; its token: AUDITOR_NETBOX_TOKEN.")
@click.option("--site", default="", help="With --url: only the cables of this site (its slug).")
@click.option(
    "--ca-file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="With --url: certificates of your own."
)
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="What the format needs to be told; see the list.")
@click.option("--dry-run", is_flag=True, help="Write nothing; show what was understood.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the plan here instead of stdout.")
@click.pass_context
def import_(
    ctx: click.Context,
    form: str,
    file: Path | None,
    url: str | None,
    site: str,
    ca_file: Path | None,
    options: tuple[str, ...],
    dry_run: bool,
    output: str | None,
) -> None:
    """Read a plan of another tool into the native form. `auditor plan formats` lists the formats and their options.

    What was guessed or left out is listed on stderr, with file and line. Exit code 2: it is no plan (a port used twice, a
    link from a device to itself), and nothing is written.

    \b
    Examples:
      auditor plan import auto topology.dot --dry-run
      auditor plan import p2p wiring.xlsx -o plan/plan.csv
      auditor plan import netbox --url https://netbox.example.net --site dc1 -o plan/plan.csv
    """
    from auditor.workflows.plan import from_netbox, translate

    if (file is None) == (url is None) or (url is not None and form != "netbox"):
        raise click.UsageError("name a FILE, or for netbox a --url")
    told = dict(_pair(text, "--option") for text in options)
    done = translate(file, form, told) if file is not None else from_netbox(url or "", site, ca_file, told)
    _finish_import(ctx, done, output, dry_run=dry_run)


def _finish_import(ctx: click.Context, done: Translation, output: str | None, *, dry_run: bool) -> None:
    from auditor.canonical import printable
    from auditor.workflows.plan import understood

    if dry_run:
        for line in understood(done):
            click.echo(printable(line, 1000))
    for note in done.imported.notes:
        click.echo(printable(f"note: {note}", 1000), err=True)
    for error in done.errors:
        click.echo(printable(str(error), 1000), err=True)
    if done.text and not dry_run:
        write(done.text, output)
    words = f"{len(done.imported.links)} links, {len(done.imported.notes)} notes, {len(done.errors)} errors"
    click.echo(f"{done.format.title}: {words}", err=True)
    ctx.exit(ExitCode.SETUP if done.errors else ExitCode.CLEAN)


@command.command("formats")
def list_formats() -> None:
    """The formats that plans are read from and written in, with the options of each.

    \b
    Example:
      auditor plan formats
    """
    from auditor.plan.formats import formats

    for name, found in formats().items():
        ways = "read and written" if found.write is not None else "read"
        click.echo(f"{name}\t{ways}\t{found.title}: {found.note}")
        for key, meaning in found.options.items():
            click.echo(f"\t--option {key}=…\t{meaning}")


@command.command("export")
@click.argument("form", metavar="FORMAT")
@click.option("--plan", "file", type=click.Path(dir_okay=False), help="This plan instead of the project's.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def export(ctx: click.Context, form: str, file: str | None, output: str | None) -> None:
    """Write the plan in a form that other tools read. Columns that the form does not hold are listed on stderr.

    \b
    Examples:
      auditor plan export dot -o topology.dot
      auditor plan export csv --plan plan/pod-2.csv
    """
    from auditor.workflows.plan import export as export_plan

    text, lost = export_plan(ctx.obj["project"], file, form)
    write(text, output)
    if lost:
        click.echo(f"{form} does not hold: {', '.join(lost)}", err=True)


@command.command("generate")
@click.option("--hosts", type=int, required=True, help="How many hosts in all.")
@click.option("--rails", type=int, default=8, show_default=True, help="NICs of a host: NIC n goes to the leaves of rail n.")
@click.option("--ports", type=int, default=64, show_default=True, help="Ports of every switch.")
@click.option("--speed", default="400G", show_default=True, help="Of every link: 400G, 4xNDR.")
@click.option("--pods", type=int, default=1, show_default=True, help="Share the hosts among pods, joined by cores.")
@click.option("--leaves", type=int, help="Leaves of a pod (default: as few as do).")
@click.option("--leaf-down", type=int, help="The most host ports of a leaf (default: as many as leave room for uplinks).")
@click.option("--spines", type=int, help="Spines of a pod (default: as few as do).")
@click.option("--cores", type=int, help="Cores (default: as few as do).")
@click.option("--oversubscription", default="1:1", show_default=True, help="Host ports of a leaf by uplinks, like 2:1.")
@click.option("--hosts-per-rack", type=int, help="Name racks, with so many hosts in each.")
@click.option("--plane", default="compute", show_default=True)
@click.option("--nic-port", default="nic0", show_default=True, help="First NIC port, or the first two: nic0, mlx5_0, ib0.")
@click.option(
    "--switch-port",
    default="swp1",
    show_default=True,
    help="First switch port, or the first two: Ethernet0,Ethernet8; 1 (InfiniBand).",
)
@click.option("--dry-run", is_flag=True, help="Write no plan; show the sums.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the plan here instead of stdout.")
def generate(output: str | None, dry_run: bool, speed: str, oversubscription: str, **sizes: Any) -> None:
    """A rail-optimised plan from hosts, NICs and switch ports, with its arithmetic: switches, links, optics, ports.

    What cannot be cabled is refused with the reason and what would do. The sums go to stderr where the plan is on stdout.

    \b
    Examples:
      auditor plan generate --hosts 128 --ports 64 --dry-run
      auditor plan generate --hosts 1280 --ports 128 --pods 10 -o plan.csv
    """
    from auditor.plan.document import read_speed
    from auditor.plan.generate import Wanted
    from auditor.workflows.plan import generate as generate_plan

    try:
        bits = read_speed(speed)
    except ValueError as problem:
        raise SetupError(f"--speed: {problem}") from None
    wanted = Wanted(**sizes, speed=bits, oversubscription=ratio(oversubscription, "--oversubscription"))
    text, sums = generate_plan(wanted)
    if not dry_run:
        write(text, output)
    click.echo("\n".join(sums), err=output is None and not dry_run)


@command.command("diff")
@click.argument("one", metavar="A", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("other", metavar="B", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("--lang", type=click.Choice(("en", "zh")), default="en", show_default=True, help="Language of the movements.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def diff(ctx: click.Context, one: Path, other: Path, form: str, lang: str, output: str | None) -> None:
    """What turns plan A into plan B: the hand movements, and what is only written differently. Any format will do for either.

    Exit code 0: they mean the same, 1: they do not.

    \b
    Examples:
      auditor plan diff plan-1.csv plan-2.csv
      auditor plan diff plan-1.csv plan-2.csv --format json -o moves.json
    """
    from auditor.workflows.plan import compare

    moves = compare(ctx.obj["project"], one, other, lang)
    text = json.dumps(_moves_plain(moves), indent=2) + "\n" if form == "json" else _moves_text(moves)
    write(text, output)
    ctx.exit(1 if moves.difference else 0)


def _moves_text(moves: Moves) -> str:
    from auditor.canonical import printable

    found = moves.difference
    out = [
        f"{found.same:,} links stay, {len(found.gone):,} go, {len(found.new):,} come, {len(found.changed):,} are written "
        f"differently: {moves.hands:,} hand movements"
    ]
    out += [f"{number}. {step}" for number, step in enumerate(moves.steps, 1)]
    for item in found.changed:
        words = ", ".join(f"{column} {before or 'none'} -> {after or 'none'}" for column, before, after in item.columns)
        out.append(f"{item.new.a} to {item.new.b}: {words}")
    return "\n".join(printable(line, 1000) for line in out) + "\n"


def _moves_plain(moves: Moves) -> dict[str, Any]:
    found = moves.difference
    return {
        "same": found.same,
        "gone": [link.name for link in found.gone],
        "new": [link.name for link in found.new],
        "changed": [
            {"link": item.new.name, "columns": {name: [before, after] for name, before, after in item.columns}}
            for item in found.changed
        ],
        "hand_movements": moves.hands,
        "steps": list(moves.steps),
    }
