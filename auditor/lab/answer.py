"""One answer of a simulated device: the command, what it prints, how it ends."""

from __future__ import annotations

from typing import NamedTuple


class Answer(NamedTuple):
    """A command with its output and exit status."""

    command: str
    body: str
    status: int = 0


def missing(file: str) -> Answer:
    """What `cat` says about a file that is not there."""
    return Answer(f"cat {file}", f"cat: {file}: No such file or directory\n", 1)
