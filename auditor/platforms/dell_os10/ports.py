"""Ports of OS10: `show interface` as text and as XML, and `show interface status`.

- `MTU 9216 bytes, IP MTU 9184 bytes`: the first is the frame with what OS10 adds to a packet, the second the IP packet. XML has
  the first alone.
- `Ethernet 1/1/1 is up, line protocol is down`: what the operator wants, then what is.
- Speeds of a port without link are `0`, `--` or missing. 10G ports have no FEC line at all.
- `Configured media fec option` is another thing than the FEC of the port.
- The XML answer comes page by page, one document per interface; the last one has no interface in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Interface, Optic, QosPort
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.dell_os10 import names
from auditor.platforms.dell_os10.documents import documents, said
from auditor.xmldoc import CutOff, Element

TEXT = ("enabled", "up", "mtu", "frame_bytes", "mtu_shown", "speed", "fec", "autoneg", "mac", "description")
DOCUMENT = ("enabled", "up", "speed", "autoneg", "mac", "frame_bytes")
STATUS = ("up", "speed")

_STATES = {"up": True, "down": False}
_HEAD = re.compile(r"([A-Z][A-Za-z-]+ \d[\d/:]*) is (up|down), line protocol is (up|down)\s*")
_SHAPES = {
    "description": re.compile(r"Description: (.+)"),
    "mac": re.compile(r"(?:Hardware is Eth, a|A)ddress is ([0-9a-f:]{17})\b.*"),
    "media": re.compile(r"Pluggable media (not present|present, .+? type is (.+))"),
    "mtu": re.compile(r"MTU (\d{2,5}) bytes, IP MTU (\d{2,5}) bytes"),
    "speed": re.compile(r"LineSpeed (\S+?)(?:, Auto-Negotiation (on|off).*)?"),
    "fec": re.compile(r"Configured FEC is (\S+), Negotiated FEC is (\S+)"),
    "pause": re.compile(r"Flowcontrol rx (on|off) tx (on|off)"),
}
_LAST = re.compile(r"Time since last interface status change: \S.*")


def detail(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interface`: one block per interface, which ends with the time of its last change. Nothing ends the listing."""
    blocks: list[tuple[re.Match[str], dict[str, re.Match[str]], list[bool]]] = []
    for line in body.splitlines():
        head = _HEAD.fullmatch(line)
        if head is not None:
            blocks.append((head, {}, [False]))
        elif blocks:
            _, found, ended = blocks[-1]
            for name, shape in _SHAPES.items():
                match = shape.fullmatch(line.rstrip())
                if match is not None and not ended[0]:
                    found.setdefault(name, match)
            ended[0] = ended[0] or _LAST.fullmatch(line.rstrip()) is not None
    if not blocks:
        raise ValueError("no line '… is up, line protocol is up'")
    seen = Counter(head.group(1) for head, _, _ in blocks)
    for head, found, ended in blocks:
        name = names.short_name(head.group(1))
        if seen[head.group(1)] > 1 or not ended[0] or "mtu" not in found:
            words = "stands twice in it" if seen[head.group(1)] > 1 else "its block breaks off"
            for row_type in (Interface, Optic, QosPort):
                yield Unread(row_type, (name,), reason=GapReason.TRUNCATED, detail=f"{printable(name, 40)}: {words}")
        else:
            yield from _block(name, head, found)


def _block(name: str, head: re.Match[str], found: Mapping[str, re.Match[str]]) -> Iterator[Normalised]:
    up, mtu = head.group(3) == "up", found["mtu"]
    values: dict[str, Any] = {
        "enabled": head.group(2) == "up", "up": up, "mtu": int(mtu.group(2)), "frame_bytes": int(mtu.group(1)),
        "mtu_shown": mtu.group(),
    }  # fmt: skip
    missing = dict[str, str]()
    if "mac" in found:
        values["mac"] = canonical.mac(found["mac"].group(1))
    if "description" in found:
        values["description"] = found["description"].group(1)
    speed = found.get("speed")
    if speed is not None and up and re.fullmatch(r"\d+(?:\.\d)?[MGT]", speed.group(1)):
        values["speed"] = canonical.speed(speed.group(1))
    else:
        missing["speed"] = "no speed is told of a port without link"
    if speed is not None and speed.group(2):
        values["autoneg"] = speed.group(2) == "on"
    else:
        missing["autoneg"] = "the port does not say it"
    try:
        values["fec"] = _fec(found["fec"].group(2 if up else 1))
    except KeyError:
        missing["fec"] = "a port of this speed has no FEC line"
    except ValueError as error:
        yield Unread(Interface, (name,), "fec", detail=printable(str(error), 80))
    yield Interface(name=name, **values)
    for column, words in missing.items():
        yield Unread(Interface, (name,), column, GapReason.UNSUPPORTED, words)
    media, pause = found.get("media"), found.get("pause")
    if media is not None and name.startswith("ethernet"):
        there = media.group(1) != "not present"
        yield Optic(port=name, present=there, type=media.group(2) if there else None)
    if pause is not None:
        yield QosPort(port=name, global_pause_rx=pause.group(1) == "on", global_pause_tx=pause.group(2) == "on")


