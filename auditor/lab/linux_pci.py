"""The PCI tree of a designed GPU host, as the kernel's device tree and `lspci` show it.

Each adapter shares a switch with the GPU of its number. NVSwitches and the management adapter hang on the first processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from auditor.lab.answer import Answer
from auditor.lab.fabric import Host, PciSwitch

MANAGEMENT_PCI = "0000:01:00.0"
GPU_ID, NVSWITCH_ID, NIC_ID = "2330", "22a3", "1021"
_ROOT, _SWITCH = ("8086", "352a"), ("1000", "c030")
_NVSWITCHES = 4
_GEN5, _GEN4, _GEN3 = "32.0", "16.0", "8.0"


@dataclass(frozen=True, slots=True)
class Function:
    """One function. `above`: the ports over it, from the processor down. `lanes` 0: nothing is plugged in below this port.
    `buses`: of a bridge the first and the last bus below. `acs`: of a port that has access control, whether it redirects."""

    address: str
    above: tuple[str, ...]
    maker: str
    device: str
    kind: str
    node: int
    width: int = 16
    speed: str = _GEN5
    lanes: int = 16
    buses: tuple[str, str] = ("", "")
    port: str = ""
    acs: bool | None = None
    rdma: str = ""

    @property
    def path(self) -> str:
        """Its folder below /sys/devices."""
        way = (*self.above, self.address)
        return "/".join((f"pci{way[0][:7]}", *way))


class Tree:
    """All functions of a host, in the order of the buses."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @cached_property
    def functions(self) -> Sequence[Function]:
        """Every function that the lab shows."""
        found = [*self._management(), *self._nvswitches()]
        for switch in self._host.switches.values():
            found += self._switch(switch)
        return sorted(found, key=lambda function: function.path)

    def path(self, address: str) -> str:
        """Where a function stands below /sys/devices."""
        return next(function.path for function in self.functions if function.address == address)

    def answers(self) -> Iterator[Answer]:
        """The commands about the bus with their output."""
        yield Answer(_GREP, "".join(map(_files, self.functions)) + self._slots())
        yield Answer("lspci -D -vv -d ::0604", "".join(map(_record, self.functions)))

    def _management(self) -> Iterator[Function]:
        root, port = "0000:00:1c.0", ("8086", "1bbc")
        yield _bridge(root, (), port, 0, ("01", "01"), "Root Port (Slot+)", width=8, speed=_GEN3, acs=True)
        yield Function(MANAGEMENT_PCI, (root,), "8086", "1572", "020000", 0, 8, _GEN3, 8)

    def _nvswitches(self) -> Iterator[Function]:
        if not self._host.gpus:
            return
        root, up = "0000:02:01.0", "0000:03:00.0"
        last = f"{0x04 + _NVSWITCHES:02x}"
        yield _bridge(root, (), _ROOT, 0, ("03", last), "Root Port (Slot+)", acs=True)
        yield _bridge(up, (root,), _SWITCH, 0, ("04", last), "Upstream Port")
        for at in range(_NVSWITCHES):
            down, bus = f"0000:04:{at:02x}.0", f"{0x05 + at:02x}"
            port = "Downstream Port (Slot+)"
            yield _bridge(down, (root, up), _SWITCH, 0, (bus, bus), port, width=2, speed=_GEN4, acs=False)
            yield Function(f"0000:{bus}:00.0", (root, up, down), "10de", NVSWITCH_ID, "068000", 0, 2, _GEN4, 2)

    def _switch(self, switch: PciSwitch) -> Iterator[Function]:
        """The switch with what hangs below it: its own adapter and GPU in their slots, then adapters that came from elsewhere."""
        root, up = f"0000:{switch.bus:02x}:01.0", f"0000:{switch.bus + 1:02x}:00.0"
        slots = [switch.slot(at) for at in range(1 + switch.gpu)]
        nics = {nic.pci: nic for nic in self._host.nics.values() if nic.switch == switch.bus}
        slots += [pci for pci in nics if pci not in slots]
        last = f"{switch.bus + 2 + len(slots):02x}"
        yield _bridge(root, (), _ROOT, switch.node, (f"{switch.bus + 1:02x}", last), "Root Port (Slot+)", acs=True)
        yield _bridge(up, (root,), _SWITCH, switch.node, (f"{switch.bus + 2:02x}", last), "Upstream Port")
        for at, pci in enumerate(slots):
            down = f"0000:{switch.bus + 2:02x}:{at:02x}.0"
            nic = nics.get(pci)
            lanes = nic.lanes if nic is not None else 16 if pci in self._host.gpus else 0
            buses = (pci[5:7], pci[5:7])
            port = "Downstream Port (Slot+)"
            yield _bridge(down, (root, up), _SWITCH, switch.node, buses, port, acs=switch.acs, lanes=lanes)
            way = (root, up, down)
            if nic is not None:
                yield Function(pci, way, "15b3", NIC_ID, "020000", switch.node, lanes=nic.lanes, rdma=nic.rdma)
            elif lanes:
                yield Function(pci, way, "10de", GPU_ID, "030200", switch.node)

    def _slots(self) -> str:
        """The slots that have a name: those of the adapters."""
        slots = enumerate(self._host.nics.values(), 1)
        return "".join(f"/sys/bus/pci/slots/{at}/address:{nic.pci.partition('.')[0]}\n" for at, nic in slots)


