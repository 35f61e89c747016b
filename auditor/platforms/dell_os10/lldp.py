"""`show lldp neighbors detail` of OS10: one block per neighbour, a line of dashes behind each.

The description of a system goes on over lines at the left edge which look like labels, so nothing behind `Remote System Desc:`
is read. What is valid for the next 41 of 48 seconds was heard 7 seconds ago.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor import canonical
from auditor.canonical import printable
from auditor.facts import Neighbour
from auditor.model import GapReason, Normalised, Unread
from auditor.platforms.dell_os10.names import short_name

COLUMNS = (
    "system", "port_kind", "port_description", "chassis", "chassis_kind", "management_address", "ttl_s", "heard_s", "since_s",
)  # fmt: skip
RULE = r"^-{70,80}[ \t]*$"

_PORT_KINDS = {"1": "alias", "3": "mac", "4": "address", "5": "name", "7": "local"}
_CHASSIS_KINDS = {"4": "mac", "5": "address", "6": "name", "7": "local"}
"""Subtypes by their number in IEEE 802.1AB, tables 8-2 and 8-3; every other one is `other`."""
_LABEL = re.compile(r"((?:Remote|Local|Locally|Time) [A-Za-z ]+?(?: \(IPv[46]\))?): ?(.*)")
_VALID = re.compile(r"Information valid for next (\d{1,6}) seconds\s*")
_SPAN = re.compile(r"(?:(\d{1,4}) weeks? )?(?:(\d{1,5}) days? )?(\d{1,2}):(\d{2}):(\d{2})")
_NEEDED = ("Local Port ID", "Remote Port ID", "Remote TTL", "Remote System Desc")
_BEHIND = "Remote Max Frame Size"


def detail(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """Neighbours by local port."""
    block: list[str] = []
    for line in body.splitlines():
        if re.fullmatch(RULE, line):
            if any(text.strip() for text in block):
                yield from _block(block)
            block = []
        else:
            block.append(line)
    if any(text.startswith("Remote Chassis ID") for text in block):
        yield Unread(Neighbour, reason=GapReason.TRUNCATED, detail="no line of dashes behind the last neighbour")


def _block(lines: list[str]) -> Iterator[Normalised]:
    said: dict[str, str] = {}
    twice = set[str]()
    valid = behind = False
    left = 0.0
    for line in lines:
        label, known = _LABEL.fullmatch(line), _VALID.fullmatch(line)
        if "Remote System Desc" in said:
            behind = behind or line.startswith(f"{_BEHIND}:")
        elif label is not None:
            twice.update({label.group(1)} & said.keys())
            said.setdefault(label.group(1), label.group(2).strip())
        elif known is not None:
            valid, left = True, float(known.group(1))
    lacking = [label for label in _NEEDED if label not in said]
    if lacking or twice or not behind:
        words = f"no {lacking[0]}" if lacking else f"{sorted(twice)[0]} twice" if twice else "it breaks off"
        port = short_name(said["Local Port ID"]) if "Local Port ID" in said and not twice else ""
        key = (port,) if port else ()
        yield Unread(
            Neighbour, key, reason=GapReason.TRUNCATED, detail=f"a neighbour that cannot be read: {printable(words, 80)}"
        )
        return
    ttl, since = _number(said["Remote TTL"]), _seconds(said.get("Time since last information change of this neighbor", ""))
    chassis = _given(said.get("Remote Chassis ID"))
    chassis_kind = _kind(said.get("Remote Chassis ID Subtype"), _CHASSIS_KINDS)
    addresses = [value for label, value in said.items() if label.startswith("Remote Management Address")]
    port_id = said["Remote Port ID"]
    kind = _kind(said.get("Remote Port Subtype"), _PORT_KINDS)
    yield Neighbour(
        port=short_name(said["Local Port ID"]),
        port_id=_mac(port_id) if kind == "mac" else port_id,
        system=_given(said.get("Remote System Name")),
        port_kind=kind,
        port_description=_given(said.get("Remote Port Description")),
        chassis=_mac(chassis) if chassis is not None and chassis_kind == "mac" else chassis,
        chassis_kind=chassis_kind,
        management_address=_given(addresses[0]) if addresses else None,
        ttl_s=ttl,
        heard_s=max(ttl - left, 0.0) if ttl is not None and valid else None,
        since_s=since,
    )


def _given(text: str | None) -> str | None:
    return None if text is None or text in ("", "Not Advertised") else text


def _mac(text: str) -> str:
    try:
        return canonical.mac(text)
    except ValueError:
        return text


def _kind(text: str | None, kinds: Mapping[str, str]) -> str | None:
    found = None if text is None else re.search(r"\((\d{1,3})\)\s*$", text)
    return None if text is None else "other" if found is None else kinds.get(found.group(1), "other")


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,6}", text) else None


def _seconds(text: str) -> float | None:
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(weeks * 604_800 + days * 86_400 + hours * 3600 + minutes * 60 + seconds)
