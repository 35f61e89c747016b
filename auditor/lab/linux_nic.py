"""What the adapters of a designed host answer: the RDMA, QoS and firmware tools of their maker, and ethtool."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address
from types import MappingProxyType

from auditor.lab.fabric import HOST_CABLE_M, NIC_PSID, HostNic

DRIVER = "24.10-1.1.4"


def rdma_link(nic: HostNic, gbps: int) -> str:
    """One line of `rdma link`; `gbps` 0: no link."""
    state = "ACTIVE physical_state LINK_UP" if gbps else "DOWN physical_state DISABLED"
    return f"link {nic.rdma}/1 state {state} netdev {nic.netdev} \n"


def ibv_device(nic: HostNic, gbps: int) -> str:
    """Without a link (`gbps` 0) width and speed are placeholders. The RDMA MTU is the largest power of two that leaves room for
    the headers in the netdev's MTU."""
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
        f"\t\t\tstate:\t\t\t{'PORT_ACTIVE (4)' if gbps else 'PORT_DOWN (1)'}\n"
        "\t\t\tmax_mtu:\t\t4096 (5)\n"
        f"\t\t\tactive_mtu:\t\t{size} ({code})\n"
        "\t\t\tsm_lid:\t\t\t0\n"
        "\t\t\tport_lid:\t\t0\n"
        "\t\t\tport_lmc:\t\t0x00\n"
        "\t\t\tlink_layer:\t\tEthernet\n"
        "\t\t\tmax_msg_sz:\t\t0x40000000\n"
        "\t\t\tgid_tbl_len:\t\t255\n"
        f"\t\t\tactive_width:\t\t{'4X (2)' if gbps else '1X (1)'}\n"
        f"\t\t\tactive_speed:\t\t{_LANES[gbps]}\n"
        f"\t\t\tphys_state:\t\t{'LINK_UP (5)' if gbps else 'DISABLED (3)'}\n"
        f"\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:{interface_id}, RoCE v1\n"
        f"\t\t\tGID[  1]:\t\tfe80::{interface_id}, RoCE v2\n"
        f"{_entries(nic.address)}"
    )


_LANES = {400: "100.0 Gbps (128)", 200: "50.0 Gbps (64)", 0: "25.0 Gbps (32)"}
"""What is printed of one of four lanes, by the speed of the link."""


def _entries(address: str) -> str:
    """Both entries that an IPv4 address of the port makes."""
    if not address:
        return ""
    digits = IPv4Address(address).packed.hex()
    return (
        f"\t\t\tGID[  2]:\t\t0000:0000:0000:0000:0000:ffff:{digits[:4]}:{digits[4:]}, RoCE v1\n"
        f"\t\t\tGID[  3]:\t\t::ffff:{address}, RoCE v2\n"
    )


