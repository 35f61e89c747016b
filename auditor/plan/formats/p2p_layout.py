"""Which column of a sheet means what: told from where the columns stand, what is in them, and what their headers say.

A sheet of links has two sides, each a run of columns with at least a device and a port. Headers repeat the same words for
both sides and are misspelt, so a header is one vote and never enough: the content must fit, and the two sides are expected
to be alike. What is equally likely in two ways is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from auditor.plan.formats.sheet import Cell, Sheet, letter

SIDE = ("rack", "position", "device", "type", "port")
"""What a side may have, in the order in which such sheets write it."""

EXTRA = ("length", "label", "speed", "cable_type", "plane", "rail", "remarks")
"""What a link may have beside its two ends."""

_HEADERS = {
    "rack": ("rack", "cabinet", "rack name", "rack id", "rack no", "rack number"),
    "position": ("u", "ru", "unit", "position", "pos", "elevation", "rack unit", "rack position", "u position", "u no"),
    "device": (
        "name", "node", "node name", "device", "device name", "host", "hostname", "host name", "switch", "switch name", "server",
        "server name", "system", "system name", "equipment",
    ),
    "type": ("type", "node type", "device type", "role", "device role"),
    "port": (
        "port", "port name", "port number", "port no", "port id", "hca", "hca port", "hca/port", "interface",
        "interface name", "nic", "nic port",
    ),
    "length": ("length", "cable length", "len"),
    "label": ("label", "cable label", "cable id", "cable no", "cable number", "cable name"),
    "speed": ("speed", "rate", "bandwidth", "link speed"),
    "cable_type": ("cable type", "cable", "media", "part number", "cable part number", "p/n", "cable pn"),
    "plane": ("plane",),
    "rail": ("rail",),
    "remarks": ("notes", "note", "comment", "comments", "remark", "remarks", "status"),
}  # fmt: skip
_WORDS = {word: kind for kind, words in _HEADERS.items() for word in words}
_LONG = [word for word in _WORDS if len(word) >= 4]
_SIDES = re.compile(
    r"^(?:[az]|[ab] (?:side|end)|side [abz12]|end [abz12]|source|src|destination|dest|dst|from|to|local|remote|near|far)"
    r"(?: end| side)?[ _:.-]+"
)

BARE = re.compile(r"\d{1,3}")
_PORT = re.compile(
    r"\d{1,3}(?:[/:]\d{1,3}){0,3}|(?i:swp\d+(?:s\d+)?|sw\d+p\d+(?:s\d+)?|p\d{1,3}|mlx5_\d+(?:[/ ]?p?\d)?"
    r"|ibp?\d\w*|en[psxo]\d\w*|eth\d+"
    r"|(?:ethernet|eth|et|e|gi|te|hu|xe|ge|twe|fo|fh|hundredgige|fourhundredgige|nic|hca|port)[ -]?\d+(?:[/:.-]\d+)*)"
)
_LOOSE_PORT = re.compile(r"(?=.{1,40}$)[A-Za-z][\w./: -]*\d[\w./: -]*")
_U = re.compile(r"(?i)(?:r?u)?\s?(\d{1,2}(?:\.5)?)(?:u|ru)?")
_KINDS = {"host": "host", "hosts": "host", "server": "host", "node": "host", "switch": "switch", "switches": "switch"}

NOTHING = frozenset(
    {
        "tbd",
        "tba",
        "tbc",
        "spare",
        "n/a",
        "na",
        "none",
        "-",
        "--",
        "---",
        "?",
        "??",
        "unused",
        "reserved",
        "empty",
        "free",
        "future",
        "x",
    }
)
"""What people write where nothing is decided yet; lower case."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of one sheet by what they mean (`a_rack` … `b_port`, `length` …), and where its rows begin."""

    columns: Mapping[str, int]
    header: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def side(self, side: str) -> dict[str, int]:
        """The columns of one side, by what they mean without the side's letter."""
        return {name[2:]: at for name, at in self.columns.items() if name.startswith(f"{side}_")}


class Unclear(Exception):
    """Two readings of a sheet are equally likely; the text says which."""


def node_kind(text: str) -> str:
    """`host` or `switch` from a cell of a type column, else an empty text."""
    return _KINDS.get(text.lower(), "")


def position(text: str) -> str:
    """The rack unit as a number from `22`, `U22`, `22U`, `RU 22`; an empty text for what is none."""
    found = _U.fullmatch(text)
    return f"{float(found.group(1)):g}" if found else ""


def heading(text: str) -> str:
    """What a header cell means, or an empty text: sides, units in brackets and small misspellings aside."""
    word = re.sub(r"\(.*?\)|\[.*?\]|#| in \w+$", " ", text.lower())
    word = " ".join(_SIDES.sub("", " ".join(word.replace("_", " ").split())).split()).strip(" .:-")
    word = re.sub(r"^[az]-", "", word)
    if word in _WORDS:
        return _WORDS[word]
    close = get_close_matches(word, _LONG, n=1, cutoff=0.8) if len(word) >= 4 else []
    return _WORDS[close[0]] if close else ""


def header_row(sheet: Sheet, ahead: int = 30) -> int | None:
    """The number of the row that holds the headers: the first one with at least two devices or ports among its words."""
    for number, cells in sheet.rows[:ahead]:
        kinds = [heading(cell.text) for cell in cells if cell.text]
        if sum(kind in ("device", "port") for kind in kinds) >= 2 and sum(map(bool, kinds)) >= 3:
            return number
    return None


