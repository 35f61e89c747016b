"""Field cases of Linux hosts, values read by hand. Skipped where they are not beside the checkout."""

import pytest

from auditor.model import GapReason
from tests.unit.platforms.linux_host import SHARED, read

CASES = SHARED / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no field cases beside the checkout")

CASE_02 = CASES / "02-nccl-traffic-class-outside-lossless"
CASE_03 = CASES / "03-mtu-across-vendors"
CASE_07 = CASES / "07-lldp-port-id-is-a-mac"
CASE_08 = CASES / "08-lldp-eaten-by-nic-firmware"
CASE_09 = CASES / "09-two-nics-swapped-between-rails"


@pytest.mark.parametrize("host", ["gpu-04", "gpu-05", "gpu-06", "gpu-07"])
def test_case_02_maps_only_46_and_48_out_of_priority_0(host):
    rows, gaps = read(CASE_02 / host / "mlnx_qos_-i_eth2.txt", "mlnx_qos", netdev="eth2")
    assert rows.pop(("qos_port", "eth2")) == {"trust": ["dscp"], "pfc_priorities": [5]}
    assert rows.pop(("host_qos", "eth2")) == {"dcbx_owner": "os"}
    assert {int(key[2]): row["priority"] for key, row in rows.items()} == {n: {46: 5, 48: 6}.get(n, 0) for n in range(64)}
    assert not gaps


@pytest.mark.parametrize("host,traffic_class", [("gpu-04", None), ("gpu-05", "184"), ("gpu-06", "46"), ("gpu-07", "186")])
def test_case_02_traffic_class_of_the_job_and_of_the_driver(host, traffic_class):
    rows, gaps = read(CASE_02 / host / "nccl_env.txt", "nccl_env")
    assert rows.get(("nccl_env", "nccl_env", "NCCL_IB_TC"), {}).get("value") == traffic_class
    assert rows["nccl_env", "nccl_env", "NCCL_IB_HCA"]["value"] == "=mlx5_0,mlx5_1,mlx5_2,mlx5_3"
    assert not gaps
    rows, gaps = read(CASE_02 / host / "rdma_traffic_class.txt", "rdma_tclass_all")
    assert rows == {("rdma_port", f"mlx5_{n}", "1"): {"global_tclass": 184} for n in range(4)}
    assert not gaps


@pytest.mark.parametrize("host,mtu,rdma,mac", [("gpu-11", 4200, 4096, "11:0a"), ("gpu-12", 1500, 1024, "12:0a")])
def test_case_03_both_mtus_of_the_hosts(host, mtu, rdma, mac):
    rows, _ = read(CASE_03 / host / "ip_link_show_ens1f0np0.txt", "ip_link_one", netdev="ens1f0np0")
    assert rows["interface", "ens1f0np0"] == {
        "enabled": True, "up": True, "mtu": mtu, "mtu_shown": str(mtu), "mac": f"b8:3f:d2:5c:{mac}",
    }  # fmt: skip
    ports, _ = read(CASE_03 / host / "ibv_devinfo.txt", "ibv_devinfo")
    assert ports["rdma_port", "mlx5_0", "1"]["active_mtu"] == rdma


@pytest.mark.parametrize("host", ["gpu-021", "gpu-022", "gpu-023", "gpu-024", "gpu-025", "gpu-027"])
def test_case_07_macs_of_the_hosts(host):
    rows, gaps = read(CASE_07 / host / "ip_-o_link.txt", "ip_link_text")
    assert rows["interface", "ens108np0"]["mac"] == f"b8:3f:d2:11:02:{host[-1]}0"
    assert rows["interface", "ens110np0"]["mac"].endswith(f":{host[-1]}1")
    assert rows["interface", "ens108np0"]["mtu"] == 4200
    assert not gaps


def test_case_07_a_host_that_was_not_reached_is_unreachable():
    rows, gaps = read(CASE_07 / "gpu-026" / "ip_-o_link.txt", "ip_link_text")
    assert not rows
    assert {gap.reason for gap in gaps} == {GapReason.UNREACHABLE}


