"""`nccl.hca_list_wrong` and `nccl.checks_disabled`: what the environment makes the library use, and what it hides from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.canonical import natural, printable
from auditor.checks.nccl.variables import OBJECT, Environment, Port, chosen_ports, environments, meant_plane, open_gap, ports
from auditor.facts import RdmaPort
from auditor.model import Cell, Deviation, GapReason, Judgement, RuleContext, Severity, Spot, State, check, failed, passed, unseen

_READS = ("nccl_env.value", "rdma_port.netdev", "rdma_port.pci", "rdma_port.state")
_SHOWN = 10


@check(
    family="nccl",
    reads=_READS,
    optional=_READS,
    severity=Severity.ERROR,
    remedy="Name the ports of the compute plane and no others, whole names with a leading `=`: `NCCL_IB_HCA==mlx5_0,mlx5_1,…`. "
    "Change the job's template too, and look whether names moved to other slots (a new kernel, a new card).",
)
def hca_list_wrong(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The list of RDMA devices (NCCL_IB_HCA) names every port of the compute plane and no other.

    Names are beginnings, so `mlx5_1` takes mlx5_10 as well; a leading `=` takes them whole, a leading `^` leaves them out, `:1`
    is one port (NCCL's user guide; parseStringList and matchIfList of its socket code). Without a plan, or where it has none of
    the ports, only names that are no device of this host are wrong. Ports that are not active are not missed, since the library
    passes over them by itself; without the variable it chooses by topology, which is not judged.

    Why it matters: a list for another machine leaves rails idle, or puts gradients on the storage network. Runs get slower by a
    third and scatter, and one whose list fits nothing falls back to TCP sockets; no log line says so at the usual level.
    """
    known = ports(state, context)
    wrong: dict[str, Judgement] = {}
    seen, hidden = False, None
    for environment in environments(state):
        cell = environment.cell(environment.library.devices) if environment.library.devices else None
        if cell is None:
            continue
        hidden = hidden or open_gap(state, cell)
        if not environment.text(environment.library.devices):
            continue
        seen = True
        if not known:
            gap = state.gap_at(RdmaPort.TABLE, None, (), "state")
            hidden = hidden or (gap if gap in state.gaps and gap.reason is not GapReason.UNSUPPORTED else None)
            continue
        deviation = _list(environment, cell, known)
        if deviation is not None:
            wrong[str(cell.address)] = failed(cell.address.row, deviation)
    yield from wrong.values()
    if not wrong and hidden is not None:
        yield unseen(OBJECT, hidden)
    elif not wrong and seen and known:
        yield passed(OBJECT)


def _list(environment: Environment, cell: Cell, known: list[Port]) -> Deviation | None:
    """What is wrong with one list."""
    text = environment.text(environment.library.devices)
    chosen = chosen_ports(environment, known)
    plane = meant_plane(chosen, known)
    wanted = [port for port in known if plane and port.plane == plane]
    dead = [] if text.startswith("^") else [name for name in _names(text) if _is_nobody(environment.state, text, name, known)]
    missing = [port for port in wanted if port not in chosen and port.active is not False]
    foreign = [port for port in chosen if plane and port.plane not in ("", plane) and port.active]
    clauses = []
    if not chosen:
        clauses.append("fits no port of this host, so the library falls back to TCP sockets")
    elif missing:
        clauses.append(f"leaves out {_listed(missing)} of plane {plane}")
    if foreign:
        clauses.append(f"takes {_listed(foreign)} as well, not of plane {plane}")
    if dead and chosen:
        clauses.append(f"names {', '.join(dead[:_SHOWN])}, which this host does not have")
    if not clauses:
        return None
    shown = printable(text, 200)
    return Deviation(
        expected=f"{_listed(wanted)} (plane {plane})" if wanted else "names of devices of this host",
        observed=shown,
        message=f"{cell.address.key[1]}={shown} ({printable(cell.address.key[0], 60)}) {'; '.join(clauses)}",
        spots=(Spot(environment.state.device, replace(cell.address, layer=cell.layer)),),
        severity=None if chosen else Severity.CRITICAL,
    )


def _names(text: str) -> list[str]:
    """The names of a list, as they stand in it."""
    return list(filter(None, (item.strip() for item in text.removeprefix("=").split(","))))


def _is_nobody(state: State, text: str, name: str, known: list[Port]) -> bool:
    """Whether one name of the list fits no port, and every port was seen."""
    device, _, number = name.partition(":")
    exact = text.startswith("=")
    fits = any(
        (port.name == device if exact else port.name.startswith(device)) and number in ("", port.number) for port in known
    )  # fmt: skip
    return not fits and state.has_row(Address(RdmaPort.TABLE, (device, number or "1"))) is False


def _listed(some: list[Port]) -> str:
    names = sorted((port.words for port in some), key=natural)
    return ",".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


@check(
    family="nccl",
    reads=("nccl_env.value",),
    optional=("nccl_env.value",),
    severity=Severity.WARNING,
    remedy="Take the variable out of the host's file and of the job's template. If a job starts no more without it, what the "
    "check finds is the fault to mend.",
)
def checks_disabled(state: State, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a device rule)
    """No variable keeps the collective library from checking itself.

    Which variables do, at which values and what then goes unseen stands in `data/collectives.yaml`, each with its source.

    Why it matters: somebody set it to get one job started, and it stayed. The next host with a lost adapter joins the job in
    silence, and a thousand ranks hang without a word instead of one error at the start.
    """
    wrong: dict[str, Judgement] = {}
    seen, hidden = False, None
    for environment in environments(state):
        for silencer in environment.library.silencers:
            seen = True
            cell = environment.cell(silencer.variable)
            hidden = hidden or open_gap(state, cell)
            text = environment.text(silencer.variable)
            if not silencer.silences(text):
                continue
            shown = f"{silencer.variable}={printable(text, 40)}"
            deviation = Deviation(
                expected="not set",
                observed=shown,
                message=f"{shown} ({printable(cell.address.key[0], 60)}): {silencer.hides}",
                spots=(Spot(state.device, replace(cell.address, layer=cell.layer)),),
                severity=silencer.severity,
            )
            wrong[str(cell.address)] = failed(cell.address.row, deviation)
    yield from wrong.values()
    if not wrong and hidden is not None:
        yield unseen(OBJECT, hidden)
    elif not wrong and seen:
        yield passed(OBJECT)
