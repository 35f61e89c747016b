"""How Comware writes ports and MAC addresses, in its answers and in ours."""

from __future__ import annotations

import re

from auditor import canonical

_LONG = {
    "GE": "GigabitEthernet", "XGE": "Ten-GigabitEthernet", "FGE": "FortyGigE", "HGE": "HundredGigE", "WGE": "Twenty-FiveGigE",
    "25GE": "Twenty-FiveGigE", "MGE": "M-GigabitEthernet", "BAGG": "Bridge-Aggregation", "RAGG": "Route-Aggregation",
    "Vlan": "Vlan-interface", "Loop": "LoopBack", "Tun": "Tunnel",
}  # fmt: skip
_SHORT = {word: short for short, word in _LONG.items() if short != "25GE"}
_NAME = re.compile(r"(25GE|[A-Za-z][A-Za-z-]*?) ?(\d[\d/.:]*)")
_DASHED = re.compile(r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}", re.IGNORECASE)
_PORT = re.compile(r"(?:M-)?(?:\w+-)?\w*(?:GigabitEthernet|GigE)\d+(?:/\d+)+(?::\d+)?")


def long_name(name: str) -> str:
    """`Ten-GigabitEthernet1/0/1` from `XGE1/0/1`; any other text as it is."""
    found = _NAME.fullmatch(name.strip())
    word = None if found is None else _LONG.get(found.group(1))
    return name if found is None or word is None else word + found.group(2)


def in_tables(part: str) -> str:
    """A port as the tables of Comware write it: `XGE1/0/1`; any other text as it is."""
    found = _NAME.fullmatch(part)
    word = None if found is None else _SHORT.get(found.group(1))
    return part if found is None or word is None else word + found.group(2)


def is_port(name: str) -> bool:
    """Whether this is a port that a cable goes into."""
    return _PORT.fullmatch(name) is not None


def address(text: str) -> str | None:
    """`70:f9:6d:6b:12:34` from `70f9-6d6b-1234`; None for any other text."""
    return canonical.mac(text.replace("-", "")) if _DASHED.fullmatch(text) else None


def dashed(part: str) -> str:
    """A MAC address as Comware writes it; any other text as it is."""
    if not re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", part):
        return part
    digits = part.replace(":", "")
    return f"{digits[:4]}-{digits[4:8]}-{digits[8:]}"
