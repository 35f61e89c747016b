"""Adapters as further tools print them: what they agree on with the commands that are sent; recorded answers by hand."""

import pytest

from auditor.model import GapReason
from auditor.platforms.linux import PLATFORM
from tests.unit.platforms.linux_host import SHARED, cell, parsed, read, reason, recorded, state

HOST = SHARED / "captures" / "host"
captures = pytest.mark.skipif(not HOST.is_dir(), reason="no collection of captures beside the checkout")
SOURCES = {
    "ibstat": "ibstat", "ibstatus": "ibstatus", "ibdev2netdev": "ibdev2netdev", "rdma-qos-query": "rdma_qos",
    "niccli-list": "niccli_list", "niccli-qos": "niccli_qos", "nicctl-show-dcqcn": "nicctl_dcqcn",
    "nicctl-show-lif": "nicctl_lif", "nicctl-show-port": "nicctl_port", "nicctl-show-qos": "nicctl_qos",
}  # fmt: skip
ETHTOOL = (
    "driver: {driver}\nversion: 6.8\nfirmware-version: 231.0.1/pkg 231.1.1\nexpansion-rom-version:\nbus-info: {pci}\n"
    "supports-statistics: yes\nsupports-priv-flags: no\n"
)


def test_none_of_these_is_sent():
    assert not any(PLATFORM.source(key).sent for key in SOURCES.values())


def test_ports_called_by_pci_address_get_their_network_device():
    seen = state(
        ("ethtool -i enp6s0", ETHTOOL.format(driver="ionic", pci="0000:06:00.0")),
        ("nicctl show qos", recorded("nicctl_qos", "set_up")),
        ("nicctl show dcqcn", recorded("nicctl_dcqcn", "on_and_off")),
        ("nicctl show port", recorded("nicctl_port", "up_and_dark")),
        ("nicctl show lif --json", recorded("nicctl_lif", "two")),
    )
    assert cell(seen, "qos_port[enp6s0].trust").value == ("dscp",)
    assert cell(seen, "qos_port[enp6s0].pfc_priorities").value == (3,)
    assert cell(seen, "qos_port[enp6s0].global_pause_rx").value is False
    assert cell(seen, "host_dscp[enp6s0,26].priority").value == 3
    assert cell(seen, "host_qos[enp6s0].cnp_dscp").value == 46
    assert cell(seen, "interface[enp6s0].speed").value == 400_000_000_000
    assert cell(seen, "interface[enp6s0].mac").value == "04:90:81:4a:00:10"
    assert "which network device is at 0000:16:00.0" in str([gap.detail for gap in seen.gaps])


def test_a_nic_as_delivered_has_no_pfc():
    block = (
        "NIC  : 4242-32 (0000:16:00.0)\n  Classification type : DSCP\n  DSCP : 0-63 ==> priority : 0\n"
        "  PFC no-drop priorities    :\n"
    )
    rows, gaps = parsed(block, "nicctl_qos")
    assert rows["qos_port", "0000:16:00.0"] == {"trust": ["dscp"], "pfc_priorities": []}
    assert len(rows) == 65
    assert not gaps


def test_broadcoms_list_stands_in_where_ethtool_said_nothing():
    listed = ("niccli --list_devices", recorded("niccli_list", "older"))
    assert cell(state(listed), "firmware[nic.0000:3b:00.0].version").value == "226.0.145.0"
    both = state(listed, ("ethtool -i ens1", ETHTOOL.format(driver="bnxt_en", pci="0000:3b:00.0")))
    assert cell(both, "firmware[nic.0000:3b:00.0].version").value == "231.0.1/pkg 231.1.1"
    assert not [gap for gap in both.gaps if gap.reason is GapReason.CONFLICT]


def test_broadcoms_qos_by_pci_address_and_by_number():
    named = state(
        ("ethtool -i ens1", ETHTOOL.format(driver="bnxt_en", pci="0000:16:00.0")),
        ("niccli --dev 0000:16:00.0 qos --ets --show", recorded("niccli_qos", "by_pci_address")),
    )
    assert cell(named, "qos_port[ens1].pfc_priorities").value == (3, 5)
    assert cell(named, "host_dscp[ens1,24].priority").value == 3
    assert reason(named, "host_dscp[ens1,25].priority") is GapReason.UNSUPPORTED


