"""Rules about the inside of a GPU host: GPUs, kernel, services. Rules stand in the modules below."""

from __future__ import annotations

from auditor.checks.host.gpus import gpu_fabric_failed, nvlinks_differ
from auditor.checks.host.kernel import iommu, kernel_parameter, module_missing
from auditor.checks.host.services import service_unexpected

__all__ = [
    "gpu_fabric_failed",
    "iommu",
    "kernel_parameter",
    "module_missing",
    "nvlinks_differ",
    "service_unexpected",
]
