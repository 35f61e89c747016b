"""Rules about how ranks of a job reach other hosts, as its logs show: GPUDirect RDMA, and RDMA at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from auditor.checks.nccl.log_view import JOB, Devices, devices, few, proof, spans_hosts, used_by
from auditor.dialects.nccl_job import End, Host, Log
from auditor.model import Deviation, Judgement, RuleContext, RuleKind, Severity, check, failed, passed

SOCKET = "Socket"
ISOLATED = ("NCCL_IB_DISABLE", "NCCL_NET")
"""Variables that take a job off the fast network."""


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Load nvidia-peermem (or a kernel and driver with DMA-BUF) on that host, look for ACS and IOMMU settings that differ "
    "from the others', and at NCCL_NET_GDR_LEVEL.",
)
def gdr_off(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """Network connections of a GPU use GPUDirect RDMA wherever those of the same GPU on other hosts do.

    The two directions are judged apart: platforms without NVLink read over GPUDirect in one of them only. Off on every host is
    one warning for the job.

    Why it matters: without it every byte goes through host memory, at a fraction of the bandwidth, and the job only gets slower.
    """
    ends = [end for end in log.ends if end.direct is not None and not end.network.startswith(SOCKET)]
    if not any(end.direct for end in ends):
        if ends:
            yield _off_everywhere(log, ends)
        return
    ways = _Ways(ends)
    found = devices(log)
    places = used_by(log, found)
    for name, there in _by_host(ends).items():
        odd = [end for end in there if not end.direct and ways.direct_elsewhere(end)]
        if not odd:
            yield passed(name)
            continue
        host = log.hosts[name]
        gpus = sorted({end.gpu for end in odd})
        lost = _lost(found, name, gpus, places)
        ways_odd = " and ".join(word for word, sends in (("sends", True), ("receives", False)) if sends in {e.sends for e in odd})
        reason = next(iter(host.no_direct), "")
        why = f"; {few(lost)} is not among its devices" if lost else f" ({reason})" if reason else ""
        said = f"GPU {few(map(str, gpus))} {ways_odd}"
        yield failed(
            name,
            Deviation(
                "GPUDirect RDMA, as on the other hosts",
                f"none where {said} ({sum(end.count for end in odd)} connections)",
                f"{name}: {said} without GPUDirect RDMA{why}",
                shared=found.lost(name) if lost else None,
                evidence=proof(log, name, [*(end.mark for end in odd[:3]), host.no_direct.get(reason)]),
            ),
        )


class _Ways:
    """On which hosts each GPU has connections with and without GPUDirect RDMA, by direction."""

    def __init__(self, ends: Iterable[End]) -> None:
        self._same: dict[tuple[int, bool, bool], set[str]] = defaultdict(set)
        self._any: dict[tuple[bool, bool], set[tuple[str, int]]] = defaultdict(set)
        for end in ends:
            self._same[end.gpu, end.sends, bool(end.direct)].add(end.host.name)
            self._any[end.sends, bool(end.direct)].add((end.host.name, end.gpu))

    def direct_elsewhere(self, end: End) -> bool:
        """Whether the same GPU of all other hosts has it; where no other is known, every other GPU that goes this way."""
        on, off = (self._beside(self._same[end.gpu, end.sends, direct], end.host.name) for direct in (True, False))
        if on or off:
            return not off
        on, off = (self._beside(self._any[end.sends, direct], (end.host.name, end.gpu)) for direct in (True, False))
        return on > 0 and not off

    @staticmethod
    def _beside(there: set[str] | set[tuple[str, int]], own: object) -> int:
        return len(there) - (own in there)


def _by_host(ends: Iterable[End]) -> dict[str, list[End]]:
    out: dict[str, list[End]] = defaultdict(list)
    for end in ends:
        out[end.host.name].append(end)
    return out


def _lost(found: Devices, host: str, gpus: Sequence[int], places: Mapping[tuple[int, int], set[str]]) -> list[str]:
    """Those of a host's missing devices that these GPUs use elsewhere."""
    missing = found.missing.get(host, ())
    return [name for name in missing if any((gpu, found.reference.index(name)) in places for gpu in gpus)]


def _off_everywhere(log: Log, ends: Sequence[End]) -> Judgement:
    hosts = list(dict.fromkeys(end.host.name for end in ends))
    reason = next((mark for name in hosts for mark in log.hosts[name].no_direct.values()), None)
    return failed(
        JOB,
        Deviation(
            "GPUDirect RDMA",
            f"none on {len(hosts)} host{'s' if len(hosts) > 1 else ''}",
            "no connection between hosts uses GPUDirect RDMA: is that meant on this hardware?",
            severity=Severity.WARNING,
            evidence=proof(log, hosts[0], [ends[0].mark, reason]),
        ),
    )


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Look whether RDMA devices are visible where the job runs (/dev/infiniband, libibverbs, memlock in the container), at "
    "NCCL_IB_DISABLE, NCCL_NET and NCCL_IB_HCA, and at why a network plug-in failed to load.",
)
def socket_fallback(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """A job over several hosts talks RDMA where RDMA devices are there.

    Sockets on every host, with no sign of a device, are a warning: a cluster without a fast network looks the same. A job on one
    host needs no network.

    Why it matters: the library falls back to TCP without a word above INFO, at a tenth of the bandwidth or less.
    """
    if not spans_hosts(log):
        return
    ends = _by_host(log.ends)
    slow: list[Host] = []
    fast: set[str] = set()
    for host in log.hosts.values():
        names = {*host.networks, *(end.network for end in ends.get(host.name, ()))}
        if any(name.startswith(SOCKET) for name in names):
            slow.append(host)
        elif names:
            fast.add(host.name)
            yield passed(host.name)
    listed = devices(log).lists
    known = [host for host in slow if fast or host.name in listed]
    for host in known:
        yield failed(host.name, _sockets(log, host, ends.get(host.name, ()), "RDMA, as its devices or the other hosts show"))
    if slow and not known:
        expected = "RDMA, if these hosts have a fast network"
        yield failed(JOB, _sockets(log, slow[0], ends.get(slow[0].name, ()), expected, Severity.WARNING))


def _sockets(log: Log, host: Host, ends: Iterable[End], expected: str, severity: Severity | None = None) -> Deviation:
    why = [
        seen.mark
        for variable in ISOLATED
        for value, seen in host.environment.get(variable, {}).items()
        if value not in ("0", "IB")
    ]
    sign = next((seen.mark for name, seen in host.networks.items() if name.startswith(SOCKET)), None)
    end = next((end.mark for end in ends if end.network.startswith(SOCKET)), None)
    reason = f": {why[0].text}" if why else ": no RDMA device was found" if host.no_device else ""
    return Deviation(
        expected,
        "sockets",
        f"{host.name if severity is None else 'every host'} talks to other hosts over sockets{reason}",
        severity=severity,
        evidence=proof(log, host.name, [sign, end, host.no_device, *why]),
    )
