"""Designs a rail-wired fabric: devices, ports, cables and every value that its captures will show.

The same numbers give the same fabric, byte for byte. It proves flow and scale, never a parser: what a platform prints is
proven by outputs of real devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from auditor.errors import SetupError

ROCE_DSCP, ROCE_PRIORITY = 26, 3
CNP_DSCP, CNP_PRIORITY = 48, 6
SWITCH_MTU, HOST_MTU = 9100, 9000
ROCE_TOS = ROCE_DSCP << 2 | 2
"""Traffic class byte of RoCE packets: the DSCP, and the ECN bits that say "this flow reacts to marks"."""
GBPS = 400
PORTS_PER_SWITCH = 128
NIC_FIRMWARE, OLD_NIC_FIRMWARE, NEW_NIC_FIRMWARE = "28.43.2026", "28.39.3560", "28.43.3608"
NIC_PSID = "MT_0000000838"
NCCL: Mapping[str, str] = MappingProxyType({"NCCL_IB_TC": str(ROCE_TOS), "NCCL_IB_GID_INDEX": "3"})
GPU_DRIVER, OLD_FABRIC_DRIVER = "550.144.03", "550.127.08"
BOOT: Mapping[str, str] = MappingProxyType(
    {"intel_iommu": "on", "iommu": "pt", "pci": "realloc=off", "numa_balancing": "disable"}
)
"""What the site wants on the command line of the kernel."""
GPUS = 8
"""GPUs that fit into a host; NIC n stands beside GPU n."""
HOST_CABLE_M, FABRIC_CABLE_M, CORE_CABLE_M = 2, 15, 30
"""Metres of cable from host to leaf (passive copper), from leaf to spine and from spine to core (fibre)."""
QOS_UNIT = "roce-qos.service"
SERVICES = ("lldpd.service", "openibd.service", QOS_UNIT)
_PCI_BUSES = (0x1A, 0x3C, 0x4D, 0x5E, 0x9C, 0xBC, 0xCC, 0xDC, 0x2B, 0x6F, 0x8A, 0xAB, 0xC3, 0xD4, 0xE5, 0xF6)


class End(NamedTuple):
    """One end of a cable."""

    device: str
    port: str


@dataclass(slots=True)
class Cable:
    """One planned cable; `rail` is empty between switches."""

    a: End
    b: End
    plane: str
    rail: str
    label: str
    length_m: int


@dataclass(slots=True)
class SwitchPort:
    """One front port of a switch, 400G on four lanes. A port without `plane` is not in use: down, without module.

    `lossless`: its RoCE priority group has headroom, by the profile made for a cable of `profile_m` metres (None: its own
    length), or of `headroom` bytes where that is set. `watched`: the queues under the PFC watchdog, where it runs.
    """

    name: str
    alias: str
    index: int
    lanes: str
    plane: str = ""
    description: str = ""
    length_m: int = 5
    gbps: int = GBPS
    mtu: int = SWITCH_MTU
    pfc: tuple[int, ...] = (ROCE_PRIORITY,)
    dscp_map: str = "AZURE"
    watchdog: bool = True
    watched: tuple[int, ...] = (ROCE_PRIORITY,)
    stormed: bool = False
    lossless: bool = True
    profile_m: int | None = None
    headroom: int | None = None
    ecn: bool = True


@dataclass(slots=True)
class Ecn:
    """One WRED profile that marks instead of dropping: thresholds in bytes, probability in percent."""

    minimum: int = 96 << 10
    maximum: int = 3 << 20
    percent: int = 10


@dataclass(slots=True)
class Switch:
    """A SONiC leaf, spine or core. `number` is unique in the fabric and gives addresses and serial numbers.

    `to_group`, `to_queue` and `pause_to_queue` hold what differs from the ordinary maps: RoCE has a priority group of its
    own and all else shares group 0; traffic class n and PFC priority n use queue n. `applied` and `saved` are the same
    switch as its APPL_DB and its saved file know it, where they differ from the running configuration. `file`: whether a
    saved file is there.
    """

    name: str
    role: str
    number: int
    pod: str
    rack: str
    ports: dict[str, SwitchPort] = field(default_factory=dict)
    dscp_to_tc: dict[int, int] = field(default_factory=lambda: {ROCE_DSCP: ROCE_PRIORITY, 46: 5, CNP_DSCP: CNP_PRIORITY})
    to_group: dict[int, int] = field(default_factory=lambda: {ROCE_PRIORITY: ROCE_PRIORITY})
    to_queue: dict[int, int] = field(default_factory=dict)
    pause_to_queue: dict[int, int] = field(default_factory=dict)
    ecn: Ecn = field(default_factory=Ecn)
    buffer_model: str = "traditional"
    version: str = "SONiC.202411.3"
    applied: Switch | None = None
    saved: Switch | None = None
    file: bool = True

    @property
    def mac(self) -> str:
        """Base MAC address."""
        return f"94:6d:ae:{self.number >> 8 & 255:02x}:{self.number & 255:02x}:00"


@dataclass(slots=True)
class HostNic:
    """One compute adapter of a host: a ConnectX-7 with one 400G port.

    `moved`: code points whose priority is not the usual one, DSCP div 8. `tos`: the traffic class that mlx5 gives all queue
    pairs. `slows`: the priorities with congestion control. `pause`: 802.3x pause in both directions. `owner`: who owns the
    DCB settings, os or firmware. `next_boot`: firmware options that change with the next start, `stored` the firmware that it
    loads. `switch`: the PCI switch that it hangs below; `lanes` how many of its sixteen run.
    """

    rdma: str
    netdev: str
    pci: str
    mac: str
    rail: str
    address: str
    switch: int
    lanes: int = 16
    mtu: int = HOST_MTU
    firmware: str = NIC_FIRMWARE
    trust: str = "dscp"
    pfc: tuple[int, ...] = (ROCE_PRIORITY,)
    moved: dict[int, int] = field(default_factory=dict)
    tos: int | None = ROCE_TOS
    cnp_dscp: int = CNP_DSCP
    slows: tuple[int, ...] = tuple(range(8))
    pause: bool = False
    owner: str = "os"
    next_boot: dict[str, str] = field(default_factory=dict)
    stored: str = ""

    @property
    def guid(self) -> str:
        """Node GUID, 16 hex digits: the MAC with 0003 in its middle, as this maker builds it."""
        digits = self.mac.replace(":", "")
        return f"{digits[:6]}0300{digits[6:]}"


@dataclass(slots=True)
class PciSwitch:
    """A PCI switch below a port of a processor. `bus`: that of its host bridge; two more follow for its own ports, then one for
    each slot. `gpu`: whether its second slot is made for one. `acs`: whether it redirects requests to the processor."""

    bus: int
    node: int
    gpu: bool
    acs: bool = False

    def slot(self, at: int) -> str:
        """PCI address of what stands in a slot."""
        return f"0000:{self.bus + 3 + at:02x}:00.0"


@dataclass(slots=True)
class Host:
    """A GPU host. `nccl` is the site-wide environment of the collective library; `services` the units that are enabled; `gpus`
    their PCI addresses; `boot` what the kernel was started with; `peer_memory` whether adapters reach the memory of GPUs;
    `fabric_driver` the version of the fabric manager."""

    name: str
    number: int
    pod: str
    rack: str
    nics: dict[str, HostNic] = field(default_factory=dict)
    switches: dict[int, PciSwitch] = field(default_factory=dict)
    gpus: list[str] = field(default_factory=list)
    nccl: dict[str, str] = field(default_factory=lambda: dict(NCCL))
    services: tuple[str, ...] = SERVICES
    boot: dict[str, str] = field(default_factory=lambda: dict(BOOT))
    peer_memory: bool = True
    gpu_driver: str = GPU_DRIVER
    fabric_driver: str = GPU_DRIVER


@dataclass(slots=True)
class Fabric:
    """Devices by name, the planned cables, the far end that each end should have, and the one it really has."""

    hosts: dict[str, Host] = field(default_factory=dict)
    switches: dict[str, Switch] = field(default_factory=dict)
    plan: list[Cable] = field(default_factory=list)
    planned: dict[End, End] = field(default_factory=dict)
    wiring: dict[End, End] = field(default_factory=dict)

    def connect(self, cable: Cable) -> None:
        """Add a cable to plan and wiring."""
        self.plan.append(cable)
        for known in (self.planned, self.wiring):
            known[cable.a], known[cable.b] = cable.b, cable.a

    def gbps(self, end: End) -> int:
        """Speed of the link at a port, that of its slower end; 0 where no cable is."""
        far = self.wiring.get(end)
        if far is None:
            return 0
        switched = [self.switches[side.device].ports[side.port].gbps for side in (end, far) if side.device in self.switches]
        return min(switched, default=GBPS)


@dataclass(frozen=True, slots=True)
class Size:
    """How large: hosts, leaves and spines are counted per pod; cores join the pods. Raises SetupError when it cannot be cabled.

    Leaves are spread over rails (NIC n of every host is rail n), hosts over the leaves of a rail, and every leaf and
    spine has as many links up as down.
    """

    hosts: int = 4
    nics: int = 8
    leaves: int = 8
    spines: int = 2
    pods: int = 1
    cores: int = 0

    def __post_init__(self) -> None:
        if min(self.hosts, self.nics, self.leaves, self.spines, self.pods) < 1 or self.cores < 0:
            raise SetupError("a fabric needs at least one host, NIC, leaf, spine and pod")
        if self.nics > len(_PCI_BUSES):
            raise SetupError(f"at most {len(_PCI_BUSES)} NICs fit into a host")
        if self.leaves % self.nics:
            raise SetupError(f"{self.leaves} leaves cannot be shared by {self.nics} rails evenly")
        if self.hosts % self.leaves_per_rail or self.down % self.spines:
            raise SetupError(f"{self.hosts} hosts, {self.leaves} leaves and {self.spines} spines do not divide evenly")
        if max(self.down * 2, self.spine_down * (2 if self.cores else 1)) > PORTS_PER_SWITCH:
            raise SetupError(f"a switch of this fabric would need more than {PORTS_PER_SWITCH} ports")
        if self.cores and self.spine_down * self.spines * self.pods > self.cores * PORTS_PER_SWITCH:
            raise SetupError(f"{self.cores} cores have too few ports")

    @property
    def leaves_per_rail(self) -> int:
        """Leaves that share one rail."""
        return self.leaves // self.nics

    @property
    def down(self) -> int:
        """Host ports of a leaf, and as many uplinks."""
        return self.hosts // self.leaves_per_rail

    @property
    def spine_down(self) -> int:
        """Ports of a spine towards leaves."""
        return self.leaves * self.down // self.spines


def design(size: Size) -> Fabric:
    """The healthy fabric of this size."""
    fabric = Fabric()
    cores = [_switch(fabric, f"core-{at + 1:02d}", "core", "", "R-CORE") for at in range(size.cores)]
    uplink = 0
    for pod in range(size.pods):
        prefix, name = (f"p{pod + 1:02d}-", f"pod-{pod + 1:02d}") if size.pods > 1 else ("", "pod-01")
        spines = _pod(fabric, size, prefix, name)
        for spine in spines if cores else ():
            for at in range(size.spine_down):
                core = cores[uplink % size.cores]
                _join(fabric, spine, PORTS_PER_SWITCH // 2 + at, core, uplink // size.cores, CORE_CABLE_M)
                uplink += 1
    for switch in fabric.switches.values():
        for at in _free(switch, 2):
            _port(switch, at)
        switch.ports = dict(sorted(switch.ports.items(), key=lambda item: int(item[0].removeprefix("Ethernet"))))
    return fabric


def _pod(fabric: Fabric, size: Size, prefix: str, name: str) -> list[Switch]:
    leaves = [_switch(fabric, f"{prefix}leaf-{at + 1:02d}", "leaf", name, f"{prefix}R-NET1".upper()) for at in range(size.leaves)]
    spines = [
        _switch(fabric, f"{prefix}spine-{at + 1:02d}", "spine", name, f"{prefix}R-NET2".upper()) for at in range(size.spines)
    ]
    for at in range(size.hosts):
        host = _host(fabric, f"{prefix}gpu-{at + 1:02d}", name, f"{prefix}R{at // 4 + 1:02d}".upper(), size.nics)
        for rail, nic in enumerate(host.nics.values()):
            leaf = leaves[rail * size.leaves_per_rail + at // size.down]
            port = _port(leaf, at % size.down, "compute", f"{host.name}:{nic.netdev}", HOST_CABLE_M)
            label = f"{host.name}/{nic.rdma}"
            ends = End(host.name, nic.netdev), End(leaf.name, port.name)
            fabric.connect(Cable(*ends, "compute", nic.rail, label, HOST_CABLE_M))
    each = size.down // size.spines
    for number, leaf in enumerate(leaves):
        for which, spine in enumerate(spines):
            for at in range(each):
                _join(fabric, leaf, PORTS_PER_SWITCH // 2 + which * each + at, spine, number * each + at, FABRIC_CABLE_M)
    return spines


def _join(fabric: Fabric, lower: Switch, lower_port: int, upper: Switch, upper_port: int, length_m: int) -> None:
    up = _port(lower, lower_port, "compute", "", length_m)
    down = _port(upper, upper_port, "compute", f"{lower.name}:{up.name}", length_m)
    up.description = f"{upper.name}:{down.name}"
    label = f"{lower.name}/{up.alias}"
    fabric.connect(Cable(End(lower.name, up.name), End(upper.name, down.name), "compute", "", label, length_m))


def _switch(fabric: Fabric, name: str, role: str, pod: str, rack: str) -> Switch:
    switch = fabric.switches[name] = Switch(name, role, len(fabric.switches) + 1, pod, rack)
    return switch


def _port(switch: Switch, at: int, plane: str = "", description: str = "", length_m: int = 5) -> SwitchPort:
    """The port at this position (from 0): two 400G halves of an OSFP cage, four lanes each."""
    lanes = ",".join(str(at * 4 + lane) for lane in range(4))
    port = SwitchPort(f"Ethernet{at * 4}", f"etp{at // 2 + 1}{'ab'[at % 2]}", at // 2 + 1, lanes, plane, description, length_m)
    switch.ports[port.name] = port
    return port


def _free(switch: Switch, count: int) -> Iterator[int]:
    """The first `count` positions without a port, if there are as many."""
    for at in range(PORTS_PER_SWITCH):
        if count and f"Ethernet{at * 4}" not in switch.ports:
            count -= 1
            yield at


def _host(fabric: Fabric, name: str, pod: str, rack: str, nics: int) -> Host:
    """NIC n and GPU n share a PCI switch; half of the switches hang on each processor."""
    host = fabric.hosts[name] = Host(name, len(fabric.hosts) + 1, pod, rack)
    gpus = min(nics, GPUS)
    host.nccl["NCCL_IB_HCA"] = "=" + ",".join(f"mlx5_{at}" for at in range(nics))
    for at in range(nics):
        switch = PciSwitch(_PCI_BUSES[at] - 3, at % gpus * 2 // gpus, at < gpus)
        host.switches[switch.bus] = switch
        netdev = f"enp{_PCI_BUSES[at]}s0np0"
        mac = f"b8:3f:d2:{host.number >> 8 & 255:02x}:{host.number & 255:02x}:{at * 8:02x}"
        address = f"10.{128 + at}.{host.number >> 8 & 255}.{host.number & 255}"
        host.nics[netdev] = HostNic(f"mlx5_{at}", netdev, switch.slot(0), mac, str(at), address, switch.bus)
    host.gpus = sorted(switch.slot(1) for switch in host.switches.values() if switch.gpu)
    return host
