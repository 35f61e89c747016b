"""What a platform declares: its commands, how each answer is read, and which cells it fills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from auditor.address import Layer
from auditor.facts import Row
from auditor.model.raw import GapReason


class Privilege(StrEnum):
    """What a command needs on the device. `sudo` is sent as `sudo -n`; a refusal is a gap."""

    NONE = "none"
    SUDO = "sudo"


class Parser(StrEnum):
    """How a body becomes the data that the normaliser receives.

    json: the decoded document · ttp: the list of dicts that the template's groups give, by group name ·
    text: the body itself, for formats with a grammar of their own in `dialects`.
    """

    JSON = "json"
    TTP = "ttp"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Fill:
    """Cells that a source fills: columns of a table at a layer. `whole`: it lists every key there is.

    A source with a parameter is whole for the rows of that parameter alone (their first key part), and one with `only`
    for the rows whose first key part stands there.
    """

    row_type: type[Row]
    layer: Layer
    columns: tuple[str, ...]
    whole: bool = True
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A normaliser's word that it could not read something: one cell, one row, or (without key) the rest of a table.

    `reason` is `truncated` where the answer was cut, `unsupported` where the device says that it cannot tell.
    """

    row_type: type[Row]
    key: tuple[str, ...] = ()
    column: str | None = None
    reason: GapReason = GapReason.UNPARSED
    detail: str = ""
    layer: Layer | None = None


Normalised = Row | tuple[Layer, Row] | Unread
"""What a normaliser yields. A bare row stands at the layer of the source's Fill for its table."""

Normaliser = Callable[[Any, Mapping[str, str]], Iterable[Normalised]]
"""(data as the parser gives it, parameters of the command) -> rows. Pure. Raises NormaliseError or ValueError."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a command: the names come from the answer to another source of the same device.

    `names` is pure, takes the body of that answer, and must not need TTP (it runs in the collecting thread).
    `sources` are tried in order; the first one that answered counts.
    """

    name: str
    sources: tuple[str, ...]
    names: Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """One exact command (or file) of a platform and what its answer says.

    `key` is unique in the platform. `command` is sent as it stands; `{name}` stands for the parameter.
    `aliases` are other spellings of the same output: accepted in captures, never sent.
    `anchor`: regular expressions (MULTILINE) that a whole answer matches, each at least once; JSON proves itself.
    `count`: a regular expression that matches once per row start; its number of matches must equal the rows of the
    TTP group `rows`. `empty` : an empty body is a whole answer without rows.
    `fallback_for`: key of a source that fills the same cells; this one is used only when that one gave no answer.
    `proof`: where the line that proves a cell stands. By `table.column` (or `table` for any column): a regular
    expression for text or a JSON pointer for JSON, in which `{0}`, `{1}` … are the key parts; in a JSON pointer
    `[name=x]` stands for the list element whose member `name` is x, and `~…` for the member whose name fits a regular
    expression. `shown` turns a key part into how this output writes it (`Ethernet1/1` stands as `Et1/1` in a table).
    `proven_by`: the capture or vendor document that proves the output. `seconds`: the deadline of the command.
    `counts`: a cell is the number of lines of the answer, so a cut one tells nothing at all.
    `beside`: names that this answer speaks of without naming them (`et-*`). They come from the answer to another source, and the
    normaliser finds them, joined by blanks, among the parameters; they are missing where that source did not answer.
    `ok_status`: exit statuses that count as an answer. `sent` False: read from captures, never sent to a device.
    `rest`: the path at which the same answer is got over HTTPS, for platforms that have Transport.HTTPS in `also`.
    """

    key: str
    command: str
    fills: tuple[Fill, ...]
    parser: Parser
    normalise: Normaliser
    aliases: tuple[str, ...] = ()
    parameter: Parameter | None = None
    privilege: Privilege = Privilege.NONE
    anchor: tuple[str, ...] = ()
    count: str = ""
    template: str = ""
    empty: bool = False
    fallback_for: str = ""
    proof: Mapping[str, str] = field(default_factory=dict)
    shown: Callable[[str], str] = str
    proven_by: str = ""
    seconds: float = 10.0
    ok_status: tuple[int, ...] = (0,)
    sent: bool = True
    counts: bool = False
    rest: str = ""
    beside: Parameter | None = None

    def spellings(self) -> tuple[str, ...]:
        """Every text under which its answer may stand in a capture; the first is what is sent."""
        return (self.command, *self.aliases, *((f"GET {self.rest}",) if self.rest else ()))

    def tables(self) -> frozenset[str]:
        """Names of the tables it fills."""
        return frozenset(fill.row_type.TABLE for fill in self.fills)


@dataclass(frozen=True, slots=True)
class Failure:
    """A text by which a platform says that there is no answer. `pattern` is searched (MULTILINE) in the first and last
    lines of a body only, so that a banner or a description holding the same words does no harm."""

    pattern: str
    reason: GapReason
    detail: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Cells that this platform cannot give, or that no capture and no document proves. Counted, never passed."""

    table: str
    columns: tuple[str, ...]
    why: str
    layer: Layer | None = None


@dataclass(frozen=True, slots=True)
class Census:
    """An answer that must have a row for every row of the same table that another answer has, at whatever layer.

    Where it lacks one it was cut, however whole it looks: what it does not show is a gap, never absent. `source` and
    `listed_by` are keys of sources; of the latter the first one that answered counts. `counts` says which of its rows.
    """

    source: str
    listed_by: tuple[str, ...]
    counts: Callable[[Row], bool]


class Transport(StrEnum):
    """How commands reach the device: joined on one exec channel, typed into an interactive Unix shell (Netmiko), typed into the
    command line of a switch that is no shell (Netmiko, prompt by prompt), through a NAPALM driver (eAPI, NX-API, NETCONF), or
    `GET PATH` over HTTPS."""

    EXEC = "exec"
    SHELL = "shell"
    CLI = "cli"
    NAPALM = "napalm"
    HTTPS = "https"


@dataclass(frozen=True, slots=True)
class Platform:
    """One network or host operating system. `secrets` are patterns whose first group is redacted, line by line.

    `transport` is the usual way; the inventory may choose one of `also` for a device. `napalm` names NAPALM's driver. `formats`
    are the endings that only change the form of an answer on a command line that is no shell, such as `| json`; the guard
    knows each of them.
    """

    name: str
    title: str
    sources: tuple[Source, ...]
    netmiko: str = "linux"
    transport: Transport = Transport.EXEC
    also: tuple[Transport, ...] = ()
    napalm: str = ""
    formats: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    pagers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    censuses: tuple[Census, ...] = ()
    interface_name: Callable[[str], str] = str

    def source(self, key: str) -> Source:
        """The source with this key; raises KeyError."""
        for source in self.sources:
            if source.key == key:
                return source
        raise KeyError(f"{self.name}: no source {key!r}")
