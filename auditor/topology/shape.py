"""The shape of a host: structure and link classes without addresses, as sentences that can be read back.

Sentences have the form `subject: fact, fact`. Subjects are devices by their place (`GPU 5`, `NIC 3`), pairs of GPUs, and PCI
switches, named by what stands below them: which sets of devices share a switch is all there is to the tree. What is not known is
no fact, so nothing is concluded from it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.canonical import printable
from auditor.topology.tree import NIC_CLASSES, Device, Topology, devices, natural

Facts = dict[str, str]
NAMED = "named"
_THERE = "there"

_SUBJECT = re.compile(r"(?:GPU|NIC|device) \d{1,6}")
_GROUP = re.compile(r"(switch|adapter)(?: (\d{1,3}))? of (.+)")


@dataclass(slots=True)
class Group:
    """Devices that share a PCI switch, or (`adapter`) the ports of one adapter. The link is the one above it."""

    members: frozenset[str]
    adapter: bool = False
    facts: Facts = field(default_factory=dict)


@dataclass(slots=True)
class Shape:
    """Devices by label, pairs of GPUs with direct links, and groups, outer ones before those inside them."""

    devices: dict[str, Facts] = field(default_factory=dict)
    pairs: dict[tuple[str, str], Facts] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, sentences: Iterable[str]) -> Shape:
        """The shape that these sentences tell; raises ValueError for one that is none."""
        shape = cls()
        groups: dict[tuple[int, bool, str, int], Group] = {}
        for sentence in sentences:
            subject, mark, words = sentence.partition(": ")
            if not mark:
                raise ValueError(f"no sentence about a topology: {sentence[:80]!r}")
            if words.startswith(f"{NAMED} "):
                shape.names[subject] = words.removeprefix(f"{NAMED} ")
                continue
            facts = shape._subject(subject, groups)
            for part in words.split(", ") if words != _THERE else ():
                fact, _, value = part.partition(" ")
                facts[fact] = value
        shape.groups = [groups[key] for key in sorted(groups)]
        return shape

    def _subject(self, text: str, groups: dict[tuple[int, bool, str, int], Group]) -> Facts:
        group = _GROUP.fullmatch(text)
        if group is not None:
            members = frozenset(group.group(3).split(", "))
            key = (-len(members), group.group(1) == "adapter", group.group(3), int(group.group(2) or 1))
            return groups.setdefault(key, Group(members, key[1])).facts
        one, both, other = text.partition(" and ")
        for part in (one, other) if both else (one,):
            if _SUBJECT.fullmatch(part) is None:
                raise ValueError(f"no part of a topology: {text[:80]!r}")
        return self.pairs.setdefault((one, other), {}) if both else self.devices.setdefault(one, {})

    def sentences(self) -> tuple[str, ...]:
        """All of it in words, sorted; `read` is the inverse."""
        told: list[tuple[str, Facts]] = list(self.devices.items())
        told += [(" and ".join(pair), facts) for pair, facts in self.pairs.items()]
        seen: dict[tuple[bool, frozenset[str]], int] = defaultdict(int)
        for group in self.groups:
            seen[group.adapter, group.members] += 1
            number = seen[group.adapter, group.members]
            chain = f" {number}" if number > 1 else ""
            told.append(
                (f"{'adapter' if group.adapter else 'switch'}{chain} of {', '.join(in_order(group.members))}", group.facts)
            )
        out = [f"{subject}: {', '.join(' '.join(item) for item in sorted(facts.items())) or _THERE}" for subject, facts in told]
        out += [f"{label}: {NAMED} {name}" for label, name in self.names.items()]
        return tuple(sorted(out, key=natural))

    def labels(self, kind: str) -> list[str]:
        """The labels of one kind of device, in their order."""
        return in_order(label for label in self.devices if label.startswith(kind + " "))

    def name(self, label: str) -> str:
        """What people call a device: NICs by their name, where it is known."""
        return self.names.get(label, label)

    def closest(self, label: str) -> int | None:
        """Where in `groups` the innermost switch above a device stands."""
        inner = [at for at, group in enumerate(self.groups) if label in group.members and not group.adapter]
        return inner[-1] if inner else None

    def kind(self, gpu: str, nic: str) -> str | None:
        """How near two devices are: PIX (one switch), PXB (several), PHB (one NUMA node), SYS; None where nothing tells."""
        if any({gpu, nic} <= group.members for group in self.groups if not group.adapter):
            return "PIX" if self.closest(gpu) == self.closest(nic) else "PXB"
        nodes = [self.devices[label].get("NUMA") for label in (gpu, nic)]
        if None in nodes:
            return None
        return "PHB" if nodes[0] == nodes[1] else "SYS"

    def steps(self, one: str, other: str) -> int:
        """How many switches stand above one of two devices and not above the other."""
        return sum(len({one, other} & group.members) == 1 for group in self.groups if not group.adapter)

    def without(self, labels: Iterable[str]) -> Shape:
        """The shape that is left when these devices are taken out; switches with nothing below them go too."""
        gone = frozenset(labels)
        groups = [Group(left, group.adapter, group.facts) for group in self.groups if (left := group.members - gone)]
        return Shape(
            {label: facts for label, facts in self.devices.items() if label not in gone},
            {pair: facts for pair, facts in self.pairs.items() if not gone & set(pair)},
            [group for group in groups if not (group.adapter and len(group.members) < 2)],
            self.names,
        )

    def relabelled(self, labels: Mapping[str, str]) -> Shape:
        """The same shape with other labels."""

        def new(label: str) -> str:
            return labels.get(label, label)

        return Shape(
            {new(label): facts for label, facts in self.devices.items()},
            {(new(a), new(b)): facts for (a, b), facts in self.pairs.items()},
            [Group(frozenset(map(new, group.members)), group.adapter, group.facts) for group in self.groups],
            {new(label): name for label, name in self.names.items()},
        )


def in_order(labels: Iterable[str]) -> list[str]:
    """Labels in a person's order."""
    return sorted(labels, key=natural)


