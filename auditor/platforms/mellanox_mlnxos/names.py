"""How Onyx writes ports, in its answers and in ours."""

from __future__ import annotations

import re

_WORDS = {
    "eth": "Eth",
    "ethernet": "Eth",
    "po": "Po",
    "port-channel": "Po",
    "mpo": "Mpo",
    "mlag-port-channel": "Mpo",
    "vlan": "Vlan ",
}
_NAME = re.compile(r"([A-Za-z][A-Za-z-]*) ?(\d[\d/]*)")


def long_name(name: str) -> str:
    """`Eth1/1` from `ethernet 1/1`, as answers write it; any other text as it is."""
    found = _NAME.fullmatch(name.strip())
    word = None if found is None else _WORDS.get(found.group(1).lower())
    return name if found is None or word is None else word + found.group(2)
