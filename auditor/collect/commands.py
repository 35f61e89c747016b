"""Recognises a recorded command: by its text, or by a file name in which every non-alphanumeric run became `_`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from auditor.collect.guard import PARAMETER
from auditor.collect.output import Request
from auditor.model import Parser, Platform, Source

_PLACE = re.compile(r"\{[a-z][a-z0-9_]*\}")


def slug(command: str) -> str:
    """`mlnx_qos -i eth0` as `mlnx_qos_i_eth0`."""
    return re.sub(r"[^A-Za-z0-9]+", "_", command).strip("_")


def file_name(request: Request) -> str:
    """The name under which a capture keeps the answer to a command."""
    extension = "json" if request.source.parser is Parser.JSON else "txt"
    return f"{slug(request.command)[:180] or 'output'}.{extension}"


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One way to write a source's command; `fixed` is the length of what is not the parameter."""

    source: Source
    command: str
    text: re.Pattern[str]
    stem: re.Pattern[str]
    fixed: int


class Recogniser:
    """All commands and aliases of some platforms, ready to be matched."""

    def __init__(self, platforms: Iterable[Platform]) -> None:
        self._platforms = [
            (
                platform,
                [_spelling(source, command) for source in platform.sources for command in source.spellings()],
            )
            for platform in platforms
        ]

    def by_text(self, command: str) -> list[Request]:
        """The sources, at most one per platform, whose command or alias this is, blanks and sudo aside."""
        text = re.sub(r"^sudo (?:-n )?(?:-- )?", "", " ".join(command.split()))
        return list(self._first(lambda spelling: spelling.text.fullmatch(text)))

    def by_stem(self, stem: str) -> list[Request]:
        """The same from a file name without its extension; a parameter comes back in its slugged form."""
        return list(self._first(lambda spelling: spelling.stem.fullmatch(stem)))

    def _first(self, match: Callable[[_Spelling], re.Match[str] | None]) -> Iterator[Request]:
        for platform, spellings in self._platforms:
            fits = [(spelling, found) for spelling in spellings if (found := match(spelling)) is not None]
            if fits:
                spelling, found = max(fits, key=lambda fit: fit[0].fixed)
                yield _request(platform, spelling.source, spelling.command, next(iter(found.groups()), None))


def with_names(request: Request, bodies: Mapping[str, str]) -> Request:
    """Replace a slugged parameter by the name it was made of, if the body of a naming source (by key) has that name."""
    parameter = request.source.parameter
    if parameter is None or parameter.name not in request.parameters:
        return request
    value = request.parameters[parameter.name]
    known = [name for key in parameter.sources for name in named(parameter.names, bodies.get(key, ""))]
    made_of = next((name for name in known if slug(name) == value and PARAMETER.fullmatch(name)), None)
    if value in known or made_of is None:
        return request
    return _request(request.platform, request.source, request.source.command, made_of)


def named(names: Callable[[str], Iterable[str]], body: str) -> list[str]:
    """What a naming function finds in a body; nothing in one that it cannot read, which parse will report."""
    try:
        return [name for name in names(body) if isinstance(name, str)] if body else []
    except Exception:  # a hostile or broken answer must not end the device's collection
        return []


def _request(platform: Platform, source: Source, command: str, value: str | None) -> Request:
    if source.parameter is None or value is None:
        return Request(platform, source, command)
    return Request(platform, source, _PLACE.sub(lambda _: value, command), {source.parameter.name: value})


def _spelling(source: Source, command: str) -> _Spelling:
    before, *after = _PLACE.split(command, maxsplit=1)
    if not after:
        stem = slug(command)
        return _Spelling(
            source, command, re.compile(re.escape(" ".join(command.split()))), re.compile(re.escape(stem)), len(command)
        )
    head, tail = slug(before), slug(after[0])
    text = f"{re.escape(before)}({PARAMETER.pattern}){re.escape(after[0])}"
    stem = re.escape(head) + r"_([A-Za-z0-9]\w*?)" + (f"_{re.escape(tail)}" if tail else "")
    return _Spelling(source, command, re.compile(text), re.compile(stem), len(before + after[0]))
