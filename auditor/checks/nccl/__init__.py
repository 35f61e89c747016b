"""Rules about collective libraries (NCCL and its relatives): what their environment makes of the fabric."""

from auditor.checks.nccl.traffic_class import traffic_class_not_lossless

__all__ = ["traffic_class_not_lossless"]
