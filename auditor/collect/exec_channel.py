"""All commands of a device on one exec channel, as a Nornir connection: one round trip.

A command that hangs costs its own deadline: what was whole before it is kept, what stands behind it goes out on a new
channel of the same connection.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import paramiko

from auditor.collect.output import Answer
from auditor.collect.plugin import SshPlugin
from auditor.collect.script import GRACE, Command, Mark, Splitter, batches, join
from auditor.collect.ssh import explain
from auditor.model import GapReason

_CHUNK = 65536
_WINDOW = 2 * 1024 * 1024
_TICK = 0.1
"""Seconds after which the error stream is drained even when the other is silent: both share one window of 2 MB."""
_MAX_ERRORS = 65536


class ExecConnection(SshPlugin):
    """The Nornir connection plugin."""

    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each command, in order; never raises for what the device does."""
        answers: list[Answer] = []
        while len(answers) < len(commands):
            rest = commands[len(answers) :]
            batch = [rest[at] for at in batches(rest)[0]]
            if (stop := self._stop()) is not None:
                answers += [stop] * len(rest)
                break
            try:
                got, fatal = self._run(batch)
            except Exception as error:  # whatever paramiko raises belongs to this device alone
                failure = explain(error)
                got, fatal = [Answer(failure=failure.reason, detail=failure.detail)], True
            answers += got
            if fatal:
                last = got[-1]
                answers += [Answer(failure=last.failure, detail=last.detail)] * (len(commands) - len(answers))
        return answers

    def _run(self, commands: Sequence[Command]) -> tuple[list[Answer], bool]:
        """Answers of the first commands, at least one; and whether asking the others is pointless."""
        assert self._transport is not None
        mark = Mark.fresh()
        out = Splitter(mark, len(commands), self.limits.output)
        errors = Splitter(mark, len(commands), _MAX_ERRORS)
        channel = self._transport.open_session(timeout=self.deadline.left(self.limits.start))
        try:
            channel.settimeout(self.deadline.left(self.limits.start))
            channel.exec_command(join(commands, mark))
            channel.shutdown_write()
            closed = self._read(channel, commands, out, errors)
            if out.done or closed:
                _drain_to_end(channel, errors)
            status = channel.exit_status if channel.exit_status_ready() else None
        finally:
            channel.close()
        finished = [
            Answer(piece.body, errors.pieces[at].body if at < len(errors.pieces) else b"", piece.status, piece.seconds)
            for at, piece in enumerate(out.pieces)
        ]
        if out.done:
            return finished, False
        last, fatal = self._unfinished(commands[len(finished)], out, errors, status if closed else None, closed)
        return [*finished, last], fatal

    def _read(self, channel: paramiko.Channel, commands: Sequence[Command], out: Splitter, errors: Splitter) -> bool:
        """Read until the last mark, the end (then True), an overflow, or the running command's deadline."""
        begin = time.monotonic()
        while not out.done and not out.overflow:
            since, most = (begin, self.limits.start)
            if out.started is not None:
                since, most = out.started, commands[len(out.pieces)].seconds + GRACE
            left = min(since + most - time.monotonic(), self.deadline.left())
            if left <= 0 or self.deadline.over:
                return False
            channel.settimeout(min(left, _TICK))
            try:
                data = channel.recv(_CHUNK)
            except TimeoutError:
                data = None
            now = time.monotonic()
            if data:
                out.feed(data, now)
            _drain(channel, errors, now)
            if data == b"":
                return True
        return False

    def _unfinished(
        self, command: Command, out: Splitter, errors: Splitter, status: int | None, closed: bool
    ) -> tuple[Answer, bool]:
        """The answer of the command that was running when reading ended; and whether asking the others is pointless."""
        body, words = out.rest(), errors.rest()
        if out.started is None:
            said = next(iter((body or words).decode("utf-8", "replace").strip().splitlines()), "")
            if not closed:
                detail = f"no shell began within {self.limits.start:g} s" + (f": {said}" if said else "")
                return Answer(failure=GapReason.TIMEOUT, detail=detail), True
            if status is None and not said:
                return Answer(failure=GapReason.UNREACHABLE, detail="the connection was closed before any answer"), True
            detail = f"the device did not run a shell (exit status {status}): {said or 'no output'}"
            return Answer(failure=GapReason.REJECTED, detail=detail), True
        if out.overflow:
            reason, detail = GapReason.TRUNCATED, f"longer than {self.limits.output} bytes; the rest was cut"
        elif closed:
            reason, detail = GapReason.TRUNCATED, f"the connection was closed after {len(body)} bytes of the answer"
        elif self.deadline.over:
            reason, detail = GapReason.TIMEOUT, f"unfinished when the device's {self.deadline.seconds:g} s were used up"
        else:
            reason, detail = GapReason.TIMEOUT, f"no end of the answer within {command.seconds:g} s ({len(body)} bytes came)"
        return Answer(body, words, None, time.monotonic() - out.started, reason, detail), False


def _drain(channel: paramiko.Channel, errors: Splitter, now: float) -> None:
    """Take what the error stream holds now; no more than a window, so that a flood there starves nothing."""
    for _ in range(_WINDOW // _CHUNK):
        if not channel.recv_stderr_ready() or not (data := channel.recv_stderr(_CHUNK)):
            return
        errors.feed(data, now)


def _drain_to_end(channel: paramiko.Channel, errors: Splitter) -> None:
    """The marks on the error stream may trail those on the other by a moment."""
    end = time.monotonic() + 1.0
    while not errors.done and time.monotonic() < end:
        channel.settimeout(max(0.01, end - time.monotonic()))
        try:
            data = channel.recv_stderr(_CHUNK)
        except TimeoutError:
            break
        if not data:
            break
        errors.feed(data, time.monotonic())
