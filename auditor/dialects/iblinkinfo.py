"""Reads `iblinkinfo`, `iblinkinfo -l` and `ibnetdiscover -p`: one line per port of an InfiniBand fabric, unplugged ones too.

    Switch: 0xfc6a1c0300c40100 MF0;lf-1:MQM9700/U1:
               2    1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      12    1[  ] "node-7 mlx5_0" ( )
               2    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )

    0xfc6a1c0300c40100 "            MF0;lf-1:MQM9700/U1"      2    1[  ] ==(…)==>  0xb83fd2030042a001     12    1[  ] "…" ( )

    SW     2  1 0xfc6a1c0300c40100 4x NDR - CA    12  1 0xb83fd2030042a001 ( 'MF0;lf-1:MQM9700/U1' - 'node-7 mlx5_0' )

GUIDs in them are those of ports. Every port of a switch shares one, which is the switch's own; each port of an adapter has
another, and the GUID of the adapter is not printed. `Could be …` is the tool's guess at what both ends can do: not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_SPEEDS = {
    "2.5 Gbps": "SDR", "5.0 Gbps": "DDR", "10.0 Gbps": "QDR", "10.0 Gbps (FDR10)": "FDR10", "14.0625 Gbps": "FDR",
    "25.78125 Gbps": "EDR", "53.125 Gbps": "HDR", "106.25 Gbps": "NDR",
}  # fmt: skip
"""Signalling rate of one lane, as libibmad words it."""
_STATES = {"Active": "active", "Armed": "armed", "Initialize": "init", "Down": "down"}
_GENERATIONS = frozenset({*_SPEEDS.values(), "XDR"})

_PORT = r"(\d{1,5})\s+(\d{1,3})\[[ \d]{0,4}\] "
_NODE = re.compile(r"(Switch|CA|Router): (?:0x([0-9a-f]{16}) )?(.*):\s*")
_BLOCK = re.compile(rf"\s+(?:0x([0-9a-f]{{16}})\s+)?{_PORT}==\((.*)\)==>\s+(.*)")
_LINE = re.compile(rf'0x([0-9a-f]{{16}}) "(.*)"\s+{_PORT}==\((.*)\)==>\s+(.*)')
_STATE = re.compile(r"\s*(?:(\d{1,2})X\s+([\d.]+ Gbps(?: \(FDR10\))?)\s|.*\s)?\s*(\w+)/\s*(\w+)(?:\) \(HOQ:\d+ VL_Stall:\d+)?")
_FAR = re.compile(rf'(?:0x([0-9a-f]{{16}})\s+)?{_PORT}"(.*)" \(.*\)\s*')
_NO_FAR = re.compile(r'\[  \] "" \( \)\s*')
_DEAF = re.compile(r'"Port not available"\s*')
_REPORT = re.compile(
    r"(CA|SW|RT)\s+(\d{1,5})\s+(\d{1,3}) 0x([0-9a-f]{16}) (?:(\d{1,2})x|\?\?) ([A-Z0-9]{1,6}|\?\?\?)"
    r"(?: - (CA|SW|RT)\s+(\d{1,5})\s+(\d{1,3}) 0x([0-9a-f]{16}) \( '(.*)' - '(.*)' \)|\s+(\S.*))\s*"
)


class PortLine(NamedTuple):
    """One port. `switch` is None where the line does not tell what kind of node it belongs to. `state` is None where it is not
    printed or unknown. `deaf`: something is plugged in that did not answer, so nothing is known of it. `peer_port` is ""
    without a far end; `peer_switch` and `peer_guid` (of the port across) are None where they are not known.
    """

    switch: bool | None
    guid: str | None
    description: str
    lid: int
    port: str
    state: str | None
    width: int | None
    speed: str | None
    peer_switch: bool | None
    peer_guid: str | None
    peer_lid: int | None
    peer_port: str
    peer_description: str
    deaf: bool
    line: int


@dataclass(slots=True)
class Listing:
    """All ports of an answer, and the lines that belong nowhere: number and text."""

    ports: list[PortLine] = field(default_factory=list)
    strange: list[tuple[int, str]] = field(default_factory=list)


def blocks(text: str) -> Listing:
    """`iblinkinfo`: ports under the heading of their node. The far end of a cable is named by its LID alone, which the line
    of its own port resolves; a LID that two nodes have, or that is 0 before a subnet manager came, resolves nothing."""
    listing = Listing()
    kind, guid, description = "", None, ""
    known: dict[int, set[tuple[bool, str]]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        head = _NODE.fullmatch(line)
        if head is not None:
            kind, guid, description = head.group(1), head.group(2), head.group(3).strip()
            continue
        found = _BLOCK.fullmatch(line) if line.count("==(") == 1 else None
        if found is None or not kind:
            if line.strip():
                listing.strange.append((number, line))
            continue
        own, lid, port, link, rest = found.groups()
        item = _port(kind == "Switch", own or guid, description, lid, port, link, rest, number)
        if item is None:
            listing.strange.append((number, line))
            continue
        listing.ports.append(item)
        if item.guid is not None and item.lid:
            known.setdefault(item.lid, set()).add((kind == "Switch", item.guid))
    for at, item in enumerate(listing.ports):
        owners = known.get(item.peer_lid or 0, set())
        if len(owners) == 1:
            ((switch, peer),) = owners
            listing.ports[at] = item._replace(peer_switch=switch, peer_guid=peer)
    return listing


def lines(text: str) -> Listing:
    """`iblinkinfo -l`: everything of a port on its own line. What has several ports of one GUID is a switch."""
    listing = Listing()
    for number, line in enumerate(text.splitlines(), 1):
        found = _LINE.fullmatch(line) if line.count("==(") == 1 else None
        item = None
        if found is not None:
            guid, description, lid, port, link, rest = found.groups()
            item = _port(None, guid, description.strip(), lid, port, link, rest, number)
        if item is not None:
            listing.ports.append(item)
        elif line.strip():
            listing.strange.append((number, line))
    ports = Counter(guid for guid, _ in {(item.guid, item.port) for item in listing.ports})
    listing.ports = [
        item._replace(switch=ports[item.guid] > 1, peer_switch=ports[item.peer_guid] > 1 if item.peer_guid in ports else None)
        for item in listing.ports
    ]
    return listing


def _port(
    switch: bool | None, guid: str | None, description: str, lid: str, port: str, link: str, rest: str, number: int
) -> PortLine | None:
    state, far = _STATE.fullmatch(link), _FAR.fullmatch(rest)
    if state is None or (far is None and not _NO_FAR.fullmatch(rest) and not _DEAF.fullmatch(rest)):
        return None
    width, speed, word, _ = state.groups()
    peer_guid, peer_lid, peer_port, name = (None, None, "", "") if far is None else far.groups()
    return PortLine(
        switch, guid, description, int(lid), port, _STATES.get(word), None if width is None else int(width),
        _SPEEDS.get(speed or ""), None, peer_guid, None if peer_lid is None else int(peer_lid), peer_port, name.strip(),
        _DEAF.fullmatch(rest) is not None, number,
    )  # fmt: skip


def report(text: str) -> Listing:
    """`ibnetdiscover -p`. The width and speed of a port without a far end are placeholders, and states are not printed."""
    listing = Listing()
    for number, line in enumerate(text.splitlines(), 1):
        found = _REPORT.fullmatch(line)
        if found is not None:
            listing.ports.append(_reported(found, number))
        elif line.strip():
            listing.strange.append((number, line))
    return listing


def _reported(found: re.Match[str], number: int) -> PortLine:
    kind, lid, port, guid, width, speed, peer, peer_lid, peer_port, peer_guid, name, peer_name, alone = found.groups()
    description = name if alone is None else alone.strip().removeprefix("'").removesuffix("'")
    linked = peer is not None
    return PortLine(
        kind == "SW", guid, description.strip(), int(lid), port, None, int(width) if linked and width is not None else None,
        speed if linked and speed in _GENERATIONS else None, (peer == "SW") if linked else None, peer_guid,
        None if peer_lid is None else int(peer_lid), peer_port or "", (peer_name or "").strip(), deaf=False, line=number,
    )  # fmt: skip


def hidden(listing: Listing) -> Iterator[PortLine]:
    """Ports whose far end has no line of its own, by its GUID or its LID, though every port that is plugged has one: the answer
    was cut, or it is a part of one."""
    ends = {(item.guid, item.port) for item in listing.ports}
    lids = {item.lid for item in listing.ports}
    for item in listing.ports:
        unseen = item.peer_guid is not None and (item.peer_guid, item.peer_port) not in ends
        if item.peer_port and (unseen or (item.peer_lid and item.peer_lid not in lids)):
            yield item
