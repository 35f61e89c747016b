"""Rules about collective libraries (NCCL and its relatives): what their environment makes of the fabric."""

from auditor.checks.nccl.environment import checks_disabled, hca_list_wrong
from auditor.checks.nccl.gid import gid_index_wrong
from auditor.checks.nccl.log_environment import warned
from auditor.checks.nccl.log_hosts import local_ranks_differ, network_devices_differ, nvlink_domain_differs, slow_pci_link
from auditor.checks.nccl.log_rails import cross_rail_traffic
from auditor.checks.nccl.log_transport import socket_fallback
from auditor.checks.nccl.topology import gdr_off, pinned_topology_file, topology_changed
from auditor.checks.nccl.traffic_class import traffic_class_not_lossless

__all__ = [
    "checks_disabled",
    "cross_rail_traffic",
    "gdr_off",
    "gid_index_wrong",
    "hca_list_wrong",
    "local_ranks_differ",
    "network_devices_differ",
    "nvlink_domain_differs",
    "pinned_topology_file",
    "slow_pci_link",
    "socket_fallback",
    "topology_changed",
    "traffic_class_not_lossless",
    "warned",
]
