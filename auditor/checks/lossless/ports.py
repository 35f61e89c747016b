"""Which ports the lossless rules judge, what the intent says about them, and how their cells are read.

Only ports in use are judged: the planned ports of planes with a lossless class, and ports of the group `in_use` whose plane
declares no class at all. Reads are optional: a device without such a port is not applicable, and on the others each cell
that was not seen leaves its own port open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from auditor.address import Address
from auditor.checks.look import why_unknown
from auditor.facts import Row
from auditor.model import Cell, Deviation, Gap, RuleContext, Spot, State, TrafficClass
from auditor.plan.groups import IN_USE


def classes(context: RuleContext, port: str) -> list[TrafficClass]:
    """The traffic classes of the planes that a planned port belongs to."""
    planes = context.fabric.planes if context.fabric is not None else {}
    return [item for name, plane in planes.items() if port in context.groups.get(name, ()) for item in plane.classes]


def planned(context: RuleContext, of_interest: Callable[[TrafficClass], bool]) -> list[str]:
    """Planned ports, sorted, of every plane with a class that is of interest."""
    planes = context.fabric.planes if context.fabric is not None else {}
    groups = [context.groups.get(name, frozenset()) for name, plane in planes.items() if any(map(of_interest, plane.classes))]
    return sorted(frozenset().union(*groups))


def lossless(item: TrafficClass) -> bool:
    """Whether a class is lossless."""
    return item.lossless


def used(state: State, context: RuleContext, of_interest: Callable[[TrafficClass], bool] = lossless) -> list[str]:
    """Ports in use whose plane has a class of interest, or declares none, sorted. Those that are switched off are left out:
    nothing flows there, and SONiC takes the buffers of such a port away."""
    declared = planned(context, lambda _: True)
    silent = context.groups.get(IN_USE, frozenset()) - frozenset(declared)
    ports = sorted({*planned(context, of_interest), *silent})
    return [port for port in ports if state.cell(Address("interface", (port,), "enabled")).value is not False]


def paused(state: State, context: RuleContext, port: str) -> tuple[Cell, frozenset[int]]:
    """The PFC cell of a port, and the priorities to judge: those with PFC that a lossless class of its plane has, or all
    with PFC where none of them has a class."""
    cell = state.cell(Address("qos_port", (port,), "pfc_priorities"))
    on = numbers(cell.value)
    return cell, on & {item.priority for item in classes(context, port) if item.lossless} or on


def mapped(state: State, port: str, kind: str, number: int) -> str | Cell:
    """Where the port's map of this kind (`tc_to_queue`, `tc_to_pg`, `pfc_to_queue`) sends a number: the number of a queue or
    priority group, the same one where no map says otherwise. Where that was not seen: the hidden cell."""
    name = state.cell(Address("qos_port", (port,), kind))
    if not name.present:
        return str(number) if name.known else name
    to = state.cell(Address("class_map", (f"{kind}:{name.value}", str(number)), "to"))
    if not to.present:
        return str(number) if to.known else to
    return str(to.value)


def bent(state: State, port: str, kind: str, numbers_: Iterable[int]) -> tuple[Spot, ...]:
    """The rows of the port's map of this kind that send one of the numbers elsewhere: what a verdict about the queue or group
    of that number rests on beside the queue itself."""
    name = state.cell(Address("qos_port", (port,), kind))
    rows = (Address("class_map", (f"{kind}:{name.value}", str(number)), "to") for number in numbers_ if name.present)
    cells = [state.cell(row) for row in rows]
    return tuple(spot(state, cell) for cell in cells if cell.present and str(cell.value) != cell.address.key[1])


def by_port(state: State, row_type: type[Row], column: str) -> Mapping[str, list[str]]:
    """Port -> its queues or priority groups, as seen at the layer that `column` is read from."""
    found: dict[str, list[str]] = defaultdict(list)
    for port, number in state.keys(row_type, column):
        found[port].append(number)
    return found


def in_cages(state: State, failures: Mapping[str, Deviation]) -> Mapping[str, Deviation]:
    """The deviations by port; those of ports that were split from one cage name their parent and each other."""
    cages: dict[str, list[str]] = defaultdict(list)
    for port in failures:
        parent = state.cell(Address("interface", (port,), "breakout_parent"))
        if parent.present:
            cages[str(parent.value)].append(port)
    out = dict(failures)
    for parent_name, ports in cages.items():
        for port in ports:
            message = failures[port].message
            if len(ports) > 1:
                others = ", ".join(other for other in ports if other != port)
                message += f"; likewise {others}, split from the same port"
            out[port] = replace(failures[port], parent=parent_name, message=message)
    return out


def numbers(value: object) -> frozenset[int]:
    """The priorities of a cell; ABSENT is none: a port that no line enables pauses on nothing."""
    return frozenset(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else frozenset()


def listed(items: Iterable[object]) -> str:
    """`3, 4`, or `none`."""
    return ", ".join(str(item) for item in sorted(items, key=str)) or "none"


def amount(cell: Cell) -> float | None:
    """A cell's number; None when it is not known or absent."""
    return cell.value if isinstance(cell.value, int | float) and not isinstance(cell.value, bool) else None


def spot(state: State, cell: Cell) -> Spot:
    """Where a cell stands, with the layer it was read from."""
    return Spot(state.device, replace(cell.address, layer=cell.layer))


def gap(state: State, cell: Cell) -> Gap:
    """Why a cell is not known."""
    address = cell.address
    return why_unknown(state, cell) or state.gap_at(address.table, cell.layer, address.key, address.column)