@pytest.mark.parametrize(
    "host,netdev,pci,driver,version,psid",
    [
        ("gpu-31", "ens6f0", "0000:41:00.0", "ice", "4.40 0x8001c7d4 1.3534.0", None),
        ("gpu-31", "ens6f1", "0000:41:00.1", "ice", "4.40 0x8001c7d4 1.3534.0", None),
        ("gpu-33", "ens7f0np0", "0000:5e:00.0", "mlx5_core", "28.41.1000", "MT_0000000838"),
        ("gpu-34", "ens6f0", "0000:41:00.0", "i40e", "9.20 0x8000d95e 22.0.9", None),
    ],
)
def test_case_08_adapters(host, netdev, pci, driver, version, psid):
    rows, gaps = read(CASE_08 / host / f"ethtool_-i_{netdev}.txt", "ethtool_i", netdev=netdev)
    assert rows["nic", pci] == {"driver": driver, "netdev": netdev}
    assert rows["firmware", f"nic.{pci}"] == ({"version": version} if psid is None else {"version": version, "psid": psid})
    assert not gaps


@pytest.mark.parametrize(
    "host,netdev,flag,value",
    [
        ("gpu-31", "ens6f0", "fw-lldp-agent", True),
        ("gpu-31", "ens6f1", "fw-lldp-agent", True),
        ("gpu-34", "ens6f0", "disable-fw-lldp", False),
    ],
)
def test_case_08_the_agent_in_the_firmware_is_on(host, netdev, flag, value):
    rows, gaps = read(CASE_08 / host / f"ethtool_--show-priv-flags_{netdev}.txt", "ethtool_private_flags", netdev=netdev)
    assert rows["nic_flag", netdev, flag] == {"value": value}
    assert rows["nic_flag", netdev, "legacy-rx"] == {"value": False}
    assert len(rows) == (4 if host == "gpu-31" else 12)
    assert not gaps


def test_case_08_interfaces_of_the_short_form():
    rows, gaps = read(CASE_08 / "gpu-34" / "ip_-br_link.txt", "ip_link_brief")
    assert rows == {
        ("interface", "lo"): {"enabled": True, "up": True},
        ("interface", "eno1"): {"enabled": True, "up": True, "mac": "02:00:5e:20:00:34"},
        ("interface", "ens6f0"): {"enabled": True, "up": True, "mac": "b4:96:91:5c:34:00"},
    }
    assert not gaps


@pytest.mark.parametrize("host", ["gpu-31", "gpu-32", "gpu-33", "gpu-34"])
def test_case_08_who_is_heard_on_the_hosts(host):
    rows, gaps = read(CASE_08 / host / "lldpcli_show_neighbors.txt", "lldpctl_text")
    assert rows["neighbour", "eno1", f"1/{int(host[-2:]) - 14}"] == {
        "system": "mgmt-sw-02", "port_kind": "local", "port_description": f"1/{int(host[-2:]) - 14}",
        "chassis": "02:00:5e:10:00:02", "chassis_kind": "mac", "since_s": 267044.0, "ttl_s": 120.0, "protocol": "LLDP",
    }  # fmt: skip
    fabric = {key: row["system"] for key, row in rows.items() if key[1] != "eno1"}
    assert fabric == ({("neighbour", "ens5f0np0", "Ethernet16"): "leaf-11"} if host == "gpu-32" else {})
    assert not gaps


def test_case_09_the_crossed_pair_and_the_alias_as_port_id():
    rows, gaps = read(CASE_09 / "gpu-103" / "lldpctl_-f_keyvalue.txt", "lldpctl_keyvalue")
    assert {key[1]: row["system"] for key, row in rows.items() if row["system"] in ("leaf-r3", "leaf-r4")} == {
        "ens114np0": "leaf-r4", "ens116np0": "leaf-r3",
    }  # fmt: skip
    assert rows["neighbour", "ens114np0", "etp3"] == {
        "system": "leaf-r4", "port_kind": "local", "port_description": "Ethernet16", "chassis": "02:00:5e:44:00:01",
        "chassis_kind": "mac", "since_s": 530530.0, "ttl_s": 120.0, "protocol": "LLDP",
    }  # fmt: skip
    assert len(rows) == 8
    assert not gaps


@pytest.mark.parametrize("host", ["gpu-101", "gpu-102", "gpu-103", "gpu-104"])
def test_case_09_rdma_ports_and_their_network_devices(host):
    rows, gaps = read(CASE_09 / host / "rdma_link.txt", "rdma_link")
    assert [rows["rdma_port", f"mlx5_{n}", "1"]["netdev"] for n in range(8)] == [f"ens{108 + 2 * n}np0" for n in range(8)]
    assert not gaps
