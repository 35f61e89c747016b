"""Ports of Junos: `show interfaces` as JSON, as XML and as text; and which of them tell the light of a module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Interface, Optic
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.juniper_junos.names import elements, from_xml, is_port, port, root, value
from auditor.xmldoc import CutOff

COLUMNS = ("enabled", "up", "mtu", "frame_bytes", "mtu_shown", "speed", "fec", "autoneg", "mac", "description")
IN_TEXT = ("enabled", "up", "mtu", "frame_bytes", "mtu_shown", "speed", "fec", "mac", "description")

_STATES = {"up": True, "down": False}
_SPEED = re.compile(r"(\d+(?:\.\d+)?)([mMgG])bps")
_FEC_ELEMENTS = ("ethernet-fec-mode", "ethernet-fec-statistics")
"""Releases differ in where they put `enabled_fec_mode`."""
_FEC = {"fec91": "rs", "fec119": "rs", "fec74": "fc", "none": "none"}
_HEAD = re.compile(r"^ *Physical interface: (\S+), (Enabled|Administratively down), Physical link is (Up|Down)\s*$", re.MULTILINE)

_PROTOCOL = re.compile(r"^ +Protocol inet6?(?:, |\s*\n(?:(?! +Protocol ).*\n)*? +)MTU: (\d{2,6})\b", re.MULTILINE)
"""Junos Evolved prints the MTU of a family on a line of its own."""


def listed(body: str) -> Iterator[str]:
    """The ports of `show interfaces`, as JSON, XML or text. Raises ValueError for a document that is broken."""
    start = re.search(r"^\s*\{\s*$", body, re.MULTILINE)
    if start is not None:
        data, _ = json.JSONDecoder().raw_decode(body[start.start() :].lstrip())
    elif "<interface-information" in body:
        data = from_xml(body)
    else:
        yield from (port(head.group(1)) for head in _HEAD.finditer(body) if is_port(port(head.group(1))))
        return
    for item in elements(root(data, "interface-information"), "physical-interface"):
        name = value(item, "name")
        if name is not None and is_port(name):
            yield name


def document(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces | display json`. Raises ValueError for a document of another kind."""
    for item in elements(root(data, "interface-information"), "physical-interface"):
        name = value(item, "name")
        if name is None:
            yield Unread(Interface, detail="an interface without a name")
            continue
        yield from _port(name, item)


