"""The smallest structural difference between two shapes, in words.

Devices that one side lacks come first, then what differs in a device itself (its link, its NVLinks), then where devices hang. A
device that moved takes along what stood beside it, so what moved is taken out of both shapes before the rest is compared: one
fault is told once. What either side does not know is no difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from math import comb, prod

from auditor.topology.paths import nearest
from auditor.topology.shape import Facts, Group, Shape, in_order

_TRIED = 600
"""Ways of choosing the missing devices that are compared; beyond, labels and names decide."""

_KINDS = ("GPU", "NIC", "device")
_PLURAL = {"GPU": "GPUs", "NIC": "NICs", "device": "other devices"}
_PAIRED = {"nvlink": "NVLinks", "xgmi": "XGMI links"}


def difference(common: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    """What sets `seen` apart from `common`, both told in sentences; empty where nothing does.

    One clause for each difference: `mlx5_3: width 8 instead of 16`. Raises ValueError for sentences that are none.
    """
    return tuple(_Comparison(Shape.read(common), Shape.read(seen)).told())


class _Comparison:
    """Two shapes on their way to having the same devices under the same labels."""

    def __init__(self, wanted: Shape, seen: Shape) -> None:
        self.wanted, self.seen = wanted, seen
        self.names = {**wanted.names, **seen.names}

    def told(self) -> Iterator[str]:
        yield from self._align()
        yield from self._own_facts()
        yield from self._pairs()
        moved = [label for label in self._devices() if _unlike(self._both(label), "NUMA")]
        if moved:
            yield from self._facts_of(moved, "NUMA", "{who} {hangs} under NUMA {seen} instead of {wanted}")
            self._take_out(moved)
        yield from self._places()

    def _say(self, labels: Iterable[str]) -> str:
        said = [self.names.get(label, label) for label in labels]
        return " and ".join(filter(None, [", ".join(said[:-1]), said[-1]])) if said else "nothing"

    def _devices(self) -> list[str]:
        return in_order(self.wanted.devices)

    def _both(self, label: str) -> tuple[Facts, Facts]:
        return self.wanted.devices[label], self.seen.devices[label]

    def _take_out(self, labels: Iterable[str]) -> None:
        gone = list(labels)
        self.wanted, self.seen = self.wanted.without(gone), self.seen.without(gone)

    # Devices that one side lacks

    def _align(self) -> Iterator[str]:
        """Take the devices that one side lacks out of the other, and give those that are left the labels of `seen`."""
        less, more = _chosen(self.wanted, self.seen), _chosen(self.seen, self.wanted)
        for kind in _KINDS:
            numbers = f"{len(self.seen.labels(kind))} {_PLURAL[kind]} instead of {len(self.wanted.labels(kind))}"
            if less[kind]:
                said = [self.wanted.name(label) for label in less[kind]]
                yield f"{', '.join(said)} {'is' if len(said) == 1 else 'are'} missing: {numbers}"
            if more[kind]:
                yield f"{', '.join(self.seen.name(label) for label in more[kind])} besides: {numbers}"
        self.wanted = self.wanted.without(label for kind in _KINDS for label in less[kind])
        self.seen = self.seen.without(label for kind in _KINDS for label in more[kind])
        self.wanted = self.wanted.relabelled(_renaming(self.wanted, self.seen))
        self.names = {**self.wanted.names, **self.seen.names}

    # What a device or a pair is in itself

    def _own_facts(self) -> Iterator[str]:
        told = {fact: None for label in self._devices() for facts in self._both(label) for fact in facts}
        for fact in told:
            if fact != "NUMA":
                changed = [label for label in self._devices() if _unlike(self._both(label), fact)]
                yield from self._facts_of(changed, fact, "{who}: {fact} {seen} instead of {wanted}")

    def _facts_of(self, labels: Iterable[str], fact: str, words: str) -> Iterator[str]:
        """One clause for all devices with the same change."""
        alike: dict[tuple[str, str], list[str]] = defaultdict(list)
        for label in labels:
            wanted, seen = self._both(label)
            alike[wanted[fact], seen[fact]].append(label)
        for (wanted_value, seen_value), who in alike.items():
            hangs = "hangs" if len(who) == 1 else "hang"
            yield words.format(who=self._say(who), hangs=hangs, fact=fact, seen=seen_value, wanted=wanted_value)

    def _pairs(self) -> Iterator[str]:
        for one, other in sorted({*self.wanted.pairs, *self.seen.pairs}, key=in_order_of_pair):
            wanted, seen = self.wanted.pairs.get((one, other), {}), self.seen.pairs.get((one, other), {})
            for kind in sorted({*wanted, *seen}):
                if wanted.get(kind) != seen.get(kind):
                    numbers = f"{seen.get(kind, 'no')} {_PAIRED.get(kind, kind)} instead of {wanted.get(kind, 'none')}"
                    yield f"{one} and {other}: {numbers}"

    # Where devices hang

    def _places(self) -> Iterator[str]:
        if not _structure(self.wanted, self.seen):
            return
        alone = next((label for label in self._devices() if self._fits_without([label])), None)
        if alone is not None and not self._exchanged():
            here, there = (self._beside(shape, alone) for shape in (self.seen, self.wanted))
            if here != there:
                yield f"{self._say([alone])} hangs {here} instead of {there}"
                return
        changed = list(self._nearest())
        yield from (words for _, words in changed)
        self._take_out(gpu for gpu, _ in changed)
        yield from self._switches()

    def _exchanged(self) -> bool:
        """Whether GPUs have other nearest NICs, each as many as it should: a swap is told from the GPUs' side."""
        sets = [(self._near(self.wanted, gpu), self._near(self.seen, gpu)) for gpu in self.wanted.labels("GPU")]
        changed = [(wanted, seen) for wanted, seen in sets if wanted != seen]
        return bool(changed) and all(len(wanted) == len(seen) for wanted, seen in changed)

    def _fits_without(self, labels: list[str]) -> bool:
        return not _structure(self.wanted.without(labels), self.seen.without(labels))

    def _beside(self, shape: Shape, label: str) -> str:
        inner = [group.members - {label} for group in shape.groups if label in group.members and not group.adapter]
        shared = next((members for members in reversed(inner) if members), frozenset[str]())
        if shared:
            return f"beside {self._say(in_order(shared))}"
        return "behind a switch of its own" if inner else "at the processor"

    def _near(self, shape: Shape, gpu: str) -> list[str]:
        nics = shape.labels("NIC")
        found = nearest({nic: shape.kind(gpu, nic) for nic in nics}, {nic: shape.steps(gpu, nic) for nic in nics})
        return [nic for nic, near in found.items() if near]

    def _nearest(self) -> Iterator[tuple[str, str]]:
        for gpu in self.wanted.labels("GPU"):
            wanted, seen = self._near(self.wanted, gpu), self._near(self.seen, gpu)
            if wanted and seen and wanted != seen:
                are = "NIC is" if len(seen) == 1 else "NICs are"
                yield gpu, f"{gpu}'s nearest {are} {self._say(seen)} instead of {self._say(wanted)}"

    def _switches(self) -> Iterator[str]:
        wanted, seen = _by_members(self.wanted.groups), _by_members(self.seen.groups)
        for key in sorted({*wanted, *seen}, key=_group_order):
            members, adapter, number = key
            who = self._say(in_order(members))
            if key not in seen:
                yield f"{who} are no longer ports of one adapter" if adapter else f"one switch less above {who}"
            elif key not in wanted:
                yield f"{who} are ports of one adapter" if adapter else f"one switch more above {who}"
            else:
                which = f"switch number {number}" if number > 1 else "switch"
                for fact in wanted[key]:
                    if _unlike((wanted[key], seen[key]), fact):
                        yield f"the {which} above {who}: {fact} {seen[key][fact]} instead of {wanted[key][fact]}"


