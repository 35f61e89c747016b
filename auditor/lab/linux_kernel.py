"""What the kernel of a designed host answers: how it was started and set, its modules, processors and memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from auditor.lab.answer import Answer
from auditor.lab.fabric import Host
from auditor.lab.linux_gpu import CPUS

KERNEL = "5.15.0-112-generic"


def answers(host: Host) -> Iterator[Answer]:
    """Every command with its output."""
    yield Answer("uname -r", f"{KERNEL}\n")
    yield Answer("cat /proc/cmdline", _command_line(host))
    yield Answer(f"sysctl -e {' '.join(_SETTINGS)}", "".join(f"{name} = {value}\n" for name, value in _SETTINGS.items()))
    yield Answer("ls /sys/module /sys/module/kernel", _folders(host))
    yield Answer("lscpu", _PROCESSORS)
    yield Answer("numactl -H", _nodes(host))


def _command_line(host: Host) -> str:
    disk = f"{host.number:08x}-6b0d-4c4f-8d3a-0242ac110002"
    options = [f"{name}={value}" if value else name for name, value in host.boot.items()]
    return f"{' '.join([f'BOOT_IMAGE=/boot/vmlinuz-{KERNEL}', f'root=UUID={disk}', 'ro', 'console=tty0', *options])}\n"


def _folders(host: Host) -> str:
    names = sorted({*_MODULES, "nvidia_peermem"} if host.peer_memory else _MODULES)
    return "\n".join(["/sys/module:", *names, "", "/sys/module/kernel:", "parameters", "uevent", ""])


_MODULES = (
    "8250", "acpi", "acpi_cpufreq", "bonding", "dm_mod", "ext4", "gdrdrv", "i40e", "ib_cm", "ib_core", "ib_umad", "ib_uverbs",
    "intel_rapl_common", "ipmi_devintf", "ipmi_si", "kernel", "kvm", "kvm_intel", "mlx5_core", "mlx5_ib", "mlxfw", "nvidia",
    "nvidia_modeset", "nvidia_uvm", "nvme", "nvme_core", "pcie_aspm", "rdma_cm", "rdma_ucm", "tcp_cubic",
)  # fmt: skip

_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "kernel.numa_balancing": "0", "kernel.nmi_watchdog": "1", "kernel.randomize_va_space": "2", "vm.zone_reclaim_mode": "0",
        "vm.swappiness": "10", "vm.overcommit_memory": "0", "vm.max_map_count": "262144", "vm.nr_hugepages": "0",
        "vm.compaction_proactiveness": "20", "net.core.rmem_max": "268435456", "net.core.wmem_max": "268435456",
        "net.core.rmem_default": "212992", "net.core.wmem_default": "212992", "net.core.optmem_max": "20480",
        "net.core.netdev_max_backlog": "250000", "net.core.busy_poll": "0", "net.core.busy_read": "0",
        "net.core.default_qdisc": "fq_codel", "net.ipv4.tcp_rmem": "4096\t131072\t6291456",
        "net.ipv4.tcp_wmem": "4096\t16384\t4194304", "net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_sack": "1",
        "net.ipv4.tcp_mtu_probing": "0", "net.ipv4.tcp_congestion_control": "cubic", "net.ipv4.ip_forward": "0",
        "net.ipv4.ip_local_port_range": "32768\t60999", "net.ipv4.ip_local_reserved_ports": "",
        "net.ipv4.conf.all.rp_filter": "2", "net.ipv4.conf.default.rp_filter": "2", "net.ipv4.conf.all.arp_ignore": "1",
        "net.ipv4.conf.default.arp_ignore": "0", "net.ipv4.conf.all.arp_announce": "2", "net.ipv4.conf.default.arp_announce": "0",
        "net.ipv4.conf.all.arp_filter": "0", "net.ipv4.conf.default.arp_filter": "0", "net.ipv6.conf.all.disable_ipv6": "0",
        "net.core.somaxconn": "4096",
    }
)  # fmt: skip

_PROCESSORS = f"""Architecture:                       x86_64
CPU op-mode(s):                     32-bit, 64-bit
Address sizes:                      52 bits physical, 57 bits virtual
Byte Order:                         Little Endian
CPU(s):                             224
On-line CPU(s) list:                0-223
Vendor ID:                          GenuineIntel
Model name:                         Intel(R) Xeon(R) Platinum 8480+
CPU family:                         6
Model:                              143
Thread(s) per core:                 2
Core(s) per socket:                 56
Socket(s):                          2
Stepping:                           8
NUMA node(s):                       2
NUMA node0 CPU(s):                  {CPUS[0]}
NUMA node1 CPU(s):                  {CPUS[1]}
"""


def _nodes(host: Host) -> str:
    """Two nodes with 1 TiB each, of which firmware and kernel keep a share."""
    lines = ["available: 2 nodes (0-1)"]
    for node, ranges in enumerate(CPUS):
        cpus = [cpu for part in ranges.split(",") for cpu in range(int(part.split("-")[0]), int(part.split("-")[1]) + 1)]
        lines += [f"node {node} cpus: {' '.join(map(str, cpus))}", f"node {node} size: {1031526 + 574 * node} MB"]
        lines.append(f"node {node} free: {1001000 + 97 * host.number} MB")
    return "\n".join([*lines, "node distances:", "node   0   1 ", "  0:  10  21 ", "  1:  21  10 ", ""])
