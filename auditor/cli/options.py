"""Options that several commands share, and what they mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from auditor.errors import FileError

F = TypeVar("F", bound=Callable[..., Any])

SEVERITIES = ("critical", "error", "warning", "information")


def scope_options(function: F) -> F:
    """`--device`, `--group`, `--role`, `--rack`, `--pod`: which devices are judged (all of them together; none: every device)."""
    for option in (
        click.option("--pod", "pods", multiple=True, metavar="POD", help="Devices of this pod; may be given again."),
        click.option("--rack", "racks", multiple=True, metavar="RACK", help="Devices in this rack; may be given again."),
        click.option("--role", "roles", multiple=True, metavar="ROLE", help="Devices of this role; may be given again."),
        click.option("--group", "groups", multiple=True, metavar="GROUP", help="Devices of this inventory group."),
        click.option(
            "--device", "devices", multiple=True, metavar="NAME|GLOB", help="Devices by name or glob; may be given again."
        ),
    ):
        function = option(function)
    return function


def _writable(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001 (click's signature)
    """Refuse a place that cannot be written before devices are asked for an hour."""
    if value is not None and not os.access(Path(value).absolute().parent, os.W_OK):
        raise click.BadParameter(f"the folder of {value!r} does not exist or may not be written to")
    return value


def report_options(function: F) -> F:
    """`--format`, `-o`, `--fail-on`, `--strict`."""
    for option in (
        click.option("--strict", is_flag=True, help="What a platform cannot show makes the run incomplete too."),
        click.option(
            "--fail-on", type=click.Choice(SEVERITIES), default=None, help="The mildest severity that ends with exit code 1."
        ),
        click.option(
            "-o", "--output", type=click.Path(dir_okay=False), callback=_writable, help="Write the report here instead of stdout."
        ),
        click.option("--format", "form", default="text", show_default=True, metavar="FORMAT", help="text, json or junit."),
    ):
        function = option(function)
    return function


def scope_text(
    devices: tuple[str, ...], groups: tuple[str, ...], roles: tuple[str, ...], racks: tuple[str, ...], pods: tuple[str, ...]
) -> str:
    """The scope in words, as reports and the store keep it."""
    named = {"device": devices, "group": groups, "role": roles, "rack": racks, "pod": pods}
    return " ".join(f"{name}={','.join(values)}" for name, values in named.items() if values) or "all"


def write(text: str, output: str | None) -> None:
    """A finished report to a file, whole or not at all, or to stdout. Raises FileError.

    A reader who has seen enough (`| head`) changes nothing about the exit code.
    """
    if output is None:
        try:
            click.echo(text, nl=False)
        except BrokenPipeError:
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (nothing more can be written)
        return
    target = Path(output)
    try:
        if target.exists() and not target.is_file():  # a pipe, or /dev/stdout
            target.write_text(text, encoding="utf-8")
            return
        part = target.with_name(target.name + ".part")
        part.write_text(text, encoding="utf-8")
        part.replace(target)
    except OSError as error:
        raise FileError(f"the report could not be written: {error.strerror}", target) from error


def colour() -> bool:
    """Whether stdout is a terminal that wants colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def width(output: str | None) -> int | None:
    """The width of the terminal the report goes to; None for files and pipes."""
    import shutil

    return shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