_Key = tuple[frozenset[str], bool, int]


def in_order_of_pair(pair: tuple[str, str]) -> tuple[int, ...]:
    """GPU 2 before GPU 10."""
    return tuple(int(label.rpartition(" ")[2]) for label in pair)


def _group_order(key: _Key) -> tuple[object, ...]:
    return (-len(key[0]), in_order(key[0]), key[1:])


def _by_members(groups: Iterable[Group]) -> dict[_Key, Facts]:
    """Groups by what stands below them; of several with the same members the outer one is number 1."""
    found: dict[_Key, Facts] = {}
    seen: dict[tuple[frozenset[str], bool], int] = defaultdict(int)
    for group in groups:
        seen[group.members, group.adapter] += 1
        found[group.members, group.adapter, seen[group.members, group.adapter]] = group.facts
    return found


def _unlike(facts: tuple[Facts, Facts], fact: str) -> bool:
    """Whether both sides know this fact and disagree."""
    wanted, seen = (side.get(fact) for side in facts)
    return wanted is not None and seen is not None and wanted != seen


def _structure(wanted: Shape, seen: Shape) -> int:
    """How many switches, their links included, and NUMA nodes differ."""
    here, there = _by_members(seen.groups), _by_members(wanted.groups)
    links = sum(_unlike((there[key], here[key]), fact) for key in here.keys() & there.keys() for fact in there[key])
    both = wanted.devices.keys() & seen.devices.keys()
    nodes = sum(_unlike((wanted.devices[label], seen.devices[label]), "NUMA") for label in both)
    return len(here.keys() ^ there.keys()) + links + nodes


