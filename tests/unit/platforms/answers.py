"""What a broken answer may do: be a gap, or change nothing. Shared by the platforms that no device of the mini-pod runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from auditor.address import Address
from auditor.model import RawOutput, State, digest
from auditor.parse import parse_device
from auditor.platforms import platforms
from tests.e2e.test_broken_answers import KINDS

PARAMETER = "swp7"
"""The port that is asked where a command is about one."""
FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
BETWEEN_LINES = {"half_a_table", "without_its_last_line", "only_the_first_line", "only_two_lines", "pager_less", "broadcast"}
"""Cuts that end with a line. Only what the text itself ends can tell them from a whole answer."""


def recorded(platform: str, source: str, case: str) -> str:
    (file,) = (FIXTURES / platform / source / case).glob("output.*")
    return file.read_text("utf-8")


def state(platform: str, bodies: dict[str, str], exit_status: int | None = 0) -> State:
    """The state from answers by source, recorded with this exit status."""
    outputs = []
    for key, body in bodies.items():
        source = platforms()[platform].source(key)
        asked = {} if source.parameter is None else {source.parameter.name: PARAMETER}
        when = datetime(2026, 3, 1, tzinfo=UTC)
        outputs.append(RawOutput("dut", platform, key, source.command, body, digest(body), when, asked, exit_status=exit_status))
    return parse_device("dut", outputs, platforms(), names=(platform,))


def cells(found: State) -> Iterator[Address]:
    for row_type, layer, column in found.origins:
        for key in found.tables[row_type, layer]:
            yield Address(row_type.TABLE, key, column, layer)


def lies(whole: State, broken: State) -> Iterator[str]:
    """What the broken answer says that the whole one does not: another value, an absence, a row that is not there."""
    for address in cells(whole):
        was, now = whole.cell(address), broken.cell(address)
        if now.known and now.value != was.value:
            yield f"{address} was {was.value!r}, is {now.value!r}"
        if was.present and broken.has_row(replace(address, column=None)) is False:
            yield f"{address.row} is gone"
    known = {(row_type, layer, key) for (row_type, layer), rows in whole.tables.items() for key in rows}
    for (row_type, layer), rows in broken.tables.items():
        yield from (f"{row_type.TABLE}{key}@{layer} is new" for key in rows if (row_type, layer, key) not in known)


def told(platform: str, source: str, body: str, *, endless: bool = False) -> list[str]:
    """What is wrong about how broken forms of this answer are read. `endless`: nothing in the text ends it."""
    whole, out = state(platform, {source: body}), []
    for name, kind in KINDS.items():
        if endless and name in BETWEEN_LINES:
            continue
        broken = state(platform, {source: kind.make(body)}, kind.exit)
        out += [f"{name}: {lie}" for lie in list(lies(whole, broken))[:3]]
        gaps = [gap for gap in broken.gaps if gap.source == source and gap not in whole.gaps]
        if not gaps and (broken.tables != whole.tables or kind.exit != 0):
            out.append(f"{name}: no gap")
        out += [f"{name}: a gap without detail" for gap in gaps if not gap.detail.strip()]
        if gaps and kind.gap and all(gap.reason == "unsupported" for gap in gaps):
            out.append(f"{name}: called unsupported, so it would not count")
    return out
