"""`auditor explain`: why something is as it is, from what the store knows; what rules and columns mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from auditor.cli.options import colour, width, write

if TYPE_CHECKING:
    from auditor.workflows.explain import Chain, Explanation

STYLES = {"broken": "bold red", "unknown": "yellow", "unsupported": "cyan"}


class Words(click.Group):
    """A group whose commands are also the symptoms, and every rule, line of a baseline, table and column."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, then the symptoms; rules and columns are many, and stand in the reference."""
        from auditor.workflows.triage import symptoms

        return [*super().list_commands(ctx), *symptoms()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command, a symptom, or whatever else the word means."""
        from auditor.workflows.triage import symptoms

        found = super().get_command(ctx, cmd_name)
        if found is not None:
            return found
        return _symptom(cmd_name) if cmd_name in symptoms() else _meaning(cmd_name)


@click.group("explain", cls=Words)
def command() -> None:
    """Show why something is as it is. Contacts no device.

    A symptom (low-bandwidth, nccl-timeout, hang, slow-node, pfc-storm) gives the open causes that explain it. The id of a rule or
    of a line of a baseline says what it judges; TABLE or TABLE.COLUMN what is collected, and from where.

    \b
    Examples:
      auditor explain low-bandwidth --device gpu-01
      auditor explain nccl-timeout --job job-417.log
      auditor explain mtu.link_ends_differ
      auditor explain interface.mtu
    """


def _symptom(name: str) -> click.Command:
    from auditor.workflows.triage import symptoms

    @click.command(name, short_help=symptoms()[name].title)
    @click.option("--device", "devices", multiple=True, metavar="NAME", help="A host that shows it; its way comes first.")
    @click.option("--job", "logs", multiple=True, metavar="LOG", help="A log of the job: its hosts count as named.")
    @click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
    @click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
    @click.pass_context
    def symptom(ctx: click.Context, devices: tuple[str, ...], logs: tuple[str, ...], form: str, output: str | None) -> None:
        from auditor.cli.triage import render
        from auditor.workflows.triage import as_plain, triage

        done = triage(ctx.obj["project"], name, devices, logs)
        if form == "json":
            write(json.dumps(as_plain(done), indent=2) + "\n", output)
        else:
            write(render(done, width(output), in_colour=output is None and colour()), output)
        ctx.exit(done.exit_code)

    symptom.help = f"""Explain: {symptoms()[name].title}.

    The open causes of the last run that explain it, likeliest first, each with its evidence and remedy; what changed lately;
    which of the rules that would tell could not be judged. Exit code 1: a cause explains it; 3: none does, and not all was seen.

    \b
    Examples:
      auditor explain {name}
      auditor explain {name} --device gpu-01 --device gpu-02
      auditor explain {name} --job job-417.log --format json
    """
    return symptom


def _meaning(word: str) -> click.Command:
    @click.command(word)
    @click.pass_context
    def meaning(ctx: click.Context) -> None:
        """What a rule, a line of a baseline, a table or a column means."""
        from auditor.canonical import printable
        from auditor.workflows.meaning import explain

        found = explain(word, ctx.obj["project"])
        lines = [found.title]
        for label, texts in found.parts:
            lines += [""] + ([f"{label}:"] if label and texts else []) if texts else []
            lines += [("  " if label else "") + printable(" ".join(text.split())) for text in texts]
        click.echo("\n".join(lines))

    return meaning


@command.command("lossless")
@click.option(
    "--path",
    "ends",
    nargs=2,
    required=True,
    metavar="A B",
    help="Two host ports, each as DEVICE/PORT: planned name, PCI address, netdev or RDMA name.",
)
@click.option("--all", "every", is_flag=True, help="Every hop of all equal-cost routes, not only those of the first route.")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write here instead of stdout.")
@click.pass_context
def lossless(ctx: click.Context, ends: tuple[str, str], every: bool, form: str, output: str | None) -> None:
    """Show the priority chain from one host port to another, hop by hop, as it was last seen.

    Each cell comes with what was seen, the layer it was read from and its source; broken cells are marked. Exit code 0: the
    chain is whole; 1: it is broken; 3: something of it is not known.

    \b
    Examples:
      auditor explain lossless --path gpu-01/mlx5_0 gpu-03/mlx5_0
      auditor explain lossless --path gpu-01/enp26s0np0 gpu-03/enp26s0np0 --all --format json
    """
    from auditor.workflows.explain import as_plain, explain_path

    explained = explain_path(ctx.obj["project"], *ends, every=every)
    if form == "json":
        write(json.dumps(as_plain(explained), indent=2) + "\n", output)
    else:
        write(_text(explained, width(output), in_colour=output is None and colour()), output)
    ctx.exit(explained.exit_code)


def _text(explained: Explanation, columns: int | None, *, in_colour: bool) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    stream = StringIO()
    console = Console(
        file=stream,
        width=columns or 10_000,
        force_terminal=in_colour,
        color_system="standard" if in_colour else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.print(Text(f"{explained.a} to {explained.b}, plane {explained.plane or 'without a name'}: {_routes(explained)}"))
    for note in explained.notes:
        console.print(Text(f"Note: {note}"))
    for chain in explained.chains:
        console.print()
        console.print(Text(_headline(chain), STYLES.get(chain.word, "bold green")))
        console.print(_table(chain))
    return "".join(line.rstrip() + "\n" for line in stream.getvalue().splitlines())


def _routes(explained: Explanation) -> str:
    if explained.routes == 1:
        return "one route"
    told = "all of them below" if explained.every else "the first one below; --all shows every hop"
    return f"{explained.routes} equal-cost routes, {told}"


def _headline(chain: Chain) -> str:
    from auditor.canonical import printable

    item = chain.traffic_class
    words = f"class {item.name} (DSCP {', '.join(map(str, item.dscp))}, priority {item.priority}): {chain.word}"
    if chain.broken is not None:
        step, cell = chain.broken
        words += f" at {step.name}: {cell.seen}, wanted: {cell.wanted}"
    elif chain.word == "unsupported":
        words = words.replace(": unsupported", ": ok as far as the platforms can show")
    return printable(words)


def _table(chain: Chain) -> object:
    from rich.table import Table
    from rich.text import Text

    from auditor.canonical import printable
    from auditor.workflows.explain import word

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("hop", "", "cell", "is", "read", "source"):
        table.add_column(heading, overflow="fold")

    def add(place: str, mark: str, *cells: str) -> None:
        style = STYLES.get(mark, "")
        table.add_row(Text(place), Text(mark, style), *(Text(printable(text), style) for text in cells))

    for step in chain.steps:
        place = printable(step.name)
        when = "" if step.seen_at is None else f"seen {step.seen_at:%Y-%m-%d %H:%M:%S}Z"
        if step.hop is None:
            add(place, "unknown", "", step.why_unknown, "", "")
        for at, cell in enumerate(() if step.hop is None else step.hop.cells):
            gap = cell.fact.gap
            seen = f"{cell.seen}, wanted: {cell.wanted}" if cell.ok is False else cell.seen
            if cell.ok is None and gap is not None:
                seen = f"not known ({gap.reason}: {gap.detail})" if gap.detail else f"not known ({gap.reason})"
            add(place if at == 0 else when if at == 1 else "", word(cell), cell.name, seen, cell.read, cell.fact.source)
    return table
