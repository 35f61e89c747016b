"""PCI listings and topology matrices of real machines: read whole, or a reason is given. Values were checked by hand."""

import os
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from auditor.checks import rules
from auditor.model import RawOutput, RuleContext, Verdict, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from auditor.topology.places import Function, affinity, is_gpu, places
from auditor.workflows.parse import parse_text

SHARED = Path(os.environ.get("AUDITOR_SHARED", Path(__file__).resolve().parents[4] / "shared"))
HOST = SHARED / "captures" / "host"
pytestmark = pytest.mark.skipif(not HOST.is_dir(), reason="the captures are not beside the checkout")

COMMANDS = {
    "lspci": "lspci", "lspci-nn": "lspci -nn", "lspci-tv": "lspci -tv", "lspci-vv-link": "lspci -vv", "lspci-vvv": "lspci -vvv",
    "nvidia-smi-topo-m": "nvidia-smi topo -m", "lstopo-xml": "lstopo --of xml",
}  # fmt: skip
DELL = "lspci-vvv/dell-h100-8gpu-8cx7-4nvswitch-pex890xx.txt"

ROWS = {
    "lspci/pensando-elba-grep.txt": 7,
    "lspci-nn/qemu-a10-1vf.txt": 18,
    "lspci-tv/h200-vm-flat-8gpu-8cx7.txt": 48,
    "lspci-tv/h200-vm-pxb-numa-switches.txt": 50,
    "lspci-vv-link/mi50-4gpu-2.5GTs-x8-both-downgraded.txt": 0,
    "lspci-vv-link/rtx2060-x8-downgraded-two-cards.txt": 2,
    DELL: 108,
    "lspci-vvv/dell-h100-downgraded-devices.txt": 4,
    "lspci-vvv/dell-h100-one-connectx7.txt": 1,
    "lspci-vvv/dell-h100-one-h100-gpu.txt": 1,
    "lspci-vvv/dell-h100-one-pex890xx-port-acs.txt": 1,
    "nvidia-smi-topo-m/a100-10nic-dual-port-storage-pair-no-pxb.txt": 80,
    "nvidia-smi-topo-m/a800-8bond-pix-pairs-0-61-affinity.txt": 64,
    "nvidia-smi-topo-m/b300-8cx8-pxb-plus-bond-sgr-codes-without-esc.txt": 72,
    "nvidia-smi-topo-m/h100-6nic-all-node-cpu-affinity-empty.txt": 48,
    "nvidia-smi-topo-m/h100-pix-to-every-second-gpu-8nic.txt": 64,
    "nvidia-smi-topo-m/modelled-h100-seven-gpus-two-nics-swapped.txt": 56,
    "nvidia-smi-topo-m/oci-a100-18nic-nps4-pxb-pairs.txt": 144,
    "lstopo-xml/dgx-gb10.xml": 0,
    "lstopo-xml/dgx2-16xV100-nvml.xml": 84,
    "lstopo-xml/power8-gpu-nvlink-distances.xml": 8,
}
"""Rows by file. A script's frame around the lines of MI50 cards is no lspci, and the GB10 dump was made without devices."""

DAMAGED = {
    "lspci-vv-link/mi50-4gpu-2.5GTs-x8-both-downgraded.txt": "unparsed",
    "lspci-vv-link/rtx2060-x8-downgraded-two-cards.txt": "truncated",
    "lstopo-xml/dgx-gb10.xml": "not_collected",
}


def read(name):
    return parse_text("linux", COMMANDS[name.split("/")[0]], (HOST / name).read_text("utf-8"), None)


def test_every_file_is_looked_at():
    assert {f"{folder}/{path.name}" for folder in COMMANDS for path in (HOST / folder).iterdir()} == set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_every_file_is_read_or_refused_with_a_reason(name):
    document = read(name)
    assert len(document["rows"]) == ROWS[name]
    counted = {gap["reason"] for gap in document["gaps"] if gap["reason"] != "unsupported"}
    assert counted == ({DAMAGED[name]} if name in DAMAGED else set())


def nearest(name):
    found = defaultdict(list)
    for row in read(name)["rows"]:
        if row.get("nearest"):
            found[row["key"][0]].append(f"{row['key'][1]} {row['kind']}")
    return dict(found)


def test_nearest_ports_where_each_gpu_has_one_behind_two_switches():
    assert nearest("nvidia-smi-topo-m/b300-8cx8-pxb-plus-bond-sgr-codes-without-esc.txt") == {
        str(gpu): [f"mlx5_{10 + gpu} PXB"] for gpu in range(8)
    }


def test_nearest_ports_of_a_host_that_lost_a_gpu_and_has_two_nics_exchanged():
    found = nearest("nvidia-smi-topo-m/modelled-h100-seven-gpus-two-nics-swapped.txt")
    assert found == {str(gpu): [f"mlx5_{nic} PIX"] for gpu, nic in enumerate((0, 1, 2, 5, 4, 3, 6))}


def test_several_ports_may_be_nearest_and_some_gpus_have_none_close_by():
    pairs = {0: (2, 3), 1: (2, 3), 2: (0, 1), 3: (0, 1), 4: (8, 9), 5: (8, 9), 6: (4, 5), 7: (4, 5)}
    assert nearest("nvidia-smi-topo-m/a100-10nic-dual-port-storage-pair-no-pxb.txt") == {
        str(gpu): [f"mlx5_{nic} PXB" for nic in nics] for gpu, nics in pairs.items()
    }
    every_second = nearest("nvidia-smi-topo-m/h100-pix-to-every-second-gpu-8nic.txt")
    assert every_second["6"] == ["mlx5_6 PIX", "mlx5_7 PIX"]
    assert every_second["7"] == [f"mlx5_{nic} NODE" for nic in (4, 5, 6, 7)]
    four = {0: 5, 1: 5, 2: 1, 3: 1, 4: 14, 5: 14, 6: 9, 7: 9}
    assert nearest("nvidia-smi-topo-m/oci-a100-18nic-nps4-pxb-pairs.txt") == {
        str(gpu): sorted(f"mlx5_{first + more} PXB" for more in range(4)) for gpu, first in four.items()
    }


