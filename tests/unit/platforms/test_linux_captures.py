"""Outputs of Linux hosts that others collected, values read by hand. Skipped where the collection is not beside the checkout."""

import re

import pytest

from auditor.model import GapReason
from auditor.platforms.linux import PLATFORM
from auditor.platforms.linux.rdma import qos_netdevs, rdma_netdevs
from tests.unit.platforms.linux_host import SHARED, parsed, read

HOST = SHARED / "captures" / "host"
pytestmark = pytest.mark.skipif(not HOST.is_dir(), reason="no collection of captures beside the checkout")

SOURCES = {
    "ip-link": "ip_link_text",
    "lldpctl": "lldpctl",
    "ibv_devinfo": "ibv_devinfo",
    "rdma-link": "rdma_link",
    "ethtool-i": "ethtool_i",
    "mlnx_qos": "mlnx_qos",
    "dmidecode": "dmidecode",
    "mlxconfig": "mlxconfig",
    "cma_roce_tos": "cma_roce_tos",
    "proc-net-bonding": "bonding",
}
"""Folder of captures by the source that reads it."""
LLDP = {"json": "lldpctl", "json0.json": "lldpctl", "txt": "lldpctl_text", "keyvalue.txt": "lldpctl_keyvalue"}
"""Extension of a recorded form of LLDP by the source that reads it."""


def captured(name, **parameters):
    return read(HOST / name, SOURCES[name.partition("/")[0]], **parameters)


@pytest.mark.parametrize("folder", SOURCES)
def test_every_capture_gives_rows_or_says_why_not(folder):
    files = sorted((HOST / folder).iterdir())
    assert files
    for file in files:
        source = PLATFORM.source(SOURCES[folder])
        named = {"netdev": "eth0", "pci": "0000:37:00.0", "rdma": "mlx5_0", "bond": "bond0"}
        rows, gaps = captured(
            f"{folder}/{file.name}", **({source.parameter.name: named[source.parameter.name]} if source.parameter else {})
        )
        empty = folder == "lldpctl" and file.name.startswith("host-no-neighbours")
        assert rows or empty or (all(gap.detail for gap in gaps) and gaps), file.name


@pytest.mark.parametrize("file", ["host-8rail-2leaf.txt", "host-8rail-2leaf.xml", "host-8rail-2leaf.keyvalue.txt"])
def test_other_forms_of_lldpctl_are_refused_as_no_json(file):
    rows, gaps = captured(f"lldpctl/{file}")
    assert not rows
    assert [(gap.reason, gap.detail[:7]) for gap in gaps] == [(GapReason.UNPARSED, "no JSON")]


@pytest.mark.parametrize("host", ["host-8rail-2leaf", "host-single-link"])
@pytest.mark.parametrize("form", ["json0.json", "txt", "keyvalue.txt"])
def test_every_form_of_one_answer_of_lldpd_gives_the_same_rows(host, form):
    wanted, _ = captured(f"lldpctl/{host}.json")
    rows, gaps = read(HOST / f"lldpctl/{host}.{form}", LLDP[form])
    assert rows == wanted
    assert not gaps


def test_bond_with_lacp_of_two_members():
    rows, gaps = captured("proc-net-bonding/lacp-2x25g-different-partner-ports.txt", bond="bond0")
    assert rows == {
        ("lag_member", "bond0", "enp65s0f0"): {"active": True},
        ("lag_member", "bond0", "enp65s0f1"): {"active": True},
    }
    assert not gaps


def test_ip_link_with_bond_members():
    rows, gaps = captured("ip-link/ip-l-bond-slaves-permaddr.txt")
    base = {"enabled": True, "up": True, "mtu": 1500, "mtu_shown": "1500"}
    assert rows == {
        ("interface", "lo"): base | {"mtu": 65536, "mtu_shown": "65536"},
        ("interface", "enp65s0f0"): base | {"mac": "40:a6:b7:20:2f:e0", "lag": "bond0"},
        ("interface", "enp65s0f1"): base | {"mac": "40:a6:b7:20:2f:e1", "lag": "bond0"},
        ("interface", "idrac"): base | {"enabled": False, "up": False, "mac": "2c:ea:7f:ef:54:d3"},
        ("interface", "bond0"): base | {"mac": "40:a6:b7:20:2f:e0"},
    }
    assert not gaps


