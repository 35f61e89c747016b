"""The PFC watchdog: the queues it must watch, and what it sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.checks.lossless.ports import classes, gap, listed, numbers, planned, spot
from auditor.model import Cell, Deviation, Judgement, RuleContext, Severity, State, check, failed, passed, unseen
from auditor.model.device import is_host


@check(
    reads=("queue.watchdog_enabled", "qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to"),
    optional=("queue.watchdog_enabled", "qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to"),
    severity=Severity.ERROR,
    remedy="Start the PFC watchdog on the port for the queues of its lossless priorities, with the times and the action of the "
    "baseline, and save the configuration.",
    family="lossless",
)
def watchdog_missing(state: State, context: RuleContext) -> Iterator[Judgement]:
    """On every planned switch port with PFC on a lossless class, the PFC watchdog watches the queue of that class.

    Judged are the priorities that have PFC on the port and belong to a lossless class of its plane; where the port has PFC on
    other priorities only, all of those. The queue follows from the port's PFC-priority-to-queue map, and is taken as the
    one of the same number where there is none. Hosts have no such watchdog and are not judged.

    Why it matters: one NIC that sends pause frames without end blocks its leaf's queue, then the spines behind it, then the
    whole plane. The watchdog is what turns that into the loss of one port.
    """
    if is_host(context.role):
        return
    for port in planned(context, lambda item: item.lossless):
        row = Address("qos_port", (port,))
        pfc = state.cell(replace(row, column="pfc_priorities"))
        if pfc.value is None:
            yield unseen(row, gap(state, pfc))
            continue
        on = numbers(pfc.value)
        intended = {item.priority for item in classes(context, port) if item.lossless}
        cells = [_watchdog(state, port, priority) for priority in sorted(on & intended or on)]
        bare = [cell for cell in cells if cell.known and cell.value is not True]
        hidden = next((cell for cell in cells if not cell.known), None)
        if bare:
            queues = ", ".join(cell.address.key[1] for cell in bare)
            plural = "s" if len(bare) > 1 else ""
            deviation = Deviation(
                expected="PFC watchdog on every queue with PFC",
                observed=f"no watchdog on queue{plural} {queues}",
                message=f"{port} pauses on priority {listed(on)}, and no PFC watchdog watches its queue{plural} {queues}",
                spots=(*(spot(state, cell) for cell in bare), spot(state, pfc)),
            )
            yield failed(row, deviation)
        elif hidden is not None:
            yield unseen(row, gap(state, hidden))
        elif cells:
            yield passed(row)


def _watchdog(state: State, port: str, priority: int) -> Cell:
    """The watchdog cell of the queue that obeys pauses of `priority`."""
    queue = str(priority)
    name = state.cell(Address("qos_port", (port,), "pfc_to_queue"))
    if name.present:
        mapped = state.cell(Address("class_map", (f"pfc_to_queue:{name.value}", queue), "to"))
        queue = str(mapped.value) if mapped.present else queue
    return state.cell(Address("queue", (port, queue), "watchdog_enabled"))
