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

import json
import re
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.canonical import printable
from auditor.errors import BaselineError, ErrorList, SetupError
from auditor.model import DocumentOrigin, Waiver
from auditor.settings import suggest
from auditor.yamldoc import YamlDocument

FILE = "waivers.yaml"
GAP = re.compile(r"[^:\s]+:[^:\s]+(:[a-z_*?]+)?")
"""How a gap is named: `device:table` or `device:table:reason`, each a glob."""

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


def known_waivers(file: Path) -> tuple[Waiver, ...]:
    """The waivers of a file that may be missing, or have an empty list as yet. Raises ErrorList."""
    if not file.exists():
        return ()
    data = yamldoc.read(file, BaselineError).data
    empty = data is None or (isinstance(data, dict) and set(data) == {"waivers"} and not data["waivers"])
    return () if empty else read_waivers(file)


def with_waiver(text: str, waiver: Waiver, remark: str = "") -> str:
    """The text of `waivers.yaml` with one waiver more; every line that stood there stays as it is.

    `remark` becomes a comment above it. Raises BaselineError when the list is written in a form that nothing can be added to.
    """
    said = {"fingerprint": waiver.fingerprint} if waiver.fingerprint else {"gap": waiver.gap} if waiver.gap else {}
    said = said or {"rule": waiver.rule, "object": waiver.object}
    item = {"owner": waiver.owner, "reason": waiver.reason, "expires": waiver.expires.isoformat(), **said}
    written = ", ".join(f"{key}: {_scalar(key, value)}" for key, value in item.items())
    document = yamldoc.parse(text, FILE, BaselineError)
    data = document.data if isinstance(document.data, dict) else {}
    before = text if not text or text.endswith("\n") else text + "\n"
    indent = "  "
    if document.data is None:
        before += "waivers:\n"
    elif not data.get("waivers"):
        before, found = re.subn(r"(?m)^waivers:[ \t]*(\[[ \t]*\]|null|~)?(?=[ \t]*(#.*)?$)", "waivers:", before, count=1)
        if not found:
            raise document.error(BaselineError, "has no list 'waivers:' to add to", "waivers")
    else:
        first = document.text.splitlines()[(document.line("waivers", 0) or 1) - 1]
        shape = re.match(r"([ \t]*)-\s", first)
        if shape is None:
            message = "the waivers stand in one bracket; write one per line, each after a dash, and try again"
            raise document.error(BaselineError, message, "waivers")
        indent = shape.group(1)
    comment = f"{indent}# {printable(remark, 200)}\n" if remark else ""
    return f"{before}{comment}{indent}- {{{written}}}\n"


def _scalar(key: str, value: str) -> str:
    return value if key == "expires" else json.dumps(value, ensure_ascii=False)


def add_waiver(file: Path, waiver: Waiver, remark: str = "") -> None:
    """Write one waiver more into `waivers.yaml`, which is made where there is none. Raises ErrorList, BaselineError.

    The new text is read back before it replaces the old one: the file never gets worse than it was.
    """
    known = known_waivers(file)
    text = with_waiver(file.read_text("utf-8") if file.exists() else "", waiver, remark)
    part = file.with_name(file.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        again = read_waivers(part)
        if [replace(item, origin=DocumentOrigin()) for item in again] != [
            *(replace(item, origin=DocumentOrigin()) for item in known), replace(waiver, origin=DocumentOrigin()),
        ]:  # fmt: skip
            raise BaselineError("nothing can be added at its end; write the waiver by hand", file)
        part.replace(file)
    except ErrorList as problem:
        raise BaselineError(f"nothing can be added at its end ({problem}); write the waiver by hand", file) from problem
    except OSError as problem:
        raise BaselineError(f"cannot be written: {problem.strerror}", file) from problem
    finally:
        part.unlink(missing_ok=True)


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
    if isinstance(gap, str) and gap and GAP.fullmatch(gap) is None:
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
