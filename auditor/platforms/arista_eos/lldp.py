"""LLDP neighbours of EOS: `show lldp neighbors detail`, the same as JSON, and the short table.

A neighbour without a system name leaves its column in the short table empty, and long names are cut at the column's width. In
the detailed form names stand in quotes and MAC addresses do not; a description may go on over several lines until its
closing quote, and whatever stands in between is text of the neighbour's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from auditor.canonical import printable
from auditor.facts import Neighbour, from_plain
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.arista_eos.names import address, long_name

COLUMNS = ("system", "port_kind", "port_description", "chassis", "chassis_kind", "management_address", "ttl_s")
AGES = ("heard_s", "since_s")

_PORT_KINDS = {"1": "alias", "3": "mac", "4": "address", "5": "name", "7": "local"}
_CHASSIS_KINDS = {"4": "mac", "5": "address", "6": "name", "7": "local"}
"""Subtypes by their number in IEEE 802.1AB, tables 8-2 and 8-3; every other one is `other`."""
_JSON_KINDS = {"macAddress": "mac", "interfaceName": "name"}

_INTERFACE = re.compile(r"Interface (\S+) detected (\d{1,4}) LLDP neighbors?:\s*")
_NEIGHBOUR = re.compile(r"  Neighbor (\S.*), age (\d{1,7}) seconds?\s*")
_TIMES = re.compile(r"\s+Discovered (\S.*) ago; Last changed (\S.*) ago\s*")
_LABEL = re.compile(r" {2,4}- ([^:]+?) ?: ?(.*)")
_ID = re.compile(r"\s+(Chassis|Port) ID {1,16}: (.*)")
_ADDRESS = re.compile(r"\s+Management Address {1,16}: (\S+)\s*")
_SPAN = re.compile(r"(?:(\d{1,5}) days?, )?(\d{1,2}):(\d{2}):(\d{2})")


@dataclass(slots=True)
class _Entry:
    """One neighbour as it is read, by what the answer calls each thing."""

    line: int
    heard_s: float
    said: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Block:
    """What one `Interface … detected n LLDP neighbors:` holds."""

    port: str
    wanted: int
    entries: list[_Entry] = field(default_factory=list)


def _blocks(body: str) -> Iterator[_Block]:
    block: _Block | None = None
    quoted = False
    before = ""
    for number, line in enumerate(body.splitlines(), 1):
        if quoted:
            quoted = not line.endswith('"')
            continue
        head, neighbour = _INTERFACE.fullmatch(line), _NEIGHBOUR.fullmatch(line)
        if head is not None:
            if block is not None:
                yield block
            block = _Block(long_name(head.group(1)), int(head.group(2)))
        elif neighbour is not None and block is not None:
            block.entries.append(_Entry(number, float(neighbour.group(2))))
        elif block is not None and block.entries:
            label, quoted = _take(block.entries[-1].said, line, before)
            before = label
    if block is not None:
        yield block


def _take(said: dict[str, str], line: str, before: str) -> tuple[str, bool]:
    """Note what one line of a neighbour says. The label it stands under, and whether its text goes on in the next line."""
    times, label = _TIMES.fullmatch(line), _LABEL.fullmatch(line)
    if times is not None:
        said.setdefault("Last changed", times.group(2))
        return "", False
    if label is not None:
        name, value = label.group(1), label.group(2).rstrip()
        said.setdefault(name, value)
        return name, value.startswith('"') and (value == '"' or not value.endswith('"'))
    found, where = _ID.fullmatch(line), _ADDRESS.fullmatch(line)
    if found is not None and before == f"{found.group(1)} ID type":
        value = found.group(2).rstrip()
        said.setdefault(f"{found.group(1)} ID", value)
        return "", value.startswith('"') and (value == '"' or not value.endswith('"'))
    if where is not None and before == "Management Address Subtype" and said.get(before, "").startswith("IP"):
        said.setdefault("Management Address", where.group(1))
    return before, False


def detail(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp neighbors detail`. The age counts from the last frame, `Last changed` from the last change of what is said."""
    blocks = list(_blocks(body))
    ports = Counter(block.port for block in blocks)
    for block in blocks:
        if ports[block.port] > 1:
            yield Unread(Neighbour, (block.port,), detail=f"{printable(block.port, 40)} stands {ports[block.port]} times in it")
            continue
        for entry in block.entries:
            yield from _neighbour(block.port, entry)
        if len(block.entries) != block.wanted:
            words = f"{printable(block.port, 40)} has {block.wanted} neighbours, {len(block.entries)} were read"
            yield Unread(Neighbour, (block.port,), reason=GapReason.TRUNCATED, detail=words)


def _neighbour(port: str, entry: _Entry) -> Iterator[Normalised]:
    said = entry.said
    if "Port ID" not in said or "Time To Live" not in said:
        detail = f"the neighbour in line {entry.line} has no port id or no time to live"
        yield Unread(Neighbour, (port,), reason=GapReason.TRUNCATED, detail=detail)
        return
    port_id = _text(said["Port ID"])
    values: dict[str, Any] = {
        "port": port,
        "port_id": port_id,
        "port_kind": _kind(said.get("Port ID type"), _PORT_KINDS),
        "system": _text(said.get("System Name", "")) or None,
        "port_description": _text(said.get("Port Description", "")) or None,
        "chassis": _text(said.get("Chassis ID", "")) or None,
        "chassis_kind": _kind(said.get("Chassis ID type"), _CHASSIS_KINDS),
        "management_address": said.get("Management Address"),
        "heard_s": entry.heard_s,
    }
    unread = []
    for column, label in (("ttl_s", "Time To Live"), ("since_s", "Last changed")):
        try:
            values[column] = _seconds(said.get(label, ""))
        except ValueError as error:
            unread.append(Unread(Neighbour, (port, port_id), column, detail=str(error)))
    yield from_plain(Neighbour, values)
    yield from unread


