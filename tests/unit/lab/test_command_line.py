from __future__ import annotations

import pytest

from auditor.lab.command_line import ANY, MANNERS, CommandLine
from auditor.lab.misbehaviour import parse
from auditor.lab.shell import Recorded

ANSWERS = [Recorded("show version", "first\n"), Recorded("show version", "second\n"), Recorded("show version | json", "{}\n")]


def said(line: str, name: str = "arista_eos", bad: str = "") -> str:
    session = CommandLine("sw-1", MANNERS.get(name, ANY), ANSWERS, parse(bad) if bad else None)
    return "".join(session.reply(line))


def test_a_recorded_command_is_answered_blanks_aside_and_the_first_recording_counts() -> None:
    assert said("show version") == said("  show   version ") == "first\n"
    assert said("show version | json") == "{}\n"


@pytest.mark.parametrize("line", ["show vers", "show version | include x", "configure terminal", "show version; reload"])
@pytest.mark.parametrize("name", [*MANNERS, "another"])
def test_whatever_was_not_recorded_is_refused_in_the_words_of_the_vendor(name: str, line: str) -> None:
    refusal = MANNERS.get(name, ANY).refusal.replace("{command}", line)
    assert said(line, name) == refusal


def test_an_empty_line_is_answered_with_nothing() -> None:
    assert said("") == ""


def test_what_makes_a_terminal_readable_is_known() -> None:
    for name, manners in MANNERS.items():
        for command, answer in (*manners.quiet.items(), *manners.others.items()):
            assert said(command, name) == answer


def test_misbehaviour_selects_commands() -> None:
    assert said("show version", bad="truncated:version") == "fir"
    assert said("show version", bad="rejected:json") == "first\n"
    assert said("show version | json", bad="rejected:json") == "% Invalid input"
