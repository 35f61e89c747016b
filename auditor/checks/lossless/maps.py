"""DSCP maps: what else ends in the queue of a lossless class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.address import Address
from auditor.checks.lossless.ports import classes, gap, listed, mapped, spot, used
from auditor.model import Cell, Deviation, Judgement, RuleContext, Severity, State, TrafficClass, check, failed, passed, unseen
from auditor.model.device import is_host

DSCPS = tuple(str(number) for number in range(64))


@check(
    reads=("qos_port.dscp_map", "qos_port.tc_to_queue", "qos_port.pfc_to_queue", "dscp_map.traffic_class", "class_map.to"),
    optional=(
        "qos_port.dscp_map", "qos_port.tc_to_queue", "qos_port.pfc_to_queue", "dscp_map.traffic_class", "class_map.to",
        "interface.enabled",
    ),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Map the DSCP to the traffic class that the intent gives it, or to a lossy one if it gives it none; where it "
    "belongs to the lossless class, add it to that class in fabric.yaml.",
)  # fmt: skip
def other_class_in_lossless_queue(state: State, context: RuleContext) -> Iterator[Judgement]:
    """On switch ports in use, only the DSCPs of a lossless class of the plane are led into its queue.

    A DSCP that the intent gives to another class is an error, one that it gives to no class is information. Judged are the rows
    of the DSCP maps that lead into such a queue. The DSCP of congestion notifications is another rule's question.

    Why it matters: whatever shares a lossless queue is paused with it, pauses it, and takes its headroom. One bulk transfer in
    the wrong queue stops the whole job, and all maps look right that were looked at for RoCE alone.
    """
    if is_host(context.role):
        return
    worst: dict[Address, Deviation | None] = {}
    hidden: dict[str, Cell] = {}
    done: set[tuple[object, ...]] = set()
    for port in used(state, context):
        own = classes(context, port)
        name, queues, stops = (
            state.cell(Address("qos_port", (port,), column)) for column in ("dscp_map", "tc_to_queue", "pfc_to_queue")
        )
        case = (name.value, queues.value, stops.value, tuple(own))
        if case in done or not own:
            continue
        blind = next((cell for cell in (name, queues, stops) if not cell.known), None)
        if blind is not None:
            hidden[port] = blind
            continue
        done.add(case)
        if name.present:
            blind = _judge(state, port, name, own, worst)
            if blind is not None:
                hidden[port] = blind
    for row, deviation in worst.items():
        yield passed(row) if deviation is None else failed(row, deviation)
    for port, cell in hidden.items():
        yield unseen(Address("qos_port", (port,)), gap(state, cell))


def _judge(state: State, port: str, name: Cell, own: list[TrafficClass], worst: dict[Address, Deviation | None]) -> Cell | None:
    """Add what the map of one port leads into its lossless queues; the first cell that hides something."""
    queues: dict[str, list[TrafficClass]] = {}
    blind: Cell | None = None
    for item in own:
        queue = mapped(state, port, "pfc_to_queue", item.priority)
        if isinstance(queue, Cell):
            blind = blind or queue
        elif item.lossless:
            queues.setdefault(queue, []).append(item)
    notices = {item.cnp_dscp for item in own}
    for dscp in DSCPS:
        row = Address("dscp_map", (str(name.value), dscp))
        leads = state.cell(replace(row, column="traffic_class"))
        queue = mapped(state, port, "tc_to_queue", leads.value) if isinstance(leads.value, int) else leads
        if isinstance(queue, Cell):
            blind = blind or (queue if not queue.known else None)
            continue
        residents = queues.get(queue)
        if residents is None or int(dscp) in notices:
            continue
        if any(int(dscp) in item.dscp for item in residents):
            worst.setdefault(row, None)
            continue
        deviation = _deviation(state, port, leads, queue, residents, [item for item in own if int(dscp) in item.dscp])
        known = worst.get(row)
        if known is None or known.severity is not Severity.ERROR:
            worst[row] = deviation
    return blind


def _deviation(
    state: State, port: str, leads: Cell, queue: str, residents: list[TrafficClass], owners: list[TrafficClass]
) -> Deviation:
    name, dscp = leads.address.key
    lossless = f"the lossless class {listed(item.name for item in residents)}"
    whose = f"class {listed(item.name for item in owners)}" if owners else "no class of the intent"
    return Deviation(
        expected=f"only DSCP {', '.join(map(str, sorted(code for item in residents for code in item.dscp)))} in queue {queue}",
        observed=f"DSCP {dscp} ({whose}) in queue {queue}",
        message=f"map {name} leads DSCP {dscp} of {whose} into traffic class {leads.value} and on {port} into queue {queue}, "
        f"that of {lossless}",
        spots=(spot(state, leads),),
        shared=Address("dscp_map", (name,)),
        severity=Severity.ERROR if owners else Severity.INFORMATION,
    )
