"""A terminal on a device: Netmiko's knowledge of prompts and paging, on a connection that is open and verified already."""

from __future__ import annotations

import codecs
import re
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import netmiko
import paramiko
from netmiko.ssh_dispatcher import ssh_dispatcher

from auditor.collect.output import Answer
from auditor.collect.plugin import SshPlugin
from auditor.collect.script import Command
from auditor.collect.ssh import Deadline, Unreached, explain
from auditor.model import GapReason

FAILURES: tuple[tuple[type[BaseException], GapReason, str], ...] = (
    (netmiko.ReadTimeout, GapReason.TIMEOUT, "no end of the answer in time"),
    (netmiko.NetmikoAuthenticationException, GapReason.AUTH, "the login was refused"),
    (netmiko.NetmikoTimeoutException, GapReason.TIMEOUT, "no answer in time"),
    (netmiko.exceptions.ReadException, GapReason.TRUNCATED, "the connection was closed"),
    (netmiko.exceptions.WriteException, GapReason.UNREACHABLE, "the connection was closed"),
    (ValueError, GapReason.UNPARSED, "no prompt was found"),
)
"""What Netmiko raises; everything else is judged as in `ssh`."""

_CHUNK = 65536
_TAIL = 300
QUESTION = re.compile(r"(?:[\[(](?:[Yy]es|[Yy])/(?:[Nn]o|[Nn])[\])]\s*[:?]?|[Pp]ass(?:word|phrase|code)[^\n:]{0,60}:)\s*\Z")
"""How a device asks: `Change now? [Y/N]:`, `Enter new password:`."""

_ASKED_OR_READY = r"[\]>]:?\s*$|assword[^\n:]*:\s*$"
"""A question or a prompt of Huawei's at the end."""
_SETTLE = 0.2
_SILENT = 3.0
"""Seconds in which the rest of a banner comes, and the first of one."""

_BACK = re.compile(r"\x1b\[(\d{1,3})D")
_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[=>78])")
_CUT_CODE = re.compile(r" ?\x1b(?:\[[0-?]{0,30}[ -/]{0,4})?\Z")
"""Codes of a terminal: the cursor back by so many columns, any other, and one of which the end has not come yet."""


class Overflow(Exception):
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