def test_the_tree_of_a_virtual_machine_with_switches():
    parents = {row["key"][0]: row.get("parent") for row in read("lspci-tv/h200-vm-pxb-numa-switches.txt")["rows"]}
    assert parents["0000:cb:00.0"] == "0000:ca:00.0" and parents["0000:cc:00.0"] == "0000:ca:01.0"
    assert parents["0000:ca:00.0"] == parents["0000:ca:01.0"] == "0000:c9:00.0"
    assert parents["0000:c9:00.0"] == "0000:c8:00.0" and parents["0000:c8:00.0"] is None
    assert parents["0000:74:00.0"] == "0000:72:01.0"
    hanging = places({address: Function(parent) for address, parent in parents.items()})
    pair, across = ("0000:cb:00.0", "0000:cc:00.0"), ("0000:cb:00.0", "0000:d0:00.0")
    assert [found for _, _, found, _ in affinity({"0": hanging[pair[0]]}, {"n": hanging[pair[1]]})] == ["PIX"]
    assert [found for _, _, found, _ in affinity({"0": hanging[across[0]]}, {"n": hanging[across[1]]})] == ["PHB"]


def test_numa_nodes_and_bridges_of_a_dgx2():
    rows = {row["key"][0]: row for row in read("lstopo-xml/dgx2-16xV100-nvml.xml")["rows"]}
    gpus = sorted(address for address, row in rows.items() if row["class_code"] == 0x0302 and row["vendor_id"] == 0x10DE)
    assert len(gpus) == 16
    assert [rows[address]["numa_node"] for address in gpus] == [0] * 8 + [1] * 8
    assert rows["0000:34:00.0"]["parent"] == "0000:33:00.0"


# The Dell host with eight H100.


def dell():
    body = (HOST / DELL).read_text("utf-8")
    raw = RawOutput("gpu-01", "linux", "lspci", "lspci -vvv", body, digest(body), datetime(2026, 9, 1, tzinfo=UTC))
    return parse_device("gpu-01", [raw], platforms())


def test_links_slots_and_tree_of_a_dell_host():
    rows = {row["key"][0]: row for row in read(DELL)["rows"]}
    assert rows["0000:1a:00.0"] == {
        "table": "pci", "key": ["0000:1a:00.0"], "layer": "applied", "class_code": 0x0200, "numa_node": 0, "width": 16,
        "speed": 32_000_000_000, "width_cap": 16, "speed_cap": 32_000_000_000, "parent": "0000:17:02.0",
    }  # fmt: skip
    assert rows["0000:17:02.0"]["slot"] == "38" and rows["0000:17:02.0"]["parent"] == "0000:16:00.0"
    assert rows["0000:16:00.0"]["parent"] == "0000:15:01.0" and "parent" not in rows["0000:15:01.0"]
    assert "speed" not in rows["0000:19:00.0"] and rows["0000:19:00.0"]["width"] == 16
    assert rows["0000:82:00.0"]["acs"] is True and rows["0000:17:01.0"]["acs"] is False


def test_nearest_nic_of_each_gpu_of_a_dell_host():
    rows = {row["key"][0]: row for row in read(DELL)["rows"]}
    hanging = places({address: Function(row.get("parent"), row.get("numa_node")) for address, row in rows.items()})
    gpus = {address: hanging[address] for address, row in rows.items() if is_gpu(row.get("class_code"), row.get("vendor_id"))}
    nics = {address: hanging[address] for address, row in rows.items() if row.get("class_code") == 0x0200}
    assert len(gpus) == 8
    near = defaultdict(list)
    kinds = {}
    for gpu, nic, found, closest in affinity(gpus, nics):
        kinds[gpu, nic] = found
        if closest:
            near[gpu[5:]].append(f"{nic[5:]} {found}")
    assert near == {
        "19:00.0": ["1a:00.0 PIX", "1b:00.0 PIX", "1b:00.1 PIX"],
        "3b:00.0": ["3c:00.0 PIX"],
        "4c:00.0": ["4d:00.0 PIX"],
        "5d:00.0": ["5e:00.0 PIX"],
        "9b:00.0": ["9c:00.0 PIX", "9d:00.0 PIX", "9d:00.1 PIX"],
        "bb:00.0": ["bc:00.0 PIX"],
        "cb:00.0": ["cc:00.0 PIX"],
        "db:00.0": ["dc:00.0 PIX"],
    }
    assert kinds["0000:19:00.0", "0000:3c:00.0"] == "NODE"
    assert kinds["0000:19:00.0", "0000:9c:00.0"] == "SYS"


@pytest.mark.parametrize("rule", ["host.pcie_degraded", "host.acs_on", "host.numa_mismatch", "host.affinity_disagrees"])
def test_nothing_is_wrong_with_a_healthy_dell_host(rule):
    """Thirteen ports run below what they can, since what is plugged in can no more; NVSwitches hang below ports with ACS on."""
    said = list(rules()[rule].function(dell(), RuleContext()))
    assert {item.verdict for item in said} <= {Verdict.PASS}
    assert bool(said) == (rule != "host.affinity_disagrees")
