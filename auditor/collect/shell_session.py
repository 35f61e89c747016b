"""Commands typed one by one into a login shell, as a Nornir connection around Netmiko.

For devices that give no exec channel. Netmiko logs in and finds the prompt; the end of an answer is never guessed from
the prompt alone, but seen by a random mark with the exit status, printed after the command, with the whole prompt behind
it: text like the prompt inside an answer cuts nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import paramiko

from auditor.collect.exec_channel import Limits
from auditor.collect.output import Answer
from auditor.collect.script import GRACE, Command, Mark
from auditor.collect.ssh import Deadline, Dialler, Unreached
from auditor.collect.terminal import Overflow, login, why
from auditor.model import GapReason, Privilege

_SBIN = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin"
_PREPARE = f"export LC_ALL=C PAGER=cat; if ({_SBIN}); then {_SBIN}; fi"


class ShellConnection:
    """The Nornir connection plugin. `extras`: `dialler`, `route`, `limits`, `device_type`. Opening raises Unreached."""

    def __init__(self) -> None:
        self._transport: paramiko.Transport | None = None
        self._netmiko: Any = None
        self._prompt = ""
        self._type = ""
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
        """Connect, log in and wait for a prompt. All but `extras` are Nornir's and unused: the route holds them."""
        del hostname, username, password, port, platform, configuration
        assert extras is not None
        dialler: Dialler = extras["dialler"]
        self.limits, self._type = extras["limits"], extras["device_type"]
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
    def connection(self) -> ShellConnection:
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
        assert self._transport is not None
        self._netmiko = login(self._type, self._transport, self.deadline, self.limits.output)
        self._prompt = self._netmiko.find_prompt()
        self._send(_PREPARE, 10)

    def _one(self, command: Command) -> Answer:
        if self.deadline.over:
            return Answer(failure=GapReason.TIMEOUT, detail=f"not asked: the device's {self.deadline.seconds:g} s were used up")
        if self._transport is None or not self._transport.is_active():
            return Answer(failure=GapReason.UNREACHABLE, detail="not asked: the connection broke before")
        text = f"sudo -n {command.text}" if command.privilege is Privilege.SUDO else command.text
        begin = time.monotonic()
        try:
            if self._netmiko is None:
                self._start()
            body, status = self._send(f"{text} </dev/null", command.seconds)
        except Exception as error:
            self._leave()
            seconds = time.monotonic() - begin
            if isinstance(error, Overflow):
                detail = f"longer than {self.limits.output} bytes; the rest was cut"
                return Answer(failure=GapReason.TRUNCATED, detail=detail, seconds=seconds)
            failure = why(error)
            return Answer(failure=failure.reason, detail=failure.detail, seconds=seconds)
        return Answer(body.encode(), status=status, seconds=time.monotonic() - begin)

    def _send(self, text: str, seconds: float) -> tuple[str, int]:
        """Type one line between two marks; it holds them in halves, so that its echo is none. Output and exit status."""
        mark = Mark.fresh().text
        typed = f"{mark[:16]}''{mark[16:]}"
        line = f"printf '\\n%s begin\\n' {typed}; {text}; printf '\\n%s end %s\\n' {typed} $?"
        end = rf"{mark} end \d{{1,3}}\s+(?:.*\s)?{re.escape(self._prompt.strip())}\s*$"
        self._netmiko.taken = 0
        shown = self._netmiko.send_command(
            line, expect_string=end, read_timeout=min(seconds + GRACE, self.deadline.left()),
            strip_prompt=False, strip_command=False, cmd_verify=False,
        )  # fmt: skip
        plain = str(shown).replace("\r\n", "\n").replace("\r", "")
        found = re.search(rf"(?:\A|\n){mark} begin\n(.*?)\n{mark} end (\d{{1,3}})\n", plain, re.DOTALL)
        if found is None:
            raise Unreached(GapReason.TRUNCATED, "the beginning of the answer is missing")
        return found.group(1), int(found.group(2))

    def _leave(self) -> None:
        """Give up a shell in which a command hangs; the next one starts a new shell."""
        if self._netmiko is not None and self._netmiko.remote_conn is not None:
            self._netmiko.remote_conn.close()
        self._netmiko = None