class Typed(SshPlugin):
    """Commands typed one by one into a terminal. A command that hangs costs its session; the next one starts a new one.

    `extras` also holds `device_type`: Netmiko's.
    """

    def __init__(self) -> None:
        super().__init__()
        self._netmiko: Any = None
        self._extras: dict[str, Any] = {}

    def _begin(self, extras: dict[str, Any]) -> None:
        super()._begin(extras)
        assert self._transport is not None
        self._extras = extras
        try:
            self._start()
        except Exception as error:
            self._transport.close()
            raise why(error) from None

    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each command, in order; never raises for what the device does."""
        return [self._one(command) for command in commands]

    @abstractmethod
    def _start(self) -> None:
        """Begin a session that can be asked. Raises what `why` knows."""

    @abstractmethod
    def _typed(self, command: Command) -> tuple[str, int | None]:
        """The answer and its exit status, where there is one. Raises what `why` knows."""

    def _login(self) -> None:
        """Log in on a terminal of its own."""
        assert self._transport is not None
        self._netmiko = login(self._extras["device_type"], self._transport, self.deadline, self.limits.output)

    def _leave(self) -> None:
        """Give up a session in which a command hangs."""
        if self._netmiko is not None and self._netmiko.remote_conn is not None:
            self._netmiko.remote_conn.close()
        self._netmiko = None

    def _one(self, command: Command) -> Answer:
        stop = self._stop()
        if stop is not None:
            return stop
        begin = time.monotonic()
        try:
            if self._netmiko is None:
                self._start()
            body, status = self._typed(command)
        except Exception as error:  # whatever the libraries raise belongs to this device alone
            self._leave()
            failure = why(error)
            if isinstance(error, Overflow):
                failure = Unreached(GapReason.TRUNCATED, f"longer than {self.limits.output} bytes; the rest was cut")
            return Answer(failure=failure.reason, detail=failure.detail, seconds=time.monotonic() - begin)
        return Answer(body.encode(), status=status, seconds=time.monotonic() - begin)


def login(device_type: str, transport: paramiko.Transport, deadline: Deadline, limit: int) -> Any:
    """A Netmiko connection of this type over an open transport, bounded in time and size; what Netmiko types when it starts is in
    docs/security.md. Raises what Netmiko raises, Unreached and Overflow."""
    kind = ssh_dispatcher(device_type)

    class Session(kind):  # type: ignore[misc, valid-type]
        """Netmiko drains a channel without bound, drops bytes and leaves codes that a chunk cuts in two, and types on when it is
        asked something; this one does none of these."""

        taken = 0
        tail = ""
        held = ""
        _read_buffer: str
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def _build_ssh_client(self) -> _Adopted:
            return _Adopted(transport)

        def special_login_handler(self, delay_factor: float = 1.0) -> None:
            """Netmiko answers what a device asks at login; on Huawei it would even save the configuration. Nothing is changed
            here, and nothing typed before the device has said what it wants."""
            del delay_factor
            if device_type.startswith("huawei"):
                decline(self)
            else:
                self._read_buffer = greeting(self)
                refuse(self.tail)

        def _test_channel_read(self, count: int = 40, pattern: str = "") -> str:
            """Netmiko waits three seconds for a greeting to end, where it has no pattern; it has ended."""
            if pattern or not self._read_buffer:
                return str(super()._test_channel_read(count, pattern))
            return self.read_channel()

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
                raise Overflow
            coded = self.held + self.decoder.decode(data)
            cut = _CUT_CODE.search(coded)
            self.held = cut.group() if cut else ""
            text = plain(coded.removesuffix(self.held), self.strip_ansi_escape_codes)
            self.tail = (self.tail + text)[-_TAIL:]
            text = self._read_buffer + text
            self._read_buffer = ""
            return text

        def write_channel(self, out_data: str) -> None:
            refuse(self.tail)
            super().write_channel(out_data)

    return Session(
        host=transport.getpeername()[0], device_type=device_type, username="", auth_timeout=deadline.left(),
        session_timeout=deadline.left(), read_timeout_override=None, fast_cli=True,
    )  # fmt: skip


def plain(text: str, strip: Callable[[str], str]) -> str:
    """Text without the codes of a terminal. `strip` is Netmiko's; it knows those that stand for a line end, and forgets how far
    the cursor went back, by which a pager takes itself away: that becomes as many backspaces."""
    text = _BACK.sub(lambda found: "\b" * int(found.group(1)) if found.group(1) != "1" else found.group(), text)
    return _CODE.sub("", strip(text))


def refuse(text: str) -> None:
    """Raises Unreached where a device waits for an answer to a question: whatever is typed then could change something."""
    if QUESTION.search(text):
        asked = text.strip().splitlines()[-1]
        raise Unreached(GapReason.AUTH, f"the device asks something that is not answered: {asked}")


def greeting(session: Any) -> str:
    """What a device says before anything is typed; a silent one is waited for a while."""
    text, end = "", time.monotonic() + _SILENT
    while time.monotonic() < end:
        more = session.read_channel()
        if text and not more:
            break
        text += more
        time.sleep(_SETTLE if text else 0.01)
    return text


def decline(session: Any) -> None:
    """Say no to an offer to change the password. Whatever else is asked, `refuse` lets nothing more be typed.

    Huawei asks whether an old password should be changed, and whether a risky configuration should be saved.
    """
    for _ in range(3):
        text = session.read_until_pattern(pattern=_ASKED_OR_READY, read_timeout=20)
        time.sleep(_SETTLE)
        text += session.read_channel()
        if QUESTION.search(text) is None or "hange" not in text:
            return
        session.tail = ""
        session.write_channel(f"N{session.RETURN}")


def why(error: BaseException) -> Unreached:
    """The failure that an exception of Netmiko, paramiko or the socket layer stands for."""
    if isinstance(error, Unreached):
        return error
    for kind, reason, words in FAILURES:
        if isinstance(error, kind):
            return Unreached(reason, words)
    return explain(error)
