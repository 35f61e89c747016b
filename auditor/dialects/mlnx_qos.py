"""Reads `mlnx_qos -i NETDEV`: how an NVIDIA adapter classifies and pauses, as plain values.

A line template cannot read it: the DSCP map is a list of lists wrapped over lines, the PFC table is read by the numbers of
its header row, and every block but the trust state may be missing. The layout follows the tool's `pretty_print` and
`printAppSelector`: every code point is followed by a comma, so a last one without it was cut; `prio:` without code points
is the default priority; `priority:` with a colon lists the traffic classes and is no row of the PFC table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PRIORITIES = 8
CODE_POINTS = 64

_DCBX = re.compile(r"^DCBX mode:[ \t]*(\S+) controlled[ \t]*$", re.MULTILINE)
_TRUST = re.compile(r"^Priority trust state:[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_MAPPED = re.compile(r"^[ \t]+prio:(\d) dscp:([\d,]*)", re.MULTILINE)
_PFC = re.compile(r"^[ \t]+priority((?:[ \t]+\d)+)[ \t]*\n[ \t]+enabled((?:[ \t]+[01])+)[ \t]*$", re.MULTILINE)


def trust(text: str) -> str | None:
    """The printed word: `dscp`, `pcp`, or `none` where the driver keeps no trust state. None: the line is not there."""
    found = _TRUST.search(text)
    return None if found is None else found.group(1)


def dcbx(text: str) -> str | None:
    """Who owns the settings: `OS` or `Firmware`, as printed. None: the line is not there; the driver keeps no DCBX mode."""
    found = _DCBX.search(text)
    return None if found is None else found.group(1)


def dscp_map(text: str) -> Mapping[int, frozenset[int]] | None:
    """The priorities that the map gives to each code point: one, unless it contradicts itself. None: there is no map.

    Raises ValueError for a code point or priority that cannot be.
    """
    if re.search(r"^dscp2prio mapping:", text, re.MULTILINE) is None:
        return None
    mapped: dict[int, frozenset[int]] = {}
    for priority, points in _MAPPED.findall(text):
        for point in re.findall(r"(\d+),", points):
            if int(point) >= CODE_POINTS or int(priority) >= PRIORITIES:
                raise ValueError(f"DSCP {point[:20]} cannot have priority {priority}")
            mapped[int(point)] = mapped.get(int(point), frozenset()) | {int(priority)}
    return mapped


def pfc(text: str) -> Mapping[int, bool] | None:
    """Whether priority flow control is on, by priority. None: the row is missing or stops before the last priority.

    Raises ValueError when the header row names other priorities than 0 to 7.
    """
    found = _PFC.search(text)
    if found is None:
        return None
    priorities, cells = ([int(cell) for cell in part.split()] for part in found.groups())
    if priorities != list(range(PRIORITIES)) or len(cells) > len(priorities):
        raise ValueError(f"a PFC table with the priorities {found.group(1).strip()[:40]!r}")
    return {priority: cell == 1 for priority, cell in enumerate(cells)} if len(cells) == PRIORITIES else None
