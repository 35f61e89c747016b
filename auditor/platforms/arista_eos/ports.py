"""Ports of EOS: `show interfaces status`, `show interfaces`, their FEC and their 802.3x pause, as JSON and as text.

- What counts as a packet: the MTU of a routed port (`IP MTU`, forwarding model `routed`) is that of IP packets. The one of a
  switched port (`Ethernet MTU`) is printed all the same, but switched traffic is not held to it on every chip, so it is shown and
  not compared. `Ethernet MRU` (JSON `l2Mru`) is the largest frame taken in: 10240 next to an MTU of 10218, 22 bytes more.
- `bandwidth` is 0 where no speed is known, also on ports of virtual switches that are up.
- `lineProtocolStatus` `notPresent` is a port without module. Ports that are down for another's sake are `inactive`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Interface, Optic, QosPort
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.arista_eos import names

STATUS = ("enabled", "up", "speed", "lag", "error_disabled")
DETAIL = ("enabled", "up", "error_disabled", "speed", "autoneg", "mtu", "frame_bytes", "mtu_shown", "mac", "description")
SINCE = ("up_since",)

_STATES = ("connected", "notconnect", "disabled", "errdisabled", "inactive")
_NEGOTIATES = "it negotiates its speed, and has no link"
_SWITCHED = "the MTU of a switched port: not every chip holds switched traffic to it"
_ROW = re.compile(
    rf"([A-Z][A-Za-z-]*\d[\d/.]*)\s+(?:.*\s)?({'|'.join(_STATES)})\s+(in Po\d+|\S+)"
    r"\s+(?:a-)?(?:full|half|auto|unconf|unknown)\s+(a-)?(\d{1,4}(?:\.\d)?[MGT]|auto|unconf|unknown)\s+\S.*"
)
_CAGE = re.compile(r"(?:Q|O|C)?SFP|\d+G?BASE-(?!T\b|TX\b)|Not Present", re.IGNORECASE)
"""Types of ports that have a cage; copper ports and aggregates have none."""


def status(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces status`: state and speed of every port. Aggregates come last; one that a member names must be there."""
    heading = re.search(r"^Port\s+Name\s+Status\b.*$", body, re.MULTILINE)
    if heading is None:
        raise ValueError("no table with the columns Port, Name, Status")
    strange, seen, named = [], set(), set()
    for line in body[heading.end() :].splitlines():
        row = _ROW.fullmatch(line)
        if row is not None:
            shown, word, vlan, negotiated, speed = row.groups()
            lag = vlan.removeprefix("in ") if vlan.startswith("in ") else ""
            seen.add(shown)
            named.update([lag] if lag else [])
            told = speed[0].isdigit() and (word == "connected" or negotiated is None)
            yield from _state(names.long_name(shown), word, names.long_name(lag), canonical.speed(speed) if told else None)
        elif line.strip():
            strange.append(line)
    for lost in sorted(named - seen):
        detail = f"the table stops before {lost}, which has members in it"
        yield Unread(Interface, (names.long_name(lost),), reason=GapReason.TRUNCATED, detail=detail)
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        yield Unread(Interface, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}{more}")


