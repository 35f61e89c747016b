"""Reads what `ibnetdiscover` prints of an InfiniBand fabric: nodes, their ports with a cable, and what lies across it.

A block per node, in which only ports with a living far end have a line, so that every cable stands twice, once at each end:

    vendid=0x2c9
    devid=0xd2f2
    sysimgguid=0xfc6a1c0300c40100
    switchguid=0xfc6a1c0300c40100(fc6a1c0300c40100)
    Switch  65 "S-fc6a1c0300c40100"         # "MF0;lf-1:MQM9700/U1" enhanced port 0 lid 2 lmc 0
    [1]     "H-b83fd2030042a000"[1](b83fd2030042a001)               # "node-7 mlx5_0" lid 12 4xNDR

Identity is the GUID. Names stand in comments and are whatever the node sends: quotes, slashes and brackets in them are
theirs. A node-name map of the host that ran the command renames nodes in the lines of their peers, and switches in their own
block too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from auditor.canonical import INFINIBAND_LANES

AGGREGATION = "Aggregation Node"
"""In the description of the collective engine (SHARP) that a switch holds and shows as a channel adapter on a port of its own."""
AGGREGATION_DEVICE = 0xCF09

_KINDS = {"Switch": "switch", "Ca": "ca", "Rt": "router"}
_EXT = r"(?:\[ext \d+\])?"
_IDS = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=0x([0-9a-f]{1,16})(?:\([0-9a-f]{1,16}\))?(?:\s*#.*)?\s*")
_HEAD = re.compile(
    r'(Switch|Ca|Rt)\s+(\d{1,3}) "[SHR]-([0-9a-f]{16})"\s+# "(.*)"'
    r"(?: (?:enhanced|base) port 0 lid (\d{1,5}) lmc \d{1,3})?(?: \(scp\))?\s*"
)
_LINK = re.compile(
    rf'\[(\d{{1,3}})\]{_EXT}(?:\(([0-9a-f]{{1,16}})\))?\s+"([SHR])-([0-9a-f]{{16}})"\[(\d{{1,3}})\]{_EXT}'
    r'(?: ?\(([0-9a-f]{1,16})\))?\s+# (?:lid (\d{1,5}) lmc \d{1,3} )?"(.*)" lid (\d{1,5})'
    r"(?: (?:(\d{1,2})x|\?\?)([A-Z0-9]{1,6}|\?\?\?))?(?: s=\d+ w=\d+ v=\d+)?(?: slot \d+| \(scp\))?\s*"
)
_SILENT = re.compile(r"\s*(?:#.*)?|Chassis \d+.*|Non-Chassis Nodes|Hostname: .*")
_FROM = re.compile(r"# Initiated from node ([0-9a-f]{16})\b")


class Cable(NamedTuple):
    """One line of a block: what one port sees. `lid` of the port itself stands at channel adapters only; `width` and `speed`
    are None where the tool does not know them or does not print them. GUIDs are 16 hex digits."""

    guid: str
    port: str
    port_guid: str | None
    lid: int | None
    width: int | None
    speed: str | None
    peer_switch: bool
    peer_guid: str
    peer_port: str
    peer_port_guid: str | None
    peer_description: str
    line: int


@dataclass(slots=True)
class Node:
    """One node. `kind` is switch, ca or router; `ports` counts all it has; `lid` stands at switches only."""

    guid: str
    kind: str
    description: str
    ports: int
    device_id: int | None = None
    system_guid: str | None = None
    lid: int | None = None
    cables: list[Cable] = field(default_factory=list)


@dataclass(slots=True)
class Fabric:
    """A whole answer. `origin` is the node that the walk began at, `strange` are lines that belong nowhere: number and text."""

    origin: str | None = None
    nodes: dict[str, Node] = field(default_factory=dict)
    strange: list[tuple[int, str]] = field(default_factory=list)

    def cables(self) -> Iterator[Cable]:
        """Every line of every block: each cable once from each end."""
        for node in self.nodes.values():
            yield from node.cables

    def aggregation(self) -> frozenset[str]:
        """GUIDs of aggregation nodes: adapters inside a switch, which carry its system GUID; and, as far as that cannot be
        seen, those that say so."""
        boxes = {node.system_guid for node in self.nodes.values() if node.kind == "switch" and node.system_guid}
        found = {
            node.guid
            for node in self.nodes.values()
            if node.kind == "ca"
            and (node.device_id == AGGREGATION_DEVICE or node.system_guid in boxes or AGGREGATION in node.description)
        }
        found.update(
            cable.peer_guid
            for cable in self.cables()
            if not cable.peer_switch and AGGREGATION in cable.peer_description and cable.peer_guid not in self.nodes
        )
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that the two ends of a cable do not agree on.

    `guid` and `port`: the end that cannot be trusted, port empty for a node without a block. `by` and `by_port`: who says so.
    `cut`: a block or a line is missing, so the answer was cut; else two lines contradict each other.
    """

    guid: str
    port: str
    by: str
    by_port: str
    cut: bool