def shape_of(topology: Topology, *, sockets: bool = False) -> Shape:
    """The shape of a tree; raises ValueError where it is too large to be one of a host.

    Devices that are reached by sockets come and go with containers: they are no part of it unless asked for.
    """
    found = [device for device in devices(topology) if sockets or device.kind != "socket"]
    shape = Shape()
    below: dict[int, list[str]] = defaultdict(list)
    order = {}
    ports: dict[str, list[str]] = defaultdict(list)
    for device in found:
        shape.devices[device.label] = _facts(device)
        if device.net is not None:
            shape.names[device.label] = _name(device, found)
            if device.pci is not None:
                ports[device.pci.address].append(device.label)
        for bridge in device.bridges:
            below[id(bridge)].append(device.label)
            order[id(bridge)] = bridge
    for pci in topology.functions():
        if id(pci) in below:
            facts = _link(pci.speed, pci.width)
            shape.groups.append(Group(frozenset(below[id(pci)]), facts=facts))
    shape.groups += [Group(frozenset(labels), adapter=True) for labels in ports.values() if len(labels) > 1]
    shape.groups.sort(key=lambda group: -len(group.members))  # stable: of one set the outer one stays first
    _add_gpu_links(shape, found)
    return shape


def _name(device: Device, found: Sequence[Device]) -> str:
    assert device.net is not None
    name = printable(device.net.name, 60).replace(", ", "_")
    same = sum(other.net is not None and other.net.name == device.net.name for other in found)
    return f"{name}:{device.net.port}" if same > 1 else name


def _facts(device: Device) -> Facts:
    facts: Facts = {}
    if device.cpu.numa is not None:
        facts["NUMA"] = str(device.cpu.numa)
    if device.pci is not None:
        facts |= _link(device.pci.speed, device.pci.width)
        if device.kind == "NIC" and device.pci.code in NIC_CLASSES:
            facts["kind"] = NIC_CLASSES[device.pci.code]
    if device.net is not None and device.net.speed is not None:
        facts["rate"] = f"{device.net.speed / 1e9:g} Gb/s"
    return facts


def _link(speed: int | None, width: int | None) -> Facts:
    facts = {}
    if width is not None:
        facts["width"] = str(width)
    if speed is not None:
        facts["speed"] = f"{speed / 1e9:g} GT/s"
    return facts


def _add_gpu_links(shape: Shape, found: Sequence[Device]) -> None:
    """Links between GPUs as facts of the pair; those to switches as a fact of the GPU: how many to each, the most first."""
    by_address = {device.pci.address: device.label for device in found if device.pci is not None and device.kind == "GPU"}
    counts: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for device in found:
        if device.gpu is None:
            continue
        switches: list[int] = []
        hidden = 0
        for link in device.gpu.links:
            target = by_address.get(link.target)
            if target is not None and target != device.label:
                one, other = in_order((device.label, target))
                counts[one, other][link.kind][one != device.label] += link.count
            elif not link.target:
                hidden += link.count
            elif link.kind == "nvlink":
                switches.append(link.count)
        each = " + ".join(str(count) for count in sorted(switches, reverse=True))
        shape.devices[device.label]["NVLinks"] = each or ("0" if not hidden else f"{hidden} to hidden switches")
    for pair, kinds in counts.items():
        for kind, (there, back) in kinds.items():
            shape.pairs.setdefault(pair, {})[kind] = str(there) if there == back else f"{there} and back {back}"
