"""Peer rules: devices that should be alike, and the odd one out. What is compared stands with the columns (`Column.peer`).

One engine serves all of them. An attribute needs the word of three devices. What two thirds of them agree on is the common
value (the odd one of three is still odd), and who has another is named. With less agreement nobody can say who is odd: all
sides are told with their numbers, as information, for a half-done change looks the same. Compared is only what no other rule
judged; rows that a device lacks are no value, what must be there is for the plan and the baseline to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from auditor.canonical import printable
from auditor.facts import TABLES, schema
from auditor.model import (
    Deviation,
    Gap,
    GapReason,
    Judgement,
    Peers,
    PeerValue,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    check,
    failed,
    passed,
    unseen,
)

LEAST = 3
"""Devices whose word is needed before one of them is odd."""

COMMON = 2 / 3
"""Share of the devices that makes a value the common one."""

ALIKE = tuple(
    f"{table}.{name}" for table, row_type in TABLES.items() for name, field in schema(row_type).columns.items() if field.info.peer
)
"""Every column in which devices should agree."""

_VERSIONS = tuple(column for column in ALIKE if column.partition(".")[0] in ("system", "firmware"))
_RDMA_MTU = ("rdma_port.active_mtu",)
_ENVIRONMENT = ("nccl_env.value",)
_NAMED = 5


@check(
    reads=_VERSIONS,
    severity=Severity.WARNING,
    kind=RuleKind.PEER,
    family="firmware",
    remedy="Bring the odd ones to the version of the others, or write the set of good versions into the baseline "
    "(`firmware.not_allowed`), which then judges instead of this comparison.",
)
def mixed(peers: Peers, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a peer rule)
    """All devices of one hardware model run the same versions: operating system, kernel, and firmware of the same parts.

    Adapters are compared among those with the same parameter-set id: a server maker's part has versions of its own.

    Why it matters: one host with other NIC firmware or another driver shows as one slow or hanging rank in a job of a thousand
    hosts. Every link is up, every counter clean, and nobody compares by hand.
    """
    yield from judge(peers)


@check(
    reads=_RDMA_MTU,
    severity=Severity.CRITICAL,
    kind=RuleKind.PEER,
    family="mtu",
    remedy="Look at the IP MTU of that port: the RDMA MTU is the largest power of two that fits below it (4096 needs 4200 "
    "bytes). Ports bring it up to date when they come up again.",
)
def rdma_active_outlier(peers: Peers, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a peer rule)
    """The RDMA ports of all hosts of one kind run the same active MTU.

    Why it matters: two ends of a queue pair must agree on the path MTU. A host that fell back to 1024 beside hosts at 4096 makes
    the collective library hang or fail with length errors, only in the jobs that include this host.
    """
    yield from judge(peers)


@check(
    reads=_ENVIRONMENT,
    severity=Severity.WARNING,
    kind=RuleKind.PEER,
    family="nccl",
    remedy="Give all hosts the same file, from one place. A variable that must differ belongs into the job, not into the host.",
)
def env_differs(peers: Peers, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a peer rule)
    """All hosts of one kind give the collective library the same environment. A traffic class counts by its DSCP.

    Why it matters: ranks with different settings choose different algorithms, adapters or queues. The job hangs at its start,
    or runs at the speed of the worst of them.
    """
    yield from judge(peers)


@check(
    reads=tuple(column for column in ALIKE if column not in {*_VERSIONS, *_RDMA_MTU, *_ENVIRONMENT}),
    severity=Severity.WARNING,
    kind=RuleKind.PEER,
    family="fabric",
    remedy="Find out which of the two is meant; as a rule the odd one missed a change, or was changed by hand. A value that "
    "should hold for all belongs into the baseline, which then judges instead of this comparison.",
)
def inconsistent(peers: Peers, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a peer rule)
    """Devices of one role and hardware model are set up alike, also where no baseline says how.

    Ports are compared within their port groups, so that only ports with a part in the plan count. What an expectation or
    another rule judged is left to it.

    Why it matters: traffic of one job crosses many leaves. One that marks, schedules or watches otherwise than the rest slows
    down the jobs that happen to cross it, and each device alone looks fine.
    """
    yield from judge(peers)


def judge(peers: Peers) -> Iterator[Judgement]:
    """The one comparison behind all peer rules: nothing where too few devices speak of the attribute."""
    count = sum(len(value.devices) for value in peers.values)
    if count + len(peers.unseen) < LEAST or not peers.values:
        return
    if len(peers.values) > 1 and count >= LEAST:
        yield failed(peers.name, _deviation(peers, count))
    elif peers.unseen:
        yield unseen(peers.name, _gap(peers))
    else:
        yield passed(peers.name)


def odd(peers: Peers) -> tuple[PeerValue, ...]:
    """The values that differ from the common one; all of them where none is common."""
    count = sum(len(value.devices) for value in peers.values)
    return peers.values[1:] if len(peers.values[0].devices) >= COMMON * count else peers.values


def _deviation(peers: Peers, count: int) -> Deviation:
    strange = odd(peers)
    common = peers.values[0]
    split = len(strange) == len(peers.values)
    sides = "; ".join(f"{_shown(peers, value)} on {_names(value.devices)}" for value in strange[:_NAMED])
    if len(strange) > _NAMED:
        sides += f"; and {len(strange) - _NAMED} more values"
    if split:
        expected = f"one value on all {count} devices of {peers.group}"
        message = f"{peers.address} differs among {count} devices of {peers.group} and no value is common: {sides}"
    else:
        expected = f"{_shown(peers, common)}, as on {len(common.devices)} of {count} devices of {peers.group}"
        message = f"{peers.address} is {expected.replace(', as on', ' on', 1)}, but {sides}"
    return Deviation(
        expected=printable(expected),
        observed=printable(sides),
        message=printable(message, 2000),
        spots=tuple(_spots(strange, None if split else common)),
        severity=Severity.INFORMATION if split else None,
    )


def _spots(values: Iterable[PeerValue], common: PeerValue | None) -> Iterator[Spot]:
    """A cell of each odd device that we kept; of several values on one device first those that the common one lacks."""
    known = {cell.value for _, cells in (common.cells if common else ()) for cell in cells}
    for value in values:
        for device, cells in value.cells:
            for cell in sorted(cells, key=lambda cell: cell.value in known)[:1]:
                yield Spot(device, replace(cell.address, layer=cell.layer))


def _shown(peers: Peers, value: PeerValue) -> str:
    table, _, column = peers.column.partition(".")
    unit = schema(TABLES[table]).columns[column].info.unit
    return f"{value.value} {unit}" if unit and value.value != "absent" else value.value


def _names(devices: tuple[str, ...]) -> str:
    more = f" and {len(devices) - _NAMED} more" if len(devices) > _NAMED else ""
    return ", ".join(devices[:_NAMED]) + more


def _gap(peers: Peers) -> Gap:
    device, cell = peers.unseen[0]
    table = peers.column.partition(".")[0]
    silent = Gap(device, table, "", GapReason.NOT_COLLECTED, "nothing was seen of this device")
    return cell.gap if cell is not None and cell.gap is not None else silent
