"""A pod of four vendors for the tests of mixed fabrics: a SONiC and an EOS leaf, an NX-OS and a Junos spine, two hosts.

The designed fabric gives cables, speeds and sizes; EOS, NX-OS and Junos answer in the forms of their fixtures. It proves that
one plan and one report span them; the parsers are proven elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor.lab import linux, sonic
from auditor.lab.answer import Answer
from auditor.lab.fabric import End, Fabric, Size, Switch, SwitchPort, design
from auditor.lab.profiles import FABRIC
from auditor.lab.project import _write_device, plan_text

SIZE = Size(hosts=2, nics=2, leaves=2, spines=2)
PLATFORMS = {"leaf-02": "arista_eos", "spine-01": "cisco_nxos", "spine-02": "juniper_junos"}
"""What is no SONiC."""
NAMES: dict[str, Callable[[int], str]] = {
    "arista_eos": lambda at: f"Ethernet{at + 1}/1",
    "cisco_nxos": lambda at: f"Ethernet1/{at + 1}",
    "juniper_junos": lambda at: f"et-0/0/{at}",
}
TAKEN_AT = datetime(2026, 3, 2, 2, 0, tzinfo=UTC)
BASELINE = """profile: switch
version: 1.0.0
changes: first version
expect:
  - {id: mtu.compute, at: "interface[@compute].mtu", eq: 9100, severity: error, why: the IP packet that must pass everywhere}