@pytest.mark.parametrize("other", ["ibstat", "ibstatus", "ibdev2netdev"])
def test_other_tools_of_ports_do_not_contradict_the_library(other):
    case = {"ibstat": "infiniband_and_ethernet", "ibstatus": "active_and_disabled", "ibdev2netdev": "plain"}[other]
    verbs = recorded("ibv_devinfo", "infiniband_bond_and_bad_cells")
    seen = state(("ibv_devinfo -v", verbs), (other, recorded(other, case)))
    assert cell(seen, "rdma_port[mlx5_0,1].rate").value == 400_000_000_000
    assert cell(seen, "rdma_port[mlx5_0,1].state").value == "active"
    assert not [gap for gap in seen.gaps if gap.reason is GapReason.CONFLICT]


def captured(name):
    source = SOURCES[name.partition("/")[0]]
    return read(HOST / name, source, device="0000:16:00.0")


@captures
@pytest.mark.parametrize("folder", SOURCES)
def test_every_recorded_answer_gives_rows_or_says_why_not(folder):
    files = sorted((HOST / folder).iterdir())
    assert files
    for file in files:
        rows, gaps = captured(f"{folder}/{file.name}")
        assert rows or (gaps and all(gap.detail for gap in gaps)), file.name


@captures
def test_recorded_ibstat_of_one_edr_port():
    rows, gaps = captured("ibstat/cx4-edr-sm-lid-1.txt")
    assert rows == {
        ("rdma_port", "mlx5_0", "1"): {
            "node_guid": "ec0d9a03003d677a", "port_guid": "ec0d9a03003d677a", "link_layer": "infiniband", "state": "active",
            "rate": 100_000_000_000,
        }
    }  # fmt: skip
    assert not gaps


@captures
def test_recorded_ibstat_of_roce_hosts():
    rows, gaps = captured("ibstat/h100-8x400-roce-plus-cx6dx.txt")
    assert len(rows) == 12
    assert sum(row.get("rate") == 400_000_000_000 for row in rows.values()) == 8
    assert rows["rdma_port", "mlx5_1", "1"] == {
        "node_guid": "e8ebd303003307da", "link_layer": "ethernet", "state": "active", "rate": 100_000_000_000,
    }  # fmt: skip
    assert not gaps


@captures
@pytest.mark.parametrize("file", ["h100-some-down-disabled", "h100-some-down-sdr"])
def test_recorded_ibstat_of_ports_that_are_down_has_no_rate_of_them(file):
    rows, _ = captured(f"ibstat/{file}.txt")
    down = [row for row in rows.values() if row["state"] == "down"]
    assert down
    assert not any("rate" in row for row in down)


@captures
def test_recorded_ibstat_with_blanks():
    rows, gaps = captured("ibstat/h100-9x-ndr-spaces-indent.txt")
    assert rows["rdma_port", "mlx5_0", "1"]["rate"] == 400_000_000_000
    assert rows["rdma_port", "mlx5_bond_0", "1"] == {
        "node_guid": "58a2e10300760398", "link_layer": "ethernet", "state": "active", "rate": 200_000_000_000,
    }  # fmt: skip
    assert not gaps


@captures
def test_recorded_ibstat_of_two_ports():
    rows, gaps = captured("ibstat/mlx4-dual-port-ethernet.txt")
    one = {"node_guid": "7cfe900300bed010", "link_layer": "ethernet", "state": "active", "rate": 40_000_000_000}
    assert rows == {("rdma_port", "mlx4_0", "1"): one, ("rdma_port", "mlx4_0", "2"): one}
    assert not gaps


@captures
def test_recorded_ibstatus():
    rows, gaps = captured("ibstatus/mlx4-port2-disabled.txt")
    assert rows == {
        ("rdma_port", "mlx4_0", "1"): {"link_layer": "infiniband", "state": "active", "rate": 40_000_000_000},
        ("rdma_port", "mlx4_0", "2"): {"link_layer": "ethernet", "state": "down"},
        ("gid", "mlx4_0", "1", "0"): {"address": "fe80:0000:0000:0000:f452:1403:0091:ba11"},
        ("gid", "mlx4_0", "2", "0"): {"address": "fe80:0000:0000:0000:f652:14ff:fe91:ba12"},
    }
    assert not gaps
    rows, gaps = captured("ibstatus/azure-h100-two-devices-reduced.txt")
    assert rows["rdma_port", "mlx5_ib0", "1"] == {"link_layer": "infiniband"}
    assert {(gap.key[0], *gap.columns) for gap in gaps} == {
        (name, column) for name in ("mlx5_eth4", "mlx5_ib0") for column in ("state", "rate")
    }


