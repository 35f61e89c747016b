"""The rule about connections between hosts whose two ends hang on different rails, as the logs of a job show them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from auditor.checks.nccl.log_view import JOB, TABLE, RailOf, devices, few, proof, used_by
from auditor.dialects.nccl_job import End, Log
from auditor.model import Deviation, Gap, GapReason, Judgement, RuleContext, RuleKind, Severity, check, failed, passed, unseen

SETTING = "NCCL_CROSS_NIC"
MAY_CROSS, MUST_NOT_CROSS = "1", "0"
"""Values of it: NVIDIA's documentation of the environment variables; 2, the default, lets the library choose."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Connections of one kind whose ends hang on different rails."""

    sender: End
    receiver: End
    count: int

    @property
    def ends(self) -> tuple[End, End]:
        """Both."""
        return self.sender, self.receiver


@dataclass(slots=True)
class Share:
    """Connections of collectives between hosts of which both ends are known: how many there are (`judged`; by `hosts`), how
    many cross rails, and of these how many NCCL_CROSS_NIC=1 allows and how many are the library's own choice, alike on all
    hosts, as where a ring turns. `faulty` are the others. `unknown`: nobody can tell the rails. `lone`: point-to-point traffic.
    `basis`: by what rails were told, `plan` or `device`."""

    judged: int = 0
    crossing: int = 0
    allowed: int = 0
    chosen: int = 0
    unknown: int = 0
    lone: int = 0
    lone_crossing: int = 0
    basis: set[str] = field(default_factory=set)
    faulty: list[Crossing] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)


class Rails:
    """On which rail an end hangs, and which devices a GPU uses on other hosts."""

    def __init__(self, log: Log, rails: RailOf | None) -> None:
        self.devices = devices(log)
        self.places = used_by(log, self.devices)
        self._rails = rails
        self._known: dict[int, tuple[str | None, int | None]] = {}
        self._gpus: dict[int, set[str]] = defaultdict(set)
        self._crowd: dict[tuple[str, int], set[int]] = defaultdict(set)
        for (gpu, place), hosts in self.places.items():
            self._gpus[gpu] |= hosts
            for host in hosts:
                self._crowd[host, place].add(gpu)
        self._planned: dict[int, Counter[str]] = defaultdict(Counter)
        for a, b, _ in log.between_hosts():
            for end in (a, b):
                rail, at = self.of(end)
                if rail is not None and at is not None:
                    self._planned[at][rail] += 1

    def of(self, end: End) -> tuple[str | None, int | None]:
        """The rail by plan, and the place of the device among its host's."""
        if id(end) not in self._known:
            nic = end.nic
            place = end.index if nic is None else self.devices.position(end.host.name, nic)
            rail = self._rails.known(end.host.name, nic) if self._rails is not None and nic is not None else None
            self._known[id(end)] = rail, place
        return self._known[id(end)]

    def differ(self, a: End, b: End) -> tuple[bool | None, str]:
        """Whether two ends hang on different rails (None: nobody knows), and by what that was told."""
        (rail_a, place_a), (rail_b, place_b) = self.of(a), self.of(b)
        if rail_a is not None and rail_b is not None:
            return rail_a != rail_b, "plan"
        if place_a is None or place_b is None:
            return None, ""
        return place_a != place_b, "device"

    def moved(self, end: End, least: int = 1) -> bool:
        """Whether no other host uses this device for this GPU, though at least so many use another one for it."""
        place = self.of(end)[1]
        if place is None or end.relay:
            return False
        same, every = self.places.get((end.gpu, place), set()), self._gpus[end.gpu]
        own = end.host.name
        return len(same) == (own in same) and len(every) - (own in every) >= least

    def chosen(self, a: End, b: End) -> bool:
        """Whether a crossing is one that the library makes alike on all hosts: both ends where their GPUs are at home."""
        (_, place_a), (_, place_b) = self.of(a), self.of(b)
        if place_a is None or place_b is None:
            return a.gpu != b.gpu
        return place_a != place_b and not self.moved(a) and not self.moved(b)

    def blamed(self, crossing: Crossing) -> tuple[str, ...]:
        """The host that is odd; both where nothing tells them apart."""
        ends = crossing.ends
        for odd in (
            [end for end in ends if self.moved(end, least=2)],
            [end for end in ends if end.host.name in self.devices.missing],
            [end for end in ends if self.moved(end)],
            [end for end in ends if self._crowded(end)],
            [end for end in ends if self._misplanned(end)],
        ):
            if len(odd) == 1:
                return (odd[0].host.name,)
        return tuple(sorted(end.host.name for end in ends))

    def _crowded(self, end: End) -> bool:
        """Whether the device serves another GPU too."""
        place = self.of(end)[1]
        return place is not None and len(self._crowd[end.host.name, place] | {end.gpu}) > 1

    def _misplanned(self, end: End) -> bool:
        """Whether the plan puts most devices at this place on another rail."""
        rail, place = self.of(end)
        said = self._planned.get(-1 if place is None else place, Counter())
        most = said.most_common(2)
        return rail is not None and bool(most) and most[0][0] != rail and (len(most) < 2 or most[0][1] > most[1][1])


