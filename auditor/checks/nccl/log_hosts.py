"""Rules about the hosts of one job side by side, as its logs show them: network devices, GPUs, NVLink domains, PCIe."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from auditor.checks.nccl.log_view import Devices, devices, few, proof
from auditor.dialects.nccl_job import Communicator, GpuFabric, Log, Mark, Nic
from auditor.model import Deviation, Judgement, RuleContext, RuleKind, Severity, check, failed, passed


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Look whether the device is there at all (lspci, ibdev2netdev), whether its link is up, and whether NCCL_IB_HCA lets "
    "it through on that host.",
)
def network_devices_differ(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """All hosts of a job offer the library as many network devices, of the same kind and speed.

    Names may differ where their number is the same: drivers number devices as they find them. A host that lists more than most
    is a warning.

    Why it matters: the library works with what it finds. A host that lost an adapter sends the traffic of that GPU over a
    neighbour's, across rails, and the whole job runs at the pace of that host. Nothing fails.
    """
    found = devices(log)
    if len(found.lists) > 1:
        alike = Counter(len(nics) for nics in found.lists.values())
        usual = len(found.reference)
        other = next(name for name, nics in found.lists.items() if set(nics) == set(found.reference))
        for name, nics in found.lists.items():
            if found.own and len(nics) != usual and name not in found.missing:
                continue
            said = ""
            severity = None
            if name in found.missing:
                said = f"{len(nics)} of {usual} network devices: {few(found.missing[name])} missing"
            elif len(nics) > usual:
                extra = [each for each in nics if each not in found.reference]
                said, severity = f"{len(nics)} network devices instead of {usual}: {few(extra)} more", Severity.WARNING
            elif other != name and set(nics) == set(found.reference):
                said = _unlike(found, found.lists[other], nics)
            if not said:
                yield passed(name)
                continue
            yield failed(
                name,
                Deviation(
                    f"the {usual} devices of {alike[usual]} of {len(found.lists)} hosts",
                    few(nics, 16),
                    f"{name}: the library found {said}",
                    shared=found.lost(name),
                    severity=severity,
                    evidence=proof(log, name, [found.marks[name], found.marks[other]]),
                ),
            )
    yield from _counted(log)


def _unlike(found: Devices, usual: Mapping[str, Nic], nics: Mapping[str, Nic]) -> str:
    """How devices of equal names differ from those of another host."""
    for name, nic in nics.items():
        there = usual[name]
        if nic.link and there.link and nic.link != there.link and _common_link(found, name) == there.link:
            return f"{name} as {nic.link}, which is {there.link} elsewhere"
        if nic.speed and there.speed and nic.speed < there.speed:
            return f"{name} at {nic.speed} Mbit/s, which runs at {there.speed} elsewhere"
    return ""


def _common_link(found: Devices, name: str) -> str:
    """What most hosts say of a device: IB or RoCE."""
    said = Counter(nics[name].link for nics in found.lists.values() if name in nics)
    return max(said, key=lambda link: (said[link], link), default="")


def _counted(log: Log) -> Iterator[Judgement]:
    """The same for adapters that a libfabric plug-in only counts."""
    counts = {host.name: max(host.found) for host in log.hosts.values() if host.found}
    if len(counts) < 2:
        return
    sizes = Counter(counts.values())
    usual = max(sizes, key=lambda size: (sizes[size], size))
    for name, count in counts.items():
        if count < usual:
            mark = log.hosts[name].found[count].mark
            yield failed(
                name,
                Deviation(
                    f"{usual} adapters",
                    f"{count} adapters",
                    f"{name}: the plug-in found {count} adapters, {usual} on {sizes[usual]} of {len(counts)} hosts",
                    evidence=proof(log, name, [mark]),
                ),
            )
        else:
            yield passed(name)


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Look for the GPU on that host (nvidia-smi, dmesg for Xid and PCIe errors), or correct the number of ranks per host.",
)
def local_ranks_differ(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """The ranks of a job spread evenly over its hosts.

    Why it matters: a host that runs fewer ranks than the others lost a GPU, as a rule before the job began: the launcher counts
    what it finds. The rings of the other GPUs then close over fewer devices.
    """
    group = log.largest
    if group is None or group.size < 2:
        return
    counts, marks, buses = _local(group)
    if len(counts) < 2:
        return
    sizes = Counter(counts.values())
    usual = max(sizes, key=lambda size: (sizes[size], size))
    everywhere = {bus for name, there in buses.items() if counts[name] == usual for bus in there}
    for name, count in counts.items():
        if count >= usual:
            yield passed(name)
            continue
        gone = sorted(everywhere - buses[name]) if len(buses[name]) == count else []
        where = f" (no rank on the GPU at {few(gone)})" if 0 < len(gone) <= usual - count else ""
        yield failed(
            name,
            Deviation(
                f"{usual} ranks per host",
                f"{count} ranks",
                f"{name}: {count} ranks where {sizes[usual]} of {len(counts)} hosts run {usual}{where}",
                evidence=proof(log, name, [marks[name]]),
            ),
        )


def _local(group: Communicator) -> tuple[dict[str, int], dict[str, Mark], dict[str, set[str]]]:
    counts: dict[str, int] = {}
    marks: dict[str, Mark] = {}
    buses: dict[str, set[str]] = defaultdict(set)
    ranks = defaultdict(list)
    for rank in group.ranks.values():
        ranks[rank.process.host.name].append(rank)
        if rank.bus:
            buses[rank.process.host.name].add(rank.bus)
    for name, there in sorted(ranks.items()):
        said = [rank.local_ranks for rank in there if rank.local_ranks]
        if said or len(group.ranks) == group.size:
            counts[name] = max(said) if said else len(there)
            marks[name] = there[0].mark
            buses[name] |= set()
    return counts, marks, buses


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Look at the GPU's fabric state (nvidia-smi -q, section Fabric), at the manager of the NVLink domain, and at the IMEX "
    "service of that tray.",
)
def nvlink_domain_differs(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """All GPUs of a host are in one NVLink domain and clique, and no host stands outside while others are in one.

    Domains of zeros on all hosts are machines whose NVLink ends at the host. Hosts in different domains are different racks.

    Why it matters: a GPU outside reaches the others over the network adapters alone, at a tenth of the bandwidth, and every
    collective waits for it.
    """
    members = {host.name: host.gpus for host in log.hosts.values() if host.gpus}
    if not any(gpu.domain for gpus in members.values() for gpu in gpus.values()):
        return
    for name, gpus in members.items():
        domains = Counter(gpu.domain for gpu in gpus.values() if gpu.domain)
        usual = max(domains, key=lambda domain: (domains[domain], domain), default=None)
        odd = [gpu for gpu in gpus.values() if usual is None or gpu.domain != usual]
        if not odd:
            yield passed(name)
            continue
        there = next((gpu for gpu in gpus.values() if gpu not in odd), None)
        what = "no GPU is" if usual is None else f"{len(odd)} of {len(gpus)} GPUs ({few(gpu.bus for gpu in odd)}) are not"
        yield failed(
            name,
            Deviation(
                _domain(there) if there else "GPUs in an NVLink domain, as on other hosts",
                "; ".join(sorted({_domain(gpu) for gpu in odd})[:3]),
                f"{name}: {what} in the NVLink domain of the others",
                evidence=proof(log, name, [*(gpu.mark for gpu in odd[:3]), there.mark if there else None]),
            ),
        )


def _domain(gpu: GpuFabric) -> str:
    return f"domain {gpu.uuid}, clique {gpu.clique:#x}" if gpu.domain else f"no domain (UUID {gpu.uuid}, state {gpu.state})"


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="In a virtual machine give the library the topology of the real machine (a topology file of the provider, or PCIe "
    "pass-through that keeps the links' speed and width visible); elsewhere look at that bridge with lspci.",
)
def slow_pci_link(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """No PCI link above a GPU or adapter is much slower, in the library's eyes, than the device below it.

    Why it matters: the library plans its rings by these numbers. A bridge that a hypervisor emulates says 2.5 GT/s and one lane;
    then every path through it counts 0.2 GB/s, and channels are left out or laid across rails.
    """
    for host in log.hosts.values():
        if host.slow:
            first = next(iter(host.slow.values()))
            below = sorted({name for link in host.slow.values() for name in link.below})
            worst = min(link.bandwidth for link in host.slow.values())
            yield failed(
                host.name,
                Deviation(
                    f"links as wide as what is below: {max(first.below.values()):g} GB/s",
                    f"{worst:g} GB/s on {few(host.slow)}",
                    f"{host.name}: the library counts {worst:g} GB/s for the PCI links above {few(below)}",
                    evidence=proof(log, host.name, [link.mark for link in host.slow.values()][:2]),
                ),
            )
        elif host.ring_cross:  # it printed its topology
            yield passed(host.name)
