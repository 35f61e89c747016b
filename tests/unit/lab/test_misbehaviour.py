import pytest

from auditor.errors import SetupError
from auditor.lab.misbehaviour import Kind, parse


def test_every_kind_can_be_named_without_an_argument() -> None:
    assert {parse(kind).kind for kind in Kind} == set(Kind)


def test_a_number_replaces_the_default() -> None:
    assert parse("drop").number == 512
    assert parse("drop:2000").number == 2000


def test_rejected_and_truncated_select_commands_by_a_part_of_them() -> None:
    bad = parse("rejected:pfcwd show")
    assert bad.selects("pfcwd show config")
    assert not bad.selects("show version")
    assert parse("truncated").selects("anything")


@pytest.mark.parametrize("text", ["lazy", "slow:much", "slow:-1", "slow:0", "down:3", "", "pager:1e99"])
def test_what_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(SetupError):
        parse(text)
