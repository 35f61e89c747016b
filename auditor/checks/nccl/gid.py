"""`nccl.gid_index_wrong`: the entry of the address tables that the collective library is told to use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.canonical import printable
from auditor.checks.nccl.variables import OBJECT, Environment, Port, chosen_ports, environments, open_gap, ports
from auditor.facts import Gid
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Gap,
    Judgement,
    RuleContext,
    Severity,
    Spot,
    State,
    check,
    failed,
    passed,
    unseen,
)

_READS = ("nccl_env.value", "gid.kind", "rdma_port.netdev", "rdma_port.pci", "rdma_port.link_layer", "rdma_port.state")
_SHOWN = 8


@check(
    family="nccl",
    reads=_READS,
    optional=_READS,
    severity=Severity.ERROR,
    remedy="Take the variable out: since NCCL 2.21 the library finds the RoCE v2 address of each port by itself. Where it has to "
    "stay, give every port an address at that index (`show_gids`, `ibv_devinfo -v`): as a rule one of them lost its IP address.",
)
def gid_index_wrong(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Where NCCL_IB_GID_INDEX names an entry of the address table, every Ethernet port in use has a RoCE v2 address there.

    Not set, or -1, lets the library choose (default since NCCL 2.21; ncclIbGetGidIndex of its net_ib), which is fine; so is
    anything on InfiniBand, where it uses entry 0 whatever the variable says. Ports in use are the active ones among those that
    NCCL_IB_HCA names, else those of the compute plane, else all.

    Why it matters: the index is a place in a table that follows the port's IP addresses. A port without its address has nothing
    there, and the job fails when it first connects; at a RoCE v1 entry packets carry no IP header, so no router forwards them and
    no DSCP makes them lossless.
    """
    known = [port for port in ports(state, context) if port.ethernet]
    wrong: dict[str, Judgement] = {}
    right, hidden = False, None
    for environment in environments(state):
        variable = environment.library.address_index
        if not variable:
            continue
        cell = environment.cell(variable)
        hidden = hidden or open_gap(state, cell)
        index = environment.text(variable)
        if not re.fullmatch(r"\d{1,4}", index):
            continue
        used = [port for port in chosen_ports(environment, known) if port.active is not False]
        entries = [(port, _entry(state, port, str(int(index)))) for port in used]
        bad = [(port, entry) for port, entry in entries if entry.value is ABSENT or entry.value == "v1"]
        if bad:
            wrong[str(cell.address)] = failed(cell.address.row, _deviation(environment, cell, bad, len(used)))
        hidden = hidden or next((gap for _, entry in entries if (gap := _gap(state, entry)) is not None), None)
        right = right or (bool(entries) and not bad)
    yield from wrong.values()
    if not wrong and hidden is not None:
        yield unseen(OBJECT, hidden)
    elif right and not wrong:
        yield passed(OBJECT)


def _entry(state: State, port: Port, index: str) -> Cell:
    return state.cell(Address(Gid.TABLE, (port.name, port.number, index), "kind"))


def _gap(state: State, entry: Cell) -> Gap | None:
    """Why an entry is not known; a tool that cannot tell is said too, for it leaves the port unjudged."""
    if entry.known:
        return None
    return entry.gap or state.gap_at(Gid.TABLE, entry.layer, entry.address.key, "kind")


def _deviation(environment: Environment, cell: Cell, bad: list[tuple[Port, Cell]], used: int) -> Deviation:
    nothing = [port for port, entry in bad if entry.value is ABSENT]
    first = [port for port, entry in bad if entry.value == "v1"]
    clauses = []
    if nothing:
        clauses.append(f"{_listed(nothing)} {'has' if len(nothing) == 1 else 'have'} no address at that index")
    if first:
        clauses.append(f"{_listed(first)} {'has' if len(first) == 1 else 'have'} a RoCE v1 address there")
    shown = f"{cell.address.key[1]}={printable(str(cell.value), 20)}"
    cells = (cell, *(entry for _, entry in bad[:2]))
    return Deviation(
        expected="an index with a RoCE v2 address on every port in use, or no index at all",
        observed=shown,
        message=f"{shown} ({printable(cell.address.key[0], 60)}): {'; '.join(clauses)}, of {used} ports in use",
        spots=tuple(Spot(environment.state.device, replace(item.address, layer=item.layer)) for item in cells),
        severity=Severity.CRITICAL if nothing else Severity.ERROR,
    )


def _listed(some: list[Port]) -> str:
    names = [port.words for port in some]
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
