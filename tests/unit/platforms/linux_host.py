"""What one Linux host is known by after some answers: for the tests of its sources."""

import os
from datetime import UTC, datetime
from pathlib import Path

from auditor.address import Address
from auditor.facts import to_plain
from auditor.model import RawOutput, digest
from auditor.parse import parse_device, parse_output
from auditor.platforms.linux import PLATFORM
from auditor.workflows.parse import find_source

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures" / "linux"
SHARED = Path(os.environ.get("AUDITOR_SHARED") or Path(__file__).resolve().parents[4] / "shared")
"""Answers that others collected; beside the checkout or not there."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def recorded(slug, case):
    return next((FIXTURES / slug / case).glob("output.*")).read_text("utf-8")


def output(command, body, **more):
    source, parameters = find_source(PLATFORM, command)
    return RawOutput("gpu-1", "linux", source.key, command, body, digest(body), NOW, parameters, **more)


def state(*answers):
    outputs = [answer if isinstance(answer, RawOutput) else output(*answer) for answer in answers]
    return parse_device("gpu-1", outputs, {"linux": PLATFORM}, names=("linux",))


def cell(seen, address):
    return seen.cell(Address.parse(address))


def reason(seen, address):
    found = cell(seen, address)
    assert found.value is None, f"{address} is {found.value!r}, not unknown"
    return found.gap.reason


def read(path, source, **parameters):
    """Rows by (table, key) without their keys, and the gaps."""
    return parsed(path.read_text("utf-8", "replace"), source, **parameters)


def parsed(body, source, **parameters):
    known = PLATFORM.source(source)
    output = RawOutput("h", "linux", source, known.command, body, digest(body), datetime(2026, 1, 1, tzinfo=UTC), parameters)
    answer = parse_output(output, known, PLATFORM)
    rows = {}
    for _, row in answer.rows:
        plain = to_plain(row)
        rows[row.TABLE, *row.key] = {name: plain[name] for name in list(plain)[len(row.key) :]}
    return rows, answer.gaps
