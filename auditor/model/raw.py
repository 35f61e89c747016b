"""What a device answered, before anybody reads it, and the reasons why something could not be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from auditor.address import Layer


class GapReason(StrEnum):
    """Why a fact is unknown. Each is a different thing to do about it."""

    NOT_COLLECTED = "not_collected"
    UNSUPPORTED = "unsupported"
    REJECTED = "rejected"
    PERMISSION = "permission"
    TIMEOUT = "timeout"
    AUTH = "auth"
    UNREACHABLE = "unreachable"
    TRUNCATED = "truncated"
    UNPARSED = "unparsed"
    CONFLICT = "conflict"
    STALE = "stale"


REDACTED = "<redacted>"
"""What stands in a body where a secret was."""


def digest(body: str) -> str:
    """SHA-256 of a text, hexadecimal; how raw outputs and documents are named everywhere."""
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class RawOutput:
    """One answer of one device. `body` is redacted; `failure` says why it is not an answer, `detail` in which words.

    `excerpt` names tables of which the body holds only a part: their missing rows and cells are a gap, never absent;
    `("*",)` means every table.
    """

    device: str
    platform: str
    source: str
    command: str
    body: str
    digest: str
    collected_at: datetime
    parameters: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    exit_status: int | None = None
    failure: GapReason | None = None
    detail: str = ""
    excerpt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be seen. Without `key` or `columns` it covers the whole table (at `layer`, else all layers).

    `table` is "*" for a device that gave nothing at all.
    """

    device: str
    table: str
    source: str
    reason: GapReason
    detail: str = ""
    layer: Layer | None = None
    key: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def covers(self, table: str, layer: Layer | None, key: tuple[str, ...], column: str | None) -> bool:
        """Whether this gap makes the named cell unknown when no source gave a value for it."""
        return (
            self.table in ("*", table)
            and (self.layer is None or layer is None or self.layer == layer)
            and (not self.key or self.key == key[: len(self.key)])
            and (not self.columns or column is None or column in self.columns)
        )
