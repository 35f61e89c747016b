"""What a designed switch answers: the SONiC commands that the auditor sends, in the formats of the 202411 release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from auditor.lab import lldp
from auditor.lab.fabric import CNP_PRIORITY, ROCE_PRIORITY, SPEED, End, Fabric, Switch, SwitchPort

HWSKU = "Mellanox-SN5600-O128"
PLATFORM = "x86_64-nvidia_sn5600-r0"
_MBPS = str(SPEED // 1_000_000)
_LOSSY, _XON, _HEADROOM = "ingress_lossy_profile", 19456, 61440


def answers(fabric: Fabric, switch: Switch) -> Iterator[tuple[str, str]]:
    """Every command with its output."""
    config = _config(fabric, switch)
    text = json.dumps(config, indent=4, sort_keys=True) + "\n"
    yield "show version", _version(switch)
    yield "show runningconfiguration all", text
    yield "cat /etc/sonic/config_db.json", text
    yield "show interfaces status", _status(switch)
    yield "show interfaces fec status", _fec(switch)
    yield "lldpctl -f json", lldp.document(fabric, switch.name, End("oob-01", f"Ethernet{switch.number}"))
    yield "pfcwd show config", _watchdog(switch)
    yield "show pfc priority", _pfc(switch)
    yield "show platform firmware status", _firmware()


def _used(switch: Switch) -> list[SwitchPort]:
    return [port for port in switch.ports.values() if port.plane]


def _profile(port: SwitchPort) -> str:
    return f"pg_lossless_{_MBPS}_{port.length_m}m_profile"


def _lossless(length_m: int) -> dict[str, str]:
    """Headroom of one priority group: what is on the cable both ways comes on top of the frames in flight."""
    headroom = _HEADROOM + length_m * 512
    return {
        "pool": "ingress_lossless_pool", "size": str(_XON + headroom), "xon": str(_XON), "xoff": str(headroom),
        "dynamic_th": "0",
    }  # fmt: skip


def _config(fabric: Fabric, switch: Switch) -> dict[str, Any]:
    """CONFIG_DB as sonic-cfggen prints it."""
    used, number = _used(switch), switch.number
    management = f"10.64.{number >> 8}.{number & 255}"
    identity = {str(value): str(value) for value in range(8)}
    watched = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
    return {
        "CABLE_LENGTH": {"AZURE": {port.name: f"{port.length_m}m" for port in switch.ports.values()}},
        "DEVICE_METADATA": {
            "localhost": {
                "bgp_asn": str(65000 + number), "buffer_model": switch.buffer_model, "default_pfcwd_status": "disable",
                "docker_routing_config_mode": "separated", "hostname": switch.name, "hwsku": HWSKU, "mac": switch.mac,
                "platform": PLATFORM, "type": {"leaf": "ToRRouter", "spine": "LeafRouter"}.get(switch.role, "SpineRouter"),
            }
        },
        "DEVICE_NEIGHBOR": {
            end.port: {"name": far.device, "port": far.port}
            for end, far in ((cable.a, cable.b) if cable.a.device == switch.name else (cable.b, cable.a) for cable in fabric.plan)
            if end.device == switch.name
        },
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): str(switch.dscp_to_tc.get(dscp, 0)) for dscp in range(64)}},
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|10.66.{number >> 8}.{number & 255}/32": {}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": identity},
        "MGMT_INTERFACE": {f"eth0|{management}/16": {"gwaddr": "10.64.255.254"}},
        "PFC_WD": {
            "GLOBAL": {"POLL_INTERVAL": "200"},
            **{port.name: watched for port in used if port.watchdog},
        },
        "PORT": {port.name: _port(port) for port in switch.ports.values()},
        "PORT_QOS_MAP": {port.name: _qos(port) for port in used},
        "QUEUE": {f"{port.name}|{queue}": row for port in used for queue, row in _QUEUES.items()},
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"},
            "scheduler.2": {"type": "STRICT"},
        },
        "TC_TO_PRIORITY_GROUP_MAP": {
            "AZURE": {str(value): str(value if value == ROCE_PRIORITY else 0) for value in range(8)},
        },
        "TC_TO_QUEUE_MAP": {"AZURE": identity},
        "VERSIONS": {"DATABASE": {"VERSION": "version_202411_01"}},
        "WRED_PROFILE": {
            "AZURE_LOSSLESS": {
                "ecn": "ecn_green", "wred_green_enable": "true", "green_min_threshold": "1048576",
                "green_max_threshold": "3145728", "green_drop_probability": "10",
            }
        },
        **_buffers(switch, used),
    }  # fmt: skip


_QUEUES: Mapping[str, Mapping[str, str]] = {
    "0": {"scheduler": "scheduler.0"},
    str(ROCE_PRIORITY): {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"},
    str(CNP_PRIORITY): {"scheduler": "scheduler.2"},
}


def _port(port: SwitchPort) -> dict[str, str]:
    row = {
        "admin_status": "up" if port.plane else "down", "alias": port.alias, "fec": "rs", "index": str(port.index),
        "lanes": port.lanes, "mtu": str(port.mtu), "pfc_asym": "off", "speed": _MBPS,
    }  # fmt: skip
    return {**row, "description": port.description} if port.description else row


def _qos(port: SwitchPort) -> dict[str, str]:
    enabled = ",".join(map(str, port.pfc))
    row = {"pfc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "tc_to_queue_map": "AZURE", "pfc_enable": enabled}
    if port.watchdog:
        row["pfcwd_sw_enable"] = enabled
    return {**row, "dscp_to_tc_map": port.dscp_map} if port.dscp_map else row


def _buffers(switch: Switch, used: Sequence[SwitchPort]) -> dict[str, Any]:
    """Traditional: profiles stand in CONFIG_DB. Dynamic: buffermgrd computes them, CONFIG_DB names them NULL."""
    dynamic = switch.buffer_model == "dynamic"
    sizes = {} if dynamic else {"size": "96468992"}
    profiles: dict[str, Any] = {
        _LOSSY: {"pool": "ingress_lossy_pool", "size": "0", "dynamic_th": "3"},
        "ingress_lossless_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "q_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3"},
    }
    if not dynamic:
        profiles |= {_profile(port): _lossless(port.length_m) for port in used}
    groups: dict[str, Any] = {}
    queues: dict[str, Any] = {}
    for port in used:
        groups[f"{port.name}|0"] = {"profile": _LOSSY}
        groups[f"{port.name}|{ROCE_PRIORITY}"] = {"profile": "NULL" if dynamic else _profile(port)}
        queues[f"{port.name}|0-2"] = {"profile": "q_lossy_profile"}
        queues[f"{port.name}|{ROCE_PRIORITY}"] = {"profile": "egress_lossless_profile"}
        queues[f"{port.name}|4-7"] = {"profile": "q_lossy_profile"}
    tables: dict[str, Any] = {
        "BUFFER_PG": groups,
        "BUFFER_POOL": {
            "egress_lossless_pool": {"mode": "dynamic", "size": "167772160", "type": "egress"},
            "egress_lossy_pool": {"mode": "dynamic", "type": "egress", **sizes},
            "ingress_lossless_pool": {"mode": "dynamic", "type": "ingress", **sizes},
            "ingress_lossy_pool": {"mode": "dynamic", "type": "ingress", **sizes},
        },
        "BUFFER_PROFILE": profiles,
        "BUFFER_QUEUE": queues,
    }
    if dynamic:
        tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {"AZURE": {"default_dynamic_th": "0"}}
        tables["LOSSLESS_TRAFFIC_PATTERN"] = {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}}
    return tables


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = True) -> str:
    """A table as tabulate's `simple` format prints it, every column on the same side."""
    widths = [max(len(header) + 2, *(len(row[at]) for row in rows)) for at, header in enumerate(headers)]
    put = str.rjust if right else str.ljust
    lines = [headers, ["-" * width for width in widths], *rows]
    return "".join(
        "  ".join(put(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


def _status(switch: Switch) -> str:
    headers = ["Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC"]
    rows = [
        [
            port.name, port.lanes, "400G", str(port.mtu), "rs", port.alias, "routed",
            *(("up", "up", "OSFP 8X Pluggable Transceiver") if port.plane else ("down", "down", "N/A")), "off",
        ]
        for port in switch.ports.values()
    ]  # fmt: skip
    return table(headers, rows)


def _fec(switch: Switch) -> str:
    rows = [[port.name, "rs" if port.plane else "N/A", "rs"] for port in switch.ports.values()]
    return table(["Interface", "FEC Oper", "FEC Admin"], rows)


def _watchdog(switch: Switch) -> str:
    rows = [[port.name, "drop", "400", "400", "disable"] for port in _used(switch) if port.watchdog]
    headers = ["PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"]
    return "Changed polling interval to 200ms\n" + table(headers, rows)


def _pfc(switch: Switch) -> str:
    rows = [[port.name, ",".join(map(str, port.pfc))] for port in _used(switch)]
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
