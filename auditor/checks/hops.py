"""The hops of a device's planned ports: what each lossless class meets on the way in and out of it, cell by cell.

A hop is one direction of one port for one class, judged against the fabric's intent alone, which ends at the priority:
DSCP -> traffic class -> priority group (in) or queue (out) -> PFC priority. The numbers and the names of the maps in between
are the device's own business.

- Into a switch: `trust`, `dscp_map`, `tc_to_pg`, `priority_group`, `headroom`, `pfc`, `cnp`. A priority group sends pauses of
  the priority of its own number (802.1Qbb; SONiC's default), so the class must end in the group of its priority.
- Out of a switch: `tc_to_queue`, `pfc_to_queue`, `pfc`, `watchdog`, `ecn`, `cnp`. The queue of a class is the one that the
  pauses of its priority stop. Which traffic classes arrive there is what the ports of this switch make of the DSCPs.
- Out of a host: `trust`, `host_dscp`, `pfc`, `reaction_point`. Into a host: the first three, `notification_point`, `cnp_dscp`,
  `cnp`. Which DSCP a sender really uses is another rule's question.
- `cnp`: congestion notifications have a class of their own, which is neither paused nor marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from auditor.address import Address
from auditor.checks.look import Look, present
from auditor.facts import Value
from auditor.model import ABSENT, Fact, Hop, HopCell, State, TrafficClass

READS = (
    "qos_port.trust", "qos_port.dscp_map", "qos_port.tc_to_pg", "qos_port.tc_to_queue", "qos_port.pfc_to_queue",
    "qos_port.pfc_priorities", "dscp_map.traffic_class", "class_map.to",
    "priority_group.lossless", "priority_group.profile", "priority_group.headroom_bytes", "priority_group.pool",
    "buffer_pool.shared_headroom_bytes",
    "queue.watchdog_enabled", "queue.ecn_enabled", "queue.ecn_min_bytes", "queue.ecn_max_bytes",
    "host_dscp.priority", "host_qos.ecn_rp", "host_qos.ecn_np", "host_qos.cnp_dscp",
)  # fmt: skip
"""Every `table.column` that a hop looks at."""

TRAFFIC_CLASSES = 8
"""Traffic classes of an Ethernet switch (802.1Q has eight)."""


def hops(
    state: State, ports: Mapping[str, tuple[TrafficClass, ...]], *, host: bool, uplinks: frozenset[str] = frozenset()
) -> dict[str, tuple[Hop, ...]]:
    """The hops of each port (interface name) for the lossless ones among its classes; in travel order, direction by direction.

    `uplinks`: ports of a leaf towards the next tier. What comes down through one never goes up through another.
    """
    lossless = {port: tuple(item for item in classes if item.lossless) for port, classes in ports.items()}
    look = Look(state)
    return _host_hops(look, lossless) if host else _switch_hops(look, lossless, uplinks)


def _switch_hops(
    look: Look, ports: Mapping[str, tuple[TrafficClass, ...]], uplinks: frozenset[str]
) -> dict[str, tuple[Hop, ...]]:
    ways = {port: _Ingress(look, port) for port in ports}
    wanted = dict.fromkeys(item for classes in ports.values() for item in classes)
    arriving = {
        (item, up): _arriving(item, [way for port, way in ways.items() if item in ports[port] and not (up and port in uplinks)])
        for item in wanted
        for up in (False, True)
    }
    return {
        port: (
            *(Hop(item.name, "ingress", tuple(ways[port].cells(item))) for item in classes),
            *(Hop(item.name, "egress", tuple(_egress(look, port, item, *arriving[item, port in uplinks]))) for item in classes),
        )
        for port, classes in ports.items()
    }


def _arriving(item: TrafficClass, ways: Iterable[_Ingress]) -> tuple[list[int], list[int]]:
    """The traffic classes that a class and its notifications have inside the switch, by every port that classifies well.

    A port that leads the class astray says so itself; the way out is not blamed for it a second time.
    """
    data: set[int] = set()
    notifications: set[int] = set()
    for way in ways:
        data |= way.led_well(item)
        if item.cnp_dscp is not None and isinstance(number := way.row(item.cnp_dscp).value, int):
            notifications.add(number)
    return sorted(data), sorted(notifications)


class _Ingress:
    """The way into a switch through one port."""

    def __init__(self, look: Look, port: str) -> None:
        self.look, self.port = look, port
        self.trust = look.fact("qos_port", (port,), "trust")
        self.map = look.fact("qos_port", (port,), "dscp_map")
        self.groups = look.fact("qos_port", (port,), "tc_to_pg")
        self.queues = look.fact("qos_port", (port,), "tc_to_queue")
        self.stops = look.fact("qos_port", (port,), "pfc_to_queue")
        self.pfc = look.fact("qos_port", (port,), "pfc_priorities")

    def row(self, dscp: int) -> Fact:
        """The traffic class of a DSCP; the binding where no map is bound."""
        return self.look.fact("dscp_map", (str(self.map.value), str(dscp)), "traffic_class") if present(self.map) else self.map

    def group(self, number: int) -> Fact:
        """The priority group of a traffic class."""
        return self.look.mapped("tc_to_pg", self.groups, number)

    def led_well(self, item: TrafficClass) -> set[int]:
        """The traffic classes of its DSCPs that nothing shows to miss the priority group."""
        found = {number for dscp in item.dscp if isinstance(number := self.row(dscp).value, int)}
        return {number for number in found if self.group(number).value in (item.priority, None) and not self.astray(number, item)}

    def astray(self, number: int, item: TrafficClass) -> bool:
        """Whether the DSCP map is to blame for a traffic class that misses the priority: the other maps lead some other
        traffic class there, and this one has not the priority's own number by itself."""
        if number == item.priority or self._ends_well(number, item) is not False:
            return False
        return any(self._ends_well(other, item) for other in range(TRAFFIC_CLASSES))

    def _ends_well(self, number: int, item: TrafficClass) -> bool | None:
        """Whether a traffic class ends in the priority: by its priority group; where that cannot be seen, by its queue."""
        group = self.group(number)
        if group.value is not None:
            return group.value == item.priority
        queue = self.look.mapped("tc_to_queue", self.queues, number)
        stopped = self.look.mapped("pfc_to_queue", self.stops, item.priority)
        if queue.value is None or stopped.value is None:
            return None
        return queue.value == (stopped.value if isinstance(stopped.value, int) else item.priority)

    def cells(self, item: TrafficClass) -> Iterator[HopCell]:
        """What the class meets, in order."""
        look, pg = self.look, str(item.priority)
        yield _trust(look, self.trust)
        yield from self._classified(item)
        key = (self.port, pg)
        lossless = look.fact("priority_group", key, "lossless")
        profile = look.fact("priority_group", key, "profile")
        named = f" (profile {profile.value})" if present(profile) else ""
        kind = "lossless" if lossless.value is True else "lossy" if lossless.value is False else "without a lossless profile"
        yield look.make(
            "priority_group",
            lossless,
            lossless.value is True,
            f"priority group {pg} is {kind}{named}",
            f"priority group {pg} lossless",
        )
        yield self._headroom(key, named)
        yield _pfc(look, self.pfc, item)
        if item.cnp_dscp is not None:
            yield from self._notified(item, item.cnp_dscp)

    def _classified(self, item: TrafficClass) -> Iterator[HopCell]:
        """DSCP to traffic class to priority group."""
        wanted = f"DSCP {_listed(item.dscp)} in priority group {item.priority}"
        good: dict[int, Fact] = {}
        for dscp in item.dscp:
            row = self.row(dscp)
            shared = Address("dscp_map", row.address.key[:1]) if row is not self.map else None
            if not isinstance(row.value, int):
                seen = f"no row for DSCP {dscp} in map {self.map.value}" if shared else "no DSCP map is bound"
                yield self.look.make("dscp_map", row, False, seen, wanted, shared)
                continue
            group, astray = self.group(row.value), self.astray(row.value, item)
            seen = f"DSCP {dscp} is traffic class {row.value}"
            if astray and group.value is not None:
                seen += f" and priority group {group.value}" if present(group) else " without a priority group"
            if not astray:
                good[row.value] = group
            yield self.look.make("dscp_map", row, not astray, seen, wanted, shared)
        for number, group in sorted(good.items()):
            bound = group is not self.groups
            seen = f"traffic class {number} is in priority group {group.value}"
            if not present(group):
                seen = f"no row for traffic class {number}" if bound else "no map of priority groups is bound"
            shared = Address("class_map", group.address.key[:1]) if bound else None
            yield self.look.make("tc_to_pg", group, group.value == item.priority, seen, wanted, shared)

    def _headroom(self, key: tuple[str, str], named: str) -> HopCell:
        """Bytes that absorb what still arrives after a pause; of a pool that shares its headroom, the pool's count too."""
        cell = self.look.fact("priority_group", key, "headroom_bytes")
        own = cell.value if isinstance(cell.value, int) else 0
        pool = self.look.fact("priority_group", key, "pool")
        lent: Value | None = None
        if not own and present(pool) and present(cell):
            shared = self.look.fact("buffer_pool", (str(pool.value),), "shared_headroom_bytes").value
            lent = shared if isinstance(shared, int) else None
        seen = f"{own or 'no'} bytes of headroom{named}" + (f", {lent} shared in {pool.value}" if lent else "")
        return self.look.make("headroom", cell, bool(own or lent), seen, f"headroom for priority group {key[1]}")

    def _notified(self, item: TrafficClass, dscp: int) -> Iterator[HopCell]:
        row = self.row(dscp)
        wanted = f"notifications (DSCP {dscp}) in a class of their own without PFC"
        if not isinstance(row.value, int):
            return
        shared = Address("dscp_map", row.address.key[:1])
        seen = f"DSCP {dscp} is traffic class {row.value}"
        if row.value in self.led_well(item):
            yield self.look.make("cnp", row, False, f"{seen}, that of class {item.name}", wanted, shared)
            return
        group = self.group(row.value).value
        paused = isinstance(group, int) and group in _numbers(self.pfc)
        yield self.look.make("cnp", row, not paused, f"{seen}, priority group {group}" if paused else seen, wanted, shared)


