"""Ports of Cumulus Linux: `nv show interface`, the link of one by NVUE or by ethtool, and the modules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import canonical
from auditor.canonical import printable
from auditor.errors import NormaliseError
from auditor.facts import Interface, Optic
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.cumulus_linux import answers

DOCUMENT = ("up", "mtu", "mtu_shown", "speed", "mac", "autoneg")
COLUMNS = ("enabled", "up", "mtu", "mtu_shown", "speed")
_KINDS = ("swp", "eth", "bond")
"""Types of interface that carry traffic of their own; VRFs, bridges, VLANs and loopbacks are the switch's own making."""
_UP = {"up": True, "down": False}


def interfaces(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show interface`: one column of states, or `Admin Status` and `Oper Status`. Lines without a name go on in `Summary`."""
    table = answers.plain(body)
    missing = {"Interface", "Speed", "MTU", "Type"} - set(table.headers)
    if missing or not {"State", "Oper Status"} & set(table.headers):
        raise ValueError(f"not the columns of `nv show interface`: {printable(' '.join(table.headers), 120)!r}")
    for row in table.rows:
        if row.cells is None:
            yield Unread(Interface, detail=f"does not fit under the columns: {printable(row.text.strip(), 80)!r}")
        elif row.cells.get("Interface") and row.cells.get("Type") in _KINDS:
            yield from _interface(row.cells["Interface"], row.cells)
        elif row.cells.get("Interface") and not row.cells.get("Type"):
            detail = f"a line stops too early: {printable(row.text.strip(), 80)!r}"
            yield Unread(Interface, reason=GapReason.TRUNCATED, detail=detail)


def _interface(name: str, cells: Mapping[str, str]) -> Iterator[Normalised]:
    admin, oper = cells.get("Admin Status"), cells.get("Oper Status", cells.get("State", ""))
    mtu, speed = cells["MTU"], cells["Speed"]
    rate: int | None = None
    if speed:
        try:
            rate = canonical.speed(speed)
        except ValueError:
            yield Unread(Interface, (name,), "speed", detail=f"no speed: {printable(speed, 40)!r}")
    yield Interface(
        name=name,
        enabled=None if admin is None else _UP.get(admin),
        up=_UP.get(oper),
        mtu=int(mtu) if mtu.isascii() and mtu.isdecimal() else None,
        mtu_shown=mtu or None,
        speed=rate,
    )
    if admin is None:
        yield Unread(Interface, (name,), "enabled", GapReason.UNSUPPORTED, "this release prints one state, not what was wanted")
    for column, word in (("enabled", admin), ("up", oper)):
        if word is not None and word not in _UP:
            yield Unread(Interface, (name,), column, detail=f"state {printable(word, 40)!r} is not known")
    if not (mtu.isascii() and mtu.isdecimal()):
        yield Unread(Interface, (name,), "mtu", detail=f"no number: {printable(mtu, 40)!r}")


def link(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show interface PORT link`: the FEC that runs, not the applied one, which may be empty or another."""
    name, told = parameters["port"], answers.settings(body)
    mode, word = None, told.get("fec", "")
    if word:
        try:
            mode = canonical.fec(word)
        except ValueError:
            yield Unread(Interface, (name,), "fec", detail=f"no FEC mode: {printable(word, 40)!r}")
    else:
        yield Unread(Interface, (name,), "fec", GapReason.UNSUPPORTED, "no FEC is in operation, as on a port that is down")
    negotiation = {"on": True, "off": False, "enabled": True, "disabled": False}.get(told.get("auto-negotiate", ""))
    yield Interface(name=name, fec=mode, autoneg=negotiation)
    if negotiation is None:
        yield Unread(Interface, (name,), "autoneg", GapReason.UNSUPPORTED, "no state of the negotiation is in operation")


def ethtool(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`ethtool PORT`: whether it negotiates. Speed and state are in the list of all ports."""
    found = re.search(r"^\s*Auto-negotiation: (on|off)\s*$", body, re.MULTILINE)
    yield Interface(name=parameters["port"], autoneg=None if found is None else found.group(1) == "on")
    if found is None:
        yield Unread(Interface, (parameters["port"],), "autoneg", detail="whether it negotiates is not told")


def transceivers(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`nv show platform transceiver`: one line for each cage with a module."""
    columns = {"type": "Identifier", "vendor": "Vendor name", "part_number": "Vendor PN", "serial": "Vendor SN"}
    table = answers.plain(body)
    if {"Transceiver", *columns.values()} - set(table.headers):
        raise ValueError(f"not the columns of `nv show platform transceiver`: {printable(' '.join(table.headers), 120)!r}")
    for row in table.rows:
        if row.cells is None or "Vendor SN" not in row.cells:
            yield Unread(Optic, detail=f"does not fit under the columns: {printable(row.text.strip(), 80)!r}")
            continue
        port = row.cells["Transceiver"]
        read = {column: row.cells[header] for column, header in columns.items()}
        cut = [column for column, text in read.items() if text.endswith("…")]
        type_, vendor, part, serial = (None if at in cut or read[at] in ("", "N/A") else read[at] for at in columns)
        yield Optic(port=port, present=True, type=type_, vendor=vendor, part_number=part, serial=serial)
        for column in cut:
            yield Unread(Optic, (port,), column, GapReason.TRUNCATED, "the switch printed its beginning only")


def document(found: Any, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """`GET /nvue_v1/interface?rev=operational`: an object by name, each with its `link`, whose state has one member."""
    if not isinstance(found, Mapping) or not all(isinstance(item, Mapping) for item in found.values()):
        raise NormaliseError("interfaces_json", "document", "no object of interfaces")
    for name, item in found.items():
        if item.get("type") in _KINDS:
            link = item.get("link")
            yield from _linked(str(name), link if isinstance(link, Mapping) else {})


def _linked(name: str, told: Mapping[str, Any]) -> Iterator[Normalised]:
    state, mtu, speed, mac = (told.get(label) for label in ("state", "mtu", "speed", "mac"))
    word = next(iter(state), "") if isinstance(state, Mapping) and len(state) == 1 else ""
    rate = address = None
    try:
        rate = canonical.speed(speed) if isinstance(speed, str) else None
        address = canonical.mac(mac) if isinstance(mac, str) else None
    except ValueError as error:
        yield Unread(Interface, (name,), "speed" if rate is None and speed else "mac", detail=printable(str(error), 80))
    size = mtu if isinstance(mtu, int) and not isinstance(mtu, bool) else None
    yield Interface(
        name=name, up=_UP.get(word), mtu=size, mtu_shown=None if size is None else str(size), speed=rate, mac=address,
        autoneg={"on": True, "off": False}.get(str(told.get("auto-negotiate", ""))),
    )  # fmt: skip
    for column, missing in (("up", word not in _UP), ("mtu", size is None), ("mac", address is None)):
        if missing:
            yield Unread(Interface, (name,), column, detail=f"not in the form of the document that proves it: {column}")
