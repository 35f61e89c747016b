"""How NX-OS writes ports and MAC addresses, in its answers and in ours."""

from __future__ import annotations

import re

from auditor import canonical

_LONG = {"eth": "Ethernet", "ethernet": "Ethernet", "po": "port-channel", "port-channel": "port-channel", "lo": "loopback",
         "loopback": "loopback", "vlan": "Vlan", "mgmt": "mgmt"}  # fmt: skip
_SHORT = {"Ethernet": "Eth", "port-channel": "Po", "loopback": "Lo"}
_NAME = re.compile(r"([A-Za-z][A-Za-z-]*?) ?(\d[\d/.]*)")
_DOTTED = re.compile(r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}")


def long_name(name: str) -> str:
    """`Ethernet1/1` from `Eth1/1`; any other text as it is."""
    found = _NAME.fullmatch(name.strip())
    word = None if found is None else _LONG.get(found.group(1).lower())
    return name if found is None or word is None else word + found.group(2)


def in_tables(part: str) -> str:
    """A port as tables write it: `Eth1/1`; any other text as it is."""
    found = _NAME.fullmatch(part)
    word = None if found is None else _SHORT.get(found.group(1))
    return part if found is None or word is None else word + found.group(2)


def shown(part: str) -> str:
    """A port or a MAC address as lists of neighbours write it."""
    if re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", part):
        digits = part.replace(":", "")
        return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"
    return in_tables(part)


def is_port(name: str) -> bool:
    """Whether this is a port that a cable goes into."""
    return re.fullmatch(r"Ethernet\d+(?:/\d+)+", name) is not None


def address(text: str) -> str | None:
    """`6c:b2:ae:9f:e7:26` from `6cb2.ae9f.e726`; None for any other text."""
    return canonical.mac(text.replace(".", "")) if _DOTTED.fullmatch(text) else None
