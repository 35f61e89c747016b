"""What a designed GPU host answers: the Linux commands that the auditor sends, in the formats of Ubuntu 22.04."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from auditor.lab import linux_gpu, linux_kernel, linux_nic, lldp
from auditor.lab.answer import Answer, missing
from auditor.lab.fabric import End, Fabric, Host, HostNic
from auditor.lab.linux_pci import MANAGEMENT_PCI, Tree
from auditor.lab.profiles import MODEL
from auditor.lab.sonic_cables import link_local

MANAGEMENT = "eno1"


def answers(fabric: Fabric, host: Host) -> Iterator[Answer]:
    """Every command with its output."""
    nics = list(host.nics.values())
    tree = Tree(host)
    gbps = {nic.netdev: fabric.gbps(End(host.name, nic.netdev)) for nic in nics}
    yield Answer("uname -n", f"{host.name}\n")
    yield Answer("cat /etc/os-release", _OS_RELEASE)
    yield Answer("cat /sys/class/dmi/id/bios_version", "2.21.6\n")
    yield Answer("cat /sys/class/dmi/id/sys_vendor", "Supermicro\n")
    yield Answer("cat /sys/class/dmi/id/product_name", f"{MODEL}\n")
    yield Answer("ip -j -d link", _links(host, nics, gbps))
    yield Answer("lldpctl -f json", lldp.document(fabric, host.name, End("oob-01", f"Ethernet{100 + host.number}")))
    yield Answer("ip -j neigh", _neighbours(fabric, host, nics))
    yield Answer(f"ethtool --show-priv-flags {MANAGEMENT}", f"Private flags for {MANAGEMENT}:\n{_MANAGEMENT_FLAGS}")
    yield Answer("rdma link", "".join(linux_nic.rdma_link(nic, gbps[nic.netdev]) for nic in nics))
    yield Answer("ibv_devinfo -v", "\n".join(linux_nic.ibv_device(nic, gbps[nic.netdev]) for nic in nics) + "\n")
    yield Answer(
        "ls -l /sys/class/infiniband", "total 0\n" + "".join(linux_nic.sysfs_link(tree.path(nic.pci), nic) for nic in nics)
    )
    for nic in nics:
        yield Answer(f"mlnx_qos -i {nic.netdev}", linux_nic.qos(nic))
        yield Answer(f"ethtool -i {nic.netdev}", linux_nic.driver(nic))
        yield Answer(f"ethtool --show-priv-flags {nic.netdev}", linux_nic.private_flags(nic))
        yield Answer(f"ethtool --show-fec {nic.netdev}", linux_nic.fec(nic, gbps[nic.netdev]))
        yield Answer(f"ethtool -a {nic.netdev}", linux_nic.pause(nic))
        yield Answer(f"grep -r . /sys/class/net/{nic.netdev}/ecn", linux_nic.ecn(nic))
        yield Answer(f"cat /sys/class/infiniband/{nic.rdma}/tc/1/traffic_class", linux_nic.traffic_class(nic))
        yield Answer(f"mlxconfig -d {nic.pci} -e q", linux_nic.firmware_options(nic))
    yield Answer("devlink dev info", "".join(map(linux_nic.firmware_versions, nics)))
    yield from tree.answers()
    yield from linux_gpu.answers(host)
    yield from linux_kernel.answers(host)
    yield missing("/var/run/nvidia-topologyd/virtualTopology.xml")
    yield _collective(host)
    yield Answer("systemctl list-unit-files --type=service --full --no-legend --no-pager", _units(host))


_OS_RELEASE = """PRETTY_NAME="Ubuntu 22.04.4 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.4 LTS (Jammy Jellyfish)"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=jammy
"""


def _links(host: Host, nics: Sequence[HostNic], gbps: Mapping[str, int]) -> str:
    management = f"3c:ec:ef:{host.number >> 8 & 255:02x}:{host.number & 255:02x}:10"
    loopback = {
        "ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536, "qdisc": "noqueue",
        "operstate": "UNKNOWN", "linkmode": "DEFAULT", "group": "default", "txqlen": 1000, "link_type": "loopback",
        "address": "00:00:00:00:00:00", "broadcast": "00:00:00:00:00:00",
    }  # fmt: skip
    links = [loopback, _link(2, MANAGEMENT, management, 1500, MANAGEMENT_PCI, 9710)]
    for at, nic in enumerate(nics):
        link = {**_link(3 + at, nic.netdev, nic.mac, nic.mtu, nic.pci, 9978), "phys_port_name": "p0"}
        down = {} if gbps[nic.netdev] else {"flags": ["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"], "operstate": "DOWN"}
        links.append({**link, **down})
    return json.dumps(links, separators=(",", ":")) + "\n"


def _link(index: int, name: str, mac: str, mtu: int, pci: str, largest: int) -> dict[str, Any]:
    return {
        "ifindex": index, "ifname": name, "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "mtu": mtu, "qdisc": "mq",
        "operstate": "UP", "linkmode": "DEFAULT", "group": "default", "txqlen": 1000, "link_type": "ether",
        "address": mac, "broadcast": "ff:ff:ff:ff:ff:ff", "promiscuity": 0, "min_mtu": 68, "max_mtu": largest,
        "num_tx_queues": 512, "num_rx_queues": 64, "parentbus": "pci", "parentdev": pci,
    }  # fmt: skip


def _neighbours(fabric: Fabric, host: Host, nics: Sequence[HostNic]) -> str:
    """The gateway of the management network, and the leaf of each rail by its link-local address."""
    entries: list[dict[str, Any]] = [
        {"dst": "10.65.255.1", "dev": MANAGEMENT, "lladdr": "94:6d:ae:ff:ff:00", "state": ["REACHABLE"]}
    ]
    for nic in nics:
        far = fabric.wiring.get(End(host.name, nic.netdev))
        leaf = None if far is None else fabric.switches.get(far.device)
        if leaf is not None:
            entries.append(
                {"dst": link_local(leaf.mac), "dev": nic.netdev, "lladdr": leaf.mac, "router": None, "state": ["STALE"]}
            )
    return json.dumps(entries, separators=(",", ":")) + "\n"


_MANAGEMENT_FLAGS = """MFP                    : off
total-port-shutdown    : off
LinkPolling            : off
flow-director-atr      : on
veb-stats              : off
hw-atr-eviction        : off
link-down-on-close     : off
legacy-rx              : off
disable-source-pruning : off
disable-fw-lldp        : on
rs-fec                 : off
base-r-fec             : off
"""
"""Of an adapter with `i40e` whose firmware leaves LLDP to the host."""


def _collective(host: Host) -> Answer:
    """The environment of the collective library for all jobs of the host."""
    if not host.nccl:
        return missing("/etc/nccl.conf")
    return Answer("cat /etc/nccl.conf", "".join(f"{name}={value}\n" for name, value in host.nccl.items()))


def _units(host: Host) -> str:
    """Unit files with their state and what the vendor presets."""
    states = {**dict.fromkeys(_UNITS, "disabled"), **dict.fromkeys(host.services, "enabled")}
    width = max(map(len, states))
    return "".join(f"{name:<{width}} {state:<8} enabled\n" for name, state in sorted(states.items()))


_UNITS = ("chronyd.service", "lldpad.service", "nvidia-fabricmanager.service", "ssh.service")
