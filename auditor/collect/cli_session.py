"""Commands typed one by one into the command line of a switch that is no shell, as a Nornir connection around Netmiko.

Netmiko logs in, turns paging off and widens the terminal. No mark can be printed there, so the end of an answer is proven in
another way: the prompt stands on the last lines and nothing more comes; then an empty line is typed, and what comes back must be
one more prompt and nothing else. Where text like the prompt stood in the middle of an answer, the rest of the answer comes back
instead: then the command is asked once more in a new session, with a longer wait.
"""

from __future__ import annotations

import time

from auditor.collect import screen
from auditor.collect.script import GRACE, Command
from auditor.collect.ssh import Unreached
from auditor.collect.terminal import Typed
from auditor.model import GapReason

QUIET, PATIENT = 0.1, 1.0
"""Seconds without a byte after which an end is looked for: at first, and where the first look was wrong. Being too short costs
time and never a wrong answer."""

_POLL = 0.01


class _Unproven(Exception):
    """What looked like the end of an answer was none; an empty line was typed into its middle."""


class CliConnection(Typed):
    """The Nornir connection plugin. `extras` also holds `pagers`: expressions of what asks for a key between pages."""

    def __init__(self) -> None:
        super().__init__()
        self._prompt: tuple[str, ...] = ()

    def _start(self) -> None:
        """A session with paging off, and its prompt: what two empty lines bring back alike."""
        self._login()
        self._until_quiet(self.deadline.left(5), QUIET, lines=0)
        for _ in range(3):
            replies = [screen.lines(self._empty_line(self.deadline.left(10), QUIET)) for _ in range(2)]
            if replies[0] and replies[0] == replies[1]:
                self._prompt = replies[0]
                return
        raise Unreached(GapReason.UNPARSED, "no prompt was found: two empty lines were answered differently")

    def _empty_line(self, seconds: float, quiet: float) -> str:
        self._netmiko.write_channel(self._netmiko.RETURN)
        return self._until_quiet(seconds, quiet, lines=max(1, len(self._prompt)))

    def _typed(self, command: Command) -> tuple[str, int | None]:
        """The answer to a command; asked once more, in a new session and with more patience, where its end was not proven."""
        for quiet in (QUIET, PATIENT):
            if self._netmiko is None:
                self._start()
            end = time.monotonic() + min(command.seconds + GRACE, self.deadline.left())
            try:
                return self._send(command.text, end, quiet), None
            except _Unproven:
                self._leave()
        raise Unreached(
            GapReason.TRUNCATED, "where the answer ends could not be told: text like the prompt, and pauses, stand in it"
        )

    def _send(self, text: str, end: float, quiet: float) -> str:
        """Type one line; what came back without its echo and the prompt. Raises Unreached when no end comes in time."""
        self._netmiko.taken = 0
        self._netmiko.write_channel(f"{text}{self._netmiko.RETURN}")
        shown = self._until_prompt(end, quiet)
        reply = self._empty_line(max(_POLL, end - time.monotonic()), quiet)
        if not reply.strip():
            raise Unreached(GapReason.TIMEOUT, "the prompt came, and after it an empty line was not answered in time")
        if not screen.at_prompt(reply, self._prompt) or len(screen.lines(reply)) != len(self._prompt):
            raise _Unproven
        answer = screen.without_echo(screen.rendered(shown), text, self._prompt[-1])
        return screen.without_prompt(answer, self._prompt)

    def _until_prompt(self, end: float, quiet: float) -> str:
        """Read until the last lines are the prompt and nothing more comes; a pager is answered with a blank and taken out."""
        shown = ""
        while True:
            shown += self._until_quiet(max(_POLL, end - time.monotonic()), quiet, lines=0)
            if screen.at_prompt(shown, self._prompt):
                return shown
            if time.monotonic() >= end:
                raise Unreached(GapReason.TIMEOUT, f"no prompt at the end of the answer in time ({len(shown)} characters came)")
            before = screen.before_pager(shown, self._extras.get("pagers", ()))
            if before is not None:
                self._netmiko.write_channel(" ")
                more = self._until_quiet(max(_POLL, end - time.monotonic()), quiet, lines=1)
                shown = before + screen.after_pager(more)

    def _until_quiet(self, seconds: float, quiet: float, lines: int) -> str:
        """What comes until nothing came for `quiet`, or `seconds` are over; at least so many lines are waited for."""
        parts: list[str] = []
        last = time.monotonic()
        end = last + seconds
        while (now := time.monotonic()) < end:
            more = self._netmiko.read_channel()
            if more:
                parts.append(more)
                last = now
            elif now - last >= quiet and (not lines or len(screen.lines("".join(parts))) >= lines):
                break
            else:
                time.sleep(_POLL)
        return "".join(parts)
