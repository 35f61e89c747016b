"""What a designed switch answers: the SONiC commands that the auditor sends, in the formats of the 202411 release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from auditor.lab import lldp, sonic_cables
from auditor.lab.answer import Answer, missing, table
from auditor.lab.fabric import End, Fabric, Switch
from auditor.lab.sonic_db import HWSKU, PLATFORM, applied_buffers, applied_ports, config, used


def answers(fabric: Fabric, switch: Switch, taken_at: float) -> Iterator[Answer]:
    """Every command with its output; `taken_at` in seconds since 1970."""
    applied = switch.applied or switch
    running = config(fabric, switch)
    yield Answer("show version", _version(switch))
    yield Answer("show runningconfiguration all", _document(running))
    if switch.file:
        saved = config(fabric, switch.saved) if switch.saved else running
        yield Answer("cat /etc/sonic/config_db.json", _document(saved))
    else:
        yield missing("/etc/sonic/config_db.json")
    yield Answer("sonic-db-dump -n APPL_DB -k 'PORT_TABLE:*' -y", _dump(applied_ports(fabric, applied), taken_at))
    yield Answer("sonic-db-dump -n APPL_DB -k 'BUFFER_*' -y", _dump(applied_buffers(applied), taken_at))
    yield Answer("show interfaces status", _status(fabric, switch))
    yield Answer("show interfaces fec status", _fec(fabric, switch))
    yield Answer("lldpctl -f json", lldp.document(fabric, switch.name, End("oob-01", f"Ethernet{switch.number}")))
    yield Answer("pfcwd show config", _watchdog(switch))
    yield Answer("pfcwd show stats", _storms(switch))
    yield Answer("show pfc priority", _pfc(switch))
    yield Answer("show platform firmware status", _firmware())
    yield from sonic_cables.answers(fabric, switch)


def _document(tables: Mapping[str, object]) -> str:
    return json.dumps(tables, indent=4, sort_keys=True) + "\n"


def _dump(rows: Mapping[str, Mapping[str, str]], taken_at: float) -> str:
    """What redisdl prints of hashes that do not expire."""
    entries = {key: {"expireat": taken_at, "ttl": -0.001, "type": "hash", "value": row} for key, row in rows.items()}
    return json.dumps(entries, indent=2, sort_keys=True)


def _status(fabric: Fabric, switch: Switch) -> str:
    headers = ["Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC"]
    rows = [
        [
            port.name, port.lanes, f"{port.gbps}G", str(port.mtu), "rs", port.alias, "routed",
            "up" if fabric.gbps(End(switch.name, port.name)) else "down", "up" if port.plane else "down",
            "OSFP 8X Pluggable Transceiver" if fabric.gbps(End(switch.name, port.name)) else "N/A", "off",
        ]
        for port in switch.ports.values()
    ]  # fmt: skip
    return table(headers, rows)


def _fec(fabric: Fabric, switch: Switch) -> str:
    rows = [[port.name, "rs" if fabric.gbps(End(switch.name, port.name)) else "N/A", "rs"] for port in switch.ports.values()]
    return table(["Interface", "FEC Oper", "FEC Admin"], rows)


def _watchdog(switch: Switch) -> str:
    rows = [[port.name, "drop", "400", "400", "disable"] for port in used(switch) if port.watchdog]
    headers = ["PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"]
    return "Changed polling interval to 200ms\n" + table(headers, rows)


def _storms(switch: Switch) -> str:
    """Queues that never saw a storm are left out."""
    headers = ["QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP"]
    rows = [
        [f"{port.name}:{queue}", "stormed", "1/0", "100/300", "100/300", "0/200", "0/200"]
        for port in used(switch)
        for queue in port.watched
        if port.watchdog and port.stormed
    ]
    return table(headers, rows)


def _pfc(switch: Switch) -> str:
    rows = [[port.name, ",".join(map(str, port.pfc))] for port in used(switch)]
    return table(["Interface", "Lossless priorities"], rows, right=False) + "\n"


def _firmware() -> str:
    components = [
        ("ONIE", "2024.02-5.3.0013-9600", "ONIE - Open Network Install Environment"),
        ("SSD", "0202-001", "SSD - Solid-State Drive"),
        ("BIOS", "0ACTV_00.01.014", "BIOS - Basic Input/Output System"),
        ("CPLD1", "CPLD000370_REV0601", "CPLD - Complex Programmable Logic Device"),
        ("CPLD2", "CPLD000371_REV0400", "CPLD - Complex Programmable Logic Device"),
        ("CPLD3", "CPLD000372_REV0200", "CPLD - Complex Programmable Logic Device"),
    ]
    rows = [["" if at else "SN5600", "" if at else "N/A", *row] for at, row in enumerate(components)]
    return table(["Chassis", "Module", "Component", "Version", "Description"], rows, right=False)


def _version(switch: Switch) -> str:
    return f"""
SONiC Software Version: {switch.version}
SONiC OS Version: 12
Distribution: Debian 12.9
Kernel: 6.1.0-22-2-amd64
Build commit: 4f1d0c2b7
Build date: Fri Oct 10 03:11:52 UTC 2025
Built by: build@fabric-images

Platform: {PLATFORM}
HwSKU: {HWSKU}
ASIC: mellanox
ASIC Count: 1
Serial Number: MT2501X{switch.number:05d}
Model Number: MSN5600-CS2FC
Hardware Revision: A3
Uptime: 02:00:09 up 41 days,  6:32,  1 user,  load average: 0.61, 0.58, 0.55
Date: Mon 02 Mar 2026 02:00:09

Docker images:
REPOSITORY           TAG       IMAGE ID       SIZE
docker-orchagent     latest    5c0e6b1f90aa   341MB
docker-syncd-mlnx    latest    b82f4d7716c3   812MB
docker-lldp          latest    e1d9077c2b54   336MB

"""