"""


def pod() -> Fabric:
    """The healthy pod, with ports named as each vendor names them."""
    fabric = design(SIZE)
    for name, platform in PLATFORMS.items():
        switch = fabric.switches[name]
        new = {old: NAMES[platform](int(old.removeprefix("Ethernet")) // 4) for old in switch.ports}
        for old, port in switch.ports.items():
            port.name = port.alias = new[old]
        switch.ports = {port.name: port for port in switch.ports.values()}

        def renamed(end: End, device: str = name, names: dict[str, str] = new) -> End:
            return End(device, names[end.port]) if end.device == device else end

        for cable in fabric.plan:
            cable.a, cable.b = renamed(cable.a), renamed(cable.b)
        for ends in (fabric.planned, fabric.wiring):
            known = {renamed(near): renamed(far) for near, far in ends.items()}
            ends.clear()
            ends.update(known)
    for switch in fabric.switches.values():
        for port in switch.ports.values():
            far = fabric.planned.get(End(switch.name, port.name))
            port.description = "" if far is None else f"{far.device}:{far.port}"
    return fabric


def write(folder: Path, fabric: Fabric) -> None:
    """A project with its plan, intent, one baseline and the capture `capture`."""
    hosts = []
    for at, (name, device) in enumerate({**fabric.switches, **fabric.hosts}.items(), start=1):
        platform = PLATFORMS.get(name, "sonic" if name in fabric.switches else "linux")
        role = device.role if isinstance(device, Switch) else "gpu_host"
        hosts.append(f"{name}: {{hostname: 192.0.2.{at}, platform: {platform}, data: {{role: {role}, rack: {device.rack}}}}}\n")
        answers = _answers(fabric, name, platform)
        _write_device(folder / "capture" / name, platform, role, _PROMPTS[platform].format(name), answers, TAKEN_AT)
    files = {
        "auditor.yaml": "plan: plan/plan.csv\n", "fabric.yaml": FABRIC, "plan/plan.csv": plan_text(pod()),
        "inventory/hosts.yaml": "".join(hosts), "baselines/switch/1.0.0.yaml": BASELINE,
        "baselines/assignments.yaml": "assignments:\n  - {select: {role: [leaf, spine]}, use: [switch@1.0.0]}\n",
    }  # fmt: skip
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)


_PROMPTS = {
    "sonic": "admin@{}:~$ ", "linux": "ops@{}:~$ ", "arista_eos": "{}>", "cisco_nxos": "{}# ", "juniper_junos": "audit@{}> ",
}  # fmt: skip


def _answers(fabric: Fabric, name: str, platform: str) -> Iterator[Answer]:
    if platform == "linux":
        yield from linux.answers(fabric, fabric.hosts[name])
    elif platform == "sonic":
        yield from sonic.answers(fabric, fabric.switches[name], TAKEN_AT.timestamp())
    else:
        yield from {"arista_eos": _eos, "cisco_nxos": _nxos, "juniper_junos": _junos}[platform](fabric, fabric.switches[name])


def _mac(switch: Switch, at: int) -> str:
    return f"{switch.mac[:-2]}{at + 1:02x}"


def _dotted(mac: str) -> str:
    digits = mac.replace(":", "")
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def _heard(fabric: Fabric, switch: Switch) -> Iterator[tuple[SwitchPort, End, str]]:
    """Each port with the far end of its cable and the address of the chassis there."""
    for port in switch.ports.values():
        far = fabric.wiring.get(End(switch.name, port.name))
        if far is not None:
            other = fabric.switches.get(far.device)
            yield port, far, fabric.hosts[far.device].nics[far.port].mac if other is None else other.mac


def _eos(fabric: Fabric, switch: Switch) -> Iterator[Answer]:
    states: dict[str, Any] = {}
    ports: dict[str, Any] = {}
    heard: dict[str, Any] = {}
    for at, port in enumerate(switch.ports.values()):
        up = End(switch.name, port.name) in fabric.wiring
        states[port.name] = {
            "vlanInformation": {"interfaceMode": "routed", "interfaceForwardingModel": "routed"}, "bandwidth": port.gbps * 10**9,
            "interfaceType": "400GBASE-DR4" if up else "Not Present", "description": port.description,
            "autoNegotiateActive": False, "duplex": "duplexFull", "linkStatus": "connected" if up else "notconnect",
            "lineProtocolStatus": "up" if up else "notPresent",
        }  # fmt: skip
        ports[port.name] = {
            "name": port.name, "interfaceStatus": "connected" if up else "notconnect", "autoNegotiate": "off",
            "burnedInAddress": _mac(switch, at), "physicalAddress": _mac(switch, at), "l2Mru": 0, "mtu": port.mtu,
            "hardware": "ethernet", "duplex": "duplexFull", "bandwidth": port.gbps * 10**9 if up else 0,
            "forwardingModel": "routed", "lineProtocolStatus": "up" if up else "notPresent", "l3MtuConfigured": True,
            "interfaceAddress": [], "description": port.description,
        }  # fmt: skip
        heard[port.name] = {"lldpNeighborInfo": []}
    for port, far, chassis in _heard(fabric, switch):
        heard[port.name]["lldpNeighborInfo"].append(
            {
                "chassisIdType": "macAddress", "chassisId": _dotted(chassis), "systemName": far.device, "ttl": 120,
                "neighborInterfaceInfo": {
                    "interfaceIdType": "interfaceName", "interfaceId": f'"{far.port}"', "interfaceDescription": far.port,
                },
                "managementAddresses": [],
            }
        )  # fmt: skip
    version = {
        "mfgName": "Arista", "modelName": "DCS-7060X6-64PE", "serialNumber": "HBG2440012A", "version": "4.33.1F",
        "kernelVersion": "5.10.0.1", "internalBuildId": "0f6c", "bootupTimestamp": 1767225600.0, "systemMacAddress": switch.mac,
    }  # fmt: skip
    yield Answer("show version | json", _json(version))
    yield Answer("show hostname | json", _json({"hostname": switch.name, "fqdn": switch.name}))
    yield Answer("show interfaces status | json", _json({"interfaceStatuses": states}))
    yield Answer("show interfaces | json", _json({"interfaces": ports}))
    yield Answer("show lldp neighbors detail | json", _json({"lldpNeighbors": heard}))


def _nxos(fabric: Fabric, switch: Switch) -> Iterator[Answer]:
    blocks, rows = [], []
    for at, port in enumerate(switch.ports.values()):
        up = End(switch.name, port.name) in fabric.wiring
        blocks.append(
            f"{port.name} is {'up' if up else 'down (XCVR not inserted)'}\nadmin state is up, Dedicated Interface\n"
            f"  Hardware: 100000/400000 Ethernet, address: {_dotted(_mac(switch, at))} (bia {_dotted(_mac(switch, at))})\n"
            + (f"  Description: {port.description}\n" if port.description else "")
            + f"  MTU {port.mtu} bytes, BW 400000000 Kbit , DLY 10 usec\n  Encapsulation ARPA, medium is broadcast\n"
            "  Port mode is routed\n"
            + ("  full-duplex, 400 Gb/s, media type is 400G\n" if up else "  auto-duplex, auto-speed\n")
            + "  Auto-Negotiation is turned off  FEC mode is Auto\n  EtherType is 0x8100\n"
            f"    admin fec state is auto, oper fec state is {'Rs-fec' if up else 'auto'}\n"
            "  RX\n    4 unicast packets  0 multicast packets  0 broadcast packets\n    0 Rx pause\n"
            "  TX\n    4 unicast packets  0 multicast packets  0 broadcast packets\n    0 Tx pause\n"
        )
        short = port.name.replace("Ethernet", "Eth")
        rows.append(
            f"{short:<13} {port.description[:18] or '--':<18} {'connected' if up else 'xcvrAbsen':<9} {'routed':<9} "
            f"{'full' if up else 'auto':<7} {'400G' if up else 'auto':<7} {'QDD-400G-DR4' if up else '--'}"
        )
    line = "-" * 80
    head = f"{'Port':<13} {'Name':<18} {'Status':<9} {'Vlan':<9} {'Duplex':<7} {'Speed':<7} Type"
    heard = [
        f"Chassis id: {_dotted(chassis)}\nPort id: {far.port}\nLocal Port id: {port.name.replace('Ethernet', 'Eth')}\n"
        f"Port Description: {far.port}\nSystem Name: {far.device}\nSystem Description: null\nTime remaining: 103 seconds\n"
        "System Capabilities: B, R\nEnabled Capabilities: B, R\nManagement Address: not advertised\nVlan ID: not advertised\n"
        for port, far, chassis in _heard(fabric, switch)
    ]
    yield Answer("show interface", "\n".join(blocks))
    yield Answer("show interface status", f"\n{line}\n{head}\n{line}\n" + "\n".join(rows) + "\n")
    total = f"\nTotal entries displayed: {len(heard)}\n"
    yield Answer("show lldp neighbors detail", _CAPABILITIES + "\n\n".join(heard) + total)


_CAPABILITIES = """
Capability codes:
  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
  (W) WLAN Access Point, (P) Repeater, (S) Station, (O) Other
