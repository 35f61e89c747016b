"""The vocabulary: one frozen dataclass per fact table."""

from auditor.facts.cabling import ArpEntry, IbNode, IbPort, LagMember, MacEntry, NicFlag, Optic
from auditor.facts.host import HostQos, NcclEnv, Nic, NicOption, RdmaPort, Service
from auditor.facts.link import Interface, Neighbour
from auditor.facts.lossless import Buffer, BufferPool, ClassMap, DscpMap, HostDscp, PriorityGroup, QosPort, Queue
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
    )
}  # fmt: skip
"""Every table by the name that addresses use."""

__all__ = [
    "TABLES",
    "ArpEntry",
    "Buffer",
    "BufferPool",
    "ClassMap",
    "Column",
    "ConfigFile",
    "DscpMap",
    "Field",
    "Firmware",
    "HostDscp",
    "HostQos",
    "IbNode",
    "IbPort",
    "Interface",
    "Key",
    "LagMember",
    "MacEntry",
    "NcclEnv",
    "Neighbour",
    "Nic",
    "NicFlag",
    "NicOption",
    "Optic",
    "PriorityGroup",
    "QosPort",
    "Queue",
    "RdmaPort",
    "Row",
    "Schema",
    "Service",
    "System",
    "Value",
    "from_plain",
    "schema",
    "to_plain",
]  # fmt: skip
