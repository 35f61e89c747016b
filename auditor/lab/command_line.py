"""The command line of a replayed switch that is no shell: prompt, echo, pager, and the vendor's words for what it does not know.

What it prints as answers is what was recorded. Its manners (prompt, the words that turn paging off, the complaint) are those that
Netmiko's drivers, NOC's profiles and the captures show; it understands nothing, so a client that types anything else is told so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import paramiko

from auditor.lab.misbehaviour import Kind, Misbehaviour
from auditor.lab.shell import Recorded

PAGE = 24
"""Lines of a page, as on every terminal that says nothing of its height."""
_LINE = 4096
_CHUNK = 1024

Send = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Manners:
    """How a vendor's command line behaves. `quiet`: what turns paging off, and what it answers; `width` likewise.

    `prompt` has `{name}`; `block` are lines that stand before every prompt. `refusal` is printed for an unknown command, which
    stands there as `{command}`. `erase` takes a pager away, `{columns}` wide.
    """

    prompt: str
    pager: str
    quiet: Mapping[str, str]
    refusal: str
    block: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    erase: str = "\r{blanks}\r"


_BACK = "\x1b[{columns}D{blanks}\x1b[{columns}D"
_VRP = Manners(
    "<{name}>", "  ---- More ----",
    {"screen-length 0 temporary": "Info: The configuration takes effect on the current user terminal interface only."},
    "        ^\nError: Unrecognized command found at '^' position.", erase=_BACK,
)  # fmt: skip

MANNERS: Mapping[str, Manners] = {
    "arista_eos": Manners(
        "{name}#", " --More-- ", {"terminal length 0": "Pagination disabled."}, "% Invalid input",
        others={"terminal width 511": "Width set to 511 columns."},
    ),
    "cisco_nxos": Manners(
        "{name}# ", "--More--", {"terminal length 0": ""}, "                 ^\n% Invalid command at '^' marker.",
        others={"terminal width 511": ""},
    ),
    "juniper_junos": Manners(
        "lab@{name}> ", "---(more)---", {"set cli screen-length 0": "Screen length set to 0"}, "     ^\nunknown command.",
        "{master:0}",
        {"set cli screen-width 511": "Screen width set to 511", "set cli complete-on-space off": "Disabling complete-on-space"},
    ),
    "huawei_vrp": _VRP,
    "huawei_vrpv8": _VRP,
    "hp_comware": Manners(
        "<{name}>", "---- More ----", {"screen-length disable": ""}, "         ^\n % Unrecognized command found at '^' position.",
        erase=_BACK,
    ),
    "mellanox_mlnxos": Manners(
        "{name} [standalone: master] # ", "lines 1-23", {"no cli session paging enable": ""},
        '% Unrecognized command "{command}".',
    ),
    "dell_os10": Manners("{name}# ", "--More--", {"terminal length 0": ""}, "% Error: Unrecognized command."),
}  # fmt: skip
"""By Netmiko's name of the device type."""

ANY = Manners("{name}# ", "--More--", {"terminal length 0": ""}, "% Invalid input detected at '^' marker.")
"""For a platform that is not known here."""


class CommandLine:
    """One session on one channel. `answers` are looked up by the command as it is typed, blanks aside; `typed` are the lines."""

    def __init__(
        self,
        name: str,
        manners: Manners,
        answers: Iterable[Recorded],
        bad: Misbehaviour | None = None,
        prompt: str = "",
        typed: list[str] | None = None,
    ) -> None:
        self.typed = [] if typed is None else typed
        self._manners, self._bad = manners, bad
        self._prompt = prompt or manners.prompt.format(name=name)
        self._answers = {_words(answer.command): answer for answer in reversed(list(answers))}
        self._paging = True

    def serve(self, channel: paramiko.Channel, send: Send, stopping: Callable[[], bool]) -> None:
        """Answer until the client leaves or the lab stops."""
        keys = _keys(channel, stopping)
        if self._bad is not None and self._bad.kind is Kind.QUESTION and not self._ask(send, keys):
            return
        self._show_prompt(send)
        line = b""
        for key in keys:
            if key == b"\n":
                send(b"\r\n")
                self.typed.append(line.decode("utf-8", "replace"))
                for text in self.reply(self.typed[-1]):
                    self._print(text, send, keys)
                line = b""
                self._show_prompt(send)
            elif len(line) < _LINE:
                line += key
                send(key)

    def reply(self, line: str) -> Iterator[str]:
        """What one typed line is answered."""
        command, manners = _words(line), self._manners
        if not command:
            return
        if command in manners.quiet:
            self._paging = self._bad is not None and self._bad.kind is Kind.PAGER
            yield manners.quiet[command]
        elif command in manners.others:
            yield manners.others[command]
        elif command not in self._answers or self._is(Kind.REJECTED, line):
            yield manners.refusal.replace("{command}", command)
        else:
            if self._bad is not None and self._bad.kind is Kind.SLOW:
                time.sleep(self._bad.number)
            body = self._answers[command].body
            yield body[: len(body) // 2] if self._is(Kind.TRUNCATED, line) else body

    def _ask(self, send: Send, keys: Iterator[bytes]) -> bool:
        """Whether the client said no to a new password: whoever says anything else is let out."""
        send(b"\r\nWarning: The password needs to be changed. Change now? [Y/N]:")
        said = b""
        for key in keys:
            if key == b"\n":
                self.typed.append(said.decode("utf-8", "replace"))
                send(b"\r\n")
                return said == b"N"
            said += key
            send(key)
        return False

    def _is(self, kind: Kind, line: str) -> bool:
        return self._bad is not None and self._bad.kind is kind and self._bad.selects(line)

    def _show_prompt(self, send: Send) -> None:
        block = f"\r\n{self._manners.block}\r\n" if self._manners.block else ""
        send(f"{block}{self._prompt}".encode())

    def _print(self, text: str, send: Send, keys: Iterator[bytes]) -> None:
        rows = text.removesuffix("\n").split("\n") if text else []
        page = int(self._bad.number) if self._bad is not None and self._bad.kind is Kind.PAGER else PAGE
        for at, row in enumerate(rows):
            if self._paging and at and at % page == 0:
                send(self._manners.pager.encode())
                if next(keys, b"q") == b"q":
                    send(b"\r\n")
                    return
                columns = len(self._manners.pager)
                send(self._manners.erase.format(columns=columns, blanks=" " * columns).encode())
            send(row.rstrip("\r").encode("utf-8", "surrogateescape"))
            if self._bad is not None and self._bad.kind is Kind.PAUSE and row.endswith(self._prompt.strip()):
                time.sleep(self._bad.number)
            send(b"\r\n")


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _keys(channel: paramiko.Channel, stopping: Callable[[], bool]) -> Iterator[bytes]:
    """What is typed, key by key; a carriage return counts as the end of a line, with or without a newline behind it."""
    channel.settimeout(0.1)
    before = b""
    while not (channel.closed or stopping()):
        try:
            data = channel.recv(_CHUNK)
        except TimeoutError:
            continue
        if not data:
            return
        for at in range(len(data)):
            key = data[at : at + 1]
            if key == b"\n" and before == b"\r":
                before = key
                continue
            before = key
            yield b"\n" if key == b"\r" else key
