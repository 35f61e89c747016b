"""What the GPUs of a designed host answer: the tools of their maker, with the fewest elements that are read."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.lab.answer import Answer
from auditor.lab.fabric import Host

MODEL = "NVIDIA H100 80GB HBM3"
VBIOS, BOARD = "96.00.89.00.01", "692-2G520-0200-500"
NVLINKS = 18
CPUS = ("0-55,112-167", "56-111,168-223")
"""CPUs of the NUMA nodes: two processors with 56 cores and two threads each."""


def answers(host: Host) -> Iterator[Answer]:
    """Every command with its output."""
    yield Answer("nvidia-smi -q -x", _log(host))
    for at, pci in enumerate(host.gpus):
        links = "".join(f"\t Link {link}: 26.562 GB/s\n" for link in range(NVLINKS))
        yield Answer(f"nvidia-smi nvlink -s -i {pci}", f"GPU {at}: {MODEL} (UUID: {_uuid(host, pci)})\n{links}")
    yield Answer("nvidia-smi topo -m", _matrix(host))
    yield Answer("nv-fabricmanager --version", f"Fabric Manager version is : {host.fabric_driver}\n")


def _uuid(host: Host, pci: str) -> str:
    return f"GPU-{host.number:08x}-5c1e-4d07-9a33-{int(pci[5:7], 16):012x}"


def _log(host: Host) -> str:
    gpus = "".join(_gpu(host, at, pci) for at, pci in enumerate(host.gpus))
    return f"""<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<timestamp>Mon Mar  2 02:00:04 2026</timestamp>
	<driver_version>{host.gpu_driver}</driver_version>
	<cuda_version>12.4</cuda_version>
	<attached_gpus>{len(host.gpus)}</attached_gpus>
{gpus}</nvidia_smi_log>
"""


def _gpu(host: Host, number: int, pci: str) -> str:
    name = f"0000{pci}".upper()
    return f"""	<gpu id="{name}">
		<product_name>{MODEL}</product_name>
		<product_architecture>Hopper</product_architecture>
		<uuid>{_uuid(host, pci)}</uuid>
		<minor_number>{number}</minor_number>
		<vbios_version>{VBIOS}</vbios_version>
		<board_part_number>{BOARD}</board_part_number>
		<pci>
			<pci_bus_id>{name}</pci_bus_id>
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>5</max_link_gen>
					<current_link_gen>5</current_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>16x</max_link_width>
					<current_link_width>16x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
		</pci>
		<performance_state>P0</performance_state>
		<fabric>
			<state>Completed</state>
			<status>Success</status>
		</fabric>
	</gpu>
"""


def _matrix(host: Host) -> str:
    """GPUs and adapters against each other. What hangs on other ports of one processor is NODE, on the other one SYS."""
    switches = {switch.slot(1): switch.bus for switch in host.switches.values() if switch.gpu}
    places = {f"GPU{at}": switches[pci] for at, pci in enumerate(host.gpus)}
    places |= {f"NIC{at}": nic.switch for at, nic in enumerate(host.nics.values())}
    lines = ["\t".join(["", *places, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for one, place in places.items():
        cells = [_kind(host, (one, place), (other, far)) for other, far in places.items()]
        node = host.switches[place].node
        lines.append("\t".join([one, *cells, *([CPUS[node], str(node), "", "N/A"] if one.startswith("GPU") else [""] * 4)]))
    legend = "".join(f"  NIC{at}: {nic.rdma}\n" for at, nic in enumerate(host.nics.values()))
    return "\n".join(lines) + f"\n{_LEGEND}\nNIC Legend:\n\n{legend}\n"


def _kind(host: Host, one: tuple[str, int], other: tuple[str, int]) -> str:
    (name, here), (far, there) = one, other
    if name == far:
        return " X "
    if name.startswith("GPU") and far.startswith("GPU"):
        return f"NV{NVLINKS}"
    if here == there:
        return "PIX"
    return "NODE" if host.switches[here].node == host.switches[there].node else "SYS"


_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""
