"""Speaks NX-API (Cisco NX-OS): JSON-RPC `cli` and `cli_ascii` at `/ins`, answered from recorded commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from auditor.lab.api import Reply, Speak
from auditor.lab.shell import Recorded


def speak(recorded: Mapping[str, Recorded], name: str = "nexus") -> Speak:
    """A device of this name that answers `cli_ascii` from the recorded `show x`, and `cli` from `show x | json`."""
    hostname = Recorded("show hostname | json", json.dumps({"hostname": name}))
    known = {hostname.command: hostname, **recorded}

    def answer(path: str, body: bytes) -> tuple[list[str], Reply]:
        if path != "/ins":
            return [], Reply(404, b"")
        requests = json.loads(body)
        replies, failed = [], False
        for request in requests:
            reply, bad = _one(request, known)
            replies.append(reply)
            failed |= bad
        commands = [request["params"]["cmd"] for request in requests]
        content = replies[0] if len(replies) == 1 else replies
        return commands, Reply(500 if failed else 200, json.dumps(content).encode(), "application/json-rpc")

    return answer


def _one(request: Mapping[str, Any], recorded: Mapping[str, Recorded]) -> tuple[dict[str, Any], bool]:
    command, text = request["params"]["cmd"], request["method"] == "cli_ascii"
    found = recorded.get(command if text else f"{command} | json")
    out: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    if found is None or found.exit_status:
        words = found.body if found is not None else "% Invalid command\n"
        if found is None and not text and command in recorded:
            words = "Structured output unsupported"
        out["error"] = {"code": -32602, "message": "Invalid params", "data": {"msg": words}}
        return out, True
    out["result"] = {"msg": found.body} if text else {"body": json.loads(found.body)}
    return out, False
