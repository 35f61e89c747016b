"""The blocks of `mlnx_qos`, each on its own."""

import pytest

from auditor.dialects import mlnx_qos

HEAD = "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"


@pytest.mark.parametrize("word", ["dscp", "pcp", "none"])
def test_trust_is_the_printed_word(word):
    assert mlnx_qos.trust(f"DCBX mode: OS controlled\nPriority trust state: {word}  \n") == word


def test_no_trust_line_is_no_trust():
    assert mlnx_qos.trust("Priority trust state is not supported on your system\n") is None


def test_the_map_is_read_whatever_its_order_and_indent():
    text = "dscp2prio mapping:\n        prio:3 dscp:26,24,\n\tprio:0 dscp:07,\n\tprio:3 dscp:63,\n"
    assert mlnx_qos.dscp_map(text) == {26: {3}, 24: {3}, 7: {0}, 63: {3}}


def test_a_code_point_without_its_comma_was_cut():
    assert mlnx_qos.dscp_map("dscp2prio mapping:\n\tprio:1 dscp:15,1") == {15: {1}}


def test_the_default_priority_is_no_row_of_the_map():
    assert mlnx_qos.dscp_map("dscp2prio mapping:\n\tprio:1 dscp:08,\ndefault priority:\n\tprio:4\n") == {8: {1}}


def test_a_contradiction_is_kept():
    assert mlnx_qos.dscp_map("dscp2prio mapping:\n\tprio:1 dscp:08,\n\tprio:2 dscp:08,\n") == {8: {1, 2}}


@pytest.mark.parametrize("row", ["prio:1 dscp:64,", "prio:9 dscp:08,", "prio:1 dscp:999999999999,"])
def test_what_cannot_be_is_an_error(row):
    with pytest.raises(ValueError, match="cannot have priority"):
        mlnx_qos.dscp_map(f"dscp2prio mapping:\n\t{row}\n")


def test_without_a_map_there_is_none():
    assert mlnx_qos.dscp_map("Priority trust state: pcp\n") is None


def test_pfc_is_read_with_trailing_blanks():
    assert mlnx_qos.pfc(HEAD + "\tenabled     0   0   0   1   0   0   1   0   \n") == {n: n in (3, 6) for n in range(8)}


@pytest.mark.parametrize("row", ["\tenabled     0   0   0   1", "\tenabled     0   0   0   1   0   0   x   0\n", ""])
def test_a_row_that_is_not_whole_is_none(row):
    assert mlnx_qos.pfc(HEAD + row) is None


def test_the_list_of_classes_is_no_pfc_table():
    assert mlnx_qos.pfc("tc: 0 ratelimit: unlimited, tsa: vendor\n\t priority:  0\n\t priority:  1\n") is None


def test_other_priorities_than_eight_are_an_error():
    with pytest.raises(ValueError, match="PFC table"):
        mlnx_qos.pfc("\tpriority    1   2   3   4   5   6   7   8\n\tenabled     0   0   0   1   0   0   0   0\n")


@pytest.mark.parametrize("word", ["OS", "Firmware"])
def test_the_owner_of_the_settings_is_the_printed_word(word):
    assert mlnx_qos.dcbx(f"DCBX mode: {word} controlled\nPriority trust state: dscp\n") == word


def test_no_dcbx_line_is_no_owner():
    assert mlnx_qos.dcbx("Priority trust state: dscp\n") is None
