"""What another finding explains: a fault of one cable, or inside one host, shows in several rules and is one cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from auditor.address import Address
from auditor.baseline.operators import shown
from auditor.model import ABSENT, Finding

CABLING = "cabling"
"""The kind of root of findings that a cabling cause explains; its text is the cause's key."""

NEAREST = "rail.gpu_nic_rail_broken"
TOPOLOGY = ("nccl.topology_outlier", "nccl.topology_changed", NEAREST)
"""Rules that see the same fault inside a host: which NIC is near which GPU, and what hangs where."""

INSIDE = ("host.device_missing", "host.nic_renamed", "host.numa_mismatch")
"""Rules that name the fault itself where `TOPOLOGY` sees what follows from it."""

WIDTH = "host.pcie_degraded"
"""A narrow link: a topology that was dumped shows its width too, while the nearest NICs stay what they are."""

PEERS = "fabric.inconsistent"
"""The comparison of values that no rule judges."""

STRAYS = ("cabling.wrong_peer", "fabric.pfc_deadlock_possible", "fabric.plane_leak", "fabric.same_tier_link", "cabling.unplanned")
"""Rules that see one stray cable: a planned one in the wrong place first (its cause has the hand movements), then the worst."""

LOST = ("cabling.missing", "cabling.degraded", "cabling.wrong_peer")
UPLINKS = ("fabric.oversubscribed", "fabric.uplinks_asymmetric")
"""Rules about cables that are not as planned, and those that see what follows for a whole switch."""

SPEEDS = "fabric.speed_differs"
"""Two ends that say different speeds, one of which is slower than planned."""

PLACES = ("pci.numa_node",)
RATES = ("interface.speed", "rdma_port.rate", "ib_port.rate", "ib_port.width")
"""Columns that tell where a card hangs, and how fast a cable runs."""

Group = tuple[str, str]
"""Concern and root: what findings of one cause have in common."""


def concern(finding: Finding) -> Group:
    """The group of a finding that nothing else explains. Inside a host, all that topology and rails show is one concern."""
    if finding.root[0] == CABLING:
        return CABLING, finding.root[1]
    if finding.rule in TOPOLOGY:
        return "topology", finding.devices[0] if len(finding.devices) == 1 else finding.root[1]
    return finding.family, finding.root[1]


def explained(findings: Sequence[Finding]) -> Mapping[str, Group]:
    """The groups of findings that follow from another one, by fingerprint."""
    found = {**_by_places(findings), **_by_cables(findings), **_by_strays(findings), **_by_uplinks(findings)}
    own = {finding.fingerprint: concern(finding) for finding in findings}
    return {fingerprint: group for fingerprint, group in found.items() if group != own[fingerprint]}


def _by_places(findings: Sequence[Finding]) -> dict[str, Group]:
    """Inside a host, a lost device, a strange NUMA node or a narrow link goes before what topology and rails make of it."""
    inside: dict[str, Group] = {}
    for finding in sorted(findings, key=lambda finding: len(finding.devices)):
        if finding.rule in TOPOLOGY:
            inside.update(dict.fromkeys(finding.devices, concern(finding)))
    moved = {device for finding in findings if finding.rule == NEAREST for device in finding.devices}
    for finding in sorted(findings, key=lambda finding: (finding.rule in INSIDE, finding.fingerprint)):
        device = finding.devices[0] if finding.devices else ""
        if device in inside and (finding.rule in INSIDE or (finding.rule == WIDTH and device not in moved)):
            inside[device] = concern(finding)
    out = {}
    for finding in findings:
        groups = {inside.get(device) for device in finding.devices}
        group = groups.pop() if len(groups) == 1 else None
        if group is not None and (finding.rule in TOPOLOGY or _compares(finding, PLACES)):
            out[finding.fingerprint] = group
    return out


def _by_cables(findings: Sequence[Finding]) -> dict[str, Group]:
    """Of a cable that is not there, what its ports do not show; of one that is slow, that their rates are odd or differ."""
    slow: dict[str, Group] = {}
    links: dict[str, Group] = {}
    gone: dict[str, Group] = {}
    lost: dict[str, list[Group]] = defaultdict(list)
    for finding in findings:
        if finding.rule == "cabling.degraded":
            slow.update(dict.fromkeys(finding.devices, concern(finding)))
            links[finding.object] = concern(finding)
        elif finding.rule == "cabling.missing":
            for end in finding.object.removeprefix("link[").removesuffix("]").split("|"):
                device, _, port = end.partition(":")
                gone[f"{device}:{Address('interface', (port,))}"] = concern(finding)
                lost[device].append(concern(finding))
    nothing = [finding for finding in findings if finding.observed == shown(ABSENT) and len(finding.devices) == 1]
    alike = Counter((finding.rule, finding.devices) for finding in nothing)
    out = {}
    for finding in nothing:
        group = gone.get(finding.root[1])
        cables = lost.get(finding.devices[0], [])
        if group is None and finding.root[0] == "device" and alike[finding.rule, finding.devices] <= len(cables):
            group = min(cables)
        if group is not None:
            out[finding.fingerprint] = group
    for finding in findings:
        if _compares(finding, RATES) and finding.devices and all(device in slow for device in finding.devices):
            out[finding.fingerprint] = slow[finding.devices[0]]
        if finding.rule == SPEEDS and finding.object in links:
            out[finding.fingerprint] = links[finding.object]
    return out


def _by_strays(findings: Sequence[Finding]) -> dict[str, Group]:
    """Of a cable in the wrong place, all that it does there; of one that closes a circle or joins what must stay apart, that it
    is inside a tier, and that no plan has it."""
    out: dict[str, Group] = {}
    known: dict[tuple[str, str], Group] = {}
    for rule in STRAYS:
        for finding in findings:
            if finding.rule == rule:
                places = _places(finding)
                group = None
                if rule != STRAYS[0]:
                    group = next((known[place] for place in sorted(places) if place in known), None)
                if group is not None:
                    out[finding.fingerprint] = group
                known.update({place: group or concern(finding) for place in places if place not in known})
    return out


def _by_uplinks(findings: Sequence[Finding]) -> dict[str, Group]:
    """Of cables that are lost or slow, that the switch below them has too little bandwidth upwards."""
    lost: dict[tuple[str, str], Group] = {}
    for finding in findings:
        if finding.rule in LOST:
            lost.update(dict.fromkeys(_places(finding), concern(finding)))
    out = {}
    for finding in findings:
        if finding.rule in UPLINKS:
            groups = [lost[place] for place in sorted(_places(finding)) if place in lost]
            if groups:
                out[finding.fingerprint] = Counter(groups).most_common(1)[0][0]
    return out


def _places(finding: Finding) -> set[tuple[str, str]]:
    """The ports that a finding speaks of: those of its cells, and the ends of its link."""
    places = {(spot.device, spot.address.key[0]) for spot in finding.spots if spot.address.key}
    if finding.object.startswith("link["):
        for end in finding.object.removeprefix("link[").removesuffix("]").split("|"):
            device, _, port = end.partition(":")
            places.add((device, port))
    return places


def _compares(finding: Finding, columns: Iterable[str]) -> bool:
    """Whether a finding says that such a value is unlike that of its peers."""
    seen = {f"{spot.address.table}.{spot.address.column}" for spot in finding.spots}
    return finding.rule == PEERS and bool(seen) and seen <= set(columns)
