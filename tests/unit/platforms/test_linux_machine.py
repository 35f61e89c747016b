"""Maker, model and BIOS of a Linux host."""

import pytest

from auditor.model import ABSENT, GapReason
from auditor.platforms.linux import PLATFORM
from auditor.workflows.parse import find_source
from tests.unit.platforms.linux_host import cell, recorded, state


@pytest.mark.parametrize("text", ["Default string", "To Be Filled By O.E.M.", "Not Specified"])
def test_what_a_maker_left_unfilled_is_no_model(text):
    assert cell(state(("cat /sys/class/dmi/id/product_name", text + "\n")), "system.hardware_model").value is ABSENT


def test_the_bios_comes_from_dmidecode_where_the_kernel_has_no_file():
    seen = state(
        ("cat /sys/class/dmi/id/bios_version", recorded("bios_version", "no_file")),
        ("dmidecode -t bios -t system", recorded("dmidecode", "bios_and_system")),
    )
    assert cell(seen, "firmware[bios].version").value == "2.3.5"


@pytest.mark.parametrize(
    "command", ["uname -n", "uname -r", "cat /sys/class/dmi/id/bios_version", "cat /sys/class/dmi/id/sys_vendor"]
)
def test_more_than_one_line_is_no_one_line_answer(command):
    seen = state((command, "6.8.0\nLast login: Mon\n"))
    assert not [row for _, row in seen.all_rows()]
    assert {gap.reason for gap in seen.gaps if gap.source == find_source(PLATFORM, command)[0].key} == {GapReason.UNPARSED}
