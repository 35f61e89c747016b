"""Rail rules: GPU, nearest NIC, rail and leaf belong together in the same way on every host."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditor.address import Address
from auditor.canonical import natural
from auditor.facts import NcclTopology
from auditor.model import (
    Deviation,
    Fact,
    Judgement,
    Link,
    LinkEnd,
    RuleContext,
    RuleKind,
    Severity,
    Spot,
    check,
    failed,
    is_host,
    passed,
)

LEAST = 3
"""Hosts of one model that must show the same before another one is called odd: two against one is the least majority."""

MOST = 0.6
"""Share of the hosts that must agree: at a lower one, nobody knows what is usual."""

Rails = tuple[str, ...]


@dataclass(slots=True)
class _Host:
    """What one host shows. By GPU: the rails of its nearest NICs, their names, and the cells that say so."""

    model: str = ""
    rails: dict[str, Rails] = field(default_factory=dict)
    nics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cells: dict[str, Spot] = field(default_factory=dict)


@check(
    reads=("nccl_path.nearest", "rdma_port.netdev", "system.hardware_model"),
    optional=("neighbour.system",),
    severity=Severity.ERROR,
    kind=RuleKind.FABRIC,
    every_link=True,
    remedy="If another NIC became the nearest one: compare BIOS version and settings (PCIe bifurcation, NUMA per socket) and the "
    "slots with a host that is right. If a GPU is missing: look at the kernel's log for its slot. If the NIC is the same and its "
    "rail is not: compare the plan's rows of this host.",
)
def gpu_nic_rail_broken(links: Sequence[Link], context: RuleContext) -> Iterator[Judgement]:  # noqa: ARG001 (the form)
    """GPU i, the NIC nearest to it and that NIC's planned rail go together in the same way on every host of one model.

    Compared are hosts of one hardware model, at least three of which agree; which rail GPU i has is a matter of the machine.
    The finding names the layer that broke: the PCIe tree (another NIC is the nearest one now), a lost GPU (those behind it count
    lower) or the order of the NICs (the same NIC, planned for another rail). Where a cable leads to another rail's leaf,
    `cabling.wrong_peer` says it.

    Why it matters: NCCL sends from GPU i by its nearest NIC and expects GPU i of the next host behind the same leaf. One host
    with two of them exchanged sends half its traffic through the spines, and every collective waits for it.
    """
    hosts = _hosts(links)
    for model in sorted({host.model for host in hosts.values() if host.model}):
        alike = {name: host for name, host in sorted(hosts.items()) if host.model == model}
        usual = _usual([host.rails for host in alike.values()])
        if not usual:
            continue
        nics = _usual([host.nics for host in alike.values()])
        for name, host in alike.items():
            wrong = [gpu for gpu in sorted(usual, key=natural) if gpu in host.rails and host.rails[gpu] != usual[gpu]]
            object_ = Spot(name, Address(NcclTopology.TABLE, ()))
            if not wrong:
                yield passed(object_)
            elif without := _without(host.rails, usual):
                yield failed(object_, _slipped(name, host, wrong, without, usual, nics))
            else:
                yield failed(object_, _deviation(name, host, wrong, usual, nics, len(alike)))


def _hosts(links: Sequence[Link]) -> Mapping[str, _Host]:
    found: defaultdict[str, _Host] = defaultdict(_Host)
    near: defaultdict[tuple[str, str], list[tuple[str, str, Fact]]] = defaultdict(list)
    for link in links:
        for end in link.ends:
            if link.plan is not None and link.plan.rail and is_host(end.role):
                found[end.device].model = _model(end)
                for fact in end.gpus:
                    near[end.device, fact.address.key[0]].append((link.plan.rail, fact.address.key[1], fact))
    for (device, gpu), seen in near.items():
        seen.sort(key=lambda item: (natural(item[0]), natural(item[1])))
        host = found[device]
        host.rails[gpu] = tuple(dict.fromkeys(rail for rail, _, _ in seen))
        host.nics[gpu] = tuple(dict.fromkeys(nic for _, nic, _ in seen))
        host.cells[gpu] = Spot(device, replace(seen[0][2].address, layer=seen[0][2].layer))
    return found


def _model(end: LinkEnd) -> str:
    value = end.fact("system.hardware_model").value
    return value if isinstance(value, str) else ""


def _usual(shown: Sequence[Mapping[str, Rails]]) -> dict[str, Rails]:
    """By GPU what most hosts show, where enough of them agree."""
    counts: defaultdict[str, Counter[Rails]] = defaultdict(Counter)
    for host in shown:
        for gpu, rails in host.items():
            counts[gpu][rails] += 1
    out = {}
    for gpu, seen in counts.items():
        (rails, count), *_ = seen.most_common(1)
        if count >= LEAST and count >= MOST * sum(seen.values()):
            out[gpu] = rails
    return out


def _without(rails: Mapping[str, Rails], usual: Mapping[str, Rails]) -> list[str]:
    """GPUs that are not there, if all others are in their order and only count lower; else none."""
    here = [rails[gpu] for gpu in sorted(rails, key=natural)]
    missing = []
    for gpu in sorted(usual, key=natural):
        if here and here[0] == usual[gpu]:
            here.pop(0)
        else:
            missing.append(gpu)
    return [] if here else missing


def _slipped(
    name: str, host: _Host, wrong: Sequence[str], without: Sequence[str], usual: Mapping[str, Rails], nics: Mapping[str, Rails]
) -> Deviation:
    alone = ", ".join(f"{' and '.join(nics.get(gpu, ()))} (rail {', '.join(usual[gpu])})".strip() for gpu in without)
    return Deviation(
        expected=f"{len(usual)} GPUs",
        observed=f"{len(host.rails)} GPUs",
        message=f"{name}: {len(host.rails)} GPUs instead of {len(usual)}: none is nearest to {alone}; those behind count lower",
        spots=tuple(host.cells[gpu] for gpu in wrong[:1]),
    )


def _deviation(
    name: str, host: _Host, wrong: Sequence[str], usual: Mapping[str, Rails], nics: Mapping[str, Rails], number: int
) -> Deviation:
    said, layers = [], set()
    for gpu in wrong:
        here, there = " and ".join(host.nics[gpu]), " and ".join(nics.get(gpu, ()))
        rails = f"rail {', '.join(host.rails[gpu])} instead of {', '.join(usual[gpu])}"
        if there and here != there:
            layers.add("PCIe or BIOS")
            said.append(f"GPU {gpu} is nearest to {here} instead of {there}, hence on {rails}")
        else:
            layers.add("the order of NICs in the plan")
            said.append(f"GPU {gpu} is nearest to {here} as elsewhere, and that NIC is planned for {rails}")
    return Deviation(
        expected="; ".join(f"GPU {gpu} on rail {', '.join(usual[gpu])}" for gpu in wrong),
        observed="; ".join(f"GPU {gpu} on rail {', '.join(host.rails[gpu])}" for gpu in wrong),
        message=f"{name}: {'; '.join(said)}; what broke is {' and '.join(sorted(layers))} "
        f"({number} hosts of the model {host.model} were compared)",
        spots=tuple(host.cells[gpu] for gpu in wrong[:3]),
    )
