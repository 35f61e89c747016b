"""Designs a rail-optimised wiring plan from hosts, NICs per host and switch ports, with the arithmetic behind it.

NIC n of every host goes to the leaves of rail n, to the same port number on each. Leaves join every spine of their pod with
equally many links; spines are dealt out over the cores. Every tier has at least as many links up as it needs, never fewer:
what cannot be cabled like that is refused with the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from auditor.errors import SetupError
from auditor.model import PlanEnd, PlanLink

MOST_LINKS = 2_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to build. `leaves` and `spines` are per pod, `ports` those of every switch, `speed` in bit/s; None: as few as do.

    `leaf_down`: the most host ports of a leaf. `oversubscription`: host ports of a leaf by uplinks, 1 for non-blocking.
    `nic_port` and `switch_port` are the first names of a series, or the first two (`Ethernet0,Ethernet8`).
    """

    hosts: int
    rails: int = 8
    ports: int = 64
    speed: int = 400_000_000_000
    pods: int = 1
    leaves: int | None = None
    leaf_down: int | None = None
    spines: int | None = None
    cores: int | None = None
    oversubscription: Fraction = Fraction(1)
    hosts_per_rack: int | None = None
    plane: str = "compute"
    nic_port: str = "nic0"
    switch_port: str = "swp1"


@dataclass(frozen=True, slots=True)
class Design:
    """How many of what. Leaves and spines are per pod; `down` and `up` are ports of one switch towards hosts and away from them.

    Where hosts do not fill a pod or a leaf, its ports stay free.
    """

    wanted: Wanted
    pod_hosts: int
    leaves_per_rail: int
    leaf_down: int
    leaf_up: int
    spines: int
    spine_down: int
    spine_up: int
    cores: int

    @property
    def leaves(self) -> int:
        """Leaves of a pod."""
        return self.leaves_per_rail * self.wanted.rails

    @property
    def tiers(self) -> dict[str, int]:
        """Links by tier."""
        pods = self.wanted.pods
        found = {"host-leaf": self.wanted.hosts * self.wanted.rails, "leaf-spine": pods * self.leaves * self.leaf_up}
        return found | ({"spine-core": pods * self.spines * self.spine_up} if self.cores else {})

    @property
    def links(self) -> int:
        """All links."""
        return sum(self.tiers.values())


