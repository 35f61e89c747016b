"""Ports of VRP: `display interface` and `display interface brief`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.canonical import printable
from auditor.facts import Interface
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.huawei_vrp import names

COLUMNS = ("enabled", "up", "mtu", "frame_bytes", "mtu_shown", "speed", "autoneg", "mac", "description")

_HEAD = re.compile(r"^(\S+) current state ?: ?(\S.*?)[ \t]*$", re.MULTILINE)
_STATES = {"UP": (True, True), "DOWN": (True, False), "ADMINISTRATIVELY DOWN": (False, False)}
_BRIEF = {"up": (True, True), "down": (True, False), "*down": (False, False), "^down": (True, False)}
_LAST = re.compile(r"^ *Output bandwidth utilization +: *\S", re.MULTILINE)


def interfaces(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`display interface`. A port without its last line was cut."""
    heads = [head for head in _HEAD.finditer(body) if head.group(1) != "protocol"]
    seen: set[str] = set()
    for at, head in enumerate(heads):
        name = names.long_name(head.group(1))
        text = body[head.end() : heads[at + 1].start() if at + 1 < len(heads) else len(body)]
        if name in seen:
            yield Unread(Interface, (name,), detail=f"{printable(name, 60)} stands twice in it")
            continue
        seen.add(name)
        if _LAST.search(text) is None:
            yield Unread(
                Interface, (name,), reason=GapReason.TRUNCATED, detail=f"{printable(name, 60)} stops before its last line"
            )
            continue
        yield from _port(name, head.group(2), text)


def _port(name: str, state: str, text: str) -> Iterator[Normalised]:
    known = _STATES.get(re.sub(r"\s*\(.*", "", state).upper())
    mtu, frame = (_value(text, rf"The Maximum {word} is (\d{{2,6}})") for word in ("Transmit Unit", "Frame Length"))
    speed = _value(text, r"^Speed ?: *(\d{1,7}),")
    negotiation, mac = _value(text, r"\bNegotiation: *(\S+)"), _value(text, r"Hardware address is (\S+)")
    yield Interface(
        name=name,
        enabled=None if known is None else known[0],
        up=None if known is None else known[1],
        mtu=None if mtu is None else int(mtu),
        frame_bytes=None if frame is None else int(frame),
        mtu_shown=mtu or frame,
        speed=None if speed is None or int(speed) == 0 else int(speed) * 1_000_000,
        autoneg={"ENABLE": True, "DISABLE": False}.get(negotiation or ""),
        mac=None if mac is None else names.address(mac),
        description=_value(text, r"^Description: ?(\S.*?)[ \t]*$"),
    )
    if known is None:
        for column in ("enabled", "up"):
            yield Unread(Interface, (name,), column, detail=f"state {printable(state, 60)!r} is not known")
    if names.is_port(name) and mtu is None:
        detail = "a port that does not route tells the length of a frame alone"
        yield Unread(Interface, (name,), "mtu", GapReason.UNSUPPORTED, detail)
    if names.is_port(name) and speed is None:
        yield Unread(Interface, (name,), "speed", detail="no line tells its speed")


def _value(text: str, pattern: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else found.group(1)


def brief(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`display interface brief`: states, and the Eth-Trunk that a member is indented below."""
    head = re.search(r"^Interface +PHY +Protocol\b.*$", body, re.MULTILINE)
    if head is None:
        raise ValueError("no table with the columns Interface, PHY, Protocol")
    trunk, strange = "", []
    for line in body[head.end() :].splitlines():
        row = re.match(r"( *)(\S+) +([*^]?(?:up|down))(?:\(\w+\))* +\S+", line)
        if row is None:
            strange += [line] if line.strip() else []
            continue
        name = names.long_name(row.group(2))
        if not row.group(1):
            trunk = name if re.fullmatch(r"Eth-Trunk\d+", name) else ""
        enabled, up = _BRIEF[row.group(3)]
        yield Interface(name=name, enabled=enabled, up=up, lag=trunk if row.group(1) and trunk else None)
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        yield Unread(Interface, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}{more}")