def _renaming(wanted: Shape, seen: Shape) -> dict[str, str]:
    """The labels of `seen` for the devices of `wanted`, kind by kind in their order."""
    return {old: new for kind in _KINDS for old, new in zip(wanted.labels(kind), seen.labels(kind), strict=True) if old != new}


def _chosen(whole: Shape, part: Shape) -> dict[str, tuple[str, ...]]:
    """For each kind of which `whole` has more devices: those whose absence explains `part` with the least left over."""
    missing = {kind: len(whole.labels(kind)) - len(part.labels(kind)) for kind in _KINDS}
    missing = {kind: max(count, 0) for kind, count in missing.items()}
    known = {part.name(label) for label in part.devices}
    stranger = {kind: sorted(whole.labels(kind), key=lambda label: whole.name(label) in known) for kind in _KINDS}
    ways = prod(comb(len(stranger[kind]), missing[kind]) for kind in _KINDS)
    choices = [combinations(stranger[kind], missing[kind]) for kind in _KINDS]
    best = tuple(tuple(stranger[kind][: missing[kind]]) for kind in _KINDS)
    if any(missing.values()) and ways <= _TRIED:
        best = min(product(*choices), key=lambda way: _left_over(whole, part, way))
    return {kind: tuple(in_order(labels)) for kind, labels in zip(_KINDS, best, strict=True)}


def _left_over(whole: Shape, part: Shape, way: Sequence[Sequence[str]]) -> int:
    """How much still differs when these devices are taken out of the larger side. The sides may differ in other kinds too, of
    which then nothing can be said: those are left aside."""
    left = whole.without(label for labels in way for label in labels)
    even = [kind for kind in _KINDS if len(left.labels(kind)) == len(part.labels(kind))]
    odd = [kind for kind in _KINDS if kind not in even]
    left, right = (shape.without(label for kind in odd for label in shape.labels(kind)) for shape in (left, part))
    left = left.relabelled(_renaming(left, right))
    both = [(left.devices[label], facts) for label, facts in right.devices.items()]
    own = sum(_unlike(pair, fact) for pair in both for fact in pair[1])
    return own + _structure(left, right) + len(left.pairs.keys() ^ right.pairs.keys())
