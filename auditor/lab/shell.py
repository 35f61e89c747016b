"""The command line of a replayed device: a folder of small executables that print what was recorded.

A device runs what it is sent in a real shell, restricted and with nothing in its PATH but this folder, so that exit
statuses, quoting, `sudo -n` and joined commands are judged by a shell and not by an imitation of one.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from auditor.errors import CaptureError, SetupError
from auditor.lab.misbehaviour import Kind, Misbehaviour
from auditor.model.raw import digest

_PLUMBING = ("env", "timeout", "true", "false", "sleep", "head", "tail", "tr")
"""Programs that a client may use around a command; they are the real ones."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded answer. `command` as a person would type it, without sudo."""

    command: str
    body: str
    exit_status: int = 0


_KERNEL = Recorded("uname -sr", "Linux 6.1.0-22-2-amd64\n")
"""What a login test asks and no platform declares, so that hardly a capture holds it."""


def build(folder: Path, bodies: Path, recorded: Iterable[Recorded], bad: Misbehaviour | None = None) -> None:
    """Fill `folder` with one executable per first word of a device's recorded commands.

    Bodies go to `bodies`, named by content and shared by all devices. Raises CaptureError for a command that cannot
    be a command line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bodies.mkdir(parents=True, exist_ok=True)
    words: dict[str, dict[str, Recorded]] = defaultdict(dict)
    for answer in recorded:
        word, arguments = _split(answer.command)
        words[word].setdefault(arguments, answer)
    if "uname" in words:
        words["uname"].setdefault("-sr", _KERNEL)
    for word, answers in words.items():
        _write(folder / word, _dispatcher(word, answers, bodies, bad))
    if bad is not None and bad.kind is Kind.REFUSED_SUDO:
        _write(folder / "sudo", _SUDO_REFUSED)


def build_common(folder: Path, bodies: Path) -> None:
    """Fill `folder` with what every device has: sudo, a restricted sh, an empty cat, and the plumbing."""
    build(folder, bodies, [_KERNEL])
    _write(folder / "cat", _dispatcher("cat", {}, bodies, None))
    _write(folder / "sudo", _SUDO)
    _write(folder / "sh", f'#!/bin/sh\nexec {shlex.join(command_line())} "$@"\n')
    for name in _PLUMBING:
        real = shutil.which(name)
        if real is not None:
            (folder / name).symlink_to(real)


def command_line() -> list[str]:
    """The shell that runs what a device is sent; raises SetupError where there is none.

    It is restricted: nothing outside the device's folder can be run and no file can be written.
    """
    bash = shutil.which("bash")
    if bash is None:
        raise SetupError("the lab needs bash, to run what a client sends in a restricted shell")
    return [bash, "--restricted", "--norc", "--noprofile"]


def environment(folder: Path, common: Path, prompt: str) -> Mapping[str, str]:
    """The whole environment of a device's shell: its own folder comes before the common one."""
    return {
        "PATH": f"{folder}:{common}", "HOME": str(folder), "SHELL": "/bin/bash", "TERM": "dumb", "LANG": "C.UTF-8",
        "PS1": prompt.replace("\\", "\\\\"), "PS2": "> ", "PROMPT_COMMAND": "",
    }  # fmt: skip


def _split(command: str) -> tuple[str, str]:
    try:
        parts = shlex.split(command)
    except ValueError as problem:
        raise CaptureError(f"recorded command {command!r} is no command line: {problem}") from problem
    if parts[:2] == ["sudo", "-n"]:
        parts = parts[2:]
    elif parts[:1] == ["sudo"]:
        parts = parts[1:]
    if not parts or "/" in parts[0] or parts[0].startswith(("-", ".")):
        raise CaptureError(f"recorded command {command!r} does not start with the name of a program")
    return parts[0], " ".join(parts[1:])


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    file.chmod(0o700)


def _body(bodies: Path, text: str) -> str:
    file = bodies / digest(text)
    if not file.exists():
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(text.encode("utf-8", "surrogateescape"))
        draft.replace(file)
    return shlex.quote(str(file))


def _dispatcher(word: str, answers: Mapping[str, Recorded], bodies: Path, bad: Misbehaviour | None) -> str:
    """A script that looks its arguments up among the recorded ones. Bodies are printed byte for byte."""
    lines = ["#!/bin/sh"]
    if bad is not None and bad.kind is Kind.SLOW:
        lines.append(f"{_real('sleep')} {bad.number}")
    lines.append('case "$*" in')
    for arguments, answer in answers.items():
        lines.append(f"{shlex.quote(arguments)}) {_answer(answer, bodies, bad)};;")
    if word == "cat":
        lines.append(f"'') exec {_real('cat')};;")
        lines.append('*) echo "cat: $*: No such file or directory" >&2; exit 1;;')
    else:
        lines.append(f"*) echo {shlex.quote(f'bash: {word}: command not found')} >&2; exit 127;;")
    lines.append("esac")
    return "\n".join(lines) + "\n"


def _answer(answer: Recorded, bodies: Path, bad: Misbehaviour | None) -> str:
    if bad is not None and bad.selects(answer.command):
        if bad.kind is Kind.REJECTED:
            return _rejection(answer.command)
        if bad.kind is Kind.TRUNCATED:
            return f"exec {_real('cat')} {_body(bodies, answer.body[: len(answer.body) // 2])}"
    if bad is not None and bad.kind is Kind.PAGER:
        rows = answer.body.splitlines(keepends=True)
        page = int(bad.number)
        if len(rows) > page:
            first, rest = _body(bodies, "".join(rows[:page])), _body(bodies, "".join(rows[page:]))
            cat = _real("cat")
            wait = "printf '%s' '--More--'; read -r key; printf '\\r        \\r'"
            return f"{cat} {first}; {wait}; {cat} {rest}; exit {answer.exit_status}"
    if answer.exit_status == 0:
        return f"exec {_real('cat')} {_body(bodies, answer.body)}"
    return f"{_real('cat')} {_body(bodies, answer.body)}; exit {answer.exit_status}"


def _rejection(command: str) -> str:
    word, _, rest = command.partition(" ")
    if word == "show":
        usage = f'Usage: show [OPTIONS] COMMAND [ARGS]...\nTry "show -h" for help.\n\nError: No such command "{rest.split()[0]}".'
        return f"printf '%s\\n' {shlex.quote(usage)} >&2; exit 2"
    return f"echo {shlex.quote(f'bash: {word}: command not found')} >&2; exit 127"


@cache
def _real(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SetupError(f"the lab needs the program {name!r}")
    return shlex.quote(found)


_SUDO = """#!/bin/sh
if [ "$1" != -n ]; then
  echo 'sudo: a terminal is required to read the password; either use the -S option or configure an askpass helper' >&2
  exit 1
fi
shift
if [ "$1" = -- ]; then shift; fi
exec env "$@"
"""

_SUDO_REFUSED = """#!/bin/sh
echo 'sudo: a password is required' >&2
exit 1
"""
