"""Cabling rules: what the verdicts of the evidence mean for each cable, planned or not, and what hides the evidence.

The verdicts come from `auditor/cabling`; these rules turn them into findings. A link that is right passes, one that nobody
could prove is told at severity information and never passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.address import Address
from auditor.canonical import printable
from auditor.facts import Interface, Neighbour, NicFlag
from auditor.model import (
    CauseKind,
    Deviation,
    Judgement,
    Link,
    LinkEnd,
    LinkVerdict,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    State,
    check,
    failed,
    passed,
)
from auditor.plan.groups import IN_USE

RIGHT = (LinkVerdict.PROVEN, LinkVerdict.PROVEN_ONE_END)
"""Verdicts of a cable that is where it should be, at full speed."""

UNPROVEN = (LinkVerdict.UNKNOWN, LinkVerdict.LINK_ONLY)
"""Verdicts of a cable of which nobody knows where it goes."""


@check(
    reads=("neighbour.system", "neighbour.port_kind", "interface.up", "interface.mac"),
    optional=(
        "system.hostname",
        "interface.enabled",
        "interface.alias",
        "nic.mac",
        "rdma_port.node_guid",
        "lag_member.active",
        "mac_entry.vlan",
        "arp_entry.mac",
        "arp_entry.interface",
        "ib_port.peer_guid",
        "ib_node.description",
    ),
    severity=Severity.ERROR,
    kind=RuleKind.CABLE,
    remedy="Follow the work order of the cause, plug by plug; then check again. If plan and cables disagree on a whole group, "
    "look at the plan first.",
)
def wrong_peer(link: Link, context: RuleContext) -> Iterator[Judgement]:
    """Each planned cable leads to the port that the plan names.

    One end that names another port is enough to know it: the other may be silent. Two exchanged cables between the same two
    devices are a warning: bandwidth and rail are right, the labels are not.

    Why it matters: a NIC on the leaf of another rail works, pings and passes every bandwidth test of two hosts, and makes
    all-reduce cross the spine that rail-optimised wiring was bought to avoid.
    """
    if _of_kind(context, CauseKind.PLAN_WRONG):
        return
    yield from _judged(link, (LinkVerdict.WRONG,), _names(link), link.reason)


@check(
    reads=("neighbour.system",),
    severity=Severity.WARNING,
    kind=RuleKind.CABLE,
    remedy="Compare the plan with the rack before anybody touches a cable: the same deviation on a whole group is rather one "
    "mistake on paper than many with hands.",
)
def plan_disagrees(link: Link, context: RuleContext) -> Iterator[Judgement]:
    """Plan and cables agree wherever a whole group was wired the same way.

    Judged only where most links of a group differ from the plan by one and the same rule.

    Why it matters: a plan that is wrong produces work orders that break a healthy fabric.
    """
    if _of_kind(context, CauseKind.PLAN_WRONG) or link.verdict is not LinkVerdict.WRONG:
        yield from _judged(link, (LinkVerdict.WRONG,), _names(link), f"plan and cable disagree: {link.reason}")


@check(
    reads=("interface.up", "neighbour.system"),
    optional=("optic.present",),
    severity=Severity.ERROR,
    kind=RuleKind.CABLE,
    remedy="Look whether the cable is there and its plugs sit in both ports; then whether the module and the far end have power.",
)
def missing(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a cable rule)
    """Each planned cable is there: no planned port is down, without module or gone while its identity is seen nowhere.

    Judged only where both ends were collected. A missing LLDP neighbour alone is no missing cable.

    Why it matters: a host that lost one of eight rails runs, with an eighth less bandwidth, and slows the whole job to it.
    """
    yield from _judged(link, (LinkVerdict.MISSING,), "a cable that carries a link", link.reason)


@check(
    reads=("neighbour.system", "interface.speed"),
    optional=("rdma_port.rate", "ib_port.rate", "ib_port.width"),
    severity=Severity.ERROR,
    kind=RuleKind.CABLE,
    remedy="Reseat both plugs, then exchange the cable or its modules; a link trained on half its lanes is dirt or a bent pin.",
)
def degraded(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a cable rule)
    """Each proven cable runs at the speed and width of the plan.

    Why it matters: a link on half its lanes is up and error-free, and every collective waits for it.
    """
    yield from _judged(link, (LinkVerdict.DEGRADED,), "the planned speed", link.reason)


@check(
    reads=("neighbour.system",),
    severity=Severity.INFORMATION,
    kind=RuleKind.CABLE,
    remedy="Add the cable to the plan, or take it away.",
)
def unplanned(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a cable rule)
    """Between ports of planned planes there is no cable beside those of the plan.

    Why it matters: a jumper that somebody forgot carries traffic on a path that nobody computed.
    """
    yield from _judged(link, (LinkVerdict.UNPLANNED,), "no cable", link.reason)


@check(
    reads=("neighbour.system",),
    severity=Severity.INFORMATION,
    kind=RuleKind.CABLE,
    remedy="Collect the devices at both ends. On Ethernet run lldpd on the host, or switch off the LLDP agent in the adapter's "
    "firmware; on InfiniBand collect a host that walks the subnet.",
)
def not_proven(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a cable rule)
    """Somebody says of each planned cable where it goes.

    A link of which nobody does is neither right nor wrong. It is listed, and `cabling check` ends with 3 because of it.

    Why it matters: what was not seen must not count as fine.
    """
    if link.verdict in UNPROVEN:
        yield failed(link.name, Deviation("an end that names the other", link.verdict.value, link.reason, link.spots))
    elif link.verdict is not LinkVerdict.NOT_YET and link.plan is not None:
        yield passed(link.name)


_AGENT_ON = {"fw-lldp-agent": True, "disable-fw-lldp": False}
"""Flags of Intel adapters and the value with which the firmware's own LLDP agent runs: `ice` and `i40e`, whose documents in
the kernel (networking/device_drivers/ethernet/intel) describe both; field case 50."""


@check(
    reads=("neighbour.system",),
    optional=("nic_flag.value", "interface.up"),
    severity=Severity.WARNING,
    remedy="Switch the agent off so that lldpd sees the frames: `ethtool --set-priv-flags NETDEV fw-lldp-agent off` (ice), "
    "`ethtool --set-priv-flags NETDEV disable-fw-lldp on` (i40e); the setting does not survive a restart by itself.",
)
def neighbour_hidden(state: State, context: RuleContext) -> Iterator[Judgement]:
    """No adapter of a planned port takes the LLDP frames away before the host sees them.

    Judged where the driver has a flag for it. An agent that is on and a host that sees a neighbour all the same is healthy.

    Why it matters: such a host looks as if its cables were missing; only the switch can tell where they go.
    """
    seen = {key[0] for key in state.keys(Neighbour)}
    for port in sorted(context.groups.get(IN_USE, ())):
        interface = Address(Interface.TABLE, (port,))
        if port in seen:
            yield passed(interface)
        elif state.cell(Address(Interface.TABLE, (port,), "up")).value is not False:
            for flag, on in _AGENT_ON.items():
                cell = state.cell(Address(NicFlag.TABLE, (port, flag), "value"))
                if cell.value is on:
                    yield failed(interface, _hidden(state.device, Address(NicFlag.TABLE, (port, flag), "value", cell.layer), on))
                elif isinstance(cell.value, bool):
                    yield passed(interface)


def _hidden(device: str, address: Address, on: bool) -> Deviation:
    flag, word, other = address.key[1], "on" if on else "off", "off" if on else "on"
    return Deviation(
        expected=f"{flag} {other}, or a neighbour seen",
        observed=f"{flag} {word}, no neighbour seen",
        message=f"the LLDP agent of the adapter's firmware takes the frames ({flag}: {word}); the host sees none",
        spots=(Spot(device, address),),
    )


_FACTORY = re.compile(r"MT\d+ \S|Mellanox Technologies\s*$|NVIDIA\s*$")
"""Node descriptions that the adapter brings from the factory: `MT4129 ConnectX7   Mellanox Technologies` (field case 52)."""


@check(
    reads=("ib_node.description",),
    severity=Severity.WARNING,
    kind=RuleKind.CABLE,
    remedy="Let the host write its name into the node description: the service rdma-ndd of rdma-core does.",
)
def factory_description(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a cable rule)
    """Every node of an InfiniBand fabric describes itself by its host's name.

    Why it matters: with the factory's text every tool of the fabric manager calls the node by a GUID, in the night of a
    fault as well.
    """
    found = [(end, end.facts["ib_node.description"]) for end in link.ends if "ib_node.description" in end.facts]
    texts = [(end, fact) for end, fact in found if isinstance(fact.value, str)]
    nameless = [(end, fact) for end, fact in texts if _FACTORY.search(str(fact.value))]
    if nameless:
        end, fact = nameless[0]
        text = printable(str(fact.value), 64)
        yield failed(
            link.name,
            Deviation(
                expected=f"a description that names {end.device}",
                observed=text,
                message=f'{end.device} {end.port} describes itself as "{text}": the text of the factory, not the host\'s name',
                spots=(Spot(fact.device or end.device, fact.address),),
            ),
        )
    elif texts:
        yield passed(link.name)


def _of_kind(context: RuleContext, kind: CauseKind) -> bool:
    return context.cause is not None and context.cause.kind is kind


def _judged(link: Link, bad: tuple[LinkVerdict, ...], expected: str, observed: str) -> Iterator[Judgement]:
    if link.verdict in bad:
        name = " to ".join(f"{end.device} {_port(end)}" for end in link.ends)
        yield failed(link.name, Deviation(expected, observed, f"{name}: {observed}", link.spots))
    elif link.verdict in RIGHT or (link.verdict is LinkVerdict.DEGRADED and LinkVerdict.DEGRADED not in bad):
        yield passed(link.name)


def _names(link: Link) -> str:
    return " to ".join(f"{end.device} {_port(end)}" for end in link.ends)


def _port(end: LinkEnd) -> str:
    return end.port if end.interface in (None, end.port) else f"{end.port} ({end.interface})"
