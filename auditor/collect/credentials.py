"""Credentials, and the care that keeps accounts from being locked: one try at a time, none after a refusal, a login rate."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import paramiko

from auditor.errors import SetupError
from auditor.settings import Credentials

MAX_AGENT_KEYS = 4
"""OpenSSH servers hang up after six tries."""

COMMAND_SECONDS = 30


def password_of_group(variable: str, aaa_group: str) -> str | None:
    """The password of one AAA group: the environment variable `<variable>_<GROUP>`."""
    return os.environ.get(f"{variable}_{re.sub(r'[^A-Za-z0-9]+', '_', aaa_group).upper()}") or None


class Wallet:
    """The credentials of one run. Files are read and commands run once, when it is made; raises SetupError.

    Holds secrets: never printed, logged or pickled.
    """

    def __init__(self, settings: Credentials) -> None:
        self.username = settings.username
        self._settings = settings
        self.key = None if settings.key_file is None else _key(str(settings.key_file))
        self._password = self._find_password()

    def __repr__(self) -> str:
        return "Wallet(…)"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("credentials do not leave the process")

    def _find_password(self) -> str | None:
        if found := os.environ.get(self._settings.password_env):
            return found
        if self._settings.password_command:
            return _run(self._settings.password_command)
        return _from_keyring(self._settings.keyring_service, self.username) if self._settings.keyring_service else None

    def password(self, aaa_group: str) -> str | None:
        """The password for devices of an AAA group: from `<password_env>_<GROUP>` if that is set, else the common one."""
        return (password_of_group(self._settings.password_env, aaa_group) if aaa_group else None) or self._password

    def agent_keys(self) -> list[paramiko.AgentKey]:
        """The first keys of the SSH agent, if there is one and it may be used."""
        if not self._settings.use_agent or not os.environ.get("SSH_AUTH_SOCK"):
            return []
        try:
            return list(paramiko.Agent().get_keys())[:MAX_AGENT_KEYS]
        except (paramiko.SSHException, OSError):
            return []


def _key(file: str) -> paramiko.PKey:
    try:
        return paramiko.PKey.from_path(file)
    except (TypeError, paramiko.PasswordRequiredException):
        raise SetupError(f"key file {file} is encrypted: load it into an SSH agent instead") from None
    except OSError as problem:
        raise SetupError(f"key file {file} cannot be read: {problem.strerror}") from None
    except (ValueError, paramiko.SSHException, paramiko.pkey.UnknownKeyType) as problem:
        raise SetupError(f"key file {file} is no private key that can be used ({type(problem).__name__})") from None


def _run(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=COMMAND_SECONDS, check=False)  # noqa: S603 - the user's own setting
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SetupError(f"password_command {command[0]!r} failed: {type(problem).__name__}") from None
    if done.returncode != 0:
        raise SetupError(f"password_command {command[0]!r} ended with exit status {done.returncode}")
    return done.stdout.decode("utf-8", "replace").split("\n", 1)[0].rstrip("\r")


def _from_keyring(service: str, username: str) -> str | None:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        raise SetupError("keyring_service needs the Python package `keyring`") from None
    try:
        found = keyring.get_password(service, username)
    except Exception as problem:  # keyring's backends raise what they like
        raise SetupError(f"the keyring cannot be read: {type(problem).__name__}") from None
    return None if found is None else str(found)


class PasswordStopped(Exception):
    """The password of an AAA group was refused before and is not tried again. Names the device that refused it."""


@dataclass(slots=True)
class _Group:
    turn: threading.Lock = field(default_factory=threading.Lock)
    accepted: bool = False
    refused_by: str = ""
    next_login: float = 0.0


class Gate:
    """Logins per AAA group: at most `rate` a second, and no password twice once a device of the group refused it.

    Devices without a group have accounts of their own and wait for nobody.
    """

    def __init__(
        self, rate: float, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._interval, self._clock, self._sleep = 1 / rate, clock, sleep
        self._groups: dict[str, _Group] = defaultdict(_Group)
        self._lock = threading.Lock()

    def wait(self, group: str) -> None:
        """Wait for the group's next login slot."""
        if not group:
            return
        with self._lock:
            state = self._groups[group]
            slot = max(self._clock(), state.next_login)
            state.next_login = slot + self._interval
        if (seconds := slot - self._clock()) > 0:
            self._sleep(seconds)

    def try_password(self, group: str, device: str, attempt: Callable[[], bool]) -> bool:
        """Run `attempt`, which returns whether the password was taken; until the first one is, one device at a time.

        Raises PasswordStopped when a device of the group refused it before. What `attempt` raises says nothing about the
        password and passes through.
        """
        if not group:
            return attempt()
        with self._lock:
            state = self._groups[group]
        if not state.accepted:
            with state.turn:
                if not state.accepted:
                    return self._once(state, device, attempt)
        return self._once(state, device, attempt)

    @staticmethod
    def _once(state: _Group, device: str, attempt: Callable[[], bool]) -> bool:
        if state.refused_by:
            raise PasswordStopped(state.refused_by)
        if attempt():
            state.accepted = True
            return True
        state.refused_by = device
        return False
