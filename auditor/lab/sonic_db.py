"""The databases of a designed switch: CONFIG_DB, and what orchagent was told in APPL_DB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from auditor.lab.fabric import CNP_PRIORITY, ROCE_PRIORITY, End, Fabric, Switch, SwitchPort

HWSKU = "Mellanox-SN5600-O128"
PLATFORM = "x86_64-nvidia_sn5600-r0"
_LOSSY = "ingress_lossy_profile"
_XON = 19456
_IN_FLIGHT = 61440
"""Headroom of a cable without length: the frames under way while the far end obeys, in bytes."""
_PER_METRE = 512
"""Bytes on one metre of cable in both directions: 400 Gbit/s at 5 ns per metre, rounded up to whole cells."""


def used(switch: Switch) -> list[SwitchPort]:
    """The ports that the plan uses."""
    return [port for port in switch.ports.values() if port.plane]


def config(fabric: Fabric, switch: Switch) -> dict[str, Any]:
    """CONFIG_DB as sonic-cfggen prints it."""
    ports, number = used(switch), switch.number
    management = f"10.64.{number >> 8}.{number & 255}"
    watched = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
    neighbours = ((port.name, fabric.planned.get(End(switch.name, port.name))) for port in ports)
    return {
        "CABLE_LENGTH": {"AZURE": {port.name: f"{port.length_m}m" for port in switch.ports.values()}},
        "DEVICE_METADATA": {
            "localhost": {
                "bgp_asn": str(65000 + number), "buffer_model": switch.buffer_model, "default_pfcwd_status": "disable",
                "docker_routing_config_mode": "separated", "hostname": switch.name, "hwsku": HWSKU, "mac": switch.mac,
                "platform": PLATFORM, "type": {"leaf": "ToRRouter", "spine": "LeafRouter"}.get(switch.role, "SpineRouter"),
            }
        },
        "DEVICE_NEIGHBOR": {name: {"name": far.device, "port": far.port} for name, far in neighbours if far is not None},
        "DSCP_TO_TC_MAP": {
            name: {str(dscp): str(switch.dscp_to_tc.get(dscp, 0)) for dscp in range(64)}
            for name in sorted({port.dscp_map for port in ports if port.dscp_map})
        },
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|10.66.{number >> 8}.{number & 255}/32": {}},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(at): str(switch.pause_to_queue.get(at, at)) for at in range(8)}},
        "MGMT_INTERFACE": {f"eth0|{management}/16": {"gwaddr": "10.64.255.254"}},
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, **{port.name: watched for port in ports if port.watchdog}},
        "PORT": {port.name: _port(port) for port in switch.ports.values()},
        "PORT_QOS_MAP": {port.name: _qos(port) for port in ports},
        "QUEUE": {f"{port.name}|{queue}": row for port in ports for queue, row in _queues(port)},
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"},
            "scheduler.2": {"type": "STRICT"},
        },
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(at): str(switch.to_group.get(at, 0)) for at in range(8)}},
        "TC_TO_QUEUE_MAP": {"AZURE": {str(at): str(switch.to_queue.get(at, at)) for at in range(8)}},
        "VERSIONS": {"DATABASE": {"VERSION": "version_202411_01"}},
        "WRED_PROFILE": {
            "AZURE_LOSSLESS": {
                "ecn": "ecn_all",
                **{f"wred_{colour}_enable": "true" for colour in _COLOURS},
                **{f"{colour}_min_threshold": str(switch.ecn.minimum) for colour in _COLOURS},
                **{f"{colour}_max_threshold": str(switch.ecn.maximum) for colour in _COLOURS},
                **{f"{colour}_drop_probability": str(switch.ecn.percent) for colour in _COLOURS},
            }
        },
        **_buffers(switch, dynamic=switch.buffer_model == "dynamic"),
    }  # fmt: skip


_COLOURS = ("green", "yellow", "red")


def _port(port: SwitchPort) -> dict[str, str]:
    row = {
        "admin_status": "up" if port.plane else "down", "alias": port.alias, "fec": "rs", "index": str(port.index),
        "lanes": port.lanes, "mtu": str(port.mtu), "pfc_asym": "off", "speed": f"{port.gbps}000",
    }  # fmt: skip
    return {**row, "description": port.description} if port.description else row


def _qos(port: SwitchPort) -> dict[str, str]:
    row = {"pfc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE", "tc_to_queue_map": "AZURE"}
    if port.pfc:
        row["pfc_enable"] = ",".join(map(str, port.pfc))
    if port.watchdog:
        row["pfcwd_sw_enable"] = ",".join(map(str, port.watched))
    return {**row, "dscp_to_tc_map": port.dscp_map} if port.dscp_map else row


def _queues(port: SwitchPort) -> Iterator[tuple[str, Mapping[str, str]]]:
    """RoCE marks and shares the link with the rest; congestion notifications go before all."""
    yield "0", {"scheduler": "scheduler.0"}
    yield str(ROCE_PRIORITY), {"scheduler": "scheduler.1", **({"wred_profile": "AZURE_LOSSLESS"} if port.ecn else {})}
    yield str(CNP_PRIORITY), {"scheduler": "scheduler.2"}


def _profile(port: SwitchPort) -> tuple[str, Mapping[str, str]]:
    """The lossless profile of a port, by the name that says what it was made for, and its values."""
    metres = port.length_m if port.profile_m is None else port.profile_m
    name, headroom = f"pg_lossless_{port.gbps}000_{metres}m_profile", _IN_FLIGHT + metres * _PER_METRE if metres else 0
    if port.headroom is not None:
        name, headroom = f"roce_{port.headroom}_profile", port.headroom
    return name, {
        "pool": "ingress_lossless_pool", "size": str(_XON + headroom), "xon": str(_XON), "xoff": str(headroom),
        "dynamic_th": "0",
    }  # fmt: skip


def _buffers(switch: Switch, *, dynamic: bool) -> dict[str, Any]:
    """Traditional: profiles stand in CONFIG_DB. Dynamic: buffermgrd computes them, CONFIG_DB names them NULL."""
    ports = used(switch)
    sizes = {} if dynamic else {"size": "96468992"}
    profiles: dict[str, Any] = {
        _LOSSY: {"pool": "ingress_lossy_pool", "size": "0", "dynamic_th": "3"},
        "ingress_lossless_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "7"},
        "q_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3"},
    }
    if not dynamic:
        profiles |= dict(_profile(port) for port in ports if port.lossless)
    tables: dict[str, Any] = {
        "BUFFER_PG": dict(_groups(ports, dynamic=dynamic)),
        "BUFFER_POOL": {
            "egress_lossless_pool": {"mode": "dynamic", "size": "167772160", "type": "egress"},
            "egress_lossy_pool": {"mode": "dynamic", "type": "egress", **sizes},
            "ingress_lossless_pool": {"mode": "dynamic", "type": "ingress", **sizes},
            "ingress_lossy_pool": {"mode": "dynamic", "type": "ingress", **sizes},
        },
        "BUFFER_PROFILE": profiles,
        "BUFFER_QUEUE": {
            f"{port.name}|{queues}": {"profile": profile}
            for port in ports
            for queues, profile in (
                ("0-2", "q_lossy_profile"), (str(ROCE_PRIORITY), "egress_lossless_profile"), ("4-7", "q_lossy_profile")
            )
        },
    }  # fmt: skip
    if dynamic:
        tables["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = {"AZURE": {"default_dynamic_th": "0"}}
        tables["LOSSLESS_TRAFFIC_PATTERN"] = {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}}
    return tables


def _groups(ports: Sequence[SwitchPort], *, dynamic: bool) -> Iterator[tuple[str, Mapping[str, str]]]:
    for port in ports:
        yield f"{port.name}|0", {"profile": _LOSSY}
        if port.lossless:
            yield f"{port.name}|{ROCE_PRIORITY}", {"profile": "NULL" if dynamic else _profile(port)[0]}


def applied_buffers(switch: Switch) -> dict[str, Mapping[str, str]]:
    """Keys and fields of APPL_DB about buffers. Both models name computed profiles there; the dynamic one also sizes pools."""
    tables = _buffers(switch, dynamic=False)
    return {f"{name}_TABLE:{key.replace('|', ':')}": row for name, rows in tables.items() for key, row in rows.items()}


def applied_ports(fabric: Fabric, switch: Switch) -> dict[str, Mapping[str, str]]:
    """Keys and fields of APPL_DB about ports, with the markers that portsyncd leaves."""
    rows: dict[str, Mapping[str, str]] = {
        f"PORT_TABLE:{port.name}": {
            **_port(port),
            "oper_status": "up" if End(switch.name, port.name) in fabric.wiring else "down",
        }
        for port in switch.ports.values()
    }
    rows["PORT_TABLE:PortConfigDone"] = {"count": str(len(switch.ports))}
    rows["PORT_TABLE:PortInitDone"] = {"lanes": "0"}
    return rows
