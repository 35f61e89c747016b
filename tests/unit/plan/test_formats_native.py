from __future__ import annotations

import pytest

from auditor.errors import ErrorList, PlanError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.document import COLUMNS
from auditor.plan.formats.native import read, sniff, write


def test_every_column_is_written_then_the_further_ones_by_name() -> None:
    link = PlanLink(PlanEnd("a", "1"), PlanEnd("b", "2"), tags={"zone": "1", "hall": "2"})
    assert write(Plan("x", (link,)))[0].splitlines()[0].split(",") == [*COLUMNS, "hall", "zone"]


def test_a_formula_is_written_so_that_a_spreadsheet_takes_it_for_text_and_comes_back() -> None:
    link = PlanLink(PlanEnd("a", "=1+1"), PlanEnd("b", "@x"), label="'-1", tags={"note": "+1"})
    text, _ = write(Plan("x", (link,)))
    assert "'=1+1" in text and ",'@x," in text
    (back,) = read(text.encode(), "x", {}).links
    assert (back.a.port, back.b.port, back.label, back.tags) == ("=1+1", "@x", "'-1", {"note": "+1"})


@pytest.mark.parametrize(
    "raw",
    [
        b"a_device,a_port,b_device,b_port\n",
        b'\n\n"b_port" , a_port,b_device,a_device,x\r\n',
        b"\xef\xbb\xbfa_device,a_port,b_device,b_port",
    ],
)
def test_a_plan_is_known_by_its_header(raw: bytes) -> None:
    assert sniff(raw, "x")


@pytest.mark.parametrize("raw", [b"a_device,a_port\n", b"a_device;a_port;b_device;b_port\n", b"", b"Rack,U,Name,Port\n"])
def test_another_header_is_no_plan(raw: bytes) -> None:
    assert not sniff(raw, "x")


def test_errors_keep_their_lines() -> None:
    with pytest.raises((PlanError, ErrorList), match="x:3: port a:1 is already used by line 2"):
        read(b"a_device,a_port,b_device,b_port\na,1,b,1\na,1,c,1\n", "x", {})
