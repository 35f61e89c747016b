"""Reads `mlnx_qos -i NETDEV`: how an NVIDIA adapter classifies and pauses, as plain values.

A line template cannot read it: the DSCP map is a list of lists wrapped over lines, the PFC table is read by the numbers of
its header row, and every block but the trust state may be missing. Its layout follows the tool's `pretty_print` and
`printAppSelector`: every code point is followed by a comma, so a last one without it was cut; `priority:` with a colon
lists the traffic classes and is no row of the PFC table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TRUST = re.compile(r"^Priority trust state:[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_MAPPED = re.compile(r"^[ \t]+prio:(\d) dscp:([\d,]*)", re.MULTILINE)
_PFC = re.compile(r"^[ \t]+priority((?:[ \t]+\d)+)[ \t]*\n[ \t]+enabled((?:[ \t]+\d)+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Qos:
    """What one answer says. None: it does not say it.

    `trust` is the printed word: `dscp`, `pcp`, or `none` where the driver cannot tell. `dscp` holds the priorities that the
    map gives to each code point: one, unless the answer contradicts itself. `pfc` says for each priority whether it is on.
    """

    trust: str | None
    dscp: Mapping[int, frozenset[int]] | None
    pfc: Mapping[int, bool] | None


def read(text: str) -> Qos:
    """The settings of one network device. Raises ValueError for code points or PFC cells that cannot be."""
    trust = _TRUST.search(text)
    return Qos(
        trust=None if trust is None else trust.group(1),
        dscp=_dscp(text) if re.search(r"^dscp2prio mapping:", text, re.MULTILINE) else None,
        pfc=_pfc(text),
    )


def _dscp(text: str) -> dict[int, frozenset[int]]:
    mapped: dict[int, frozenset[int]] = {}
    for priority, points in _MAPPED.findall(text):
        for point in re.findall(r"(\d+),", points):
            if int(point) > 63 or int(priority) > 7:
                raise ValueError(f"dscp {point} to priority {priority} cannot be")
            mapped[int(point)] = mapped.get(int(point), frozenset()) | {int(priority)}
    return mapped


def _pfc(text: str) -> dict[int, bool] | None:
    found = _PFC.search(text)
    if found is None:
        return None
    priorities, cells = ([int(cell) for cell in part.split()] for part in found.groups())
    if priorities != list(range(8)) or len(cells) != len(priorities) or any(cell > 1 for cell in cells):
        raise ValueError(f"a PFC row of {len(cells)} cells for {len(priorities)} priorities: {found.group(2).strip()!r}")
    return {priority: cell == 1 for priority, cell in zip(priorities, cells, strict=True)}
