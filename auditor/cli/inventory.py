"""`auditor inventory`: who is in it, can they be reached, and where else devices are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from auditor.cli.options import scope_options
from auditor.errors import ExitCode, SetupError

if TYPE_CHECKING:
    from auditor.workflows.inventory_sources import Entry

F = TypeVar("F", bound=Callable[..., Any])


@click.group("inventory")
def command() -> None:
    """Look at the inventory, test logins, and add devices from a plan, a CSV file or NetBox."""


@command.command("test")
@scope_options
@click.pass_context
def test(ctx: click.Context, /, **options: Any) -> None:
    """Log in to each device: does the login work, does sudo -n, and does the platform answer like itself?

    Exit code 0 when every device is ready, 3 when one is not.

    \b
    Examples:
      auditor inventory test
      auditor inventory test --rack R01
    """
    from auditor.workflows.inventory import test_logins

    failed = False
    for line, ready in test_logins(ctx.obj["project"], options, ctx.obj["progress"]):
        failed |= not ready
        click.echo(line)
    ctx.exit(3 if failed else 0)


@command.group("import")
def import_() -> None:
    """Add devices to the inventory (hosts.yaml). What stands there is never changed; a contradiction is an error.

    Exit code 0: every device is there now; 3: some were left out, and stderr says why; 2: nothing was written.
    """


def _choices(texts: Iterable[str], option: str) -> list[tuple[str, str]]:
    out = []
    for text in texts:
        glob, equals, value = text.rpartition("=")
        if not equals or not glob or not value:
            raise SetupError(f"{option} {text!r}: write it as GLOB=VALUE")
        out.append((glob, value))
    return out


def _merge_options(function: F) -> F:
    for option in (
        click.option("--dry-run", is_flag=True, help="Write nothing; show what would be new."),
        click.option("--skip", multiple=True, metavar="GLOB", help="Devices that are not wanted; may be given again."),
        click.option("--group", multiple=True, metavar="GLOB=GROUP", help="Groups of groups.yaml that new devices get."),
        click.option("--role", multiple=True, metavar="GLOB=ROLE", help="The role of new devices."),
        click.option("--platform", multiple=True, metavar="GLOB=NAME[,NAME]", help="The platforms of new devices."),
    ):
        function = option(function)
    return function


def _finish(ctx: click.Context, entries: list[Entry], left: list[str], options: dict[str, Any]) -> None:
    from auditor.canonical import printable
    from auditor.workflows.inventory_import import merge, save

    dry_run = options.pop("dry_run")
    given = {name: _choices(options[name], f"--{name}") for name in ("platform", "role", "group")}
    done = merge(ctx.obj["project"], entries, skip=options["skip"], **given)
    for entry in done.new:
        words = [*entry.platforms, *entry.groups, *(f"{key}={value}" for key, value in entry.data.items()), entry.address]
        click.echo(printable(f"new\t{entry.name}\t{' '.join(word for word in words if word)}", 500))
    for name, values in done.filled:
        click.echo(printable(f"filled\t{name}\t{' '.join(f'{key}={value}' for key, value in values.items())}", 500))
    left = [*left, *done.left_out]
    for reason in left:
        click.echo(printable(f"left out: {reason}", 500), err=True)
    if not dry_run and (done.new or done.filled):
        save(done)
    did = "would be written" if dry_run else "written" if done.new or done.filled else "not changed"
    counts = f"{len(done.new)} new, {len(done.filled)} filled in, {done.same} as they were, {len(left)} left out"
    click.echo(f"{done.file}: {counts}; {did}", err=True)
    ctx.exit(ExitCode.INCOMPLETE if left else ExitCode.CLEAN)


@import_.command("plan")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False))
@click.option("--format", "form", default="auto", metavar="FORMAT", help="The plan's format (default: told from the file).")
@click.option("--option", "told", multiple=True, metavar="KEY=VALUE", help="What the format needs to be told.")
@_merge_options
@click.pass_context
def from_plan(ctx: click.Context, /, file: str | None, form: str, told: tuple[str, ...], **options: Any) -> None:
    """Every device that a wiring plan names (default: the project's plan), with rack, position and role as far as it says.

    A plan rarely names platforms: give them by glob, or by a group of groups.yaml that has one.

    \b
    Examples:
      auditor inventory import plan --group 'leaf-*=leaf' --group 'gpu-*=gpu_host' --dry-run
      auditor inventory import plan wiring.xlsx --platform 'gpu*=linux' --skip 'pdu*'
    """
    from auditor.workflows import inventory_sources

    entries, _ = inventory_sources.from_plan(ctx.obj["project"], file, form, dict(_choices(told, "--option")))
    _finish(ctx, entries, [], options)


@import_.command("csv")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_merge_options
@click.pass_context
def from_csv(ctx: click.Context, /, file: Path, **options: Any) -> None:
    """Devices of a CSV file: name, address, port, platform(s), groups, role, site, pod, rack, position, hardware_model,
    bmc_address, status. Only the column name must be there; several platforms or groups are separated by blanks.

    \b
    Example:
      auditor inventory import csv devices.csv --dry-run
    """
    from auditor.workflows import inventory_sources

    _finish(ctx, inventory_sources.from_csv(file), [], options)


_ca_option = click.option(
    "--ca-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Certificates to trust instead of the system's.",
)


@import_.command("netbox")
@click.argument("source", metavar="URL|FILE")
@click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Such as site=dc1 or role=leaf (URL only).")
@_ca_option
@_merge_options
@click.pass_context
def from_netbox(ctx: click.Context, /, source: str, filters: tuple[str, ...], ca_file: Path | None, **options: Any) -> None:
    """Devices of NetBox, by its REST API or from a file of `inventory fetch`. AUDITOR_NETBOX_TOKEN holds the token.

    A platform of NetBox counts when its slug is one of ours; others are given by glob. Status active becomes accepted,
    staged installed, planned planned; other devices, and those without a platform, are left out.

    \b
    Examples:
      auditor inventory import netbox https://netbox.example.net --filter site=dc1 --dry-run
      auditor inventory import netbox netbox.json --platform 'gpu-*=linux'
    """
    from auditor.workflows import netbox

    entries, left = netbox.devices(source, _choices(filters, "--filter"), ca_file)
    _finish(ctx, entries, left, options)


@command.command("fetch")
@click.argument("url")
@click.option("--site", default="", metavar="SLUG", help="Only cables of this site.")
@_ca_option
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Write the document here.")
def fetch(url: str, site: str, ca_file: Path | None, output: Path) -> None:
    """Cables and devices of NetBox as one JSON file, for `plan import netbox FILE` and `inventory import netbox FILE`.

    Reads only. AUDITOR_NETBOX_TOKEN holds a token that may read; it is sent to this address alone, over TLS.

    \b
    Example:
      auditor inventory fetch https://netbox.example.net --site dc1 -o netbox.json
    """
    from auditor.workflows import netbox

    click.echo(f"{output}: {netbox.fetch(url, site, ca_file, output)}", err=True)
