"""What a Comware chassis says of itself: `display device manuinfo`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from auditor.canonical import printable
from auditor.facts import System
from auditor.model import GapReason, Normalised, Unread

_CHASSIS = re.compile(r"^Chassis self[ \t]*\n((?: +[A-Z_]+ +: .*\n?)+)", re.MULTILINE)
_PART = re.compile(r" ?(?:Chassis|Slot|Subslot|CPU|Fan|Power) ?(?:self|\d+(?:/\d+)?)?[ \t]*")
_FIELD = re.compile(r"^ +([A-Z_]+) +: (.*?)[ \t]*$", re.MULTILINE)


def manufacture(body: str, _parameters: Mapping[str, str]) -> Iterator[Normalised]:
    """The chassis; a stack of several has a model, and no one serial number."""
    found = [dict(_FIELD.findall(text)) for text in _CHASSIS.findall(body)]
    models = {chassis.get("DEVICE_NAME") for chassis in found}
    vendors = {chassis.get("VENDOR_NAME") for chassis in found}
    one = len(found) == 1
    yield System(
        vendor=_only(vendors),
        hardware_model=_only(models),
        serial=_only({found[0].get("DEVICE_SERIAL_NUMBER")}) if one else None,
    )
    strange = [line for line in body.splitlines() if line.strip() and not _PART.fullmatch(line) and not _FIELD.fullmatch(line)]
    if strange:
        yield Unread(System, detail=f"neither a part nor a field of one: {printable(strange[0], 80)!r}")
    if not one:
        yield Unread(System, (), "serial", GapReason.UNSUPPORTED, f"a stack of {len(found)} chassis has no one serial number")


def _only(words: set[str | None]) -> str | None:
    """The one word that all chassis say; None where they differ or say `NONE`."""
    word = next(iter(words)) if len(words) == 1 else None
    return None if word in (None, "", "NONE") else word
