"""Rules about the environment that the library says it read, as the logs of a job show it, and about its warnings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from auditor.checks.nccl.libraries import libraries
from auditor.checks.nccl.log_view import ended, few, proof
from auditor.dialects.nccl_job import Host, Log, Seen
from auditor.model import Deviation, Judgement, RuleContext, RuleKind, Severity, check, failed, passed

_OWN = re.compile(r"[NR]CCL_(?:HOSTID|COMM_ID|DEBUG\w*|RAS_ADDR|\w+_DUMP_FILE\w*|SOCKET_IFNAME|OOB_NET_IFNAME)")
"""Variables that are a host's or a rank's own: names of interfaces, addresses, places of files that are written."""

_PROVIDED = re.compile(r"/var/run/nvidia-topologyd/|/opt/(?:microsoft|aws-ofi-nccl|amazon)/|/usr/share/nccl/")
"""Where providers put the topology of their virtual machines, which show none of their own."""

_BROKEN = re.compile(r"(?i)got completion .*(?:error|status)|async error|call to ibv_\w+ failed|unhandled (?:system|cuda) error")


@check(
    reads=(),
    severity=Severity.WARNING,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Give all hosts the same environment, from one place: a launcher passes it on to other hosts only where it is told to "
    "(mpirun -x).",
)
def env_differs(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """All processes of a job read the same environment. A traffic class counts by its DSCP.

    What a process does not print it may not have read. So a variable counts as missing on a host only where all its processes
    came to the end, and processes of the other hosts do print it. Names of interfaces and places of files may differ.

    Why it matters: ranks with different settings choose different algorithms, adapters or queues. The job hangs at its start,
    or runs at the speed of the worst of them.
    """
    hosts = [host for host in log.hosts.values() if host.processes]
    values: dict[str, dict[str, list[Host]]] = defaultdict(lambda: defaultdict(list))
    for host in hosts:
        for variable, said in host.environment.items():
            if not _OWN.fullmatch(variable):
                for value in said:
                    values[variable][_canonical(variable, value)].append(host)
    complete = ended(log) if len(hosts) > 1 else set()
    odd: dict[str, list[tuple[str, str, str, Seen | None]]] = defaultdict(list)
    for variable, found in values.items():
        usual = max(found, key=lambda value: (len(found[value]), value))
        for value, there in found.items():
            for host in there if value != usual else ():
                mark = next(seen for text, seen in host.environment[variable].items() if _canonical(variable, text) == value)
                odd[host.name].append((variable, value, usual, mark))
        said_by = {host.name for there in found.values() for host in there}
        if len(said_by) > 1 or len(hosts) == 2:
            for name in complete - said_by:
                odd[name].append((variable, "unset", usual, None))
    for host in hosts:
        differing = odd.get(host.name)
        if not differing:
            if host.environment:
                yield passed(host.name)
            continue
        others = [values[variable][usual][0] for variable, _, usual, _ in differing]
        marks = [seen.mark for _, _, _, seen in differing if seen is not None]
        elsewhere = [
            next(seen.mark for text, seen in other.environment[variable].items() if _canonical(variable, text) == usual)
            for other, (variable, _, usual, _) in zip(others, differing, strict=True)
        ]
        yield failed(
            host.name,
            Deviation(
                few(f"{variable}={usual}" for variable, _, usual, _ in differing),
                few(f"{variable} {value}" if value == "unset" else f"{variable}={value}" for variable, value, _, _ in differing),
                f"{host.name} reads another environment than {others[0].name}: "
                + few(f"{variable} is {value}, not {usual}" for variable, value, usual, _ in differing),
                evidence=proof(log, host.name, [*marks[:2], *elsewhere[:2]]),
            ),
        )


def _canonical(variable: str, value: str) -> str:
    """Values that mean the same as one text: of a traffic class the ECN bits do not count."""
    if variable.endswith("_IB_TC") and value.isdecimal() and len(value) < 4:
        return str(int(value) // 4 * 4)
    return value


@check(
    reads=(),
    severity=Severity.WARNING,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Take the variable out of the job's environment and look at what the check then says.",
)
def checks_disabled(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """No job switches the library's own checks off.

    Which variables do, at which values and what then goes unseen stands in `data/collectives.yaml`, each with its source.

    Why it matters: hosts with unequal devices then start a job that hangs later, without a word.
    """
    silencers = [silencer for library in libraries() for silencer in library.silencers]
    for host in log.hosts.values():
        found = [
            (silencer, value, seen)
            for silencer in silencers
            for value, seen in host.environment.get(silencer.variable, {}).items()
            if silencer.silences(value)
        ]
        if found:
            found.sort(key=lambda item: item[0].severity.rank)
            said = few(f"{silencer.variable}={value}" for silencer, value, _ in found)
            yield failed(
                host.name,
                Deviation(
                    "not set",
                    said,
                    f"{host.name}: {said}: {found[0][0].hides}",
                    severity=found[0][0].severity,
                    evidence=proof(log, host.name, [seen.mark for _, _, seen in found]),
                ),
            )
        elif host.environment:
            yield passed(host.name)


@check(
    reads=(),
    severity=Severity.WARNING,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Take NCCL_TOPO_FILE and NCCL_GRAPH_FILE out of the environment unless the machine's maker asks for them, and compare "
    "the bandwidth with and without.",
)
def pinned_topology_file(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """The library finds the topology by itself, or takes the file that the provider of a virtual machine put there.

    Why it matters: a file made for another machine, or by a virtual machine that shows 2.5 GT/s everywhere, hides what is really
    there: an adapter that was lost, a link that trained down. Rings are then planned for hardware that does not exist.
    """
    for host in log.hosts.values():
        found = {file: mark for file, mark in host.topology_files.items() if not _PROVIDED.match(file)}
        if found:
            yield failed(
                host.name,
                Deviation(
                    "the topology that the library finds",
                    few(found),
                    f"{host.name}: the topology comes from {few(found)}",
                    evidence=proof(log, host.name, found.values()),
                ),
            )
        elif host.environment or host.topology_files:
            yield passed(host.name)


@check(
    reads=(),
    severity=Severity.WARNING,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Read the line and those around it: the library warns rarely, and of what it gives up.",
)
def warned(log: Log, context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form of a rule)
    """The library has nothing to warn of. Failed completions, asynchronous errors and failed calls of the driver are errors.

    Why it matters: what stands at level WARN is the last word before a job hangs or ends.
    """
    kinds: dict[str, list[tuple[Host, Seen]]] = defaultdict(list)
    for host in log.hosts.values():
        if not host.warnings and host.processes:
            yield passed(host.name)
        for kind, seen in host.warnings.items():
            kinds[kind].append((host, seen))
    by_host: dict[str, list[Seen]] = defaultdict(list)
    for there in kinds.values():
        for host, seen in there:
            by_host[host.name].append(seen)
    for name, found in by_host.items():
        found.sort(key=lambda seen: (_BROKEN.search(seen.mark.text) is None, seen.mark.file, seen.mark.line))
        count = sum(seen.count for seen in found)
        yield failed(
            name,
            Deviation(
                "no warning",
                f"{count} warning{'s' if count > 1 else ''} of {len(found)} kind{'s' if len(found) > 1 else ''}",
                f"{name}: {found[0].mark.text}",
                severity=Severity.ERROR if _BROKEN.search(found[0].mark.text) else None,
                evidence=proof(log, name, [seen.mark for seen in found]),
            ),
        )
