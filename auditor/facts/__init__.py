"""The vocabulary: one frozen dataclass per fact table."""

from auditor.facts.cabling import ArpEntry, IbNode, IbPort, LagMember, MacEntry, NicFlag, Optic
from auditor.facts.host import HostQos, NcclEnv, Nic, NicOption, RdmaPort, Service
from auditor.facts.link import Interface, Neighbour
from auditor.facts.lossless import Buffer, BufferPool, ClassMap, DscpMap, HostDscp, PriorityGroup, QosPort, Queue
from auditor.facts.machine import BiosSetting, Cpu, Gpu, KernelModule, KernelParameter, Numa, Pci, Sysctl
from auditor.facts.nccl import Gid, NcclGraph, NcclNet, NcclPath, NcclTopology
from auditor.facts.row import Column, Field, Key, Row, Schema, Value, from_plain, schema, to_plain
from auditor.facts.system import ConfigFile, Firmware, System

TABLES: dict[str, type[Row]] = {
    row_type.TABLE: row_type
    for row_type in (
        System, Firmware, ConfigFile,
        Interface, Neighbour, MacEntry, ArpEntry, LagMember, Optic,
        QosPort, DscpMap, HostDscp, ClassMap, Queue, PriorityGroup, Buffer, BufferPool,
        Nic, NicOption, RdmaPort, HostQos, NcclEnv, Service, NicFlag,
        IbNode, IbPort,
        Pci, Gpu, Numa, Cpu, KernelParameter, Sysctl, KernelModule, BiosSetting,
        Gid, NcclNet, NcclPath, NcclTopology, NcclGraph,
    )
}  # fmt: skip
"""Every table by the name that addresses use."""

__all__ = [
    "TABLES",
    "ArpEntry",
    "BiosSetting",
    "Buffer",
    "BufferPool",
    "ClassMap",
    "Column",
    "ConfigFile",
    "Cpu",
    "DscpMap",
    "Field",
    "Firmware",
    "Gid",
    "Gpu",
    "HostDscp",
    "HostQos",
    "IbNode",
    "IbPort",
    "Interface",
    "KernelModule",
    "KernelParameter",
    "Key",
    "LagMember",
    "MacEntry",
    "NcclEnv",
    "NcclGraph",
    "NcclNet",
    "NcclPath",
    "NcclTopology",
    "Neighbour",
    "Nic",
    "NicFlag",
    "NicOption",
    "Numa",
    "Optic",
    "Pci",
    "PriorityGroup",
    "QosPort",
    "Queue",
    "RdmaPort",
    "Row",
    "Schema",
    "Service",
    "Sysctl",
    "System",
    "Value",
    "from_plain",
    "schema",
    "to_plain",
]  # fmt: skip