def share(log: Log, rails: Rails) -> Share:
    """What part of the connections between hosts crosses rails, and why."""
    out = Share()
    for a, b, count in log.between_hosts():
        differ, basis = rails.differ(a, b)
        if differ is None:
            out.unknown += count
            continue
        out.judged += count
        out.basis.add(basis)
        out.hosts.update({a.host.name: count, b.host.name: count})
        if not differ:
            continue
        out.crossing += count
        settings = {value for end in (a, b) for value in end.host.environment.get(SETTING, {})}
        if MAY_CROSS in settings:
            out.allowed += count
        elif MUST_NOT_CROSS not in settings and rails.chosen(a, b):
            out.chosen += count
        else:
            out.faulty.append(Crossing(a, b, count))
    for a, b, count in log.between_hosts(lone=True):
        differ, _ = rails.differ(a, b)
        if differ is not None:
            out.lone += count
            out.lone_crossing += count if differ else 0
    return out


@check(
    reads=(),
    severity=Severity.ERROR,
    kind=RuleKind.LOG,
    family="nccl",
    remedy="Compare that host's devices and their PCIe places with another's: a lost or renumbered adapter, one behind the wrong "
    "switch, or NCCL_IB_HCA in another order. If the network is one plane without rails, set NCCL_CROSS_NIC=1.",
)
def cross_rail_traffic(log: Log, context: RuleContext) -> Iterator[Judgement]:
    """Both ends of a connection between hosts hang on the same rail.

    The rail is the plan's where one is given, else the place of the device in the list that its host prints. No fault are jobs
    with NCCL_CROSS_NIC=1, point-to-point traffic, and what the library does alike on every host, as in rings that turn: they
    leave a host through the adapter of one GPU and enter the next through that of another.

    Why it matters: traffic inside a rail passes one leaf. Across rails it climbs to the spines and meets all other traffic
    there; one host that does so slows every ring that it is part of.
    """
    if not log.ends:
        return
    rails = Rails(log, context.params if isinstance(context.params, RailOf) else None)
    seen = share(log, rails)
    if not seen.judged:
        what = "whose rails are known" if seen.unknown else "of which both ends are known"
        yield unseen(JOB, Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, f"there is no connection between hosts {what}"))
        return
    single: dict[str, list[Crossing]] = defaultdict(list)
    both: list[Crossing] = []
    for crossing in seen.faulty:
        names = rails.blamed(crossing)
        (single[names[0]] if len(names) == 1 else both).append(crossing)
    doubted = {end.host.name for crossing in both for end in crossing.ends}
    for name in seen.hosts:
        if name in single:
            yield failed(name, _of_host(log, rails, seen, name, single[name]))
        elif name not in doubted:
            yield passed(name)
    if seen.unknown and not both:
        detail = f"the rails of {seen.unknown} connections are not known: their hosts list other devices; a plan would tell"
        yield unseen(JOB, Gap(JOB, TABLE, "", GapReason.NOT_COLLECTED, detail))
    if both:
        yield failed(JOB, _of_pairs(log, rails, seen, sorted(doubted), both))


def _percent(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)"


def _own(crossing: Crossing, host: str) -> End:
    return crossing.sender if crossing.sender.host.name == host else crossing.receiver


def _device(rails: Rails, end: End) -> str:
    rail = rails.of(end)[0]
    return (end.nic.name if end.nic else f"device {end.index}") + (f" on rail {rail}" if rail else "")


def _of_host(log: Log, rails: Rails, seen: Share, name: str, crossings: Sequence[Crossing]) -> Deviation:
    count = sum(crossing.count for crossing in crossings)
    first = crossings[0]
    own = _own(first, name)
    other = first.receiver if own is first.sender else first.sender
    gpus = sorted({_own(crossing, name).gpu for crossing in crossings})
    used = few(dict.fromkeys(_device(rails, _own(crossing, name)) for crossing in crossings))
    found = rails.devices
    lost = [
        each for each in found.missing.get(name, ()) if any((gpu, found.reference.index(each)) in rails.places for gpu in gpus)
    ]
    why = f"; {few(lost)} is not among its devices" if lost else ""
    return Deviation(
        f"both ends on one rail: {_device(rails, other)} at {other.host.name}",
        f"{used} for GPU {few(map(str, gpus))}",
        f"{name}: {_percent(count, seen.hosts[name])} of its connections to other hosts cross rails: GPU {few(map(str, gpus))} "
        f"over {used}, where {other.host.name} has {_device(rails, other)}{why}",
        shared=found.lost(name) if lost else None,
        evidence=proof(log, name, [own.mark, other.mark, found.marks.get(name)]),
    )


def _of_pairs(log: Log, rails: Rails, seen: Share, names: Sequence[str], crossings: Sequence[Crossing]) -> Deviation:
    first = crossings[0]
    shown = list({end.host.name: end for crossing in crossings for end in crossing.ends}.values())[:5]
    count = sum(crossing.count for crossing in crossings)
    said = " and ".join(f"{end.host.name} uses {_device(rails, end)} for GPU {end.gpu}" for end in first.ends)
    return Deviation(
        "both ends on one rail",
        f"{_percent(count, seen.judged)} connections cross rails",
        f"{few(names)}: {_percent(count, seen.judged)} of the connections between hosts cross rails: {said}",
        evidence=tuple(item for end in shown for item in proof(log, end.host.name, [end.mark])),
    )
