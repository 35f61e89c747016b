"""Asks a switch over its REST API (NVUE), as a Nornir connection: GET alone, TLS verified, bounded in size and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from auditor.collect.inventory import Route
from auditor.collect.output import Answer
from auditor.collect.plugin import Limits, Plugin, used_up
from auditor.collect.script import Command
from auditor.collect.ssh import Deadline, Dialler, Unreached
from auditor.collect.web import Page, Web, document
from auditor.model import GapReason

PORT = 8765
"""Where NVUE listens unless the inventory says otherwise (NVIDIA: Cumulus Linux, NVUE API)."""

_REFUSED = {403: GapReason.PERMISSION, 404: GapReason.REJECTED, 405: GapReason.REJECTED}


class RestConnection(Plugin):
    """The Nornir connection plugin. `extras`: `dialler`, `name`, `route`, `limits`, `tls`, `seconds`."""

    def __init__(self) -> None:
        self._web: Web | None = None
        self._extras: dict[str, Any] = {}
        self._limits = Limits()
        self._deadline: Deadline | None = None
        self._broken: Unreached | None = None

    def _begin(self, extras: dict[str, Any]) -> None:
        """Make ready; the first request logs in."""
        self._extras, self._limits = extras, extras["limits"]

    def close(self) -> None:
        """Close the connection."""
        if self._web is not None:
            self._web.close()

    @property
    def spent(self) -> bool:
        """Whether nothing more can be asked."""
        return self._broken is not None or (self._deadline is not None and self._deadline.over)

    def ask(self, commands: Sequence[Command]) -> list[Answer]:
        """One answer for each `GET PATH`, in order; never raises for what the device does."""
        return [self._one(command) for command in commands]

    def _one(self, command: Command) -> Answer:
        if self._broken is not None:
            return Answer(failure=self._broken.reason, detail=self._broken.detail)
        if self._deadline is not None and self._deadline.over:
            return used_up(self._deadline)
        begin = time.monotonic()
        try:
            page = self._get(command.text.removeprefix("GET "), command.seconds)
        except Unreached as failure:
            if failure.reason in (GapReason.AUTH, GapReason.UNREACHABLE):
                self._broken = failure
            return Answer(failure=failure.reason, detail=failure.detail, seconds=time.monotonic() - begin)
        return Answer(page.body, seconds=time.monotonic() - begin)

    def _get(self, path: str, seconds: float) -> Page:
        """The whole JSON at a path; raises Unreached for everything else."""
        if self._web is None:
            page = self._first(path, seconds)
        else:
            assert self._deadline is not None
            self._web.end = time.monotonic() + self._deadline.left(seconds)
            page = self._web.get(path)
        if page.status != 200 and page.status != 401:
            raise Unreached(_REFUSED.get(page.status, GapReason.REJECTED), f"HTTP {page.status} for {path}")
        document(page, "the REST API")
        return page

    def _first(self, path: str, seconds: float) -> Page:
        """The first request tells whether the account is taken."""
        route: Route = self._extras["route"]
        host = f"[{route.hostname}]" if ":" in route.hostname else route.hostname
        pages: list[Page] = []

        def attempt(username: str, password: str) -> bool:
            self._deadline = self._deadline or Deadline(self._extras["seconds"])
            self._web = Web(
                f"{host}:{route.port or PORT}", self._extras["tls"], (username, password), self._limits.output,
                self._extras["seconds"], "REST API", "collection.api.ca_file", time.monotonic() + self._deadline.left(seconds),
            )  # fmt: skip
            pages.append(self._web.get(path))
            return pages[0].status != 401

        dialler: Dialler = self._extras["dialler"]
        try:
            dialler.log_in(self._extras["name"], route, attempt)
        except Unreached:
            self.close()
            self._web = None  # the next request is a login again
            raise
        return pages[0]