def discover(text: str) -> Fabric:
    """Everything in the output. Nothing is left out in silence: what fits no form is in `strange`."""
    fabric = Fabric()
    ids: dict[str, str] = {}
    node: Node | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("["):
            found = _LINK.fullmatch(line)
            if found is None or node is None:
                fabric.strange.append((number, line))
            else:
                node.cables.append(_cable(node.guid, found, number))
            continue
        head = _HEAD.fullmatch(line) if line.startswith(("Switch", "Ca", "Rt")) else None
        if head is not None:
            node = _node(fabric, head, ids)
            ids = {}
            continue
        known = _IDS.fullmatch(line)
        if known is not None:
            node = None
            if known.group(1) == "vendid":
                ids = {}
            ids[known.group(1)] = known.group(2)
        elif origin := _FROM.match(line):
            fabric.origin = origin.group(1)
        elif not _SILENT.fullmatch(line):
            fabric.strange.append((number, line))
    if ids:
        fabric.strange.append((len(text.splitlines()), "a block stops before the line of its node"))
    return fabric


def _node(fabric: Fabric, head: re.Match[str], ids: Mapping[str, str]) -> Node:
    kind, ports, guid, description, lid = head.groups()
    device, system = ids.get("devid"), ids.get("sysimgguid")
    node = Node(
        guid, _KINDS[kind], description.strip(), int(ports),
        None if device is None else int(device, 16), None if system is None else system.zfill(16),
        None if lid is None else int(lid),
    )  # fmt: skip
    return fabric.nodes.setdefault(guid, node)


def _cable(guid: str, found: re.Match[str], number: int) -> Cable:
    port, port_guid, kind, peer, peer_port, peer_port_guid, lid, description, _, width, speed = found.groups()
    return Cable(
        guid,
        port,
        None if port_guid is None else port_guid.zfill(16),
        None if lid is None else int(lid),
        None if width is None else int(width),
        None if speed == "???" else speed,
        kind == "S",
        peer,
        peer_port,
        None if peer_port_guid is None else peer_port_guid.zfill(16),
        description.strip(),
        number,
    )


def doubts(fabric: Fabric) -> list[Doubt]:
    """Where the ends of cables disagree, and the node that the walk began at where it has no block.

    Each cable stands twice and the walk begins at a node of the fabric, so an answer that was cut anywhere shows here, unless
    nothing but adapters without any cable were lost.
    """
    found: dict[tuple[str, str], Doubt] = {}
    by_end: dict[tuple[str, str], Cable] = {(cable.guid, cable.port): cable for cable in fabric.cables()}
    if fabric.origin is not None and fabric.origin not in fabric.nodes:
        found[fabric.origin, ""] = Doubt(fabric.origin, "", "", "", cut=True)
    for (guid, port), cable in by_end.items():
        back = by_end.get((cable.peer_guid, cable.peer_port))
        if back is not None and (back.peer_guid, back.peer_port) == (guid, port):
            continue
        if cable.peer_guid not in fabric.nodes:
            found.setdefault((cable.peer_guid, ""), Doubt(cable.peer_guid, "", guid, port, cut=True))
        elif back is None:
            end = (cable.peer_guid, cable.peer_port)
            found.setdefault(end, Doubt(*end, guid, port, cut=True))
        else:
            found.setdefault((guid, port), Doubt(guid, port, cable.peer_guid, cable.peer_port, cut=False))
    return list(found.values())


def rate(width: int | None, speed: str | None) -> int | None:
    """Bits per second of so many lanes of a generation; None where one of them is not known."""
    lane = INFINIBAND_LANES.get(speed or "")
    return None if width is None or lane is None else width * lane


def switch_name(description: str) -> tuple[str, str]:
    """Name and model from the description of a managed switch (`MF0;lf-1:MQM9700/U1`); of others the whole text and ""."""
    found = re.fullmatch(r"[A-Z]{2}\d;(.+):([^:/]+)/U\d+", description.strip())
    return (description.strip(), "") if found is None else (found.group(1), found.group(2))


def adapter_name(description: str) -> tuple[str, str]:
    """Host and adapter from the description that a host's service sets (`node-7 mlx5_0`, `node-7 HCA-1`); ("", "") of any
    other text, as adapters send before that service ran (`MT4129 ConnectX7   Mellanox Technologies`).

    `HCA-1` counts from 1 in the order in which the adapters were found, `mlx5_0` from 0.
    """
    found = re.fullmatch(r"(\S+) (HCA-\d{1,3}|[a-z]\w*_\w+)", description.strip())
    return ("", "") if found is None else (found.group(1), found.group(2))
