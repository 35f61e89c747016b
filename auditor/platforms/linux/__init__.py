"""GPU hosts that run Linux: machine, network interfaces, RDMA ports, QoS and options of NVIDIA adapters, what software is told.

Traps of the field:
- The MTU of Linux counts the IP packet: nothing to convert. RDMA has its own, the active MTU, which decides.
- Most answers are those of the running kernel and driver, hence the applied layer. What stands in files (`nccl.conf`, unit
  files) is configured; firmware options are printed as they run and as the next start will have them.
- `mlnx_qos` prints the DSCP map with trust `dscp` only. With trust `pcp` the map is unknown, not absent. A virtual
  function, a bond or a container may not be asked: that is a gap, never "trust is not dscp".
- RDMA names are neither contiguous nor in the order of the slots (ionic_0, 2, 3, 4, 5, 7 … is healthy); a port may have no
  network device; `rxe` and `siw` are software on any network card and no adapter.
- The firmware of some adapters answers LLDP by itself, and the host sees no neighbour; private flags of the driver tell (`ice`:
  `fw-lldp-agent`, `i40e`: `disable-fw-lldp`, which counts the other way round). A driver without flags says so: unsupported.
- A member of a bond shows the bond's MAC address; its own stands behind `permaddr`, which the short form of `ip` lacks.
- A port that is down keeps printing a width, a speed and an active MTU. They are placeholders.
- Commands for cables: `sudo lldpctl -f json` (else `lldpctl`), `ethtool --show-priv-flags {netdev}` per Ethernet device on the
  PCI bus, `ip -j neigh` (else `ip neigh`). Read from captures only: `lldpctl -f keyvalue`, `ip -br link`,
  `cat /proc/net/bonding/{bond}`.
- Commands beside those of the kernel and of the links: `cat /etc/nccl.conf`, `ls -l /sys/class/infiniband`,
  `cat /sys/class/infiniband/{rdma}/tc/1/traffic_class`, `ethtool -a {netdev}`, `grep -r . /sys/class/net/{netdev}/ecn`,
  `sudo mlxconfig -d {pci} -e q` (else `mstconfig`), `systemctl list-unit-files --type=service --full --no-legend --no-pager`.
  Read from captures only: `nccl_env` and `nccl_env NAME` (the environment file of a job), `rdma_traffic_class`,
  `cma_roce_tos -d {rdma}`.
- What the library found inside the host stands in a dump that a job wrote: captures hold it as `nccl_topo.xml` and
  `nccl_graph.xml`. Live only the file is read that it loads by default, `cat /var/run/nvidia-topologyd/virtualTopology.xml`,
  which virtual machines have.
- Commands about GPUs and the kernel: `nvidia-smi -q -x`, `nvidia-smi nvlink -s -i {gpu}`, `nv-fabricmanager --version`, `lscpu`,
  `numactl -H`, `cat /proc/cmdline`, `ls /sys/module /sys/module/kernel`, `sysctl -e` with the settings that guides name. Read
  from captures only: `nvidia-smi -q`, `nvidia-smi`, `lscpu -J`, `lsmod`, `sysctl -a`, `amd-smi firmware`, `amd-smi topology`. A
  host without GPUs, or without NVSwitches, lacks some of these tools and is healthy.
- Commands for the PCI bus: `grep -rs --include=class … . /sys/devices /sys/bus/pci/slots` (follows no link, opens nothing but the
  files named), `sudo lspci -D -vv -d ::0604`, `nvidia-smi topo -m`. Read from captures only: `lspci` with `-vvv`, `-vv`, `-nn`,
  `-tv` and without, `lstopo --of xml`, `nvidia-smi --query-gpu=… --format=csv`.
- Firmware: `devlink dev info` tells of all adapters what runs and what the next start loads; a driver that knows no stored one
  (255.255.65535) does not tell. NVIDIA's own tools call the image in the flash `FW Version` or `Current` and print the running
  one beside it only while it is another. They are read from captures: `mstflint -d {pci} q`, `mlxfwmanager --query` (or XML),
  `mlxlink -d {device}`. The part number that firmware is released for (`MCX75310AAS-NEA_Ax`) stands in the head of `mlxconfig`.
- The address table of a port (GIDs) stands in `ibv_devinfo -v`; a blank line ends it. From captures: `show_gids`, `ibstat`,
  `ibstatus`, `ibdev2netdev -v`, `rdma-qos.sh q`.
- Broadcom's `niccli` and AMD's `nicctl` call a port by its PCI address and need root; they are read from captures only:
  `niccli --list_devices`, `niccli --dev {pci} qos --ets --show`, `nicctl show port`, `qos`, `dcqcn` and `lif --json`.
- `/etc/nccl.conf` need not be there, and then it sets nothing: that is an answer. Which files a job uses beside it is a
  matter of the site, so a variable that no recorded file sets is unknown for the others.
- The driver of the kernel itself has neither the `ecn` folder nor the `tc` folder of NVIDIA's own. Without the first nothing is
  known of congestion control; without the second there is no traffic class of the driver, which is an answer.
- Reading the default ToS of RDMA-CM (`cma_roce_tos`) mounts configfs and makes a directory in it: not read-only, so it is
  not sent.
"""