def _egress(look: Look, port: str, item: TrafficClass, data: list[int], notifications: list[int]) -> Iterator[HopCell]:
    """What the class meets on the way out. Where the two maps disagree on its queue, the one that has it on the queue of the
    priority's own number is right."""
    priority, wanted = item.priority, f"class {item.name} in the queue that pauses of priority {item.priority} stop"
    queues = look.fact("qos_port", (port,), "tc_to_queue")
    stops = look.fact("qos_port", (port,), "pfc_to_queue")
    stopped = look.mapped("pfc_to_queue", stops, priority)
    queue = stopped.value if isinstance(stopped.value, int) else priority
    led = {number: look.mapped("tc_to_queue", queues, number) for number in data}
    others = {cell.value for cell in led.values()} - {queue}
    guilty = "pfc_to_queue" if others == {priority} and present(stopped) else "tc_to_queue"
    for number, cell in led.items():
        bound = cell is not queues
        seen = f"traffic class {number} is in queue {cell.value}"
        if not present(cell):
            seen = f"no row for traffic class {number}" if bound else "no map of queues is bound"
        good = cell.value == queue or guilty != "tc_to_queue"
        yield look.make("tc_to_queue", cell, good, seen, wanted, Address("class_map", cell.address.key[:1]) if bound else None)
    bound = stopped is not stops
    shared = Address("class_map", stopped.address.key[:1]) if bound else None
    seen = f"pauses of priority {priority} stop queue {queue}{'' if bound else ', no map is bound'}"
    yield look.make("pfc_to_queue", stopped, guilty != "pfc_to_queue", seen, wanted, shared)
    queue = priority if guilty == "pfc_to_queue" else queue
    pfc = look.fact("qos_port", (port,), "pfc_priorities")
    yield _pfc(look, pfc, item)
    key = (port, str(queue))
    watchdog = look.fact("queue", key, "watchdog_enabled")
    seen = f"{'a' if watchdog.value is True else 'no'} PFC watchdog on queue {queue}"
    yield look.make("watchdog", watchdog, watchdog.value is True, seen, f"a PFC watchdog on queue {queue}")
    yield _marking(look, key)
    if item.cnp_dscp is not None and notifications:
        yield _notifications_out(look, port, item, (queue, pfc, queues, stops), notifications)


