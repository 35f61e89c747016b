"""Facts about what is inside a GPU host: PCI links, GPUs, memory nodes, kernel, BIOS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from auditor.facts.row import Column, Key, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Pci(Row):
    """One PCI function. A link between two functions is that of its child end; `parent` is the port above it."""

    TABLE: ClassVar[str] = "pci"

    address: Annotated[str, Key("PCI address with domain, lower case")]
    vendor_id: Annotated[int | None, Column("Vendor id")] = None
    device_id: Annotated[int | None, Column("Device id")] = None
    class_code: Annotated[int | None, Column("Class, 16 bits: 0x0200 Ethernet, 0x0207 InfiniBand, 0x0302 GPU, 0x0604 bridge")] = (
        None
    )
    numa_node: Annotated[int | None, Column("NUMA node; unknown where the firmware says -1", peer="model")] = None
    width: Annotated[int | None, Column("Lanes in use; not of an end whose link is off", peer="model")] = None
    speed: Annotated[
        int | None,
        Column("Transfers per second of a lane; not of GPUs and of ports above one, which lower it when idle", unit="T/s"),
    ] = None
    width_cap: Annotated[int | None, Column("Lanes that this end can use")] = None
    speed_cap: Annotated[int | None, Column("Transfers per second that this end can do", unit="T/s")] = None
    parent: Annotated[str | None, Column("PCI address of the port above; none at a host bridge")] = None
    slot: Annotated[str | None, Column("Physical slot, as the machine names it")] = None
    acs: Annotated[bool | None, Column("Access control services redirect requests (ReqRedir or CmpltRedir on)", peer="model")] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu(Row):
    """One GPU as its driver sees it."""

    TABLE: ClassVar[str] = "gpu"

    pci: Annotated[str, Key("PCI address with domain, lower case")]
    index: Annotated[int | None, Column("Number the driver gives it; follows the PCI addresses")] = None
    uuid: Annotated[str | None, Column("Identity of the card")] = None
    model: Annotated[str | None, Column("Product name", peer="model")] = None
    numa_node: Annotated[int | None, Column("NUMA node as the driver prints it", peer="model")] = None
    nvlinks_up: Annotated[int | None, Column("NVLinks in use; XGMI links of AMD GPUs", peer="model")] = None
    fabric_state: Annotated[str | None, Column("NVLink fabric: state, lower case")] = None
    fabric_status: Annotated[str | None, Column("NVLink fabric: status, lower case; says whether the state is good news")] = None
    performance_state: Annotated[str | None, Column("P0 … P15: how busy it is", volatile=True)] = None
    link_speed: Annotated[int | None, Column("Transfers per second of a lane of its PCI link now", unit="T/s", volatile=True)] = (
        None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Numa(Row):
    """One NUMA node."""

    TABLE: ClassVar[str] = "numa"

    node: Annotated[str, Key("Node number, decimal")]
    cpus: Annotated[str | None, Column("CPUs as ranges: 0-31,64-95", peer="model")] = None
    memory_bytes: Annotated[int | None, Column("Memory; two like machines differ by some megabytes", unit="bytes")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu(Row):
    """The processors. One row."""

    TABLE: ClassVar[str] = "cpu"

    model: Annotated[str | None, Column("Model name", peer="model")] = None
    sockets: Annotated[int | None, Column("Sockets", peer="model")] = None
    cores_per_socket: Annotated[int | None, Column("Cores of a socket", peer="model")] = None
    threads_per_core: Annotated[int | None, Column("Threads of a core: 1 with SMT off", peer="model")] = None
    numa_nodes: Annotated[int | None, Column("NUMA nodes", peer="model")] = None
    online: Annotated[int | None, Column("CPUs online", peer="model")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelParameter(Row):
    """One parameter of the kernel's command line; of one given twice the last, which wins."""

    TABLE: ClassVar[str] = "kernel_parameter"

    name: Annotated[str, Key("Name before the equals sign")]
    value: Annotated[str | None, Column("Value; empty for a bare word", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sysctl(Row):
    """One setting of the running kernel."""

    TABLE: ClassVar[str] = "sysctl"

    name: Annotated[str, Key("Dotted name")]
    value: Annotated[str | None, Column("Value, blanks folded", peer="role")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelModule(Row):
    """One loaded module of the kernel."""

    TABLE: ClassVar[str] = "kernel_module"

    name: Annotated[str, Key("Name, with underscores")]
    loaded: Annotated[bool | None, Column("Loaded; the table lists only those that are, so there is nothing to compare")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BiosSetting(Row):
    """One BIOS attribute as the BMC tells it."""

    TABLE: ClassVar[str] = "bios_setting"

    name: Annotated[str, Key("Name of the attribute, as the vendor has it")]
    value: Annotated[str | None, Column("Value as text", peer="model")] = None
