"""Facts about the topology that the collective library works with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Gid(Row):
    """One entry of an RDMA port's address table."""

    TABLE: ClassVar[str] = "gid"

    rdma_name: Annotated[str, Key("RDMA device")]
    port: Annotated[str, Key("Port number, decimal")]
    index: Annotated[str, Key("Index, decimal: what NCCL_IB_GID_INDEX names")]
    address: Annotated[str | None, Column("The address, long form, lower case")] = None
    kind: Annotated[str | None, Column("v1 or v2 of RoCE; ib of InfiniBand", peer="role")] = None
    netdev: Annotated[str | None, Column("Network device it belongs to", port=True)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclNet(Row):
    """One network port in a dumped topology."""

    TABLE: ClassVar[str] = "nccl_net"

    name: Annotated[str, Key("Device as the library names it: mlx5_0, rail3 …")]
    port: Annotated[str, Key("Port number, decimal")]
    pci: Annotated[str | None, Column("PCI address of its adapter")] = None
    speed: Annotated[int | None, Column("Speed as dumped", unit="bit/s")] = None
    gdr: Annotated[bool | None, Column("GPUDirect RDMA usable")] = None
    guid: Annotated[str | None, Column("GUID, 16 hex digits; unknown where the dump has zero or a small number")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclPath(Row):
    """How near a GPU and a network port are, computed from PCI paths, or as `nvidia-smi topo -m` prints it (layer configured)."""

    TABLE: ClassVar[str] = "nccl_path"

    gpu: Annotated[str, Key("Number of the GPU, decimal")]
    nic: Annotated[str, Key("Network port's device")]
    kind: Annotated[str | None, Column("PIX, PXB, PHB, NODE or SYS, nearest first")] = None
    nearest: Annotated[bool | None, Column("No other network port is nearer to this GPU", peer="model")] = None
    bandwidth: Annotated[int | None, Column("Narrowest PCI link on the way, both directions apart", unit="bit/s")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclTopology(Row):
    """A dumped topology. One row."""

    TABLE: ClassVar[str] = "nccl_topology"

    fingerprint_exact: Annotated[str | None, Column("Hash with addresses, without identities")] = None
    fingerprint_shape: Annotated[str | None, Column("Hash of structure and link classes alone", peer="model", words="shape")] = (
        None
    )
    shape: Annotated[
        tuple[str, ...] | None,
        Column("The structure in sentences, sorted: what the shape's hash is made of, and the names of the NICs"),
    ] = None
    file: Annotated[str | None, Column("Where the dump was read")] = None
    static: Annotated[bool | None, Column("A cloud's file without GPUs and networks: distances only")] = None
    virtual: Annotated[bool | None, Column("NUMA and links not visible: a virtual machine")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclGraph(Row):
    """One graph that the library chose: how its channels go through GPUs and network devices."""

    TABLE: ClassVar[str] = "nccl_graph"

    id: Annotated[str, Key("Number of the graph, decimal: 0 is the ring, 1 the tree")]
    pattern: Annotated[int | None, Column("Number of the pattern: 4 is a ring")] = None
    channels: Annotated[int | None, Column("Channels")] = None
    cross_nic: Annotated[bool | None, Column("A channel may leave by another network device than it comes in")] = None
    turning: Annotated[int | None, Column("Channels whose first and last network device differ")] = None
    networks: Annotated[
        tuple[int, ...] | None,
        Column("Numbers of the network devices that some channel uses, sorted; none on a single host", peer="model"),
    ] = None
    speed_intra: Annotated[int | None, Column("Speed of a channel inside the host", unit="bit/s")] = None
    speed_inter: Annotated[int | None, Column("Speed of a channel between hosts", unit="bit/s")] = None
    type_intra: Annotated[str | None, Column("Farthest path inside the host: NVL, PIX, SYS …")] = None
    type_inter: Annotated[str | None, Column("Farthest path from a GPU to its network device: PIX, SYS …", peer="model")] = None
