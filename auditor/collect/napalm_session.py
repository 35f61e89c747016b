"""Commands through a NAPALM driver (eAPI, NX-API, NETCONF), as a Nornir connection: each declared command, and its raw answer.

NAPALM's getters are not used: they leave out what the rules need (docs/napalm.md), and a finding must show the line of the
answer that proves it. So the drivers carry the commands of the platform, and its own parsers read the answers. The ending that
asks for a form (`| json`) becomes the encoding of the request. Nothing but the driver's way of asking is ever called: no load,
no commit, no lock.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import paramiko

from auditor.canonical import printable
from auditor.collect.inventory import Route
from auditor.collect.output import Answer
from auditor.collect.plugin import Limits, Plugin, used_up
from auditor.collect.script import Command
from auditor.collect.ssh import Deadline, Dialler, Unreached, explain
from auditor.collect.web import Web
from auditor.model import GapReason

PORTS = {"eos": 443, "nxos": 443, "junos": 830}
"""Where each API listens unless the inventory says otherwise. 830: RFC 6242."""

_CALLED = {"eos": "eAPI", "nxos": "NX-API", "junos": "NETCONF"}
_FORM = re.compile(r" \| (?:display )?(?P<form>json|xml)(?: \| no-more)?$| \| no-more$")
_PERMISSION = re.compile(r"(?i)permission|privileged mode|not authorized|unauthorized|authorization")


class NapalmConnection(Plugin):
    """The Nornir connection plugin. `extras`: `dialler`, `name`, `route`, `limits`, `driver` (for NAPALM), `tls`, `seconds`."""

    def __init__(self) -> None:
        self._driver: Any = None
        self._kind = ""
        self._broken: Unreached | None = None
        self._web: Web | None = None
        self._transport: Any = None
        self._limits = Limits()
        self._deadline = Deadline(0)

    def _begin(self, extras: dict[str, Any]) -> None:
        """Open the driver: log in, and what it asks of every device."""
        self._kind, self._limits = extras["driver"], extras["limits"]
        try:
            if self._kind == "junos":
                self._open_ssh(extras["dialler"], extras["name"], extras["route"])
            else:
                self._open_web(extras)
        except BaseException as error:
            self.close()
            if not isinstance(error, Exception):
                raise
            raise self._explain(error) from None

    def _open_web(self, extras: dict[str, Any]) -> None:
        from auditor.collect import napalm_drivers

        route: Route = extras["route"]
        host = f"[{route.hostname}]" if ":" in route.hostname else route.hostname
        made = {"eos": napalm_drivers.EosDriver, "nxos": napalm_drivers.NxosDriver}[self._kind]

        def attempt(username: str, password: str) -> bool:
            self._deadline = Deadline(extras["seconds"])
            self._web = Web(
                f"{host}:{route.port or PORTS[self._kind]}", extras["tls"], (username, password), self._limits.output,
                self._limits.start, _CALLED[self._kind], "collection.api.ca_file", time.monotonic() + self._limits.start,
            )  # fmt: skip
            self._driver = made(self._web)
            try:
                self._driver.open()
            except Unreached as failure:
                if failure.reason is not GapReason.AUTH:
                    raise
                return False
            return True

        dialler: Dialler = extras["dialler"]
        dialler.log_in(extras["name"], route, attempt)
        assert self._web is not None
        self._web.seconds = extras["seconds"]

    def _open_ssh(self, dialler: Dialler, name: str, route: Route) -> None:
        from auditor.collect import napalm_drivers

        self._transport, self._deadline = dialler.open(name, replace(route, port=route.port or PORTS["junos"]))
        self._driver = napalm_drivers.JunosDriver(self._transport, self._limits.output, self._deadline.left(self._limits.start))
        self._driver.open()

    def close(self) -> None:
        """Close the driver and what it spoke through."""
        driver, self._driver = self._driver, None
        try:
            if driver is not None:
                driver.close()
        except Exception as error:
            self._broken = self._broken or self._explain(error)
        finally:
            if self._web is not None:
                self._web.close()
            if self._transport is not None:
                self._transport.close()

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked: the deadline is over or the connection broke."""
        return self._deadline.over or self._broken is not None

    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each command, in order; never raises for what the device does."""
        return [self._one(command) for command in commands]

    def _one(self, command: Command) -> Answer:
        if self._broken is not None:
            return Answer(failure=self._broken.reason, detail=f"not asked: {self._broken.detail}")
        if self._deadline.over:
            return used_up(self._deadline)
        begin = time.monotonic()
        try:
            body = self._send(command.text, self._deadline.left(command.seconds)).encode("utf-8", "replace")
        except Exception as error:  # whatever the libraries raise belongs to this device alone
            failure = self._explain(error)
            if failure.reason in (GapReason.AUTH, GapReason.UNREACHABLE):
                self._broken = failure
            words = failure.detail.encode() if failure.reason in (GapReason.REJECTED, GapReason.PERMISSION) else b""
            return Answer(stderr=words, seconds=time.monotonic() - begin, failure=failure.reason, detail=failure.detail)
        return Answer(body, seconds=time.monotonic() - begin)

    def _send(self, text: str, seconds: float) -> str:
        """The answer of one command in the form that its ending asks for. NX-OS has a form of its own behind `| json native`."""
        found = _FORM.search(text)
        bare, form = (text[: found.start()], found.group("form") or "text") if found else (text, "text")
        if self._kind == "junos" and "|" in bare:
            raise Unreached(GapReason.UNSUPPORTED, f"{_CALLED[self._kind]} has no request for `|{bare.partition('|')[2]}`")
        if self._web is not None:
            self._web.end = time.monotonic() + seconds
        if self._kind == "junos":
            self._driver.device.session.taken, self._driver.device.timeout = 0, ceil(seconds)  # PyEZ cuts fractions off
            return str(self._driver.device.json(bare) if form == "json" else self._driver.cli([bare], encoding=form)[bare])
        if form == "text":
            return _text(self._driver.cli([bare])[bare])
        answer = self._driver.device.show(bare) if self._kind == "nxos" else self._driver.cli([bare], encoding=form)[bare]
        return json.dumps(answer, indent=2, ensure_ascii=False) if isinstance(answer, dict | list) else _text(answer)

    def _explain(self, error: BaseException) -> Unreached:
        """The failure that an exception of NAPALM and the libraries below it stands for; NAPALM hides the one that tells."""
        from auditor.collect import napalm_drivers as drivers

        told: BaseException | None = error
        while told is not None and not isinstance(told, (Unreached, *drivers.COMMAND_ERRORS)):
            told = told.__context__
        if isinstance(told, Unreached):
            return told
        called = _CALLED[self._kind]
        if isinstance(error, drivers.TIMEOUTS) or (isinstance(error, drivers.CLOSED) and "timed out" in str(error)):
            return Unreached(GapReason.TIMEOUT, f"no answer over {called} within the deadline")
        if isinstance(error, drivers.CLOSED):
            if self._kind == "junos" and self._driver is not None and self._driver.device.session.overflow:
                return Unreached(GapReason.TRUNCATED, f"longer than {self._limits.output} bytes; the session was ended")
            return Unreached(GapReason.UNREACHABLE, f"the session over {called} ended")
        if told is not None:
            words = printable(drivers.words_of(told), 300) or "no reason given"
            reason = GapReason.PERMISSION if _PERMISSION.search(words) else GapReason.REJECTED
            return Unreached(reason, f"the device refused the command: {words}")
        if isinstance(error, drivers.UnsupportedVersion):
            return Unreached(GapReason.UNSUPPORTED, f"NAPALM takes EOS 4.23 and later, and the device runs {error}")
        if isinstance(error, OSError | EOFError | paramiko.SSHException):
            return explain(error)
        return Unreached(GapReason.UNPARSED, f"what came back is no answer of {called} ({type(error).__name__})")


def _text(answer: Any) -> str:
    if not isinstance(answer, str | None):
        raise Unreached(GapReason.UNPARSED, f"the answer is {type(answer).__name__} and no text")
    return answer or ""
