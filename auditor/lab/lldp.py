"""What `lldpctl -f json` prints on a device of a designed fabric (shape: lldpd 1.0.16)."""

from __future__ import annotations

import json
from typing import Any

from auditor.lab.fabric import End, Fabric


def document(fabric: Fabric, device: str, management: End | None = None) -> str:
    """The whole answer: one neighbour for every cable that really ends at the device, and for its management port."""
    found: list[dict[str, Any]] = []
    if management is not None:
        found.append({"eth0" if device in fabric.switches else "eno1": _neighbour(fabric, management)})
    ports = fabric.switches[device].ports if device in fabric.switches else fabric.hosts[device].nics
    far_ends = ((port, fabric.wiring.get(End(device, port))) for port in ports)
    found += [{port: _neighbour(fabric, far)} for port, far in far_ends if far is not None]
    for at, entry in enumerate(found):
        next(iter(entry.values()))["rid"] = str(at + 1)
    interface = found if len(found) > 1 else (found[0] if found else None)
    return json.dumps({"lldp": {} if interface is None else {"interface": interface}}, indent=2) + "\n"


def _neighbour(fabric: Fabric, far: End) -> dict[str, Any]:
    """SONiC's lldpmgrd announces the port's alias as a locally assigned id; hosts announce the interface name."""
    if far.device in fabric.switches:
        switch = fabric.switches[far.device]
        port = switch.ports[far.port]
        chassis, system = switch.mac, f"SONiC Software Version: {switch.version} - HwSku: Mellanox-SN5600-O128"
        address, routes = f"10.64.{switch.number >> 8}.{switch.number & 255}", True
        identity = {"id": {"type": "local", "value": port.alias}, "descr": port.description or " "}
    elif far.device in fabric.hosts:
        host = fabric.hosts[far.device]
        chassis, system = (
            f"3c:ec:ef:{host.number >> 8 & 255:02x}:{host.number & 255:02x}:10",
            "Ubuntu 22.04.4 LTS Linux 5.15.0-112-generic",
        )
        address, routes = f"10.65.{host.number >> 8}.{host.number & 255}", False
        identity = {"id": {"type": "ifname", "value": far.port}, "descr": far.port}
    else:
        chassis, system, address, routes = "94:6d:ae:ff:ff:00", "management switch", "10.64.255.1", True
        identity = {"id": {"type": "ifname", "value": far.port}, "descr": far.port}
    return {
        "via": "LLDP",
        "rid": "",
        "age": "12 days, 03:12:44",
        "chassis": {
            far.device: {
                "id": {"type": "mac", "value": chassis},
                "descr": system,
                "mgmt-ip": address,
                "capability": [{"type": "Bridge", "enabled": routes}, {"type": "Router", "enabled": routes}],
            }
        },
        "port": {**identity, "ttl": "120"},
    }
