"""MTU rules that look at more than one fact: the two ends of a cable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
    check,
    failed,
    passed,
    unseen,
)
from auditor.model.device import is_host


@check(
    reads=("interface.mtu",),
    optional=("interface.mtu_shown",),
    severity=Severity.ERROR,
    kind=RuleKind.LINK,
    remedy="Give both ends of the cable the MTU of their port group. As a rule the smaller end lost its line "
    "(a replaced interface block, a reimaged host); a host may stay below its switch port, never above.",
)
def link_ends_differ(link: Link, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a link rule)
    """Both switch ports of a cable let through IP packets of the same size; a host sends none larger than its switch port takes.

    Compared is the IP MTU after conversion: 9100 on one vendor and 9114 on another, which counts the Ethernet header,
    are equal. A host below its switch port is healthy: 4200 bytes are enough for an RDMA MTU of 4096.

    Why it matters: RoCE packets are never fragmented. What is too large for the far end is dropped there without a
    word, small pings pass, and the job hangs or fails with length errors.
    """
    sizes: list[tuple[int, LinkEnd, Fact]] = []
    for end in link.ends:
        fact = end.fact("interface.mtu")
        if not isinstance(fact.value, int):
            yield unseen(link.name, fact.gap or _no_mtu(end, fact))
            return
        sizes.append((fact.value, end, fact))
    (small, lower, _), (large, upper, _) = sizes = sorted(sizes, key=lambda item: item[0])
    healthy = small == large or _may_be_smaller(lower.role, upper.role)
    if healthy:
        yield passed(link.name)
        return
    if healthy is None:
        nameless = upper if lower.role else lower
        words = f"MTUs differ, and the inventory gives {nameless.device} no role: a host may be smaller than its switch port"
        yield unseen(link.name, Gap(nameless.device, "interface", "inventory", GapReason.NOT_COLLECTED, words, columns=("mtu",)))
        return
    to_host = is_host(lower.role) != is_host(upper.role)
    order = sorted(sizes, key=lambda item: _cell(item[1], item[2]) not in item[1].failed)
    yield failed(
        link.name,
        Deviation(
            expected="the host's IP MTU at or below that of its switch port" if to_host else "the same IP MTU on both ends",
            observed=", ".join(f"{end.device}:{end.port} {size}" for size, end, _ in sizes),
            message=f"IP MTU differs across the cable: {_said(sizes[0])}, but {_said(sizes[1])}; "
            f"packets above {small} bytes are lost",
            spots=tuple(Spot(end.device, replace(fact.address, layer=fact.layer)) for _, end, fact in order),
        ),
    )


def _may_be_smaller(lower: str, upper: str) -> bool | None:
    """Whether the end of role `lower` may have the smaller MTU; None when a missing role leaves that open."""
    roles = [{is_host(role)} if role else {True, False} for role in (lower, upper)]
    answers = {low and not up for low in roles[0] for up in roles[1]}
    return answers.pop() if len(answers) == 1 else None


def _cell(end: LinkEnd, fact: Fact) -> str:
    """The cell as `LinkEnd.failed` names it: without layer."""
    return str(Spot(end.device, replace(fact.address, layer=None)))


def _said(item: tuple[int, LinkEnd, Fact]) -> str:
    """One end in words, with the number as the device printed it: that is what a person will look for."""
    size, end, _ = item
    shown = end.fact("interface.mtu_shown").value
    printed = f" (printed {shown})" if isinstance(shown, str) else ""
    name = end.port if end.interface in (None, end.port) else f"{end.port} ({end.interface})"
    return f"{end.device} {name} takes {size} bytes{printed}"


def _no_mtu(end: LinkEnd, fact: Fact) -> Gap:
    """Why an end without MTU is not compared: no port, or a port without the number, is no MTU that differs."""
    words = f"{end.device} has no port {end.port}" if end.interface is None and fact.value is ABSENT else "no MTU in the answer"
    return Gap(end.device, "interface", fact.source, GapReason.NOT_COLLECTED, words, fact.layer, fact.address.key, ("mtu",))
