"""Serves a replayed device's API over HTTPS on loopback, decently or with a chosen trouble.

What is spoken there stands in `eapi`, `nxapi` and `nvue`.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import secrets
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from auditor.lab.server import LOOPBACK, PASSWORD, USERNAME
from auditor.lab.shell import Recorded


class Trouble(StrEnum):
    """One way in which an API behaves badly."""

    REFUSED = "refused"  # every login is refused
    SILENT = "silent"  # takes the request and never answers
    CUT = "cut"  # ends the connection in the middle of an answer
    HTML = "html"  # another program answers with a page
    MUTE = "mute"  # lets the client in and never says hello (NETCONF)
    OFF = "off"  # the web server runs, the API does not


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, media type and body of an answer."""

    status: int
    body: bytes
    media: str = "application/json"


Speak = Callable[[str, bytes], tuple[list[str], Reply]]
"""(path with query, body of the request; empty for GET) -> the commands in it, and the answer."""


def by_command(recorded: Iterable[Recorded]) -> Mapping[str, Recorded]:
    """Recorded answers by their commands."""
    return {one.command: one for one in recorded}


class ApiDevice:
    """One device's API. Use as a context manager, or call `start` and `stop`.

    `asked` are the commands that it was sent, `tried` the passwords. `after` is the number of good answers before the trouble.
    """

    def __init__(
        self, speak: Speak, context: ssl.SSLContext, trouble: Trouble | None = None, *, after: int = 0, password: str = PASSWORD
    ) -> None:
        self._speak, self._context, self._password = speak, context, password
        self._trouble, self._after = trouble, after
        self.asked: list[str] = []
        self.tried: list[str] = []
        self._stop = threading.Event()
        self._server: ThreadingHTTPServer | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Listen."""
        device = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                self.request = device._context.wrap_socket(self.request, server_side=True)
                super().setup()

            def finish(self) -> None:
                with contextlib.suppress(OSError):
                    super().finish()
                self.request.close()

            def do_GET(self) -> None:
                device._answer(self, b"")

            def do_POST(self) -> None:
                device._answer(self, self.rfile.read(int(self.headers.get("Content-Length", "0"))))

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """A client that hangs up is no news."""

        self._server = Server((LOOPBACK, 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="lab-api", daemon=True).start()

    def stop(self) -> None:
        """Close the port."""
        self._stop.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def __enter__(self) -> ApiDevice:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        trouble = self._trouble if len(self.asked) >= self._after else None
        if not self._let_in(handler.headers.get("Authorization", "")) or trouble is Trouble.REFUSED:
            _send(handler, Reply(401, b"Unauthorized\n", "text/plain"))
            return
        commands, reply = self._speak(handler.path, body)
        self.asked += commands
        if trouble is Trouble.SILENT:
            self._stop.wait()
        elif trouble is Trouble.HTML:
            reply = Reply(200, b"<html><body>Please sign in</body></html>", "text/html")
        elif trouble is Trouble.OFF:
            reply = Reply(404, b"<html><head><title>404 Not Found</title></head></html>", "text/html")
        _send(handler, reply, cut=trouble is Trouble.CUT)

    def _let_in(self, header: str) -> bool:
        try:
            name, _, password = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
        except (binascii.Error, ValueError):
            return False
        self.tried.append(password)
        return name == USERNAME and secrets.compare_digest(password.encode(), self._password.encode())


def _send(handler: BaseHTTPRequestHandler, reply: Reply, *, cut: bool = False) -> None:
    handler.send_response(reply.status)
    handler.send_header("Content-Type", reply.media)
    handler.send_header("Content-Length", str(len(reply.body)))
    if reply.status == 401:
        handler.send_header("WWW-Authenticate", 'Basic realm="device"')
    handler.end_headers()
    handler.wfile.write(reply.body[: len(reply.body) // 2] if cut else reply.body)
    handler.close_connection = cut or handler.close_connection
