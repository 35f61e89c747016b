"""The collective libraries that rules know: names of variables and defaults, from `data/collectives.yaml`."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from auditor import yamldoc
from auditor.model import Severity


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Knob(_Part):
    """Who decides the traffic class of one kind of queue pairs: the first variable that is set, else the default."""

    variables: tuple[str, ...] = Field(min_length=1)
    default: int = Field(ge=0, le=255)


class Silencer(_Part):
    """A variable that turns one of the library's own checks off, and what then goes unseen."""

    variable: str
    off: Literal["zero", "nonzero"]
    hides: str = Field(min_length=1)
    severity: Severity = Severity.WARNING

    def silences(self, text: str) -> bool:
        """Whether this value turns the check off; one that is no number leaves the library's default."""
        value = number(text.strip().removeprefix("-"))
        return value is not None and (value == 0) is (self.off == "zero")


class Library(_Part):
    """One collective library as `data/collectives.yaml` describes it; the keys are explained there."""

    name: str
    prefix: str
    assumed: bool = False
    site_file: str = ""
    devices: str = ""
    address_index: str = ""
    silencers: tuple[Silencer, ...] = ()
    unset: tuple[str, ...] = ()
    ordinary: Knob
    gpu_initiated: Knob | None = None


class _Document(_Part):
    libraries: tuple[Library, ...]


@cache
def libraries() -> tuple[Library, ...]:
    """The libraries that rules know."""
    name = "collectives.yaml"
    text = resources.files("auditor").joinpath("data", name).read_text("utf-8")
    return _Document.model_validate(yamldoc.parse(text, name).data).libraries


def number(text: str) -> int | None:
    """A traffic class as C's strtoll reads it with base 0: decimal, 0x… or 0… (octal); None for what is none."""
    found = re.fullmatch(r"\+?(?:(0[xX][0-9a-fA-F]{1,8})|(0[0-7]{0,8})|([1-9]\d{0,8}))", text)
    if found is None:
        return None
    value = int(text, 16 if found.group(1) else 8 if found.group(2) else 10)
    return value if value < 256 else None


def lists(text: str, device: str, port: str) -> bool:
    """Whether a list of devices (NCCL_IB_HCA) names a port of an RDMA device.

    A leading `^` leaves out what follows; a leading `=` takes names whole, else they are beginnings; `name:1` is one port.
    """
    rest = text.removeprefix("^")
    exact = rest.startswith("=")
    named = False
    for item in rest.removeprefix("=").split(","):
        name, _, only = item.strip().partition(":")
        alike = device == name if exact else bool(name) and device.startswith(name)
        named = named or (alike and only in ("", port))
    return named is not text.startswith("^")
