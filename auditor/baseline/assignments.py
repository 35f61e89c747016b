"""`baselines/assignments.yaml`: which devices must satisfy which `profile@version`.

```yaml
assignments:
  - select: {role: leaf}
    use: [roce-leaf@1.0.0, site-leaf@1.3.0]
  - select: {name: [leaf-01, "leaf-1?"], pod: pod2}
    use: [roce-leaf@1.1.0]
```

A device matches when every key of `select` does; a value is a text, a glob, or a list of them. All assignments that match
count, in the order of the file, and the later one wins. Of one profile only the version assigned last counts, so an
exception moves its devices to another version instead of mixing two. What selects is the inventory, never what a device says.
The same file holds `rollouts`, which `rollout.py` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.baseline.document import Use, parse_use
from auditor.errors import BaselineError, ErrorList, SetupError
from auditor.model import Device
from auditor.settings import suggest
from auditor.yamldoc import YamlDocument

FILE = "assignments.yaml"
Select = Mapping[str, tuple[str, ...]]
SELECTORS = ("role", "platform", "hardware_model", "site", "pod", "rack", "name")


@dataclass(frozen=True, slots=True)
class Assignment:
    """The baselines of all devices that a selection matches. `select`: key -> globs, any of which matches."""

    select: Select
    use: tuple[Use, ...]
    file: str = ""
    line: int | None = None

    def matches(self, device: Device) -> bool:
        """Whether the inventory's description of a device is selected."""
        return selects(self.select, device)


def selects(select: Select, device: Device) -> bool:
    """Whether every key of a selection fits the inventory's description of a device."""
    for key, globs in select.items():
        values = device.platforms if key == "platform" else (str(getattr(device, key)),)
        if not any(fnmatchcase(value, glob) for value in values for glob in globs):
            return False
    return True


def read_assignments(file: Path) -> tuple[Assignment, ...]:
    """Read `assignments.yaml`; raises ErrorList with all of its errors."""
    try:
        document = yamldoc.read(file, BaselineError)
    except SetupError as problem:
        raise ErrorList([problem]) from problem
    errors: list[SetupError] = []
    data = document.data if isinstance(document.data, dict) else {}
    for key in data:
        if key not in ("assignments", "rollouts"):
            errors.append(document.error(BaselineError, f"unknown key {key!r}{suggest(key, ['assignments', 'rollouts'])}", key))
    items = data.get("assignments")
    if not isinstance(items, list):
        errors.append(document.error(BaselineError, "must have 'assignments', a list of {select, use}", "assignments"))
        items = []
    found = [_assignment(document, item, ("assignments", at), errors) for at, item in enumerate(items)]
    if errors:
        raise ErrorList(errors)
    return tuple(found)


def _assignment(document: YamlDocument, item: Any, path: yamldoc.Path_, errors: list[SetupError]) -> Assignment:
    def fail(message: str, *below: str | int) -> None:
        errors.append(document.error(BaselineError, message, *path, *below))

    line = document.line(*path)
    if not isinstance(item, dict):
        fail("an assignment must be a mapping with select and use")
        return Assignment({}, (), document.file, line)
    for key in item:
        if key not in ("select", "use"):
            fail(f"unknown key {key!r}{suggest(key, ['select', 'use'])}", key)
    globs = read_select(document, item.get("select"), (*path, "select"), errors)
    use = item.get("use")
    uses = []
    if not isinstance(use, list) or not use:
        fail("'use' must be a list like [roce-leaf@1.0.0]", "use")
        use = []
    for at, each in enumerate(use):
        try:
            uses.append(parse_use(each, document.file, document.line(*path, "use", at)))
        except BaselineError as problem:
            errors.append(problem)
    return Assignment(globs, tuple(uses), document.file, line)


def read_select(document: YamlDocument, select: Any, path: yamldoc.Path_, errors: list[SetupError]) -> Select:
    """Read a `select`; what is wrong with it is added to `errors`."""

    def fail(message: str, *below: str | int) -> None:
        errors.append(document.error(BaselineError, message, *path, *below))

    if not isinstance(select, dict) or not select:
        fail("'select' must name what devices have, like {role: leaf}; all of them are {name: \"*\"}")
        return {}
    globs: dict[str, tuple[str, ...]] = {}
    for key, value in select.items():
        values = value if isinstance(value, list) else [value]
        if key not in SELECTORS:
            fail(f"cannot select by {key!r}{suggest(key, list(SELECTORS))}; keys: {', '.join(SELECTORS)}", key)
        elif not values or not all(isinstance(each, str) or type(each) is int for each in values):
            fail(f"{key} must be a text, a glob or a list of them; put other things in quotes", key)
        else:
            globs[key] = tuple(str(each) for each in values)
    return globs


def uses_of(device: Device, assignments: Sequence[Assignment]) -> tuple[Use, ...]:
    """What is assigned to a device, in order, one version per profile."""
    last: dict[str, Use] = {}
    for assignment in assignments:
        if assignment.matches(device):
            for use in assignment.use:
                last.pop(use.profile, None)
                last[use.profile] = use
    return tuple(last.values())
