"""Speaks the REST API of NVUE (Cumulus Linux): `GET /nvue_v1/…`, answered from recordings named `GET PATH`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from auditor.lab.api import Reply, Speak
from auditor.lab.shell import Recorded


def speak(recorded: Mapping[str, Recorded]) -> Speak:
    """A device that has the recorded paths, each with its query."""

    def answer(path: str, body: bytes) -> tuple[list[str], Reply]:
        asked = f"{'POST' if body else 'GET'} {path}"
        found = recorded.get(asked)
        if found is None:
            problem = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "Requested item does not exist."}
            return [asked], Reply(404, json.dumps(problem).encode(), "application/problem+json")
        return [asked], Reply(200, found.body.encode())

    return answer