def _text(value: str) -> str:
    """A value without its quotes; a MAC address, which has none, in our form."""
    quoted = len(value) > 1 and value.startswith('"') and value.endswith('"')
    return value[1:-1] if quoted else address(value) or value


def _kind(value: str | None, kinds: Mapping[str, str]) -> str | None:
    """The subtype by its number, `Interface name (5)` or `Interface name(5)`."""
    if value is None:
        return None
    found = re.search(r"\((\d{1,3})\)\s*$", value)
    return "other" if found is None else kinds.get(found.group(1), "other")


def _seconds(value: str) -> float:
    """Seconds from `120 seconds`, `0:01:11` or `34 days, 19:40:42`."""
    if found := re.fullmatch(r"(\d{1,9}) seconds?", value):
        return float(found.group(1))
    if span := _SPAN.fullmatch(value):
        days, hours, minutes, seconds = (int(part or 0) for part in span.groups())
        return float(days * 86400 + hours * 3600 + minutes * 60 + seconds)
    raise ValueError(f"no span of time: {value[:40]!r}")


def document(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp neighbors detail | json`. Its times are points in time, and how old they are nobody tells. Older releases keep
    the quotes of a name inside the text."""
    ports = data.get("lldpNeighbors") if isinstance(data, Mapping) else None
    if not isinstance(ports, Mapping):
        raise ValueError("no member 'lldpNeighbors' with an object")
    for name, block in ports.items():
        port = long_name(name)
        found = block.get("lldpNeighborInfo") if isinstance(block, Mapping) else None
        if not isinstance(found, list):
            yield Unread(Neighbour, (port,), detail="no list 'lldpNeighborInfo'")
            continue
        for item in found:
            yield _from_json(port, item)


def _from_json(port: str, item: Any) -> Normalised:
    far = item.get("neighborInterfaceInfo") if isinstance(item, Mapping) else None
    if not isinstance(far, Mapping):
        return Unread(Neighbour, (port,), detail="a neighbour without 'neighborInterfaceInfo'")
    port_id = far.get("interfaceId_v2") or far.get("interfaceId")
    if not isinstance(port_id, str) or not port_id:
        return Unread(Neighbour, (port,), detail="a neighbour without 'interfaceId'")
    ttl, chassis = item.get("ttl"), _string(item, "chassisId")
    port_kind, chassis_kind = _string(far, "interfaceIdType"), _string(item, "chassisIdType")
    return Neighbour(
        port=port,
        port_id=_text(port_id),
        system=_string(item, "systemName"),
        port_kind=None if port_kind is None else _JSON_KINDS.get(port_kind, "other"),
        port_description=_string(far, "interfaceDescription"),
        chassis=None if chassis is None else _text(chassis),
        chassis_kind=None if chassis_kind is None else _JSON_KINDS.get(chassis_kind, "other"),
        management_address=_management(item.get("managementAddresses")),
        ttl_s=float(ttl) if isinstance(ttl, int) and not isinstance(ttl, bool) else None,
    )


def _string(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) and value else None


def _management(found: Any) -> str | None:
    items = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
    return next((_string(item, "address") for item in items if item.get("addressType") in ("ipv4", "ipv6")), None)


_HEADER = re.compile(r"^Port\s+(?P<device>Neighbor Device ID\s+)(?P<port>Neighbor Port ID\s+)TTL[ \t]*$", re.MULTILINE)
_ROW = re.compile(r"([A-Z][A-Za-z-]*\d[\d/.]*)(\s.*\s)\d{1,5}\s*")
_RULER = re.compile(r"-+(?: +-+)+\s*")


def table(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show lldp neighbors`, the short table: names and port ids only, and not always whole ones."""
    header = _HEADER.search(body)
    if header is None:
        raise ValueError("no table with the columns Port, Neighbor Device ID, Neighbor Port ID, TTL")
    starts = (header.start("device") - header.start(), header.start("port") - header.start(), header.end("port") - header.start())
    first = body.count("\n", 0, header.end()) + 2
    for number, line in enumerate(body[header.end() :].splitlines()[1:], first):
        if not line.strip() or _RULER.fullmatch(line):
            continue
        row = _ROW.fullmatch(line)
        cells = None if row is None else _cells(line, row.start(2), row.end(2), starts)
        if row is None or cells is None:
            yield Unread(Neighbour, detail=f"line {number} does not fit under the columns: {printable(line, 80)!r}")
            continue
        port, (device, port_id) = long_name(row.group(1)), cells
        if len(port_id) >= starts[2] - starts[1] - 1:
            yield Unread(Neighbour, (port,), detail=f"line {number}: the port id fills its column, so it may be cut")
            continue
        port_id = address(port_id) or port_id
        whole = len(device) < starts[1] - starts[0] - 1
        yield Neighbour(port=port, port_id=port_id, system=device if whole and device else None)
        if not whole:
            yield Unread(Neighbour, (port, port_id), "system", detail="the name fills its column, so it may be cut")


def _cells(line: str, begin: int, end: int, starts: tuple[int, int, int]) -> tuple[str, str] | None:
    """Device and port id. Where the second cell begins under its heading, the columns are those of the header (a cell may be
    empty); where nothing stands straight, two cells with at least two blanks between them are told apart by these."""
    _, at, _ = starts
    if begin <= starts[0] and len(line) > at and not line[at].isspace() and line[at - 1].isspace():
        return line[starts[0] : at].strip(), line[at:end].strip()
    parts = re.split(r"\s{2,}", line[begin:end].strip())
    return (parts[0], parts[1]) if len(parts) == 2 else None