def status_document(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The same as JSON, and whether a cage is empty: the type of its module is `Not Present`."""
    for shown, item in members(data, "interfaceStatuses"):
        name, word, speed = names.long_name(shown), item.get("linkStatus"), item.get("bandwidth")
        if word not in _STATES:
            yield Unread(Interface, (name,), detail=f"no known state: {printable(str(word), 40)!r}")
            continue
        vlan = item.get("vlanInformation")
        lag = str(vlan.get("vlanExplanation", "")) if isinstance(vlan, Mapping) else ""
        told = whole_number(speed) and (word == "connected" or item.get("autoNegotiateActive") is False)
        member = names.long_name(lag.removeprefix("in ")) if lag.startswith("in ") else ""
        yield from _state(name, word, member, speed if told else None)
        kind = item.get("interfaceType")
        if isinstance(kind, str) and name.startswith("Ethernet") and _CAGE.match(kind):
            empty = kind == "Not Present"
            yield Optic(port=name, present=not empty, type=None if empty else kind)


def _state(name: str, word: str, lag: str, speed: int | None) -> Iterator[Normalised]:
    yield Interface(
        name=name,
        enabled=None if word == "inactive" else word != "disabled",
        up=word == "connected",
        speed=speed,
        lag=lag or None,
        error_disabled=word == "errdisabled",
    )
    if speed is None:
        detail = "the switch knows no speed of this port" if word == "connected" else _NEGOTIATES
        yield Unread(Interface, (name,), "speed", GapReason.UNSUPPORTED, detail)
    if word == "inactive":
        yield Unread(Interface, (name,), "enabled", GapReason.UNSUPPORTED, "inactive: another port has its lanes")


def document(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces | json`: MTU, addresses and texts of every interface."""
    for shown, item in members(data, "interfaces"):
        name, word = names.long_name(shown), item.get("interfaceStatus")
        values: dict[str, Any] = {}
        unread: list[Unread] = []
        if word in _STATES:
            values.update(up=word == "connected", error_disabled=word == "errdisabled")
            values.update({} if word == "inactive" else {"enabled": word != "disabled"})
        else:
            unread += [Unread(Interface, (name,), column, detail="no known state in it") for column in ("enabled", "up")]
        if word == "inactive":
            unread.append(Unread(Interface, (name,), "enabled", GapReason.UNSUPPORTED, "inactive: another port has its lanes"))
        speed, negotiation, mtu = item.get("bandwidth"), item.get("autoNegotiate"), item.get("mtu")
        if whole_number(speed) and (word == "connected" or negotiation in ("off", "unknown")):
            values["speed"] = speed
        else:
            unread.append(Unread(Interface, (name,), "speed", GapReason.UNSUPPORTED, "no speed is known of this port"))
        if negotiation in ("success", "negotiating", "off"):
            values["autoneg"] = negotiation != "off"
        else:
            unread.append(Unread(Interface, (name,), "autoneg", GapReason.UNSUPPORTED, f"told is {str(negotiation)[:20]!r}"))
        if whole_number(mtu):
            values["mtu_shown"] = str(mtu)
            values.update({"mtu": mtu} if item.get("forwardingModel") == "routed" else {})
        if "mtu" not in values:
            detail = _SWITCHED if whole_number(mtu) else "no MTU in the answer"
            unread.append(Unread(Interface, (name,), "mtu", GapReason.UNSUPPORTED, detail))
        unread += _frames(name, values, item.get("l2Mru"))
        values.update({"description": item["description"]} if isinstance(item.get("description"), str) else {})
        changed = item.get("lastStatusChangeTimestamp")
        if word == "connected" and isinstance(changed, float) and 0 < changed < 1e11:
            values["up_since"] = datetime.fromtimestamp(int(changed), UTC).isoformat().replace("+00:00", "Z")
        if isinstance(item.get("physicalAddress"), str):
            values["mac"] = canonical.mac(item["physicalAddress"])
        values = {column: value for column, value in values.items() if value != ""}
        yield Interface(name=name, **values)
        yield from unread


def _frames(name: str, values: dict[str, Any], received: Any) -> list[Unread]:
    if whole_number(received):
        values["frame_bytes"] = received
        return []
    return [Unread(Interface, (name,), "frame_bytes", GapReason.UNSUPPORTED, "no MRU is set: the largest frame is not told")]


_HEAD = re.compile(r"(\S+) is (up|down|administratively down), line protocol is [a-z]+ \((\w+)\)\s*")
_MAC = re.compile(r"  Hardware is \S.*?, address is ([0-9a-f.]{14})\b.*")
_TEXT = re.compile(r'  Description: (?:"(.*)"|(.*?))\s*')
_MTU = re.compile(r"  (IP|Ethernet) MTU (\d{2,5}) bytes(?: \(default\))?\s*(?:,.*)?")
_MRU = re.compile(r", Ethernet MRU (\d{2,5}) bytes")
_DUPLEX = re.compile(r"  (?:Full|Half|Auto)-duplex, (\d+(?:\.\d+)?)([GM])b/s(?:, auto negotiation: (on|off|unknown))?.*")
_LAST = re.compile(r"     \d+ output errors.*|     \d+ PAUSE output\s*|  (?:Up|Down) .*|  IP MTU .*")


def detail(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces`: one block per interface. Nothing ends the listing; a block without its MTU was cut."""
    blocks: list[tuple[re.Match[str], list[str]]] = []
    for line in body.splitlines():
        head = _HEAD.fullmatch(line)
        if head is not None:
            blocks.append((head, []))
        elif blocks and line.startswith("  "):
            blocks[-1][1].append(line)
    if not blocks:
        raise ValueError("no line '… is up, line protocol is up'")
    counted: dict[str, int] = {}
    for head, _ in blocks:
        counted[head.group(1)] = counted.get(head.group(1), 0) + 1
    for head, lines in blocks:
        name = names.long_name(head.group(1))
        if counted[head.group(1)] > 1 or not any(_MTU.fullmatch(line) for line in lines):
            words = "stands twice in it" if counted[head.group(1)] > 1 else "has no MTU in it: the answer was cut"
            yield Unread(Interface, (name,), reason=GapReason.TRUNCATED, detail=f"{printable(name, 40)} {words}")
        else:
            yield from _block(name, head.group(3), lines)


def _block(name: str, word: str, lines: list[str]) -> Iterator[Normalised]:
    values: dict[str, Any] = {}
    unread: list[Unread] = []
    if word in _STATES:
        values.update(up=word == "connected", error_disabled=word == "errdisabled")
        values.update({} if word == "inactive" else {"enabled": word != "disabled"})
    for line in lines:
        address, text, mtu, duplex = (shape.fullmatch(line) for shape in (_MAC, _TEXT, _MTU, _DUPLEX))
        if address is not None and "mac" not in values:
            values["mac"] = canonical.mac(address.group(1))
        elif text is not None and "description" not in values:
            values["description"] = text.group(1) or text.group(2) or ""
        elif mtu is not None and "mtu_shown" not in values:
            values["mtu_shown"] = f"{mtu.group(1)} MTU {mtu.group(2)} bytes"
            values.update({"mtu": int(mtu.group(2))} if mtu.group(1) == "IP" else {})
            received = _MRU.search(line)
            unread += _frames(name, values, None if received is None else int(received.group(1)))
        elif duplex is not None and "speed" not in values:
            if word == "connected" or duplex.group(3) == "off":
                values["speed"] = canonical.speed(duplex.group(1) + duplex.group(2))
            values.update({"autoneg": duplex.group(3) == "on"} if duplex.group(3) in ("on", "off") else {})
    yield Interface(name=name, **{column: value for column, value in values.items() if value != ""})
    yield from unread
    reasons = {"mtu": _SWITCHED, "speed": "no speed is known of this port", "autoneg": "the port does not say it"}
    for column in ("enabled", "up", "error_disabled", "mtu", "speed", "autoneg"):
        if column not in values:
            words = reasons.get(column, f"no known state: {printable(word, 30)!r}")
            yield Unread(Interface, (name,), column, GapReason.UNSUPPORTED if column in reasons else GapReason.UNPARSED, words)


_FEC = {"disabled": "none", "reedSolomon": "rs", "reedSolomon544": "rs", "fireCode": "fc"}


def error_correction(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces error-correction | json`: the encoding in use."""
    for shown, item in members(data, "interfaceErrCorrStatuses"):
        name, word = names.long_name(shown), item.get("errCorrEncodingStatus")
        if word in _FEC:
            yield Interface(name=name, fec=_FEC[word])
        else:
            yield Unread(Interface, (name,), "fec", detail=f"no known encoding: {printable(str(word), 40)!r}")


def pause(data: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interfaces flow-control | json`: whether 802.3x pause frames are obeyed and sent."""
    for shown, item in members(data, "interfaceFlowControls"):
        name = names.long_name(shown)
        words = {"global_pause_rx": item.get("rxOperState"), "global_pause_tx": item.get("txOperState")}
        yield QosPort(port=name, **{column: word == "on" for column, word in words.items() if word in ("on", "off")})
        for column, word in words.items():
            if word not in ("on", "off"):
                yield Unread(QosPort, (name,), column, detail=f"neither on nor off: {printable(str(word), 40)!r}")


def members(data: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects under one member of the document, by name. Raises ValueError where it is none of them."""
    found = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(found, Mapping) or not found:
        raise ValueError(f"no member {name!r} with an object in it")
    for key, item in found.items():
        if not isinstance(item, Mapping):
            raise ValueError(f"{name}: {printable(str(key), 40)!r} is no object")
        yield key, item


def whole_number(number: Any) -> bool:
    """Whether it is a number above 0, and no truth value."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**15
