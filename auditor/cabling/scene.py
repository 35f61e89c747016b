"""Planned and observed far ends by place, and the ports of each device in the order in which they were meant to be wired."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from auditor.canonical import natural
from auditor.model import CauseKind, Device, Fabric, Link, Place, Plan, PlanLink, Wiring, is_host

_COUNTED = re.compile(r"(?:eth|ib|nic|mlx[45]_|bnxt_re|irdma|ionic_|hfi1_)\d+(?:/\d+)?")
"""Names that the kernel, or a plan, counts in the order in which adapters were found. Those that carry a slot or a bus
(`ens114np0`, `enp26s0np0`, `ibp26s0`) are addresses and stay with the card."""

_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


@dataclass(frozen=True, slots=True)
class Group:
    """The ports of one device in one plane, in the order of rail and name: a host's all, a switch's those to switches.

    `far` is where each port's cable should lead, `seen` where it leads, None where that is not known; `right` how many are as
    planned.
    """

    device: str
    plane: str
    host: bool
    ports: tuple[Place, ...]
    far: tuple[Place, ...]
    seen: tuple[Place | None, ...]
    right: int

    @property
    def known(self) -> int:
        """How many of its ports are known to lead somewhere."""
        return sum(place is not None for place in self.seen)


@dataclass(frozen=True, slots=True)
class Label:
    """One mistake. Components with equal labels are one cause; `scope` tells it from others of its kind.

    `form` names its sentence, `words` are the words in it beside the devices.
    """

    kind: CauseKind
    form: str
    scope: tuple[str, ...]
    words: Mapping[str, str] = field(default_factory=dict, compare=False)


Claims = Mapping[Place | int, Label]
"""Labels by the place of a wrong link, or by the index of a component."""


class Scene:
    """What the plan says and what is seen, by place and by device."""

    def __init__(self, wiring: Wiring, plan: Plan, fabric: Fabric, devices: Mapping[str, Device]) -> None:
        self.links: dict[str, Link] = {link.name: link for link in wiring.links}
        self.seen = wiring.observed
        self.ends = wiring.ends
        self.devices = devices
        self.fabric = fabric
        self.planned = plan.links
        self.link_at: dict[Place, PlanLink] = {}
        self.far: dict[Place, Place] = {}
        self._hosts: dict[str, bool] = {}
        self._racks: dict[str, str] = {}
        self._positions: dict[str, str] = {}
        self._roles = {end.device: end.role for end in wiring.ends.values() if end.role}
        for link in self.planned:
            one, other = link.a.place, link.b.place
            for place, end, far in ((one, link.a, other), (other, link.b, one)):
                if place not in self.far:
                    self.link_at[place], self.far[place] = link, far
                if end.device not in self._racks:
                    self._racks[end.device], self._positions[end.device] = end.rack, end.position

    def right(self, place: Place) -> bool:
        """Whether the cable in a planned port is known to lead where it should."""
        return self.seen.get(place) == self.far.get(place) is not None

    def is_host(self, device: str) -> bool:
        """Whether a device sends and receives traffic itself."""
        if device not in self._hosts:
            self._hosts[device] = self._is_host(device)
        return self._hosts[device]

    def _is_host(self, device: str) -> bool:
        known = self.devices.get(device)
        role = (known.role if known is not None else "") or self._roles.get(device, "")
        return is_host(role) if role else known is not None and "linux" in known.platforms

    def rack(self, device: str) -> str:
        """The rack by the inventory, else by the plan; empty where neither has it."""
        known = self.devices.get(device)
        return (known.rack if known is not None else "") or self._racks.get(device, "")

    def position(self, device: str) -> str:
        """The position in the rack, like `rack`."""
        known = self.devices.get(device)
        return (known.position if known is not None else "") or self._positions.get(device, "")

    def walk(self, place: Place) -> tuple[object, ...]:
        """Sort key of a place: rack, position, device, port."""
        device, port = place
        return natural(self.rack(device)), natural(self.position(device)), natural(device), natural(port)

    def near(self, link: PlanLink) -> Place:
        """The end of a link that is named first: the host's."""
        return link.b.place if self.is_host(link.b.device) and not self.is_host(link.a.device) else link.a.place

    @cached_property
    def groups(self) -> dict[tuple[str, str], Group]:
        """The ports of every device, by device and plane; see `Group`."""
        found: defaultdict[tuple[str, str], list[tuple[PlanLink, Place]]] = defaultdict(list)
        for place, link in self.link_at.items():
            if self.is_host(place[0]) or not self.is_host(self.far[place][0]):
                found[place[0], link.plane].append((link, place))
        return {key: self._group(key, members) for key, members in found.items()}

    @cached_property
    def leaves(self) -> frozenset[str]:
        """The switches that hosts hang on."""
        return frozenset(near for (near, _), (far, _) in self.far.items() if self.is_host(far) and not self.is_host(near))

    @cached_property
    def ports(self) -> dict[str, tuple[Place, ...]]:
        """The planned ports of each device, in the order of their names."""
        found: defaultdict[str, list[Place]] = defaultdict(list)
        for place in self.far:
            found[place[0]].append(place)
        return {device: tuple(sorted(places, key=lambda place: natural(place[1]))) for device, places in found.items()}

    def _group(self, key: tuple[str, str], members: list[tuple[PlanLink, Place]]) -> Group:
        members.sort(key=lambda item: (natural(item[0].rail), natural(item[1][1])))
        ports = tuple(place for _, place in members)
        far = tuple(self.far[place] for place in ports)
        right = sum(self.right(place) for place in ports)
        return Group(*key, self.is_host(key[0]), ports, far, tuple(self.seen.get(place) for place in ports), right)

    @cached_property
    def _order(self) -> dict[str, dict[str, int]]:
        ports: defaultdict[str, set[str]] = defaultdict(set)
        for device, port in chain(self.far, self.seen):
            ports[device].add(port)
        return {device: {port: at for at, port in enumerate(sorted(names, key=natural))} for device, names in ports.items()}

    def offset(self, planned: Place, seen: Place) -> int:
        """By how many ports, of those that are planned or in use, a place of a device lies after another one of it."""
        order = self._order[planned[0]]
        return order[seen[1]] - order[planned[1]]

    def slot(self, place: Place) -> tuple[str, int] | None:
        """Plane, and place in the order of the device's ports of that plane: the same for like ports of two devices."""
        return self._slots.get(place)

    @cached_property
    def _slots(self) -> dict[Place, tuple[str, int]]:
        out: dict[Place, tuple[str, int]] = {}
        for places in self.ports.values():
            counts: Counter[str] = Counter()
            for place in places:
                plane = self.link_at[place].plane
                out[place] = plane, counts[plane]
                counts[plane] += 1
        return out

    def anchored(self, place: Place) -> bool:
        """Whether a host's port is known by something that stays with the card: an id of the plan or of `nics`, or an
        address as name. A name that is only counted may be on another card tomorrow."""
        link = self.link_at.get(place)
        device = self.devices.get(place[0])
        named = self.fabric.nics.get(device.hardware_model, {}) if device is not None else {}
        return bool(link is not None and link.end(*place).id) or place[1] in named or not _COUNTED.fullmatch(place[1])

    def bus(self, place: Place) -> str:
        """The PCI address of the card behind a port today; empty where that was not seen."""
        end = self.ends.get(place)
        found = [word for word in (end.identities if end is not None else ()) if _PCI.fullmatch(word)]
        return found[0] if len(found) == 1 else ""
