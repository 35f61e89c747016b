"""Compares plain trees (documents, configuration files) and names every place that differs; the only importer of deepdiff.

Row sets do not come here: `drift` knows their shape and is a thousand times faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deepdiff import DeepDiff
from deepdiff.helper import NotPresent

from auditor.model.state import ABSENT

Path = tuple[str | int, ...]
Difference = tuple[Path, Any, Any]


def differences(before: Any, after: Any) -> list[Difference]:
    """Every (path, value before, value after) in which two trees of dicts, lists and scalars differ, sorted by path.

    A side that has nothing there is ABSENT, which is not the same as a None that stands there. Values of different types
    differ (`1`, `1.0` and `true` are three things). Lists of one length are compared place by place, others are aligned
    first, so that an element taken out is one difference; there alone a change of nothing but the type may go unnamed.
    """
    return sorted(_walk(before, after, ()), key=lambda item: [(isinstance(part, str), str(part).zfill(9)) for part in item[0]])


def _walk(before: Any, after: Any, path: Path) -> Iterator[Difference]:
    """Prune what is equal and descend by key, so that deepdiff (70 ms even for equal trees) sees little."""
    if _equal(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            yield from _walk(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _walk(one, other, (*path, at))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _aligned(before, after, path)
    else:
        yield path, before, after


def _equal(before: Any, after: Any) -> bool:
    # `==` alone takes 1 for True; the texts differ then, and also when only the order of keys does, which costs a walk.
    return type(before) is type(after) and bool(before == after) and repr(before) == repr(after)


def _aligned(before: list[Any], after: list[Any], path: Path) -> Iterator[Difference]:
    for levels in DeepDiff(before, after, view="tree", threshold_to_diff_deeper=0).values():
        for level in levels:
            inner = tuple(level.path(output_format="list"))
            yield (*path, *inner), _side(level.t1), _side(level.t2)


def _side(value: Any) -> Any:
    return ABSENT if isinstance(value, NotPresent) else value
