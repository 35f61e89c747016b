"""What the logs of a job show, told beside the report of what is wrong in it: a few lines for people, plain data for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from auditor.canonical import printable
from auditor.dialects.nccl_job import Communicator, Host, Log, Nic

NAMED = 4
VARIABLES = 12


def hosts(log: Log) -> list[Host]:
    """Those that spoke, by name."""
    return [host for _, host in sorted(log.hosts.items()) if host.processes]


def job(log: Log) -> dict[str, Any]:
    """The job as its largest communicator shows it."""
    group = log.largest
    there = hosts(log)
    return {
        "ranks": group.size if group else None,
        "ranks_seen": len(group.ranks) if group else 0,
        "hosts": group.nodes if group else None,
        "hosts_seen": len(there),
        "communicators": len(log.communicators),
        "versions": versions(log),
        "networks": sorted({name for host in there for name in host.networks} | {end.network for end in log.ends}),
        "channels": group.channels or len(group.rings) or None if group else None,
        "rings": len(group.rings) if group else 0,
        "rings_that_return": _returning(group) if group else None,
        "trees": group.trees if group else 0,
        "nvlink_domain": any(item.nvlink_domain for item in log.communicators.values()),
    }


def versions(log: Log) -> list[str]:
    """Every version of the library that is named."""
    return sorted({*log.versions, *(name for host in log.hosts.values() for name in host.versions)})


def _returning(group: Communicator) -> int | None:
    """Rings that enter a host more than once; None where not every rank's host is known."""
    if len(group.ranks) != group.size or not group.rings:
        return None
    found = 0
    for ring in group.rings.values():
        ranks = [int(word) for word in ring.split()]
        if len(ranks) != group.size or not group.ranks.keys() >= set(ranks):
            return None
        names = [group.ranks[rank].process.host.name for rank in ranks]
        changes = sum(a != b for a, b in zip(names, names[1:] + names[:1], strict=True))
        found += changes > len(set(names))
    return found


def host(item: Host) -> dict[str, Any]:
    """One host: what it works with and what it was told."""
    nics: dict[int, Nic] = {}
    for process in item.processes.values():
        nics.update(process.nics)
    return {
        "host": item.name,
        "processes": len(item.processes),
        "networks": sorted(item.networks),
        "devices": [
            {"index": index, "name": nic.name, "port": nic.port, "link": nic.link, "speed_mbps": nic.speed, "pci": nic.pci}
            for index, nic in sorted(nics.items())
        ],
        "adapters_found": max(item.found, default=None),
        "environment": {variable: sorted(values) for variable, values in sorted(item.environment.items())},
        "transports": dict(sorted(item.transports.items())),
        "warnings": sum(seen.count for seen in item.warnings.values()),
        "lines_damaged": item.damaged,
    }


def direct(log: Log) -> dict[str, int]:
    """Ends of network connections with and without GPUDirect RDMA."""
    return {
        "with": sum(end.count for end in log.ends if end.direct),
        "without": sum(end.count for end in log.ends if end.direct is False),
    }


def lines(log: Log) -> Iterator[tuple[str, str]]:
    """(label, words) of the summary for people."""
    said = job(log)
    there = hosts(log)
    ranks = f"{said['ranks']} ranks" if said["ranks"] else "number of ranks not told"
    seen = f"{said['ranks_seen']} of them on {_hosts(len(there))} in the logs"
    several = f" on {_hosts(said['hosts'])}" if said["hosts"] else ""
    yield "job", "; ".join(filter(None, (f"{ranks}{several}", seen, _few(said["versions"]), _few(said["networks"]))))
    shape = [f"{said['channels']} channels" if said["channels"] else "", f"{said['trees']} trees" if said["trees"] else ""]
    if said["rings_that_return"]:
        shape.append(f"{said['rings_that_return']} rings enter a host more than once")
    if said["nvlink_domain"]:
        shape.append("NVLink between hosts")
    if any(shape):
        yield "shape", ", ".join(filter(None, shape))
    counts = Counter(len({nic.name for process in item.processes.values() for nic in process.nics.values()}) for item in there)
    if set(counts) - {0}:
        yield "devices", ", ".join(f"{size or 'none listed'} on {_hosts(number)}" for size, number in sorted(counts.items()))
    yield from _environment(there)


def _environment(there: Iterable[Host]) -> Iterator[tuple[str, str]]:
    values: dict[str, set[str]] = {}
    for item in there:
        for variable, seen in item.environment.items():
            values.setdefault(variable, set()).update(seen)
    same = [f"{variable}={next(iter(said))}" for variable, said in sorted(values.items()) if len(said) == 1]
    if same:
        more = f" and {len(same) - VARIABLES} more" if len(same) > VARIABLES else ""
        yield "set", " ".join(printable(word, 100) for word in same[:VARIABLES]) + more
    for variable, said in sorted(values.items()):
        if len(said) > 1:
            yield "differs", f"{variable}: {_few(sorted(said))}"


def _hosts(count: int) -> str:
    return f"{count} host{'' if count == 1 else 's'}"


def _few(words: Iterable[str]) -> str:
    found = [printable(word, 80) for word in words]
    return ", ".join(found[:NAMED]) + (f" and {len(found) - NAMED} more" if len(found) > NAMED else "")
