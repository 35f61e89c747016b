"""The PFC watchdog: the queues it must watch, and what it sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.checks.lossless.ports import (
    bent,
    by_port,
    gap,
    in_cages,
    listed,
    lossless,
    mapped,
    numbers,
    paused,
    planned,
    spot,
    used,
)
from auditor.facts import Queue
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
    for port in planned(context, lossless):
        row = Address("qos_port", (port,))
        pfc, priorities = paused(state, context, port)
        if not pfc.known:
            yield unseen(row, gap(state, pfc))
            continue
        cells = [_watchdog(state, port, priority) for priority in sorted(priorities)]
        bare = [cell for cell in cells if cell.known and cell.value is not True]
        hidden = next((cell for cell in cells if not cell.known), None)
        if bare:
            queues = ", ".join(cell.address.key[1] for cell in bare)
            plural = "s" if len(bare) > 1 else ""
            deviation = Deviation(
                expected="PFC watchdog on every queue with PFC",
                observed=f"no watchdog on queue{plural} {queues}",
                message=f"{port} pauses on priority {listed(numbers(pfc.value))}, and no PFC watchdog watches its queue{plural} "
                f"{queues}",
                spots=(
                    *(spot(state, cell) for cell in bare),
                    spot(state, pfc),
                    *bent(state, port, "pfc_to_queue", sorted(priorities)),
                ),
            )
            yield failed(row, deviation)
        elif hidden is not None:
            yield unseen(row, gap(state, hidden))
        elif cells:
            yield passed(row)


@check(
    reads=("queue.watchdog_enabled", "qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to"),
    optional=(
        "queue.watchdog_enabled", "qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to", "interface.enabled",
        "interface.breakout_parent",
    ),
    severity=Severity.WARNING,
    family="lossless",
    remedy="Let the PFC watchdog watch the queues that obey pauses on this port, and no other (on SONiC: `pfcwd_sw_enable` of "
    "the port, beside `pfc_enable`), and save the configuration.",
)  # fmt: skip
def watchdog_wrong_queues(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The PFC watchdog of a port in use watches no queue that no pause can stop.

    A warning where the queues with PFC are watched as well; an error where one of a lossless class is not: then the watchdog
    was put on the wrong queues. A port without PFC, or without any watchdog, is not judged here.

    Why it matters: the list of PFC priorities and the list of watched queues are changed by different commands and drift apart.
    The watchdog then shows up in every overview as running, and the queue that a broken NIC can block is not among its own.
    """
    if is_host(context.role):
        return
    queues = by_port(state, Queue, "watchdog_enabled")
    failures: dict[str, Deviation] = {}
    for port in used(state, context):
        row = Address("qos_port", (port,))
        pfc, judged = paused(state, context, port)
        watched = {queue for queue in queues.get(port, ()) if state.cell(_watched(port, queue)).value is True}
        if not watched or pfc.value == ():
            continue
        stopped = {priority: mapped(state, port, "pfc_to_queue", priority) for priority in numbers(pfc.value)}
        hidden = next((cell for cell in (pfc, *stopped.values()) if isinstance(cell, Cell) and not cell.known), None)
        extra = watched - set(map(str, stopped.values()))
        if hidden is not None:
            yield unseen(row, gap(state, hidden))
        elif extra and stopped:
            bare = [queue for priority, queue in stopped.items() if priority in judged and queue not in watched]
            words = f"the watchdog watches queue {listed(extra)}"
            message = f"{port} pauses on priority {listed(stopped)}, but {words}, which no pause stops"
            failures[port] = Deviation(
                expected=f"a watchdog on queue {listed(stopped.values())} only",
                observed=words,
                message=message + (f", and not queue {listed(bare)}" if bare else ""),
                spots=(
                    *(spot(state, state.cell(_watched(port, queue))) for queue in sorted(extra)),
                    spot(state, pfc),
                    *bent(state, port, "pfc_to_queue", sorted(numbers(pfc.value))),
                ),
                severity=Severity.ERROR if bare else Severity.WARNING,
            )
        elif stopped:
            yield passed(row)
    for port, deviation in in_cages(state, failures).items():
        yield failed(Address("qos_port", (port,)), deviation)


@check(
    reads=("queue.watchdog_state",),
    optional=("queue.watchdog_state", "queue.watchdog_enabled", "interface.enabled"),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Look at the device at the far end first: a NIC whose host hangs, or whose firmware does not take packets, sends "
    "pauses without end. Take it out of the job, restart it, and see that the watchdog restores the queue; the switch is only "
    "the witness.",
)  # fmt: skip
def watchdog_storm_now(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The PFC watchdog sees no storm on any queue of a port in use at this moment.

    Queues that the watchdog lists nothing about have had no storm. Counters of former storms are not judged.

    Why it matters: while the storm lasts the watchdog drops or forwards what is in the queue, so the class is not lossless there;
    and the device at the far end, most often a hanging GPU host, is stopping the job of everybody else.
    """
    if is_host(context.role):
        return
    queues = by_port(state, Queue, "watchdog_enabled")
    seen = by_port(state, Queue, "watchdog_state")
    for port in used(state, context):
        for queue in sorted({*queues.get(port, ()), *seen.get(port, ())}):
            row = Address("queue", (port, queue))
            now = state.cell(replace(row, column="watchdog_state"))
            if now.value == "stormed":
                message = f"{port}: the PFC watchdog sees a storm on queue {queue} now"
                yield failed(row, Deviation("no storm", "stormed", message, (spot(state, now),)))
            elif now.present:
                yield passed(row)
            elif state.cell(_watched(port, queue)).value is True:
                yield passed(row) if now.known else unseen(row, gap(state, now))


def _watched(port: str, queue: str) -> Address:
    return Address("queue", (port, queue), "watchdog_enabled")


def _watchdog(state: State, port: str, priority: int) -> Cell:
    """The watchdog cell of the queue that obeys pauses of `priority`, or the cell that hides which queue that is."""
    queue = mapped(state, port, "pfc_to_queue", priority)
    return state.cell(_watched(port, queue)) if isinstance(queue, str) else queue
