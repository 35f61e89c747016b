"""What a designed GPU host answers: the Linux and NIC commands that the auditor sends, in the formats of Ubuntu 22.04."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from auditor.lab import lldp
from auditor.lab.fabric import NIC_PSID, ROCE_DSCP, ROCE_PRIORITY, End, Fabric, Host, HostNic

KERNEL = "5.15.0-112-generic"
DRIVER = "24.10-1.1.4"
MANAGEMENT = "eno1"


def answers(fabric: Fabric, host: Host) -> Iterator[tuple[str, str]]:
    """Every command with its output."""
    nics = list(host.nics.values())
    yield "uname -n", f"{host.name}\n"
    yield "uname -r", f"{KERNEL}\n"
    yield "cat /etc/os-release", _OS_RELEASE
    yield "cat /sys/class/dmi/id/bios_version", "2.21.6\n"
    yield "cat /sys/class/dmi/id/sys_vendor", "Supermicro\n"
    yield "cat /sys/class/dmi/id/product_name", "SYS-821GE-TNHR\n"
    yield "ip -j -d link", _links(host, nics)
    yield "lldpctl -f json", lldp.document(fabric, host.name, End("oob-01", f"Ethernet{100 + host.number}"))
    yield "rdma link", "".join(_rdma(nic) for nic in nics)
    yield "ibv_devinfo -v", "\n".join(_device(nic) for nic in nics) + "\n"
    for nic in nics:
        yield f"mlnx_qos -i {nic.netdev}", _qos(nic)
        yield f"ethtool -i {nic.netdev}", _driver("mlx5_core", DRIVER, f"{nic.firmware} ({NIC_PSID})", nic.pci)
        yield f"ethtool --show-fec {nic.netdev}", _fec(nic)


_OS_RELEASE = """PRETTY_NAME="Ubuntu 22.04.4 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.4 LTS (Jammy Jellyfish)"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
UBUNTU_CODENAME=jammy
"""


def _links(host: Host, nics: Sequence[HostNic]) -> str:
    management = f"3c:ec:ef:{host.number >> 8 & 255:02x}:{host.number & 255:02x}:10"
    loopback = {
        "ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536, "qdisc": "noqueue",
        "operstate": "UNKNOWN", "linkmode": "DEFAULT", "group": "default", "txqlen": 1000, "link_type": "loopback",
        "address": "00:00:00:00:00:00", "broadcast": "00:00:00:00:00:00",
    }  # fmt: skip
    links = [loopback, _link(2, MANAGEMENT, management, 1500, "0000:01:00.0", 9710)]
    for at, nic in enumerate(nics):
        links.append({**_link(3 + at, nic.netdev, nic.mac, nic.mtu, nic.pci, 9978), "phys_port_name": "p0"})
    return json.dumps(links, separators=(",", ":")) + "\n"


def _link(index: int, name: str, mac: str, mtu: int, pci: str, largest: int) -> dict[str, Any]:
    return {
        "ifindex": index, "ifname": name, "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"], "mtu": mtu, "qdisc": "mq",
        "operstate": "UP", "linkmode": "DEFAULT", "group": "default", "txqlen": 1000, "link_type": "ether",
        "address": mac, "broadcast": "ff:ff:ff:ff:ff:ff", "promiscuity": 0, "min_mtu": 68, "max_mtu": largest,
        "num_tx_queues": 512, "num_rx_queues": 64, "parentbus": "pci", "parentdev": pci,
    }  # fmt: skip


def _rdma(nic: HostNic) -> str:
    return f"link {nic.rdma}/1 state ACTIVE physical_state LINK_UP netdev {nic.netdev} \n"


def _device(nic: HostNic) -> str:
    """The RDMA MTU is the largest power of two that leaves room for the headers in the netdev's MTU."""
    size = next(size for size in (4096, 2048, 1024, 512, 256) if size + 96 <= nic.mtu)
    code = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}[size]
    guid = ":".join(nic.guid[at : at + 4] for at in range(0, 16, 4))
    interface_id = (
        f"{int(nic.mac[:2], 16) ^ 2:02x}{nic.mac[3:5]}:{nic.mac[6:8]}ff:fe{nic.mac[9:11]}:{nic.mac[12:14]}{nic.mac[15:]}"
    )
    return (
        f"hca_id:\t{nic.rdma}\n"
        "\ttransport:\t\t\tInfiniBand (0)\n"
        f"\tfw_ver:\t\t\t\t{nic.firmware}\n"
        f"\tnode_guid:\t\t\t{guid}\n"
        f"\tsys_image_guid:\t\t\t{guid}\n"
        "\tvendor_id:\t\t\t0x02c9\n"
        "\tvendor_part_id:\t\t\t4129\n"
        "\thw_ver:\t\t\t\t0x0\n"
        f"\tboard_id:\t\t\t{NIC_PSID}\n"
        "\tphys_port_cnt:\t\t\t1\n"
        "\tmax_mr_size:\t\t\t0xffffffffffffffff\n"
        "\tpage_size_cap:\t\t\t0xfffffffffffff000\n"
        "\tmax_qp:\t\t\t\t131072\n"
        "\tmax_qp_wr:\t\t\t32768\n"
        "\tatomic_cap:\t\t\tATOMIC_HCA (1)\n"
        "\n"
        "\tnum_comp_vectors:\t\t63\n"
        "\t\tport:\t1\n"
        "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"
        "\t\t\tmax_mtu:\t\t4096 (5)\n"
        f"\t\t\tactive_mtu:\t\t{size} ({code})\n"
        "\t\t\tsm_lid:\t\t\t0\n"
        "\t\t\tport_lid:\t\t0\n"
        "\t\t\tport_lmc:\t\t0x00\n"
        "\t\t\tlink_layer:\t\tEthernet\n"
        "\t\t\tmax_msg_sz:\t\t0x40000000\n"
        "\t\t\tgid_tbl_len:\t\t255\n"
        "\t\t\tactive_width:\t\t4X (2)\n"
        "\t\t\tactive_speed:\t\t100.0 Gbps (128)\n"
        "\t\t\tphys_state:\t\tLINK_UP (5)\n"
        f"\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:{interface_id}, RoCE v1\n"
        f"\t\t\tGID[  1]:\t\tfe80::{interface_id}, RoCE v2\n"
    )


