"""The two sources that hold a whole CONFIG_DB: the running one, and the file that the next reload loads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from auditor.address import Layer
from auditor.facts import Buffer, BufferPool, ClassMap, ConfigFile, DscpMap, Interface, PriorityGroup, QosPort, Queue, System
from auditor.model import Fill, GapReason, Normalised, Parser, Source, Unread
from auditor.platforms.sonic import buffers, qos
from auditor.platforms.sonic.config_db import KEYED, KNOWN, databases, interfaces, system

FILE = "/etc/sonic/config_db.json"


def _fills(layer: Layer) -> tuple[Fill, ...]:
    return (
        Fill(System, layer, ("hostname", "hardware_model")),
        Fill(
            Interface, layer,
            ("enabled", "mtu", "speed", "fec", "autoneg", "alias", "lanes", "description", "cable_length_m", "lag",
             "breakout_parent"),
        ),
        Fill(QosPort, layer, ("trust", "dscp_map", "tc_to_queue", "tc_to_pg", "pfc_to_queue", "pfc_priorities")),
        Fill(DscpMap, layer, ("traffic_class",)),
        Fill(ClassMap, layer, ("kind", "to")),
        Fill(
            Queue, layer,
            ("scheduler", "weight", "buffer_profile", "ecn_enabled", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability",
             "ecn_profile", "watchdog_enabled", "watchdog_detection_s", "watchdog_restoration_s", "watchdog_action"),
        ),
        Fill(PriorityGroup, layer, buffers.GROUP_COLUMNS),
        Fill(BufferPool, layer, buffers.POOL_COLUMNS),
        Fill(Buffer, layer, ("model", "vendor_word", "mode", "ingress_pools")),
    )  # fmt: skip


def config(document: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every fact of a decoded CONFIG_DB. Raises ValueError when it is none."""
    found = databases(document)
    yield from system(found)
    yield from buffers.buffer(found)
    for database in found:
        for table in database.damaged:
            for row_type in KNOWN.get(table, ()):
                yield Unread(row_type, detail=f"CONFIG_DB: a row of {table} is no object")
        yield from interfaces(database)
        yield from qos.qos_ports(database)
        yield from qos.dscp_maps(database)
        yield from qos.class_maps(database)
        yield from qos.queues(database)
        if database.prefix or len(found) == 1:
            yield from buffers.priority_groups(database)
            yield from buffers.buffer_pools(database)


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[{}\[\],:]')


