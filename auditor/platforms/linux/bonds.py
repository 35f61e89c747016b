"""Bonds of a host and which of their members carry traffic, as `ip -j -d link` and `/proc/net/bonding/{bond}` have it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor.address import Layer
from auditor.facts import LagMember
from auditor.model import Fill, GapReason, Normalised, Parameter, Parser, Source, Unread

_STATES = {"ACTIVE": True, "BACKUP": False}
_LINK = {"up": True, "going down": True, "down": False, "going back": False}
"""While a delay runs the member still works (going down), or does not work yet (going back)."""
_SYNCHRONISED, _DISTRIBUTING = 8, 32
"""Bits of an LACP state (IEEE 802.1AX); only root sees the states."""


def member(lag: str, name: str, link: Mapping[str, Any]) -> Iterator[Normalised]:
    """One member from its object in JSON: the kernel keeps whether it is used, and whether its link is up."""
    info = link.get("linkinfo")
    data = info.get("info_slave_data") if isinstance(info, Mapping) else None
    if not isinstance(data, Mapping):
        data = {}
    state, status = _STATES.get(str(data.get("state"))), _LINK.get(str(data.get("mii_status")).lower().replace("_", " "))
    if state is None or status is None:
        yield LagMember(lag=lag, port=name)
        detail = "the state of a member is printed with -d, and of bonds only"
        yield Unread(LagMember, (lag, name), "active", GapReason.NOT_COLLECTED, detail)
    else:
        yield LagMember(lag=lag, port=name, active=state and status)


def bonding(body: str, parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Every member of one bond. With LACP the members of the active aggregator carry traffic, with active-backup one does."""
    bond = parameters["bond"]
    head, *blocks = re.split(r"^Slave Interface: ", body, flags=re.MULTILINE)
    mode, active = _value(head, "Bonding Mode"), _value(head, "Currently Active Slave")
    lacp = mode is not None and "802.3ad" in mode
    aggregator, wanted = _value(head, r"[ \t]+Aggregator ID"), _value(head, r"[ \t]+Number of ports")
    shown = "details actor lacp pdu:" in body
    inside = 0
    for block in blocks:
        name, _, lines = block.partition("\n")
        name = name.strip()
        link, own = _LINK.get(_value(lines, "MII Status") or ""), _value(lines, "Aggregator ID")
        inside += lacp and own is not None and own == aggregator
        whole = _value(lines, "Slave queue ID") is not None and (own is not None or not lacp)
        whole &= not shown or lines.count("port state: ") == 2
        if link is None or not whole:
            yield LagMember(lag=bond, port=name)
            yield Unread(LagMember, (bond, name), "active", GapReason.TRUNCATED, "its lines stop before they say so")
            continue
        if lacp:
            link = link and own == aggregator and _distributes(lines)
        elif mode is not None and "active-backup" in mode:
            link = link and name == active
        yield LagMember(lag=bond, port=name, active=link)
    if lacp and aggregator is not None and str(inside) != wanted:
        detail = f"{wanted} members in the active aggregator, {inside} were read"
        yield Unread(LagMember, (bond,), reason=GapReason.TRUNCATED, detail=detail)


def _distributes(lines: str) -> bool:
    found = re.search(r"^details actor lacp pdu:\n(?:[ \t].*\n)*?[ \t]+port state: (\d+)$", lines, re.MULTILINE)
    good = _SYNCHRONISED | _DISTRIBUTING
    return found is None or int(found.group(1)) & good == good


def _value(text: str, label: str) -> str | None:
    found = re.search(rf"^{label}:[ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    return None if found is None else found.group(1)


def bonds(body: str) -> list[str]:
    """Names of the bonds, from the JSON of `ip -j -d link`."""
    names = []
    for link in json.loads(body):
        info = link.get("linkinfo") if isinstance(link, dict) else None
        if isinstance(info, dict) and info.get("info_kind") == "bond" and isinstance(link.get("ifname"), str):
            names.append(link["ifname"])
    return names


SOURCES = (
    # Live, the list of interfaces says it already.
    Source(
        key="bonding", command="cat /proc/net/bonding/{bond}", sent=False, aliases=("/proc/net/bonding/{bond}",),
        parameter=Parameter("bond", ("ip_link",), bonds),
        fills=(Fill(LagMember, Layer.APPLIED, ("active",)),),
        parser=Parser.TEXT, normalise=bonding, anchor=(r"^Ethernet Channel Bonding Driver: ", r"^Bonding Mode: "),
        proof={"lag_member": r"^Slave Interface: {1}$"},
        proven_by="the bonding driver of Linux 5.15 with LACP; drivers/net/bonding/bond_procfs.c of the kernel",
    ),
)  # fmt: skip
