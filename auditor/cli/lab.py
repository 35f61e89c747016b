"""`auditor lab`: captures served as devices, generated fabrics, injected faults."""

from __future__ import annotations

from collections.abc import Mapping

import click

from auditor.errors import SetupError
from auditor.lab import faults
from auditor.lab.places import Fault


@click.group("lab")
def command() -> None:
    """Serve a capture as devices over real SSH on loopback; make fabrics with or without faults.

    A simulator proves flow and scale, never a parser.
    """


def _names(title: str, known: Mapping[str, Fault]) -> str:
    """Names of faults for the help, each with what it does."""
    rows = [f"  {name:<16}{(fault.__doc__ or '').strip()}" for name, fault in known.items()]
    return "\n".join(["\b", title, *rows])


_FAULTS = "\n\n".join(_names(f"{title}:", known) for title, known in faults.GROUPS.items())


@command.command("generate", epilog=_FAULTS)
@click.argument("directory", type=click.Path(file_okay=False))
@click.option("--hosts", type=int, default=4, show_default=True, help="GPU hosts of a pod.")
@click.option("--nics", type=int, default=8, show_default=True, help="Compute adapters of a host; each is a rail.")
@click.option("--leaves", type=int, default=8, show_default=True, help="Leaves of a pod, shared by the rails evenly.")
@click.option("--spines", type=int, default=2, show_default=True, help="Spines of a pod.")
@click.option("--pods", type=int, default=1, show_default=True, help="Pods.")
@click.option("--cores", type=int, default=0, show_default=True, help="Cores that join the pods.")
@click.option(
    "--fault", "wishes", multiple=True, metavar="KIND:DEVICE[:PORT]", help="A fault of the list below; may be repeated."
)
@click.pass_context
def generate(
    ctx: click.Context,
    directory: str,
    hosts: int,
    nics: int,
    leaves: int,
    spines: int,
    pods: int,
    cores: int,
    wishes: tuple[str, ...],
) -> None:
    """Write a made-up fabric as a new project folder: inventory, wiring plan, baselines and the outputs of every device.

    The outputs in captures/clean are those of a healthy fabric. With --fault there is captures/faulty too, which differs
    by the named faults alone. The same numbers give the same files, byte for byte.

    \b
    Examples:
      auditor lab generate /tmp/pod
      auditor lab generate /tmp/pod --hosts 16 --leaves 16 --spines 4
      auditor lab generate /tmp/pod --fault no_headroom:leaf-03:Ethernet4 --fault trust:gpu-02:enp26s0np0
      auditor -C /tmp/pod check --from /tmp/pod/captures/faulty
    """
    from pathlib import Path

    from auditor.lab import project
    from auditor.lab.fabric import Size

    folder = Path(directory)
    if folder.is_dir() and any(folder.iterdir()):
        raise SetupError(f"{directory} is not empty")
    captures: dict[str, tuple[project.Injection, ...]] = {"clean": ()}
    if wishes:
        captures["faulty"] = tuple(faults.parse(wish) for wish in wishes)
    size = Size(hosts=hosts, nics=nics, leaves=leaves, spines=spines, pods=pods, cores=cores)
    made = project.generate(folder, size, captures)
    ctx.obj["progress"].note(
        f"{len(made.hosts)} hosts, {len(made.switches)} switches, {len(made.plan)} links, captures: {', '.join(captures)}"
    )


@command.command("up")
@click.argument("capture", type=click.Path(exists=True, file_okay=False))
@click.option("--client", type=click.Path(file_okay=False), help="Write an inventory that reaches the lab into this folder.")
@click.option(
    "--like", type=click.Path(exists=True, file_okay=False), help="With --client: a whole project folder, made of this one."
)
@click.option("--port", type=int, default=0, help="First port; 0 lets the system choose.")
@click.option(
    "--misbehave",
    multiple=True,
    metavar="DEVICE=KIND",
    help="One kind of misbehaviour for one device, as leaf-01=slow; a wrong KIND gets the list.",
)
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