def _marking(look: Look, key: tuple[str, str]) -> HopCell:
    """Whether the queue marks: ECN on, and both thresholds there. The cell is the first one that says no."""
    on, low, high = (look.fact("queue", key, column) for column in ("ecn_enabled", "ecn_min_bytes", "ecn_max_bytes"))
    wanted = f"ECN marks queue {key[1]}"
    if on.value is not True:
        return look.make("ecn", on, False, f"no ECN on queue {key[1]}", wanted)
    lacking = next((cell for cell in (low, high) if not present(cell)), None)
    if lacking is not None:
        return look.make("ecn", lacking, False, f"ECN on queue {key[1]} has no threshold", wanted)
    return look.make("ecn", on, True, f"ECN marks queue {key[1]} from {low.value} to {high.value} bytes", wanted)


def _notifications_out(
    look: Look, port: str, item: TrafficClass, way: tuple[int, Fact, Fact, Fact], notifications: list[int]
) -> HopCell:
    """The queue of the notifications is not that of the class, not paused, not marked."""
    taken, pfc, queues, stops = way
    paused = {look.mapped("pfc_to_queue", stops, priority).value: priority for priority in _numbers(pfc)}
    paused.update({priority: priority for priority in _numbers(pfc) if not present(stops)})
    wanted = f"notifications (DSCP {item.cnp_dscp}) in a queue of their own without PFC and ECN"
    cell, seen = queues, ""
    for number in notifications:
        cell = look.mapped("tc_to_queue", queues, number)
        seen = f"traffic class {number} is in queue {cell.value}"
        shared = Address("class_map", cell.address.key[:1]) if cell is not queues else None
        if not present(cell):
            continue
        if cell.value == taken:
            return look.make("cnp", cell, False, f"{seen}, that of class {item.name}", wanted, shared)
        if cell.value in paused:
            return look.make("cnp", pfc, False, f"{seen}, which priority {paused[cell.value]} pauses", wanted)
        marked = look.fact("queue", (port, str(cell.value)), "ecn_enabled")
        if marked.value is True:
            return look.make("cnp", marked, False, f"{seen}, which ECN marks", wanted)
    return look.make("cnp", cell, True, seen, wanted)


