"""The ways in which a replayed device can behave badly, and how a person names them: `kind` or `kind:argument`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from auditor.errors import SetupError


class Kind(StrEnum):
    """One way to behave badly. What the argument means stands behind each; without it the default below counts."""

    DOWN = "down"  # nothing listens on the port
    WRONG_PASSWORD = "wrong_password"  # noqa: S105 - every login is refused
    CHANGED_HOST_KEY = "changed_host_key"  # another key than the one in known_hosts
    BANNER = "banner"  # text that holds the device's own prompt, before login and before every answer
    SILENT = "silent"  # login works, then nothing ever comes
    SLOW = "slow"  # seconds of thinking before each command answers
    TRICKLE = "trickle"  # bytes per second
    DROP = "drop"  # bytes after which the connection is cut
    PAGER = "pager"  # lines after which an answer stops at --More-- and waits for a key
    TRUNCATED = "truncated"  # part of a command line: matching answers stop half way, with exit status 0
    REJECTED = "rejected"  # part of a command line: matching commands are refused as unknown
    REFUSED_SUDO = "refused_sudo"  # sudo wants a password
    PAUSE = "pause"  # seconds of silence behind text like its own prompt inside an answer (command lines that are no shells)
    QUESTION = "question"  # asks at login whether the password shall be changed (command lines that are no shells)


_NUMBERS = {Kind.SLOW: 2.0, Kind.TRICKLE: 1.0, Kind.DROP: 512.0, Kind.PAGER: 24.0, Kind.PAUSE: 0.5}
_TEXTS = frozenset({Kind.TRUNCATED, Kind.REJECTED})


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """A kind with its argument: `number` where the kind counts something, `text` where it selects commands."""

    kind: Kind
    number: float = 0.0
    text: str = ""

    def selects(self, command: str) -> bool:
        """Whether a command line is one of those it applies to; without a text, all are."""
        return self.text in command


def parse(text: str) -> Misbehaviour:
    """`drop`, `drop:2000`, `rejected:pfcwd` …; raises SetupError for what does not exist."""
    name, _, argument = text.partition(":")
    try:
        kind = Kind(name.strip())
    except ValueError:
        raise SetupError(f"no misbehaviour {name!r}; there are: {', '.join(Kind)}") from None
    if kind in _TEXTS:
        return Misbehaviour(kind, text=argument)
    if not argument:
        return Misbehaviour(kind, number=_NUMBERS.get(kind, 0.0))
    try:
        number = float(argument)
    except ValueError:
        number = -1.0
    if kind not in _NUMBERS or not 0 < number < 1e9:
        raise SetupError(f"misbehaviour {kind} does not take the argument {argument!r}")
    return Misbehaviour(kind, number=number)
