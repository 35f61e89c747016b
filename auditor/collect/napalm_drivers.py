"""NAPALM's drivers eos, nxos and junos on connections of ours: TLS or host key verified first, bounded in size and time.

The drivers' own connections verify nothing unless told, read without bound, and know neither our known_hosts files nor our
jump hosts. So eos and nxos post through `web.Web`, and junos speaks NETCONF on a connection that `ssh.Dialler` opened.
Importing this module costs most of a second; `napalm_session` does it when the first device wants it.
"""

from __future__ import annotations

import logging
from math import ceil
from types import SimpleNamespace
from typing import Any, cast
from xml.sax.saxutils import escape

import paramiko
from jnpr.junos.device import Device as PyezDevice
from jnpr.junos.device import DeviceSessionListener
from jnpr.junos.exception import ConnectClosedError, RpcError, RpcTimeoutError
from napalm.base.exceptions import UnsupportedVersion
from napalm.eos import EOSDriver
from napalm.junos import JunOSDriver
from napalm.nxapi_plumbing import Device as NxapiDevice
from napalm.nxapi_plumbing import NXAPICommandError, RPCClient
from napalm.nxos import NXOSDriver
from ncclient.manager import Manager, make_device_handler
from ncclient.operations import RPCError, TimeoutExpiredError
from ncclient.transport import SSHSession
from ncclient.transport.errors import SessionError, TransportError
from pyeapi.eapilib import CommandError, EapiConnection

from auditor.collect.ssh import Unreached
from auditor.collect.web import Web, document
from auditor.model import GapReason

for _noisy in ("ncclient", "pyeapi", "napalm", "jnpr"):  # what they complain of is told in the gap
    logging.getLogger(_noisy).addHandler(logging.NullHandler())
    logging.getLogger(_noisy).propagate = False

COMMAND_ERRORS = (CommandError, NXAPICommandError, RpcError, RPCError)
"""What the libraries raise when a device refuses a command."""

__all__ = ["COMMAND_ERRORS", "EosDriver", "JunosDriver", "NxosDriver", "UnsupportedVersion", "words_of"]


def words_of(error: BaseException) -> str:
    """The device's own words in an error of COMMAND_ERRORS."""
    if isinstance(error, CommandError):
        told = [text for item in error.output or () if isinstance(item, dict) for text in item.get("errors") or ()]
        return "; ".join(map(str, told)) or str(error.error_text)
    message = getattr(error, "message", None)
    return " ".join(str(message or error).split())


class _Eapi(EapiConnection):  # type: ignore[misc]
    """Carries pyeapi's requests; NAPALM takes such a class as its transport."""

    def __init__(self, host: str, username: str = "", password: str = "", timeout: float = 60, web: Web | None = None) -> None:
        del host, username, password, timeout  # the client has them
        super().__init__()
        assert web is not None
        self._web = web

    def send(self, data: str) -> Any:
        """Post one request; raises CommandError for the device's refusal."""
        answer = document(self._web.post("/command-api", data, "application/json-rpc"), "eAPI")
        if not isinstance(answer, dict) or not isinstance(answer.get("error", {}), dict):
            raise Unreached(GapReason.UNPARSED, "what came back is no answer of eAPI")
        if error := answer.get("error"):
            code = error.get("code")
            code = code if isinstance(code, int) else 0
            output = error.get("data") if isinstance(error.get("data"), list) else []
            raise CommandError(code, str(error.get("message", "")), output=output)
        return answer


class EosDriver(EOSDriver):  # type: ignore[misc]
    """eAPI over HTTPS. Opening sends `show version`; `enable` is never sent."""

    def __init__(self, web: Web) -> None:
        super().__init__(web.address, "", "", optional_args={"transport": _Eapi, "web": web, "force_no_enable": True})


class _Nxapi(RPCClient):  # type: ignore[misc]
    """Carries the JSON-RPC requests of NX-API."""

    def __init__(self, web: Web) -> None:
        super().__init__(web.address, "", "")
        self._web = web

    def _send_request(self, commands: list[str], method: str) -> Any:
        page = self._web.post("/ins", self._build_payload(commands, method), self.headers["content-type"])
        document(page, "NX-API")
        return SimpleNamespace(status_code=page.status, text=page.body.decode("utf-8", "replace"))


