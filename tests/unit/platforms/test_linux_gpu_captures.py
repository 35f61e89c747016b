"""GPUs, processors and kernels of hosts that others recorded, values read by hand. Skipped where the collection is not there."""

import pytest

from auditor.checks.host import iommu
from auditor.model import GapReason, RuleContext
from auditor.platforms.linux import PLATFORM
from tests.unit.platforms.linux_host import SHARED, output, read, state

HOST = SHARED / "captures" / "host"
pytestmark = pytest.mark.skipif(not HOST.is_dir(), reason="no collection of captures beside the checkout")

SOURCES = {
    "nvidia-smi": "nvidia_smi_table",
    "nvidia-smi-q": "nvidia_smi_text",
    "nvidia-smi-xml": "nvidia_smi",
    "nvidia-smi-nvlink-s": "nvidia_smi_by_number",
    "amd-smi-firmware": "amd_firmware",
    "amd-smi-topology": "amd_topology",
    "lscpu": "lscpu",
    "numactl-H": "numactl",
    "cmdline": "cmdline",
    "sysctl": "sysctl_all",
}
"""Folder of captures by the source that reads it. The logs (dmesg, of the fabric manager) hold events, no settings: not read."""


def captured(name):
    return read(HOST / name, SOURCES[name.partition("/")[0]])


@pytest.mark.parametrize("folder", SOURCES)
def test_every_capture_gives_rows_or_says_why_not(folder):
    files = sorted((HOST / folder).iterdir())
    assert files
    for file in files:
        rows, gaps = captured(f"{folder}/{file.name}")
        assert rows or (gaps and all(gap.detail for gap in gaps)), file.name


def test_eight_h100_of_one_log():
    rows, gaps = captured("nvidia-smi-q/h100-8gpu-535.183.01.txt")
    assert not gaps
    addresses = [f"0000:{bus}:00.0" for bus in ("53", "64", "75", "86", "97", "a8", "b9", "ca")]
    assert [key[1] for key in rows if key[0] == "gpu"] == addresses
    assert [rows["gpu", address]["index"] for address in addresses] == list(range(8))
    assert rows["gpu", "0000:ca:00.0"] == {
        "index": 7, "uuid": "GPU-7e78e6c8-c71c-66c7-9ded-f8836cecab32", "model": "NVIDIA H100 80GB HBM3",
        "fabric_state": "completed", "fabric_status": "success", "performance_state": "P0", "link_speed": 32_000_000_000,
    }  # fmt: skip
    assert rows["firmware", "driver.gpu"] == {"version": "535.183.01"}
    assert rows["firmware", "gpu.0000:53:00.0.vbios"] == {"version": "96.00.74.00.01", "part_number": "692-2G520-0200-000"}


def test_the_same_log_cut_in_its_first_gpu():
    rows, gaps = captured("nvidia-smi-q/h100-8gpu-535.183.01-cut-mid-file.txt")
    assert [key[1] for key in rows if key[0] == "gpu"] == ["0000:53:00.0"]
    assert "fabric_state" not in rows["gpu", "0000:53:00.0"]
    assert [(gap.table, gap.key, gap.reason) for gap in gaps] == [("gpu", (), GapReason.TRUNCATED)]
    assert "announces 8 GPUs and shows 1" in gaps[0].detail


def test_one_of_four_a100_as_xml():
    rows, gaps = captured("nvidia-smi-xml/a100-sxm4-v12.xml")
    assert rows == {
        ("firmware", "driver.gpu"): {"version": "535.54.03"},
        ("gpu", "0000:01:00.0"): {
            "uuid": "GPU-513536b6-7d19-9063-b049-1e69664bb298", "model": "NVIDIA A100-SXM4-80GB", "performance_state": "P0",
            "link_speed": 16_000_000_000,
        },
        ("firmware", "gpu.0000:01:00.0.vbios"): {"version": "92.00.36.00.02", "part_number": "692-2G506-0212-002"},
    }  # fmt: skip
    assert [(gap.table, gap.reason) for gap in gaps] == [("gpu", GapReason.TRUNCATED)]


def test_an_old_document_without_driver_and_count():
    rows, gaps = captured("nvidia-smi-xml/gtx1070ti-minimal.xml")
    assert rows == {
        ("gpu", "0000:01:00.0"): {
            "uuid": "GPU-f9ba66fc-a7f5-94c5-da19-019ef2f9c665", "model": "GeForce GTX 1070 Ti", "performance_state": "P8",
            "link_speed": 2_500_000_000,
        }
    }  # fmt: skip
    assert {(gap.table, gap.key, gap.reason) for gap in gaps} == {
        ("gpu", ("0000:01:00.0",), GapReason.UNSUPPORTED),
        ("gpu", (), GapReason.TRUNCATED),
        ("firmware", ("driver.gpu",), GapReason.TRUNCATED),
    }


def test_the_table_of_eight_h100():
    rows, gaps = captured("nvidia-smi/h100-8gpu-550.90.07.txt")
    assert rows.pop(("firmware", "driver.gpu")) == {"version": "550.90.07"}
    buses = ("19", "3b", "4c", "5d", "9b", "bb", "cb", "db")
    assert rows == {
        ("gpu", f"0000:{bus}:00.0"): {"index": index, "model": "NVIDIA H100 80GB HBM3"} for index, bus in enumerate(buses)
    }
    assert not gaps


def test_links_by_number_are_no_links_of_a_known_gpu():
    rows, gaps = captured("nvidia-smi-nvlink-s/a100-8gpu-12links.txt")
    assert not rows
    assert [(gap.reason, "names 8 GPUs by number" in gap.detail) for gap in gaps] == [(GapReason.NOT_COLLECTED, True)]


