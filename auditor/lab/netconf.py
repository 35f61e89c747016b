"""Speaks NETCONF over SSH (Junos): the subsystem `netconf`, hello and `<command>` RPCs, answered from recorded commands."""

from __future__ import annotations

import contextlib
import re
import secrets
import socket
import threading
from collections.abc import Mapping
from html import unescape
from types import TracebackType
from xml.sax.saxutils import escape

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED

from auditor.lab.api import Trouble
from auditor.lab.server import LOOPBACK, PASSWORD, USERNAME
from auditor.lab.shell import Recorded

_BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
_END = "]]>]]>"
_HELLO = (
    f'<hello xmlns="{_BASE}"><capabilities><capability>{_BASE}</capability>'
    "<capability>http://xml.juniper.net/netconf/junos/1.0</capability></capabilities><session-id>4242</session-id></hello>"
)
_LOG = "auditor.lab.ssh"


class NetconfDevice:
    """One device's NETCONF on loopback. `asked` are the RPCs that it was sent, `tried` the passwords.

    A recorded `show x` answers in text, `show x | display json` in JSON and `show x | display xml` in XML.
    """

    def __init__(self, recorded: Mapping[str, Recorded], trouble: Trouble | None = None, *, password: str = PASSWORD) -> None:
        self._recorded, self._trouble, self._password = recorded, trouble, password
        self.key = paramiko.ECDSAKey.generate()
        self.asked: list[str] = []
        self.tried: list[str] = []
        self._listener = socket.socket()
        self._transports: list[paramiko.Transport] = []
        self._stop = threading.Event()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def known_hosts(self, key: paramiko.PKey | None = None) -> str:
        """The line of known_hosts for this device, with its own key or another."""
        key = key or self.key
        return f"[{LOOPBACK}]:{self.port} {key.get_name()} {key.get_base64()}\n"

    def __enter__(self) -> NetconfDevice:
        self._listener.bind((LOOPBACK, 0))
        self._listener.listen(16)
        threading.Thread(target=self._accept, name="lab-netconf", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for transport in self._transports:
            transport.close()

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.set_log_channel(_LOG)
            transport.add_server_key(self.key)
            self._transports.append(transport)
            with contextlib.suppress(paramiko.SSHException):
                transport.start_server(event=threading.Event(), server=_Door(self))

    def let_in(self, username: str, password: str) -> bool:
        """Whether a login is taken."""
        self.tried.append(password)
        right = username == USERNAME and secrets.compare_digest(password.encode(), self._password.encode())
        return right and self._trouble is not Trouble.REFUSED

    def offers(self, subsystem: str) -> bool:
        """Whether the subsystem is there."""
        return subsystem == "netconf" and self._trouble is not Trouble.OFF

    def converse(self, channel: paramiko.Channel) -> None:
        """Hello, then one answer for each RPC."""
        with contextlib.suppress(OSError, EOFError):
            if self._trouble is not Trouble.MUTE:
                channel.sendall((_HELLO + _END).encode())
            text = ""
            while data := channel.recv(65536):
                text += data.decode("utf-8", "replace")
                while _END in text:
                    message, _, text = text.partition(_END)
                    if (reply := self._reply(message)) is None:
                        continue
                    whole = (reply + "\n" + _END).encode()
                    if self._trouble is Trouble.CUT and "<ok/>" not in reply:
                        channel.sendall(whole[: len(whole) // 2])
                        break
                    channel.sendall(whole)
                else:
                    continue
                break
        channel.close()

    def _reply(self, message: str) -> str | None:
        ident = re.search(r'message-id="([^"]*)"', message)
        if ident is None:
            return None
        command = re.search(r'<(?:\w+:)?command(?:\s+format="(\w+)")?[^>]*>([^<]*)<', message)
        opening = f'<rpc-reply xmlns="{_BASE}" xmlns:junos="http://xml.juniper.net/junos/19.4R1/junos" message-id="{ident[1]}">'
        if command is None:
            self.asked.append("close-session" if "close-session" in message else message)
            return f"{opening}<ok/></rpc-reply>"
        text, form = unescape(command[2]), command[1] or "xml"
        self.asked.append(text)
        if self._trouble is Trouble.SILENT:
            return None
        return f"{opening}{self._body(text, form)}</rpc-reply>"

    def _body(self, command: str, form: str) -> str:
        found = self._recorded.get(command if form == "text" else f"{command} | display {form}")
        if found is None or found.exit_status:
            words = found.body.strip() if found is not None else "syntax error, expecting <command>"
            return (
                "<rpc-error><error-type>protocol</error-type><error-tag>operation-failed</error-tag>"
                f"<error-severity>error</error-severity><error-message>{escape(words)}</error-message></rpc-error>"
            )
        if form == "xml":
            return re.sub(r"^\s*(?:<\?xml[^>]*>)?\s*<rpc-reply[^>]*>|</rpc-reply>\s*$", "", found.body)
        return f"<output>{escape(found.body)}</output>" if form == "text" else escape(found.body)


class _Door(paramiko.ServerInterface):
    """Who may log in to one connection, and what may be asked for then."""

    def __init__(self, device: NetconfDevice) -> None:
        self._device = device

    def get_allowed_auths(self, username: str) -> str:  # noqa: ARG002 - paramiko's signature
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        return AUTH_SUCCESSFUL if self._device.let_in(username, password) else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return OPEN_SUCCEEDED

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        if not self._device.offers(name):
            return False
        threading.Thread(target=self._device.converse, args=(channel,), name="lab-netconf-session", daemon=True).start()
        return True
