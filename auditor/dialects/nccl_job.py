"""What the logs of a job say, gathered: hosts, processes, communicators, the ends of network connections and how they pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

WARNINGS = 50
"""Kinds of warnings that are kept of one host."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where something was said: index of the file, line from 1, what was said (its beginning), what stands before it."""

    file: int
    line: int
    text: str
    head: str = ""


@dataclass(slots=True)
class Seen:
    """Something that several processes said: the first place, how often, and by which processes."""

    mark: Mark
    count: int = 0
    pids: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Nic:
    """A device of the list that NET/IB prints; `members` of a merged one. `port` and `link` (IB, RoCE), `speed` in Mbit/s and
    `pci` where the line says so."""

    name: str
    port: str = ""
    link: str = ""
    speed: int | None = None
    pci: str = ""
    members: tuple[str, ...] = ()


@dataclass(slots=True)
class Process:
    """One process. `nics` by the index that connections use."""

    host: Host
    pid: int
    nics: dict[int, Nic] = field(default_factory=dict)
    nics_mark: Mark | None = None
    ranks: dict[str, Rank] = field(default_factory=dict)
    """By the pointer of the communicator."""


@dataclass(frozen=True, slots=True)
class GpuFabric:
    """What the driver says of a GPU's NVLink domain. `uuid` of zeros: in none."""

    bus: str
    uuid: str
    clique: int
    state: int
    mark: Mark

    @property
    def domain(self) -> tuple[str, int] | None:
        """(UUID, clique), None for a GPU in no domain."""
        return (self.uuid, self.clique) if self.uuid.strip("0.") else None


@dataclass(slots=True)
class SlowLink:
    """A PCI link that the library takes for much slower than what hangs below it; bandwidths in GB/s."""

    name: str
    bandwidth: float
    below: dict[str, float]
    mark: Mark


@dataclass(slots=True)
class Host:
    """Everything said by processes of one host, container or pod, whatever the library calls it."""

    name: str
    processes: dict[int, Process] = field(default_factory=dict)
    environment: dict[str, dict[str, Seen]] = field(default_factory=dict)
    networks: dict[str, Seen] = field(default_factory=dict)
    no_device: Mark | None = None
    found: dict[int, Seen] = field(default_factory=dict)
    """How many adapters a libfabric plug-in found."""
    topology_files: dict[str, Mark] = field(default_factory=dict)
    plugin_topology: set[str] = field(default_factory=set)
    """Topology files that a plug-in named by itself."""
    gpus: dict[str, GpuFabric] = field(default_factory=dict)
    slow: dict[str, SlowLink] = field(default_factory=dict)
    warnings: dict[str, Seen] = field(default_factory=dict)
    no_direct: dict[str, Mark] = field(default_factory=dict)
    """Why GPUDirect RDMA is off, in the library's words."""
    ring_cross: dict[int, Mark] = field(default_factory=dict)
    """crossNic of the ring search."""
    versions: dict[str, Mark] = field(default_factory=dict)
    transports: Counter[str] = field(default_factory=Counter)
    damaged: int = 0
    damage: Mark | None = None

    def value(self, variable: str) -> str | None:
        """A variable of the environment, where all processes say the same."""
        found = self.environment.get(variable, {})
        return next(iter(found)) if len(found) == 1 else None


@dataclass(slots=True)
class Rank:
    """One rank of a communicator. `gpu` is the number on its host; `started`, `complete` and `connected` what was said."""

    number: int
    communicator: Communicator
    process: Process
    gpu: int
    mark: Mark
    bus: str = ""
    local_ranks: int | None = None
    started: bool = False
    complete: bool = False
    connected: bool = False


@dataclass(slots=True)
class Communicator:
    """A communicator by the id that all its ranks print; "" where the library prints none (before 2.13)."""

    key: str
    index: int
    size: int = 0
    nodes: int | None = None
    nvlink_domain: bool = False
    ranks: dict[int, Rank] = field(default_factory=dict)
    rings: dict[int, str] = field(default_factory=dict)
    trees: int = 0
    channels: int | None = None
    mixed: bool = False
    """Several communicators seem to be in here: the same rank was two processes."""


@dataclass(slots=True)
class End:
    """What one process says of its ends of network connections, all alike. `gpu` is the number on its host, `index` the
    device in the list of its process. `relay`: sent through a process beside it (PXN). `lone`: point to point, not a
    collective's ring or tree. `direct`: GPUDirect RDMA, None where the line is cut there."""

    process: Process
    gpu: int
    sends: bool
    network: str
    index: int
    relay: bool
    direct: bool | None
    lone: bool
    mark: Mark
    count: int = 0

    @property
    def host(self) -> Host:
        """Where it is."""
        return self.process.host

    @property
    def nic(self) -> Nic | None:
        """The device, where its process listed it."""
        return self.process.nics.get(self.index)


@dataclass(slots=True)
class LogFile:
    """One file that was read. `entries`: writes of the library in it."""

    name: str
    digest: str = ""
    lines: int = 0
    entries: int = 0
    size: int = 0
    cut: bool = False
    too_large: bool = False


@dataclass(slots=True)
class Log:
    """All logs of a job. `pairs` counts connections of which both ends were seen, by (end that sends, end that receives);
    `open` are those of which one was, by the number of that end in `ends`. `full`: what was more than is kept."""

    files: list[LogFile] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    communicators: dict[str, Communicator] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    pairs: Counter[tuple[int, int]] = field(default_factory=Counter)
    open: Counter[int] = field(default_factory=Counter)
    versions: dict[str, Mark] = field(default_factory=dict)
    """As the first process of a job prints them, without saying where."""
    damaged: int = 0
    full: set[str] = field(default_factory=set)

    def between_hosts(self, *, lone: bool = False) -> Iterator[tuple[End, End, int]]:
        """(sending end, receiving end, connections) between different hosts: those of collectives, or the `lone` ones."""
        for (sender, receiver), count in self.pairs.items():
            a, b = self.ends[sender], self.ends[receiver]
            if a.host is not b.host and (a.lone or b.lone) == lone:
                yield a, b, count

    @property
    def largest(self) -> Communicator | None:
        """The communicator with the most ranks."""
        return max(self.communicators.values(), key=lambda item: (item.size, len(item.ranks)), default=None)
