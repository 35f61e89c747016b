"""`auditor findings`: what the store remembers of findings."""

from __future__ import annotations

from contextlib import closing

import click

STATES = ("open", "regressed", "flapping", "unverified", "waived", "resolved", "withdrawn")


@click.group("findings")
def command() -> None:
    """List, show and waive stored findings."""


@command.command("list")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice((*STATES, "all")),
    help="Only these states (default: all but resolved and withdrawn).",
)
@click.pass_context
def list_(ctx: click.Context, states: tuple[str, ...]) -> None:
    """One line per stored finding.

    \b
    Examples:
      auditor findings list
      auditor findings list --state resolved
    """
    from auditor.canonical import printable
    from auditor.workflows.project import load_settings, open_project_store

    wanted = STATES if "all" in states else states or STATES[:5]
    with closing(open_project_store(load_settings(ctx.obj["project"]), create=False)) as store:
        for finding in store.findings(wanted):
            life = (finding.fingerprint, finding.status, finding.severity, finding.first_seen)
            words = (*life, finding.rule, finding.object, finding.message)
            click.echo("\t".join(printable(str(word)) for word in words))


@command.command("show")
@click.argument("fingerprint")
@click.pass_context
def show(ctx: click.Context, fingerprint: str) -> None:
    """One stored finding with its evidence. FINGERPRINT may be shortened as long as it is unique.

    \b
    Example:
      auditor findings show 3fa9c1
    """
    from auditor.canonical import printable
    from auditor.errors import SetupError
    from auditor.workflows.project import load_settings, open_project_store

    with closing(open_project_store(load_settings(ctx.obj["project"]), create=False)) as store:
        found = [finding for finding in store.findings(STATES) if finding.fingerprint.startswith(fingerprint)]
    if len(found) != 1:
        raise SetupError(f"{len(found) or 'no'} findings begin with {fingerprint!r}")
    finding = found[0]
    for name in (
        "fingerprint",
        "status",
        "severity",
        "first_seen",
        "rule",
        "object",
        "address",
        "expected",
        "observed",
        "message",
    ):
        click.echo(f"{name:12} {printable(str(getattr(finding, name)))}")
    for line in finding.evidence:
        click.echo(f"evidence     {line.device}: {printable(line.command)} ({line.locator})")
        for text in line.excerpt.splitlines():
            click.echo(f"             | {printable(text)}")


@command.command("waive")
@click.argument("fingerprint", required=False)
@click.option("--gap", metavar="DEVICE:TABLE[:REASON]", help="Waive this gap (globs) instead of a finding.")
@click.option("--owner", required=True, help="Who answers for it.")
@click.option("--reason", required=True, help="Why it is accepted.")
@click.option(
    "--expires", required=True, metavar="DAY", help="The last day it holds, like 2030-01-31; then it is a finding itself."
)
@click.pass_context
def waive(ctx: click.Context, fingerprint: str | None, gap: str | None, owner: str, reason: str, expires: str) -> None:
    """Accept a finding, or a gap, until a day: written into baselines/waivers.yaml, in force from the next run.

    FINGERPRINT may be shortened as long as it is unique. What stands in the file stays, comments included.

    \b
    Examples:
      auditor findings waive 3fa9c1 --owner netops --reason 'waits for CHG-7' --expires 2030-01-31
      auditor findings waive --gap 'gpu-0*:firmware' --owner netops --reason 'no sudo there' --expires 2030-01-31
    """
    from auditor.canonical import printable
    from auditor.workflows.waive import waive as write_waiver

    file, waiver, remark = write_waiver(ctx.obj["project"], fingerprint, gap, owner, reason, expires)
    click.echo(f"{file}: waived {printable(remark or waiver.gap)} until {waiver.expires}")
