"""Hardened XML: no entities, nothing fetched, bounded size, depth and attributes; the only importer of defusedxml.

An internal subset is refused. A document type that merely names an external file passes and is never read: `nvidia-smi -q -x`
and `lstopo` print one.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DTDForbidden
from defusedxml.ElementTree import DefusedXMLParser

MAX_CHARACTERS = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_ELEMENTS = 200_000
MAX_ATTRIBUTES = 64
MAX_ATTRIBUTE_CHARACTERS = 64 * 1024

__all__ = ["CutOff", "Element", "parse"]


class CutOff(ValueError):
    """The document stops before its root element ends."""


class _Builder(TreeBuilder):
    """Builds the tree and stops at the first element that is out of bounds."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = self.elements = 0

    def start(self, tag: str, attrs: dict[Any, Any], /) -> Element:
        self.depth += 1
        self.elements += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"is nested deeper than {MAX_DEPTH} elements")
        if self.elements > MAX_ELEMENTS:
            raise ValueError(f"has more than {MAX_ELEMENTS} elements")
        if len(attrs) > MAX_ATTRIBUTES:
            raise ValueError(f"has an element with more than {MAX_ATTRIBUTES} attributes")
        if any(len(value) > MAX_ATTRIBUTE_CHARACTERS for value in attrs.values()):
            raise ValueError(f"has an attribute longer than {MAX_ATTRIBUTE_CHARACTERS} characters")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)


class _Parser(DefusedXMLParser):
    """Forbids entities and internal subsets; a bare reference to an external document type passes unread."""

    def defused_start_doctype_decl(self, name: str, sysid: str | None, pubid: str | None, has_internal_subset: int) -> None:
        if has_internal_subset:
            raise DTDForbidden(name, sysid, pubid)


def parse(text: str, name: str = "") -> Element:
    """The root element of one XML document; `name` stands in front of the error's text.

    Raises ValueError that says what is wrong and on which line (from 1): not XML, forbidden or too large; CutOff where the rest
    is missing.
    """
    where = f"{name}: " if name else ""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"{where}is longer than {MAX_CHARACTERS} characters")
    body = text.lstrip("\ufeff \t\r\n")
    skipped = text[: len(text) - len(body)].count("\n")
    if not body:
        raise ValueError(f"{where}line 1: is empty")
    parser = _Parser(target=_Builder(), forbid_dtd=True, forbid_entities=True, forbid_external=True)
    try:
        parser.feed(body)
        root: Element = parser.close()
    except ParseError as problem:
        line, words = problem.position[0] + skipped, str(problem).partition(":")[0]
        if words in ("no element found", "unclosed token", "unclosed CDATA section"):
            raise CutOff(f"{where}line {line}: the document is cut off") from None
        raise ValueError(f"{where}line {line}: not XML: {words}") from None
    except UnicodeEncodeError:
        raise ValueError(f"{where}holds characters that are no text") from None
    except ValueError as problem:
        forbidden = type(problem) is not ValueError
        reason = "declares entities or a document type of its own, which is not read" if forbidden else str(problem)
        raise ValueError(f"{where}line {parser.parser.CurrentLineNumber + skipped}: {reason}") from None
    return root