def _host_hops(look: Look, ports: Mapping[str, tuple[TrafficClass, ...]]) -> dict[str, tuple[Hop, ...]]:
    return {
        port: (
            *(Hop(item.name, "send", (*_host(look, port, item), _point(look, port, item, "rp"))) for item in classes),
            *(Hop(item.name, "receive", tuple(_receive(look, port, item))) for item in classes),
        )
        for port, classes in ports.items()
    }


def _host(look: Look, port: str, item: TrafficClass) -> tuple[HopCell, ...]:
    """What both directions of a NIC port have in common."""
    wanted = f"DSCP {_listed(item.dscp)} has priority {item.priority}"
    rows = [(dscp, look.fact("host_dscp", (port, str(dscp)), "priority")) for dscp in item.dscp]
    return (
        _trust(look, look.fact("qos_port", (port,), "trust")),
        *(
            look.make("host_dscp", row, row.value == item.priority, f"DSCP {dscp} has priority {_said(row)}", wanted)
            for dscp, row in rows
        ),
        _pfc(look, look.fact("qos_port", (port,), "pfc_priorities"), item),
    )


def _receive(look: Look, port: str, item: TrafficClass) -> Iterator[HopCell]:
    yield from _host(look, port, item)
    yield _point(look, port, item, "np")
    if item.cnp_dscp is None:
        return
    sent = look.fact("host_qos", (port,), "cnp_dscp")
    yield look.make(
        "cnp_dscp",
        sent,
        sent.value == item.cnp_dscp,
        f"notifications have DSCP {_said(sent)}",
        f"notifications with DSCP {item.cnp_dscp}",
    )
    row = look.fact("host_dscp", (port, str(item.cnp_dscp)), "priority")
    paused = _numbers(look.fact("qos_port", (port,), "pfc_priorities")) | {item.priority}
    seen = f"DSCP {item.cnp_dscp} has priority {_said(row)}"
    wanted = f"notifications (DSCP {item.cnp_dscp}) on a priority of their own without PFC"
    yield look.make("cnp", row, row.value not in paused, seen, wanted)


def _point(look: Look, port: str, item: TrafficClass, kind: str) -> HopCell:
    """Reaction point (slows down) of a sender, notification point (answers marks) of a receiver."""
    name, does = ("reaction_point", "slows down") if kind == "rp" else ("notification_point", "answers the marks of")
    cell = look.fact("host_qos", (port,), f"ecn_{kind}")
    wanted = f"the NIC {does} priority {item.priority}"
    return look.make(name, cell, item.priority in _numbers(cell), f"the NIC {does} {_listed(_numbers(cell), 'priority')}", wanted)


def _trust(look: Look, cell: Fact) -> HopCell:
    words = [str(item) for item in cell.value] if isinstance(cell.value, tuple) else []
    return look.make("trust", cell, "dscp" in words, f"classifies by {' and '.join(words) or 'nothing'}", "classifies by dscp")


def _pfc(look: Look, cell: Fact, item: TrafficClass) -> HopCell:
    on = _numbers(cell)
    return look.make("pfc", cell, item.priority in on, f"PFC on {_listed(on, 'priority')}", f"PFC on priority {item.priority}")


def _numbers(cell: Fact) -> frozenset[int]:
    return frozenset(item for item in cell.value if isinstance(item, int)) if isinstance(cell.value, tuple) else frozenset()


def _listed(items: Iterable[int], what: str = "") -> str:
    named = ", ".join(map(str, sorted(items)))
    return f"{what} {named}".strip() if named else f"no {what}" if what else "none"


def _said(cell: Fact) -> str:
    return "none" if cell.value is ABSENT else str(cell.value)
