"""The shape of a plan: which devices are hosts, how far each switch is from them, and what it carries down and up.

Everything here follows from the links. A device that the inventory does not know is taken for a host when all its ports are
named like adapters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from auditor.model import Device, Plan, PlanEnd, PlanLink, Tiers
from auditor.model.device import is_host

_ADAPTER = re.compile(
    r"nic\d+|(mlx|bnxt_re|irdma|hns)_?\d+(_\d+)?(/\S+)?|ibp?\d\S*|en[opsx]\w+|eth\d+|bmc\d*|ipmi\d*"
    r"|([0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]",
    re.IGNORECASE,
)


_MANAGEMENT = re.compile(
    r"eth\d+|(mgmt|management|ma|me|meth|mge|m-gigabitethernet|fxp|em|bmc|ipmi|console|con|usb)[\d/.:-]*", re.IGNORECASE
)
"""`eth0`, but not `Eth1/1`, which is a front port in the short form of NX-OS."""


def is_management(port: str) -> bool:
    """Whether a port of a switch is named as its own management ports are: it forwards nothing."""
    return _MANAGEMENT.fullmatch(port) is not None


def is_adapter(port: str) -> bool:
    """Whether a port is named as hosts name theirs."""
    return _ADAPTER.fullmatch(port) is not None


def hosts(plan: Plan, devices: Mapping[str, Device]) -> frozenset[str]:
    """The devices of a plan that send and receive traffic themselves."""
    ports: dict[str, bool] = {}
    for link in plan.links:
        for end in (link.a, link.b):
            ports[end.device] = ports.get(end.device, True) and is_adapter(end.port)
    found = set()
    for name, adapters in ports.items():
        device = devices.get(name)
        if device is None or not (device.role or device.platforms):
            known = adapters
        else:
            known = is_host(device.role) if device.role else "linux" in device.platforms
        if known:
            found.add(name)
    return frozenset(found)


@dataclass(slots=True)
class Load:
    """What one switch carries in one plane. `tier` counts from the hosts: 1 is a leaf."""

    device: str
    tier: int
    down: list[PlanLink] = field(default_factory=list)
    up: list[PlanLink] = field(default_factory=list)

    @property
    def ratio(self) -> Fraction | None:
        """Bandwidth down by bandwidth up, 1 for non-blocking; counted in links where no link has a speed, None where some lack
        it or nothing goes up."""
        down, up = weight(self.down), weight(self.up)
        if not up or not down or ({link.speed is None for link in (*self.down, *self.up)} == {True, False}):
            return None
        return Fraction(down, up)

    def far(self) -> dict[str, list[PlanLink]]:
        """The uplinks by the switch that they lead to."""
        out: dict[str, list[PlanLink]] = defaultdict(list)
        for link in self.up:
            out[link.b.device if link.a.device == self.device else link.a.device].append(link)
        return dict(out)


def weight(links: Iterable[PlanLink]) -> int:
    """The bits per second of links, or their number where they have no speed."""
    return sum(1 if link.speed is None else link.speed for link in links)


@dataclass(frozen=True, slots=True)
class PlaneShape:
    """One plane of a plan: its links, those between a host and a switch (host's end first), and the load of its switches."""

    name: str
    links: tuple[PlanLink, ...]
    host_links: tuple[tuple[PlanEnd, PlanEnd, PlanLink], ...]
    loads: Mapping[str, Load]

    @property
    def rails(self) -> bool:
        """Whether hosts are joined to it by rail."""
        return any(link.rail for _, _, link in self.host_links)

    @property
    def compute(self) -> bool:
        """Whether it must be non-blocking: the planes of GPU traffic, by name or because they have rails."""
        return self.rails or self.name.startswith("compute")


def shapes(plan: Plan, endpoints: frozenset[str], devices: Mapping[str, Device]) -> Iterator[PlaneShape]:
    """Every plane of a plan; links without a plane are one of their own."""
    planes: dict[str, list[PlanLink]] = defaultdict(list)
    for link in plan.links:
        planes[link.plane].append(link)
    for name, links in sorted(planes.items()):
        yield _shape(name, links, endpoints, devices)


def _shape(name: str, links: list[PlanLink], endpoints: frozenset[str], devices: Mapping[str, Device]) -> PlaneShape:
    host_links = []
    beside: dict[str, set[str]] = defaultdict(set)
    for link in links:
        a, b = (end.device in endpoints for end in (link.a, link.b))
        if a != b:
            host_links.append((link.a, link.b, link) if a else (link.b, link.a, link))
        elif not a:
            beside[link.a.device].add(link.b.device)
            beside[link.b.device].add(link.a.device)
    tiers = dict.fromkeys(dict.fromkeys(switch.device for _, switch, _ in host_links), 1)
    edge = list(tiers)
    while edge:
        edge = list(dict.fromkeys(far for near in edge for far in sorted(beside[near]) if far not in tiers))
        tiers.update(dict.fromkeys(edge, max(tiers.values()) + 1))
    _level(tiers, beside, devices)
    loads = {device: Load(device, tier) for device, tier in tiers.items()}
    for link in links:
        one, other = (loads.get(end.device) for end in (link.a, link.b))
        if one is None or other is None:
            for load in filter(None, (one, other)):
                load.down.append(link)
        elif one.tier != other.tier:
            lower, upper = sorted((one, other), key=lambda load: load.tier)
            lower.up.append(link)
            upper.down.append(link)
    return PlaneShape(name, tuple(links), tuple(host_links), loads)


def _level(tiers: dict[str, int], beside: Mapping[str, set[str]], devices: Mapping[str, Device]) -> None:
    """Put a leaf that has no hosts yet, and so looks like a core, beside the other leaves.

    Switches are alike by their role, or by their name without its numbers; unless two of them at different distances are joined,
    for then the role or the name says nothing of the tier.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in tiers:
        device = devices.get(name)
        alike[(device.role if device is not None else "") or re.sub(r"\d+", "#", name)].append(name)
    for names in alike.values():
        if not any(tiers[far] != tiers[near] for near in names for far in beside[near].intersection(names)):
            tiers.update(dict.fromkeys(names, min(tiers[name] for name in names)))


def sums(plane: PlaneShape) -> Iterator[str]:
    """The arithmetic of a plane: what the switches of each tier carry down and up, alike ones in one line."""
    if plane.host_links:
        count = len({host.device for host, _, _ in plane.host_links})
        yield f"{plane.name or 'no plane'}: {count:,} hosts with {len(plane.host_links):,} links"
    alike: dict[tuple[int, str], list[str]] = defaultdict(list)
    for load in plane.loads.values():
        alike[load.tier, carries(load)].append(load.device)
    for (tier, words), names in sorted(alike.items()):
        yield f"{plane.name or 'no plane'}: tier {tier}: {some(names)}: {words}"


def carries(load: Load) -> str:
    """`32 x 400G down = 12.8T, 16 x 400G up = 6.4T: 2:1`."""
    down, up = (_sum(links) for links in (load.down, load.up))
    if not load.up:
        return f"{down} down, no uplinks"
    ratio = load.ratio
    told = "cannot be told: some links have no speed" if ratio is None else f"{float(ratio):.4g}:1"
    return f"{down} down, {up} up: {told}"


def _sum(links: Iterable[PlanLink]) -> str:
    counts: dict[int | None, int] = defaultdict(int)
    total = 0
    for link in links:
        counts[link.speed] += 1
        total += link.speed or 0
    parts = [f"{count} x {speed_text(speed)}" for speed, count in sorted(counts.items(), key=lambda item: item[0] or 0)]
    return (" + ".join(parts) + (f" = {speed_text(total)}" if total and None not in counts else "")) or "0"


def speed_text(speed: int | None) -> str:
    """`400G`, `12.8T`; `?` for none."""
    if speed is None:
        return "?"
    return f"{speed / 10**12:.6g}T" if speed >= 10**12 else f"{speed / 10**9:.6g}G"


def some(names: Iterable[str], most: int = 4) -> str:
    """A few names and how many there are."""
    listed = list(names)
    rest = len(listed) - most
    return ", ".join(listed) if rest <= 0 else f"{', '.join(listed[:most])} and {rest:,} more"


def tiers(plan: Plan, devices: Mapping[str, Device]) -> dict[str, Tiers]:
    """The shape of every plane in the form that fabric rules get: tier by device, and the switches above each switch.

    A switch that hangs in a plane by its management ports alone is no switch of it, but one more device at its edge: tier 0.
    """
    endpoints = hosts(plan, devices)
    out = {}
    for shape in shapes(plan, endpoints, devices):
        switching = {end.device for link in shape.links for end in (link.a, link.b) if not is_management(end.port)} - endpoints
        of = {name: load.tier if name in switching else 0 for name, load in shape.loads.items()}
        of.update({host.device: 0 for host, _, _ in shape.host_links})
        up = {name: switching.intersection(load.far()) for name, load in shape.loads.items() if of[name]}
        out[shape.name] = Tiers(of, {name: frozenset(far) for name, far in up.items() if far}, shape.compute)
    return out
