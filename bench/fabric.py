"""All link, fabric and peer rules over a whole fleet: CPU seconds and memory, from link and peer facts made here.

The fleet is that of `bench.chain`, with its chain and its faults: 30,720 links of 1,680 devices, and 80 out-of-band switches
that only have peers. Every end holds each fact that device jobs emit. Beside that one uplink of every pod has no jumbo frames,
one is missing, two leaves are joined by a jumper, and one host has an environment of its own.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache

from auditor.address import Address, Layer
from auditor.checks import rules
from auditor.evaluate import links as engine
from auditor.evaluate.ends import columns
from auditor.evaluate.peers import Census
from auditor.facts import Value
from auditor.model import (
    ABSENT,
    Device,
    DeviceOutcome,
    Fact,
    Link,
    LinkEnd,
    LinkVerdict,
    NeighbourSeen,
    PeerFact,
    PeerGroup,
    Plan,
    RuleKind,
    Verdict,
)
from auditor.plan.fabric import parse_fabric
from auditor.plan.tiers import tiers
from bench import chain

INTENT = "planes: {compute: {rdma_mtu: 4096, classes: [{name: roce, dscp: [26], priority: 3, cnp_dscp: 48}]}}"
SPEED = 400_000_000_000
VALUES: dict[str, Value] = {
    "interface.up": True, "interface.enabled": True, "interface.mtu": 9100, "interface.mtu_shown": "9100",
    "interface.speed": SPEED, "interface.fec": "rs", "optic.type": "400GBASE-DR4", "optic.present": True,
    "qos_port.pfc_priorities": (3,), "rdma_port.link_layer": "ethernet",
}  # fmt: skip
"""What every port says; of the other facts that a job emits for it, that there are none."""
AT = datetime(2026, 3, 2, 2, 0, tzinfo=UTC)
OUT_OF_BAND = 8
"""Out-of-band switches of a pod."""
ATTRIBUTES = 230
"""Attributes that each device tells its peers; hosts and leaves of the lab tell between 210 and 250."""


ENVIRONMENT, ENVIRONMENT_DIFFERS = "nccl_env.value", "nccl.env_differs"
DIGEST = "d" * 64
EMITTED = {host: columns(host=host) for host in (True, False)}
PUT_IN = {
    "fabric.oversubscribed": 1, "fabric.same_tier_link": 1, "fabric.uplinks_asymmetric": 1, "mtu.link_ends_differ": 1,
    "mtu.path_too_small": 1, chain.RULE: 128 + 1,
}  # fmt: skip
"""Findings in each pod."""
ONCE = ("fabric.pfc_deadlock_possible", ENVIRONMENT_DIFFERS)
"""Rules with one finding in all: the jumpers of all pods are in one circle, over the cores, and the odd hosts in one group."""


@dataclass
class Rules:
    """What one size took: CPU seconds of link and fabric rules, and of peer rules; peak memory in MB, and how much of it
    the facts took before anything was judged. `findings` by rule are what was put in."""

    pods: int
    devices: int
    links: int
    link_seconds: float
    peer_seconds: float
    megabytes: float
    facts_megabytes: float
    findings: dict[str, int]

    @property
    def seconds(self) -> float:
        """CPU seconds of all rules."""
        return self.link_seconds + self.peer_seconds


def fleet(pods: int) -> tuple[list[Link], list[Link]]:
    """The planned links, and those that no plan has."""
    planned: list[Link] = []
    seen: Counter[str] = Counter()
    for link in chain.links(pods):
        assert link.plan is not None
        first = "spine" in link.b.device and not seen[link.a.device]
        seen[link.a.device] += "spine" in link.b.device
        small = first and link.a.device.endswith("leaf-02")
        lost = first and link.a.device.endswith("leaf-03")
        planned.append(
            replace(
                link,
                a=_end(link.a, link.b, mtu=1500 if small else 9100),
                b=_end(link.b, link.a),
                verdict=LinkVerdict.MISSING if lost else link.verdict,
                plan=replace(link.plan, speed=SPEED),
            )
        )
    beside = []
    for pod in sorted({link.a.device.partition("-")[0] for link in planned} - {"core"}):
        a, b = (LinkEnd(f"{pod}-leaf-0{at}", "Ethernet512", "Ethernet512", "switch") for at in (4, 5))
        beside.append(Link(_end(a, b), _end(b, a), LinkVerdict.UNPLANNED))
    return planned, beside


def _end(end: LinkEnd, far: LinkEnd, mtu: int = 9100) -> LinkEnd:
    names = EMITTED[end.role == "gpu_host"]
    facts = {name: _own(end.device, name) if name.startswith("system.") else _fact(end.port, name) for name in names}
    facts["interface.mtu"] = _fact(end.port, "interface.mtu", mtu)
    seen = NeighbourSeen(far.device, far.port, fact=_fact(end.port, "neighbour.system", far.device))
    return replace(end, facts=facts, neighbours=(seen,))


@cache
def _own(device: str, name: str) -> Fact:
    """A fact of a device as a whole, which its ports share as they do when its job has made them."""
    table, _, column = name.partition(".")
    value = device if column == "hostname" else f"the usual {column}"
    return Fact(Address(table, (), column), value, Layer.APPLIED, "sonic", "appl_db", DIGEST)


def _fact(port: str, name: str, value: Value | None = None) -> Fact:
    table, _, column = name.partition(".")
    told = VALUES.get(name, ABSENT) if value is None else value
    return Fact(Address(table, (port,), column), told, Layer.APPLIED, "sonic", "appl_db", DIGEST)


def outcomes(devices: Sequence[Device]) -> Iterator[DeviceOutcome]:
    """What every device says to its peers; the first host of each pod has an environment of its own."""
    compared = sorted({column for rule in rules().values() if rule.kind is RuleKind.PEER for column in rule.reads})
    for device in devices:
        group = PeerGroup("role", device.role, device.hardware_model)
        told = []
        for at in range(ATTRIBUTES):
            table, _, column = (name := compared[at % len(compared)]).partition(".")
            value = "odd" if name == ENVIRONMENT and at < len(compared) and device.name.endswith("-gpu-01") else "usual"
            cell = Fact(Address(table, (str(at),), column), value, Layer.APPLIED, "linux", "source", DIGEST)
            told.append(PeerFact(group, f"{table}[{at}].{column}", name, value, (cell,)))
        yield DeviceOutcome(device.name, AT, hardware_model=device.hardware_model, peers=tuple(told))


def measure(pods: int) -> Rules:
    """Judge the fleet once, and count."""
    gc.disable()  # nothing here becomes garbage; millions of objects need not be looked through while they are made
    planned, beside = fleet(pods)
    names = sorted({end.device for link in planned for end in link.ends})
    devices = [_device(name) for name in (*names, *(f"oob-{at}" for at in range(OUT_OF_BAND * pods)))]
    said = list(outcomes(devices))
    plan = Plan("plan", tuple(link.plan for link in planned if link.plan is not None))
    fabric = parse_fabric(INTENT)
    gc.freeze()
    gc.enable()
    before = _megabytes()
    started = time.process_time()
    shape = tiers(plan, {device.name: device for device in devices})
    judged = engine.judge(planned, fabric, {}, frozenset(names), tiers=shape, unplanned=beside)
    between = time.process_time()
    census = Census()
    for outcome in said:
        census.add(outcome)
    compared = census.judge(devices, judged.findings)
    ended = time.process_time()
    found = Counter(finding.rule for finding in (*judged.findings, *compared.findings))
    crashed = [result.rule for result in (*judged.results, *compared.results) if result.verdict is Verdict.ERROR]
    if crashed or found != {**{rule: each * pods for rule, each in PUT_IN.items()}, **dict.fromkeys(ONCE, 1)}:
        raise RuntimeError(f"{dict(found)}, crashed: {crashed}: not what was put in")
    return Rules(pods, len(devices), len(planned), between - started, ended - between, _megabytes(), before, dict(found))


def _device(name: str) -> Device:
    kind = name.rpartition("-")[0].rpartition("-")[2]
    host = kind == "gpu"
    return Device(name, ("linux" if host else "sonic",), role="gpu_host" if host else kind, hardware_model=f"model-{kind}")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    json.dump(asdict(measure(int(sys.argv[1]))), sys.stdout)
