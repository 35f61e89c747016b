"""ECN: whether the queues of lossless classes mark at all, and whether they do so before PFC pauses.

ECN counts what waits in an egress queue, PFC what one ingress port has brought in. With a static threshold the group pauses at a
fixed level. With a dynamic one it pauses at alpha times what is free in the pool, so the level falls as others fill the pool:
with n groups paused alike each holds alpha × pool / (1 + n × alpha) (Choudhury and Hahne, Dynamic queue length thresholds, 1998).
A queue congests when at least two ports send into it, so for dynamic thresholds two are assumed, and the queue is as long as
both hold together. Even so the upper ECN threshold lies above it in vendors' defaults (Dell S6100: alpha 1/16, upper
threshold 2 MiB), which is information; only a lower threshold above it is a fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict, Field

from auditor.address import Address
from auditor.checks.lossless.ports import amount, bent, classes, gap, mapped, paused, spot, used
from auditor.model import Cell, Deviation, Judgement, RuleContext, Severity, State, check, failed, passed, unseen
from auditor.model.device import is_host

SENDERS = 2
"""Ports that are assumed to send into one queue where thresholds are dynamic: fewer cannot congest it."""

QUEUE_READS = ("qos_port.pfc_priorities", "qos_port.pfc_to_queue", "class_map.to", "interface.enabled")


class MarkingRanges(BaseModel):
    """`params` of `ecn_out_of_range`, as [least, most]. What is left out is not judged."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_bytes: tuple[int, int] | None = Field(default=None, description="Lower marking threshold in bytes")
    max_bytes: tuple[int, int] | None = Field(default=None, description="Upper marking threshold in bytes")
    probability: tuple[float, float] | None = Field(default=None, description="Probability at the upper threshold, 0 to 1")
    why: str = Field(default="", description="Why the site wants it so")


@check(
    reads=("queue.ecn_enabled", "queue.ecn_probability", "queue.ecn_min_bytes", "queue.ecn_max_bytes"),
    optional=(
        "queue.ecn_enabled", "queue.ecn_probability", "queue.ecn_min_bytes", "queue.ecn_max_bytes", "queue.ecn_profile",
        *QUEUE_READS,
    ),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Bind a WRED profile with ECN to the queue of the lossless class on every port, with thresholds below those of PFC.",
)  # fmt: skip
def ecn_never_marks(state: State, context: RuleContext) -> Iterator[Judgement]:
    """On every switch port in use, the queue of each lossless class with PFC marks packets with ECN when it fills.

    It never does when ECN is off, and not between its thresholds when its probability is zero. Two equal thresholds are a step:
    there the probability does not count. Vendors mark with probability 1.0, which is no fault.

    Why it matters: without marks no sender slows down before PFC stops it. Pauses become the ordinary way of flow control, spread
    to ports that had no part in it, and the fabric runs at the speed of its worst moment.
    """
    for port, queue in _queues(state, context):
        if isinstance(queue, Cell):
            yield unseen(Address("qos_port", (port,)), gap(state, queue))
            continue
        row = Address("queue", (port, queue))
        on, probability, low, high = (
            state.cell(replace(row, column=f"ecn_{name}")) for name in ("enabled", "probability", "min_bytes", "max_bytes")
        )
        step = amount(low) is not None and amount(low) == amount(high)
        if on.known and on.value is not True:
            message = f"{port}: queue {queue} carries a lossless class and never marks: ECN is off"
            spots = (spot(state, on), *bent(state, port, "pfc_to_queue", sorted(paused(state, context, port)[1])))
            yield failed(row, Deviation("ECN on", "ECN off", message, spots))
        elif amount(probability) == 0 and not step:
            message = f"{port}: queue {queue} carries a lossless class and marks with probability 0 between its thresholds"
            deviation = Deviation("a probability above 0", "probability 0", message, (spot(state, probability), spot(state, on)))
            yield failed(row, replace(deviation, shared=_profile(state, row)))
        elif not on.known or not probability.known:
            yield unseen(row, gap(state, on if not on.known else probability))
        else:
            yield passed(row)


def _queues(state: State, context: RuleContext) -> Iterator[tuple[str, str | Cell]]:
    """Port and queue of every lossless class with PFC on switch ports in use; the hidden cell where that cannot be told."""
    if is_host(context.role):
        return
    for port in used(state, context):
        if not classes(context, port):
            continue
        pfc, priorities = paused(state, context, port)
        found = [mapped(state, port, "pfc_to_queue", priority) for priority in sorted(priorities)] if pfc.known else [pfc]
        hidden = next((cell for cell in found if isinstance(cell, Cell)), None)
        for queue in [hidden] if hidden is not None else list(dict.fromkeys(found)):
            yield port, queue