class NxosDriver(NXOSDriver):  # type: ignore[misc]
    """NX-API over HTTPS. Opening sends `show hostname`."""

    def __init__(self, web: Web) -> None:
        super().__init__(web.address, "", "", optional_args={"ssl_verify": True})
        self._web = web

    def open(self) -> None:
        """Log in as NAPALM does, through our client."""
        self.device = NxapiDevice(self.hostname, "", "", transport="https", api_format="jsonrpc", verify=True)
        self.device.api = _Nxapi(self._web)
        self._send_command("show hostname")


class _Netconf(SSHSession):  # type: ignore[misc]
    """ncclient's session on a connection that is open and verified; `limit` bounds the bytes of one answer."""

    def __init__(self, transport: paramiko.Transport, limit: int) -> None:
        handler = make_device_handler({"name": "junos"})
        super().__init__(handler)
        self.handler, self.limit, self.taken = handler, limit, 0
        self._transport = transport

    @property
    def overflow(self) -> bool:
        """Whether an answer was longer than the limit, which ended the session."""
        return bool(self.taken > self.limit)

    def greet(self, seconds: float) -> None:
        """Ask for the subsystem and exchange hellos."""
        try:
            channel = self._transport.open_session(timeout=seconds)
            channel.settimeout(seconds)
            channel.invoke_subsystem("netconf")
        except (paramiko.SSHException, EOFError):
            raise Unreached(
                GapReason.REJECTED, "it offers no NETCONF over SSH (Junos: `set system services netconf ssh`)"
            ) from None
        channel.settimeout(None)
        self._channel, self._connected = channel, True
        self._closing.clear()
        self._post_connect(seconds)
        self.parser = self.handler.get_xml_parser(self)

    def _transport_read(self) -> bytes:
        data = cast(bytes, super()._transport_read())
        self.taken += len(data)
        if self.overflow:
            raise TransportError("the answer is too long")
        return data

    def _dispatch_message(self, raw: str) -> Any:
        if "<!" in raw and ("<!DOCTYPE" in raw or "<!ENTITY" in raw):  # RFC 6241, 3: no document type declarations
            self._dispatch_error(TransportError("the answer declares a document type"))
            return None
        return super()._dispatch_message(raw)


class _JunosDevice(PyezDevice):  # type: ignore[misc]
    """PyEZ's device on such a session: no probe, no SSH configuration of its own, no facts gathered."""

    def __new__(cls, *_: object, **__: object) -> _JunosDevice:
        return object.__new__(cls)

    def __init__(self, transport: paramiko.Transport, limit: int, seconds: float) -> None:
        self.session = _Netconf(transport, limit)
        self._seconds = seconds
        super().__init__(host="device", gather_facts=False)

    def _sshconf_lkup(self) -> None:
        """The dialler read the SSH configuration."""

    def open(self, *_: object, **__: object) -> _JunosDevice:
        """Exchange hellos; nothing else is sent."""
        self.session.greet(self._seconds)
        self._conn = Manager(self.session, self.session.handler, timeout=self._seconds)
        self.session.add_listener(DeviceSessionListener(self))
        self.connected = True
        return self

    def json(self, command: str) -> str:
        """The answer of a command as the JSON text that the device wrote. PyEZ would gather facts first, and decode it."""
        reply = self._rpc_reply(f'<command format="json">{escape(command)}</command>')
        return reply.text or ""


class JunosDriver(JunOSDriver):  # type: ignore[misc]
    """NETCONF over SSH. Opening sends the hello alone."""

    def __init__(self, transport: paramiko.Transport, limit: int, seconds: float) -> None:
        super().__init__(
            "device", "", "", timeout=ceil(seconds), optional_args={"lock_disable": True, "ssh_config_file": "/dev/null"}
        )
        self.device = _JunosDevice(transport, limit, seconds)

    def close(self) -> None:
        """Say goodbye in two seconds at most."""
        if self.device.connected:
            self.device.timeout = 2
            super().close()


TIMEOUTS = (RpcTimeoutError, TimeoutExpiredError)
CLOSED = (ConnectClosedError, TransportError, SessionError)
"""What PyEZ and ncclient raise for an answer that does not come, and for a session that ended."""