from __future__ import annotations

from auditor.facts import Row
from auditor.model import Census, Failure, GapReason, Platform, Unsupported
from auditor.platforms.linux import (
    adapters,
    adapters_other,
    addresses,
    bonds,
    flash,
    gids,
    gpu_topology,
    gpus,
    kernel,
    links,
    lldp,
    machine,
    options,
    pci,
    qos,
    rdma,
    software,
    topology,
)

_LINE = r"^(?![\s\d#]).*"
"""A line that may be a complaint: those of interfaces begin with a number or a blank, comments with `#`; both may hold any
words. A fixed text right behind `.*` is searched ten times as fast as a choice of texts."""

_HIDDEN = "token|secret|passw|passphrase|credential|api_?key|access_?key"
"""What names of variables in the files of jobs hold when their value is nobody's business."""


_OPTIONAL = "nvidia-smi|nv-fabricmanager|numactl|amd-smi|devlink"
"""Tools that a healthy host may lack: those of GPUs that it does not have, of a fabric that it is no part of."""


def _any(_row: Row) -> bool:
    """Every device that user space opens is one of the kernel's."""
    return True


PLATFORM = Platform(
    name="linux",
    title="GPU host (Linux)",
    sources=(
        *machine.SOURCES, *links.SOURCES, *lldp.SOURCES, *adapters.SOURCES, *rdma.SOURCES, *qos.SOURCES, *options.SOURCES,
        *software.SOURCES, *bonds.SOURCES, *addresses.SOURCES, *gpus.SOURCES, *kernel.SOURCES, *topology.SOURCES,
        *pci.SOURCES, *gpu_topology.SOURCES,
        *flash.SOURCES, *gids.SOURCES, *adapters_other.SOURCES,
    ),
    censuses=(Census("rdma_link", ("ibv_devinfo",), _any),),
    failures=(
        Failure(r"^ssh: connect to host .*", GapReason.UNREACHABLE, "the host did not answer"),
        Failure(
            rf"^(?:timeout: failed to run command .|\S*sh: (?:(?:line )?\d+: )?)(?:{_OPTIONAL})\b.*", GapReason.UNSUPPORTED,
            "this machine has no such tool",
        ),
        Failure(r"^NVIDIA-SMI has failed because.*|^Failed to initialize NVML.*", GapReason.REJECTED, "the GPU driver fails"),
        Failure(r"^No devices were found", GapReason.REJECTED, "the GPU driver finds no GPU"),
        Failure(r"^No NUMA available on this system", GapReason.UNSUPPORTED, "this kernel knows no NUMA"),
        Failure(
            rf"{_LINE}not found(?:(?<=command not found).*|(?<=\S: not found)$)", GapReason.REJECTED,
            "the command is not installed",
        ),
        Failure(rf"{_LINE}Permission denied.*", GapReason.PERMISSION, "the host refused it"),
        Failure(
            rf"{_LINE}not (?:(?<=Operation not )permitted|(?<=is not )in the sudoers file|(?<=is not )allowed to ).*",
            GapReason.PERMISSION, "the host refused it",
        ),
        Failure(rf"{_LINE}must be root.*", GapReason.PERMISSION, "the host refused it"),
        Failure(
            rf"{_LINE}Operation not supported.*|^ETS features are not supported on your system", GapReason.UNSUPPORTED,
            "this network device cannot tell",
        ),
        Failure(
            r"^(?:cat|grep|ls): (?!/etc/nccl\.conf:|\S+/tc/1/traffic_class:).*: No such file or directory", GapReason.UNSUPPORTED,
            "this machine has no such file",
        ),
        Failure(rf"{_LINE}No such device.*|^Device \S+ does not exist.*", GapReason.REJECTED, "there is no such device"),
        Failure(r"^No IB devices found", GapReason.REJECTED, "no RDMA device is open to programs"),
        Failure(r"^No private flags defined", GapReason.UNSUPPORTED, "the driver has no private flags"),
        Failure(r"^-E- .*", GapReason.REJECTED, "the adapter's options cannot be read"),
        Failure(r"^Failed to connect to devlink Netlink", GapReason.UNSUPPORTED, "the kernel has no devlink"),
        Failure(r"^Failed to open NETLINK_RDMA socket", GapReason.REJECTED, "the kernel has no RDMA loaded"),
        Failure(r"^.*nable to connect to (?:lldpd|socket).*", GapReason.REJECTED, "lldpd does not run"),
        Failure(r"^(?:Object|Option) \"\S+\" is unknown.*", GapReason.REJECTED, "an older tool that lacks this spelling"),
        Failure(r"^Traceback \(most recent call last\)", GapReason.REJECTED, "the tool crashed"),
    ),
    secrets=(
        rf"(?i)^[ \t]*(?:export[ \t]+)?\w*(?:{_HIDDEN})\w*[ \t]*[=:][ \t]*(.+)$",
        rf"(?i)(?<=[ \t])[\w.-]{{0,40}}(?:{_HIDDEN})[\w.-]{{0,40}}=([^\s]+)",
        r"^net\.\S{1,80}\.(?:stable_secret|tcp_fastopen_key)[ \t]*=[ \t]*(.+)$",
    ),
    unsupported=(
        Unsupported(
            "queue",
            (
                "scheduler", "weight", "buffer_profile", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability",
                "ecn_profile", "watchdog_enabled", "watchdog_detection_s", "watchdog_restoration_s", "watchdog_action",
                "watchdog_state",
            ),
            "egress queues with profiles, marking and a PFC watchdog are a matter of switches",
        ),
        Unsupported(
            "qos_port", ("pfc_direction",), "mlnx_qos prints one bit for both directions; the driver reads it from one of them"
        ),
        Unsupported("qos_port", ("dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue"), "an adapter's maps have no names"),
        Unsupported("rdma_port", ("rdma_tos",), "the tool that reads it makes directories in configfs: not read-only"),
        Unsupported("interface", ("up_since", "frame_bytes", "speed", "autoneg", "cable_length_m", "lanes"), "not read here"),
        Unsupported("interface", ("breakout_parent", "error_disabled"), "a matter of switches"),
        Unsupported(
            "nccl_net", ("pci", "speed", "gdr", "guid"),
            "stands in the topology dump of a job, which lies where the site wants it; captures hold it as nccl_topo.xml",
        ),
        Unsupported(
            "nccl_graph",
            (
                "pattern", "channels", "cross_nic", "turning", "networks", "speed_intra", "speed_inter", "type_intra",
                "type_inter",
            ),
            "stands in the graph dump of a job, which lies where the site wants it; captures hold it as nccl_graph.xml",
        ),
        Unsupported("neighbour", ("heard_s",), "lldpd prints the time since the last change, not since the last frame"),
        Unsupported("nic", ("role", "numa_node"), "no source reads it"),
        Unsupported("nic", ("part_number",), "stands in the vital product data of the card; captures hold it as ibdev2netdev -v"),
        Unsupported("system", ("serial",), "only root may read it"),
        Unsupported("system", ("booted_at",), "no source reads it"),
    ),
)  # fmt: skip
