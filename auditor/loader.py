"""Finds declared objects (platforms, rules, report formats) in the modules of a package and in entry points."""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

from auditor.errors import PlatformError

T = TypeVar("T")


def modules(package: str) -> list[ModuleType]:
    """Every module and sub-package directly below `package`, imported, in the order of their names."""
    parent = importlib.import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(parent.__path__) if not info.name.startswith("_"))
    return [importlib.import_module(f"{package}.{name}") for name in names]


def declared(package: str, kind: type[T], group: str = "") -> list[T]:
    """All objects of type `kind` that the modules of `package` hold at top level, without repeats.

    `group` names an entry-point group by which other distributions add their own. Raises PlatformError when one of
    those cannot be imported or is something else.
    """
    found: dict[int, T] = {}
    for module in modules(package):
        for value in vars(module).values():
            if isinstance(value, kind):
                found.setdefault(id(value), value)
    for entry in entry_points(group=group) if group else ():
        try:
            value = entry.load()
        except Exception as error:
            raise PlatformError(f"entry point {entry.name!r} in group {group!r} cannot be imported: {error}") from error
        if not isinstance(value, kind):
            raise PlatformError(f"entry point {entry.name!r} in group {group!r} is no {kind.__name__}")
        found.setdefault(id(value), value)
    return list(found.values())
