"""What the logs of a job do not show: cut files, ranks that are not in them, connections of which one end is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from auditor.checks.nccl.log_view import JOB, TABLE, few, spans_hosts
from auditor.dialects.nccl_job import Communicator, Log, Rank
from auditor.model import Gap, GapReason

NAMED = 3
"""Communicators that are told one by one."""


def gaps(log: Log) -> list[Gap]:
    """Every reason why these logs prove less than a whole log of the job would."""
    return [*_files(log), *_hosts(log), *_ranks(log), *_connections(log)]


def _files(log: Log) -> Iterator[Gap]:
    for file in log.files:
        if not file.entries:
            detail = f"{file.name}: no line of NCCL or RCCL in {file.lines} lines; jobs write them with NCCL_DEBUG=INFO"
            yield Gap(JOB, TABLE, file.name, GapReason.UNPARSED, detail)
        if file.too_large:
            yield Gap(JOB, TABLE, file.name, GapReason.TRUNCATED, f"{file.name}: only the first {file.size} bytes were read")
        elif file.cut:
            yield Gap(JOB, TABLE, file.name, GapReason.TRUNCATED, f"{file.name}: ends in the middle of line {file.lines}")
    if log.full:
        yield Gap(
            JOB, TABLE, "", GapReason.TRUNCATED, f"more {', '.join(sorted(log.full))} than are kept: the rest is not judged"
        )


def _hosts(log: Log) -> Iterator[Gap]:
    for host in log.hosts.values():
        if host.damage is not None:
            where = f"{log.files[host.damage.file].name}:{host.damage.line}"
            lines = "1 line is" if host.damaged == 1 else f"{host.damaged} lines are"
            detail = f"{lines} cut, or written into another; the first at {where}"
            yield Gap(host.name, TABLE, log.files[host.damage.file].name, GapReason.UNPARSED, detail)


def _ranks(log: Log) -> Iterator[Gap]:
    groups = [group for group in log.communicators.values() if group.ranks or group.mixed]
    if not groups and any(file.entries for file in log.files):
        detail = "no line names a communicator and its ranks, so nobody can tell which are missing"
        yield Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, detail)
    missing = [group for group in groups if len(group.ranks) < group.size]
    for group in sorted(missing, key=lambda item: -item.size)[:NAMED]:
        away = sorted(set(range(group.size)) - group.ranks.keys()) if group.size <= 1 << 17 else []
        detail = f"{_name(group)}: {len(group.ranks)} of {group.size} ranks are in these logs; missing: {few(map(str, away), 8)}"
        yield Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, detail)
    if len(missing) > NAMED:
        yield Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, f"ranks of {len(missing) - NAMED} more communicators are missing")
    for group in groups:
        if group.mixed:
            detail = f"{_name(group)}: the same rank is two processes; the library prints too little to tell communicators apart"
            yield Gap(JOB, TABLE, "", GapReason.CONFLICT, detail)
    begun: dict[str, list[Rank]] = defaultdict(list)
    silent: dict[str, list[Rank]] = defaultdict(list)
    for group in groups:
        used = group is log.largest or any(rank.connected for rank in group.ranks.values())
        for rank in group.ranks.values():
            if not rank.complete:
                begun[rank.process.host.name].append(rank)
            elif not rank.connected and group.size > 1 and used:
                silent[rank.process.host.name].append(rank)
    for name, ranks in begun.items():
        detail = f"rank {_numbers(ranks)} began and said no more of its start"
        yield Gap(name, TABLE, _file(log, ranks), GapReason.TRUNCATED, detail)
    for name, ranks in silent.items():
        detail = f"rank {_numbers(ranks)} said nothing of its connections: the job ended first, or they are made later"
        yield Gap(name, TABLE, _file(log, ranks), GapReason.NOT_COLLECTED, detail)


def _connections(log: Log) -> Iterator[Gap]:
    beyond = any(group.nvlink_domain for group in log.communicators.values())
    if spans_hosts(log) and not log.ends and not beyond:
        detail = "no line says how hosts are connected; NCCL_DEBUG_SUBSYS must hold INIT or NET"
        yield Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, detail)
    count = sum(log.open.values())
    if count:
        hosts: dict[str, int] = defaultdict(int)
        for at, each in log.open.items():
            hosts[log.ends[at].host.name] += each
        detail = f"{count} network connections with one end in these logs ({few(hosts)}), the other not"
        yield Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, detail)


def _name(group: Communicator) -> str:
    return f"communicator {group.key}" if group.key else f"communicator of {group.size} ranks"


def _numbers(ranks: list[Rank]) -> str:
    return few(map(str, sorted({rank.number for rank in ranks})), 8)


def _file(log: Log, ranks: list[Rank]) -> str:
    return log.files[ranks[0].mark.file].name
