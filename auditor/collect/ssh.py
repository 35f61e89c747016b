"""Opens SSH connections: TCP, jump hosts, host key, login; and says in one table why one could not be opened."""

from __future__ import annotations

import getpass
import logging
import os
import re
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import paramiko

from auditor.canonical import printable
from auditor.collect.credentials import Gate, PasswordStopped, Wallet, password_of_group
from auditor.collect.hostkeys import KnownHosts, lookup_name
from auditor.collect.inventory import Route
from auditor.errors import SetupError
from auditor.model import GapReason
from auditor.settings import Collection

FAILURES: tuple[tuple[type[BaseException], str, GapReason, str], ...] = (
    (socket.gaierror, "", GapReason.UNREACHABLE, "the name does not resolve"),
    (ConnectionRefusedError, "", GapReason.UNREACHABLE, "the connection was refused: nothing listens there"),
    (paramiko.ssh_exception.IncompatiblePeer, "", GapReason.UNREACHABLE, "no common SSH algorithm"),
    (paramiko.ssh_exception.BadAuthenticationType, "", GapReason.AUTH, "the login method is not allowed"),
    (paramiko.AuthenticationException, "timeout", GapReason.TIMEOUT, "no answer to the login"),
    (paramiko.AuthenticationException, "", GapReason.AUTH, "the login was refused"),
    (paramiko.ChannelException, "", GapReason.REJECTED, "a session was refused"),
    (paramiko.SSHException, "protocol banner|No existing session|[Tt]imeout|timed out", GapReason.TIMEOUT, "no answer over SSH"),
    (paramiko.SSHException, "", GapReason.UNREACHABLE, "the SSH connection failed"),
    (TimeoutError, "", GapReason.TIMEOUT, "no answer in time"),
    (EOFError, "", GapReason.UNREACHABLE, "the connection was closed"),
    (OSError, "", GapReason.UNREACHABLE, "the network failed"),
)
"""(exception, pattern in its text, reason, words), the first that fits."""

_KEX_FIRST = ("curve25519", "ecdh-sha2-nistp", "mlkem")
"""Paramiko prefers group exchanges computed in Python: 24 to 74 ms of CPU instead of 2."""

MAX_JUMPS = 5

logging.getLogger("paramiko").addHandler(logging.NullHandler())
logging.getLogger("paramiko").propagate = False


class Unreached(Exception):
    """A device, or a command of it, could not be reached; becomes a gap or a failed output."""

    def __init__(self, reason: GapReason, detail: str) -> None:
        self.reason, self.detail = reason, printable(detail)
        super().__init__(self.detail)


def explain(error: BaseException) -> Unreached:
    """The failure that an exception of paramiko or the socket layer stands for."""
    if isinstance(error, Unreached):
        return error
    text = str(error)
    for kind, pattern, reason, words in FAILURES:
        if isinstance(error, kind) and re.search(pattern, text):
            return Unreached(reason, f"{words} ({text})" if text and not pattern and kind is not socket.gaierror else words)
    return Unreached(GapReason.UNREACHABLE, f"{type(error).__name__}: {text}")


