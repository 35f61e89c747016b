"""How OS10 writes ports, in its answers and in ours."""

from __future__ import annotations

import re

_KINDS = {
    "eth": "ethernet", "ethernet": "ethernet", "po": "port-channel", "port-channel": "port-channel", "vl": "vlan", "vlan": "vlan",
    "ma": "mgmt", "mgmt": "mgmt", "management": "mgmt", "lo": "loopback", "loopback": "loopback", "null": "null",
}  # fmt: skip
_SPOKEN = {"ethernet": "Ethernet", "port-channel": "Port-channel", "vlan": "Vlan", "mgmt": "Management", "loopback": "Loopback"}
_TABLE = {"ethernet": "Eth", "port-channel": "Po", "vlan": "Vl"}
_NAME = re.compile(r"([A-Za-z][A-Za-z-]*?) ?(\d[\d/:]*)")


def short_name(name: str) -> str:
    """`ethernet1/1/1`, as the configuration has it, from `Ethernet 1/1/1` or `Eth 1/1/1`; any other text as it is."""
    found = _NAME.fullmatch(name.strip())
    kind = None if found is None else _KINDS.get(found.group(1).lower())
    return name if found is None or kind is None else kind + found.group(2)


def spoken(part: str) -> str:
    """A port as `show interface` begins its block: `Ethernet 1/1/1`; any other text as it is."""
    return _written(part, _SPOKEN)


def in_tables(part: str) -> str:
    """A port as tables have it: `Eth 1/1/1`; any other text as it is."""
    return _written(part, _TABLE)


def _written(part: str, kinds: dict[str, str]) -> str:
    found = _NAME.fullmatch(part)
    kind = None if found is None else kinds.get(found.group(1))
    return part if found is None or kind is None else f"{kind} {found.group(2)}"
