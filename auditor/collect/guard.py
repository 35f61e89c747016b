"""The read-only guard: which commands may be sent to a device, and which ones are needed.

A command is sent only if a platform declares it. Platform files hold no shell operators, but for the endings of FORMATS on
command lines that are no shells; parameters are names that match
`PARAMETER` and are quoted all the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from auditor.canonical import printable
from auditor.errors import PlatformError
from auditor.model import Device, Platform, Privilege, Source, Transport

PARAMETER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,254}")
"""What a parameter (an interface or device name) may look like."""

SUDO = "sudo -n "
UNAME = "uname -sr"
SUDO_TEST = "sudo -n true"
"""The only commands that no platform declares: `inventory test` sends both."""

OPENING = {"eos": ("show version",), "nxos": ("show hostname",), "junos": ()}
"""What NAPALM's drivers send when they open, besides the login."""

FORMATS = frozenset(
    {
        "| json", "| json native", "| json-print", "| display json", "| display xml", "| display-xml", "| no-more",
        "| display json | no-more", "| display xml | no-more", "| display inheritance no-comments",
    }
)  # fmt: skip
"""Endings that change the form of an answer and nothing else, on the command lines of switches that are no shells: EOS, NX-OS,
Onyx, Junos and OS10. `| display inheritance no-comments` writes what configuration groups set where they set it."""

_PLAIN = re.compile(r"[A-Za-z0-9 ._/:=,+@%-]*")
_QUOTED = re.compile(r"'[^'\x00-\x1f\x7f]*'")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~{}-]+)+(?:\?[A-Za-z0-9._=&-]*)?")
_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def commands_for(platform: Platform, source: Source, parameters: Mapping[str, str] | None = None) -> str:
    """The exact text of a source's command, without privilege, for these parameters.

    Raises PlatformError for a source that the platform does not declare or that is read from captures only, a command with
    shell operators, and a parameter that is missing, unknown or no plain name.
    """
    parameters = parameters or {}
    if source not in platform.sources:
        raise PlatformError(f"{platform.name} declares no source {source.key!r}; nothing is sent")
    if not source.sent:
        raise PlatformError(f"{platform.name}.{source.key}: is read from captures only; nothing is sent")
    wanted = set() if source.parameter is None else {source.parameter.name}
    if set(_PLACE.findall(source.command)) != wanted or set(parameters) != wanted:
        raise PlatformError(f"{platform.name}.{source.key}: the command needs exactly the parameters {sorted(wanted)}")
    text = source.command
    bare = _QUOTED.sub("", _PLACE.sub("", _without_format(platform, text)))
    if not _PLAIN.fullmatch(bare) or not text.strip() or text != text.strip():
        raise PlatformError(f"{platform.name}.{source.key}: command {text!r} holds shell operators or control characters")
    if shlex.split(text)[0] in ("sudo", "sh", "bash", "env"):
        raise PlatformError(f"{platform.name}.{source.key}: command {text!r} runs another program; declare that one")
    for name, value in parameters.items():
        if not PARAMETER.fullmatch(value):
            raise PlatformError(f"{platform.name}.{source.key}: {printable(value, 60)!r} is no name that may be sent as {name}")
        text = text.replace("{" + name + "}", shlex.quote(value))
    return text


def path_for(platform: Platform, source: Source, parameters: Mapping[str, str] | None = None) -> str:
    """The path at which a source's answer is got over HTTPS, for these parameters; raises PlatformError as `commands_for` does,
    and for a source that has no such path."""
    commands_for(platform, source, parameters)
    if not _PATH.fullmatch(source.rest) or ".." in source.rest:
        raise PlatformError(f"{platform.name}.{source.key}: {source.rest!r} is no path that may be asked for over HTTPS")
    text = source.rest
    for name, value in (parameters or {}).items():
        text = text.replace("{" + name + "}", quote(value, safe=""))
    return text


def _without_format(platform: Platform, text: str) -> str:
    """The command before the ending that only changes the form of its answer; a shell would take that for a pipe, so only on a
    platform that is no shell."""
    if platform.transport is Transport.CLI:
        for ending in platform.formats:
            if ending in FORMATS and text.endswith(f" {ending}"):
                return text.removesuffix(f" {ending}")
    return text


def sent_text(source: Source, command: str) -> str:
    """The command as the device gets it: with `sudo -n` where the source needs privilege."""
    return SUDO + command if source.privilege is Privilege.SUDO else command


def wanted_sources(platform: Platform, reads: Iterable[str] | None) -> tuple[Source, ...]:
    """Sources of the first round, in declared order: those that fill a read column (`table`, `table.column`,
    `table.column@layer`; None: all), and those whose answers name the parameters of these, or what stands beside them.
    Fallbacks are left out.
    """
    chosen = {source.key for source in platform.sources if not source.fallback_for}
    if reads is not None:
        words = [_parse_read(word) for word in reads]
        chosen = {
            source.fallback_for or source.key
            for source in platform.sources
            for fill in source.fills
            for table, column, layer in words
            if table == fill.row_type.TABLE
            and (column in ("", "*") or column in fill.columns)
            and (not layer or layer == fill.layer)
        }
    known = {source.key for source in platform.sources}
    while True:
        naming = {
            name
            for source in platform.sources
            for parameter in (source.parameter, source.beside)
            if source.key in chosen and parameter is not None
            for name in parameter.sources
            if name in known and not platform.source(name).fallback_for
        }
        if naming <= chosen:
            break
        chosen |= naming
    return tuple(source for source in platform.sources if source.key in chosen)


def transport_for(platform: Platform, asked: Transport | None) -> Transport:
    """The way to a platform of a device for which the inventory asks for one: where it has no such way, its usual one."""
    unix = (Transport.EXEC, Transport.SHELL)
    if asked is not None and (asked in (platform.transport, *platform.also) or (asked in unix and platform.transport in unix)):
        return asked
    return platform.transport


def allowed(
    device: Device, platforms: Mapping[str, Platform], asked: Transport | None = None
) -> tuple[tuple[Platform, Source, str], ...]:
    """Every command that may be sent to a device, as it would be sent on the way that the inventory asks for, parameters as
    `{name}`. What a login sends besides stands in OPENING, UNAME and SUDO_TEST."""
    out = []
    for platform in (platforms[name] for name in device.platforms):
        rest = transport_for(platform, asked) is Transport.HTTPS and platform.transport is not Transport.HTTPS
        for source in filter(lambda source: source.sent, platform.sources):
            sample = {} if source.parameter is None else {source.parameter.name: "x"}
            commands_for(platform, source, sample)
            if not rest:
                out.append((platform, source, sent_text(source, source.command)))
            elif source.rest:
                path_for(platform, source, sample)
                out.append((platform, source, f"GET {source.rest}"))
    return tuple(out)


def _parse_read(word: str) -> tuple[str, str, str]:
    cell, _, layer = word.partition("@")
    table, _, column = cell.partition(".")
    return table.partition("[")[0], column, layer
