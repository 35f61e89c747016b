"""The example in `docs/adding-a-platform.md` is a platform that works as the page says."""

import re
from datetime import UTC, datetime
from pathlib import Path

from auditor.model import GapReason, Platform, RawOutput
from auditor.parse import parse_device

PAGE = Path(__file__).resolve().parents[3] / "docs" / "adding-a-platform.md"


def answer(platform, body):
    raw = RawOutput("sw", platform.name, "version", "show version", body, "", datetime(2031, 1, 1, tzinfo=UTC))
    return parse_device("sw", [raw], {platform.name: platform}, names=[platform.name])


def test_the_example_reads_a_whole_answer_and_no_other():
    (text,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names = {}
    exec(compile(text, str(PAGE), "exec"), names)
    platform = names["PLATFORM"]
    assert isinstance(platform, Platform)
    whole = answer(platform, "Software version: 4.2\nUptime: 3 days\n")
    ((_, row),) = [(key, row) for key, row in whole.rows(names["System"]).items()]
    assert row.os_version == "4.2"
    cut = answer(platform, "Software version: 4.2\n")
    assert GapReason.TRUNCATED in {gap.reason for gap in cut.gaps}
    refused = answer(platform, "% Invalid input detected at '^' marker.\n")
    assert GapReason.REJECTED in {gap.reason for gap in refused.gaps}
