"""Gathers what single lines of a collective library's log say, by thread, process, host and communicator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from auditor.dialects import nccl_words as words
from auditor.dialects.nccl_job import (
    WARNINGS,
    Communicator,
    End,
    GpuFabric,
    Host,
    Log,
    Mark,
    Nic,
    Process,
    Rank,
    Seen,
    SlowLink,
)

COMMUNICATORS, RANKS, ENDS, CONNECTIONS = 100_000, 400_000, 200_000, 1_000_000
PER_HOST = 300
"""Variables, files and reasons that are kept of one host; devices of one process."""
RINGS, RING_TEXT = 64, 8 << 20
TEXT, HEAD = 300, 120
"""Characters of a line that are kept as evidence, and of what stands before its words."""

SLOW, BELOW = 1.0, 4
"""A PCI link is odd below this many GB/s, when something below it has at least so many times as much: PCIe 3.0 of one lane
has 0.98; a switch that a hypervisor emulates claims 2.5 GT/s and one lane."""

_PAIRED = -1
_RING = re.compile(r"Channel (\d{1,4})/\d{1,4} : ([\d ]+)$")
_CHANNELS = re.compile(r"(\d{1,4}) coll channels, ")
_PATTERN = re.compile(r"Pattern 4, crossNic (\d), nChannels (\d{1,4})")
_FOUND = re.compile(r"(?i)provider is efa\b.*\(found (\d{1,4}) nics\)")
_REASON = re.compile(r"GPU Direct RDMA Disabled for (GPU [\w\[\]]+ / )?HCA (\d{1,4})(.{0,80})")
_VERSION = re.compile(r"([NR]CCL) version ?:? ?(\d+\.\d+\.\d+\S{0,60})")
_PLUGIN_FILE = re.compile(r"Setting NCCL_TOPO_FILE environment variable to (\S{1,300})")

K = TypeVar("K", str, int)
T = TypeVar("T")


class Thread:
    """One thread of one process, as the head of its lines names it. `rank`: the one it spoke of last; `spoke`: of connections,
    before it said of which rank; `tree`: where in the system block it is."""

    __slots__ = ("gpu", "host", "process", "rank", "spoke", "tree")

    def __init__(self, host: Host, process: Process, gpu: int) -> None:
        self.host, self.process, self.gpu = host, process, gpu
        self.rank: Rank | None = None
        self.spoke = False
        self.tree: list[tuple[int, float, str]] | None = None


Handler = Callable[[Thread, str, bool], None]


class Gatherer:
    """Takes in what a thread said and keeps it in `log`. `place`: file and line that are being read; `head` and `level`: what
    stands before the words."""

    def __init__(self) -> None:
        self.log = Log()
        self.place: tuple[int, int] = (0, 0)
        self.head = self.level = ""
        self._ends: dict[tuple[object, ...], int] = {}
        self._open: dict[int, int] = {}
        self._owners: dict[int, int] = {}
        self._pairs: dict[int, Counter[tuple[int, int]]] = {}
        self._doubted: set[int] = set()
        self._ranks = self._rings = 0
        self._nics: dict[str, dict[int, Nic]] = {}
        self._first: dict[str, Handler] = {
            "Channel": self._channel, "Ring": self._channel, "Trees": self._trees, "NET/IB": self._net_ib,
            "NET/IB:": self._net_ib, "NET/OFI": self._ofi, "Using": self._using, "Connected": self._connected,
            "MNNVL": self._fabric, "GPU": self._direct, "Pattern": self._pattern, "===": self._system,
            "Loading": self._loading, "": self._link, "+": self._link,
        }  # fmt: skip

    def take(self, thread: Thread, text: str, cut: bool) -> None:
        """Words of level INFO. `cut`: their end is missing."""
        (self._first.get(text[: text.find(" ")]) or self._other)(thread, text, cut)

    def warn(self, thread: Thread, text: str) -> None:
        """Words of level WARN."""
        if text.strip():
            self._seen(thread.host.warnings, words.kind(text), thread, text, WARNINGS)

    def version(self, thread: Thread | None, text: str) -> None:
        """A line that names the library's version; the first process of a job prints it bare."""
        found = _VERSION.search(text)
        if found is not None:
            self._keep(self.log.versions if thread is None else thread.host.versions, f"{found[1]} {found[2]}", self.mark(text))

    def close(self) -> Log:
        """Everything; connections of which one end is missing are counted now."""
        for end in self._open.values():
            if end != _PAIRED:
                self.log.open[end] += 1
        self._open.clear()
        for space, pairs in self._pairs.items():
            if space not in self._doubted:  # else ends of different communicators may stand together
                self.log.pairs.update(pairs)
        self._pairs.clear()
        self.log.damaged = sum(host.damaged for host in self.log.hosts.values())
        for host in self.log.hosts.values():
            for file in host.plugin_topology:
                host.topology_files.pop(file, None)
        return self.log

    def room(self, what: str, there: int, most: int) -> bool:
        """Whether one more may be kept; remembers that one could not."""
        if there >= most:
            self.log.full.add(what)
        return there < most

    def mark(self, text: str) -> Mark:
        """The line that is being read."""
        return Mark(*self.place, text[:TEXT], f"{self.head[-HEAD:]} NCCL {self.level} " if self.level else "")

    def _damage(self, thread: Thread, text: str) -> None:
        thread.host.damaged += 1
        thread.host.damage = thread.host.damage or self.mark(text)

    def _keep(self, table: dict[str, T], key: str, value: T) -> None:
        if key not in table and len(table) < PER_HOST:
            table[key] = value

    def _seen(self, table: dict[K, Seen], key: K, thread: Thread, text: str, most: int = PER_HOST) -> None:
        seen = table.get(key)
        if seen is None:
            if len(table) >= most:
                return
            seen = table[key] = Seen(self.mark(text))
        seen.count += 1
        seen.pids.add(thread.process.pid)

    def _other(self, thread: Thread, text: str, cut: bool) -> None:
        if text.startswith(("NCCL_", "RCCL_")):
            found = words.setting(text)
            if found is not None and not cut:
                variable, value = found
                if len(thread.host.environment) < PER_HOST or variable in thread.host.environment:
                    self._seen(thread.host.environment.setdefault(variable, {}), value, thread, text, 20)
                if variable in ("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"):
                    self._keep(thread.host.topology_files, value, self.mark(text))
        elif "comm 0x" in text:
            self._member(thread, text)
        elif " coll channels, " in text:
            found_channels = _CHANNELS.match(text)
            if found_channels and thread.rank is not None:
                thread.rank.communicator.channels = int(found_channels[1])
        elif "CCL version" in text:
            self.version(thread, text)

    def _member(self, thread: Thread, text: str) -> None:
        said = words.membership(text)
        if said is None:
            self._damage(thread, text)
            return
        rank = self._rank(thread, said, text)
        if rank is None:
            return
        thread.rank = rank
        rank.connected = rank.connected or thread.spoke
        thread.spoke = False
        rank.bus = rank.bus or said.facts.get("busId", "").removeprefix("0x").lower()
        group = rank.communicator
        if "localRanks" in said.facts:
            rank.local_ranks = said.number("localRanks")
            group.nodes = said.number("nNodes")
            group.nvlink_domain = group.nvlink_domain or said.facts.get("MNNVL", "0") != "0"
        rank.started = rank.started or said.state.startswith("Init START")
        rank.complete = rank.complete or said.state.startswith("Init COMPLETE")

    def _rank(self, thread: Thread, said: words.Membership, text: str) -> Rank | None:
        process = thread.process
        key = said.facts.get("commId", "")
        old = process.ranks.get(said.pointer)
        if old is not None and old.number == said.rank and (not key or key == old.communicator.key):
            return old
        group = self.log.communicators.get(key)
        if group is None:
            if not self.room("communicators", len(self.log.communicators), COMMUNICATORS):
                return None
            group = self.log.communicators[key] = Communicator(key, len(self.log.communicators))
        group.size = max(group.size, said.size)
        gpu = said.number("nvmlDev")
        gpu = gpu if gpu is not None else said.number("cudaDev")
        rank = group.ranks.get(said.rank)
        if rank is not None and rank.process is not process:
            group.mixed = True
            return None
        if rank is None:
            if not self.room("ranks", self._ranks, RANKS):
                return None
            self._ranks += 1
            rank = Rank(said.rank, group, process, thread.gpu if gpu is None else gpu, self.mark(text))
            group.ranks[said.rank] = rank
        if old is not None and old.number == said.rank and not old.communicator.key:  # its id is printed only now
            rank.local_ranks, rank.started, rank.connected = old.local_ranks, old.started, old.connected
            group.nodes = group.nodes or old.communicator.nodes
            old.communicator.ranks.pop(old.number, None)
        process.ranks[said.pointer] = rank
        return rank

    def _channel(self, thread: Thread, text: str, cut: bool) -> None:
        at = text.find(" via ")
        if at < 0:
            ring = _RING.match(text)
            if ring is not None and thread.rank is not None and not cut:
                rings = thread.rank.communicator.rings
                if len(rings) < RINGS and self._rings + len(text) < RING_TEXT:
                    self._rings += len(text)
                    rings[int(ring[1])] = ring[2]
            elif ring is None and not text.startswith("Ring "):
                self._damage(thread, text)
            return
        if thread.rank is None or not thread.rank.connected:
            self._connected(thread, text, cut)
        if not text.startswith("NET/", at + 5):
            way = text[at + 5 : at + 45].split(" ", 1)[0]
            counts = thread.host.transports
            if way in counts or len(counts) < 64:
                counts[way] += 1
            return
        said = words.connection(text, cut=cut)
        if said is None or (cut and said.direct is None):
            self._damage(thread, text)
        else:
            self._connection(thread, said, text)

    def _connection(self, thread: Thread, said: words.Connection, text: str) -> None:
        rank = thread.process.ranks.get(said.pointer) if said.pointer else None
        rank = rank or self._own(thread, said.source if said.sends else said.target)
        space = rank.communicator.index + 1 if rank is not None else 0
        process, gpu = thread.process, thread.gpu if said.gpu is None else said.gpu
        key = (id(process), gpu, said.sends, said.network, said.device, said.relay, said.direct, said.lone)
        at = self._ends.get(key)
        if at is None:
            if not self.room("ends", len(self.log.ends), ENDS):
                return
            at = self._ends[key] = len(self.log.ends)
            end = End(process, gpu, said.sends, said.network, said.device, said.relay, said.direct, said.lone, self.mark(text))
            self.log.ends.append(end)
        self.log.ends[at].count += 1
        self._bring_together(at, said, space, process)

    def _own(self, thread: Thread, number: int) -> Rank | None:
        """The rank that a thread speaks for: the last one that began in it, else in its process, with this number."""
        if thread.rank is not None and thread.rank.number == number:
            return thread.rank
        found = [rank for rank in thread.process.ranks.values() if rank.number == number and rank.communicator.key]
        return found[-1] if found else None

    def _bring_together(self, at: int, said: words.Connection, space: int, process: Process) -> None:
        owner = (space << 24) | (said.source if said.sends else said.target)
        if self._owners.setdefault(owner, id(process)) != id(process):
            self._mixed(space)
            return
        key = (((space << 12 | said.channel) << 8 | said.index) << 24 | said.source) << 24 | said.target
        other = self._open.get(key)
        if other is None:
            if self.room("connections", len(self._open), CONNECTIONS):
                self._open[key] = at
        elif other != _PAIRED:
            if self.log.ends[other].sends != said.sends:
                self._pairs.setdefault(space, Counter())[(at, other) if said.sends else (other, at)] += 1
                self._open[key] = _PAIRED
            elif other != at:
                self._mixed(space)

    def _mixed(self, space: int) -> None:
        if space in self._doubted:
            return
        self._doubted.add(space)
        groups = [group for group in self.log.communicators.values() if group.index + 1 == space]
        for group in groups or [self.log.communicators.setdefault("", Communicator("", len(self.log.communicators)))]:
            group.mixed = True

    def _trees(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (a cut line counts as many as it shows)
        if thread.rank is not None:
            group = thread.rank.communicator
            group.trees = max(group.trees, text.count(" ["))

    def _connected(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (the form of every reader)
        if thread.rank is not None:
            thread.rank.connected = True
        else:
            thread.spoke = True

    def _net_ib(self, thread: Thread, text: str, cut: bool) -> None:
        process = thread.process
        if " : Using " in text or ": Using [" in text:
            if cut:
                self._damage(thread, text)
                return
            if text not in self._nics:
                if len(self._nics) > PER_HOST:
                    self._nics.clear()
                self._nics[text] = words.listed(text)
            process.nics.update(self._nics[text])
            process.nics_mark = process.nics_mark or self.mark(text)
        elif "No device found" in text:
            thread.host.no_device = thread.host.no_device or self.mark(text)
        elif "Made virtual device" in text:
            made = words.made_device(text)
            if made is not None and len(process.nics) < PER_HOST:
                index, name, speed = made
                known = {nic.name: nic for nic in process.nics.values()}
                members = tuple(name.split("+"))
                single = known.get(name, Nic(name))
                process.nics[index] = replace(single, speed=speed, members=members if len(members) > 1 else ())
                process.nics_mark = process.nics_mark or self.mark(text)
        elif "GPU Direct" in text:
            self._direct(thread, text, cut)
        else:
            one = words.one_device(text)
            if one is not None and not cut and len(process.nics) < PER_HOST:
                process.nics[one[0]] = one[1]
                process.nics_mark = process.nics_mark or self.mark(text)

    def _ofi(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (the form of every reader)
        found = _FOUND.search(text)
        if found:
            self._seen(thread.host.found, int(found[1]), thread, text)
        file = _PLUGIN_FILE.search(text)
        if file and len(thread.host.plugin_topology) < PER_HOST:
            thread.host.plugin_topology.add(file[1])

    def _using(self, thread: Thread, text: str, cut: bool) -> None:
        if text.startswith("Using network ") and not cut:
            self._seen(thread.host.networks, text[14:74].strip(), thread, text, 20)

    def _fabric(self, thread: Thread, text: str, cut: bool) -> None:
        said = words.gpu_fabric(text)
        if said is not None and not cut:
            self._keep(thread.host.gpus, said[0], GpuFabric(*said, self.mark(text)))

    def _direct(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (the form of every reader)
        found = _REASON.search(text)
        if found and "NET/Socket" not in text:
            self._keep(thread.host.no_direct, found[0], self.mark(text))

    def _pattern(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (the form of every reader)
        found = _PATTERN.match(text)
        if found and found[2] != "0":
            thread.host.ring_cross.setdefault(int(found[1]), self.mark(text))

    def _loading(self, thread: Thread, text: str, cut: bool) -> None:
        if text.startswith("Loading topology file ") and not cut:
            self._keep(thread.host.topology_files, text[22:322].strip(), self.mark(text))

    def _system(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (the form of every reader)
        thread.tree = []

    def _link(self, thread: Thread, text: str, cut: bool) -> None:  # noqa: ARG002 (the form of every reader)
        found = words.tree_link(text) if thread.tree is not None else None
        if found is None or thread.tree is None:
            return
        depth, kind, bandwidth, name = found
        while thread.tree and thread.tree[-1][0] >= depth:
            thread.tree.pop()
        if kind != "PCI":
            return
        if name.startswith(("GPU/", "NIC/", "DEV/")):
            above = min(thread.tree, key=lambda item: item[1], default=None)
            if above is not None and above[1] < SLOW and bandwidth >= BELOW * above[1]:
                self._keep(thread.host.slow, above[2], SlowLink(above[2], above[1], {}, self.mark(text)))
                if above[2] in thread.host.slow:
                    self._keep(thread.host.slow[above[2]].below, name, bandwidth)
        elif len(thread.tree) < 64:
            thread.tree.append((depth, bandwidth, name))
