"""Who pauses on what: trust, and priority flow control at a port and at both ends of a cable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from auditor.address import Address
from auditor.checks.lossless.ports import classes, gap, in_cages, listed, numbers, planned, spot, used
from auditor.model import (
    ABSENT,
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


@dataclass(frozen=True, slots=True)
class _Side:
    """One end of a link with the priorities it pauses on."""

    end: LinkEnd
    fact: Fact
    priorities: frozenset[int]

    @property
    def words(self) -> str:
        return f"{self.end.device}:{self.end.port} {listed(self.priorities)}"

    @property
    def spot(self) -> Spot:
        return Spot(self.end.device, replace(self.fact.address, layer=self.fact.layer))


@check(
    reads=("qos_port.pfc_priorities",),
    severity=Severity.ERROR,
    kind=RuleKind.LINK,
    remedy="Enable PFC for the priority of the lossless class on both ends of the cable, and for no priority that the far end "
    "treats as lossy. On a host, look first for the service that sets it again after a reboot.",
    family="lossless",
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
        sides.append(_Side(end, fact, numbers(fact.value)))
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
        f"{side.end.device}:{side.end.port} pauses on {listed(side.priorities) if side.priorities else 'nothing'}"
        for side in sides
    ]
    used = f" (class {', '.join(dict.fromkeys(names))})" if names else ""
    return Deviation(
        expected="PFC on the same priorities at both ends",
        observed=", ".join(side.words for side in sides),
        message=f"PFC differs on priority {listed(worst)}{used}: {', '.join(sayings)}",
        spots=tuple(side.spot for side in sorted(sides, key=lambda side: (worst[0] in side.priorities) is wanted)),
        severity=severity,
    )


@check(
    reads=("qos_port.trust",),
    optional=("qos_port.trust",),
    severity=Severity.ERROR,
    remedy="Let the port classify by DSCP: on a switch, bind the DSCP map to the port; on a host, set the trust state of the NIC "
    "to dscp and keep the service that does so after a reboot or a driver reload.",
    family="lossless",
)
def trust_without_dscp(state: State, context: RuleContext) -> Iterator[Judgement]:
    """Every planned port of a plane whose classes are told apart by DSCP classifies by DSCP.

    Why it matters: RoCE packets carry their class in the DSCP and no VLAN tag. A port that trusts the tag, the factory
    state of most NICs, puts all of them into priority 0: into the lossy queue, without pause, together with everything else.
    """
    for port in planned(context, lambda item: bool(item.dscp)):
        row = Address("qos_port", (port,))
        trust = state.cell(replace(row, column="trust"))
        if trust.value is None:
            yield unseen(row, gap(state, trust))
        elif isinstance(trust.value, tuple) and "dscp" in trust.value:
            yield passed(row)
        else:
            seen = "absent" if trust.value is ABSENT else listed(trust.value if isinstance(trust.value, tuple) else ())
            said = "nothing" if seen in ("absent", "none") else seen
            yield failed(row, Deviation("dscp", seen, f"{port} classifies by {said}, not by DSCP", (spot(state, trust),)))


@check(
    reads=("qos_port.pfc_priorities",),
    optional=("qos_port.pfc_priorities", "interface.enabled", "interface.breakout_parent"),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Take PFC off the priority of the lossy class on this port, or declare the class lossless in fabric.yaml if "
    "that is what is meant; then every hop needs headroom and a watchdog for it.",
)
def pfc_on_lossy_class(state: State, context: RuleContext) -> Iterator[Judgement]:
    """No port in use, of a switch or a host, has PFC on the priority of a class that the intent declares lossy.

    A priority that no class uses may have PFC (the usual default of a switch is 3 and 4): nothing is sent there.

    Why it matters: a lossy class has no headroom, so a pause for it saves no packet, but it stops the sender. Ordinary traffic
    then brings congestion to every switch behind, and storage or control traffic waits for a slow receiver of something else.
    """
    failures: dict[str, Deviation] = {}
    for port in used(state, context, lambda item: not item.lossless):
        lossy = {item.priority: item.name for item in classes(context, port) if not item.lossless}
        if not lossy:
            continue
        row = Address("qos_port", (port,))
        pfc = state.cell(replace(row, column="pfc_priorities"))
        wrong = sorted(numbers(pfc.value) & lossy.keys())
        if not pfc.known:
            yield unseen(row, gap(state, pfc))
        elif wrong:
            named = ", ".join(f"{priority} (class {lossy[priority]})" for priority in wrong)
            failures[port] = Deviation(
                expected=f"no PFC on priority {listed(lossy)}",
                observed=f"PFC on priority {named}",
                message=f"{port} pauses on priority {named}, which the intent declares lossy",
                spots=(spot(state, pfc),),
            )
        else:
            yield passed(row)
    for port, deviation in in_cages(state, failures).items():
        yield failed(Address("qos_port", (port,)), deviation)


@check(
    reads=("qos_port.global_pause_rx", "qos_port.global_pause_tx"),
    optional=("qos_port.global_pause_rx", "qos_port.global_pause_tx", "interface.enabled", "interface.breakout_parent"),
    severity=Severity.ERROR,
    family="lossless",
    remedy="Switch 802.3x pause off in both directions on the port (on a Linux host: `ethtool -A <netdev> rx off tx off`) and "
    "keep the service that does so after a reboot or a driver reload; then see that PFC is on.",
)
def global_pause_on(state: State, context: RuleContext) -> Iterator[Judgement]:
    """No port in use of a plane with a lossless class sends or obeys the pause of the whole link (802.3x).

    Why it matters: global pause and PFC exclude each other, and it is the factory state of many NICs. It stops all classes at
    once, congestion notifications too, and the far end, which was told to use PFC, does not obey it or is stopped altogether.
    """
    failures: dict[str, Deviation] = {}
    for port in used(state, context):
        if not classes(context, port):
            continue
        row = Address("qos_port", (port,))
        cells = [state.cell(replace(row, column=f"global_pause_{way}")) for way in ("rx", "tx")]
        on = [cell for cell in cells if cell.value is True]
        hidden = next((cell for cell in cells if not cell.known), None)
        if on:
            ways = " and ".join("obeyed" if str(cell.address.column).endswith("rx") else "sent" for cell in on)
            failures[port] = Deviation(
                expected="802.3x pause off",
                observed=f"802.3x pause is {ways}",
                message=f"{port}: the pause of the whole link (802.3x) is {ways}; PFC cannot work beside it",
                spots=tuple(spot(state, cell) for cell in on),
            )
        elif hidden is not None:
            yield unseen(row, gap(state, hidden))
        elif any(cell.present for cell in cells):
            yield passed(row)
    for port, deviation in in_cages(state, failures).items():
        yield failed(Address("qos_port", (port,)), deviation)


def _link_classes(link: Link, context: RuleContext) -> tuple[TrafficClass, ...]:
    plane = context.fabric.planes.get(link.plan.plane) if context.fabric is not None and link.plan is not None else None
    return () if plane is None else plane.classes
