"""Grammar of `lscpu`: labels with values, as text or as JSON, flat or nested by version.

A machine with several kinds of cores repeats the labels of a kind; so a label has a list of values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

DEPTH = 16


def text(body: str) -> dict[str, list[str]]:
    """Values by label, without the colon, in the order in which they stand."""
    out: dict[str, list[str]] = defaultdict(list)
    for line in body.splitlines():
        label, colon, value = line.partition(":")
        if colon and label.strip():
            out[label.strip()].append(value.strip())
    return dict(out)


def json(document: Any) -> dict[str, list[str]]:
    """The same from `lscpu -J`. Raises ValueError for another document."""
    if not isinstance(document, dict) or not isinstance(document.get("lscpu"), list):
        raise ValueError("no list `lscpu` in the document")
    out: dict[str, list[str]] = defaultdict(list)
    for label, value in _fields(document["lscpu"], DEPTH):
        out[label].append(value)
    return dict(out)


def _fields(items: Any, depth: int) -> Iterator[tuple[str, str]]:
    if depth == 0:
        raise ValueError("is nested too deeply")
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get("field"), str):
            if isinstance(item.get("data"), str):
                yield item["field"].strip().removesuffix(":"), item["data"].strip()
            yield from _fields(item.get("children"), depth - 1)
