"""Tables with a line of dashes under the header."""

from __future__ import annotations

import pytest

from auditor.dialects.ruler import tables

PORTS = """\
  Interface      Lanes    Vlan                 Type
-----------  ---------  ------  -------------------
  Ethernet0    0,1,2,3  routed        OSFP or later
Ethernet128  512,513    routed                  N/A
 Ethernet64               trunk   10G Base-T (copper)
"""


def rows(text: str) -> list[dict[str, str] | None]:
    return [None if row.cells is None else dict(row.cells) for table in tables(text) for row in table.rows]


def test_cells_are_addressed_by_header_and_blanks_inside_them_are_kept():
    first = rows(PORTS)[0]
    assert first == {"Interface": "Ethernet0", "Lanes": "0,1,2,3", "Vlan": "routed", "Type": "OSFP or later"}


def test_an_empty_cell_shifts_nothing():
    text = "A    B    C\n---  ---  ---\nx         z\n     y    z\n"
    assert rows(text) == [{"A": "x", "B": "", "C": "z"}, {"A": "", "B": "y", "C": "z"}]


def test_a_column_that_the_line_ends_before_is_left_out():
    text = "Port       Prio\n---------  ----\nEthernet0\nEthernet4  3\n"
    assert rows(text) == [{"Port": "Ethernet0"}, {"Port": "Ethernet4", "Prio": "3"}]


def test_words_shifted_by_one_column_still_lie_under_their_own_header():
    text = (
        "Chassis    Module    Component    Version\n"
        "---------  --------  -----------  --------\n"
        "                    SSD          0202-000\n"
    )  # fmt: skip
    assert rows(text) == [{"Chassis": "", "Module": "", "Component": "SSD", "Version": "0202-000"}]


def test_words_that_lie_under_two_columns_do_not_fit():
    text = "A    B    C\n---  ---  ---\nfoo baz bar\n"
    assert rows(text) == [None]


def test_the_last_cell_may_be_wider_than_its_dashes():
    text = "Port  Text\n----  ----\neth0  a text that goes on\n"
    assert rows(text) == [{"Port": "eth0", "Text": "a text that goes on"}]


def test_several_tables_keep_the_lines_before_each():
    text = "Namespace one\nA    B\n---  ---\n1    2\n\n\nNamespace two\nA    B\n---  ---\n\nrest\n"
    found = list(tables(text))
    assert [(table.before, len(table.rows)) for table in found] == [(("Namespace one",), 1), (("Namespace two",), 0)]


def test_a_line_of_dashes_ends_the_table():
    text = "A    B\n---  ---\n1    2\n----------\nTotal: 1\n"
    assert rows(text) == [{"A": "1", "B": "2"}]


def test_rows_know_their_line():
    (table,) = tables("\nnote\nA    B\n---  ---\n1    2\n")
    assert [row.line for row in table.rows] == [5]


@pytest.mark.parametrize("text", ["---  ---\n1    2\n", "A\n---  ---\n1    2\n", "A    A\n---  ---\n1    2\n"])
def test_dashes_without_a_fitting_header_are_an_error(text: str):
    with pytest.raises(ValueError, match="header"):
        list(tables(text))


def test_a_text_without_table_has_none():
    assert list(tables("Cannot find interface Ethernet1234\n")) == []


@pytest.mark.parametrize("end,ended", [("\n", [True, True]), ("", [True, False]), ("\n\n", [True, True])])
def test_a_row_knows_whether_its_line_has_an_end(end: str, ended: list[bool]):
    (table,) = tables("A    B\n---  ---\n1    2\n3    4" + end)
    assert [row.ended for row in table.rows] == ended
