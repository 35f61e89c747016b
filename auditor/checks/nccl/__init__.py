"""Rules about collective libraries (NCCL and its relatives): what their environment makes of the fabric."""

from auditor.checks.nccl.topology import gdr_off, pinned_topology_file, topology_changed
from auditor.checks.nccl.traffic_class import traffic_class_not_lossless

__all__ = ["gdr_off", "pinned_topology_file", "topology_changed", "traffic_class_not_lossless"]