def design(wanted: Wanted) -> Design:
    """The smallest fabric that carries this; raises SetupError with the reason when there is none."""
    _check(wanted)
    hosts = -(-wanted.hosts // wanted.pods)
    down, leaves_per_rail = _leaves(wanted, hosts)
    up = _up(down, wanted)
    leaves = leaves_per_rail * wanted.rails
    reach = wanted.ports if wanted.pods == 1 else wanted.ports // 2
    spines = _spines(wanted, leaves, down, up, reach)
    up = -(-up // spines) * spines
    spine_down = leaves * up // spines
    spine_up = spine_down if wanted.pods > 1 else 0
    cores = _cores(wanted, spines * spine_up)
    found = Design(wanted, hosts, leaves_per_rail, down, up, spines, spine_down, spine_up, cores)
    if found.links > MOST_LINKS:
        raise SetupError(f"that is {found.links:,} links; a plan of more than {MOST_LINKS:,} is a slip of the pen")
    return found


def _check(wanted: Wanted) -> None:
    named = {"hosts": wanted.hosts, "rails": wanted.rails, "pods": wanted.pods, "leaves": wanted.leaves}
    named |= {"host ports per leaf": wanted.leaf_down, "spines": wanted.spines, "cores": wanted.cores}
    for name, value in (named | {"hosts per rack": wanted.hosts_per_rack}).items():
        if value is not None and value < 1:
            raise SetupError(f"{value} {name}: at least one is needed")
    if wanted.oversubscription < 1:
        raise SetupError(f"oversubscription {wanted.oversubscription}: 1 is non-blocking, and less is never needed")
    if wanted.hosts < wanted.pods:
        raise SetupError(f"{wanted.hosts} hosts do not fill {wanted.pods} pods")
    if wanted.ports < 2 or _most_down(wanted) < 1:
        raise SetupError(f"a leaf of {wanted.ports} ports has none for both a host and a spine")
    if wanted.cores and wanted.pods == 1:
        raise SetupError("cores join pods, and there is one pod: leave them out, or ask for more pods")
    if wanted.pods > wanted.ports:
        raise SetupError(f"{wanted.pods} pods: a core of {wanted.ports} ports does not reach them all")


def _up(down: int, wanted: Wanted) -> int:
    """The least uplinks for so many host ports."""
    return -(-down * wanted.oversubscription.denominator // wanted.oversubscription.numerator)


def _most_down(wanted: Wanted) -> int:
    """The most host ports that leave a leaf its uplinks."""
    ratio = wanted.oversubscription
    most = int(wanted.ports * ratio / (1 + ratio))
    return most if most + _up(most, wanted) <= wanted.ports else most - 1


def _leaves(wanted: Wanted, hosts: int) -> tuple[int, int]:
    """(host ports of a leaf, leaves of a rail) in a pod."""
    most = _most_down(wanted)
    if wanted.leaf_down is not None and wanted.leaf_down > most:
        left, needed = wanted.ports - wanted.leaf_down, _up(wanted.leaf_down, wanted)
        raise SetupError(
            f"{wanted.leaf_down} host ports leave a leaf {max(left, 0)} of its {wanted.ports} ports for uplinks; "
            f"{_ratio(wanted.oversubscription)} needs {needed}: at most {most} host ports"
        )
    down = wanted.leaf_down or most
    if wanted.leaves is not None and wanted.leaves % wanted.rails:
        raise SetupError(f"{wanted.leaves} leaves cannot be shared by {wanted.rails} rails evenly")
    per_rail = -(-hosts // down) if wanted.leaves is None else wanted.leaves // wanted.rails
    if per_rail * down < hosts:
        raise SetupError(
            f"{wanted.leaves} leaves of {down} host ports reach {per_rail * wanted.rails * down:,} ports; {hosts} hosts with "
            f"{wanted.rails} NICs have {hosts * wanted.rails:,}{_instead(wanted)}"
        )
    if per_rail > hosts:
        raise SetupError(f"{wanted.leaves} leaves make {per_rail} of a rail for {hosts} hosts: some would have none")
    return -(-hosts // per_rail), per_rail


def _instead(wanted: Wanted) -> str:
    """What would do, for the end of a refusal."""
    free = replace(wanted, leaves=None, leaf_down=None, spines=None, cores=None)
    try:
        found = design(free)
    except SetupError:
        return ""
    per = " per pod" if wanted.pods > 1 else ""
    return (
        f". On switches of {wanted.ports} ports that takes {found.leaves} leaves ({found.leaf_down} host ports, {found.leaf_up} "
        f"uplinks each) and {found.spines} spines{per} at {_ratio(wanted.oversubscription)}"
    )


def _spines(wanted: Wanted, leaves: int, down: int, up: int, reach: int) -> int:
    """Spines of a pod: the fewest to which every leaf has equally many links, at least `up` of them."""
    if leaves > reach:
        most = wanted.leaf_down or _most_down(wanted)
        pod_hosts = reach // wanted.rails * most
        side = f"{reach} ports" if wanted.pods == 1 else f"{reach} of its {wanted.ports} ports"
        words = f"{leaves} leaves in a pod: a spine has {side} for them, and each leaf needs one on every spine"
        if not pod_hosts:
            raise SetupError(f"{words}; {wanted.rails} rails need a leaf each")
        half = wanted.ports // 2 // wanted.rails * most
        pods = -(-wanted.hosts // half) if half else 0
        more = f"; --pods {pods} does it" if 0 < pods <= wanted.ports else ""
        raise SetupError(f"{words}; so a pod holds at most {pod_hosts:,} hosts{more}")
    room = wanted.ports - down
    asked = range(1, up + 1) if wanted.spines is None else (wanted.spines,)
    for spines in asked:
        even = -(-up // spines) * spines
        if even <= room and leaves * even // spines <= reach:
            return spines
    spines = asked[0]
    if spines * reach < leaves * up:
        raise SetupError(
            f"{spines} spines have {spines * reach:,} ports for leaves; {leaves} leaves with {up} uplinks need "
            f"{leaves * up:,}{_instead(wanted)}"
        )
    raise SetupError(
        f"{spines} spines: with equally many links to each a leaf has {-(-up // spines) * spines} uplinks, where {up} do and "
        f"{room} ports are free{_instead(wanted)}"
    )


def _cores(wanted: Wanted, pod_links: int) -> int:
    links = pod_links * wanted.pods
    needed = -(-links // wanted.ports)
    cores = needed if wanted.cores is None else wanted.cores
    if cores < needed:
        raise SetupError(
            f"{cores} cores have {cores * wanted.ports:,} ports; {links:,} links come from the spines: {needed} do it"
        )
    if cores > pod_links and links:
        raise SetupError(f"{cores} cores: a pod has {pod_links} links to them and does not reach each")
    return cores


def _ratio(ratio: Fraction) -> str:
    return f"{ratio.numerator}:{ratio.denominator}"


def arithmetic(found: Design) -> list[str]:
    """The sums behind a design, a line each."""
    wanted, pods = found.wanted, found.wanted.pods
    each = " in each pod" if pods > 1 else ""
    rows = [
        ("hosts", f"{wanted.hosts:,} with {wanted.rails} NICs = {wanted.hosts * wanted.rails:,} host ports at {_speed(wanted)}"),
        ("pods", f"{pods} of up to {found.pod_hosts} hosts" if pods > 1 else f"1 of {wanted.hosts:,} hosts"),
        ("leaf", f"{wanted.ports} ports: {found.leaf_down} to hosts, {found.leaf_up} to spines{_free(wanted, found)}"),
        (
            "leaves",
            f"{wanted.rails} rails x {found.leaves_per_rail} = {found.leaves}{each}"
            + (f", {found.leaves * pods:,} in all" if pods > 1 else ""),
        ),
        (
            "spines",
            f"{found.leaves} leaves x {found.leaf_up} uplinks = {found.leaves * found.leaf_up:,} / {found.spine_down} = "
            f"{found.spines}{each}" + (f", {found.spines * pods:,} in all" if pods > 1 else ""),
        ),
    ]
    if found.cores:
        links = found.tiers["spine-core"]
        rows.append(("cores", f"{found.spines * pods:,} spines x {found.spine_up} = {links:,} / {wanted.ports} = {found.cores}"))
    switches = pods * (found.leaves + found.spines) + found.cores
    used = 2 * found.links - found.tiers["host-leaf"]
    rows += [
        ("switches", f"{switches:,} with {switches * wanted.ports:,} ports, {used:,} of them used"),
        ("links", " + ".join(f"{count:,} {tier}" for tier, count in found.tiers.items()) + f" = {found.links:,}"),
        ("optics", f"2 per link = {2 * found.links:,}, where no copper is used"),
    ]
    return [f"{name:<10}{text}" for name, text in rows]


def _free(wanted: Wanted, found: Design) -> str:
    needed = _up(found.leaf_down, wanted)
    more = found.leaf_up - needed
    extra = f", {more} more than needed, so that each spine gets as many" if more else ""
    return f" ({_ratio(wanted.oversubscription)}{extra})"


def _speed(wanted: Wanted) -> str:
    return f"{wanted.speed / 10**9:g}G"


def links(found: Design) -> Iterator[PlanLink]:
    """Every cable of a design, hosts first. Raises SetupError for names of ports that make no series."""
    wanted = found.wanted
    nic, port = series(wanted.nic_port), series(wanted.switch_port)
    number = 0

    def link(a: PlanEnd, b: PlanEnd, rail: str = "") -> PlanLink:
        nonlocal number
        number += 1
        return PlanLink(a, b, wanted.plane, rail, wanted.speed, label=f"C{number:0{len(str(found.links))}}")

    uplink = 0
    for pod in range(wanted.pods):
        names = _Names(found, pod)
        for host in range(names.hosts):
            at, nth = names.seat(host)
            for rail in range(wanted.rails):
                end = PlanEnd(names.host(host), nic(rail), rack=names.rack(host))
                yield link(end, PlanEnd(names.leaf(rail, at), port(nth)), str(rail))
        each = found.leaf_up // found.spines
        for at in range(found.leaves):
            leaf = names.leaf(*divmod(at, found.leaves_per_rail))
            for up in range(found.leaf_up):
                spine, nth = divmod(up, each)
                yield link(PlanEnd(leaf, port(found.leaf_down + up)), PlanEnd(names.spine(spine), port(at * each + nth)))
        for spine in range(found.spines) if found.cores else ():
            for up in range(found.spine_up):
                core = PlanEnd(_numbered("core-", uplink % found.cores, found.cores), port(uplink // found.cores))
                yield link(PlanEnd(names.spine(spine), port(found.spine_down + up)), core)
                uplink += 1


class _Names:
    """The names of one pod's devices and racks, and how many hosts it has."""

    def __init__(self, found: Design, pod: int) -> None:
        self.found, self.wanted = found, found.wanted
        self.prefix = _numbered("p", pod, found.wanted.pods) + "-" if found.wanted.pods > 1 else ""
        self.hosts = len(range(pod, found.wanted.hosts, found.wanted.pods))

    def seat(self, host: int) -> tuple[int, int]:
        """(leaf of each rail, port of it) of a host: neighbours beside each other, leaves filled evenly."""
        each, more = divmod(self.hosts, self.found.leaves_per_rail)
        if host < more * (each + 1):
            return divmod(host, each + 1)
        at, nth = divmod(host - more * (each + 1), each)
        return more + at, nth

    def host(self, at: int) -> str:
        return _numbered(f"{self.prefix}gpu-", at, max(self.found.pod_hosts, 100))

    def leaf(self, rail: int, at: int) -> str:
        name = f"{self.prefix}leaf-r{rail}"
        return name if self.found.leaves_per_rail == 1 else _numbered(f"{name}-", at, self.found.leaves_per_rail)

    def spine(self, at: int) -> str:
        return _numbered(f"{self.prefix}spine-", at, self.found.spines)

    def rack(self, host: int) -> str:
        per = self.wanted.hosts_per_rack
        return _numbered(f"{self.prefix}R".upper(), host // per, -(-self.found.pod_hosts // per)) if per else ""


def _numbered(stem: str, at: int, of: int) -> str:
    return f"{stem}{at + 1:0{max(2, len(str(of)))}}"


def series(text: str) -> Callable[[int], str]:
    """The nth name, counted from 0, of the series that begins with these names: `swp1`, `Ethernet0,Ethernet8`, `1/1,2/1`.

    One name counts on by its last number. Raises SetupError for what has no number, or several that change.
    """
    names = [name.strip() for name in text.split(",")]
    parts = [re.split(r"(\d+)", name) for name in names]
    if len(names) == 1 and len(parts[0]) > 1:
        at, step = len(parts[0]) - 2, 1
    else:
        changing = [at for at, pair in enumerate(zip(*parts, strict=False)) if len(set(pair)) > 1]
        if len(names) != 2 or len(parts[0]) != len(parts[1]) or len(changing) != 1 or changing[0] % 2 == 0:
            raise SetupError(f"{text!r} begins no series of ports: write it like swp1 or Ethernet0,Ethernet8")
        at = changing[0]
        step = int(parts[1][at]) - int(parts[0][at])
        if step < 1:
            raise SetupError(f"{text!r} does not count up")
    before, first, after = "".join(parts[0][:at]), parts[0][at], "".join(parts[0][at + 1 :])
    width = len(first) if first.startswith("0") else 0
    return lambda nth: f"{before}{int(first) + nth * step:0{width}}{after}"
