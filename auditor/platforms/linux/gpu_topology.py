"""How near GPUs and network ports are by what tools print of it, and the state of each GPU's PCI link as a query of columns.

`nvidia-smi topo -m` is a second opinion: how the driver sees what the PCI tree says. Its numbers of GPUs are those of the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.address import Layer
from auditor.dialects import lstopo as hwloc
from auditor.dialects import nvidia_topo
from auditor.errors import NormaliseError
from auditor.facts import Gpu, NcclPath, Pci
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread
from auditor.topology import nearest
from auditor.xmldoc import CutOff

_GENERATIONS = {
    "1": 2_500_000_000, "2": 5_000_000_000, "3": 8_000_000_000, "4": 16_000_000_000, "5": 32_000_000_000, "6": 64_000_000_000,
}  # fmt: skip
"""Transfers per second of a lane by generation of PCI Express, as its specification has them."""


def topo(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The kind of path of every pair of a GPU and a network port, and which ports are nearest."""
    try:
        found = nvidia_topo.matrix(body)
    except ValueError as error:
        raise NormaliseError("nvidia_topo", "matrix", str(error)) from error
    for gpu in found.gpus:
        kinds = {port: found.kinds.get((gpu, port)) for port in found.ports}
        near = nearest(kinds, {}) if None not in kinds.values() else dict.fromkeys(kinds)
        for port, kind in kinds.items():
            yield NcclPath(gpu=gpu, nic=port, kind=kind, nearest=near[port])
        if None in kinds.values():
            missing = next(text for text in found.unread if text.startswith(f"GPU{gpu} "))
            yield Unread(NcclPath, (gpu,), reason=GapReason.TRUNCATED, detail=f"no kind of path: {missing}")


def query(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Number, performance state and link of every GPU, by the names of the columns."""
    head, *lines = [[cell.strip() for cell in line.split(",")] for line in body.splitlines() if line.strip()]
    columns = [name.partition(" [")[0] for name in head]
    for cells in lines:
        if len(cells) != len(columns):
            yield Unread(
                Gpu, reason=GapReason.TRUNCATED, detail=f"{len(cells)} of {len(columns)} columns: {', '.join(cells)[:60]!r}"
            )
            continue
        values = dict(zip(columns, cells, strict=True))
        pci = canonical.pci(values["pci.bus_id"])
        known = {name: text for name, text in values.items() if not canonical.nothing(text)}
        speed = _GENERATIONS.get(known.get("pcie.link.gen.current", ""))
        index, state = known.get("index", ""), known.get("pstate")
        yield Gpu(pci=pci, index=int(index) if index.isdecimal() else None, performance_state=state, link_speed=speed)
        for column, value in (("performance_state", state), ("link_speed", speed)):
            if value is None:
                yield Unread(Gpu, (pci,), column, GapReason.UNSUPPORTED, "the driver does not tell")


def lstopo(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """PCI functions with the bridge above them and their NUMA node from a dump of hwloc."""
    try:
        found = hwloc.functions(body)
    except ValueError as error:
        reason = GapReason.TRUNCATED if isinstance(error, CutOff) else GapReason.UNPARSED
        yield Unread(Pci, reason=reason, detail=str(error))
        return
    if not found:
        yield Unread(Pci, reason=GapReason.NOT_COLLECTED, detail="the dump was made without devices")
    for function in found:
        yield Pci(
            address=function.address, vendor_id=function.vendor_id, device_id=function.device_id, class_code=function.class_code,
            numa_node=function.numa, parent=function.parent,
        )  # fmt: skip
    if any(function.numa is None for function in found):
        yield Unread(Pci, (), "numa_node", GapReason.UNSUPPORTED, "below several NUMA nodes")


_KIND = r"(?:X|NV\d+|PIX|PXB|PHB|NODE|SYS)"

SOURCES = (
    Source(
        key="nvidia_topo", command="nvidia-smi topo -m", aliases=("nvidia-smi topo --matrix",), seconds=45.0,
        fills=(Fill(NcclPath, Layer.CONFIGURED, ("kind", "nearest")),),
        parser=Parser.TEXT, normalise=topo,
        anchor=(r"^\s*(?:\x1b?\[[0-9;]*m)?\s*GPU\d+\b", rf"^GPU\d+\s+{_KIND}\b", r"^Legend:"),
        proof={"nccl_path": r"^GPU{0}\s"},
        proven_by="hosts with eight A100, A800, H100 and B300; what the kinds mean stands in its own legend",
    ),
    # The live source is the log as XML, which says the same and more.
    Source(
        key="nvidia_smi_query",
        command="nvidia-smi --query-gpu=index,pci.bus_id,pstate,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,"
        "pcie.link.width.max --format=csv",
        aliases=("nvidia-smi_pcie", "nvidia-smi --query-gpu=index,pci.bus_id,pstate,pcie.link.gen.current --format=csv"),
        fallback_for="nvidia_smi", sent=False,
        fills=(Fill(Gpu, Layer.APPLIED, ("index", "performance_state", "link_speed")),),
        parser=Parser.TEXT, normalise=query, anchor=(r"^(?:[a-z_.]+, )*pci\.bus_id\b",),
        proof={"gpu": "{0}"}, shown=lambda part: part.removeprefix("0000:").upper(),
        proven_by="a query on a host with one idle H100; nvidia-smi --help-query-gpu",
    ),
    Source(
        key="lstopo", command="lstopo --of xml", sent=False,
        aliases=("lstopo", "lstopo-no-graphics --of xml", "lstopo-no-graphics", "lstopo -v --of xml", "hwloc-ls --of xml"),
        fills=(Fill(Pci, Layer.APPLIED, ("vendor_id", "device_id", "class_code", "numa_node", "parent"), whole=False),),
        parser=Parser.TEXT, normalise=lstopo, anchor=(r"<topology\b",), proof={"pci": "pci_busid=\"{0}\""},
        proven_by="hwloc 2 and 3 of a DGX-2, a POWER8 host and a GB10",
    ),
)  # fmt: skip