Device ID            Local Intf      Hold-time  Capability  Port ID

"""


def _junos(fabric: Fabric, switch: Switch) -> Iterator[Answer]:
    ports = []
    for at, port in enumerate(switch.ports.values()):
        up = End(switch.name, port.name) in fabric.wiring
        inet = {"address-family-name": _data("inet"), "mtu": _data(port.mtu)}
        ports.append(
            {
                "name": _data(port.name), "admin-status": _data("up"), "oper-status": _data("up" if up else "down"),
                "mtu": _data(port.mtu + 14), "speed": _data("400Gbps"), "current-physical-address": _data(_mac(switch, at)),
                "if-auto-negotiation": _data("disabled"), "description": _data(port.description),
                "logical-interface": [{"name": _data(f"{port.name}.0"), "address-family": [inet]}],
            }
        )  # fmt: skip
    heard = [
        {
            "lldp-ttl": _data(120), "lldp-age": _data(7), "lldp-local-interface": _data(port.name),
            "lldp-remote-chassis-id-subtype": _data("Mac address"), "lldp-remote-chassis-id": _data(chassis),
            "lldp-remote-port-id-subtype": _data("Interface name"), "lldp-remote-port-id": _data(far.port),
            "lldp-remote-system-name": _data(far.device),
        }
        for port, far, chassis in _heard(fabric, switch)
    ]  # fmt: skip
    yield Answer("show version", f"Hostname: {switch.name}\nModel: qfx5240-64od\nJunos: 24.2X100-D20.9-EVO\n")
    yield Answer("show interfaces | display json", _json({"interface-information": [{"physical-interface": ports}]}))
    neighbours = {"lldp-neighbors-information": [{"lldp-neighbor-information": heard}]}
    yield Answer("show lldp neighbors detail | display json", _json(neighbours))


def _data(value: object) -> list[dict[str, str]]:
    return [{"data": str(value)}]


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"
