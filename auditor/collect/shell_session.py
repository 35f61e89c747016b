"""Commands typed one by one into a login shell, as a Nornir connection around Netmiko.

For devices that give no exec channel. Netmiko logs in and finds the prompt; the end of an answer is never guessed from
the prompt alone, but seen by a random mark with the exit status, printed after the command, with the whole prompt behind
it: text like the prompt inside an answer cuts nothing.
"""

from __future__ import annotations

import re

from auditor.collect.script import GRACE, Command, Mark
from auditor.collect.ssh import Unreached
from auditor.collect.terminal import Typed
from auditor.model import GapReason, Privilege

_SBIN = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin"
_PREPARE = f"export LC_ALL=C PAGER=cat; if ({_SBIN}); then {_SBIN}; fi"


class ShellConnection(Typed):
    """The Nornir connection plugin."""

    def __init__(self) -> None:
        super().__init__()
        self._prompt = ""

    def _start(self) -> None:
        self._login()
        self._prompt = self._netmiko.find_prompt()
        self._send(_PREPARE, 10)

    def _typed(self, command: Command) -> tuple[str, int | None]:
        text = f"sudo -n {command.text}" if command.privilege is Privilege.SUDO else command.text
        return self._send(f"{text} </dev/null", command.seconds)

    def _send(self, text: str, seconds: float) -> tuple[str, int]:
        """Type one line between two marks; it holds them in halves, so that its echo is none. Output and exit status."""
        mark = Mark.fresh().text
        typed = f"{mark[:16]}''{mark[16:]}"
        line = f"printf '\\n%s begin\\n' {typed}; {text}; printf '\\n%s end %s\\n' {typed} $?"
        end = rf"{mark} end \d{{1,3}}\s+(?:.*\s)?{re.escape(self._prompt.strip())}\s*$"
        self._netmiko.taken = 0
        shown = self._netmiko.send_command(
            line, expect_string=end, read_timeout=min(seconds + GRACE, self.deadline.left()),
            strip_prompt=False, strip_command=False, cmd_verify=False,
        )  # fmt: skip
        plain = str(shown).replace("\r\n", "\n").replace("\r", "")
        found = re.search(rf"(?:\A|\n){mark} begin\n(.*?)\n{mark} end (\d{{1,3}})\n", plain, re.DOTALL)
        if found is None:
            raise Unreached(GapReason.TRUNCATED, "the beginning of the answer is missing")
        return found.group(1), int(found.group(2))
