"""The priority chain over a whole fleet's links: CPU seconds of the fabric rule, from link facts made here, not collected.

The reference fleet has 10 pods of 128 hosts with 8 NICs, 16 leaves and 16 spines each, and 80 cores: 30,720 compute links. A
larger fleet is more pods and more cores, so that every further link is like those before. Each port has cells of its own, but
for the rows of maps, which the ports of a device share as they do when its job has made them.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import asdict, dataclass

from auditor.address import Address, Layer
from auditor.checks import rules
from auditor.facts import Value
from auditor.lab.fabric import Size, design
from auditor.model import Fact, Hop, HopCell, Judgement, Link, LinkEnd, LinkVerdict, PlanEnd, PlanLink, RuleContext, Verdict
from auditor.plan.fabric import parse_fabric

PODS, CORES = 10, 80
INTENT = "planes: {compute: {classes: [{name: roce, dscp: [26], priority: 3, cnp_dscp: 48}]}}"
RULE = "lossless.priority_chain_broken"
READ = "configured; applied unsupported"
MAPS = {"dscp_map": ("dscp_map", "traffic_class"), "tc_to_pg": ("class_map", "to"), "cnp": ("dscp_map", "traffic_class"),
        "tc_to_queue": ("class_map", "to"), "pfc_to_queue": ("class_map", "to")}  # fmt: skip
PORTS = {
    "trust": ("qos_port", "trust", ("dscp",)), "priority_group": ("priority_group", "lossless", True),
    "headroom": ("priority_group", "headroom_bytes", 61440), "pfc": ("qos_port", "pfc_priorities", (3,)),
    "watchdog": ("queue", "watchdog_enabled", True), "ecn": ("queue", "ecn_enabled", True),
    "host_dscp": ("host_dscp", "priority", 3), "reaction_point": ("host_qos", "ecn_rp", (3,)),
    "notification_point": ("host_qos", "ecn_np", (3,)), "cnp_dscp": ("host_qos", "cnp_dscp", 48),
}  # fmt: skip
SHARED = Address("dscp_map", ("AZURE",))
WAYS = {
    False: {
        "ingress": ("trust", "dscp_map", "tc_to_pg", "priority_group", "headroom", "pfc", "cnp"),
        "egress": ("tc_to_queue", "pfc_to_queue", "pfc", "watchdog", "ecn", "cnp"),
    },
    True: {
        "send": ("trust", "host_dscp", "pfc", "reaction_point"),
        "receive": ("trust", "host_dscp", "pfc", "notification_point", "cnp_dscp"),
    },
}


@dataclass
class Chain:
    """What one size took: CPU seconds of the rule, and what it found, which must be what was broken."""

    pods: int
    links: int
    seconds: float
    failed: int
    passed: int
    words: str


def links(pods: int) -> list[Link]:
    """The links of a fleet. On the first leaf of every pod the DSCP map is wrong; on the last spine one watchdog is missing."""
    size = Size(hosts=128, nics=8, leaves=16, spines=16, pods=pods, cores=CORES * pods // PODS)
    fabric = design(size)
    ends = {name: _Ends(name, name in fabric.hosts) for name in (*fabric.hosts, *fabric.switches)}
    out = []
    for cable in fabric.plan:
        a, b = (ends[end.device].make(end.port) for end in (cable.a, cable.b))
        out.append(Link(a, b, LinkVerdict.PROVEN, PlanLink(PlanEnd(*cable.a), PlanEnd(*cable.b), "compute", cable.rail)))
    return out


class _Ends:
    """The ends of one device: cells of maps made once, those of ports for each."""

    def __init__(self, device: str, host: bool) -> None:
        self.device, self.role, self.ways = device, "gpu_host" if host else "switch", WAYS[host]
        wrong = "dscp_map" if device.endswith("leaf-01") else ""
        self.maps = {
            name: _cell(name, Address(table, (f"{name}:AZURE", "3"), column, Layer.CONFIGURED), 3, name != wrong)
            for name, (table, column) in MAPS.items()
        }
        self.names = [name for name in PORTS if any(name in names for names in self.ways.values())]

    def make(self, port: str) -> LinkEnd:
        wrong = "watchdog" if self.device.endswith("spine-16") and port == "Ethernet0" else ""
        cells = dict(self.maps)
        for name in self.names:
            table, column, value = PORTS[name]
            cells[name] = _cell(name, Address(table, (port, "3"), column, Layer.CONFIGURED), value, name != wrong)
        hops = tuple(Hop("roce", way, tuple([cells[name] for name in names])) for way, names in self.ways.items())
        return LinkEnd(self.device, port, port, self.role, hops=hops)


def _cell(name: str, address: Address, value: Value, ok: bool) -> HopCell:
    fact = Fact(address, value, Layer.CONFIGURED, "sonic", "config_db", "d" * 64)
    return HopCell(name, ok, "as intended" if ok else "wrong", "right", fact, SHARED if name in MAPS else None, READ)


def measure(pods: int) -> Chain:
    """Judge the fleet once, and count."""
    gc.disable()  # nothing here becomes garbage; millions of objects need not be looked through while they are made
    of = links(pods)
    gc.freeze()
    gc.enable()
    context = RuleContext(fabric=parse_fabric(INTENT))
    rule = rules()[RULE]
    started = time.process_time()
    said: list[Judgement] = list(rule.function(of, context))
    seconds = time.process_time() - started
    failed = [judgement for judgement in said if judgement.verdict is Verdict.FAIL]
    words = next((item.deviation.message for item in failed if item.deviation is not None), "")
    passed = sum(judgement.verdict is Verdict.PASS for judgement in said)
    if len(failed) != pods * (128 + 1) or len(failed) + passed != 2 * len(of):
        raise RuntimeError(f"{len(failed)} breaks and {passed} whole ports of {2 * len(of)}: not what was put in")
    return Chain(pods, len(of), seconds, len(failed), passed, words)


if __name__ == "__main__":
    json.dump(asdict(measure(int(sys.argv[1]))), sys.stdout)