def qos(nic: HostNic) -> str:
    """Trust, the DSCP map (with trust dscp only), PFC, and the traffic classes of the transmit side."""
    mapping = ""
    if nic.trust == "dscp":
        of: dict[int, list[int]] = {prio: [] for prio in range(8)}
        for dscp in range(64):
            of[nic.moved.get(dscp, dscp // 8)].append(dscp)
        lines = [(prio, found[at : at + 8]) for prio, found in of.items() for at in range(0, len(found), 8)]
        mapping = "dscp2prio mapping:\n" + "".join(
            f"        prio:{prio} dscp:{','.join(f'{dscp:02d}' for dscp in reversed(some))},\n" for prio, some in lines
        )
    enabled = "   ".join("1" if priority in nic.pfc else "0" for priority in range(8))
    return (
        f"DCBX mode: {'OS' if nic.owner == 'os' else 'Firmware'} controlled\n"
        f"Priority trust state: {nic.trust}\n"
        f"{mapping}"
        "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=4147200\n"
        f"Cable len: {HOST_CABLE_M}\n"
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


def driver(nic: HostNic) -> str:
    """`ethtool -i`."""
    return (
        f"driver: mlx5_core\nversion: {DRIVER}\nfirmware-version: {nic.firmware} ({NIC_PSID})\nexpansion-rom-version: \n"
        f"bus-info: {nic.pci}\nsupports-statistics: yes\nsupports-test: yes\nsupports-eeprom-access: no\n"
        "supports-register-dump: no\nsupports-priv-flags: yes\n"
    )


def fec(nic: HostNic, gbps: int) -> str:
    """`ethtool --show-fec`."""
    active = "RS" if gbps else "None"
    return f"FEC parameters for {nic.netdev}:\nSupported/Configured FEC encodings: Auto RS\nActive FEC encoding: {active}\n"


def private_flags(nic: HostNic) -> str:
    """Flags of mlx5: none is about LLDP, which this adapter's firmware leaves to the host unless an option says otherwise."""
    flags = {
        "rx_cqe_moder": "on", "tx_cqe_moder": "off", "rx_cqe_compress": "off", "rx_striding_rq": "on",
        "rx_no_csum_complete": "off", "xdp_tx_mpwqe": "on", "skb_tx_mpwqe": "on", "tx_port_ts": "off",
    }  # fmt: skip
    return f"Private flags for {nic.netdev}:\n" + "".join(f"{name:<19}: {value}\n" for name, value in flags.items())


def pause(nic: HostNic) -> str:
    """`ethtool -a`: 802.3x pause of all priorities at once."""
    state = "on" if nic.pause else "off"
    return f"Pause parameters for {nic.netdev}:\nAutonegotiate:\toff\nRX:\t\t{state}\nTX:\t\t{state}\n\n"


def ecn(nic: HostNic) -> str:
    """The files of congestion control, as grep prints them."""
    folder = f"/sys/class/net/{nic.netdev}/ecn"
    values = {f"roce_np/enable/{at}": "1" if at in nic.slows else "0" for at in range(8)}
    values |= {"roce_np/min_time_between_cnps": "4", "roce_np/cnp_802p_prio": "6", "roce_np/cnp_dscp": str(nic.cnp_dscp)}
    values |= {f"roce_rp/enable/{at}": "1" if at in nic.slows else "0" for at in range(8)}
    return "".join(f"{folder}/{file}:{value}\n" for file, value in {**values, **_REACTION}.items())


_REACTION: Mapping[str, str] = MappingProxyType(
    {
        "roce_rp/clamp_tgt_rate": "0",
        "roce_rp/dce_tcp_g": "1019",
        "roce_rp/dce_tcp_rtt": "1",
        "roce_rp/initial_alpha_value": "1023",
        "roce_rp/rate_reduce_monitor_period": "4",
        "roce_rp/rpg_ai_rate": "5",
        "roce_rp/rpg_hai_rate": "50",
        "roce_rp/rpg_min_dec_fac": "50",
        "roce_rp/rpg_min_rate": "1",
    }
)


def traffic_class(nic: HostNic) -> str:
    """The traffic class that the driver gives all queue pairs of the port; nothing where none is set."""
    return "" if nic.tos is None else f"Global tclass={nic.tos}\n"


def sysfs_link(path: str, nic: HostNic) -> str:
    """The RDMA device in sysfs, a link to its place on the PCI bus; `path`: that place below /sys/devices."""
    return f"lrwxrwxrwx 1 root root 0 Mar  2 00:11 {nic.rdma} -> ../../devices/{path}/infiniband/{nic.rdma}\n"


def firmware_versions(nic: HostNic) -> str:
    """The adapter in `devlink dev info`: what runs, and what the next start loads."""
    stored = nic.stored or nic.firmware
    return (
        f"pci/{nic.pci}:\n  driver mlx5_core\n  serial_number {nic.guid}\n  versions:\n"
        f"      fixed:\n        fw.psid {NIC_PSID}\n"
        f"      running:\n        fw.version {nic.firmware}\n        fw {nic.firmware}\n"
        f"      stored:\n        fw.version {stored}\n        fw {stored}\n"
    )


def firmware_options(nic: HostNic) -> str:
    """`mlxconfig -e q`: default, current and next boot; a star where the next boot differs from one of them."""
    rows = []
    for name, (default, current) in _OPTIONS.items():
        coming = nic.next_boot.get(name, current)
        star = " " if default == current == coming else "*"
        rows.append(f"{star}       {name:<44}{default:<20}{current:<20}{coming:<20}\n")
    return (
        "\nDevice #1:\n----------\n\n"
        f"Device type:        {'ConnectX7':<20}\n"
        f"Name:               {'MCX75310AAS-NEA_Ax':<20}\n"
        "Description:        NVIDIA ConnectX-7 HHHL adapter card, 400GbE / NDR IB, single-port OSFP, PCIe 5.0 x16\n"
        f"Device:             {nic.pci:<20}\n\n"
        f"{'Configurations:':<57}{'Default':<20}{'Current':<20}Next Boot\n"
        + "".join(rows)
        + "The '*' shows parameters with next value different from default/current value.\n"
    )


_OPTIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "MEMIC_BAR_SIZE": ("0", "0"),
        "PCI_WR_ORDERING": ("per_mkey(0)", "per_mkey(0)"),
        "NUM_OF_VFS": ("0", "0"),
        "SRIOV_EN": ("False(0)", "False(0)"),
        "ROCE_CONTROL": ("ROCE_ENABLE(2)", "ROCE_ENABLE(2)"),
        "ROCE_CC_PRIO_MASK_P1": ("255", "255"),
        "CNP_DSCP_P1": ("48", "48"),
        "CNP_802P_PRIO_P1": ("6", "6"),
        "ROCE_ADAPTIVE_ROUTING_EN": ("True(1)", "True(1)"),
        "LLDP_NB_DCBX_P1": ("False(0)", "False(0)"),
        "LLDP_NB_RX_MODE_P1": ("OFF(0)", "OFF(0)"),
        "LLDP_NB_TX_MODE_P1": ("OFF(0)", "OFF(0)"),
        "DCBX_IEEE_P1": ("True(1)", "True(1)"),
        "DCBX_CEE_P1": ("True(1)", "True(1)"),
        "DCBX_WILLING_P1": ("True(1)", "False(0)"),
        "LINK_TYPE_P1": ("IB(1)", "ETH(2)"),
        "ADVANCED_PCI_SETTINGS": ("False(0)", "True(1)"),
        "MAX_ACC_OUT_READ": ("0", "128"),
    }
)
