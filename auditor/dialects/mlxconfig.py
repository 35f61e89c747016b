"""Reads `mlxconfig -d DEVICE -e q` (or `mstconfig`): the firmware options of an NVIDIA adapter, as plain values.

A line template cannot read it: how many value columns there are depends on `-e` and on the firmware, a mark may stand before a
name, and values that are too wide push the next column aside. The layout follows `printConfHeader` and `printSingleParam` of
mstflint's mlxcfg_ui.cpp: `*` marks a row whose next value differs from the default or the current one, `RO` one that cannot be
written; an enumeration carries its number in brackets, an array shows its bounds instead of its values, `N/A` is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_HEADER = re.compile(r"^Configurations:((?:[ \t]+(?:Default|Current|Next Boot))+)[ \t]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z]\w*(?:\[\d+\])?")
_MARKS = ("*", "RO", "*RO")
_NOTE = re.compile(r"The '(?:\*|RO)' shows parameters |Device Firmware does not support reading |-W- ")
_ARRAY = re.compile(r"Array\[\d+\.\.\d+\]")


@dataclass(frozen=True, slots=True)
class Options:
    """One adapter. `device` is the name it was asked by, `name` its part number as its firmware is released under.

    `columns` are the headers in order (`Default`, `Current`, `Next Boot`); `values` by option, then by header: the printed
    text, an enumeration without its number; None where the tool does not know it. `arrays` are the options whose values it does
    not print. `unread` are lines of the table that are no rows.
    """

    device: str
    columns: tuple[str, ...]
    values: Mapping[str, Mapping[str, str | None]]
    arrays: tuple[str, ...]
    unread: tuple[str, ...]
    name: str = ""


def options(text: str) -> Options:
    """The options of the one adapter in the text. Raises ValueError when there is no table, or more than one."""
    headers = list(_HEADER.finditer(text))
    if len(headers) != 1:
        raise ValueError(f"{len(headers)} tables of options, not one")
    columns = tuple(re.findall(r"Default|Current|Next Boot", headers[0].group(1)))
    device, name = (re.search(rf"^{label}:[ \t]+(\S+)", text[: headers[0].start()], re.MULTILINE) for label in ("Device", "Name"))
    values: dict[str, Mapping[str, str | None]] = {}
    arrays, unread = [], []
    for line in text[headers[0].end() :].splitlines():
        words = line.split()
        while words and words[0] in _MARKS:
            del words[0]
        if len(words) != len(columns) + 1 or _NAME.fullmatch(words[0]) is None:
            if words and not _NOTE.match(line):
                unread.append(line)
        elif any(map(_ARRAY.fullmatch, words[1:])):
            arrays.append(words[0])
        else:
            values[words[0]] = dict(zip(columns, map(_value, words[1:]), strict=True))
    shown = "" if device is None else device.group(1)
    return Options(shown, columns, values, tuple(arrays), tuple(unread), "" if name is None else name.group(1))


def _value(cell: str) -> str | None:
    name, bracket, number = cell[:-1].rpartition("(")
    return None if cell == "N/A" else name if bracket and name and number.isdecimal() and cell[-1] == ")" else cell
