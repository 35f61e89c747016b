"""What Onyx answers: `show version` as text, ports and their classification as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import ClassMap, DscpMap, Interface, QosPort, System
from auditor.model import Normalised, Unread
from auditor.platforms.mellanox_mlnxos.names import long_name

_MTU = re.compile(r"(\d{2,6}) bytes\(Maximum packet size (\d{2,6}) bytes\)")
_ADMIN = {"Enabled": True, "Disabled": False}
_OPER = {"Up": True, "Down": False}
_TRUST = {"both": ("dscp", "pcp"), "L3": ("dscp",), "L2": ("pcp",), "port": ()}
_SWITCH_PRIORITY = "PCP(DEI); DSCP to switch-priority mapping"
_TRAFFIC_CLASS = "PCP(DEI); DSCP rewrite mapping (switch-priority to PCP(DEI); DSCP; traffic-class)"


def version(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show version`. The serial number may stand in quotes with backslashes."""
    values: dict[str, str] = {}
    for line in body.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            values.setdefault(label.strip(), value.strip().replace("\\", "").strip('"'))
    yield System(
        vendor="NVIDIA",
        os_name=values.get("Product name") or None,
        os_version=values.get("Product release") or None,
        serial=values.get("System serial num") or None,
        image_id=values.get("Build ID") or None,
    )


def interfaces(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces ethernet` as JSON: a list of ports, each with its name under `header`. Raises ValueError for others."""
    if not isinstance(document, list):
        raise ValueError("no list of ports")
    for item in document:
        name = item.get("header") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name:
            yield Unread(Interface, detail=f"an entry without the name of a port: {printable(str(item), 80)}")
            continue
        yield from _port(long_name(name), item)


def _port(name: str, item: Mapping[str, Any]) -> Iterator[Normalised]:
    sizes = _MTU.fullmatch(str(item.get("MTU", "")))
    admin, oper, speed, fec, mac = (
        str(item.get(key, "")) for key in ("Admin state", "Operational state", "Actual speed", "Fec", "Mac address")
    )
    row = Interface(
        name=name,
        enabled=_ADMIN.get(admin),
        up=_OPER.get(oper),
        mtu=None if sizes is None else int(sizes.group(1)),
        frame_bytes=None if sizes is None else int(sizes.group(2)),
        mtu_shown=str(item["MTU"]) if "MTU" in item else None,
        speed=_read(canonical.speed, speed),
        fec=_read(canonical.fec, fec),
        mac=_read(canonical.mac, mac),
    )
    yield row
    for column, text in (("enabled", admin), ("up", oper), ("mtu", str(item.get("MTU", ""))), ("speed", speed), ("fec", fec)):
        if getattr(row, column) is None:
            yield Unread(Interface, (name,), column, detail=f"not read: {printable(text, 60)!r}")
    if sizes is None:
        yield Unread(Interface, (name,), "frame_bytes", detail=f"not read: {printable(str(item.get('MTU', '')), 60)!r}")


def _read(reader: Any, text: str) -> Any:
    try:
        return reader(text)
    except ValueError:
        return None


def qos(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show qos interface` as JSON: each port's trust, its map from DSCPs to switch priorities, and from these to queues."""
    for item in document if isinstance(document, list) else [document]:
        for written, parts in item.items() if isinstance(item, dict) else ():
            yield from _classifies(long_name(written), parts if isinstance(parts, list) else [parts])


def _classifies(port: str, parts: list[Any]) -> Iterator[Normalised]:
    fields: dict[str, Any] = {}
    for part in parts:
        fields.update(part if isinstance(part, dict) else {})
    trust = fields.get("Trust mode")
    known = _TRUST.get(trust) if isinstance(trust, str) else None
    maps = dict(_dscps(fields.get(_SWITCH_PRIORITY)))
    queues = dict(_queues(fields.get(_TRAFFIC_CLASS)))
    whole = len(maps) == 64
    yield QosPort(port=port, trust=known, dscp_map=port if whole else None, tc_to_queue=port if len(queues) == 8 else None)
    if known is None:
        yield Unread(QosPort, (port,), "trust", detail=f"trust mode {printable(str(trust), 40)!r} is not known")
    if not whole:
        yield Unread(QosPort, (port,), "dscp_map", detail=f"{len(maps)} of 64 code points are told")
    if len(queues) != 8:
        yield Unread(QosPort, (port,), "tc_to_queue", detail=f"{len(queues)} of 8 switch priorities are told")
    for dscp, priority in sorted(maps.items()) if whole else ():
        yield DscpMap(name=port, dscp=str(dscp), traffic_class=priority)
    for priority, queue in sorted(queues.items()) if len(queues) == 8 else ():
        yield ClassMap(name=f"tc_to_queue:{port}", source=str(priority), kind="tc_to_queue", to=queue)


def _dscps(told: Any) -> Iterator[tuple[int, int]]:
    """(code point, switch priority) of the map; texts that are no numbers are left out, so that the map is not whole."""
    for group in told if isinstance(told, list) else ():
        for entries in group.values() if isinstance(group, dict) else ():
            for entry in entries if isinstance(entries, list) else ():
                priority = str(entry.get("switch-priority", ""))
                for word in str(entry.get("DSCP", "")).split():
                    if re.fullmatch(r"[0-7]", priority) and re.fullmatch(r"\d{1,2}", word) and int(word) < 64:
                        yield int(word), int(priority)


def _queues(told: Any) -> Iterator[tuple[int, int]]:
    for group in told if isinstance(told, list) else ():
        for priority, entries in group.items() if isinstance(group, dict) else ():
            for entry in entries if isinstance(entries, list) else ():
                if re.fullmatch(r"[0-7]", priority) and re.fullmatch(r"[0-7]", str(entry.get("TC", ""))):
                    yield int(priority), int(entry["TC"])
