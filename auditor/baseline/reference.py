"""`$fabric.compute.roce.priority`: values of baselines that stand in `fabric.yaml`, so that intent lives in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from auditor.model import Fabric

_TRANSPARENT = ("planes", "classes")
"""Levels of `fabric.yaml` that a reference need not name."""

_MISSING = object()


def resolve_references(value: Any, fabric: Fabric) -> Any:
    """The value with every reference in it, at any depth, replaced.

    A reference names planes and classes by their names: `$fabric.compute.rdma_mtu`, `$fabric.compute.roce.priority`.
    Raises ValueError when a text starts with `$` and is no reference, or when `fabric.yaml` has nothing there.
    """
    if isinstance(value, list):
        return [resolve_references(item, fabric) for item in value]
    if isinstance(value, dict):
        return {key: resolve_references(item, fabric) for key, item in value.items()}
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if re.fullmatch(r"\$fabric(\.[A-Za-z0-9_-]+)+", value) is None:
        raise ValueError(f"{value!r} is no reference; write it like $fabric.compute.roce.priority")
    found: Any = fabric.document
    done = "$fabric"
    for part in value.split(".")[1:]:
        found = _step(found, part)
        done += f".{part}"
        if found is _MISSING:
            raise ValueError(f"{value}: {fabric.file or 'fabric.yaml'} has no {done}")
    if isinstance(found, dict) or (isinstance(found, list) and any(isinstance(item, dict) for item in found)):
        raise ValueError(f"{value} is a whole section of fabric.yaml, not a value")
    return found


def _step(inside: Any, part: str) -> Any:
    if isinstance(inside, Mapping):
        if part in inside:
            return inside[part]
        wrapped = (_step(inside[name], part) for name in _TRANSPARENT if name in inside)
        return next((found for found in wrapped if found is not _MISSING), _MISSING)
    if isinstance(inside, Sequence) and not isinstance(inside, str):
        named = (item for item in inside if isinstance(item, Mapping) and item.get("name") == part)
        return next(named, _MISSING)
    return _MISSING