def test_one_gpu_of_that_answer_has_twelve_links():
    text = (HOST / "nvidia-smi-nvlink-s" / "a100-8gpu-12links.txt").read_text()
    second = "GPU 1:" + text.split("GPU 1:")[1].split("GPU 2:")[0]
    seen = state(("nvidia-smi nvlink -s -i 0000:0f:00.0", second))
    assert [row.nvlinks_up for row in seen.rows(PLATFORM.source("nvidia_smi_nvlink").fills[0].row_type).values()] == [12]


def test_firmware_and_links_of_mi355x():
    rows, gaps = captured("amd-smi-firmware/mi355x-gpu0-only.txt")
    assert len(rows) == 14
    assert rows["firmware", "gpu.0.pldm_bundle"] == {"version": "01.25.17.07"}
    assert rows["firmware", "gpu.0.vcn"] == {"version": "09.10.90.31"}
    assert not gaps
    rows, gaps = captured("amd-smi-topology/mi355x-8gpu-xgmi.txt")
    assert [key[1] for key in rows] == [f"0000:{bus}:00.0" for bus in ("0d", "26", "5d", "75", "8e", "a7", "dc", "f4")]
    assert all(row == {"nvlinks_up": 7} for row in rows.values())
    assert not gaps


def test_processors_of_three_machines():
    xeon, gaps = captured("lscpu/xeon-r740-4node-80cpu.txt")
    assert xeon["cpu",] == {
        "model": "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "sockets": 2, "cores_per_socket": 20, "threads_per_core": 2,
        "numa_nodes": 4, "online": 80,
    }  # fmt: skip
    assert xeon["numa", "3"]["cpus"].startswith("3,7,11,15,")
    assert not gaps
    arm, gaps = captured("lscpu/arm-kunpeng-4node.txt")
    assert arm["cpu",]["cores_per_socket"] == 64
    assert arm["numa", "3"] == {"cpus": "96-127"}
    assert not gaps
    spark, gaps = captured("lscpu/dgx-gb10-20cpu.txt")
    assert spark == {("cpu",): {"numa_nodes": 1, "online": 20}, ("numa", "0"): {"cpus": "0-19"}}
    assert {gap.columns for gap in gaps} == {("model",), ("sockets",), ("cores_per_socket",), ("threads_per_core",)}


def test_memory_nodes_of_four_machines():
    amd, gaps = captured("numactl-H/mi355x-epyc-2node-cpu239-offline.txt")
    assert amd == {
        ("numa", "0"): {"cpus": "0-63,128-191", "memory_bytes": 1_547_872 << 20},
        ("numa", "1"): {"cpus": "64-127,192-238,240-255", "memory_bytes": 1_548_129 << 20},
    }
    assert not gaps
    intel, gaps = captured("numactl-H/h100-xeon-2node-even-odd-cpus.txt")
    assert intel["numa", "0"] == {"cpus": ",".join(map(str, range(0, 96, 2))), "memory_bytes": 515_020 << 20}
    assert not gaps
    epyc, gaps = captured("numactl-H/epyc7742-8node-no-smt-trailing-space.txt")
    assert len(epyc) == 8
    assert epyc["numa", "7"] == {"cpus": "112-127", "memory_bytes": 32_250 << 20}
    assert not gaps
    elided, gaps = captured("numactl-H/dardel-elided-cpus.txt")
    assert elided == {("numa", "0"): {"memory_bytes": 31_620 << 20}, ("numa", "7"): {"memory_bytes": 32_246 << 20}}
    assert {(gap.key, gap.reason) for gap in gaps} == {(key, GapReason.TRUNCATED) for key in (("0",), ("7",), ())}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("dgx-gb10-iommu-passthrough0", "fail"),
        ("modelled-h100-acs-override-iommu-strict", "fail"),
        ("modelled-h100-ubuntu-iommu-pt", "pass"),
        ("modelled-mi300x-amd-iommu-dup-keys", "fail"),
    ],
)
def test_how_four_machines_were_started(name, verdict):
    """The first is an Arm machine, which needs translation: a rule without intent would be wrong about it."""
    seen = state(output("cat /proc/cmdline", (HOST / "cmdline" / f"{name}.txt").read_text()))
    intent = iommu.params_type(why="GPUDirect")
    assert [str(found.verdict) for found in iommu.function(seen, RuleContext(params=intent))] == [verdict]


def test_parameters_of_a_command_line_with_duplicates():
    rows, gaps = captured("cmdline/modelled-mi300x-amd-iommu-dup-keys.txt")
    assert {key[1]: row["value"] for key, row in rows.items()} == {
        "ro": "", "console": "ttyS0", "amd_iommu": "on", "iommu": "nopt", "pci": "bfsort", "hugepagesz": "1G", "hugepages": "16",
        "default_hugepagesz": "1G", "nokaslr": "", "numa_balancing": "disable",
    }  # fmt: skip
    assert {gap.key[0] for gap in gaps} == {"BOOT_IMAGE", "root"}


def test_settings_of_a_virtual_machine():
    rows, gaps = captured("sysctl/h200-vm-vm-keys.txt")
    assert len(rows) == 42
    assert rows["sysctl", "vm.max_map_count"] == {"value": "655300"}
    assert rows["sysctl", "vm.numa_zonelist_order"] == {"value": "Node"}
    assert ("sysctl", "kernel.hostname") not in rows
    assert ("sysctl", "vm.lowmem_reserve_ratio") not in rows
    assert not gaps
