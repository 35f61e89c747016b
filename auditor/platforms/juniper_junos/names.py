"""How Junos writes ports, how its JSON wraps values, and the same from its XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from auditor import xmldoc
from auditor.xmldoc import Element

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


def from_xml(body: str) -> dict[str, Any]:
    """The document of `| display xml`, wrapped as `| display json` has it: what reads the one reads the other.

    What a login prints before it and `{master:0}` behind it are left out, and so is the `rpc-reply` around it.

    Raises CutOff where its end is missing, and ValueError for what is no XML.
    """
    start, end = body.find("<"), body.rfind(">")
    if start < 0:
        raise ValueError("no XML in it")
    top = xmldoc.parse(body[start : end + 1])
    if _tag(top) == "rpc-reply":
        answers = [child for child in top if _tag(child) != "cli"]
        if len(answers) != 1:
            raise ValueError(f"a reply with {len(answers)} answers in it")
        top = answers[0]
    return {_tag(top): [_wrapped(top)]}


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _wrapped(element: Element) -> dict[str, Any]:
    if len(element) == 0:
        return {"data": element.text or ""}
    out: dict[str, Any] = {}
    for child in element:
        out.setdefault(_tag(child), []).append(_wrapped(child))
    return out
