"""Asks a BMC over HTTPS, as a Nornir connection: GET alone, TLS verified, collections expanded, bounded in size and time.

A BMC that is silent costs its own commands: the host behind it is asked all the same.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from auditor.collect.output import Answer
from auditor.collect.plugin import Plugin
from auditor.collect.script import Command
from auditor.collect.ssh import Unreached
from auditor.collect.web import Web
from auditor.model import GapReason
from auditor.settings import Bmc

EXPAND = "?$expand=.($levels=1)"
"""Redfish's wish for the members of a collection instead of links to them (DMTF DSP0266, 7.3); not every BMC knows it."""

MAX_MEMBERS = 512
"""Links of one collection that are followed: the largest firmware inventory at hand has 106 members."""

_STATUS = {401: GapReason.AUTH, 403: GapReason.PERMISSION, 404: GapReason.REJECTED, 405: GapReason.REJECTED}


@dataclass(slots=True)
class Login:
    """The account for BMCs, shared by all of a run. After one refusal a group of accounts is not tried again."""

    settings: Bmc
    refused: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def password(self) -> str:
        """The password from the environment; empty when there is none."""
        return os.environ.get(self.settings.password_env, "")

    def refuse(self, group: str, device: str) -> None:
        """Note that a BMC refused the account."""
        with self._lock:
            self.refused.setdefault(group, device)


class HttpsConnection(Plugin):
    """The Nornir connection plugin. `extras`: `name`, `address`, `group`, `login`, `tls`, `output` (bytes), `seconds`."""

    def __init__(self) -> None:
        self._web: Web | None = None
        self._extras: dict[str, Any] = {}
        self._end = 0.0

    def _begin(self, extras: dict[str, Any]) -> None:
        """Make ready; nothing is sent yet."""
        self._extras = extras
        login: Login = extras["login"]
        self._end = time.monotonic() + extras["seconds"]
        account = (login.settings.username, login.password()) if login.settings.username else None
        self._web = Web(
            extras["address"], extras["tls"], account, extras["output"], extras["seconds"], "BMC", "collection.bmc.ca_file"
        )

    def close(self) -> None:
        """Close the connection."""
        if self._web is not None:
            self._web.close()

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked."""
        return time.monotonic() >= self._end

    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each `GET PATH`, in order; never raises for what the BMC does."""
        out: list[Answer] = []
        for command in commands:
            begin = time.monotonic()
            dead = next((answer for answer in out if answer.failure in (GapReason.UNREACHABLE, GapReason.AUTH)), None)
            answer = Answer(failure=dead.failure, detail=dead.detail) if dead is not None else self._one(command)
            out.append(Answer(answer.stdout, b"", answer.status, time.monotonic() - begin, answer.failure, answer.detail))
        return out

    def _one(self, command: Command) -> Answer:
        login: Login = self._extras["login"]
        group = self._extras["group"] or self._extras["name"]
        if group in login.refused:
            return Answer(failure=GapReason.AUTH, detail=f"not tried: {login.refused[group]} refused the same account")
        try:
            return self._get(command.text.removeprefix("GET "), min(self._end, time.monotonic() + command.seconds))
        except Unreached as failure:
            return Answer(failure=failure.reason, detail=failure.detail)

    def _get(self, path: str, end: float) -> Answer:
        status, body, whole = self._read(path + EXPAND, end)
        if status in (400, 404, 405, 501):
            status, body, whole = self._read(path, end)
        if status == 401:
            self._extras["login"].refuse(self._extras["group"] or self._extras["name"], self._extras["name"])
        if status != 200:
            reason = _STATUS.get(status, GapReason.REJECTED)
            return Answer(failure=reason, detail=f"HTTP {status}", stdout=body if whole else b"")
        if not whole:
            return Answer(
                body, failure=GapReason.TRUNCATED, detail=f"longer than {self._extras['output']} bytes; the rest was cut"
            )
        return Answer(self._expanded(body, end), status=0)

    def _expanded(self, body: bytes, end: float) -> bytes:
        """The collection with its members in it, where the BMC gave links alone. Members of another address are no members."""
        try:
            document = json.loads(body)
        except ValueError:
            return body
        links = list(_links(document))
        if not links:
            return body
        found, size = [], len(body)
        for link in links[:MAX_MEMBERS]:
            status, member, whole = self._read(link, end)
            size += len(member)
            usable = status == 200 and whole and size <= self._extras["output"]
            try:
                found.append(json.loads(member) if usable else {"@odata.id": link})
            except ValueError:
                found.append({"@odata.id": link})
        return json.dumps({**document, "Members": found}, indent=2).encode()

    def _read(self, path: str, end: float) -> tuple[int, bytes, bool]:
        """Status, body and whether that is all of it. Raises Unreached."""
        assert self._web is not None
        self._web.end = end
        page = self._web.get(path)
        return page.status, page.body, page.whole


def _links(document: Any) -> Iterator[str]:
    """Members of a collection that are links alone, each a path below `/redfish/v1/`."""
    members = document.get("Members") if isinstance(document, dict) else None
    for item in members if isinstance(members, list) else ():
        link = item.get("@odata.id") if isinstance(item, dict) and set(item) <= {"@odata.id", "@odata.type"} else None
        if isinstance(link, str) and link.startswith("/redfish/v1/") and ".." not in link:
            yield link
