"""`auditor baseline`: what devices should be."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from auditor.cli.import_ import command as import_
from auditor.cli.learn import command as learn
from auditor.cli.options import scope_options, write
from auditor.errors import ExitCode, SetupError

if TYPE_CHECKING:
    from auditor.model import Finding
    from auditor.workflows.impact import ImpactReport


@click.group("baseline")
def command() -> None:
    """List, lint, explain, compare and release baselines."""


command.add_command(import_)
command.add_command(learn)


@command.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """Every profile and version that can be used here, and where it lies.

    \b
    Example:
      auditor baseline list
    """
    from auditor.workflows.baseline import listed

    for profile, version, changes, file in listed(ctx.obj["project"]):
        click.echo(f"{profile}@{version}\t{changes}\t{file}")


@command.command("lint")
@click.pass_context
def lint(ctx: click.Context) -> None:
    """Read every baseline, assignment, waiver, fabric and plan document; report all errors at once, with file and line.

    \b
    Example:
      auditor baseline lint
    """
    from auditor.workflows.baseline import lint as lint_project

    errors, counted = lint_project(ctx.obj["project"])
    for error in errors:
        click.echo(str(error), err=True)
    click.echo(f"{counted} documents, {len(errors)} errors")
    ctx.exit(ExitCode.SETUP if errors else ExitCode.CLEAN)


@command.command("show")
@click.argument("device")
@click.option("--why", is_flag=True, help="With file and line of every value, which `extends` it came by, and what it replaced.")
@click.option(
    "--at", "moment", metavar="TIME", help="At this time, like 2030-05-06T22:00:00Z, where a rollout decides (default: now)."
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.pass_context
def show(ctx: click.Context, device: str, why: bool, moment: str | None, form: str) -> None:
    """What DEVICE must be: every line and param in force. In the window of a rollout both versions are shown.

    \b
    Examples:
      auditor baseline show leaf-01
      auditor baseline show leaf-01 --why
    """
    from auditor.baseline.telling import explanation_lines, explanation_plain
    from auditor.workflows.baseline import shown

    found, explanations = shown(ctx.obj["project"], device, None if moment is None else _moment(moment))
    if form == "json":
        click.echo(json.dumps({"device": found.name, "versions": [explanation_plain(one) for one in explanations]}, indent=2))
        return
    for number, one in enumerate(explanations):
        word = "" if len(explanations) == 1 else "either " if number == 0 else "or "
        click.echo(f"{found.name}: {word}{', '.join(map(str, one.uses)) or 'no baseline is assigned'}")
        for line in explanation_lines(one, why=why):
            click.echo(line)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise SetupError(f"--at {text!r} is no time with its zone; write it like 2030-05-06T22:00:00Z")
    return found


@command.command("diff")
@click.argument("one", metavar="P@A")
@click.argument("other", metavar="P@B")
@click.option("--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def diff(ctx: click.Context, one: str, other: str, form: str, output: str | None) -> None:
    """What changes in meaning from P@A to P@B, everything they extend included. Exit code 0: nothing, 1: something.

    \b
    Examples:
      auditor baseline diff roce-leaf@1.0.0 roce-spine@1.0.0
      auditor baseline diff roce-leaf@1.0.0 roce-spine@1.0.0 --format markdown -o change-request.md
    """
    from auditor.baseline import telling
    from auditor.workflows.baseline import compared

    found, changes = compared(ctx.obj["project"], one, other)
    if form == "json":
        text = json.dumps(telling.difference_plain(one, other, found), indent=2) + "\n"
    elif form == "markdown":
        text = telling.difference_markdown(one, other, found, changes)
    else:
        text = telling.difference_text(one, other, found, changes)
    write(text, output)
    ctx.exit(1 if found else 0)


@command.command("freeze")
@click.argument("baseline", metavar="PROFILE@VERSION")
@click.pass_context
def freeze(ctx: click.Context, baseline: str) -> None:
    """Release a version: its digest, and those of all that it extends, go into baselines/digests.yaml.

    From then on `auditor baseline lint` refuses the file when it is changed. Commit digests.yaml with the baselines.

    \b
    Example:
      auditor baseline freeze my-leaf@1.1.0
    """
    from auditor.workflows.baseline import frozen

    names = frozen(ctx.obj["project"], baseline)
    for name in names:
        click.echo(f"released {name}")
    if not names:
        click.echo(f"{baseline} is released already and unchanged")


@command.command("impact")
@click.argument("baseline", metavar="PROFILE@VERSION")
@scope_options
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def impact(ctx: click.Context, /, baseline: str, form: str, output: str | None, **scope: Any) -> None:
    """Who would fail by PROFILE@VERSION, and who would be well again, going by the last stored states. Stores nothing.

    Judges what the baseline decides: its lines, and rules it gives params to. Without a scope: the devices that are assigned
    a version of the profile. Exit code 1: new failures at or above `fail_on`; 3: some could not be judged, and otherwise none.

    \b
    Examples:
      auditor baseline impact my-leaf@1.1.0
      auditor baseline impact my-leaf@1.1.0 --rack R01 --format json -o impact.json
    """
    from auditor.workflows.impact import impact as judge
    from auditor.workflows.project import load_project, open_project_store

    project = load_project(ctx.obj["project"])
    devices = project.inventory.select(**scope) if any(scope.values()) else None
    with closing(open_project_store(project.settings, create=False)) as store:
        report = judge(project, store, baseline, devices, ctx.obj["progress"].step)
    write(json.dumps(_impact_plain(report), indent=2) + "\n" if form == "json" else _impact_text(report), output)
    failing = bool(report.failing(project.settings.fail_on))
    ctx.exit(ExitCode.CAUSES if failing else ExitCode.INCOMPLETE if report.incomplete else ExitCode.CLEAN)


DEVICES_SHOWN = 20
"""Devices that the text lists one by one; JSON lists all."""


def _impact_text(report: ImpactReport) -> str:
    from auditor.canonical import printable

    new = [one for one in report.devices if one.new]
    fixed = [one for one in report.devices if one.fixed]
    out = [
        f"{report.use}: {len(report.devices)} devices judged by their stored states: {len(new)} would fail anew, "
        f"{len(fixed)} would have failures less, {len(report.stays)} stay as they are"
    ]
    if report.rules:
        out += ["", f"{'new':>6} {'fixed':>6} {'stay':>6} {'unseen':>6}  rule"]
        for rule, counts in report.rules.items():
            out.append(" ".join(f"{counts[kind]:>6}" for kind in ("new", "fixed", "staying", "unjudged")) + f"  {rule}")
    for title, several, kind in (("would fail", new, "new"), ("would be well", fixed, "fixed")):
        out += ["", f"{title}:"] if several else []
        for one in several[:DEVICES_SHOWN]:
            findings: tuple[Finding, ...] = getattr(one, kind)
            out.append(f"  {one.device} (seen {one.collected_at:%Y-%m-%d %H:%M})")
            out += [f"    {found.severity} {found.rule}: {printable(found.message, 200)}" for found in findings[:3]]
            out += [f"    and {len(findings) - 3} more"] if len(findings) > 3 else []
        out += [f"  and {len(several) - DEVICES_SHOWN} more devices"] if len(several) > DEVICES_SHOWN else []
    for one in report.devices:
        out += [f"{one.device}: could not be judged: {printable(one.error, 200)}"] if one.error else []
    if report.unstored:
        out += ["", f"never seen, so not judged ({len(report.unstored)}): {', '.join(report.unstored[:DEVICES_SHOWN])}"]
    return "\n".join(out) + "\n"


def _impact_plain(report: ImpactReport) -> dict[str, Any]:
    def plain(findings: tuple[Finding, ...]) -> list[dict[str, str]]:
        names = ("fingerprint", "rule", "object", "expected", "observed", "message")
        return [{name: getattr(one, name) for name in names} | {"severity": str(one.severity)} for one in findings]

    return {
        "baseline": str(report.use),
        "rules": report.rules,
        "devices": [
            {
                "device": one.device,
                "collected_at": one.collected_at.isoformat(),
                "new": plain(one.new),
                "fixed": plain(one.fixed),
                "staying": plain(one.staying),
                "judged": one.judged,
                "unjudged": one.unjudged,
                "error": one.error,
            }
            for one in report.devices
        ],
        "unstored": list(report.unstored),
    }


@command.command("promote")
@click.argument("device")
@click.option(
    "--table", "tables", multiple=True, metavar="TABLE|GLOB", help="Only these tables; may be given again (default: all)."
)
@click.option("--to", required=True, metavar="PROFILE@VERSION", help="The version to propose; it must not exist.")
@click.pass_context
def promote(ctx: click.Context, device: str, tables: tuple[str, ...], to: str) -> None:
    """Propose a new version from the stored values of a tuned DEVICE, for a person to review.

    Writes baselines/<profile>/<version>.yaml.review and never overwrites: nothing uses it until its ending is taken off.
    Volatile columns and what merely names a thing (serials, addresses, descriptions) are left out.

    \b
    Example:
      auditor baseline promote leaf-01 --table queue --table 'buffer*' --to my-leaf@1.2.0
    """
    from auditor.workflows.project import load_project, open_project_store
    from auditor.workflows.promote import promote as propose

    project = load_project(ctx.obj["project"])
    with closing(open_project_store(project.settings, create=False)) as store:
        done = propose(project, store, device, to, tables)
    click.echo(f"{done.file}: {done.lines} lines" + (f" on top of {done.extends}" if done.extends else ""))
    if done.failing:
        click.echo(f"{device} itself has {len(done.failing)} findings by it: see the head of the file", err=True)
