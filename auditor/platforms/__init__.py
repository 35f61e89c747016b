"""One file or package per network or host operating system. Presence in this folder is registration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from auditor.loader import declared
from auditor.model import Platform


@cache
def platforms() -> Mapping[str, Platform]:
    """Every platform by name: those of this folder and those of the entry-point group `auditor.platforms`."""
    found = declared("auditor.platforms", Platform, "auditor.platforms")
    return MappingProxyType({platform.name: platform for platform in sorted(found, key=lambda item: item.name)})
