"""Serves a capture folder as devices over real SSH on loopback, decently or with a chosen misbehaviour.

Nothing but 127.0.0.1 is ever bound, and where the kernel tells whose a loopback connection is (Linux), only the user
who started the lab gets in. What a client sends runs in a restricted shell that knows the recorded commands alone.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import selectors
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED, OPEN_SUCCEEDED

from auditor.errors import SetupError
from auditor.lab import misbehaviour, session, shell
from auditor.lab.command_line import ANY, MANNERS, CommandLine
from auditor.lab.misbehaviour import Kind, Misbehaviour
from auditor.lab.recording import Recording, read
from auditor.model import Platform
from auditor.platforms import platforms

LOOPBACK = "127.0.0.1"
_LOG = "auditor.lab.ssh"
logging.getLogger(_LOG).addHandler(logging.NullHandler())  # a client that hangs up is no news
USERNAME = PASSWORD = "lab"  # noqa: S105 - printed in the documentation: the lab holds nothing worth guarding


class Lab:
    """Devices of one capture folder, each on a port of its own.

    `misbehaviours` maps device names to `kind` or `kind:argument` (see `misbehaviour.Kind`). `base_port` 0 lets the
    system choose; otherwise devices get base_port, base_port + 1 … in the order of their names. Use as a context
    manager, or call `start` and `stop`. `known` are the platforms there are, for their transports.
    `typed` are the lines that devices were typed whose command line is no shell.

    Raises CaptureError for a folder that is no capture and SetupError for an
    unknown device or misbehaviour, or a port that is taken.
    """

    def __init__(
        self,
        capture: Path,
        misbehaviours: Mapping[str, str] | None = None,
        *,
        base_port: int = 0,
        password: str = PASSWORD,
        known: Mapping[str, Platform] | None = None,
    ) -> None:
        self._known = platforms() if known is None else known
        self.username, self.password = USERNAME, password
        self.recordings: dict[str, Recording] = {recording.device: recording for recording in read(capture)}
        self.misbehaviours: dict[str, Misbehaviour] = {}
        for name, text in (misbehaviours or {}).items():
            if name not in self.recordings:
                raise SetupError(f"{capture} holds no device {name!r}")
            self.misbehaviours[name] = misbehaviour.parse(text)
        self.ports: dict[str, int] = {}
        self.typed: dict[str, list[str]] = {}
        self.directory = Path()
        self._base_port = base_port
        self._listeners: list[socket.socket] = []
        self._transports: set[paramiko.Transport] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._acceptor: threading.Thread | None = None

    @property
    def known_hosts(self) -> Path:
        """A known_hosts file with the key of every device."""
        return self.directory / "known_hosts"

    @property
    def client_key(self) -> Path:
        """A private key that every device accepts."""
        return self.directory / "id_ecdsa"

    def start(self) -> None:
        """Open all ports; returns when every one listens."""
        self._stop.clear()
        self.directory = Path(tempfile.mkdtemp(prefix="auditor-lab-"))
        try:
            self._open()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Close every port and connection, end the shells, remove the lab's files."""
        self._stop.set()
        if self._acceptor is not None:
            self._acceptor.join()
            self._acceptor = None
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        with self._lock:
            transports = list(self._transports)
            self._transports.clear()
        for transport in transports:
            transport.close()
        for thread in [thread for thread in threading.enumerate() if thread.name.startswith(f"lab-{id(self)}-")]:
            thread.join(5)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.ports.clear()

    def __enter__(self) -> Lab:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _open(self) -> None:
        client_key = paramiko.ECDSAKey.generate()
        client_key.write_private_key_file(str(self.client_key))
        known: list[str] = []
        common, bodies = self.directory / "common", self.directory / "bodies"
        shell.build_common(common, bodies)
        waiting = selectors.DefaultSelector()
        for at, (name, recording) in enumerate(self.recordings.items()):
            bad = self.misbehaviours.get(name)
            folder = self.directory / "devices" / str(at)
            device = session.Personality(name, recording.prompt, folder, common, bad, self._command_line(recording, bad))
            if device.command_line is None:
                shell.build(folder, bodies, recording.answers, bad)
            listener = _listen(self._base_port + at if self._base_port else 0)
            port = self.ports[name] = listener.getsockname()[1]
            key = told = paramiko.ECDSAKey.generate()
            if bad is not None and bad.kind is Kind.CHANGED_HOST_KEY:
                told = paramiko.ECDSAKey.generate()
            known.append(f"[{LOOPBACK}]:{port} {told.get_name()} {told.get_base64()}\n")
            if bad is not None and bad.kind is Kind.DOWN:
                listener.close()
                continue
            self._listeners.append(listener)
            waiting.register(listener, selectors.EVENT_READ, (device, key, client_key))
        self.known_hosts.write_text("".join(known))
        self._acceptor = threading.Thread(target=self._accept, args=(waiting,), name="lab-acceptor", daemon=True)
        self._acceptor.start()

    def _command_line(self, recording: Recording, bad: Misbehaviour | None) -> Callable[[], CommandLine] | None:
        """What makes the sessions of a device whose platform is no shell; None for one that is."""
        name = recording.no_shell(self._known)
        if not name:
            return None
        manners, typed = MANNERS.get(self._known[name].netmiko, ANY), self.typed.setdefault(recording.device, [])
        return partial(CommandLine, recording.device, manners, recording.answers, bad, recording.own_prompt, typed)

    def _accept(self, waiting: selectors.BaseSelector) -> None:
        with waiting:
            while not self._stop.is_set():
                for key, _ in waiting.select(0.1):
                    assert isinstance(key.fileobj, socket.socket)
                    with contextlib.suppress(OSError):
                        connection, client = key.fileobj.accept()
                        if _of_another_user(client[1], key.fileobj.getsockname()[1]):
                            connection.close()
                        else:
                            self._serve(connection, *key.data)

    def _serve(
        self, connection: socket.socket, device: session.Personality, key: paramiko.PKey, client_key: paramiko.PKey
    ) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = paramiko.Transport(connection)
        transport.set_log_channel(_LOG)
        # The pure-Python group exchanges cost the client 24 to 74 ms each; curve25519 costs 2.
        options = transport.get_security_options()
        options.kex = [name for name in options.kex if name.startswith("curve25519")] or options.kex
        transport.add_server_key(key)
        with self._lock:
            self._transports = {open_one for open_one in self._transports if open_one.is_active()} | {transport}
        try:
            transport.start_server(event=threading.Event(), server=_Door(self, device, client_key))
        except paramiko.SSHException:
            transport.close()

    def serve_channel(
        self, channel: paramiko.Channel, device: session.Personality, command: str | None, terminal: bool, turn: threading.Lock
    ) -> None:
        """Run one exec request or login shell in a thread of its own. `turn` is one per connection.

        The request is answered only after this returns. A command that ended sooner would close its channel before the
        client knew that it was opened, so the thread first waits for the client's word on a request of its own.
        """

        def run() -> None:
            transport = channel.get_transport()
            with turn, contextlib.suppress(OSError, EOFError):
                transport.global_request("keepalive@openssh.com", wait=True)
            session.run(channel, device, command, terminal, self._stop.is_set)

        threading.Thread(target=run, name=f"lab-{id(self)}-{device.name}", daemon=True).start()


