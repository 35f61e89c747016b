"""A terminal on a device: Netmiko's knowledge of prompts and paging, on a connection that is open and verified already."""

from __future__ import annotations

import codecs
import re
from typing import Any

import netmiko
import paramiko
from netmiko.ssh_dispatcher import ssh_dispatcher

from auditor.collect.ssh import Deadline, Unreached, explain
from auditor.model import GapReason

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
_QUESTION = re.compile(r"\[(?:[Yy]es|[Yy])/(?:[Nn]o|[Nn])\]\s*:?\s*$")
"""How a device asks at login: `Change now? [Y/N]:`."""


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


def login(device_type: str, transport: paramiko.Transport, deadline: Deadline, limit: int) -> Any:
    """A Netmiko connection of this type over an open transport, bounded in time and size; what Netmiko types when it starts is in
    docs/security.md. Raises what Netmiko raises, Unreached and Overflow."""
    kind = ssh_dispatcher(device_type)

    class Session(kind):  # type: ignore[misc, valid-type]
        """Netmiko drains a channel without bound and drops bytes that a chunk cuts in two; this one does neither."""

        taken = 0
        _read_buffer: str
        decoder = codecs.getincrementaldecoder("utf-8")("replace")

        def _build_ssh_client(self) -> _Adopted:
            return _Adopted(transport)

        def special_login_handler(self, delay_factor: float = 1.0) -> None:
            """Netmiko answers what a device asks at login; on Huawei it would even save the configuration. Nothing is changed."""
            del delay_factor
            if device_type.startswith("huawei"):
                decline(self)

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
            text: str = self._read_buffer + self.strip_ansi_escape_codes(self.decoder.decode(data))
            self._read_buffer = ""
            return text

    return Session(
        host=transport.getpeername()[0], device_type=device_type, username="", auth_timeout=deadline.left(),
        session_timeout=deadline.left(), read_timeout_override=None, fast_cli=True,
    )  # fmt: skip


def decline(session: Any) -> None:
    """Say no to an offer to change the password; any other question is the device's reason not to be asked.

    Raises Unreached. Huawei asks whether an old password should be changed, and whether a risky configuration should be saved.
    """
    text = session.read_until_pattern(pattern=r"(?:[\]>]|\]:?)\s*$", read_timeout=20)
    for _ in range(3):
        if _QUESTION.search(text) is None:
            return
        if "hange" not in text:
            asked = text.strip().splitlines()[-1]
            raise Unreached(GapReason.AUTH, f"the device asks something at login that is not answered: {asked}")
        session.write_channel(f"N{session.RETURN}")
        text = session.read_until_pattern(pattern=r"(?:[\]>]|\]:?)\s*$", read_timeout=20)


def why(error: BaseException) -> Unreached:
    """The failure that an exception of Netmiko, paramiko or the socket layer stands for."""
    if isinstance(error, Unreached):
        return error
    for kind, reason, words in FAILURES:
        if isinstance(error, kind):
            return Unreached(reason, words)
    return explain(error)
