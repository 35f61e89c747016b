"""A host that sees an InfiniBand fabric: the fabric manager, or any other with `infiniband-diags` and an adapter on it.

Traps, each met in a capture or in the tools' source (infiniband-diags of rdma-core):

- Identity is the GUID. A description is text that the node sends; before the host's service set it, it is the factory's, and
  a node-name map on this host may replace it.
- A port without a living far end has no line in `ibnetdiscover`, and an adapter that is plugged nowhere has no block.
  `iblinkinfo` lists those ports of switches as Down; a far end that did not answer is `"Port not available"` there, and
  nothing at all in `ibnetdiscover`: that port is not empty.
- What a down port says of width and speed are placeholders. `4x ???` is a generation that the tool is too old for.
- The last port of a switch (41, 65, 81) leads to the collective engine inside it (SHARP), which shows as an adapter called
  `Aggregation Node` with the system GUID of the switch. It has no cable, so neither it nor that port is a row.
- `iblinkinfo` and `ibnetdiscover -p` print GUIDs of ports. A switch has one for all of its ports, its own; an adapter has one
  per port, from which its own does not follow. So they give rows of switches only; who is across is named by `peer_port_guid`.
- A host may hang in several fabrics, so each adapter with an active InfiniBand port is asked for its own (`-C`). GUIDs are
  the same nowhere else, so the rows of all stand in one table; adapters in the same fabric tell the same twice. Of an adapter
  with two ports in two fabrics only the first active one is asked. Which plane hangs on which adapter stands in
  `fabrics` of `fabric.yaml`.
- The walk sends management datagrams, which need root, and takes a second per thousand nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from auditor.address import Layer
from auditor.canonical import INFINIBAND_LANES, guid, printable
from auditor.dialects import iblinkinfo as links
from auditor.dialects import ibnet, ibstat
from auditor.facts import IbNode, IbPort, RdmaPort
from auditor.model import Failure, Fill, GapReason, Normalised, Parameter, Parser, Platform, Privilege, Source, Unread

_PEER = ("peer_guid", "peer_port", "peer_port_guid", "peer_description")
_LANES = ("width", "speed", "rate")
_STATES = {"Active": "active", "Armed": "armed", "Initializing": "init", "Down": "down"}


def ibnetdiscover(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Nodes, and every port with a cable, once from each end; what the ends do not agree on is not read."""
    fabric = ibnet.discover(body)
    inside = fabric.aggregation()
    doubts = ibnet.doubts(fabric)
    contradicted = {(doubt.guid, doubt.port): doubt for doubt in doubts if not doubt.cut}
    for node in fabric.nodes.values():
        if node.guid in inside:
            continue
        yield IbNode(
            guid=node.guid, kind=node.kind, description=node.description, device_id=node.device_id,
            system_guid=node.system_guid, ports=node.ports,
        )  # fmt: skip
        for cable in node.cables:
            if cable.peer_guid in inside:
                continue
            if not 0 < int(cable.port) <= node.ports:
                yield Unread(IbPort, (node.guid, cable.port), detail=f"line {cable.line}: a node of {node.ports} ports")
                continue
            yield from _cable(node, cable, contradicted.get((node.guid, cable.port)))
    yield from _lost(doubts, inside)
    yield from _strange(fabric.strange)


def _cable(node: ibnet.Node, cable: ibnet.Cable, doubt: ibnet.Doubt | None) -> Iterator[Normalised]:
    key = (node.guid, cable.port)
    speed = cable.speed if cable.speed in INFINIBAND_LANES else None
    trusted = doubt is None
    yield IbPort(
        guid=node.guid,
        port=cable.port,
        port_guid=cable.port_guid,
        lid=node.lid if cable.lid is None else cable.lid,
        width=cable.width,
        speed=speed,
        rate=ibnet.rate(cable.width, speed),
        peer_guid=cable.peer_guid if trusted else None,
        peer_port=cable.peer_port if trusted else None,
        peer_port_guid=cable.peer_port_guid if trusted else None,
        peer_description=cable.peer_description if trusted else None,
    )
    yield from _without_lanes(key, cable.width, speed, GapReason.UNSUPPORTED if cable.speed is None else GapReason.UNPARSED)
    if doubt is not None:
        detail = f"port {doubt.by_port} of {doubt.by} says that something else is across its cable"
        for column in _PEER:
            yield Unread(IbPort, key, column, GapReason.CONFLICT, detail)


