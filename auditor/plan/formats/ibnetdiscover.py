"""`ibnetdiscover` output as a plan: what is plugged today becomes what shall be, so read it before you adopt it.

Names come from node descriptions (`MF0;leaf-1:MQM9700/U1`, `host-1 mlx5_0`). A node that sends the factory's text, or the same
name as another, goes by its GUID (`S-…`, `H-…`), as the tool itself writes it. Aggregation nodes, which sit inside switches, are
no cables; parallel links are. Ports of switches are numbers; an adapter with several ports is written `mlx5_0/2`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from auditor.canonical import printable
from auditor.dialects import ibnet
from auditor.errors import PlanError
from auditor.plan.formats import Imported, ImportedDevice, PlanFormat, decode, write_speed
from auditor.plan.formats.collector import Collector

FACTORY = re.compile(r"Mellanox Technologies|^MT\d{4,5}\b|^(Quantum|ConnectX)")
"""What a node calls itself before anybody named it."""


def sniff(raw: bytes, _name: str) -> bool:
    """Whether a block of a switch or an adapter begins in it."""
    return re.search(rb'^(Switch|Ca|Rt)\s+\d{1,3} "[SHR]-[0-9a-f]{16}"', raw, re.MULTILINE) is not None


def read(raw: bytes, name: str, options: Mapping[str, str]) -> Imported:
    """Every cable between two nodes. An output that was cut is an error: cables would be missing in silence."""
    guids = options.get("guids", "yes")
    if guids not in ("yes", "no"):
        raise PlanError(f"option guids must be yes or no, not {guids!r}")
    fabric = ibnet.discover(decode(raw, name))
    if not fabric.nodes:
        raise PlanError("holds no node of a fabric: this is no output of ibnetdiscover", name)
    out = Collector(name)
    for line, text in fabric.strange:
        if text.startswith("["):
            out.fail(f"is a cable that cannot be read: {printable(text, 60)!r}", line)
        else:
            out.note("is no line of ibnetdiscover, and is left out", line)
    _doubts(out, fabric)
    names = _names(out, fabric)
    inside = fabric.aggregation()
    for cable in fabric.cables():
        if cable.guid in inside or cable.peer_guid in inside or cable.peer_guid not in names:
            continue
        if cable.guid == cable.peer_guid:
            out.note("is a cable from a node to itself, and is left out", cable.line)
        else:
            out.add(_columns(fabric, names, cable, guids == "yes"), cable.line)
    out.note("what is plugged today is taken as the plan: a wrong cable or a slow link in it counts as right")
    return out.result()


def _doubts(out: Collector, fabric: ibnet.Fabric) -> None:
    doubts = ibnet.doubts(fabric)
    lines = {(cable.guid, cable.port): cable.line for cable in fabric.cables()}
    cut = [doubt for doubt in doubts if doubt.cut]
    if cut:
        first = f"{cut[0].guid}[{cut[0].port}]" if cut[0].port else cut[0].guid
        message = f"was cut: {len(cut)} far ends of cables are not in the output, the first {first}; cables would be missing"
        out.fail(message, lines.get((cut[0].by, cut[0].by_port)))
    for doubt in doubts:
        if not doubt.cut:
            other = lines.get((doubt.by, doubt.by_port))
            message = f"contradicts line {other}: the fabric changed while it was read"
            out.fail(message, lines.get((doubt.guid, doubt.port)))


def _names(out: Collector, fabric: ibnet.Fabric) -> dict[str, tuple[str, str]]:
    """(device, adapter) of every node by GUID; the adapter of a switch is empty."""
    inside = fabric.aggregation()
    nodes = {guid: node for guid, node in fabric.nodes.items() if guid not in inside}
    told = {guid: _told(node) for guid, node in nodes.items()}
    often = Counter(told.values())
    for guid, node in nodes.items():
        model = ibnet.switch_name(node.description)[1] if node.kind == "switch" else ""
        device, adapter = told[guid]
        first = node.cables[0].line if node.cables else None
        if not device or often[device, adapter] > 1:
            why = "several nodes have its description" if device else "its description does not say whose it is"
            out.note(f"the node goes by its GUID, since {why} ({node.description!r}); put the device's name in its place", first)
            device = f"{'S' if node.kind == 'switch' else 'H'}-{guid}"
            told[guid] = device, "" if node.kind == "switch" else "1"
        out.device(ImportedDevice(device, hardware_model=model), first)
    return told


def _told(node: ibnet.Node) -> tuple[str, str]:
    if node.kind == "switch":
        name = ibnet.switch_name(node.description)[0]
        return ("" if FACTORY.search(name) else name), ""
    return ibnet.adapter_name(node.description)


def _columns(fabric: ibnet.Fabric, names: Mapping[str, tuple[str, str]], cable: ibnet.Cable, guids: bool) -> dict[str, str]:
    columns = {}
    ends = (("a", cable.guid, cable.port, cable.port_guid), ("b", cable.peer_guid, cable.peer_port, cable.peer_port_guid))
    for side, guid, port, port_guid in ends:
        device, adapter = names[guid]
        node = fabric.nodes[guid]
        columns[f"{side}_device"] = device
        if node.kind == "switch":
            columns[f"{side}_port"] = port
            columns[f"{side}_model"] = ibnet.switch_name(node.description)[1]
        else:
            columns[f"{side}_port"] = adapter if node.ports == 1 else f"{adapter}/{port}"
            columns[f"{side}_id"] = (port_guid or "") if guids else ""
    speed = ibnet.rate(cable.width, cable.speed)
    return columns | ({"speed": write_speed(speed)} if speed else {})


FORMAT = PlanFormat(
    name="ibnetdiscover",
    title="ibnetdiscover output",
    suffixes=(".ibnetdiscover", ".out", ".txt"),
    sniff=sniff,
    read=read,
    note="What an InfiniBand fabric looks like today, as a plan to begin with.",
    options={"guids": "no leaves the GUIDs of ports out (default yes); with them a plan follows the adapter, not its number"},
)
