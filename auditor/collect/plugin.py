"""What all ways to a device have in common: the form in which Nornir wants a connection, and a connection over SSH."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import paramiko

from auditor.collect.output import Answer
from auditor.collect.script import Command
from auditor.collect.ssh import Deadline, Dialler
from auditor.model import GapReason


@dataclass(frozen=True, slots=True)
class Limits:
    """`start`: seconds for a shell to begin; `output`: bytes kept per command."""

    start: float = 20.0
    output: int = 64 * 1024 * 1024


class Plugin(ABC):
    """A Nornir connection plugin that takes what it needs from `extras` and answers commands."""

    def open(
        self,
        hostname: str | None,
        username: str | None,
        password: str | None,
        port: int | None,
        platform: str | None,
        extras: dict[str, Any] | None = None,
        configuration: object = None,
    ) -> None:
        """Make ready to ask. All but `extras` are Nornir's and unused: the route holds them. Raises Unreached."""
        del hostname, username, password, port, platform, configuration
        assert extras is not None
        self._begin(extras)

    @property
    def connection(self) -> Self:
        """Nornir hands this to its tasks."""
        return self

    @abstractmethod
    def _begin(self, extras: dict[str, Any]) -> None:
        """Connect and log in, where that is due before the first command. Raises Unreached."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @property
    @abstractmethod
    def spent(self) -> bool:
        """Whether nothing more can be asked: the deadline is over or the connection broke."""

    @abstractmethod
    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each command, in order; never raises for what the device does."""


class SshPlugin(Plugin):
    """A connection over SSH: host key checked, logged in, bounded by the device's deadline. `extras`: `dialler`, `name`, `route`,
    `limits`."""

    def __init__(self) -> None:
        self._transport: paramiko.Transport | None = None
        self.deadline = Deadline(0)
        self.limits = Limits()

    def _begin(self, extras: dict[str, Any]) -> None:
        dialler: Dialler = extras["dialler"]
        self.limits = extras["limits"]
        self._transport, self.deadline = dialler.open(extras["name"], extras["route"])

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked: the deadline is over or the connection broke."""
        return self.deadline.over or self._transport is None or not self._transport.is_active()

    def _stop(self) -> Answer | None:
        """What stands for the answer to a command that is not asked any more."""
        if self.deadline.over:
            return used_up(self.deadline)
        if self.spent:
            return Answer(failure=GapReason.UNREACHABLE, detail="not asked: the connection broke before")
        return None


def used_up(deadline: Deadline) -> Answer:
    """The answer to a command for which the device has no time left."""
    return Answer(failure=GapReason.TIMEOUT, detail=f"not asked: the device's {deadline.seconds:g} s were used up")