def _without_lanes(key: tuple[str, str], width: int | None, speed: str | None, reason: GapReason) -> Iterator[Unread]:
    """A linked port has lanes and a generation, printed or not: unknown, never absent."""
    missing = {"width": width is None, "speed": speed is None, "rate": width is None or speed is None}
    for column in (name for name, gone in missing.items() if gone):
        yield Unread(IbPort, key, column, reason, "the tool prints no width, or no generation that is known")


def _lost(doubts: Iterable[ibnet.Doubt], inside: frozenset[str]) -> Iterator[Unread]:
    """Blocks and lines that must be there, since the other end of a cable names them."""
    blocks = [doubt for doubt in doubts if doubt.cut and not doubt.port]
    if blocks:
        first = blocks[0]
        named = f"port {first.by_port} of {first.by} leads to it" if first.by else "the walk began there"
        more = f" (and {len(blocks) - 1} more)" if len(blocks) > 1 else ""
        for row_type in (IbNode, IbPort):
            detail = f"cut short: {first.guid} has no block, though {named}{more}"
            yield Unread(row_type, reason=GapReason.TRUNCATED, detail=detail)
    for doubt in doubts:
        if doubt.cut and doubt.port and doubt.guid not in inside and doubt.by not in inside:
            detail = f"cut short: its line is missing, though port {doubt.by_port} of {doubt.by} leads to it"
            yield Unread(IbPort, (doubt.guid, doubt.port), reason=GapReason.TRUNCATED, detail=detail)


def _strange(lines: list[tuple[int, str]]) -> Iterator[Unread]:
    if lines:
        (number, text), more = lines[0], f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        for row_type in (IbNode, IbPort):
            yield Unread(row_type, detail=f"line {number} belongs nowhere: {printable(text, 100)!r}{more}")


