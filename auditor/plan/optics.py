"""What the `type` of a cable says about its speed, its reach and whether a patch panel can stand in its way.

Only limits that a document states are here, each the longest that it allows. What is not told by the type (the fibre, active
copper, modules beyond a standard) is not judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from auditor import canonical

G = 10**9


@dataclass(frozen=True, slots=True)
class Reach:
    """The longest cable of a kind in metres, and the document that says so."""

    metres: float
    source: str


_COPPER_25 = Reach(5, "IEEE 802.3bj: 100GBASE-CR4 and its 25G lanes, at least 5 m")
_COPPER_50 = Reach(3, "IEEE 802.3cd: copper with 50G lanes, at least 3 m")
_COPPER_100 = Reach(3, "NVIDIA LinkX 100G-PAM4 product line: direct attached copper up to 3 m")
_FIXED_OPTICAL = Reach(100, "NVIDIA cable management guidelines: active optical cables up to about 100 m")
_OPTICS: tuple[tuple[re.Pattern[str], int, Reach], ...] = (
    (re.compile(r"SR4\.2"), 400 * G, Reach(150, "IEEE 802.3cm: 400GBASE-SR4.2 on OM5")),
    (re.compile(r"SR\d+"), 200 * G, Reach(100, "IEEE 802.3cd, 802.3cm and 802.3db: SR on OM4")),
    (re.compile(r"DR\d*"), 100 * G, Reach(500, "IEEE 802.3bs, 802.3cd and 802.3df: DR")),
    (re.compile(r"LR4-6"), 400 * G, Reach(6_000, "IEEE 802.3cu: 400GBASE-LR4-6")),
    (re.compile(r"FR\d*"), 50 * G, Reach(2_000, "IEEE 802.3bs, 802.3cd and 802.3cu: FR")),
    (re.compile(r"LR\d*"), 50 * G, Reach(10_000, "IEEE 802.3bs, 802.3cd and 802.3cu: LR")),
)
"""Name of the medium part, the least speed at which the document speaks of it, and its reach."""

_BASE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?[GT])BASE-([A-Z]+\d*(?:\.\d+|-\d+)?)(?![\w+.-])")
_WORD = re.compile(r"(?<![\w.-])(DAC|PASSIVE COPPER|CR\d*|AOC|(?:S|D|F|L)R\d+(?:\.\d+|-\d+)?)(?![\w+.-])")
_ACTIVE = re.compile(r"(?<![A-Z])(L?ACC|AEC|ACTIVE COPPER|ACTIVE ELECTRICAL)(?![A-Z])")


@dataclass(frozen=True, slots=True)
class Medium:
    """A type as far as it is understood: `kind` is copper, aoc, or the medium part of a module (`DR4`); empty: not at all.

    Not `certain`: people call cables so that reach further too (an active one is a "DAC" as well), or the limit is a custom.
    """

    kind: str = ""
    lanes: int | None = None
    speed: int | None = None
    certain: bool = True

    @property
    def fixed(self) -> bool:
        """Whether both plugs belong to the cable, so that it cannot pass a patch panel."""
        return self.kind in ("copper", "aoc")


def medium(text: str) -> Medium:
    """What a type says: `400GBASE-DR4`, `DR4`, `dac`, `AOC`, `400GBASE-CR4`."""
    words = text.upper()
    if _ACTIVE.search(words):
        return Medium()
    base = _BASE.search(words)
    found = base.group(2) if base is not None else next(iter(_WORD.findall(words)), "")
    speed = None if base is None else canonical.speed(base.group(1))
    lanes = re.fullmatch(r"[A-Z]+(\d+)(?:[.-]\d+)?", found)
    copper = found in ("DAC", "PASSIVE COPPER") or re.fullmatch(r"CR\d*", found)
    kind = "copper" if copper else "aoc" if found == "AOC" else found
    return Medium(kind, int(lanes.group(1)) if lanes else None, speed, found not in ("DAC", "AOC"))


def reach(what: Medium, speed: int | None) -> Reach | None:
    """How long such a cable may be at this speed in bit/s; None where nothing here tells."""
    speed = what.speed or speed
    if what.kind == "aoc":
        return _FIXED_OPTICAL
    if speed is None:
        return None
    if what.kind == "copper":
        return _copper(speed, what.lanes)
    for name, least, found in _OPTICS:
        if name.fullmatch(what.kind):
            return found if speed >= least else None
    return None


def _copper(speed: int, lanes: int | None) -> Reach | None:
    """Passive copper. Without a number of lanes the slowest ones that the speed is built from, which reach furthest."""
    if speed < 25 * G:
        return None
    lane = speed // lanes if lanes else 25 * G if speed <= 100 * G else 50 * G
    return _COPPER_100 if lane > 50 * G else _COPPER_50 if lane > 25 * G else _COPPER_25