def document(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interface | display-xml`: what the operator wants stands under `interfaces`, what is under `bulk`."""
    ended, seen = False, 0
    try:
        for root in documents(body):
            found = [item for path in ("./data/interfaces/interface", "./bulk/data/interface") for item in root.findall(path)]
            ended, seen = not found, seen + len(found)
            by_name = {said(item, "name") for item in found}
            if len(by_name) == 1 and None not in by_name:
                yield from _interface(names.short_name(str(by_name.pop())), root)
            elif found:
                yield Unread(Interface, detail="a document with no name, or with more than one")
    except CutOff as error:
        yield Unread(Interface, reason=GapReason.TRUNCATED, detail=str(error))
        return
    if not seen:
        raise ValueError("no interface in any of the documents")
    if not ended:
        yield Unread(Interface, reason=GapReason.TRUNCATED, detail="no empty document behind the last interface")


def _interface(name: str, root: Element) -> Iterator[Normalised]:
    now = root.find("./bulk/data/interface")
    enabled, up = said(now, "admin-status"), said(now, "oper-status")
    speed, frame, address = said(now, "speed"), said(now, "mtu"), said(now, "current-phys-address") or said(now, "phys-address")
    values: dict[str, Any] = {}
    unread: list[Unread] = []
    for column, word in (("enabled", enabled), ("up", up)):
        if word in _STATES:
            values[column] = _STATES[word]
        else:
            unread.append(Unread(Interface, (name,), column, detail=f"neither up nor down: {printable(str(word), 30)!r}"))
    if up == "up" and speed is not None and re.fullmatch(r"[1-9]\d{5,13}", speed):
        values["speed"] = int(speed)
    else:
        unread.append(Unread(Interface, (name,), "speed", GapReason.UNSUPPORTED, "no speed is told of a port without link"))
    if name.startswith("mgmt"):
        unread.append(Unread(Interface, (name,), "frame_bytes", GapReason.UNSUPPORTED, "its MTU counts otherwise here"))
    elif frame is not None and re.fullmatch(r"\d{2,5}", frame):
        values["frame_bytes"] = int(frame)
    else:
        unread.append(Unread(Interface, (name,), "frame_bytes", GapReason.UNSUPPORTED, "no MTU in it"))
    negotiates = said(now, "auto-negotiation")
    values.update({"autoneg": negotiates == "true"} if negotiates in ("true", "false") else {})
    values.update({"mac": canonical.mac(address)} if address is not None else {})
    yield Interface(name=name, **values)
    yield from unread


def _fec(word: str) -> str:
    """From `cl91-rs`, `cl108-rs`, `off`: the clause of IEEE 802.3 aside. Raises ValueError."""
    return canonical.fec(re.sub(r"^cl\d+-(?=rs$|fc$)", "", word))


_HEADING = re.compile(r"^Port\s+Description\s+Status\s+Speed\s+Duplex\b.*$", re.MULTILINE)
_ROW = re.compile(
    r"((?:Eth|Po|Vl|Ma|Lo) \d[\d/:]*)\s+(?:.*\s)?(up|down)\s+(\d+(?:\.\d)?[MGT]?|--)\s+(?:full|half|auto|--)\s+\S.*"
)


def status(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interface status`: state and speed. Whether a port that is down was switched off, this table does not tell."""
    heading = _HEADING.search(body)
    if heading is None:
        raise ValueError("no table with the columns Port, Description, Status, Speed")
    strange = []
    for line in body[heading.end() :].splitlines():
        row = _ROW.fullmatch(line)
        if row is not None:
            name, up = names.short_name(row.group(1)), row.group(2) == "up"
            told = up and row.group(3)[-1] in "MGT"
            yield Interface(name=name, up=up, speed=canonical.speed(row.group(3)) if told else None)
            if not told:
                yield Unread(Interface, (name,), "speed", GapReason.UNSUPPORTED, "no speed is told of this port")
        elif line.strip() and not re.fullmatch(r"-{20,}\s*", line):
            strange.append(line)
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        yield Unread(Interface, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}{more}")
