"""Pure rules, one module per concern; the function name is the rule name. Presence in this folder is registration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from auditor.loader import declared
from auditor.model import Rule


@cache
def rules() -> Mapping[str, Rule]:
    """Every function rule by id: those of this folder and those of the entry-point group `auditor.checks`."""
    found = declared("auditor.checks", Rule, "auditor.checks")
    return MappingProxyType({rule.id: rule for rule in sorted(found, key=lambda item: item.id)})
