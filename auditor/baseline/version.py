"""Versions as vendors write them: one total order, and ranges such as `>=28.39,<28.43`.

Order: a version is its runs of digits and of letters; everything between them only separates. Compared run by run:
numbers by value, words without regard to case. Where one version ends and the other goes on, the longer one is later
(`28.39 < 28.39.1002`, `4.31.2 < 4.31.2F < 4.31.2.1`, `1.2.3 < 1.2.3+build5`), unless it goes on with a word for a
release that is not out yet (`alpha beta dev pre preview rc`): `28.43-rc1 < 28.43`. A letter right behind a number is
later than a word set apart from it (`10.3(4)M < 10.3(4a)M`). Zeros at the end and a `v` in front do not count (`v2.0` is `2`).

So `<28.43` leaves out 28.43.1000 and `<=28.43` does too: write `<28.44` to let all of 28.43 in.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache

VersionKey = tuple[tuple[int, int, str], ...]

_NOT_OUT_YET = frozenset({"alpha", "beta", "dev", "pre", "preview", "rc"})
_END = (1, 0, "")
_DIGITS = "0123456789"
_RUN = re.compile(r"((?:\d(?<![0-9])|[\W_])*)([0-9]+|[^\W\d_]+)")
_BOUND = re.compile(r"(>=|<=|==|!=|>|<)\s*([^\s,<>=!]+)")
_COMPARE: dict[str, Callable[[VersionKey, VersionKey], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
}  # fmt: skip

Bounds = tuple[tuple[str, VersionKey], ...]


def version_key(text: str) -> VersionKey:
    """What versions are ordered by: compare two keys with `<` and `==`."""
    key: list[tuple[int, int, str]] = []
    behind_number = False
    for found in _RUN.finditer(re.sub(r"^\s*[vV](?=[0-9])", "", text)):
        apart, run = found.groups()
        if run[0] in _DIGITS:
            digits = run.lstrip("0")
            key.append((4, len(digits), digits))
        else:
            word = run.casefold()
            key.append((0 if word in _NOT_OUT_YET else 3 if behind_number and not apart else 2, 0, word))
        behind_number = run[0] in _DIGITS
    while key and key[-1] == (4, 0, ""):
        key.pop()
    return (*key, _END)


@lru_cache(maxsize=256)
def parse_range(text: str) -> Bounds:
    """The bounds of `>=28.39,<28.43`; raises ValueError when it is no range, or one that no version can meet."""
    bounds: list[tuple[str, VersionKey]] = []
    for part in text.split(","):
        found = _BOUND.fullmatch(part.strip())
        if found is None or _RUN.search(found.group(2)) is None:
            raise ValueError(f'{text!r} is no version range; write it like ">=28.39,<28.43"')
        bounds.append((found.group(1), version_key(found.group(2))))
    low = max(((key, sign == ">") for sign, key in bounds if sign in (">", ">=", "==")), default=None)
    high = min(((key, sign != "<") for sign, key in bounds if sign in ("<", "<=", "==")), default=None)
    if low is not None and high is not None and (low[0] > high[0] or (low[0] == high[0] and (low[1] or not high[1]))):
        raise ValueError(f"no version lies in {text!r}")
    return tuple(bounds)


def satisfies(version: str, text: str) -> bool:
    """Whether a version lies in a range; raises ValueError when `text` is no range."""
    key = version_key(version)
    return all(_COMPARE[sign](key, bound) for sign, bound in parse_range(text))