def _qos(nic: HostNic) -> str:
    mapping = ""
    if nic.trust == "dscp":
        rows = [f"\tprio:{prio} dscp:{','.join(f'{prio * 8 + low:02d}' for low in range(7, -1, -1))},\n" for prio in range(8)]
        assert ROCE_DSCP // 8 == ROCE_PRIORITY
        mapping = "dscp2prio mapping:\n" + "".join(rows).replace("\t", " " * 8)
    enabled = "   ".join("1" if priority in nic.pfc else "0" for priority in range(8))
    return (
        "DCBX mode: OS controlled\n"
        f"Priority trust state: {nic.trust}\n"
        f"{mapping}"
        "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=4147200\n"
        "Cable len: 5\n"
        "PFC configuration:\n"
        "\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {enabled}   \n"
        f"\tbuffer      {enabled}   \n"
        + "".join(
            f"tc: {tc} ratelimit: unlimited, tsa: {'strict' if tc == 6 else 'ets, bw: ' + {0: '50%', 3: '50%'}.get(tc, '0%')}\n"
            f"\t priority:  {tc}\n"
            for tc in range(8)
        )
    )


def _driver(driver: str, version: str, firmware: str, pci: str) -> str:
    return (
        f"driver: {driver}\nversion: {version}\nfirmware-version: {firmware}\nexpansion-rom-version: \nbus-info: {pci}\n"
        "supports-statistics: yes\nsupports-test: yes\nsupports-eeprom-access: no\nsupports-register-dump: no\n"
        "supports-priv-flags: yes\n"
    )


def _fec(nic: HostNic) -> str:
    return f"FEC parameters for {nic.netdev}:\nSupported/Configured FEC encodings: Auto RS\nActive FEC encoding: RS\n"