def _bridge(
    address: str, above: tuple[str, ...], ids: tuple[str, str], node: int, buses: tuple[str, str], port: str, *,
    width: int = 16, speed: str = _GEN5, lanes: int | None = None, acs: bool | None = None,
) -> Function:  # fmt: skip
    return Function(address, above, *ids, "060400", node, width, speed, width if lanes is None else lanes, buses, port, acs)


_GREP = (
    "grep -rs --include=class --include=vendor --include=device --include=numa_node --include=current_link_speed "
    "--include=current_link_width --include=max_link_speed --include=max_link_width --include=address --include=node_type "
    "--exclude-dir=system --exclude-dir=virtual --exclude-dir=net --exclude-dir=ports --exclude-dir=msi_irqs --exclude-dir=power "
    ". /sys/devices /sys/bus/pci/slots"
)


def _files(function: Function) -> str:
    """The files of one function, in the order in which a walk meets them."""
    values = {
        "vendor": f"0x{function.maker}", "class": f"0x{function.kind}", "numa_node": function.node,
        "device": f"0x{function.device}", "max_link_speed": f"{function.speed} GT/s PCIe",
        "current_link_width": function.lanes, "max_link_width": function.width,
        "current_link_speed": f"{function.speed if function.lanes else 2.5} GT/s PCIe",
    }  # fmt: skip
    if function.rdma:
        values[f"infiniband/{function.rdma}/node_type"] = "1: CA"
    return "".join(f"/sys/devices/{function.path}/{name}:{value}\n" for name, value in values.items())


def _record(function: Function) -> str:
    """What `lspci -vv` says of a bridge, as far as it concerns buses, link and access control."""
    if not function.port:
        return ""
    intel = f"Intel Corporation Device {function.device} (rev 04)"
    name = intel if function.maker == "8086" else "Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)"
    speed = function.speed.removesuffix(".0")
    runs = f"Speed {speed}GT/s (ok)" if function.lanes else "Speed 2.5GT/s (downgraded)"
    judged = "ok" if function.lanes == function.width else "downgraded"
    lines = [
        f"{function.address} PCI bridge: {name} (prog-if 00 [Normal decode])",
        "\tLatency: 0",
        f"\tNUMA node: {function.node}",
        f"\tBus: primary={function.address[5:7]}, secondary={function.buses[0]}, subordinate={function.buses[1]}, sec-latency=0",
        f"\tCapabilities: [68] Express (v2) {function.port}, MSI 00",
        f"\t\tLnkCap:\tPort #{int(function.address[8:10], 16)}, Speed {speed}GT/s, Width x{function.width}, ASPM not supported",
        f"\t\tLnkSta:\t{runs}, Width x{function.lanes} ({judged})",
    ]
    if function.acs is not None:
        on = "+" if function.acs else "-"
        lines += [
            "\tCapabilities: [170 v1] Access Control Services",
            "\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+",
            f"\t\tACSCtl:\tSrcValid{on} TransBlk- ReqRedir{on} CmpltRedir{on} UpstreamFwd{on} EgressCtrl- DirectTrans-",
        ]
    return "\n".join([*lines, "\tKernel driver in use: pcieport", "", ""])
