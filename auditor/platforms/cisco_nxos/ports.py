"""Ports of NX-OS: `show interface`, `show interface status`, and the modules in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Interface, Optic
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cisco_nxos import names

COLUMNS = ("enabled", "up", "mtu", "mtu_shown", "speed", "fec", "autoneg", "mac", "lag", "description", "error_disabled")

_HEAD = re.compile(r"^([A-Za-z][A-Za-z-]*\d[\d/.]*) is (up|down)\b[ \t]*(?:\((.*)\))?.*$", re.MULTILINE)
_LAST = re.compile(r"^ +\d+ Tx pause\b", re.MULTILINE)
_SPEED = re.compile(r"^ +\S+-duplex, (\d+(?:\.\d+)? [GM]b/s)", re.MULTILINE)
_FEC = {"off": "none", "auto": "auto", "rs-fec": "rs", "fc-fec": "fc", "rs-cons16": "rs", "rs-ieee": "rs"}
_STATUS = re.compile(r"(\S+) +(.{18}) (\S+) +(\S+) +(\S+) +(\S+)(?: +.*)?")
_STATES = {"connected": (True, True), "notconnec": (True, False), "notconnect": (True, False), "disabled": (False, False),
           "sfpAbsent": (True, False), "xcvrAbsen": (True, False), "down": (True, False), "err-disabl": (True, False),
           "errDisabl": (True, False), "linkFlapE": (True, False)}  # fmt: skip


def interfaces(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interface`. A port whose counters do not end, or that has a hole where its MTU should be, was cut."""
    heads = list(_HEAD.finditer(body))
    seen: set[str] = set()
    for at, head in enumerate(heads):
        name = names.long_name(head.group(1))
        text = body[head.end() : heads[at + 1].start() if at + 1 < len(heads) else len(body)]
        if name in seen:
            yield Unread(Interface, (name,), detail=f"{name} stands twice in it")
            continue
        seen.add(name)
        if names.is_port(name) and (_LAST.search(text) is None or not _MTU.search(text)):
            yield Unread(Interface, (name,), reason=GapReason.TRUNCATED, detail=f"{name} has a hole or stops in its counters")
            continue
        yield from _port(name, head.group(2), head.group(3) or "", text)


_MTU = re.compile(r"^ +MTU (\d{2,6}) bytes\b", re.MULTILINE)


def _port(name: str, state: str, reason: str, text: str) -> Iterator[Normalised]:
    admin, mtu, speed = _one(text, r"^ *admin state is (up|down)\b"), _MTU.search(text), _SPEED.search(text)
    fec, mac = _one(text, r"\boper fec state is (\S+)"), _one(text, r"\baddress: (\S+)")
    negotiation, lag = _one(text, r"\bAuto-Negotiation is turned (on|off)\b"), _one(text, r"^ +Belongs to (\S+)")
    yield Interface(
        name=name,
        enabled=None if admin is None else admin == "up",
        up=state == "up",
        mtu=None if mtu is None else int(mtu.group(1)),
        mtu_shown=None if mtu is None else mtu.group(1),
        speed=None if speed is None else canonical.speed(speed.group(1)),
        fec=None if fec is None else _FEC.get(fec.lower()),
        autoneg=None if negotiation is None else negotiation == "on",
        mac=None if mac is None else names.address(mac),
        lag=None if lag is None else names.long_name(lag),
        description=_one(text, r"^ +Description: (.*?)[ \t]*$"),
        error_disabled="errdisabled" in reason.lower().replace(" ", "").replace("-", ""),
    )
    if names.is_port(name):
        if speed is None:
            yield Unread(
                Interface, (name,), "speed", GapReason.UNSUPPORTED, "it has no link, and does not tell what it was set to"
            )
        if fec is None or fec.lower() not in _FEC:
            words = "no line tells its FEC" if fec is None else f"FEC {printable(fec, 40)!r} is not known"
            yield Unread(Interface, (name,), "fec", GapReason.UNSUPPORTED if fec is None else GapReason.UNPARSED, words)


def status(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interface status`. The name is cut at 18 columns and holds any words; a type may wrap into a line of its own."""
    inside, strange = False, []
    before = ""
    for line in body.splitlines():
        if re.match(r"Port +Name +Status +Vlan +Duplex +Speed +Type", line):
            inside = True
        elif not line.strip() or set(line.strip()) == {"-"}:
            continue
        elif inside:
            row = _STATUS.fullmatch(line)
            if row is None or not re.match(r"[A-Za-z][A-Za-z-]*\d", row.group(1)):
                wrapped = len(before) >= 75 and " " not in line.strip() and len(line.strip()) <= 12
                strange += [] if wrapped else [line]
                before = ""
                continue
            before = line
            known = _STATES.get(row.group(3))
            name = names.long_name(row.group(1))
            if known is None:
                yield Unread(Interface, (name,), detail=f"status {printable(row.group(3), 40)!r} is not known")
            else:
                yield Interface(name=name, enabled=known[0], up=known[1])
    if strange:
        more = f" (and {len(strange) - 1} more)" if len(strange) > 1 else ""
        yield Unread(Interface, detail=f"does not fit under the columns: {printable(strange[0], 80)!r}{more}")


def transceivers(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`show interface transceiver`, with or without details. Behind the last module nothing tells whether it was cut."""
    blocks: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        if re.fullmatch(r"(?:Ethernet|mgmt)\d[\d/]*[ \t]*", line):
            blocks.append((line.strip(), []))
        elif blocks:
            blocks[-1][1].append(line)
    for at, (name, lines) in enumerate(blocks, start=1):
        text = "\n".join(lines)
        state = _one(text, r"^ +transceiver is (present|not present)\b")
        last = at == len(blocks)
        if state is None or (last and state == "present" and _one(text, r"^ +cisco (?:version id|product id) is (\S+)") is None):
            yield Unread(Optic, (name,), reason=GapReason.TRUNCATED, detail=f"the module of {name} is not told to its end")
            continue
        yield Optic(
            port=name,
            present=state == "present",
            type=_one(text, r"^ +type is (\S.*?)[ \t]*$"),
            vendor=_one(text, r"^ +name is (\S.*?)[ \t]*$"),
            part_number=_one(text, r"^ +part number is (\S.*?)[ \t]*$"),
            serial=_one(text, r"^ +serial number is (\S+)"),
            firmware=_one(text, r"^ +firmware version is (\S+)"),
        )


def _one(text: str, pattern: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else found.group(1)