class Deadline:
    """The time that one device may cost, from now on. `seconds` is the whole of it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self, most: float | None = None) -> float:
        """Seconds left, at most `most`; never below 0.01, so that it may be used as a timeout."""
        left = max(0.01, self._end - time.monotonic())
        return left if most is None else min(left, most)

    @property
    def over(self) -> bool:
        """Whether the time is used up."""
        return time.monotonic() >= self._end


@dataclass(slots=True)
class _Jump:
    """A jump host, dialled once for all devices behind it. A login that failed is not tried again in this run."""

    turn: threading.Lock = field(default_factory=threading.Lock)
    transport: paramiko.Transport | None = None
    failure: Unreached | None = None


class Dialler:
    """Opens connections with the settings of one run. Raises SetupError when it is made with unusable settings."""

    def __init__(self, settings: Collection) -> None:
        self._settings = settings
        self._wallet = Wallet(settings.credentials)
        self._known = KnownHosts(settings.known_hosts)
        self._config = _ssh_config(settings.ssh_config)
        self._gate = Gate(settings.logins_per_second)
        self._jumps: dict[str, _Jump] = {}
        self._open: weakref.WeakSet[paramiko.Transport] = weakref.WeakSet()
        self._lock = threading.Lock()

    def open(self, name: str, route: Route) -> tuple[paramiko.Transport, Deadline]:
        """An open, verified, logged-in connection, and the device's deadline, which starts once it is this device's turn.

        Raises Unreached. Waiting for a login slot or for a jump host costs the device nothing.
        """
        self._gate.wait(route.aaa_group)
        options = self._options(name)
        hop = self._behind(options, 0)
        deadline = Deadline(self._settings.device_deadline)
        host = route.hostname if route.hostname != name else options.get("hostname", name)
        return self._dial(name, host, route, options, hop, deadline), deadline

    def log_in(self, name: str, route: Route, attempt: Callable[[str, str], bool]) -> None:
        """Log in to an API over HTTPS with the account of `collection.api`, and with the care that SSH takes of accounts.

        `attempt` gets name and password and returns whether the device took them; what it raises passes through. Raises
        Unreached.
        """
        api, group = self._settings.api, route.aaa_group
        username = route.username or api.username or self._wallet.username or getpass.getuser()
        password = (password_of_group(api.password_env, group) if group else None) or os.environ.get(api.password_env)
        if not password:
            raise Unreached(GapReason.AUTH, f"there is no password for its API: {api.password_env} is not set")
        self._gate.wait(group)
        account = group if password == self._wallet.password(group) or not group else f"{group} (API)"
        try:
            if not self._gate.try_password(account, name, lambda: attempt(username, password)):
                raise Unreached(GapReason.AUTH, f"its API refused the login of {username!r}")
        except PasswordStopped as stopped:
            raise _not_tried(stopped, group) from None

    def close(self) -> None:
        """Close every connection that is still open, those to jump hosts too; whoever reads from one sees its end."""
        with self._lock:
            transports = list(self._open)
        for transport in transports:
            transport.close()

    def _options(self, name: str) -> Mapping[str, str]:
        options = {} if self._config is None else dict(self._config.lookup(name))
        if options.get("proxycommand", "none").lower() != "none":
            raise Unreached(
                GapReason.UNREACHABLE, f"the SSH configuration gives {name} a ProxyCommand; only ProxyJump is supported"
            )
        return options

    def _behind(self, options: Mapping[str, str], depth: int) -> paramiko.Transport | None:
        """The connection to the last jump host of a ProxyJump list, None when there is no such list."""
        jumps = options.get("proxyjump", "none")
        if jumps.lower() == "none":
            return None
        if depth >= MAX_JUMPS:
            raise Unreached(GapReason.UNREACHABLE, f"more than {MAX_JUMPS} jump hosts in a row")
        transport: paramiko.Transport | None = None
        trail = ""
        for text in jumps.split(","):
            trail += ("," if trail else "") + text.strip()
            transport = self._jump(trail, text.strip(), transport, depth)
        return transport

    def _jump(self, trail: str, text: str, before: paramiko.Transport | None, depth: int) -> paramiko.Transport:
        found = re.fullmatch(r"(?:ssh://)?(?:([^@\s]+)@)?(\[[^\]]+\]|[^:\s]+)(?::(\d+))?", text)
        if found is None:
            raise Unreached(GapReason.UNREACHABLE, f"ProxyJump {text!r} cannot be read")
        user, name, port = found.group(1) or "", found.group(2).strip("[]"), found.group(3)
        with self._lock:
            jump = self._jumps.setdefault(trail, _Jump())
        with jump.turn:
            if jump.failure is not None:
                raise jump.failure
            if jump.transport is None or not jump.transport.is_active():
                try:
                    options = self._options(name)
                    hop = before or self._behind(options, depth + 1)
                    route = Route(options.get("hostname", name), int(port) if port else None, user)
                    deadline = Deadline(self._settings.connect_timeout + self._settings.login_timeout)
                    jump.transport = self._dial(name, route.hostname, route, options, hop, deadline)
                except Unreached as failure:
                    jump.failure = Unreached(failure.reason, f"jump host {name}: {failure.detail}")
                    raise jump.failure from None
            return jump.transport

    def _dial(
        self, name: str, host: str, route: Route, options: Mapping[str, str], hop: paramiko.Transport | None, deadline: Deadline
    ) -> paramiko.Transport:
        port = route.port or int(options.get("port", "22"))
        sock = self._connect(host, port, hop, deadline)
        transport: paramiko.Transport | None = None
        try:
            transport = paramiko.Transport(sock)
            with self._lock:
                self._open.add(transport)
            names = [options["hostkeyalias"]] if "hostkeyalias" in options else [lookup_name(host, port), lookup_name(name, port)]
            self._prefer(transport, names)
            step = deadline.left(self._settings.login_timeout)
            transport.banner_timeout = transport.handshake_timeout = transport.channel_timeout = step
            transport.start_client(timeout=step)
            problem = self._known.problem(dict.fromkeys(names), transport.get_remote_server_key())
            if problem is not None:
                raise Unreached(GapReason.AUTH, problem)
            username = route.username or self._wallet.username or options.get("user") or getpass.getuser()
            self._login(transport, name, username, route.aaa_group, options, deadline)
        except Exception as error:
            (transport or sock).close()
            raise explain(error) from None
        return transport

    def _connect(
        self, host: str, port: int, hop: paramiko.Transport | None, deadline: Deadline
    ) -> socket.socket | paramiko.Channel:
        timeout = deadline.left(self._settings.connect_timeout)
        if hop is not None:
            try:
                return hop.open_channel("direct-tcpip", (host, port), ("127.0.0.1", 0), timeout=timeout)
            except (paramiko.SSHException, OSError, EOFError) as error:
                raise Unreached(GapReason.UNREACHABLE, f"the jump host cannot reach {host} port {port}: {error}") from None
        try:
            sock = socket.create_connection((host, port), timeout=timeout)
        except TimeoutError:
            raise Unreached(GapReason.UNREACHABLE, f"no answer from {host} port {port} within {timeout:.0f} s") from None
        except (OSError, UnicodeError) as error:
            failure = explain(error)
            raise Unreached(failure.reason, f"{host} port {port}: {failure.detail}") from None
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def _prefer(self, transport: paramiko.Transport, names: list[str]) -> None:
        """Cheap key exchanges first, and the host key type that known_hosts has."""
        options = transport.get_security_options()
        rank = {name: next((at for at, start in enumerate(_KEX_FIRST) if name.startswith(start)), 9) for name in options.kex}
        options.kex = sorted(options.kex, key=rank.__getitem__)
        known = {key.get_name() for key in self._known.keys_of(names)}
        if "ssh-rsa" in known:
            known |= {"rsa-sha2-512", "rsa-sha2-256"}
        options.key_types = sorted(options.key_types, key=lambda name: name not in known)

    def _login(
        self,
        transport: paramiko.Transport,
        name: str,
        username: str,
        group: str,
        options: Mapping[str, str],
        deadline: Deadline,
    ) -> None:
        tried = []
        for what, key in self._keys(options):
            tried.append(what)
            transport.auth_timeout = deadline.left(self._settings.login_timeout)
            if _accepted(partial(transport.auth_publickey, username, key)):
                return
        password = self._wallet.password(group)
        if password is not None:
            tried.append("password")
            transport.auth_timeout = deadline.left(self._settings.login_timeout)
            try:
                if self._gate.try_password(group, name, lambda: _accepted(partial(transport.auth_password, username, password))):
                    return
            except PasswordStopped as stopped:
                raise _not_tried(stopped, group) from None
        if not tried:
            raise Unreached(GapReason.AUTH, "there is no credential to log in with: no key file, no agent key, no password")
        raise Unreached(GapReason.AUTH, f"the login of {username!r} was refused (tried: {', '.join(tried)})")

    def _keys(self, options: Mapping[str, str]) -> Iterator[tuple[str, paramiko.PKey]]:
        if self._wallet.key is not None:
            yield "key file", self._wallet.key
        else:
            files = options.get("identityfile") or ()
            for file in files:  # paramiko gives a list here, whatever its stubs say
                try:
                    yield "identity file", paramiko.PKey.from_path(str(file))
                except (OSError, ValueError, TypeError, paramiko.SSHException, paramiko.pkey.UnknownKeyType):
                    continue  # OpenSSH skips what it cannot read, too
        for key in self._wallet.agent_keys():
            yield "agent key", key


def _not_tried(stopped: PasswordStopped, group: str) -> Unreached:
    return Unreached(GapReason.AUTH, f"not tried: {stopped} refused this password, and it guards all of AAA group {group!r}")


def _accepted(attempt: Callable[[], list[str]]) -> bool:
    """Whether a login attempt succeeded; False when it was refused, other failures pass through."""
    try:
        missing = attempt()
    except paramiko.ssh_exception.BadAuthenticationType:
        return False
    except paramiko.AuthenticationException as error:
        if re.search("timeout", str(error), re.IGNORECASE):
            raise
        return False
    if missing:
        raise Unreached(GapReason.AUTH, f"the device wants more than one login method ({', '.join(missing)})")
    return True


def _ssh_config(file: Path | None) -> paramiko.SSHConfig | None:
    if file is None or not file.is_file():
        return None
    try:
        return paramiko.SSHConfig.from_path(str(file))
    except Exception as error:  # paramiko's parser raises several kinds
        raise SetupError(f"{file}: cannot be read as an SSH configuration: {error}") from None
