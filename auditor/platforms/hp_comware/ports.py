"""Ports of Comware: `display interface`, and the two tables of `display interface brief`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Interface
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.hp_comware import names

COLUMNS = ("enabled", "up", "mtu", "frame_bytes", "mtu_shown", "speed", "autoneg", "mac", "description")

_HEAD = re.compile(r"^([A-Z][A-Za-z-]*\d[\d/.:]*)[ \t]*\nCurrent state:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_STATES = {"UP": (True, True), "DOWN": (True, False), "Administratively DOWN": (False, False), "Standby": (True, False)}
_LINKS = {"UP": (True, True), "DOWN": (True, False), "ADM": (False, False), "Stby": (True, False)}
_SPEED = re.compile(r"^(\d+(?:\.\d+)?[MGT])bps-speed mode\b", re.MULTILINE)
_LAST = re.compile(r"^ +\S+ lost carrier\b", re.MULTILINE)


def interfaces(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`display interface`. A port whose counters do not end was cut."""
    heads = list(_HEAD.finditer(body))
    seen: set[str] = set()
    for at, head in enumerate(heads):
        name = head.group(1)
        text = body[head.end() : heads[at + 1].start() if at + 1 < len(heads) else len(body)]
        if name in seen:
            yield Unread(Interface, (name,), detail=f"{name} stands twice in it")
            continue
        seen.add(name)
        if names.is_port(name) and _LAST.search(text) is None:
            yield Unread(Interface, (name,), reason=GapReason.TRUNCATED, detail=f"{name} stops before the end of its counters")
            continue
        yield from _port(name, head.group(2), text)
    if body.count("\nCurrent state:") + body.startswith("Current state:") != len(heads):
        yield Unread(Interface, detail="a port without a name, or with one that is not known as such")


def _port(name: str, state: str, text: str) -> Iterator[Normalised]:
    known = _STATES.get(re.sub(r"\s*\(.*", "", state))
    mtu, frame = (_value(text, rf"Maximum {word}:[ \t]*(\d{{2,6}})") for word in ("transmission unit", "frame length"))
    speed, mac = _SPEED.search(text), re.search(r"hardware address: (\S+)", text)
    yield Interface(
        name=name,
        enabled=None if known is None else known[0],
        up=None if known is None else known[1],
        mtu=None if mtu is None else int(mtu),
        frame_bytes=None if frame is None else int(frame),
        mtu_shown=mtu or frame,
        speed=None if speed is None else canonical.speed(speed.group(1)),
        autoneg=_negotiates(text),
        mac=None if mac is None else names.address(mac.group(1)),
        description=_value(text, r"Description:[ \t]*(\S.*?)[ \t]*"),
    )
    if known is None:
        for column in ("enabled", "up"):
            yield Unread(Interface, (name,), column, detail=f"state {printable(state, 60)!r} is not known")
    if mtu is None and names.is_port(name):
        detail = "a port that does not route tells the length of a frame alone"
        yield Unread(Interface, (name,), "mtu", GapReason.UNSUPPORTED, detail)
    if speed is None and names.is_port(name):
        yield Unread(Interface, (name,), "speed", GapReason.UNSUPPORTED, "it has no link, and does not tell what it was set to")


def _value(text: str, pattern: str) -> str | None:
    found = re.search(rf"^{pattern}$", text, re.MULTILINE)
    return None if found is None else found.group(1)


def _negotiates(text: str) -> bool | None:
    found = re.search(r"^Link speed type is (autonegotiation|force link)\b", text, re.MULTILINE)
    return None if found is None else found.group(1) == "autonegotiation"


def brief(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`display interface brief`: routed ports and switched ports, each under headings of their own."""
    inside, strange = False, []
    for line in body.splitlines():
        if re.match(r"Interface +Link +\S", line):
            inside = True
        elif not line.strip() or line.startswith(("The brief information", "Brief information")):
            inside = False
        elif inside:
            row = re.match(r"(\S+) +(UP|DOWN|ADM|Stby) +\S+", line)
            if row is None:
                strange.append(line)
                continue
            enabled, up = _LINKS[row.group(2)]
            yield Interface(name=names.long_name(row.group(1)), enabled=enabled, up=up)
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        yield Unread(Interface, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}{more}")
