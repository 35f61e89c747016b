"""`auditor lab`: captures served as devices, generated fabrics, injected faults."""

from __future__ import annotations

import click

from auditor.errors import SetupError


@click.group("lab")
def command() -> None:
    """Serve a capture as devices over real SSH on loopback; make fabrics; inject faults.

    A simulator proves flow and scale, never a parser.
    """


@command.command("up")
@click.argument("capture", type=click.Path(exists=True, file_okay=False))
@click.option("--client", type=click.Path(file_okay=False), help="Write an inventory that reaches the lab into this folder.")
@click.option(
    "--like", type=click.Path(exists=True, file_okay=False), help="With --client: a whole project folder, made of this one."
)
@click.option("--port", type=int, default=0, help="First port; 0 lets the system choose.")
@click.option("--misbehave", multiple=True, metavar="DEVICE=KIND", help="One kind of misbehaviour for one device, as slow.")
@click.pass_context
def up(ctx: click.Context, capture: str, client: str | None, like: str | None, port: int, misbehave: tuple[str, ...]) -> None:
    """Serve the devices of CAPTURE until interrupted (user lab, password lab).

    \b
    Example:
      auditor lab up fixtures/fabrics/mini-pod/captures/faulty --client /tmp/pod --like fixtures/fabrics/mini-pod
    """
    from pathlib import Path

    from auditor.lab.serve import serve

    wishes = {}
    for text in misbehave:
        device, separator, kind = text.partition("=")
        if not separator:
            raise SetupError(f"--misbehave {text!r}: wanted DEVICE=KIND")
        wishes[device] = kind
    note = ctx.obj["progress"].note
    serve(
        Path(capture),
        Path(like) if like else None,
        wishes,
        lambda lab: note(f"{len(lab.ports)} devices on 127.0.0.1, known hosts in {lab.known_hosts}; ctrl-c ends it"),
        base_port=port,
        client=Path(client) if client else None,
    )