@pytest.mark.parametrize("form", LLDP)
def test_lldp_of_a_host_with_eight_rails(form):
    rows, gaps = read(HOST / f"lldpctl/host-8rail-2leaf.{form}", LLDP[form])
    assert len(rows) == 9
    assert not gaps
    assert rows["neighbour", "rail0", "Ethernet0"] == {
        "system": "leaf-a01", "port_kind": "local", "port_description": "etp1", "chassis": "02:00:5e:20:00:00",
        "chassis_kind": "mac", "management_address": "10.20.0.11", "since_s": 4.0, "ttl_s": 4.0, "protocol": "LLDP",
    }  # fmt: skip
    assert rows["neighbour", "rail7", "Ethernet4/1"]["port_description"] == "to gpu-node001 rail7"
    assert rows["neighbour", "eno1", "44:38:39:00:01:11"]["port_kind"] == "mac"


@pytest.mark.parametrize("form", LLDP)
def test_lldp_of_a_host_with_one_neighbour(form):
    rows, gaps = read(HOST / f"lldpctl/host-single-link.{form}", LLDP[form])
    assert list(rows) == [("neighbour", "enp41s0np0", "02:00:5e:31:00:01")]
    assert rows["neighbour", "enp41s0np0", "02:00:5e:31:00:01"]["port_description"] == "swp1"
    assert not gaps


@pytest.mark.parametrize("form", ["json", "json0.json", "txt"])
def test_lldp_of_a_host_without_neighbours(form):
    assert read(HOST / f"lldpctl/host-no-neighbours.{form}", LLDP[form]) == ({}, [])


def test_ibv_devinfo_of_two_hdr_ports_of_which_one_is_disabled():
    rows, gaps = captured("ibv_devinfo/cx6-hdr-vv-second-port-disabled-lid65535.txt")
    assert rows == {
        ("rdma_port", "mlx5_0", "1"): {
            "node_guid": "88e9a4ffff25a462", "port_guid": "88e9a4ffff25a462", "link_layer": "infiniband", "state": "active",
            "rate": 200_000_000_000, "active_mtu": 4096,
        },
        ("rdma_port", "mlx5_1", "1"): {
            "node_guid": "88e9a4ffff25a463", "port_guid": "88e9a4ffff25a463", "link_layer": "infiniband", "state": "down",
        },
        ("gid", "mlx5_0", "1", "0"): {"address": "fe80:0000:0000:0000:88e9:a4ff:ff25:a462", "kind": "ib"},
        ("gid", "mlx5_1", "1", "0"): {"address": "fe80:0000:0000:0000:88e9:a4ff:ff25:a463", "kind": "ib"},
    }  # fmt: skip
    assert [(gap.table, gap.key, gap.reason) for gap in gaps] == [("gid", ("mlx5_1", "1"), GapReason.TRUNCATED)]


def test_ibv_devinfo_of_a_bond_with_two_lanes():
    rows, gaps = captured("ibv_devinfo/cx6dx-bond0-roce-vv-2X-width.txt")
    assert rows == {
        ("rdma_port", "mlx5_bond_0", "1"): {
            "node_guid": "08c0eb0300f028b2", "link_layer": "ethernet", "state": "active", "rate": 100_000_000_000,
            "active_mtu": 4096,
        },
        ("gid", "mlx5_bond_0", "1", "0"): {"address": "fe80:0000:0000:0000:0ac0:ebff:fef0:28b2", "kind": "v1"},
        ("gid", "mlx5_bond_0", "1", "1"): {"address": "fe80:0000:0000:0000:0ac0:ebff:fef0:28b2", "kind": "v2"},
        ("gid", "mlx5_bond_0", "1", "2"): {"address": "0000:0000:0000:0000:0000:ffff:c000:0203", "kind": "v1"},
        ("gid", "mlx5_bond_0", "1", "3"): {"address": "0000:0000:0000:0000:0000:ffff:c000:0203", "kind": "v2"},
    }  # fmt: skip
    assert [(gap.reason, gap.columns) for gap in gaps] == [
        (GapReason.TRUNCATED, ()),  # the blank line that ends it was not copied
        (GapReason.UNSUPPORTED, ("port_guid",)),
    ]


