"""The intent that belongs to a designed fabric: `fabric.yaml`, baseline profiles and their assignment, as a site writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from auditor.lab.fabric import Host

MODEL = "SYS-821GE-TNHR"
"""Hardware model of the hosts."""

FABRIC = """\
# What crosses devices. Link rules read only this.
planes:
  compute:
    rdma_mtu: 4096
    classes:
      - {name: roce, dscp: [26], priority: 3, cnp_dscp: 48}
rail_scheme: NIC n of every host is rail n
"""

ASSIGNMENTS = """\
# Which devices must satisfy which baseline.
assignments:
  - select: {role: leaf}
    use: [pod-leaf@1.0.0]
  - select: {role: [spine, core]}
    use: [pod-spine@1.0.0]
  - select: {role: gpu_host}
    use: [pod-host@1.0.0]
"""

_LEAF = """\
# The leaves of this site: what the shipped profile wants, and what this site decided.
profile: pod-leaf
version: 1.0.0
extends: [roce-leaf@1.0.0, starter@1.0.0]
changes: first version
expect:
  - id: firmware.os
    at: system.os_version
    in: ["202411.3"]
    severity: error
    why: tested with NIC firmware 28.43
  - id: fabric.fec
    at: "interface[@compute].fec"
    eq: rs
    severity: error
    why: 400G on four lanes of PAM4 does not run without RS-FEC
  - id: lossless.roce_map
    at: "dscp_map[*,26].traffic_class"
    eq: $fabric.compute.roce.priority
    severity: critical
    why: traffic classes have the numbers of the priorities here; RoCE in another class is lossy, and one dropped packet costs all
      that was in flight
  - id: lossless.cnp_map
    at: "dscp_map[*,48].traffic_class"
    eq: 6
    severity: error
    why: congestion notifications have a strict queue of their own
params:
  lossless.buffer_mode: {mode: lossless, model: static, why: headroom is computed once per cable length and reviewed}
"""

_SPINE = _LEAF.replace("leaves", "spines").replace("leaf", "spine")

_HOST = """\
# The GPU hosts of this site: what the shipped profile wants, and what this site decided.
profile: pod-host
version: 1.0.0
extends: [gpu-host@1.0.0]
changes: first version
expect:
  - id: mtu.host
    at: "interface[@compute].mtu"
    eq: 9000
    severity: critical
    why: leaves room for the headers below the 9100 of the leaf
params:
  firmware.not_allowed:
    - component: nic.*
      psid: [MT_0000000838]
      version: ">=28.43,<28.44"
      severity: error
      why: tested with switch release 202411.3
  lifecycle.second_owner:
    owner: roce-qos.service
    others: [lldpad.service]
    dcbx: os
    why: one unit of our own sets trust, PFC and traffic class after every start
  host.kernel_parameter:
    - name: numa_balancing
      eq: disable
      why: processes are pinned; what the kernel moves on its own, it takes away from its GPU
  host.iommu:
    passthrough: true
    why: there are no virtual machines here, and adapters write into the memory of GPUs
  host.module_missing:
    - names: [nvidia_peermem, nv_peer_mem]
      why: adapters reach the memory of GPUs by it; this kernel is older than DMA-BUF of the adapters' driver
"""


def profiles(host: Host) -> Mapping[tuple[str, str], str]:
    """Baseline documents by profile and version; all hosts are built like this one."""
    return {
        ("pod-leaf", "1.0.0"): _LEAF,
        ("pod-spine", "1.0.0"): _SPINE,
        ("pod-host", "1.0.0"): _HOST + "".join(_slots(host)),
    }


def _slots(host: Host) -> Iterator[str]:
    """Where the devices of the model sit, and what the adapters are called."""
    yield f"  host.device_missing:\n    {MODEL}:\n"
    yield f"      gpu: [{', '.join(f'{pci!r}' for pci in host.gpus)}]\n"
    nics = host.nics.values()
    yield f"      nic: [{', '.join(repr(nic.pci) for nic in nics)}]\n"
    yield f"  host.nic_renamed:\n    {MODEL}:\n"
    yield from (f"      {nic.pci!r}: [{nic.netdev}, {nic.rdma}]\n" for nic in nics)
