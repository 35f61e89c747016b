"""What a terminal shows: bytes that move the cursor become the text that a person would read, without echo, pager and prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TAIL = 4096
"""Characters in which a prompt is looked for."""
_ECHO_LINES = 6
"""Lines that the echo of one command may take where the terminal wraps it."""
_ERASED = re.compile(r"\A[ \x08\r]*[\x08\r](?!\n)")


def rendered(text: str) -> str:
    """Text as it stands on the screen: carriage returns and backspaces move the cursor, and what comes then replaces."""
    return "\n".join(_row(row) for row in re.sub(r"\r+\n", "\n", text).split("\n"))


def lines(text: str) -> tuple[str, ...]:
    """The lines of a screen that hold something, without blanks at either end."""
    return tuple(row.strip() for row in rendered(text).split("\n") if row.strip())


def at_prompt(text: str, prompt: Sequence[str]) -> bool:
    """Whether the last lines that hold something are exactly the prompt, and the cursor stands behind it."""
    tail = text[-_TAIL:]
    shown = rendered(tail)
    return bool(shown.rpartition("\n")[2].strip()) and lines(tail)[-len(prompt) :] == tuple(prompt)


def before_pager(text: str, pagers: Sequence[str]) -> str | None:
    """What was shown before the pager that waits on the last line for a key; None where none waits. `pagers` are patterns."""
    tail = text[-_TAIL:]
    for pager in pagers:
        found = re.search(rf"(?:\A|(?<=[\r\n]))[ \t]*(?:{pager})[ \t]*\Z", tail)
        if found is not None:
            return text[: len(text) - len(tail) + found.start()]
    return None


def after_pager(text: str) -> str:
    """What came after the key, without the bytes by which the pager takes itself away."""
    return _ERASED.sub("", text)


def without_echo(text: str, command: str, prompt: str) -> str:
    """Rendered text without the line that was typed. The terminal may wrap it, and print it once more behind a late prompt."""
    typed, late = _bare(command), _bare(prompt) + _bare(command)
    rows = text.split("\n")
    rows = rows[_echo(rows, (typed, late)) :]
    return "\n".join(rows[_echo(rows, (late,)) :])


def without_prompt(text: str, prompt: Sequence[str]) -> str:
    """Rendered text that ends with the prompt, without it and the empty lines around it."""
    rows, left = text.split("\n"), list(prompt)
    while rows and (not rows[-1].strip() or (left and rows[-1].strip() == left[-1])):
        if rows.pop().strip():
            left.pop()
    return "\n".join(rows) + "\n" if rows else ""


def _row(text: str) -> str:
    if "\r" not in text and "\b" not in text:
        return text
    cells: list[str] = []
    at = 0
    for letter in text:
        if letter == "\r":
            at = 0
        elif letter == "\b":
            at = max(0, at - 1)
        else:
            cells[at : at + 1] = [letter]
            at += 1
    return "".join(cells[:at]) + "".join(cells[at:]).rstrip()


def _bare(text: str) -> str:
    return re.sub(r"\s", "", text)


def _echo(rows: Sequence[str], forms: Sequence[str]) -> int:
    """How many of the first lines are one of these forms, wherever they were wrapped; 0 for none."""
    seen = ""
    for at, row in enumerate(rows[:_ECHO_LINES], start=1):
        seen += _bare(row)
        if seen in forms:
            return at
        if not any(form.startswith(seen) for form in forms):
            break
    return 0
