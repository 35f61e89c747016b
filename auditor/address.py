"""Addresses of facts: `table[key,...].column@layer`, their patterns, and the quoting of keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from auditor.errors import AddressError


class Layer(StrEnum):
    """Where a setting lives. The layer of a source follows the database or register its command reads."""

    APPLIED = "applied"
    CONFIGURED = "configured"
    SAVED = "saved"
    NEXT_BOOT = "next_boot"


READ_ORDER = (Layer.APPLIED, Layer.CONFIGURED)
"""Layers a plain address looks at, best first; the others answer only when they are named."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_BARE = re.compile(r'[^\s,\[\]"*?@][^,\[\]"*?\x00-\x1f\x7f-\x9f]*(?<!\s)|[^\s,\[\]"*?@]')
_WILD = re.compile(r'[^\s,\[\]"][^,\[\]"\x00-\x1f\x7f-\x9f]*')


def quote_key(part: str) -> str:
    """A key part as it stands inside the brackets: bare where that is unambiguous, else quoted."""
    if _BARE.fullmatch(part):
        return part
    return '"' + part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """One table, row or cell of a device's facts. `key` is empty for a table with a single row."""

    table: str
    key: tuple[str, ...] = ()
    column: str | None = None
    layer: Layer | None = None

    def __str__(self) -> str:
        text = self.table
        if self.key:
            text += "[" + ",".join(quote_key(part) for part in self.key) + "]"
        if self.column is not None:
            text += "." + self.column
        if self.layer is not None:
            text += "@" + self.layer
        return text

    @property
    def row(self) -> Address:
        """The address of the row this cell stands in."""
        return Address(self.table, self.key)

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read one address; raises AddressError when it is malformed or holds a wildcard or a group."""
        pattern = Pattern.parse(text)
        parts = []
        for part in pattern.key:
            if part.kind is not PartKind.LITERAL:
                raise AddressError(f"{text!r} is a pattern, not the address of one fact")
            parts.append(part.text)
        return cls(pattern.table, tuple(parts), pattern.column, pattern.layer)


class PartKind(StrEnum):
    """How one key part of a pattern selects."""

    LITERAL = "literal"
    GLOB = "glob"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Part:
    """One key part of a pattern: an exact text, a glob, or the name of a port group (without `@`)."""

    kind: PartKind
    text: str

    def __str__(self) -> str:
        if self.kind is PartKind.LITERAL:
            return quote_key(self.text)
        return ("@" if self.kind is PartKind.GROUP else "") + self.text

    def matches(self, value: str, groups: Callable[[str], frozenset[str]] | Mapping[str, frozenset[str]]) -> bool:
        """Whether `value` is selected; `groups` gives the members of a port group."""
        if self.kind is PartKind.LITERAL:
            return value == self.text
        if self.kind is PartKind.GLOB:
            return fnmatchcase(value, self.text)
        members = groups(self.text) if callable(groups) else groups.get(self.text, frozenset())
        return value in members


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern over addresses, as baselines write them: key parts may be globs or `@group`."""

    table: str
    key: tuple[Part, ...] = ()
    column: str | None = None
    layer: Layer | None = None

    def __str__(self) -> str:
        text = self.table
        if self.key:
            text += "[" + ",".join(str(part) for part in self.key) + "]"
        if self.column is not None:
            text += "." + self.column
        return text + ("" if self.layer is None else "@" + self.layer)

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read a pattern; raises AddressError with what was expected and where."""
        return _Reader(text).pattern()


class _Reader:
    """A cursor over the text of one pattern."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def fail(self, wanted: str) -> AddressError:
        return AddressError(f"address {self.text!r}: {wanted} expected at position {self.at + 1}")

    def name(self, what: str) -> str:
        found = _NAME.match(self.text, self.at)
        if found is None:
            raise self.fail(what)
        self.at = found.end()
        return found.group()

    def take(self, mark: str) -> bool:
        if self.text.startswith(mark, self.at):
            self.at += len(mark)
            return True
        return False

    def pattern(self) -> Pattern:
        table = self.name("a table name")
        key: list[Part] = []
        if self.take("["):
            key.append(self.part())
            while self.take(","):
                key.append(self.part())
            if not self.take("]"):
                raise self.fail("']'")
        column = self.name("a column name") if self.take(".") else None
        layer = None
        if self.take("@"):
            word = self.name("a layer")
            if word not in set(Layer):
                raise AddressError(f"address {self.text!r}: no layer {word!r}; layers are {', '.join(Layer)}")
            layer = Layer(word)
        if self.at != len(self.text):
            raise self.fail("the end")
        return Pattern(table, tuple(key), column, layer)

    def part(self) -> Part:
        if self.take('"'):
            return Part(PartKind.LITERAL, self.quoted())
        while self.take(" "):
            pass
        found = _WILD.match(self.text, self.at)
        if found is None:
            raise self.fail("a key")
        self.at = found.end()
        word = found.group().rstrip()
        if word.startswith("@"):
            if not re.fullmatch(r"@[A-Za-z0-9][A-Za-z0-9_.-]*", word):
                raise AddressError(f"address {self.text!r}: {word!r} is no port group name")
            return Part(PartKind.GROUP, word[1:])
        return Part(PartKind.GLOB if re.search(r"[*?]", word) else PartKind.LITERAL, word)

    def quoted(self) -> str:
        out: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return "".join(out)
            if char == "\\" and self.at < len(self.text):
                char = self.text[self.at]
                self.at += 1
                char = {"n": "\n", "r": "\r"}.get(char, char)
            out.append(char)
        raise self.fail("a closing quote")