def xml(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces | display xml`. Raises ValueError for a document of another kind."""
    try:
        found = from_xml(body)
    except CutOff as error:
        yield Unread(Interface, reason=GapReason.TRUNCATED, detail=str(error))
        return
    yield from document(found, parameters)


def _port(name: str, item: Mapping[str, Any]) -> Iterator[Normalised]:
    admin, oper = value(item, "admin-status"), value(item, "oper-status")
    media, mac = value(item, "mtu"), value(item, "current-physical-address")
    packet = _packet(name, item)
    negotiation = value(item, "if-auto-negotiation")
    fec = next(
        (word for where in _FEC_ELEMENTS for part in elements(item, where) if (word := value(part, "enabled_fec_mode"))), None
    )
    row = Interface(
        name=name,
        enabled=_STATES.get(admin or ""),
        up=_STATES.get(oper or ""),
        mtu=packet,
        frame_bytes=_frame(name, media),
        mtu_shown=media,
        speed=_speed(value(item, "speed")),
        fec=None if fec is None else _FEC.get(fec.lower()),
        autoneg=None if negotiation is None else negotiation == "enabled",
        mac=mac if mac is not None and re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", mac) else None,
        description=value(item, "description"),
    )
    yield row
    for column, text in (("enabled", admin), ("up", oper)):
        if getattr(row, column) is None:
            yield Unread(Interface, (name,), column, detail=f"state {printable(str(text), 40)!r} is not known")
    if is_port(name):
        yield from _not_told(row, value(item, "speed"), fec)


def _not_told(row: Interface, speed: str | None, fec: str | None) -> Iterator[Normalised]:
    if row.mtu is None:
        yield Unread(
            Interface, (row.name,), "mtu", GapReason.UNSUPPORTED, "no unit of it routes IP, and the media MTU is no packet"
        )
    if row.speed is None:
        yield Unread(Interface, (row.name,), "speed", GapReason.UNSUPPORTED, f"speed {printable(str(speed), 40)!r} is no number")
    if row.fec is None:
        words = "it tells no FEC mode" if fec is None else f"FEC mode {printable(fec, 40)!r} is not known"
        yield Unread(Interface, (row.name,), "fec", GapReason.UNSUPPORTED if fec is None else GapReason.UNPARSED, words)


def _frame(name: str, media: str | None) -> int | None:
    """The media MTU of a port: a frame with its header, and without its check sequence."""
    return int(media) if is_port(name) and media is not None and media.isdecimal() else None


def _packet(name: str, item: Mapping[str, Any]) -> int | None:
    """The MTU of the family inet (else inet6) of unit 0, else of the only unit that routes."""
    found: dict[str, int] = {}
    for unit in elements(item, "logical-interface"):
        for family in elements(unit, "address-family"):
            kind, size = value(family, "address-family-name"), value(family, "mtu")
            if kind in ("inet", "inet6") and size is not None and size.isdecimal():
                found.setdefault(value(unit, "name") or "", int(size))
    return found.get(f"{name}.0") or (next(iter(found.values())) if len(found) == 1 else None)


def _speed(text: str | None) -> int | None:
    found = _SPEED.fullmatch(text or "")
    return None if found is None else canonical.speed(f"{found.group(1)}{found.group(2).upper()}")


def text(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces`. Behind the last port nothing tells whether it was cut: without its protocol it has no MTU."""
    heads = list(_HEAD.finditer(body))
    for at, head in enumerate(heads):
        name = port(head.group(1))
        part = body[head.end() : heads[at + 1].start() if at + 1 < len(heads) else len(body)]
        media = re.search(r"\bLink-level type: [^,\n]+, MTU: (\d{2,6}|Unlimited),", part)
        speed = re.search(r"\bSpeed: (\S+?),", part)
        mac = re.search(r"^ +Current address: ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\b", part, re.MULTILINE)
        words = re.search(r"^ +Description: (.*\S)\s*$", part.partition("Link-level type:")[0], re.MULTILINE)
        fec = re.search(r"^ +Ethernet FEC Mode +: *(\S+)\s*$", part, re.MULTILINE)
        packets = _PROTOCOL.findall(part)
        row = Interface(
            name=name,
            enabled=head.group(2) == "Enabled",
            up=head.group(3) == "Up",
            mtu=int(packets[0]) if len(set(packets)) == 1 else None,
            frame_bytes=None if media is None else _frame(name, media.group(1)),
            mtu_shown=None if media is None else media.group(1),
            speed=None if speed is None else _speed(speed.group(1)),
            fec=None if fec is None else _FEC.get(fec.group(1).lower()),
            mac=None if mac is None else mac.group(1),
            description=None if words is None else words.group(1),
        )
        yield row
        if row.fec is None and is_port(name):
            told = "it tells no FEC mode" if fec is None else f"FEC mode {printable(fec.group(1), 40)!r} is not known"
            yield Unread(Interface, (name,), "fec", GapReason.UNSUPPORTED if fec is None else GapReason.UNPARSED, told)
        for column in ("mtu", "mtu_shown", "speed"):
            if getattr(row, column) is None and is_port(name):
                yield Unread(Interface, (name,), column, detail="no line of this port tells it, or several differ")


_MODULE = re.compile(r"^ *(?:Module temperature|Laser bias current|Module voltage) +: +\S", re.MULTILINE)
_LIGHT = ("module-temperature", "laser-bias-current", "module-voltage", "rx-signal-avg-optical-power")


def light(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces diagnostics optics`: a port that tells the temperature of a module has one. One that tells none may have a
    cable of copper, so nothing is said of it."""
    parts = re.split(r"^ *Physical interface: (\S+)\s*$", body, flags=re.MULTILINE)
    for name, part in zip(parts[1::2], parts[2::2], strict=True):
        if _MODULE.search(part) is not None:
            yield Optic(port=port(name), present=True)


def light_xml(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces diagnostics optics | display xml`."""
    try:
        found = from_xml(body)
    except CutOff as error:
        yield Unread(Optic, reason=GapReason.TRUNCATED, detail=str(error))
        return
    for item in elements(root(found, "interface-information"), "physical-interface"):
        name = value(item, "name")
        if name is None:
            yield Unread(Optic, detail="an interface without a name")
        elif any(value(part, word) for part in elements(item, "optics-diagnostics") for word in _LIGHT):
            yield Optic(port=port(name), present=True)
