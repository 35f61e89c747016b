"""Reads `mlxlink -d DEVICE`: the link of one port of an NVIDIA adapter, switch or GPU, as plain values.

    Operational Info
    ----------------
    State                              : Active
    Speed                              : IB-NDR
    Width                              : 4x

Labels stand in titled sections and may gain `(Ext.)`; values may carry a trailing blank; what does not apply is `N/A`. The
section of the module comes with `-m` only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from auditor import canonical

_TITLE = re.compile(r"^(\S.*?)[ \t]*\n-{3,}[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"^([A-Z][^\n:]*?)[ \t]*: (.*?)[ \t]*$", re.MULTILINE)


def sections(text: str) -> dict[str, Mapping[str, str]]:
    """Values by label for each section, by its title; of a label that comes twice the first counts."""
    titles = list(_TITLE.finditer(text))
    ends = [*(title.start() for title in titles[1:]), len(text)]
    return {
        title.group(1): dict(reversed(_LINE.findall(text, title.end(), end)))
        for title, end in zip(titles, ends, strict=True)
    }  # fmt: skip


def rate(operational: Mapping[str, str]) -> int | None:
    """Bits per second of an active link: `100G` as it stands, `IB-NDR` times its lanes; None while there is none, and of an
    NVLink. Raises ValueError for what is neither."""
    speed, width = operational.get("Speed", ""), operational.get("Width", "")
    if operational.get("State") != "Active" or canonical.nothing(speed) or speed.startswith("NVLink"):
        return None
    if speed.startswith("IB-"):
        return canonical.infiniband_rate(width.replace(" ", "") + speed.removeprefix("IB-"))
    return canonical.speed(speed)
