"""Reads the two kinds of files that set the environment of a collective library (NCCL, RCCL and their relatives).

`nccl.conf` is read by the library itself, line by line: what stands before the first `=` is the name, blanks included, the rest
is the value, no quotes, no `export`; the first line of a name counts and the environment of the process comes before it. A
comment is a name that nobody asks for. An environment file is read by a shell, a container engine or a service manager:
`export` and quotes are theirs, and the last line of a name counts.

Only variables that steer the libraries are given; files of jobs hold tokens and passwords too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

_OURS = re.compile(r"(?:NCCL|RCCL|NVSHMEM|ROC_?SHMEM|UCX|FI|MORI|CUDA|HIP|HSA|ROCR|ROCM|GPU|MLX5)_\w+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FLOW = re.compile(
    r"\s*(?:(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|function|source|eval|\.)(?:\s|;|$)|\w+\s*\(\)|[{}]\s*$)"
)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One variable. `line` counts from 1. `value` is None, and `why` says so, where the file does not say what it will be."""

    name: str
    line: int
    value: str | None
    why: str = ""


def nccl_conf(text: str) -> Iterator[Assignment]:
    """The variables of an `nccl.conf`, each once."""
    found: dict[str, Assignment] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.partition("=")
        meant = name.strip().removeprefix("export ").strip()
        if not equals or not _OURS.fullmatch(meant):
            continue
        if name == meant and (name not in found or found[name].value is None):
            found[name] = Assignment(name, number, value.strip())
        elif name != meant:
            why = f"the library takes {name[:60]!r} as the name, so line {number} sets nothing"
            found.setdefault(meant, Assignment(meant, number, None, why))
    yield from found.values()


def environment(text: str) -> tuple[list[Assignment], list[int]]:
    """The variables of an environment file, and the numbers of lines that are no assignments.

    Raises ValueError for a script: what it sets depends on what it finds.
    """
    found: dict[str, Assignment] = {}
    other: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        if _FLOW.match(line) and not line.lstrip().startswith("#"):
            raise ValueError(f"line {number}: a script, not a list of assignments")
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        if words[:1] == ["unset"]:
            for name in words[1:]:
                found.pop(name, None)
            continue
        pairs = [word.partition("=") for word in (words[1:] if words[:1] == ["export"] else words)]
        if words[:1] == ["set"] or (pairs and all(_NAME.fullmatch(name) for name, _, _ in pairs) and words[0] == "export"):
            pairs = [pair for pair in pairs if pair[1]]  # `export NAME` and `set -a` change no value
        elif not all(equals and _NAME.fullmatch(name) for name, equals, _ in pairs):
            other.append(number)
            continue
        for name, _, value in pairs:
            if _OURS.fullmatch(name):
                open_ = "$" in value or "`" in value
                why = f"line {number} takes it from elsewhere: {value[:60]!r}" if open_ else ""
                found[name] = Assignment(name, number, None if open_ else value, why)
    return list(found.values()), other
