"""What the collective library found inside the host: its topology and graph dumps, and the file that it loads by default.

A dump is written by a job that was told to (`NCCL_TOPO_DUMP_FILE`, `NCCL_GRAPH_DUMP_FILE`); neither variable has a default, so
where the file lies is a matter of the site and nothing asks for it. Captures hold them as `nccl_topo.xml` and `nccl_graph.xml`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.address import Layer
from auditor.dialects import nccl_graph as graphs
from auditor.dialects import nccl_topology as dialect
from auditor.facts import NcclGraph, NcclNet, NcclPath, NcclTopology, Row
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread
from auditor.topology import Topology, exact, fingerprint, paths, shape_of
from auditor.xmldoc import CutOff

DUMP, GRAPH = "nccl_topo", "nccl_graph"
VIRTUAL = "/var/run/nvidia-topologyd/virtualTopology.xml"
"""The file that the library loads where NCCL_TOPO_FILE is not set: hypervisors lay out the machine in it."""

_STATIC = "a static file: it tells distances and names neither GPUs nor network ports"
_HIDDEN = "the machine does not show on which NUMA node they are"


def dump(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Fingerprints, network ports and paths of a dump."""
    yield from _read(body, DUMP, NcclTopology, NcclNet, NcclPath)


def loaded(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The fingerprints of the file that the library loads."""
    yield from _read(body, VIRTUAL, NcclTopology)


def _read(body: str, file: str, *tables: type[Row]) -> Iterator[Normalised]:
    try:
        topology = dialect.read(body)
        sentences = shape_of(topology).sentences()
    except ValueError as error:
        yield from _unread(error, *tables)
        return
    yield NcclTopology(
        fingerprint_exact=exact(topology),
        fingerprint_shape=fingerprint(sentences),
        shape=sentences,
        file=file,
        static=topology.static,
        virtual=topology.virtual,
    )
    if topology.static:
        yield from (Unread(table, reason=GapReason.UNSUPPORTED, detail=_STATIC) for table in tables[1:])
    elif len(tables) > 1:
        yield from _nets(topology)
        yield from _paths(topology)


def _paths(topology: Topology) -> Iterator[Normalised]:
    for path in paths(topology):
        key = (path.gpu, path.nic)
        yield NcclPath(gpu=path.gpu, nic=path.nic, kind=path.kind, nearest=path.nearest, bandwidth=path.bandwidth)
        for column, value in (("kind", path.kind), ("nearest", path.nearest)):
            if value is None:
                yield Unread(NcclPath, key, column, GapReason.UNSUPPORTED, _HIDDEN)
        if path.bandwidth is None:
            yield Unread(NcclPath, key, "bandwidth", GapReason.UNSUPPORTED, "the dump does not tell every link on the way")


def _unread(error: ValueError, *tables: type[Row]) -> Iterator[Unread]:
    reason = GapReason.TRUNCATED if isinstance(error, CutOff) else GapReason.UNPARSED
    reason = GapReason.UNSUPPORTED if isinstance(error, dialect.SeveralHosts) else reason
    yield from (Unread(table, reason=reason, detail=str(error)) for table in tables)


def _nets(topology: Topology) -> Iterator[Normalised]:
    ports = [(net, "") for cpu in topology.cpus for net in cpu.nets]
    ports += [(net, pci.address) for pci in topology.functions() for net in pci.nets]
    for net, address in ports:
        port = "0" if net.port is None else str(net.port)
        yield NcclNet(name=net.name, port=port, pci=address or None, speed=net.speed, gdr=net.gdr, guid=net.guid)
        if net.guid is None:
            yield Unread(NcclNet, (net.name, port), "guid", GapReason.UNSUPPORTED, "the dump does not tell it")


def graph(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every graph of a dump."""
    try:
        found = graphs.read(body)
    except ValueError as error:
        yield from _unread(error, NcclGraph)
        return
    for item in found:
        yield NcclGraph(
            id=str(item.id),
            pattern=item.pattern,
            channels=len(item.channels),
            cross_nic=item.cross_nic,
            turning=sum(channel.turns for channel in item.channels),
            networks=tuple(sorted({net for channel in item.channels for net in channel.nets})),
            speed_intra=item.speed_intra,
            speed_inter=item.speed_inter,
            type_intra=item.type_intra,
            type_inter=item.type_inter,
        )


_TOPOLOGY = Fill(NcclTopology, Layer.APPLIED, ("fingerprint_exact", "fingerprint_shape", "shape", "file", "static", "virtual"))
_ANCHOR = (r"<system\b",)
_PROOF = {
    "nccl_topology": r"<system\b",
    "nccl_net": r"<net\b[^>]*\bname=\"{0}\"",
    "nccl_path": r"<gpu\b[^>]*\bdev=\"{0}\"|<net\b[^>]*\bname=\"{1}\"",
}

SOURCES = (
    Source(
        key=DUMP, command=DUMP,
        fills=(
            _TOPOLOGY,
            Fill(NcclNet, Layer.APPLIED, ("pci", "speed", "gdr", "guid")),
            Fill(NcclPath, Layer.APPLIED, ("kind", "nearest", "bandwidth")),
        ),
        parser=Parser.TEXT, normalise=dump, anchor=_ANCHOR, proof=_PROOF, sent=False,
        proven_by="topology dumps of NCCL and RCCL on machines of several makers, published by them and by clouds",
    ),
    Source(
        key="nccl_virtual_topology", command=f"cat {VIRTUAL}",
        fills=(Fill(NcclTopology, Layer.CONFIGURED, _TOPOLOGY.columns),),
        parser=Parser.TEXT, normalise=loaded, anchor=_ANCHOR, proof=_PROOF, seconds=5.0, ok_status=(0, 1),
        proven_by="NCCL's user guide, NCCL_TOPO_FILE; ncclTopoGetSystem in graph/topo.cc; files that clouds ship for it",
    ),
    Source(
        key=GRAPH, command=GRAPH,
        fills=(
            Fill(
                NcclGraph, Layer.APPLIED,
                (
                    "pattern", "channels", "cross_nic", "turning", "networks", "speed_intra", "speed_inter", "type_intra",
                    "type_inter",
                ),
            ),
        ),
        parser=Parser.TEXT, normalise=graph, anchor=(r"<graphs\b",),
        proof={"nccl_graph": r"<graph\b[^>]*\bid=\"{0}\""}, sent=False,
        proven_by="a graph dump of NCCL on a cloud machine, and a graph file made by hand from another",
    ),
)  # fmt: skip
