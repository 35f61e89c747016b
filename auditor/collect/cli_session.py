"""Commands typed one by one into the command line of a switch that is no shell, as a Nornir connection around Netmiko.

Netmiko logs in, turns paging off and widens the terminal. No mark can be printed there, so the end of an answer is proven in
another way: the prompt stands on the last lines and nothing more comes; then an empty line is typed, and what comes back must be
one more prompt and nothing else. Where text like the prompt stands in the middle of an answer, the rest of the answer comes
instead, and reading goes on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import paramiko

from auditor.collect.exec_channel import Limits
from auditor.collect.output import Answer
from auditor.collect.script import GRACE, Command
from auditor.collect.ssh import Deadline, Dialler, Unreached
from auditor.collect.terminal import Overflow, login, why
from auditor.model import GapReason

QUIET = 0.15
"""Seconds without a byte after which an end is looked for. An answer that pauses longer is read on: see above."""

_POLL = 0.01
_ECHO_LINES = 6
"""Lines that the echo of one command may take where the terminal wraps or repeats it."""


class CliConnection:
    """The Nornir connection plugin. `extras`: `dialler`, `name`, `route`, `limits`, `device_type`, `pagers`. Opening raises
    Unreached."""

    def __init__(self) -> None:
        self._transport: paramiko.Transport | None = None
        self._netmiko: Any = None
        self._prompt: tuple[str, ...] = ()
        self._extras: dict[str, Any] = {}
        self.deadline = Deadline(0)
        self.limits = Limits()

    def open(
        self,
        hostname: str | None,
        username: str | None,
        password: str | None,
        port: int | None,
        platform: str | None,
        extras: dict[str, Any] | None = None,
        configuration: object = None,
    ) -> None:
        """Connect, log in and learn the prompt. All but `extras` are Nornir's and unused: the route holds them."""
        del hostname, username, password, port, platform, configuration
        assert extras is not None
        dialler: Dialler = extras["dialler"]
        self._extras, self.limits = extras, extras["limits"]
        self._transport, self.deadline = dialler.open(extras["name"], extras["route"])
        try:
            self._start()
        except Exception as error:
            self._transport.close()
            raise why(error) from None

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    @property
    def connection(self) -> CliConnection:
        """Nornir hands this to its tasks."""
        return self

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked: the deadline is over or the connection broke."""
        return self.deadline.over or self._transport is None or not self._transport.is_active()

    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each command, in order; never raises for what the device does."""
        return [self._one(command) for command in commands]

    def _start(self) -> None:
        """A session with paging off, and its prompt: what two empty lines bring back alike."""
        assert self._transport is not None
        self._netmiko = login(self._extras["device_type"], self._transport, self.deadline, self.limits.output)
        self._until_quiet(self.deadline.left(5), lines=0)
        for _ in range(3):
            replies = [self._empty_line(self.deadline.left(10)) for _ in range(2)]
            if replies[0] and replies[0] == replies[1]:
                self._prompt = replies[0]
                return
        raise Unreached(GapReason.UNPARSED, "no prompt was found: two empty lines were answered differently")

    def _empty_line(self, seconds: float) -> tuple[str, ...]:
        self._netmiko.write_channel(self._netmiko.RETURN)
        return _lines(self._until_quiet(seconds, lines=1))

    def _one(self, command: Command) -> Answer:
        if self.deadline.over:
            return Answer(failure=GapReason.TIMEOUT, detail=f"not asked: the device's {self.deadline.seconds:g} s were used up")
        if self._transport is None or not self._transport.is_active():
            return Answer(failure=GapReason.UNREACHABLE, detail="not asked: the connection broke before")
        begin = time.monotonic()
        try:
            if self._netmiko is None:
                self._start()
            body = self._send(command.text, begin + min(command.seconds + GRACE, self.deadline.left()))
        except Exception as error:
            self._leave()
            seconds = time.monotonic() - begin
            if isinstance(error, Overflow):
                detail = f"longer than {self.limits.output} bytes; the rest was cut"
                return Answer(failure=GapReason.TRUNCATED, detail=detail, seconds=seconds)
            failure = why(error)
            return Answer(failure=failure.reason, detail=failure.detail, seconds=seconds)
        return Answer(body.encode(), seconds=time.monotonic() - begin)

    def _send(self, text: str, end: float) -> str:
        """Type one line; what came back without its echo and the prompt. Raises Unreached when no end comes in time."""
        self._netmiko.taken = 0
        self._netmiko.write_channel(f"{text}{self._netmiko.RETURN}")
        shown = ""
        while True:
            shown += self._until_prompt(end, shown)
            self._netmiko.write_channel(self._netmiko.RETURN)
            more = self._until_quiet(max(_POLL, end - time.monotonic()), lines=1)
            if _lines(more) == self._prompt:
                return self._without_prompt(_without_echo(shown, text, self._prompt[-1]))
            shown += more

    def _until_prompt(self, end: float, before: str) -> str:
        """Read until the last lines are the prompt and nothing more comes, answering pagers with a blank."""
        taken = ""
        while True:
            taken += self._until_quiet(max(_POLL, end - time.monotonic()), lines=0)
            whole = before + taken
            if _lines(whole)[-len(self._prompt) :] == self._prompt:
                return taken
            if time.monotonic() >= end:
                raise Unreached(GapReason.TIMEOUT, f"no prompt at the end of the answer in time ({len(whole)} characters came)")
            if any(re.search(rf"(?:{pager})\s*\Z", whole) for pager in self._extras.get("pagers", ())):
                self._netmiko.write_channel(" ")

    def _until_quiet(self, seconds: float, lines: int) -> str:
        """What comes until nothing came for QUIET, or `seconds` are over; with `lines` at least so many lines are waited for."""
        text, now = "", time.monotonic()
        end, last = now + seconds, now
        while now < end:
            more = self._netmiko.read_channel()
            now = time.monotonic()
            if more:
                text, last = text + more, now
            elif now - last >= QUIET and len(_lines(text)) >= lines:
                break
            else:
                time.sleep(_POLL)
        return _plain(text)

    def _without_prompt(self, text: str) -> str:
        """The text without the prompt at its end."""
        rows = text.split("\n")
        wanted = list(self._prompt)
        while rows and (not rows[-1].strip() or (wanted and rows[-1].strip() == wanted[-1])):
            if rows.pop().strip():
                wanted.pop()
        return "\n".join(rows) + "\n" if rows else ""

    def _leave(self) -> None:
        """Give up a session in which a command hangs; the next one starts a new session."""
        if self._netmiko is not None and self._netmiko.remote_conn is not None:
            self._netmiko.remote_conn.close()
        self._netmiko = None


def _plain(text: str) -> str:
    """Text with plain line ends. A carriage return inside a line begins it anew only after blanks, as pagers print it."""
    text = re.sub(r"\r+\n", "\n", text)
    return re.sub(r"\r(?!\n)", "", text)


def _lines(text: str) -> tuple[str, ...]:
    """The lines that hold something."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def _without_echo(text: str, command: str, prompt: str) -> str:
    """The text without the line that was typed: the terminal may wrap it, move back in it, or print it twice with the prompt."""
    text = re.sub(r"[^\b\n]\x08|\x08", "", text)
    wanted = re.sub(r"\s", "", command)
    rows = text.split("\n")
    while True:
        seen = ""
        for at, row in enumerate(rows[:_ECHO_LINES], start=1):
            seen += re.sub(r"\s", "", row.replace("$", "") if seen else row)
            bare = seen.removeprefix(re.sub(r"\s", "", prompt))
            if bare == wanted:
                rows = rows[at:]
                break
            if seen and not (wanted.startswith(bare) or re.sub(r"\s", "", prompt).startswith(seen)):
                return "\n".join(rows)
        else:
            return "\n".join(rows)