def saved(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The saved file: whether it is there and can be read, and the same facts as the running database.

    Read as text, because a file that is missing or broken is a fact (the next reload fails), not an unreadable answer. Broken
    is the file when the line that is no JSON is made of nothing but parts of JSON, as after a careless edit; a line with other
    words in it may have fallen into the answer on its way, and an answer that breaks off may have been cut: those are gaps.
    """
    fills = _fills(Layer.SAVED)
    if re.search(r"^cat: \S+: No such file or directory\s*$", body, re.MULTILINE):
        yield ConfigFile(name=FILE, exists=False)
        for fill in fills:
            yield Unread(fill.row_type, reason=GapReason.UNSUPPORTED, detail=f"{FILE} does not exist")
        return
    start = re.search(r"^\s*\{", body, re.MULTILINE)
    text = body[start.start() :].strip() if start else body.strip()
    try:
        document, _ = json.JSONDecoder().raw_decode(text)
        found = databases(document)
    except json.JSONDecodeError as error:
        cut = not text[error.pos + 1 :].strip() or error.msg.startswith("Unterminated string")
        unread = [fill.row_type for fill in fills]
        if start is not None and not cut and not _TOKENS.sub("", text.splitlines()[error.lineno - 1]).strip():
            yield ConfigFile(name=FILE, exists=True, parses=False)
        else:
            unread.insert(0, ConfigFile)
        reason = GapReason.TRUNCATED if cut else GapReason.UNPARSED
        detail = f"not JSON in line {error.lineno}: {error.msg}"
        yield from (Unread(row_type, reason=reason, detail=detail) for row_type in unread)
        return
    except ValueError as error:
        yield Unread(ConfigFile, detail=str(error))
        yield from (Unread(fill.row_type, detail=str(error)) for fill in fills)
        return
    plain = json.dumps(document, sort_keys=True, separators=(",", ":"))
    yield ConfigFile(name=FILE, exists=True, parses=True, digest=sha256(plain.encode("utf-8", "surrogatepass")).hexdigest())
    if isinstance(document, dict) and "DEVICE_METADATA" in document and "PORT" not in document:
        for fill in fills[1:]:  # all but the device itself
            yield Unread(fill.row_type, reason=GapReason.UNSUPPORTED, detail="no PORT in it: each ASIC has a file of its own")
    yield from config(document, parameters)
    for database in found:
        yield from buffers.made_at_start(database)


_POINTERS = {
    "system.hostname": "/DEVICE_METADATA/localhost/hostname",
    "system.hardware_model": "/DEVICE_METADATA/localhost/hwsku",
    "interface": "/PORT/{0}",
    "interface.cable_length_m": "/CABLE_LENGTH/AZURE/{0}",
    "qos_port": "/PORT_QOS_MAP/{0}",
    "dscp_map": "/DSCP_TO_TC_MAP/{0}/{1}",
    "queue": "/QUEUE/" + KEYED,
    "queue.buffer_profile": "/BUFFER_QUEUE/" + KEYED,
    "priority_group": "/BUFFER_PG/" + KEYED,
    "buffer_pool": "/BUFFER_POOL/{0}",
    "queue.watchdog_enabled": "/PFC_WD/{0}",
    "queue.watchdog_detection_s": "/PFC_WD/{0}",
    "queue.watchdog_restoration_s": "/PFC_WD/{0}",
    "queue.watchdog_action": "/PFC_WD/{0}",
    "buffer.model": "/DEVICE_METADATA/localhost/buffer_model",
    "buffer.vendor_word": "/DEVICE_METADATA/localhost/buffer_model",
    "buffer.mode": "/BUFFER_PROFILE",
    "buffer.ingress_pools": "/BUFFER_POOL",
}

RUNNING = Source(
    key="config_db",
    command="show runningconfiguration all",
    aliases=("config_db.json", "sonic-cfggen -d --print-data", "sudo show runningconfiguration all"),
    fills=_fills(Layer.CONFIGURED),
    parser=Parser.JSON,
    normalise=config,
    proof={
        **_POINTERS,
        **{f"interface.{name}": "/PORT/{0}/" + field for name, field in (("mtu", "mtu"), ("speed", "speed"), ("fec", "fec"))},
        "qos_port.pfc_priorities": "/PORT_QOS_MAP/{0}/pfc_enable",
        "qos_port.trust": "/PORT_QOS_MAP/{0}/dscp_to_tc_map",
        "qos_port.dscp_map": "/PORT_QOS_MAP/{0}/dscp_to_tc_map",
    },
    proven_by="sonic-utilities show/main.py (runningconfiguration all); captures sonic/vlab_t2_new_dbfmt, vlab_t2_old_dbfmt",
    seconds=20.0,
)

SAVED = Source(
    key="config_db_saved",
    command=f"cat {FILE}",
    aliases=(FILE, f"sudo cat {FILE}"),
    fills=(Fill(ConfigFile, Layer.SAVED, ("exists", "parses", "digest")), *_fills(Layer.SAVED)),
    parser=Parser.TEXT,
    normalise=saved,
    proof={"config_file": r"^(?:cat: |\{)"},
    proven_by="captures sonic/vlab_t2_new_dbfmt, vlab_t2_old_dbfmt (files of this name)",
    ok_status=(0, 1),  # cat ends with 1 when the file is not there
)