class _Door(paramiko.ServerInterface):
    """Who may log in to one connection of a device, and what may be asked for then."""

    def __init__(self, lab: Lab, device: session.Personality, client_key: paramiko.PKey) -> None:
        self._lab, self._device, self._client_key = lab, device, client_key
        self._terminals: set[int] = set()
        self._turn = threading.Lock()

    def _verdict(self, right: bool) -> int:
        refusing = self._device.bad is not None and self._device.bad.kind is Kind.WRONG_PASSWORD
        return AUTH_SUCCESSFUL if right and not refusing else AUTH_FAILED

    def get_allowed_auths(self, username: str) -> str:  # noqa: ARG002 - paramiko's signature
        return "password,publickey"

    def check_auth_password(self, username: str, password: str) -> int:
        right = secrets.compare_digest(password.encode(), self._lab.password.encode())
        return self._verdict(username == self._lab.username and right)

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return self._verdict(username == self._lab.username and key == self._client_key)

    def get_banner(self) -> tuple[str | None, str | None]:
        return (self._device.banner(), "en-US") if self._device.banner() else (None, None)

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return OPEN_SUCCEEDED if kind == "session" else OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_pty_request(self, channel: paramiko.Channel, *_: object) -> bool:
        self._terminals.add(channel.get_id())
        return True

    def check_channel_window_change_request(self, *_: object) -> bool:
        return True

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        terminal = channel.get_id() in self._terminals
        self._lab.serve_channel(channel, self._device, command.decode("utf-8", "replace"), terminal, self._turn)
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        self._lab.serve_channel(channel, self._device, None, True, self._turn)
        return True


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen(64)
        listener.setblocking(False)
    except OSError as problem:
        listener.close()
        raise SetupError(f"cannot listen on {LOOPBACK}:{port}: {problem.strerror}") from problem
    return listener


def _of_another_user(client_port: int, own_port: int) -> bool:
    """Whether the kernel's socket table says that the client's end belongs to somebody else."""
    loopback = "0100007F" if sys.byteorder == "little" else "7F000001"
    ends = f"{loopback}:{client_port:04X} {loopback}:{own_port:04X} "
    try:
        table = Path("/proc/net/tcp").read_text()
    except OSError:
        return False
    found = re.search(re.escape(ends) + r"\S+ \S+ \S+ \S+ +(\d+)", table)
    return found is not None and int(found.group(1)) != os.getuid()
