"""Rules about the inside of a GPU host: PCI links and devices, GPUs, kernel, services. Rules stand in the modules below."""

from __future__ import annotations

from auditor.checks.host.devices import affinity_disagrees, device_missing, nic_renamed, numa_mismatch
from auditor.checks.host.gpus import gpu_fabric_failed, nvlinks_differ
from auditor.checks.host.kernel import iommu, kernel_parameter, module_missing
from auditor.checks.host.pci import acs_on, pcie_degraded
from auditor.checks.host.services import service_unexpected

__all__ = [
    "acs_on",
    "affinity_disagrees",
    "device_missing",
    "gpu_fabric_failed",
    "iommu",
    "kernel_parameter",
    "module_missing",
    "nic_renamed",
    "numa_mismatch",
    "nvlinks_differ",
    "pcie_degraded",
    "service_unexpected",
]