@captures
def test_recorded_network_devices():
    rows, gaps = captured("ibdev2netdev/igx-cx7-v-active-empty-partname.txt")
    assert rows["rdma_port", "mlx5_1", "1"] == {"pci": "0005:03:00.1", "netdev": "cx7_1", "state": "active"}
    assert rows["firmware", "nic.0005:03:00.0"] == {"version": "28.39.3004"}
    assert rows["nic", "0005:03:00.0"] == {"netdev": "cx7_0"}
    assert not gaps
    rows, gaps = captured("ibdev2netdev/plain-4nic-2down.txt")
    assert {key[1]: row["netdev"] for key, row in rows.items()} == {
        "mlx5_0": "ens3np0", "mlx5_1": "enp77s0np0", "mlx5_2": "ens9f0np0", "mlx5_3": "ens9f1np1",
    }  # fmt: skip
    assert not gaps


@captures
def test_recorded_qos_script():
    rows, gaps = captured("rdma-qos-query/rdma-qos-sh-q-ecn-all-cnp48-tos160.txt")
    every = list(range(8))
    assert rows == {
        ("qos_port", "eth0"): {"trust": ["dscp"], "pfc_priorities": [5]},
        ("host_qos", "eth0"): {"cnp_dscp": 48, "ecn_np": every, "ecn_rp": every},
        ("rdma_port", "mlx5_0", "1"): {"rdma_tos": 160, "global_tclass": 160},
    }
    assert not gaps


@captures
def test_recorded_broadcom():
    rows, gaps = captured("niccli-list/thor-scrutiny-v227-table-2port.txt")
    assert rows == {
        ("nic", "0000:0d:00.0"): {"mac": "84:16:0a:3e:0e:20"},
        ("nic", "0000:0d:00.1"): {"mac": "84:16:0a:3e:0e:21"},
        ("firmware", "nic.0000:0d:00.0"): {"version": "224.1.102.0"},
        ("firmware", "nic.0000:0d:00.1"): {"version": "224.1.102.0"},
    }
    assert not gaps
    rows, gaps = captured("niccli-qos/thor2-ets-pfc3-app-dscp26-dscp48.txt")
    assert rows == {
        ("qos_port", "0000:16:00.0"): {"pfc_priorities": [3]},
        ("host_dscp", "0000:16:00.0", "26"): {"priority": 3},
        ("host_dscp", "0000:16:00.0", "48"): {"priority": 7},
    }
    assert [gap.reason for gap in gaps] == [GapReason.UNSUPPORTED]


@captures
def test_recorded_amd():
    rows, gaps = captured("nicctl-show-qos/dscp24-prio3-dscp46-prio6.txt")
    mapped = {key[2]: row["priority"] for key, row in rows.items() if key[0] == "host_dscp"}
    assert mapped == {**dict.fromkeys(map(str, range(64)), 0), "24": 3, "46": 6}
    assert rows["qos_port", "0000:f6:00.0"] == {"trust": ["dscp"]}
    assert {gap.reason for gap in gaps} == {GapReason.TRUNCATED}
    rows, gaps = captured("nicctl-show-dcqcn/enabled-cnp46-with-pfc-and-scheduling.txt")
    assert rows == {("host_qos", "0000:f6:00.0"): {"cnp_dscp": 46}}
    assert not gaps
    rows, gaps = captured("nicctl-show-port/salina-400g-up-dr4.txt")
    assert rows == {
        ("nic", "0000:f6:00.0"): {"mac": "04:90:81:32:5d:88"},
        ("interface", "0000:f6:00.0"): {"speed": 400_000_000_000, "fec": "rs"},
        ("qos_port", "0000:f6:00.0"): {"global_pause_rx": False, "global_pause_tx": False},
    }
    assert not gaps
    rows, gaps = captured("nicctl-show-port/mi355x-mtu9000-spec-block-only.txt")
    assert rows["qos_port", "0000:05:00.0"] == {"global_pause_rx": False, "global_pause_tx": False}
    assert {gap.reason for gap in gaps} == {GapReason.TRUNCATED}
    rows, gaps = captured("nicctl-show-lif/pollara-one-lif-down.json")
    assert rows == {("interface", "enp229s0"): {"mac": "04:90:81:2c:77:b0"}}
    assert not gaps
