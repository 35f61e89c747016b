"""Peer rules: devices that should be alike, and the odd one out. What is compared stands with the columns (`Column.peer`).

One engine serves all of them. An attribute needs the word of three devices. What two thirds of them agree on is the common
value (the odd one of three is still odd), and who has another is named. With less agreement nobody can say who is odd: all
sides are told with their numbers, as information, for a half-done change looks the same. Compared is only what no other rule
judged; rows that a device lacks are no value, what must be there is for the plan and the baseline to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from auditor import topology
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


def _other_ports(common: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    """Which GPUs have other nearest ports, from `GPU 0: mlx5_0` on both sides."""
    wanted, there = (_by_subject(side) for side in (common, seen))
    return tuple(
        f"{gpu}'s nearest NIC is {there.get(gpu, 'none')} instead of {wanted.get(gpu, 'none')}"
        for gpu in sorted({*wanted, *there}, key=topology.natural)
        if wanted.get(gpu) != there.get(gpu)
    )


def _by_subject(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in words:
        subject, _, what = text.partition(": ")
        found[subject] = f"{found[subject]} and {what}" if subject in found else what
    return found


TOLD: Mapping[str, Callable[[Sequence[str], Sequence[str]], tuple[str, ...]]] = {
    "nccl_topology.fingerprint_shape": topology.difference,
    "nccl_path.nearest": _other_ports,
}
"""Columns whose values are told apart in words, and by what: nothing to tell means that two values are one."""

_LIKENED = 20
"""Values that others are compared with in words; the rest of a group so mixed is told by its hashes."""

_TOPOLOGY = (*TOLD, "nccl_graph.networks", "nccl_graph.type_inter")
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
    reads=_TOPOLOGY,
    severity=Severity.ERROR,
    kind=RuleKind.PEER,
    family="nccl",
    remedy="Look at that host: the BIOS settings of its NUMA nodes and PCIe slots, whether the card sits in the slot where the "
    "others have it, and what the last repair changed. Cables have no part in it. A dump shows only the GPUs of the job that "
    "wrote it and the adapters that NCCL_IB_HCA let through: write it by the same small job on every host.",
)
def topology_outlier(peers: Peers, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a peer rule)
    """All hosts of one hardware model are built alike inside: which GPU and which adapter share a PCIe switch and a NUMA node,
    how wide and fast their links are, how GPUs are joined, and so which adapter is nearest to which GPU.

    Hosts are grouped by the shape of the topology that the collective library dumped, in which addresses, identities, the order
    of elements and the version of the library play no part; where there is no dump, by the nearest adapter of every GPU. The
    odd ones are told by the smallest structural difference to the others. What a dump does not say is no difference.

    Why it matters: the affinity of GPU and adapter decides the bandwidth inside a host. A link trained down, a NUMA node that
    moved with a BIOS update or an adapter lost in repair slows a whole job and raises no alarm. Two exchanged adapters send the
    traffic of two GPUs over each other's rail.
    """
    yield from judge(peers)


@check(
    reads=tuple(column for column in ALIKE if column not in {*_VERSIONS, *_RDMA_MTU, *_ENVIRONMENT, *_TOPOLOGY}),
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
    peers = settled(peers)
    count = sum(len(value.devices) for value in peers.values)
    if count + len(peers.unseen) < LEAST or not peers.values:
        return
    if len(peers.values) > 1 and count >= LEAST:
        yield failed(peers.name, _deviation(peers, count))
    elif peers.unseen:
        yield unseen(peers.name, _gap(peers))
    else:
        yield passed(peers.name)


def settled(peers: Peers) -> Peers:
    """The same histogram with values joined that nothing in their words tells apart; who knows more is no outlier."""
    if peers.column not in TOLD:
        return peers
    kept: list[PeerValue] = []
    for value in peers.values:
        at = next((at for at, other in enumerate(kept[:_LIKENED]) if _told(peers.column, other, value) == ()), None)
        if at is None:
            kept.append(value)
        else:
            both = tuple(sorted((*kept[at].devices, *value.devices)))
            kept[at] = replace(kept[at], devices=both, cells=kept[at].cells + value.cells)
    kept.sort(key=lambda value: (-len(value.devices), value.value))
    return replace(peers, values=tuple(kept))


def _told(column: str, common: PeerValue, value: PeerValue) -> tuple[str, ...] | None:
    """What sets a value apart from another, in words; None where nobody can say."""
    if column not in TOLD or not (common.words and value.words):
        return None
    try:
        return TOLD[column](common.words, value.words)
    except ValueError:  # words of a version that told them otherwise
        return None


def odd(peers: Peers) -> tuple[PeerValue, ...]:
    """The values that differ from the common one; all of them where none is common."""
    count = sum(len(value.devices) for value in peers.values)
    return peers.values[1:] if len(peers.values[0].devices) >= COMMON * count else peers.values


def _deviation(peers: Peers, count: int) -> Deviation:
    strange = odd(peers)
    common = peers.values[0]
    split = len(strange) == len(peers.values)
    told = {value.value: words for value in strange if not split and (words := _told(peers.column, common, value))}
    sides = "; ".join(_side(peers, value, told.get(value.value, ())) for value in strange[:_NAMED])
    if len(strange) > _NAMED:
        sides += f"; and {len(strange) - _NAMED} more values"
    if split:
        expected = f"one value on all {count} devices of {peers.group}"
        message = f"{peers.address} differs among {count} devices of {peers.group} and no value is common: {sides}"
    elif told:
        expected = f"as on {len(common.devices)} of {count} devices of {peers.group}"
        message = f"unlike {len(common.devices)} of {count} devices of {peers.group}: {sides}"
    else:
        expected = f"{_shown(peers, common)}, as on {len(common.devices)} of {count} devices of {peers.group}"
        message = f"{peers.address} is {expected.replace(', as on', ' on', 1)}, but {sides}"
    return Deviation(
        expected=printable(expected),
        observed=printable(sides),
        message=printable(message, 2000),
        spots=tuple(_spots(strange, None if split else common, told)),
        severity=Severity.INFORMATION if split else None,
    )


def _side(peers: Peers, value: PeerValue, told: Sequence[str]) -> str:
    """One odd value and who has it: in words where there are some."""
    if not told:
        return f"{_shown(peers, value)} on {_names(value.devices)}"
    more = f", and {len(told) - _NAMED} more differences" if len(told) > _NAMED else ""
    return f"{_names(value.devices)}: {', '.join(told[:_NAMED])}{more}"


def _spots(values: Iterable[PeerValue], common: PeerValue | None, told: Mapping[str, tuple[str, ...]]) -> Iterator[Spot]:
    """A cell of each odd device that we kept; of several values on one device first those that the common one lacks, and of
    a value told in words those that the words name."""
    known = {cell.value for _, cells in (common.cells if common else ()) for cell in cells}
    for value in values:
        words = " ".join(told.get(value.value, ()))
        for device, cells in value.cells:
            named = [cell for cell in cells if cell.address.key and any(_names_part(words, part) for part in cell.address.key)]
            for cell in named[:_NAMED] or sorted(cells, key=lambda cell: cell.value in known)[:1]:
                yield Spot(device, replace(cell.address, layer=cell.layer))


def _names_part(words: str, part: str) -> bool:
    """Whether words speak of a GPU by its number, or of a port by its name."""
    what = f"GPU {part}" if part.isdecimal() else part
    return re.search(rf"(?<![\w.-]){re.escape(what)}(?![\w.-])", words) is not None


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
