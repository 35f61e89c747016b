"""`baselines/waivers.yaml`: deviations and gaps that somebody has accepted, with a name, a reason and an end.

```yaml
waivers:
  - {owner: netops, reason: waits for the window of CHG-7, expires: 2030-01-31, rule: mtu.*, object: "leaf-01:interface[*]"}
  - {owner: netops, reason: vendor case 4711, expires: 2030-01-31, fingerprint: 0123456789abcdef}
  - {owner: netops, reason: no sudo on these hosts, expires: 2030-01-31, gap: "gpu-0*:firmware"}
```

One of three says what is waived: `rule` and `object` (globs), a `fingerprint`, or a `gap` as `device:table` or
`device:table:reason` (globs). The last day that a waiver holds is `expires`.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.errors import BaselineError, ErrorList, SetupError
from auditor.model import DocumentOrigin, Waiver
from auditor.settings import suggest
from auditor.yamldoc import YamlDocument

FILE = "waivers.yaml"
_KEYS = ("owner", "reason", "expires", "rule", "object", "fingerprint", "gap")


def read_waivers(file: Path) -> tuple[Waiver, ...]:
    """Read `waivers.yaml`; raises ErrorList with all of its errors. An expired waiver is no error here but a finding."""
    try:
        document = yamldoc.read(file, BaselineError)
    except SetupError as problem:
        raise ErrorList([problem]) from problem
    errors: list[SetupError] = []
    data = document.data if isinstance(document.data, dict) else {}
    for key in data:
        if key != "waivers":
            errors.append(document.error(BaselineError, f"unknown key {key!r}{suggest(key, ['waivers'])}", key))
    items = data.get("waivers")
    if not isinstance(items, list):
        errors.append(document.error(BaselineError, "must have 'waivers', a list", "waivers"))
        items = []
    found = [_waiver(document, item, ("waivers", at), errors) for at, item in enumerate(items)]
    if errors:
        raise ErrorList(errors)
    return tuple(waiver for waiver in found if waiver is not None)


def _waiver(document: YamlDocument, item: Any, path: yamldoc.Path_, errors: list[SetupError]) -> Waiver | None:
    before = len(errors)

    def fail(message: str, *below: str | int) -> None:
        errors.append(document.error(BaselineError, message, *path, *below))

    if not isinstance(item, dict):
        fail("a waiver must be a mapping with owner, reason, expires and what it waives")
        return None
    for key, value in item.items():
        if key not in _KEYS:
            fail(f"unknown key {key!r}{suggest(key, list(_KEYS))}", key)
        elif key != "expires" and not (isinstance(value, str) and value.strip()):
            fail(f"{key!r} must be a text; put it in quotes", key)
    for key in ("owner", "reason", "expires"):
        if key not in item:
            fail(f"{key!r} is missing")
    kinds = [kind for kind in ("fingerprint", "gap") if kind in item] + (["rule"] if {"rule", "object"} & set(item) else [])
    if len(kinds) != 1:
        fail("a waiver has exactly one of: rule and object, fingerprint, gap")
    elif kinds == ["rule"] and not {"rule", "object"} <= set(item):
        fail("'rule' and 'object' go together; write \"*\" for any")
    expires = _day(item.get("expires"))
    if "expires" in item and expires is None:
        fail("'expires' must be a day like 2030-01-31", "expires")
    fingerprint, gap = item.get("fingerprint", ""), item.get("gap", "")
    if isinstance(fingerprint, str) and fingerprint and re.fullmatch(r"[0-9a-f]{8,64}", fingerprint) is None:
        fail(f"{fingerprint!r} is no fingerprint of a finding", "fingerprint")
    if isinstance(gap, str) and gap and re.fullmatch(r"[^:\s]+:[^:\s]+(:[a-z_*?]+)?", gap) is None:
        fail(f"{gap!r} is no gap; write device:table or device:table:reason", "gap")
    if len(errors) > before or expires is None:
        return None
    origin = DocumentOrigin(file=document.file, line=document.line(*path))
    rule, object_ = item.get("rule", "*"), item.get("object", "*")
    return Waiver(item["owner"].strip(), item["reason"].strip(), expires, fingerprint, rule, object_, gap, origin)


def _day(value: Any) -> date | None:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return None
    return value if isinstance(value, date) and not isinstance(value, datetime) else None
