"""How EOS writes ports and MAC addresses, in its answers and in ours."""

from __future__ import annotations

import re

from auditor import canonical

_LONG = {
    "et": "Ethernet", "eth": "Ethernet", "ethernet": "Ethernet", "ma": "Management", "management": "Management",
    "po": "Port-Channel", "port-channel": "Port-Channel", "lo": "Loopback", "loopback": "Loopback", "vl": "Vlan", "vlan": "Vlan",
    "vx": "Vxlan", "vxlan": "Vxlan", "tu": "Tunnel", "tunnel": "Tunnel",
}  # fmt: skip
_SHORT = {
    "Ethernet": "Et",
    "Management": "Ma",
    "Port-Channel": "Po",
    "Loopback": "Lo",
    "Vlan": "Vl",
    "Vxlan": "Vx",
    "Tunnel": "Tu",
}
_NAME = re.compile(r"([A-Za-z][A-Za-z-]*?) ?(\d[\d/.]*)")
_DOTTED = re.compile(r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}")


def long_name(name: str) -> str:
    """`Ethernet1/1` from `Et1/1`, `Eth1/1` or `ethernet 1/1`; any other text as it is."""
    found = _NAME.fullmatch(name.strip())
    word = None if found is None else _LONG.get(found.group(1).lower())
    return name if found is None or word is None else word + found.group(2)


def address(text: str) -> str | None:
    """`b8:3f:d2:11:02:10` from `b83f.d211.0210`; None for any other text."""
    return canonical.mac(text) if _DOTTED.fullmatch(text) else None


def dotted(part: str) -> str:
    """A MAC address as EOS writes it; any other text as it is."""
    digits = part.replace(":", "")
    if not re.fullmatch(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", part):
        return part
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def in_tables(part: str) -> str:
    """A port or a MAC address as the tables of EOS write it: `Et1/1`, `b83f.d211.0210`."""
    found = _NAME.fullmatch(part)
    word = None if found is None else _SHORT.get(found.group(1))
    return dotted(part) if found is None or word is None else word + found.group(2)
