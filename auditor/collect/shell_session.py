"""Commands typed one by one into a login shell, as a Nornir connection around Netmiko.

For devices that give no exec channel. Netmiko logs in and finds the prompt; the end of an answer is never guessed from
the prompt alone, but seen by a random mark with the exit status, printed after the command, with the whole prompt behind
it: text like the prompt inside an answer cuts nothing.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Sequence
from typing import Any

import netmiko
import paramiko
from netmiko.ssh_dispatcher import ssh_dispatcher

from auditor.collect.exec_channel import Limits
from auditor.collect.output import Answer
from auditor.collect.script import GRACE, Command, Mark
from auditor.collect.ssh import Deadline, Dialler, Unreached, explain
from auditor.model import GapReason, Privilege

FAILURES: tuple[tuple[type[BaseException], GapReason, str], ...] = (
    (netmiko.ReadTimeout, GapReason.TIMEOUT, "no end of the answer in time"),
    (netmiko.NetmikoAuthenticationException, GapReason.AUTH, "the login was refused"),
    (netmiko.NetmikoTimeoutException, GapReason.TIMEOUT, "no answer in time"),
    (netmiko.exceptions.ReadException, GapReason.TRUNCATED, "the connection was closed"),
    (netmiko.exceptions.WriteException, GapReason.UNREACHABLE, "the connection was closed"),
    (ValueError, GapReason.UNPARSED, "no shell prompt was found"),
)
"""What Netmiko raises; everything else is judged as in `ssh`."""

_CHUNK = 65536
_SBIN = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin"
_PREPARE = f"export LC_ALL=C PAGER=cat; if ({_SBIN}); then {_SBIN}; fi"


class _Overflow(Exception):
    """An answer is longer than the limit."""


class _Adopted:
    """A connection that is open already, in the shape in which Netmiko wants its client."""

    def __init__(self, transport: paramiko.Transport) -> None:
        self._transport = transport

    def connect(self, **_: object) -> None:
        """Nothing to do: the dialler connected, checked the host key and logged in."""

    def invoke_shell(self, term: str, width: int, height: int) -> paramiko.Channel:
        """A login shell on a terminal of its own."""
        channel = self._transport.open_session()
        channel.get_pty(term, width, height)
        channel.invoke_shell()
        return channel

    def close(self) -> None:
        """The transport outlives one shell."""


def _session(device_type: str, transport: paramiko.Transport, deadline: Deadline, limit: int) -> Any:
    """A Netmiko connection of this type over an open transport, bounded in time and size."""
    kind = ssh_dispatcher(device_type)

    class Session(kind):  # type: ignore[misc, valid-type]
        """Netmiko drains a channel without bound and drops bytes that a chunk cuts in two; this one does neither."""

        taken = 0
        _read_buffer: str
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def _build_ssh_client(self) -> _Adopted:
            return _Adopted(transport)

        def read_channel(self) -> str:
            if deadline.over:
                raise Unreached(GapReason.TIMEOUT, f"the device's {deadline.seconds:g} s were used up")
            data = b""
            if self.remote_conn.recv_ready():
                data = self.remote_conn.recv(_CHUNK)
            elif self.remote_conn.closed or self.remote_conn.eof_received:
                raise netmiko.exceptions.ReadException("closed by the device")
            self.taken += len(data)
            if self.taken > limit:
                raise _Overflow
            text: str = self._read_buffer + self.strip_ansi_escape_codes(self.decoder.decode(data))
            self._read_buffer = ""
            return text

    return Session(
        host=transport.getpeername()[0], device_type=device_type, username="", auth_timeout=deadline.left(),
        session_timeout=deadline.left(), read_timeout_override=None, fast_cli=True,
    )  # fmt: skip


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
            raise _explain(error) from None

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
        self._netmiko = _session(self._type, self._transport, self.deadline, self.limits.output)
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
            if isinstance(error, _Overflow):
                detail = f"longer than {self.limits.output} bytes; the rest was cut"
                return Answer(failure=GapReason.TRUNCATED, detail=detail, seconds=seconds)
            failure = _explain(error)
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


def _explain(error: BaseException) -> Unreached:
    if isinstance(error, Unreached):
        return error
    for kind, reason, words in FAILURES:
        if isinstance(error, kind):
            return Unreached(reason, words)
    return explain(error)
