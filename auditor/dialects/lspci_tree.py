"""The tree that `lspci -t` draws (`-tv` with names): every function with the port above it.

`-[0000:c8]-` is a root bus, `-[c9-cc]-` the buses behind a bridge, `+-` and `\\-` begin another function of the bus that branches
in that column. Where a bridge has nothing below it, nothing follows its buses.
"""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"([0-9a-f]{2})\.([0-7])")
_BUSES = re.compile(r"\[(?:([0-9a-f]{4,8}):)?([0-9a-f]{2})(?:-[0-9a-f]{2})?\]")
_FRAME = re.compile(r"[ |]*")
MAX_FUNCTIONS = 65_536


def tree(body: str) -> dict[str, str | None]:
    """The port above each function, None on a root bus, in printed order. Raises ValueError for a line that is no part of it."""
    parents: dict[str, str | None] = {}
    branches: dict[int, tuple[str, str | None]] = {}
    for number, line in enumerate(body.splitlines(), 1):
        if line.strip():
            _line(line.rstrip(), number, branches, parents)
        if len(parents) > MAX_FUNCTIONS:
            raise ValueError(f"more than {MAX_FUNCTIONS} functions")
    return parents


def _line(line: str, number: int, branches: dict[int, tuple[str, str | None]], parents: dict[str, str | None]) -> None:
    """`branches`: by column, the bus that has its next function there (domain and bus, and the bridge that leads to it)."""
    frame = _FRAME.match(line)
    at = 0 if frame is None else frame.end()
    bus: tuple[str, str | None] | None = None
    bridge: str | None = None
    while at < len(line):
        if line[at] == "-":
            at += 1
        elif line[at] in "+\\":
            if bus is None:
                bus = branches.get(at)
            else:
                branches[at] = bus
            at += 1
        elif (buses := _BUSES.match(line, at)) is not None:
            domain = buses.group(1) or (bus[0].partition(":")[0] if bus is not None else "0000")
            bus, at = (f"{int(domain, 16):04x}:{buses.group(2)}", bridge), buses.end()
        elif (function := _FUNCTION.match(line, at)) is not None and bus is not None:
            bridge = f"{bus[0]}:{function.group()}"
            if bridge in parents:
                raise ValueError(f"line {number}: {bridge} stands twice")
            parents[bridge], at = bus[1], function.end()
            if not line.startswith("-[", at):
                return  # the rest of the line is its name
        else:
            raise ValueError(f"line {number} is no part of a tree: {line.strip()[:60]!r}")
