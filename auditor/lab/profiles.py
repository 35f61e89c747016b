"""The intent that belongs to a designed fabric: `fabric.yaml`, baseline profiles and their assignment, as a site writes them."""

from __future__ import annotations

from collections.abc import Mapping

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
# Which devices get which profile; the first match counts.
assignments:
  - {match: {role: leaf}, profile: roce-leaf@1.0.0}
  - {match: {role: spine}, profile: roce-spine@1.0.0}
  - {match: {role: core}, profile: roce-spine@1.0.0}
  - {match: {role: gpu_host}, profile: gpu-host@1.0.0}
"""

_SWITCH = """\
profile: roce-switch
version: 1.0.0
changes: first version
expect:
  - id: mtu.compute
    at: "interface[@compute].mtu"
    eq: 9100
    severity: critical
    why: RoCE frames of 4096 bytes plus headers must fit on every hop
  - id: fabric.fec
    at: "interface[@compute].fec"
    eq: rs
    severity: error
    why: 400G on four lanes of PAM4 does not run without RS-FEC
  - id: lossless.roce_map
    at: "dscp_map[*,26].traffic_class"
    eq: $fabric.compute.roce.priority
    severity: critical
    why: RoCE is sent with DSCP 26; in another class it is dropped under load
  - id: lossless.cnp_map
    at: "dscp_map[*,48].traffic_class"
    eq: 6
    severity: error
    why: congestion notifications have a strict queue of their own
  - id: lossless.pfc
    at: "qos_port[@compute].pfc_priorities"
    eq: [3]
    severity: critical
    why: PFC protects the RoCE class and no other
params:
  lossless.buffer_mode: {mode: lossless, model: static, why: headroom is computed once per cable length and reviewed}
"""

_LEAF = """\
profile: roce-leaf
version: 1.0.0
extends: [roce-switch@1.0.0]
changes: first version
expect:
  - id: firmware.os
    at: system.os_version
    in: [SONiC.202411.3]
    severity: error
    why: tested with NIC firmware 28.43
"""

_SPINE = _LEAF.replace("profile: roce-leaf", "profile: roce-spine")

_HOST = """\
profile: gpu-host
version: 1.0.0
changes: first version
expect:
  - id: mtu.compute
    at: "interface[@compute].mtu"
    eq: 9000
    severity: critical
    why: leaves room for the headers below the 9100 of the leaf
  - id: mtu.rdma
    at: "rdma_port[*,*].active_mtu"
    eq: 4096
    severity: critical
    why: a smaller RDMA MTU on one host makes its jobs fail or slow
  - id: lossless.trust
    at: "qos_port[@compute].trust"
    eq: [dscp]
    severity: critical
    why: routed RoCE carries no VLAN priority
  - id: lossless.pfc
    at: "qos_port[@compute].pfc_priorities"
    eq: [3]
    severity: critical
    why: PFC protects the RoCE class and no other
  - id: lossless.host_map
    at: "host_dscp[@compute,26].priority"
    eq: $fabric.compute.roce.priority
    severity: critical
    why: the NIC must count DSCP 26 as the RoCE class
params:
  firmware.not_allowed:
    - component: nic.*
      psid: [MT_0000000838]
      version: ">=28.43,<28.44"
      severity: error
      why: tested with this switch release; 28.39 loses pause frames
"""

PROFILES: Mapping[tuple[str, str], str] = {
    ("roce-switch", "1.0.0"): _SWITCH,
    ("roce-leaf", "1.0.0"): _LEAF,
    ("roce-spine", "1.0.0"): _SPINE,
    ("gpu-host", "1.0.0"): _HOST,
}
"""Baseline documents by profile and version."""