def _profile(state: State, row: Address) -> Address | None:
    """The WRED profile that a queue takes its marking from."""
    name = state.cell(replace(row, column="ecn_profile"))
    return Address("ecn_profile", (str(name.value),)) if name.present else None


@dataclass(frozen=True, slots=True)
class _Trigger:
    """Bytes in a queue when the first pause is sent, what decides it, and how it was reckoned."""

    size: float
    cell: Cell
    words: str
    dynamic: bool


@check(
    reads=(
        "queue.ecn_min_bytes", "queue.ecn_max_bytes", "priority_group.threshold_kind", "priority_group.threshold",
        "priority_group.xoff_trigger_bytes", "priority_group.pool", "buffer_pool.size_bytes",
    ),
    optional=(
        "queue.ecn_enabled", "queue.ecn_min_bytes", "queue.ecn_max_bytes", "queue.ecn_profile", "priority_group.lossless",
        "priority_group.threshold_kind", "priority_group.threshold", "priority_group.xoff_trigger_bytes", "priority_group.pool",
        "buffer_pool.size_bytes", *QUEUE_READS,
    ),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Lower the ECN thresholds of the queue below the level at which its priority group pauses, or raise that "
    "level: senders must be told before they are stopped.",
)  # fmt: skip
def ecn_threshold_order(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The queue of each lossless class with PFC begins to mark before the first port that sends into it is paused.

    Compared with the lowest level of all ports in use that bring in the class. Static thresholds: an error if the lower ECN
    threshold lies at or above it, a warning if only the upper one does. Dynamic ones move with what is free in the pool: the
    level is reckoned from alpha, the pool, and two senders, which the message says; only the lower threshold is an error
    there, the upper one is information. Levels that the device does not tell are not judged.

    Why it matters: where PFC is first, ECN does nothing. Senders run at full speed into the pause, and congestion spreads
    backwards through the fabric instead of being slowed down at its source.
    """
    queues = list(_queues(state, context))
    triggers = {queue: _lowest(state, context, queue) for queue in {name for _, name in queues if isinstance(name, str)}}
    for port, queue in queues:
        if isinstance(queue, Cell):
            yield unseen(Address("qos_port", (port,)), gap(state, queue))
            continue
        row = Address("queue", (port, queue))
        low, high = (state.cell(replace(row, column=f"ecn_{name}_bytes")) for name in ("min", "max"))
        trigger = triggers[queue]
        if state.cell(replace(row, column="ecn_enabled")).value is not True or trigger is None:
            continue  # ecn_never_marks says so; or there is no level to compare with
        hidden = next((cell for cell in (low, high, trigger) if isinstance(cell, Cell) and not cell.known), None)
        if hidden is not None or isinstance(trigger, Cell):
            yield unseen(row, gap(state, hidden if hidden is not None else low))
            continue
        late = next((cell for cell in (low, high) if (amount(cell) or 0) >= trigger.size), None)
        if late is None:
            yield passed(row)
        else:
            yield failed(row, _order_deviation(state, row, (low, high), trigger))


def _lowest(state: State, context: RuleContext, queue: str) -> _Trigger | Cell | None:
    """The lowest level at which a port pauses the traffic of a queue; a hidden cell if one cannot be told; None without any."""
    found: list[_Trigger] = []
    hidden: Cell | None = None
    for port in used(state, context):
        _, priorities = paused(state, context, port)
        for priority in sorted(priorities):
            if mapped(state, port, "pfc_to_queue", priority) != queue:
                continue
            level = _level(state, port, str(priority))
            if isinstance(level, Cell):
                hidden = hidden or level
            elif level is not None:
                found.append(level)
    lowest = min(found, key=lambda level: level.size, default=None)
    return hidden if hidden is not None else lowest


def _level(state: State, port: str, group: str) -> _Trigger | Cell | None:
    cells = {
        name: state.cell(Address("priority_group", (port, group), name))
        for name in ("lossless", "threshold_kind", "threshold", "xoff_trigger_bytes", "pool")
    }
    kind = cells["threshold_kind"]
    if cells["lossless"].known and cells["lossless"].value is not True:
        return None
    if not kind.present:
        return None if kind.known else kind
    if kind.value == "static":
        static = cells["xoff_trigger_bytes"]
        size = amount(static)
        if size is None:
            return None if static.known else static
        return _Trigger(size, static, f"{port} pauses priority group {group} at {int(size):,} bytes", False)
    alpha = cells["threshold"]
    pool = (
        state.cell(Address("buffer_pool", (str(cells["pool"].value),), "size_bytes")) if cells["pool"].present else cells["pool"]
    )
    share, whole = amount(alpha), amount(pool)
    if share is None or not whole:
        return next((cell for cell in (alpha, pool) if not cell.known), None)
    each = share * whole / (1 + SENDERS * share)
    words = (
        f"{port} pauses priority group {group} at {int(each):,} bytes if {SENDERS} ports send into one queue, which is then "
        f"{int(SENDERS * each):,} long (alpha {share:g}, pool of {int(whole):,}, otherwise free)"
    )
    return _Trigger(SENDERS * each, alpha, words, True)


def _order_deviation(state: State, row: Address, cells: tuple[Cell, Cell], trigger: _Trigger) -> Deviation:
    low, high = cells
    first = (amount(low) or 0) >= trigger.size
    late, name = (low, "lower") if first else (high, "upper")
    does = "begins to mark at" if first else "marks every packet only from"
    port, queue = row.key
    severity = Severity.ERROR if first else Severity.INFORMATION if trigger.dynamic else Severity.WARNING
    return Deviation(
        expected=f"{name} ECN threshold below {int(trigger.size):,} bytes",
        observed=f"{int(amount(late) or 0):,} bytes",
        message=f"{port}: queue {queue} {does} {int(amount(late) or 0):,} bytes, but {trigger.words}",
        spots=(spot(state, late), spot(state, trigger.cell)),
        shared=_profile(state, row),
        severity=severity,
    )


@check(
    reads=("queue.ecn_min_bytes", "queue.ecn_max_bytes", "queue.ecn_probability"),
    optional=(
        "queue.ecn_enabled", "queue.ecn_min_bytes", "queue.ecn_max_bytes", "queue.ecn_probability", "queue.ecn_profile",
        *QUEUE_READS,
    ),
    severity=Severity.INFORMATION,
    needs_params=True,
    params_type=MarkingRanges,
    family="lossless",
    remedy="Move the ECN thresholds or the probability of the WRED profile into the range, or change the range of the baseline "
    "if measurements with real traffic say so: these are starting values, not laws.",
)  # fmt: skip
def ecn_out_of_range(state: State, context: RuleContext) -> Iterator[Judgement]:
    """The ECN thresholds and the probability of lossless queues are within the ranges that the baseline names.

    Without `params` nothing is judged; what the device does not print has the vendor's default.

    Why it matters: marks that come too early leave bandwidth unused, marks that come too late leave the work to PFC. Good values
    depend on the traffic; a profile far away from those of the site was seldom chosen on purpose.
    """
    intent = context.params
    if not isinstance(intent, MarkingRanges):
        return
    names = [name for name in ("min_bytes", "max_bytes", "probability") if getattr(intent, name) is not None]
    for port, queue in _queues(state, context):
        if isinstance(queue, Cell):
            yield unseen(Address("qos_port", (port,)), gap(state, queue))
            continue
        row = Address("queue", (port, queue))
        if state.cell(replace(row, column="ecn_enabled")).value is not True:
            continue
        cells = {name: state.cell(replace(row, column=f"ecn_{name}")) for name in names}
        wrong = {name: cell for name, cell in cells.items() if _outside(cell, getattr(intent, name))}
        hidden = next((cell for cell in cells.values() if not cell.known), None)
        if wrong:
            yield failed(row, _range_deviation(state, row, wrong, intent))
        elif hidden is not None:
            yield unseen(row, gap(state, hidden))
        elif any(cell.present for cell in cells.values()):
            yield passed(row)


def _outside(cell: Cell, limits: tuple[float, float]) -> bool:
    value = amount(cell)
    return value is not None and not limits[0] <= value <= limits[1]


def _range_deviation(state: State, row: Address, wrong: dict[str, Cell], intent: MarkingRanges) -> Deviation:
    port, queue = row.key
    seen = ", ".join(f"{name} {cell.value}" for name, cell in wrong.items())
    ranges = ", ".join(f"{name} {limits[0]} to {limits[1]}" for name in wrong if (limits := getattr(intent, name)))
    return Deviation(
        expected=ranges,
        observed=seen,
        message=f"{port}: queue {queue} marks with {seen}, wanted {ranges}" + (f"; {intent.why}" if intent.why else ""),
        spots=tuple(spot(state, cell) for cell in wrong.values()),
        shared=_profile(state, row),
    )
