"""Reads `mstflint -d DEVICE q` (or `flint`): the firmware in the flash of an NVIDIA adapter, as plain values.

    Image type:            FS4
    FW Version:            28.43.1014
    FW Version(Running):   28.41.1000
    PSID:                  MT_0000000838

`FW Version` is the image in the flash, which the next start loads. The line of the running version is printed only while it is
another one (subcommands.cpp of mstflint). Labels are padded to a column; lines without one go on above them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"^([A-Z][\w ()]*?):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Firmware:
    """The versions of one adapter as printed; None where there is no such line."""

    stored: str | None
    running: str | None
    psid: str | None


def firmware(text: str) -> Firmware:
    """The firmware of the one adapter in the text. Raises ValueError when it speaks of several, or of no version."""
    labels: dict[str, str] = {}
    for label, value in _LINE.findall(text):
        if label in ("FW Version", "FW Version(Running)", "PSID") and labels.setdefault(label, value) != value:
            raise ValueError(f"{label} is there twice: {labels[label][:40]} and {value[:40]}")
    stored, running = labels.get("FW Version"), labels.get("FW Version(Running)")
    if not stored and not running:
        raise ValueError("no version of the firmware")
    return Firmware(stored or None, running or stored or None, labels.get("PSID") or None)
