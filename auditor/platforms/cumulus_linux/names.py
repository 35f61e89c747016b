"""How Cumulus Linux names ports: `swp1`, `swp1s0` for a part of a breakout, `eth0` for management."""

from __future__ import annotations

import re

_PORT = re.compile(r"swp\d{1,3}(?:s\d)?")
_ROW = re.compile(r"^(swp\d{1,3}(?:s\d)?) ", re.MULTILINE)


def is_port(name: str) -> bool:
    """Whether this is a port of the front panel."""
    return _PORT.fullmatch(name) is not None


def listed(body: str) -> list[str]:
    """The front ports that `nv show interface` lists."""
    return _ROW.findall(body)