def iblinkinfo(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Ports of switches from `iblinkinfo -l`."""
    yield from _listed(links.lines(body))


def iblinkinfo_blocks(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Ports of switches from `iblinkinfo`."""
    yield from _listed(links.blocks(body))


def ibnetdiscover_ports(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Ports of switches with a cable from `ibnetdiscover -p`, which prints no states."""
    yield from _listed(links.report(body), states=False)


def _listed(listing: links.Listing, *, states: bool = True) -> Iterator[Normalised]:
    named: set[str] = set()
    for item in listing.ports:
        if item.guid is None or not item.switch:
            continue
        if item.guid not in named:
            named.add(item.guid)
            yield IbNode(guid=item.guid, kind="switch", description=item.description)
        if ibnet.AGGREGATION not in item.peer_description and (states or item.peer_port):
            yield from _listed_port(item, (item.guid, item.port), states=states)
    lost = [item for item in links.hidden(listing) if ibnet.AGGREGATION not in item.peer_description]
    if lost:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        detail = f"cut short: what line {lost[0].line} leads to has no line of its own{more}"
        for row_type in (IbNode, IbPort):
            yield Unread(row_type, reason=GapReason.TRUNCATED, detail=detail)
    yield from _strange(listing.strange)
    if not named:
        for row_type in (IbNode, IbPort):
            yield Unread(row_type, reason=GapReason.UNSUPPORTED, detail="no switch in it, and GUIDs of adapters are not printed")


def _listed_port(item: links.PortLine, key: tuple[str, str], *, states: bool) -> Iterator[Normalised]:
    linked = bool(item.peer_port)
    lit = linked or item.deaf
    yield IbPort(
        guid=key[0],
        port=item.port,
        lid=item.lid,
        state=item.state,
        width=item.width if lit else None,
        speed=item.speed if lit else None,
        rate=ibnet.rate(item.width, item.speed) if lit else None,
        peer_guid=item.peer_guid if item.peer_switch is True else None,
        peer_port=item.peer_port or None,
        peer_port_guid=item.peer_guid if item.peer_switch is False else None,
        peer_description=item.peer_description if linked else None,
    )
    if states and item.state is None:
        yield Unread(IbPort, key, "state", detail=f"line {item.line}: no state that is known")
    if lit:
        yield from _without_lanes(key, item.width, item.speed, GapReason.UNSUPPORTED)
    if item.deaf:
        for column in _PEER:
            yield Unread(IbPort, key, column, GapReason.UNREACHABLE, "what is plugged in there does not answer")


def ibstat_ports(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The host's own adapters: GUIDs, link layer, state and rate of every port."""
    for adapter in ibstat.adapters(body):
        for port in adapter.ports:
            key, said = (adapter.name, port.number), port.fields
            yield RdmaPort(
                name=adapter.name,
                port=port.number,
                node_guid=guid(adapter.fields["Node GUID"]) if "Node GUID" in adapter.fields else None,
                port_guid=guid(said["Port GUID"]) if port.infiniband and "Port GUID" in said else None,
                link_layer="infiniband" if port.infiniband else "ethernet" if said.get("Link layer") == "Ethernet" else None,
                state=_STATES.get(said.get("State", "")),
                rate=_gigabits(said.get("Rate", "")) if port.active else None,
            )
            if said.get("State") not in _STATES:
                yield Unread(RdmaPort, key, "state", detail=f"no state: {printable(said.get('State', ''), 40)!r}")
        if not adapter.whole:
            whole = sum("Link layer" in port.fields for port in adapter.ports)
            detail = f"{whole} of {adapter.fields.get('Number of ports', '?')} ports of {adapter.name} are whole"
            yield Unread(RdmaPort, (adapter.name,), reason=GapReason.TRUNCATED, detail=detail)


def _gigabits(text: str) -> int:
    """Bits per second from `400`, `2.5` or `40 (FDR10)`."""
    return round(float(text.removesuffix(" (FDR10)")) * 1_000_000_000)


_HCA = Parameter("hca", ("ibstat",), ibstat.fabric_adapters)
_LISTED = ("lid", "state", *_LANES, *_PEER)
_PROVEN = "infiniband-diags 44.0 on a simulated fabric (ibsim); iblinkinfo.c of rdma-core"

PLATFORM = Platform(
    name="infiniband",
    title="InfiniBand fabric, as one of its hosts sees it",
    sources=(
        Source(
            key="ibstat",
            command="ibstat",
            fills=(
                Fill(
                    RdmaPort, Layer.APPLIED, ("node_guid", "port_guid", "link_layer", "state", "rate"), whole=False,
                ),
            ),
            parser=Parser.TEXT,
            normalise=ibstat_ports,
            anchor=(r"^CA '", r"^\s+Link layer: "),
            proof={
                "rdma_port": r"^CA '{0}'" + "\n" + r"^\s+Port {1}:",
                "rdma_port.node_guid": r"^CA '{0}'" + "\n" + r"^\s+Node GUID:",
                "rdma_port.port_guid": r"^CA '{0}'" + "\n" + r"^\s+Port {1}:" + "\n" + r"^\s+Port GUID:",
                "rdma_port.link_layer": r"^CA '{0}'" + "\n" + r"^\s+Port {1}:" + "\n" + r"^\s+Link layer:",
                "rdma_port.state": r"^CA '{0}'" + "\n" + r"^\s+Port {1}:" + "\n" + r"^\s+State:",
                "rdma_port.rate": r"^CA '{0}'" + "\n" + r"^\s+Port {1}:" + "\n" + r"^\s+Rate:",
            },
            proven_by="ibstat of hosts with ConnectX-4, ConnectX-6 Dx and ConnectX-7; infiniband-diags/ibstat.c of rdma-core",
        ),
        Source(
            key="ibnetdiscover",
            command="ibnetdiscover -C {hca}",
            aliases=("ibnetdiscover", "ibnetdiscover -f", "ibnetdiscover -f -C {hca}", "ibnetdiscover -C {hca} -f"),
            parameter=_HCA,
            privilege=Privilege.SUDO,
            fills=(
                Fill(IbNode, Layer.APPLIED, ("kind", "description", "device_id", "system_guid", "ports")),
                Fill(IbPort, Layer.APPLIED, ("port_guid", "lid", *_LANES, *_PEER)),
            ),
            parser=Parser.TEXT,
            normalise=ibnetdiscover,
            anchor=(r"^# Initiated from node [0-9a-f]{16}\b", r'^(?:Switch|Ca|Rt)\s+\d+ "[SHR]-[0-9a-f]{16}"'),
            proof={
                "ib_node": r'^(?:Switch|Ca|Rt)\s+\d+ "[SHR]-{0}"',
                "ib_port": r'^(?:Switch|Ca|Rt)\s+\d+ "[SHR]-{0}"' + "\n" + r"^\[{1}\]",
            },
            proven_by="a fabric of 40 NDR switches and 542 adapters; infiniband-diags/ibnetdiscover.c of rdma-core",
            seconds=120.0,
        ),
        Source(
            key="iblinkinfo",
            command="iblinkinfo -l -C {hca}",
            aliases=("iblinkinfo -l", "iblinkinfo --line", "iblinkinfo -C {hca} -l", "iblinkinfo --line -C {hca}"),
            parameter=_HCA,
            privilege=Privilege.SUDO,
            fills=(
                Fill(IbNode, Layer.APPLIED, ("kind", "description"), whole=False),
                Fill(IbPort, Layer.APPLIED, _LISTED, whole=False),
            ),
            parser=Parser.TEXT,
            normalise=iblinkinfo,
            anchor=(r'^0x[0-9a-f]{16} ".*"\s+\d+\s+\d+\[[ \d]*\] ==\(',),
            proof={"ib_node": r"^0x{0} ", "ib_port": r'^0x{0} ".*?"\s+\d+\s+{1}\['},
            proven_by=_PROVEN,
            seconds=120.0,
        ),
        # The same in blocks, and the report of `ibnetdiscover`, as captures hold them.
        Source(
            key="iblinkinfo_blocks",
            command="iblinkinfo -C {hca}",
            aliases=("iblinkinfo",),
            parameter=_HCA,
            sent=False,
            fills=(
                Fill(IbNode, Layer.APPLIED, ("kind", "description"), whole=False),
                Fill(IbPort, Layer.APPLIED, _LISTED, whole=False),
            ),
            parser=Parser.TEXT,
            normalise=iblinkinfo_blocks,
            anchor=(r"^(?:Switch|CA|Router): .*:\s*$", r"^\s.*\] ==\(.*\)==>"),
            proof={"ib_node": r"^Switch: 0x{0} ", "ib_port": r"^Switch: 0x{0} " + "\n" + r"^\s+\d+\s+{1}\["},
            proven_by="iblinkinfo of fabrics with DDR to EDR; " + _PROVEN,
        ),
        Source(
            key="ibnetdiscover_ports",
            command="ibnetdiscover -p -C {hca}",
            aliases=("ibnetdiscover -p", "ibnetdiscover --ports", "ibnetdiscover -C {hca} -p"),
            parameter=_HCA,
            sent=False,
            fills=(
                Fill(IbNode, Layer.APPLIED, ("kind", "description"), whole=False),
                Fill(IbPort, Layer.APPLIED, ("lid", *_LANES, *_PEER), whole=False),
            ),
            parser=Parser.TEXT,
            normalise=ibnetdiscover_ports,
            anchor=(r"^(?:CA|SW|RT)\s+\d+\s+\d+ 0x[0-9a-f]{16} ",),
            proof={"ib_node": r"^SW\s+\d+\s+\d+ 0x{0} ", "ib_port": r"^SW\s+\d+\s+{1} 0x{0} "},
            proven_by="ibnetdiscover -p of fabrics with QDR to HDR; infiniband-diags/ibnetdiscover.c of rdma-core",
        ),
    ),
    failures=(
        Failure(r"^.*not found(?:(?<=command not found).*|(?<=\S: not found)$)", GapReason.REJECTED, "it is not installed"),
        Failure(r"^(?![\[\s]).*Permission denied.*", GapReason.PERMISSION, "the host refused it"),
        Failure(r"^(?![\[\s]).*Operation not permitted.*", GapReason.PERMISSION, "the host refused it"),
        Failure(r"^.*iberror: .*", GapReason.REJECTED, "the walk of the fabric failed"),
        Failure(r"^.*ibpanic: .*", GapReason.REJECTED, "the tool gave up"),
        Failure(r"^.*can't open (?:UMAD|MAD) port.*", GapReason.REJECTED, "no InfiniBand port to ask through"),
        Failure(r"^Failed to open \S+ port \d+", GapReason.REJECTED, "no InfiniBand port to ask through"),
        Failure(r"^.*: (?:unrecognized option|invalid option --) .*", GapReason.REJECTED, "an older tool without this option"),
    ),
)  # fmt: skip
