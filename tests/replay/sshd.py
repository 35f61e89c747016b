"""A small SSH server on loopback for what a replayed device does not do: a real shell without limits, port forwarding,
counted logins, and silence before the first byte."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import threading
from pathlib import Path

import paramiko
from paramiko.common import AUTH_FAILED, AUTH_SUCCESSFUL, OPEN_SUCCEEDED


class Sshd:
    """Runs what it is sent under `sh` with `folder` first in PATH. Use as a context manager."""

    def __init__(self, folder: Path, password: str = "pw") -> None:
        self.folder, self.password = folder, password
        self.key = paramiko.ECDSAKey.generate()
        self.logins: list[str] = []
        self.port = 0
        self._listener = socket.socket()
        self._transports: list[paramiko.Transport] = []

    def script(self, name: str, text: str) -> None:
        """Add a command to the device."""
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    @property
    def known_hosts_line(self) -> str:
        return f"[127.0.0.1]:{self.port} {self.key.get_name()} {self.key.get_base64()}\n"

    def __enter__(self) -> Sshd:
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for transport in self._transports:
            transport.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            options = transport.get_security_options()
            options.kex = [name for name in options.kex if name.startswith("curve25519")]
            transport.add_server_key(self.key)
            self._transports.append(transport)
            server = _Server(self)
            with contextlib.suppress(paramiko.SSHException):
                transport.start_server(event=threading.Event(), server=server)
            threading.Thread(target=server.forward_all, args=(transport,), daemon=True).start()

    def run(self, channel: paramiko.Channel, command: str) -> None:
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        process = subprocess.Popen(
            ["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        assert process.stdout is not None
        assert process.stderr is not None
        with contextlib.suppress(OSError, EOFError), selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ, channel.sendall)
            ready.register(process.stderr, selectors.EVENT_READ, channel.sendall_stderr)
            while ready.get_map() and not channel.closed:
                for key, _ in ready.select(0.2):
                    if data := os.read(key.fd, 32768):
                        key.data(data)
                    else:
                        ready.unregister(key.fileobj)
            channel.send_exit_status(process.wait() if not channel.closed else 255)
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
        channel.close()


class _Server(paramiko.ServerInterface):
    def __init__(self, sshd: Sshd) -> None:
        self._sshd = sshd
        self._targets: dict[int, socket.socket] = {}

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self._sshd.logins.append(username)
        return AUTH_SUCCESSFUL if password == self._sshd.password else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        threading.Thread(target=self._sshd.run, args=(channel, command.decode()), daemon=True).start()
        return True

    def check_channel_direct_tcpip_request(self, chanid: int, origin: tuple[str, int], destination: tuple[str, int]) -> int:
        try:
            self._targets[chanid] = socket.create_connection(destination, timeout=5)
        except OSError:
            return paramiko.common.OPEN_FAILED_CONNECT_FAILED
        return OPEN_SUCCEEDED

    def forward_all(self, transport: paramiko.Transport) -> None:
        while transport.is_active():
            channel = transport.accept(1)
            if channel is not None and channel.get_id() in self._targets:
                sock = self._targets.pop(channel.get_id())
                threading.Thread(target=_forward, args=(channel, sock), daemon=True).start()


def _forward(channel: paramiko.Channel, sock: socket.socket) -> None:
    sock.settimeout(None)
    with contextlib.suppress(OSError, EOFError), selectors.DefaultSelector() as ready, sock:
        ready.register(sock, selectors.EVENT_READ, (sock, channel))
        ready.register(channel, selectors.EVENT_READ, (channel, sock))
        while True:
            for key, _ in ready.select(1):
                source, target = key.data
                data = source.recv(32768)
                if not data:
                    channel.close()
                    return
                target.sendall(data)
