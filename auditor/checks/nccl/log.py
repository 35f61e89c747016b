"""The rules about the logs of a job, all of them.

Some of what they judge is judged of devices too, from other facts and under the same name: `gdr_off` from dumped topologies,
`env_differs` from files on hosts. Those are registered as rules of devices; what only logs show is registered as it stands here.
"""

from __future__ import annotations

from auditor.checks.nccl.log_environment import checks_disabled, env_differs, pinned_topology_file, warned
from auditor.checks.nccl.log_hosts import local_ranks_differ, network_devices_differ, nvlink_domain_differs, slow_pci_link
from auditor.checks.nccl.log_rails import cross_rail_traffic
from auditor.checks.nccl.log_transport import gdr_off, socket_fallback
from auditor.model import Rule

LOG_RULES: tuple[Rule, ...] = (
    checks_disabled,
    cross_rail_traffic,
    env_differs,
    gdr_off,
    local_ranks_differ,
    network_devices_differ,
    nvlink_domain_differs,
    pinned_topology_file,
    slow_pci_link,
    socket_fallback,
    warned,
)
"""In the order of their names."""
