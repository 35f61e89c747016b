"""Speaks eAPI (Arista EOS): JSON-RPC `runCmds` at `/command-api`, answered from recorded commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from auditor.lab.api import Reply, Speak
from auditor.lab.shell import Recorded


def speak(recorded: Mapping[str, Recorded]) -> Speak:
    """A device that answers `show x` in text from the recorded `show x`, and in JSON from `show x | json`."""

    def answer(path: str, body: bytes) -> tuple[list[str], Reply]:
        if path != "/command-api":
            return [], Reply(404, b"")
        request = json.loads(body)
        commands, form = request["params"]["cmds"], request["params"]["format"]
        results: list[Any] = []
        out: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        for at, command in enumerate(commands, 1):
            found = recorded.get(f"{command} | json" if form == "json" else command)
            if found is None or found.exit_status:
                out["error"] = _error(at, len(commands), command, found, results, known=command in recorded)
                break
            results.append(json.loads(found.body) if form == "json" else {"output": found.body})
        else:
            out["result"] = results
        return commands, Reply(200, json.dumps(out).encode())

    return answer


def _error(at: int, of: int, command: str, found: Recorded | None, results: list[Any], *, known: bool) -> dict[str, Any]:
    """Its refusal: 1002 for what it does not know, 1003 for what it has in text alone."""
    code, why = (1003, "unconverted command") if known and found is None else (1002, "invalid command")
    words = found.body.strip() if found is not None else f"Invalid input (at token 1: '{command.split()[-1]}')"
    told = [] if code == 1003 else [words.removeprefix("% ")]
    return {
        "code": code,
        "message": f"CLI command {at} of {of} '{command}' failed: {why}",
        "data": [*results, {"errors": told}],
    }
