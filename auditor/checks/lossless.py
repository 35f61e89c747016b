"""Rules about lossless Ethernet: trust, priority flow control at both ends of a cable, the PFC watchdog, the buffer.

The device rules judge planned ports alone, so their reads are optional: a device without such a port is not applicable, and
on the others each cell that was not seen leaves its own port open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor.address import Address
from auditor.model import (
    ABSENT,
    Cell,
    Deviation,
    Fact,
    Gap,
    GapReason,
    Judgement,
    Link,
    LinkEnd,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    State,
    TrafficClass,
    check,
    failed,
    passed,
    unseen,
)
from auditor.model.device import is_host


class BufferIntent(BaseModel):
    """`params` of `buffer_mode`: what the packet buffer must be. What is left out is not judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["lossless", "lossy"] | None = Field(default=None, description="lossless or lossy")
    model: Literal["static", "dynamic"] | None = Field(default=None, description="static or dynamic buffer model")
    why: str = Field(default="", description="Why the site wants it so")


@dataclass(frozen=True, slots=True)
class _Side:
    """One end of a link with the priorities it pauses on."""

    end: LinkEnd
    fact: Fact
    priorities: frozenset[int]

    @property
    def words(self) -> str:
        return f"{self.end.device}:{self.end.port} {_listed(self.priorities)}"

    @property
    def spot(self) -> Spot:
        return Spot(self.end.device, replace(self.fact.address, layer=self.fact.layer))


@check(
    reads=("qos_port.pfc_priorities",),
    severity=Severity.ERROR,
    kind=RuleKind.LINK,
    remedy="Enable PFC for the priority of the lossless class on both ends of the cable, and for no priority that the far end "
    "treats as lossy. On a host, look first for the service that sets it again after a reboot.",
)
def pfc_priorities_differ(link: Link, context: RuleContext) -> Iterator[Judgement]:
    """Both ends of a cable pause on the priority of every lossless class of their plane, and on no used one that is lossy.

    The intent in `fabric.yaml` decides what a difference means. PFC on the priority of a lossless class at one end only, or
    at one end on the priority of a class declared lossy: error. On a priority that no class uses: warning, since unclassified
    traffic may fall there; but a switch with PFC on such a priority, or on a lossy one, that its host has not is healthy: it
    honours a pause that nobody sends (the usual default of a switch is 3 and 4, a host has the one class it uses).
    Without classes for the plane the whole sets are compared, a difference is a warning, and a switch whose set holds that of
    its host is not judged.

    Why it matters: a pause that only one end knows is not obeyed. The sender goes on, the receiver drops, and RoCE pays for
    each drop with everything that was in flight; switches log pause frames on a lossy queue or stop sending altogether.
    """
    sides: list[_Side] = []
    for end in link.ends:
        fact = end.fact("qos_port.pfc_priorities")
        if fact.value is None or (fact.value is ABSENT and end.interface is None):
            words = f"{end.device} has no port {end.port}"
            yield unseen(link.name, fact.gap or Gap(end.device, "qos_port", fact.source, GapReason.NOT_COLLECTED, words))
            return
        sides.append(_Side(end, fact, _numbers(fact.value)))
    classes = _link_classes(link, context)
    differing: dict[int, Severity | None] = {}
    for priority in sorted(sides[0].priorities ^ sides[1].priorities):
        has, lacks = sides if priority in sides[0].priorities else reversed(sides)
        differing[priority] = _weight(priority, has, lacks, classes)
    wrong = {priority: severity for priority, severity in differing.items() if severity is not None}
    if wrong:
        yield failed(link.name, _pfc_deviation(sides, wrong, classes))
    elif classes or not differing:
        yield passed(link.name)


def _weight(priority: int, has: _Side, lacks: _Side, classes: tuple[TrafficClass, ...]) -> Severity | None:
    """How bad it is that one end pauses on a priority and the other does not; None when it is healthy."""
    users = [item for item in classes if item.priority == priority]
    if any(item.lossless for item in users):
        return Severity.ERROR
    if not is_host(has.end.role) and (is_host(lacks.end.role) or not lacks.end.role):
        return None
    return Severity.ERROR if users else Severity.WARNING


