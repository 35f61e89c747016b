"""One answer of a simulated device: the command, what it prints, how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Answer(NamedTuple):
    """A command with its output and exit status."""

    command: str
    body: str
    status: int = 0


def missing(file: str) -> Answer:
    """What `cat` says about a file that is not there."""
    return Answer(f"cat {file}", f"cat: {file}: No such file or directory\n", 1)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = True) -> str:
    """A table as tabulate's `simple` format prints it, every column on the same side."""
    widths = [max([len(header) + 2, *(len(row[at]) for row in rows)]) for at, header in enumerate(headers)]
    put = str.rjust if right else str.ljust
    lines = [headers, ["-" * width for width in widths], *rows]
    return "".join(
        "  ".join(put(cell, width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
