"""Joins commands into one shell line and splits its two output streams again.

Around every command a mark is printed to both streams: 128 fresh random bits, the command's number, and the exit status
of the command before. The line itself holds the mark in two halves only, so that not even a process list can print it.
What stands between two marks is one body, byte for byte.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from auditor.model import Privilege

MAX_LINE = 8000
"""Bytes of one joined line. Dropbear takes 9,000, OpenSSH and Linux 128 KB."""

GRACE = 2.0
"""Seconds after a command's deadline for `timeout` to end it and for the mark to arrive."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command to send: its exact text without privilege, and its deadline in seconds."""

    text: str
    privilege: Privilege = Privilege.NONE
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A random mark of 32 hexadecimal digits, made afresh for every channel."""

    text: str

    @classmethod
    def fresh(cls) -> Mark:
        """A mark that nobody can foresee."""
        return cls(secrets.token_hex(16))


def batches(commands: Sequence[Command]) -> list[list[int]]:
    """Indices of `commands` in runs whose joined lines stay below MAX_LINE."""
    out: list[list[int]] = []
    size = MAX_LINE
    for at, command in enumerate(commands):
        cost = 3 * len(command.text.encode()) + 60  # quoting a quote takes five bytes, and few stand in a command
        if not out or size + cost > MAX_LINE:
            out.append([])
            size = 600
        out[-1].append(at)
        size += cost
    return out


def join(commands: Sequence[Command], mark: Mark) -> str:
    """One line that any login shell takes: runs each command under `sh` without input and prints the marks.

    `timeout` ends a command that hangs where coreutils has it; a command under sudo belongs to root, and no signal from
    here reaches it; root needs none where none is installed. The PATH of a session without login lacks the sbin folders.
    Noise before the first mark is skipped.
    """
    half = len(mark.text) // 2
    steps = [
        f"a={mark.text[:half]}; b={mark.text[half:]}",
        "LC_ALL=C; export LC_ALL",
        "if (PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin); then PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; fi",
        r"""m() { printf "\n%s %s %s\n" "$a$b" "$1" "$2" >&2; printf "\n%s %s %s\n" "$a$b" "$1" "$2"; }""",
        'w() { shift; "$@"; }',
        'if timeout -k 1 5 true; then w() { timeout -k 1 "$@"; }; fi',
        """if [ -z "$(command -v sudo)" ] && [ "$(id -u)" = 0 ]; then sudo() { shift; "$@"; }; fi""",
        "m 0 0",
    ]
    for number, command in enumerate(commands, 1):
        words = f"sudo -n {command.text}" if command.privilege is Privilege.SUDO else f"w {command.seconds:g} {command.text}"
        steps += [f"{words} </dev/null", f"m {number} $?"]
    return f"sh -c {shlex.quote('; '.join(steps))}"


@dataclass(frozen=True, slots=True)
class Piece:
    """The output of one command on one stream. `status` is None when its closing mark never came."""

    body: bytes
    status: int | None
    seconds: float = 0.0


class Splitter:
    """Takes the bytes of one stream as they arrive and cuts them at the marks.

    `pieces` are those of the commands finished so far, in order. `started` is the time at which the running command
    began, None before the first mark and after the last. `limit` bounds the bytes kept of one command; what is beyond
    sets `overflow`.
    """

    def __init__(self, mark: Mark, count: int, limit: int) -> None:
        self._pattern = re.compile(rb"\n" + mark.text.encode() + rb" (\d{1,6}) (\d{1,3})\r?\n")
        self._margin = len(mark.text) + 16
        self._count, self._limit = count, limit
        self._buffer = bytearray(b"\n")
        self._searched = 0
        self._next = 0
        self.preamble = b""
        self.pieces: list[Piece] = []
        self.started: float | None = None
        self.overflow = False

    @property
    def done(self) -> bool:
        """Whether the last mark was seen."""
        return self._next > self._count

    def feed(self, data: bytes, now: float) -> None:
        """Take more bytes, which arrived at `now` (seconds of any steady clock)."""
        if self.done:
            return
        self._buffer += data
        while not self.done:
            found = self._pattern.search(self._buffer, self._searched)
            if found is None:
                break
            number, status = int(found.group(1)), int(found.group(2))
            body = bytes(self._buffer[: found.start()])
            if number == self._next:
                self._take(body, status, now)
            del self._buffer[: found.end()]
            self._searched = 0
        else:
            self._buffer.clear()
        self._searched = max(0, len(self._buffer) - self._margin)
        if len(self._buffer) > self._limit + self._margin:
            self.overflow = True
            del self._buffer[self._limit + self._margin :]

    def _take(self, body: bytes, status: int, now: float) -> None:
        if self._next == 0:
            self.preamble = body.strip()[:4096]
        else:
            self.pieces.append(Piece(body[: self._limit], status, now - (self.started or now)))
        self._next += 1
        self.started = None if self.done else now

    def rest(self) -> bytes:
        """What the running command printed so far, or before the first mark what stands there instead."""
        return bytes(self._buffer[: self._limit]) if self._next else bytes(self._buffer).strip()[:4096]