def _pfc_deviation(sides: list[_Side], wrong: dict[int, Severity], classes: tuple[TrafficClass, ...]) -> Deviation:
    severity = min(wrong.values(), key=lambda item: item.rank)
    worst = [priority for priority, each in wrong.items() if each is severity]
    names = [item.name for item in classes if item.lossless and item.priority in worst]
    wanted = bool(names)
    sayings = [
        f"{side.end.device}:{side.end.port} pauses on {_listed(side.priorities) if side.priorities else 'nothing'}"
        for side in sides
    ]
    used = f" (class {', '.join(dict.fromkeys(names))})" if names else ""
    return Deviation(
        expected="PFC on the same priorities at both ends",
        observed=", ".join(side.words for side in sides),
        message=f"PFC differs on priority {_listed(worst)}{used}: {', '.join(sayings)}",
        spots=tuple(side.spot for side in sorted(sides, key=lambda side: (worst[0] in side.priorities) is wanted)),
        severity=severity,
    )


@check(
    reads=("qos_port.trust",),
    optional=("qos_port.trust",),
    severity=Severity.ERROR,
    remedy="Let the port classify by DSCP: on a switch, bind the DSCP map to the port; on a host, set the trust state of the NIC "
    "to dscp and keep the service that does so after a reboot or a driver reload.",
)
def trust_without_dscp(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every planned port of a plane whose classes are told apart by DSCP classifies by DSCP.

    Why it matters: RoCE packets carry their class in the DSCP and no VLAN tag. A port that trusts the tag, the factory
    state of most NICs, puts all of them into priority 0: into the lossy queue, without pause, together with everything else.
    """
    for port in _ports(context, lambda item: bool(item.dscp)):
        row = Address("qos_port", (port,))
        trust = state.cell(replace(row, column="trust"))
        if trust.value is None:
            yield unseen(row, _gap(state, trust))
        elif isinstance(trust.value, tuple) and "dscp" in trust.value:
            yield passed(row)
        else:
            seen = "absent" if trust.value is ABSENT else _listed(trust.value if isinstance(trust.value, tuple) else ())
            said = "nothing" if seen in ("absent", "none") else seen
            yield failed(row, Deviation("dscp", seen, f"{port} classifies by {said}, not by DSCP", (_spot(state, trust),)))


@check(
    reads=("queue.watchdog_enabled", "qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to"),
    optional=("queue.watchdog_enabled", "qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to"),
    severity=Severity.ERROR,
    remedy="Start the PFC watchdog on the port for the queues of its lossless priorities, with the times and the action of the "
    "baseline, and save the configuration.",
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
    for port in _ports(context, lambda item: item.lossless):
        row = Address("qos_port", (port,))
        pfc = state.cell(replace(row, column="pfc_priorities"))
        if pfc.value is None:
            yield unseen(row, _gap(state, pfc))
            continue
        on = _numbers(pfc.value)
        intended = {item.priority for item in _classes(context, port) if item.lossless}
        cells = [_watchdog(state, port, priority) for priority in sorted(on & intended or on)]
        bare = [cell for cell in cells if cell.known and cell.value is not True]
        hidden = next((cell for cell in cells if not cell.known), None)
        if bare:
            queues = ", ".join(cell.address.key[1] for cell in bare)
            plural = "s" if len(bare) > 1 else ""
            deviation = Deviation(
                expected="PFC watchdog on every queue with PFC",
                observed=f"no watchdog on queue{plural} {queues}",
                message=f"{port} pauses on priority {_listed(on)}, and no PFC watchdog watches its queue{plural} {queues}",
                spots=(*(_spot(state, cell) for cell in bare), _spot(state, pfc)),
            )
            yield failed(row, deviation)
        elif hidden is not None:
            yield unseen(row, _gap(state, hidden))
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


@check(
    reads=("buffer.mode", "buffer.model"),
    optional=("buffer.mode", "buffer.model", "buffer.vendor_word"),
    severity=Severity.ERROR,
    params_type=BufferIntent,
    remedy="Bring the buffer back to the wanted mode and model. On most switches a change of model needs a reload of the QoS "
    "configuration or a restart before the ASIC follows: look at the applied buffers afterwards.",
)
def buffer_mode(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The packet buffer is lossless where the plan needs it, and of the model (static or dynamic) that the baseline names.

    Without `params`, a switch with planned ports in a plane that has a lossless class must have a lossless buffer; the model is
    then not judged. The buffer daemon may go on in the former model until it is restarted.

    Why it matters: a database migration at an upgrade, or a QoS reload, has switched the model without a word. Headroom is
    then computed another way or not at all, and the first congestion drops packets in a class that everybody takes for lossless.
    """
    intent = context.params if isinstance(context.params, BufferIntent) else BufferIntent()
    needs = not is_host(context.role) and bool(_ports(context, lambda item: item.lossless))
    wanted = {"mode": intent.mode or ("lossless" if needs else None), "model": intent.model}
    cells = {name: state.cell(Address("buffer", (), name)) for name, value in wanted.items() if value is not None}
    row = Address("buffer")
    wrong = {name: cell for name, cell in cells.items() if cell.known and cell.value != wanted[name]}
    hidden = next((cell for cell in cells.values() if not cell.known), None)
    if wrong:
        seen = {name: "absent" if cell.value is ABSENT else str(cell.value) for name, cell in wrong.items()}
        word = state.cell(Address("buffer", (), "vendor_word"))
        asides = [f"the device says {word.value}"] if word.present and word.value not in seen.values() else []
        asides += [intent.why] if intent.why else []
        deviation = Deviation(
            expected=", ".join(f"{name} {wanted[name]}" for name in wrong),
            observed=", ".join(f"{name} {value}" for name, value in seen.items()),
            message="; ".join([*(f"buffer {name} is {value}, wanted {wanted[name]}" for name, value in seen.items()), *asides]),
            spots=tuple(_spot(state, cell) for cell in wrong.values()),
        )
        yield failed(row, deviation)
    elif hidden is not None:
        yield unseen(row, _gap(state, hidden))
    elif cells:
        yield passed(row)


def _classes(context: RuleContext, port: str) -> list[TrafficClass]:
    """The traffic classes of the planes that a planned port belongs to."""
    planes = context.fabric.planes if context.fabric is not None else {}
    return [item for name, plane in planes.items() if port in context.groups.get(name, ()) for item in plane.classes]


def _ports(context: RuleContext, of_interest: Callable[[TrafficClass], bool]) -> list[str]:
    """Planned ports, sorted, of every plane with a class that is of interest."""
    planes = context.fabric.planes if context.fabric is not None else {}
    groups = [context.groups.get(name, frozenset()) for name, plane in planes.items() if any(map(of_interest, plane.classes))]
    return sorted(frozenset().union(*groups))


def _link_classes(link: Link, context: RuleContext) -> tuple[TrafficClass, ...]:
    plane = context.fabric.planes.get(link.plan.plane) if context.fabric is not None and link.plan is not None else None
    return () if plane is None else plane.classes


def _numbers(value: object) -> frozenset[int]:
    """The priorities of a cell; ABSENT is none: a port that no line enables pauses on nothing."""
    return frozenset(item for item in value if isinstance(item, int)) if isinstance(value, tuple) else frozenset()


def _listed(items: Iterable[object]) -> str:
    return ", ".join(str(item) for item in sorted(items, key=str)) or "none"


def _spot(state: State, cell: Cell) -> Spot:
    return Spot(state.device, replace(cell.address, layer=cell.layer))


def _gap(state: State, cell: Cell) -> Gap:
    address = cell.address
    return cell.gap or state.gap_at(address.table, cell.layer, address.key, address.column)
