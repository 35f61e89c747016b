"""Baselines after reading: typed expectations with the file and line they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from auditor.address import Pattern
from auditor.model.verdict import DocumentOrigin, Severity


@dataclass(frozen=True, slots=True)
class Expectation:
    """One baseline line: at an address pattern, an operator and a value. `id` is its rule id."""

    id: str
    at: Pattern
    operator: str
    value: Any
    severity: Severity
    why: str
    origin: DocumentOrigin

    @property
    def family(self) -> str:
        """The concern: the part of the id before the dot."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Document:
    """One input document of a run, kept by digest with its text."""

    kind: str
    name: str
    digest: str
    file: str
    text: str
    profile: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Waiver:
    """An accepted deviation: by fingerprint or by pattern over rule and object, or a gap; with owner, reason, expiry."""

    owner: str
    reason: str
    expires: date
    fingerprint: str = ""
    rule: str = "*"
    object: str = "*"
    gap: str = ""
    origin: DocumentOrigin = DocumentOrigin()


@dataclass(frozen=True, slots=True)
class Baseline:
    """What one device must be: the expectations and rule params of its resolved profile.

    `params` are typed by their rules; `params_origin` says where each one stands.
    """

    profile: str
    version: str
    digest: str
    expectations: tuple[Expectation, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    params_origin: Mapping[str, DocumentOrigin] = field(default_factory=dict)
