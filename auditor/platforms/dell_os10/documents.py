"""What `| display-xml` of OS10 prints: XML documents one after another, each with a declaration, and a prompt behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor import xmldoc
from auditor.xmldoc import CutOff, Element

_END = "</rpc-reply>"


def documents(body: str) -> Iterator[Element]:
    """The roots in order. Raises ValueError for text that is none, CutOff (a ValueError) where the last one breaks off."""
    parts = re.split(r"(?=<\?xml\b)", body)
    if len(parts) < 2:
        raise ValueError("no XML document in it")
    for number, part in enumerate(parts[1:], 1):
        text, end, behind = part.rpartition(_END)
        if not end:
            raise CutOff(f"document {number} of {len(parts) - 1} has no end")
        if len(behind.strip().splitlines()) > 1:
            raise ValueError(f"more text behind document {number}")
        yield xmldoc.parse(text + end, f"document {number}")


def only(body: str) -> Element:
    """The one document of an answer that has one; of several equal answers the first."""
    return next(documents(body))


def said(element: Element | None, path: str) -> str | None:
    """The text of an element below this one; None where there is none."""
    found = None if element is None else element.findtext(path)
    return found.strip() or None if found is not None else None
