"""Faults of hosts: of their adapters, of what hangs on their PCI bus, of what their kernel and their libraries are told."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from auditor.errors import SetupError
from auditor.lab import places
from auditor.lab.fabric import NEW_NIC_FIRMWARE, OLD_FABRIC_DRIVER, OLD_NIC_FIRMWARE, ROCE_DSCP, ROCE_PRIORITY, Fabric
from auditor.lab.places import Fault


def _nic_firmware(fabric: Fabric, device: str, port: str) -> None:
    """All adapters of a host (or one, by its netdev) run last year's firmware."""
    for nic in places.nics(fabric, device, port):
        nic.firmware = OLD_NIC_FIRMWARE


def _trust(fabric: Fabric, device: str, port: str) -> None:
    """An adapter classifies by VLAN priority."""
    places.nic(fabric, device, port).trust = "pcp"


def _nic_class(fabric: Fabric, device: str, port: str) -> None:
    """An adapter puts the RoCE code point into the default priority."""
    places.nic(fabric, device, port).moved[ROCE_DSCP] = 0


def _pause(fabric: Fabric, device: str, port: str) -> None:
    """An adapter has 802.3x pause on, which stops all priorities."""
    places.nic(fabric, device, port).pause = True


def _nic_ecn(fabric: Fabric, device: str, port: str) -> None:
    """An adapter has congestion control off for the RoCE priority."""
    nic = places.nic(fabric, device, port)
    nic.slows = tuple(priority for priority in nic.slows if priority != ROCE_PRIORITY)


def _cnp_dscp(fabric: Fabric, device: str, port: str) -> None:
    """An adapter sends congestion notifications with the code point of its traffic."""
    places.nic(fabric, device, port).cnp_dscp = ROCE_DSCP


def _nccl_class(fabric: Fabric, device: str, _: str) -> None:
    """The DSCP stands where the collective library wants the traffic class."""
    places.host(fabric, device).nccl["NCCL_IB_TC"] = str(ROCE_DSCP)


def _nccl_unset(fabric: Fabric, device: str, _: str) -> None:
    """The collective library of a host is told no traffic class."""
    del places.host(fabric, device).nccl["NCCL_IB_TC"]


def _next_boot(fabric: Fabric, device: str, port: str) -> None:
    """With the next start all adapters of a host (or one) become InfiniBand."""
    for nic in places.nics(fabric, device, port):
        nic.next_boot["LINK_TYPE_P1"] = "IB(1)"


def _second_owner(fabric: Fabric, device: str, _: str) -> None:
    """Another agent of the host sets PFC: lldpad is enabled."""
    places.host(fabric, device).services += ("lldpad.service",)


def _nic_pending(fabric: Fabric, device: str, port: str) -> None:
    """All adapters of a host (or one) have firmware in their flash that the next start will load."""
    for nic in places.nics(fabric, device, port):
        nic.stored = NEW_NIC_FIRMWARE


def _pcie_width(fabric: Fabric, device: str, port: str) -> None:
    """The PCI link of an adapter came up with half of its lanes."""
    places.nic(fabric, device, port).lanes = 8


def _numa(fabric: Fabric, device: str, port: str) -> None:
    """An adapter hangs on the other processor, so that another one is the nearest to its GPU."""
    host, nic = places.host(fabric, device), places.nic(fabric, device, port)
    here = host.switches[nic.switch].node
    other = next((switch.bus for switch in host.switches.values() if switch.node != here), None)
    if other is None:
        raise SetupError(f"{device} has one NUMA node")
    nic.switch = other


def _renamed(fabric: Fabric, device: str, port: str) -> None:
    """An adapter and the next one were found in the other order: their RDMA names are exchanged."""
    nics = list(places.host(fabric, device).nics.values())
    if len(nics) < 2:
        raise SetupError(f"{device} has one adapter")
    one = nics.index(places.nic(fabric, device, port))
    other = (one + 1) % len(nics)
    nics[one].rdma, nics[other].rdma = nics[other].rdma, nics[one].rdma


def _acs_on(fabric: Fabric, device: str, port: str) -> None:
    """The PCI switch between an adapter and its GPU sends what they say to each other through the processor."""
    places.host(fabric, device).switches[places.nic(fabric, device, port).switch].acs = True


def _no_address(fabric: Fabric, device: str, port: str) -> None:
    """An adapter has lost its IP address, and with it the entry that the collective library is told to use."""
    places.nic(fabric, device, port).address = ""


def _gpu_missing(fabric: Fabric, device: str, port: str) -> None:
    """A GPU (by its PCI address, else the first one) is not on the bus."""
    gpus = places.host(fabric, device).gpus
    if port and port not in gpus:
        raise SetupError(f"{device} has no GPU {port!r}")
    gpus.remove(port or gpus[0])


def _iommu(fabric: Fabric, device: str, _: str) -> None:
    """A host was started without pass-through: its IOMMU translates every address."""
    del places.host(fabric, device).boot["iommu"]


def _boot_entry(fabric: Fabric, device: str, _: str) -> None:
    """The boot entry of a host was rebuilt without one of the site's parameters."""
    del places.host(fabric, device).boot["numa_balancing"]


def _driver_mismatch(fabric: Fabric, device: str, _: str) -> None:
    """The fabric manager of a host is of another release than its GPU driver."""
    places.host(fabric, device).fabric_driver = OLD_FABRIC_DRIVER


def _no_peer_memory(fabric: Fabric, device: str, _: str) -> None:
    """The module with which adapters reach the memory of GPUs is not loaded."""
    places.host(fabric, device).peer_memory = False


def _hca_list(fabric: Fabric, device: str, _: str) -> None:
    """The list of adapters for the collective library lacks the last one."""
    environment = places.host(fabric, device).nccl
    environment["NCCL_IB_HCA"] = environment["NCCL_IB_HCA"].rpartition(",")[0]


def _gid_index(fabric: Fabric, device: str, _: str) -> None:
    """The collective library is told to use an entry of the address tables that is RoCE v1."""
    places.host(fabric, device).nccl["NCCL_IB_GID_INDEX"] = "2"


NIC_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "trust": _trust,
        "nic_class": _nic_class,
        "nic_ecn": _nic_ecn,
        "cnp_dscp": _cnp_dscp,
        "pause": _pause,
        "pcie_width": _pcie_width,
        "numa": _numa,
        "renamed": _renamed,
        "acs_on": _acs_on,
        "no_address": _no_address,
    }
)
"""Faults of one adapter."""

HOST_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "nic_firmware": _nic_firmware,
        "nic_pending": _nic_pending,
        "next_boot": _next_boot,
        "gpu_missing": _gpu_missing,
        "driver_mismatch": _driver_mismatch,
        "iommu": _iommu,
        "boot_entry": _boot_entry,
        "no_peer_memory": _no_peer_memory,
        "second_owner": _second_owner,
        "nccl_class": _nccl_class,
        "nccl_unset": _nccl_unset,
        "hca_list": _hca_list,
        "gid_index": _gid_index,
    }
)
"""Faults of a whole host; `nic_firmware`, `nic_pending` and `next_boot` of one adapter where it is named."""
