"""What rules about logs share: the proof of a line, the devices of hosts side by side, who takes part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from auditor.address import Address
from auditor.canonical import printable
from auditor.dialects.nccl_job import Log, Mark, Nic
from auditor.model import Evidence

JOB = "job"
"""The object of what is said of all hosts together."""

TABLE = "nccl_log"
"""What gaps of logs are told of: no fact table, since logs are judged as they are read and never stored."""


@dataclass(frozen=True, slots=True)
class RailOf:
    """Which rail a device of a host hangs on, where somebody knows: (host, device) to the rail's name, or None."""

    known: Callable[[str, Nic], str | None]


def proof(log: Log, host: str, marks: Iterable[Mark | None]) -> tuple[Evidence, ...]:
    """The lines behind a finding, at most five, each with file and line."""
    found = list(dict.fromkeys(mark for mark in marks if mark is not None))[:5]
    return tuple(
        Evidence(
            host,
            log.files[mark.file].name,
            "",
            log.files[mark.file].digest,
            f"line {mark.line}",
            printable(mark.head + mark.text, 380),
        )
        for mark in found
    )


def few(words: Iterable[str], most: int = 6) -> str:
    """The first words and how many more there are, printable."""
    found = [printable(word, 80) for word in words]
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def spans_hosts(log: Log) -> bool:
    """Whether ranks on several hosts talk to each other, as far as the logs show."""
    groups = log.communicators.values()
    return (
        bool(log.ends)
        or any((group.nodes or 0) > 1 for group in groups)
        or any(len({rank.process.host.name for rank in group.ranks.values()}) > 1 for group in groups)
    )


def ended(log: Log) -> set[str]:
    """Hosts all of whose ranks said that they began, finished and were connected: what they left out they did not read."""
    good: set[str] = set()
    bad: set[str] = set()
    for group in log.communicators.values():
        for rank in group.ranks.values():
            whole = rank.complete and (rank.connected or group.size == 1)
            (good if whole else bad).add(rank.process.host.name)
    return good - bad


@dataclass(slots=True)
class Devices:
    """The lists of devices that hosts print, side by side. `lists`: by host and name; `reference`: the names of the list that
    most hosts have, of several the longest; `missing`: what of it a host with fewer devices lacks; `own`: hosts whose
    processes list different devices, as where each sees its own alone."""

    lists: dict[str, dict[str, Nic]] = field(default_factory=dict)
    marks: dict[str, Mark | None] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    speakers: dict[str, int] = field(default_factory=dict)
    """How many processes of a host list devices."""
    reference: tuple[str, ...] = ()
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def position(self, host: str, nic: Nic) -> int | None:
        """The place of a device in the reference: by name where the host's names are among its, by order where there are as
        many of other names (devices are numbered as the driver found them). None: nobody can tell without a plan."""
        there = self.lists.get(host, {})
        if set(there) <= set(self.reference):
            return self.reference.index(nic.name) if nic.name in self.reference else None
        if len(there) == len(self.reference):
            return list(there).index(nic.name)
        return None

    def lost(self, host: str) -> Address | None:
        """The device that a host lacks, as other findings of the same host name what they follow from."""
        names = self.missing.get(host)
        if not names:
            return None
        port = next((nics[names[0]].port for nics in self.lists.values() if names[0] in nics), "")
        return Address("nccl_net", (names[0], port or "1"))


def devices(log: Log) -> Devices:
    """The devices of all hosts that list any."""
    found = Devices()
    for host in log.hosts.values():
        lists = [process for process in host.processes.values() if process.nics]
        if not lists:
            continue
        every: dict[str, Nic] = {}
        for process in lists:
            for _, nic in sorted(process.nics.items()):
                every.setdefault(nic.name, nic)
        found.lists[host.name] = every
        found.speakers[host.name] = len(lists)
        found.marks[host.name] = next((process.nics_mark for process in lists if process.nics_mark), None)
        if any({nic.name for nic in process.nics.values()} != set(every) for process in lists):
            found.own.add(host.name)
    sets = Counter(frozenset(nics) for nics in found.lists.values())
    if sets:
        best = max(sets, key=lambda names: (sets[names], len(names), sorted(names)))
        found.reference = next(tuple(nics) for nics in found.lists.values() if set(nics) == best)
    most = max(found.speakers.values(), default=0)
    for name, nics in found.lists.items():
        partly = found.own and found.speakers[name] < most  # each process sees its own, and some are not in the logs
        if len(nics) < len(found.reference) and not partly:
            found.missing[name] = tuple(each for each in found.reference if each not in nics)
    return found


def used_by(log: Log, found: Devices) -> Mapping[tuple[int, int], set[str]]:
    """(GPU, place of the device) to the hosts on which that GPU uses it for collectives between hosts."""
    out: dict[tuple[int, int], set[str]] = {}
    for a, b, _ in log.between_hosts():
        for end in (a, b):
            place = end.index if end.nic is None else found.position(end.host.name, end.nic)
            if place is not None and not end.relay:
                out.setdefault((end.gpu, place), set()).add(end.host.name)
    return out