def test_ibv_devinfo_of_software_iwarp():
    rows, gaps = captured("ibv_devinfo/siw-iwarp-1024mtu.txt")
    assert rows == {
        ("rdma_port", "siw0", "1"): {
            "node_guid": "7686e2fffe2863fc", "link_layer": "ethernet", "state": "active", "active_mtu": 1024,
        }
    }  # fmt: skip
    assert {gap.columns for gap in gaps} == {("rate",), ("port_guid",), ("address",), ("kind",)}


def test_rdma_link_with_a_bond():
    rows, _ = captured("rdma-link/bond-and-4nics.txt")
    assert len(rows) == 5
    assert rows["rdma_port", "mlx5_bond_0", "1"] == {"netdev": "ens5f0np0", "state": "active"}
    assert rows["rdma_port", "mlx5_2", "1"] == {"netdev": "eth10", "state": "active"}


def test_rdma_link_with_gaps_in_the_numbers():
    name = "rdma-link/mi355x-ionic-numbers-with-gaps-plus-mlx5.txt"
    rows, gaps = captured(name)
    assert sorted(key[1] for key in rows) == [f"ionic_{n}" for n in (0, 2, 3, 4, 5, 7, 8, 9)] + ["mlx5_0", "mlx5_1"]
    assert rows["rdma_port", "ionic_9", "1"] == {"netdev": "enp239s0", "state": "active"}
    assert {(gap.table, gap.reason) for gap in gaps} == {
        (table, GapReason.UNSUPPORTED) for table in ("qos_port", "host_dscp", "host_qos")
    }
    text = (HOST / name).read_text()
    assert len(rdma_netdevs(text)) == 10
    assert qos_netdevs(text) == ["ens9np0", "ens49np1"]


def test_rdma_link_with_a_disabled_port():
    rows, _ = captured("rdma-link/oci-optimized3-one-disabled.txt")
    assert len(rows) == 4
    assert rows["rdma_port", "mlx5_3", "1"] == {"netdev": "rdma1", "state": "down"}


def test_ethtool_of_connectx_7():
    rows, gaps = captured("ethtool-i/cx7-mlx5-ofed-psid.txt", netdev="eth2")
    assert rows == {
        ("nic", "0000:e6:00.0"): {"driver": "mlx5_core", "netdev": "eth2"},
        ("firmware", "nic.0000:e6:00.0"): {"version": "28.39.3560", "psid": "MT_0000000838"},
        ("firmware", "driver.nic"): {"version": "23.10-1.1.9"},
    }
    assert not gaps


def test_ethtool_of_ionic():
    rows, _ = captured("ethtool-i/ionic-elba-inbox-empty-rom.txt", netdev="enp25s0")
    assert rows == {
        ("nic", "0000:19:00.0"): {"driver": "ionic", "netdev": "enp25s0"},
        ("firmware", "nic.0000:19:00.0"): {"version": "1.46.0-E-28"},
        ("firmware", "driver.nic.ionic"): {"version": "6.8.0-31-generic"},
    }


def test_ethtool_of_bnxt():
    rows, _ = captured("ethtool-i/modelled-bnxt-thor2.txt", netdev="ens3")
    assert rows["firmware", "nic.0000:a6:00.0"] == {"version": "231.0.153.0/pkg 231.1.162.1"}
    assert rows["nic", "0000:a6:00.0"]["driver"] == "bnxt_en"


