"""Work orders over a whole fleet's cables: CPU seconds from planned and observed cables to hand movements.

The fleet is that of `bench.chain`. The NICs of every host are wired one further, all of them wrong; between the switches
everything is right. The same once more with the hosts on breakouts, two hosts a port.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from auditor.cabling.repair import Occupancy, repair
from auditor.lab.fabric import Size, design
from auditor.model import Place, PlanEnd, PlanLink
from bench.chain import CORES, PODS

NICS = 8


@dataclass
class Mended:
    """What one size took: CPU seconds with plain cables and with breakouts, and the steps that came out of it."""

    pods: int
    links: int
    wrong: int
    seconds: float
    steps: int
    split_seconds: float
    split_steps: int


def plain(pods: int) -> Iterator[PlanLink]:
    """The planned links of a fleet of this many pods."""
    size = Size(hosts=128, nics=NICS, leaves=16, spines=16, pods=pods, cores=CORES * pods // PODS)
    for cable in design(size).plan:
        yield PlanLink(PlanEnd(*cable.a), PlanEnd(*cable.b), "compute", cable.rail, label=cable.label)


def split(links: Sequence[PlanLink]) -> Iterator[PlanLink]:
    """The same links, with two hosts on one cable: each second host port of a leaf is lane 2 of the one before."""
    odd: dict[str, PlanEnd] = {}
    for link in links:
        if not link.rail:
            yield link
            continue
        before = odd.pop(link.b.device, None)
        if before is None:
            odd[link.b.device] = link.b
        head = before or link.b
        yield PlanLink(
            link.a,
            PlanEnd(link.b.device, link.b.port, lane="1" if before is None else "2"),
            link.plane,
            link.rail,
            label=link.label,
            cable_id=f"{head.device}:{head.port}",
        )


def rotated(links: Sequence[PlanLink]) -> dict[Place, Place]:
    """What is seen where each NIC of a host has the cable of the next."""
    seen = {link.a.place: link.b.place for link in links}
    hosts: dict[str, list[Place]] = {}
    for link in links:
        if link.rail:
            hosts.setdefault(link.a.device, []).append(link.a.place)
    for nics in hosts.values():
        far = [seen[nic] for nic in nics]
        seen.update(zip(nics, far[1:] + far[:1], strict=True))
    return seen | {far: near for near, far in seen.items()}


def measure(pods: int) -> Mended:
    """Mend the fleet with plain cables and with breakouts."""
    links = list(plain(pods))
    wrong = sum(bool(link.rail) for link in links)
    seconds, steps = _timed(links)
    split_seconds, split_steps = _timed(list(split(links)))
    hosts = wrong // NICS
    if steps != hosts * (NICS + 1) or split_steps != hosts // 2 * (NICS + 1):
        raise RuntimeError(f"{steps} steps with plain cables, {split_steps} with breakouts: not what was put in")
    return Mended(pods, len(links), wrong, seconds, steps, split_seconds, split_steps)


def _timed(links: Sequence[PlanLink]) -> tuple[float, int]:
    seen = rotated(links)
    gc.collect()
    gc.freeze()  # what was made for the measurement is not part of it
    started = time.process_time()
    found = repair(links, seen, lambda _: Occupancy.UNKNOWN, lambda device: device)
    return time.process_time() - started, sum(len(component.moves) for component in found)


if __name__ == "__main__":
    json.dump(asdict(measure(int(sys.argv[1]))), sys.stdout)