def understand(sheet: Sheet) -> Layout | None:
    """The layout of a sheet of links; None where it holds none. Raises Unclear."""
    header = header_row(sheet)
    words = next((cells for number, cells in sheet.rows if number == header), ())
    rows = [(number, cells) for number, cells in sheet.rows if (header is None or number > header) and cells != words]
    width = max((len(cells) for _, cells in rows), default=0)
    samples = [_sample(rows, at) for at in range(width)]
    said = [heading(words[at].text) if at < len(words) else "" for at in range(width)]
    sides = _sides(samples, said, headed=header is not None)
    if sides is None:
        return None
    columns = {f"{side}_{role}": at for side, roles in zip("ab", sides, strict=True) for at, role in roles if role}
    for at in range(width):
        if said[at] in EXTRA and at not in columns.values() and said[at] not in columns and samples[at]:
            columns[said[at]] = at
    shown = {name: words[at].text for name, at in columns.items() if at < len(words)}
    return Layout(columns, header, shown)


def _sample(rows: Sequence[tuple[int, tuple[Cell, ...]]], at: int) -> list[str]:
    """The texts of a column. A date counts as the port that it probably was; what cannot be relied on does not count."""
    cells = [cells[at] for _, cells in rows[:5000] if at < len(cells) and cells[at].text]
    texts = ["1/1" if "date" in cell.trouble else cell.text for cell in cells if not cell.trouble or "date" in cell.trouble]
    return [text for text in texts if text.lower() not in NOTHING]


_Roles = tuple[tuple[int, str], ...]


def _sides(samples: Sequence[list[str]], said: Sequence[str], headed: bool) -> tuple[_Roles, _Roles] | None:
    """The best pair of column runs, A before B; None where there is no run of a device and a port, or only one."""
    used = [at for at, sample in enumerate(samples) if sample or said[at]][:24]
    votes = {at: _votes(samples[at], said[at], headed) for at in used}
    runs = [run for first in range(len(used)) for run in _runs(used, first, votes, headed)]
    best: list[tuple[float, _Roles, _Roles]] = []
    for score_a, a in runs:
        for score_b, b in runs:
            if b[0][0] > a[-1][0]:
                same = len({role for _, role in a} & {role for _, role in b})
                best.append((score_a + score_b + same, a, b))
    if not best:
        return None
    best.sort(key=lambda item: (-item[0], item[1], item[2]))
    top = best[0]
    rival = next((item for item in best[1:] if item[0] == top[0]), None)
    if rival is not None:
        raise Unclear(f"{_told(top)} or {_told(rival)}")
    return top[1], top[2]


def _told(pair: tuple[float, _Roles, _Roles]) -> str:
    return ", ".join(
        f"{side}_{role}={letter(at)}" for side, roles in zip("ab", pair[1:], strict=True) for at, role in roles if role
    )


def _votes(sample: list[str], said: str, headed: bool) -> dict[str, float]:
    """How well a column is each role of a side; a role that its content does not fit is left out. `` stands for none."""
    out: dict[str, float] = {"": 0}
    fitting = [role for role in SIDE if _fits(role, sample, said)]
    contradicted = said in SIDE and said not in fitting
    for role in fitting:
        score = 1.0
        if said == role:
            score += 3
        elif said and not contradicted:
            score -= 4
        elif headed and role in ("rack", "position"):  # a title that says nothing of it: only where the other side has one
            score -= 1.5
        if role == "type" or (
            role == "port" and _share(sample, lambda text: bool(_PORT.fullmatch(text)) and not text.isdigit()) > 0.5
        ):
            score += 2
        out[role] = score
    return out


def _share(sample: list[str], test: object) -> float:
    assert callable(test)
    return sum(bool(test(text)) for text in sample) / len(sample) if sample else 0.0


def _fits(role: str, sample: list[str], said: str) -> bool:
    if not sample:
        return said == role
    if role == "type":
        return all(node_kind(text) for text in sample)
    if all(node_kind(text) for text in sample):
        return False
    if role == "position":
        return _share(sample, position) >= 0.95
    ports = _share(sample, _PORT.fullmatch)
    if role == "device":
        return _share(sample, lambda text: re.search("[A-Za-z]", text)) >= 0.95 and (
            ports < 0.5 or (said == "device" and ports < 1)
        )
    if role == "port":
        return ports >= 0.9 or (
            said == "port" and _share(sample, lambda text: _PORT.fullmatch(text) or _LOOSE_PORT.fullmatch(text)) >= 0.9
        )
    return _share(sample, lambda text: len(text) <= 40) >= 0.95 and (
        ports < 0.5 or _share(sample, str.isdigit) > 0.5 or said == "rack"
    )


def _runs(used: Sequence[int], first: int, votes: Mapping[int, dict[str, float]], headed: bool) -> Iterator[tuple[float, _Roles]]:
    """Every way to read the columns from the `first` one on as a side, six at most; without headers in `SIDE`'s order."""

    def grow(at: int, score: float, roles: _Roles) -> Iterator[tuple[float, _Roles]]:
        named = [role for _, role in roles if role]
        if roles and roles[-1][1] and {"device", "port"} <= set(named):
            yield score, roles
        if at >= len(used) or at - first >= 6:
            return
        for role, vote in votes[used[at]].items():
            if role in named or (not role and not roles):
                continue
            if not headed and role and named and SIDE.index(role) < SIDE.index(named[-1]):
                continue
            yield from grow(at + 1, score + vote, (*roles, (used[at], role)))

    yield from grow(first, 0.0, ())