def test_mlnx_qos_cut_behind_the_map():
    rows, gaps = captured("mlnx_qos/cut-after-dscp2prio-tabs.txt", netdev="eth2")
    assert rows["qos_port", "eth2"] == {"trust": ["dscp"]}
    assert {key[2]: row["priority"] for key, row in rows.items() if key[0] == "host_dscp"} == {str(n): n // 8 for n in range(64)}
    assert {gap.reason for gap in gaps} == {GapReason.TRUNCATED}


def test_mlnx_qos_with_firmware_dcbx():
    rows, gaps = captured("mlnx_qos/firmware-controlled-dcbx-pfc3-tc-groups-vendor-tsa.txt", netdev="eth2")
    assert rows["qos_port", "eth2"] == {"trust": ["dscp"], "pfc_priorities": [3]}
    assert rows["host_dscp", "eth2", "26"] == {"priority": 3}
    assert rows["host_qos", "eth2"] == {"dcbx_owner": "firmware"}
    assert len(rows) == 66
    assert not gaps


def test_mlnx_qos_without_a_map():
    rows, gaps = captured("mlnx_qos/no-dcbx-line-no-dscp-map-pfc3-100pct.txt", netdev="eth2")
    assert rows == {("qos_port", "eth2"): {"trust": ["dscp"], "pfc_priorities": [3]}}
    assert [(gap.table, gap.key, gap.reason) for gap in gaps] == [
        ("host_qos", ("eth2",), GapReason.UNSUPPORTED),
        ("host_dscp", ("eth2",), GapReason.UNPARSED),
    ]


def test_mlxconfig_of_three_options():
    rows, gaps = captured("mlxconfig/cx7-select-3-keys.txt", pci="37:00.0")
    assert rows == {
        ("nic_option", "0000:37:00.0", "NUM_OF_VFS"): {"value": "8"},
        ("nic_option", "0000:37:00.0", "SRIOV_EN"): {"value": "True"},
        ("nic_option", "0000:37:00.0", "LINK_TYPE_P1"): {"value": "ETH"},
        ("firmware", "nic.0000:37:00.0"): {"part_number": "MCX715105AS-WEAT_Ax"},
    }
    assert [(gap.layer, gap.reason) for gap in gaps] == [("applied", GapReason.NOT_COLLECTED)]


def test_mlxconfig_with_lines_left_out():
    rows, gaps = captured("mlxconfig/cx7-query-elided.txt", pci="37:00.0")
    assert rows.pop(("firmware", "nic.0000:37:00.0")) == {"part_number": "MCX715105AS-WEAT_Ax"}
    assert {key[2]: row["value"] for key, row in rows.items()} == {
        "MEMIC_BAR_SIZE": "0", "MEMIC_SIZE_LIMIT": "_256KB", "ADVANCED_PCI_SETTINGS": "False", "SAFE_MODE_THRESHOLD": "10",
        "SAFE_MODE_ENABLE": "True",
    }  # fmt: skip
    assert [(gap.layer, gap.key[1:], gap.reason) for gap in gaps] == [
        ("applied", (), GapReason.NOT_COLLECTED),
        ("next_boot", ("MODULE_SPLIT_M0",), GapReason.UNSUPPORTED),
        ("next_boot", (), GapReason.TRUNCATED),
    ]


def test_the_type_of_service_of_rdma_cm_is_a_bare_number():
    rows, gaps = captured("cma_roce_tos/set-106-echo.txt", rdma="mlx5_0")
    assert rows == {("rdma_port", "mlx5_0", "1"): {"rdma_tos": 106}}
    assert not gaps


def test_congestion_control_as_a_script_printed_its_files():
    """The script prints `label: path = value` where grep prints `path:value`; paths and values are the driver's."""
    text = (HOST / "rdma-qos-query" / "rdma-qos-sh-q-ecn-all-cnp48-tos160.txt").read_text()
    files = "".join(f"{path}:{value}\n" for path, value in re.findall(r": (/sys/\S+) = (.*)$", text, re.M))
    rows, gaps = parsed(files, "ecn", netdev="eth0")
    assert rows == {("host_qos", "eth0"): {"cnp_dscp": 48, "ecn_np": list(range(8)), "ecn_rp": list(range(8))}}
    assert not gaps
    rows, gaps = parsed(files, "rdma_tclass_all")
    assert rows == {("rdma_port", "mlx5_0", "1"): {"global_tclass": 160}}
    assert not gaps


def test_dmidecode_of_three_makers():
    hpe, _ = captured("dmidecode/hpe-dl380-gen11.txt")
    assert hpe["firmware", "bios"] == {"version": "2.16"}
    assert hpe["system",] == {"vendor": "HPE", "hardware_model": "ProLiant DL380 Gen11"}
    supermicro, _ = captured("dmidecode/smc-as4124gs-tnr.txt")
    assert supermicro["firmware", "bios"] == {"version": "2.0"}
    assert supermicro["system",] == {"vendor": "Supermicro", "hardware_model": "AS -4124GS-TNR"}
    dell, gaps = captured("dmidecode/gpud-system-section-only.txt")
    assert dell == {("system",): {"vendor": "Dell Inc.", "hardware_model": "PowerEdge XE9680"}}
    assert [(gap.table, gap.key) for gap in gaps] == [("firmware", ("bios",))]
