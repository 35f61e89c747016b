"""One channel of a replayed device: runs a command line or a login shell and carries its bytes, well or badly."""

from __future__ import annotations

import contextlib
import os
import pty
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import paramiko

from auditor.lab import shell
from auditor.lab.command_line import CommandLine
from auditor.lab.misbehaviour import Kind, Misbehaviour

_CHUNK = 32768

Stopping = Callable[[], bool]
"""Whether the lab is closing down."""


@dataclass(frozen=True, slots=True)
class Personality:
    """All that a channel must know of its device. `folder` is what `shell.build` filled, `common` `shell.build_common`;
    `command_line` makes the session of a switch that is no shell."""

    name: str
    prompt: str
    folder: Path
    common: Path
    bad: Misbehaviour | None = None
    command_line: Callable[[], CommandLine] | None = None

    def banner(self) -> str:
        """Text before login and before every answer that holds the device's own prompt; empty for a decent device."""
        if self.bad is None or self.bad.kind is not Kind.BANNER:
            return ""
        return f"*** maintenance tonight; after it the prompt reads\r\n{self.prompt}\r\n*** ask the network team ***\r\n"


class Dropped(Exception):
    """The device cut the connection in the middle of its output."""


class Output:
    """Sends bytes to the client the way the device misbehaves."""

    def __init__(self, channel: paramiko.Channel, bad: Misbehaviour | None) -> None:
        self._channel, self._bad, self._sent = channel, bad, 0

    def send(self, data: bytes, *, error: bool = False) -> None:
        """Send all of `data`; raises Dropped when the device cuts the line and OSError when the client has."""
        write = self._channel.sendall_stderr if error else self._channel.sendall
        kind = None if self._bad is None else self._bad.kind
        if self._bad is not None and kind is Kind.TRICKLE:
            for at in range(len(data)):
                write(data[at : at + 1])
                time.sleep(1 / self._bad.number)
        elif self._bad is not None and kind is Kind.DROP and self._sent + len(data) > self._bad.number:
            write(data[: int(self._bad.number) - self._sent])
            raise Dropped
        else:
            write(data)
        self._sent += len(data)


def run(channel: paramiko.Channel, device: Personality, command: str | None, terminal: bool, stopping: Stopping) -> None:
    """Serve one exec request (`command`) or one login shell (None) until it ends, the client leaves or the lab stops."""
    output = Output(channel, device.bad)
    with contextlib.suppress(OSError, EOFError):  # the client left
        try:
            if device.bad is not None and device.bad.kind is Kind.SILENT:
                while not (channel.closed or stopping()):
                    time.sleep(0.05)
            else:
                output.send(device.banner().encode())
                if device.command_line is not None:
                    _at_command_line(channel, device.command_line(), command, output, stopping)
                    channel.close()
                    return
                serve = _on_terminal if terminal or command is None else _on_pipes
                channel.send_exit_status(serve(channel, device, command, output, stopping))
            channel.close()
        except Dropped:
            transport = channel.get_transport()
            if transport is not None:
                transport.close()


def _at_command_line(
    channel: paramiko.Channel, session: CommandLine, command: str | None, output: Output, stopping: Stopping
) -> None:
    if command is None:
        session.serve(channel, output.send, stopping)
        return
    for text in session.reply(command):
        output.send(text.encode("utf-8", "surrogateescape"))


def _arguments(command: str | None) -> list[str]:
    line = shell.command_line()
    return [*line, "--noediting", "-i"] if command is None else [*line, "-c", command]


def _on_pipes(channel: paramiko.Channel, device: Personality, command: str | None, output: Output, stopping: Stopping) -> int:
    process = subprocess.Popen(  # noqa: S603 - a restricted shell whose PATH holds replayed commands alone
        _arguments(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
        cwd=device.folder, env=_environment(device), start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ, "out")
            ready.register(process.stderr, selectors.EVENT_READ, "error")
            ready.register(channel, selectors.EVENT_READ, "in")
            while {"out", "error"} & {key.data for key in ready.get_map().values()}:
                for key, _ in ready.select(0.5):
                    if key.data == "in":
                        _feed(channel, process.stdin, ready)
                        continue
                    data = os.read(key.fd, _CHUNK)
                    if data:
                        output.send(data, error=key.data == "error")
                    else:
                        ready.unregister(key.fileobj)
                if channel.closed or stopping():
                    break
            else:
                return process.wait()
            return 255
    finally:
        _end(process)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def _feed(channel: paramiko.Channel, stdin: object, ready: selectors.BaseSelector) -> None:
    """Hand what the client typed to the process; its end of file closes the pipe."""
    data = channel.recv(_CHUNK)
    with contextlib.suppress(BrokenPipeError):
        if data:
            stdin.write(data)  # type: ignore[attr-defined]
            return
    ready.unregister(channel)
    stdin.close()  # type: ignore[attr-defined]


_TAKE_TERMINAL = 'tty=$1; shift; exec 0<>"$tty" 1>&0 2>&1; exec "$@"'
"""A session leader gets the terminal that it opens first: that is how the shell comes to own its own."""


def _on_terminal(channel: paramiko.Channel, device: Personality, command: str | None, output: Output, stopping: Stopping) -> int:
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(  # noqa: S603 - as in _on_pipes
            ["/bin/sh", "-c", _TAKE_TERMINAL, "sh", os.ttyname(theirs), *_arguments(command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=device.folder, env=_environment(device), start_new_session=True,
        )  # fmt: skip
        try:
            return _carry(channel, ours, process, output, stopping)
        finally:
            _end(process)
    finally:
        os.close(theirs)
        os.close(ours)


def _carry(channel: paramiko.Channel, ours: int, process: subprocess.Popen[bytes], output: Output, stopping: Stopping) -> int:
    """Bytes between the client and our end of the terminal; returns the exit status of the process, 255 when cut short."""
    with selectors.DefaultSelector() as ready:
        ready.register(ours, selectors.EVENT_READ, "out")
        ready.register(channel, selectors.EVENT_READ, "in")
        while not (channel.closed or stopping()):
            events = ready.select(0.1)
            for key, _ in events:
                if key.data == "out":
                    output.send(os.read(ours, _CHUNK))
                elif typed := channel.recv(_CHUNK):
                    os.write(ours, typed)
                else:
                    return 255
            if not events and process.poll() is not None:
                return process.returncode
        return 255


def _environment(device: Personality) -> Mapping[str, str]:
    return shell.environment(device.folder, device.common, device.prompt)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started: it leads a process group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
