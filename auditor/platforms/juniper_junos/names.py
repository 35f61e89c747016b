"""How Junos writes ports, and how its JSON wraps values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_UNIT = re.compile(r"((?:et|xe|ge|fe|fte|mge)-\d+/\d+/\d+(?::\d+)?)\.0")
_PORT = re.compile(r"(?:et|xe|ge|fe|fte|mge)-\d+/\d+/\d+(?::\d+)?")


def port(name: str) -> str:
    """The physical port, without the unit 0 behind it; any other text as it is."""
    found = _UNIT.fullmatch(name.strip())
    return name if found is None else found.group(1)


def is_port(name: str) -> bool:
    """Whether this is a port that a cable goes into."""
    return _PORT.fullmatch(name) is not None


def value(item: Mapping[str, Any], key: str) -> str | None:
    """The text of an element; None where it is missing or empty."""
    wrapped = item.get(key)
    first = wrapped[0] if isinstance(wrapped, list) and wrapped else None
    text = first.get("data") if isinstance(first, dict) else None
    return text.strip() or None if isinstance(text, str) else None


def elements(item: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """The elements of a name; what is no object is left out. Raises ValueError where there is something else than a list."""
    wrapped = item.get(key, [])
    if not isinstance(wrapped, list):
        raise ValueError(f"{key} is no list")
    yield from (element for element in wrapped if isinstance(element, dict))


def root(document: Any, key: str) -> Mapping[str, Any]:
    """The one element at the top; raises ValueError for a document without it."""
    found = next(elements(document, key), None) if isinstance(document, dict) else None
    if found is None:
        raise ValueError(f"no {key} in it")
    return found
