from __future__ import annotations

import pytest

from auditor.collect import screen
from auditor.collect.terminal import QUESTION, plain

ESC = "\x1b"


@pytest.mark.parametrize(
    ("bytes_", "text"),
    [
        ("one\r\r\ntwo\r\n", "one\ntwo\n"),
        ("abc\rX\n", "Xbc\n"),
        ("working 10%\rdone       \n", "done       \n"),
        ("show versio\b\bion\n", "show version\n"),
        ("--More--\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b", ""),
        ("\b\bx\n", "x\n"),
        ("  kept  \n", "  kept  \n"),
    ],
)
def test_the_cursor_moves_as_it_does_on_a_screen(bytes_: str, text: str) -> None:
    assert screen.rendered(bytes_) == text


@pytest.mark.parametrize(
    ("text", "prompt", "there"),
    [
        ("answer\nsw-1#", ("sw-1#",), True),
        ("answer\r\nsw-1# ", ("sw-1#",), True),
        ("answer\n\n{master:0}\nlab@sw-1> ", ("{master:0}", "lab@sw-1>"), True),
        ("answer\nlab@sw-1> ", ("{master:0}", "lab@sw-1>"), False),
        ("answer\nsw-1#\n", ("sw-1#",), False),
        ("description sw-1#", ("sw-1#",), False),
        ("answer\n[~sw-1]", ("[~sw-1]",), True),
        ("answer\n[*sw-1]", ("[~sw-1]",), False),
        ("", ("sw-1#",), False),
    ],
)
def test_a_prompt_stands_whole_on_its_lines_with_the_cursor_behind_it(text: str, prompt: tuple[str, ...], there: bool) -> None:
    assert screen.at_prompt(text, prompt) is there


@pytest.mark.parametrize(
    "echo",
    [
        "show version | json\n", "show version | js\non\n", "sw-1#show version | json\n",
        "show version | json\nsw-1#show version | json\n", "sw-1#\nshow version | json\nsw-1#show version | json\n", "",
    ],
)  # fmt: skip
def test_the_echo_goes_and_nothing_else(echo: str) -> None:
    answer = '{"version": 1}\nshow version | json\n'
    assert screen.without_echo(echo + answer, "show version | json", "sw-1#") == answer


def test_an_answer_that_begins_with_the_command_keeps_that_line() -> None:
    assert screen.without_echo("show version\nshow version\nrest\n", "show version", "sw-1#") == "show version\nrest\n"


def test_one_prompt_goes_from_the_end_and_the_line_before_it_stays() -> None:
    assert screen.without_prompt("a\nsw-1#\nsw-1#", ("sw-1#",)) == "a\nsw-1#\n"
    assert screen.without_prompt("a\n\n{master:0}\nu@h> ", ("{master:0}", "u@h>")) == "a\n"
    assert screen.without_prompt("sw-1#", ("sw-1#",)) == ""


PAGERS = (r"--\s?[Mm]ore\s?--", r"-{2,4} ?More ?-{2,4}", r"lines \d+-\d+")


@pytest.mark.parametrize("pager", [" --More-- ", "--More--", "  ---- More ----", "lines 1-23"])
def test_a_pager_on_a_line_of_its_own_is_taken_out(pager: str) -> None:
    assert screen.before_pager(f"row\r\n{pager}", PAGERS) == "row\r\n"


@pytest.mark.parametrize("text", ["description --More--", "--More-- \nrow\n", "row\n", ""])
def test_text_like_a_pager_elsewhere_is_none(text: str) -> None:
    assert screen.before_pager(text, PAGERS) is None


@pytest.mark.parametrize(
    "erasure",
    [
        "\r        \r", "\b\b\b\b        \b\b\b\b", f"{ESC}[16D                {ESC}[16D", f"\r{ESC}[K",
        f"{ESC}[42D                                          {ESC}[42D",
    ],
)  # fmt: skip
def test_the_row_behind_a_pager_keeps_its_indentation(erasure: str) -> None:
    assert screen.after_pager(plain(f"{erasure}  row\r\n", str)) == "  row\r\n"


def test_an_empty_row_behind_a_pager_stays() -> None:
    assert screen.after_pager("\r        \r\r\nrow") == "\r\nrow"


def test_codes_of_a_terminal_go() -> None:
    assert plain(f"{ESC}[?1h{ESC}={ESC}[1;32mgreen{ESC}[0m{ESC}[0K end", str) == "green end"


@pytest.mark.parametrize(
    "text",
    [
        "Warning: The password needs to be changed. Change now? [Y/N]:",
        "Please choose 'YES' or 'NO' first before pressing 'Enter'. [Y/N]: ",
        "Enter new password: ",
        "(current) UNIX password: ",
        "Do you want to continue (yes/no)? ",
        "overwrite it? [y/n]",
    ],
)
def test_a_question_is_one(text: str) -> None:
    assert QUESTION.search(text)


@pytest.mark.parametrize("text", ["sw-1#", "<sw-1>", "Last password change: never\nsw-1#", "[y/n] stands above\nsw-1> ", ""])
def test_a_prompt_is_no_question(text: str) -> None:
    assert not QUESTION.search(text)
