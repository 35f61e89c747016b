"""How VRP writes ports and MAC addresses, in its answers and in ours."""

from __future__ import annotations

import re

from auditor import canonical

_LONG = {"GE": "GigabitEthernet", "XGE": "XGigabitEthernet", "Eth": "Ethernet", "Vlanif": "Vlanif", "Eth-Trunk": "Eth-Trunk"}
_NAME = re.compile(r"([A-Za-z][A-Za-z-]*?) ?(\d[\d/.:]*)")
_DASHED = re.compile(r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}", re.IGNORECASE)
_PORT = re.compile(r"(?:X?GigabitEthernet|\d{2,3}GE|MEth|Ethernet)\d+(?:/\d+)+(?::\d+)?")


def long_name(name: str) -> str:
    """`GigabitEthernet1/0/25` from `GE1/0/25`, without the speed in brackets; any other text as it is."""
    bare = re.sub(r"\(\d+[MGT]\)$", "", name.strip())
    found = _NAME.fullmatch(bare)
    word = None if found is None else _LONG.get(found.group(1))
    return bare if found is None or word is None else word + found.group(2)


def shown(part: str) -> str:
    """A port or a MAC address as lists of neighbours write it: `GE1/0/25`, `70f9-6d6b-1234`."""
    if re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", part):
        digits = part.replace(":", "")
        return f"{digits[:4]}-{digits[4:8]}-{digits[8:]}"
    return re.sub(r"^(X?)GigabitEthernet(?=\d)", r"\1GE", part)


def is_port(name: str) -> bool:
    """Whether this is a port that a cable goes into."""
    return _PORT.fullmatch(name) is not None


def address(text: str) -> str | None:
    """`70:f9:6d:6b:12:34` from `70f9-6d6b-1234`; None for any other text."""
    return canonical.mac(text.replace("-", "")) if _DASHED.fullmatch(text) else None
