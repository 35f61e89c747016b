"""Getting raw outputs: live over SSH, or from a capture folder. Both give the same values to the next stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from auditor.model import Device, Gap, GapReason, RawOutput


@dataclass(frozen=True, slots=True)
class Collected:
    """All that one device gave. A gap over table "*" means that it gave nothing at all.

    A command that failed is a RawOutput with `failure`; `gaps` hold only what has no output: a device that was not
    reached, a command whose names were not known. `seconds` is wall time.
    """

    device: Device
    outputs: tuple[RawOutput, ...] = ()
    gaps: tuple[Gap, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class LoginReport:
    """What `inventory test` says of one device. `failure` is None when login worked.

    `sudo` is whether `sudo -n` works without a password, None when it was not tried; `answers_like` the platforms whose
    version command the device answered.
    """

    device: Device
    failure: GapReason | None = None
    detail: str = ""
    sudo: bool | None = None
    answers_like: tuple[str, ...] = ()
    seconds: float = 0.0


class Collector(Protocol):
    """Where raw outputs come from."""

    def collect(self, devices: Sequence[Device], reads: frozenset[str] | None) -> Iterator[Collected]:
        """Each device once, as it finishes. `reads` names the columns wanted (`table.column`), None for all.

        A device that fails costs its own deadline and never the others. Raises SetupError before the first device only.
        """
        ...
