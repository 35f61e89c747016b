"""Makes RawOutputs: decodes, redacts, bounds, and says why something is not an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from auditor.canonical import printable
from auditor.collect.redaction import redact
from auditor.model import Device, Failure, Gap, GapReason, Parser, Platform, RawOutput, Source, digest

_EDGE_LINES = 6

_GENERIC = (
    Failure(r"^sudo: ", GapReason.PERMISSION, "sudo was refused"),
    Failure(r"(?i)is not in the sudoers file|not allowed to execute", GapReason.PERMISSION, "sudo was refused"),
    Failure(r"(?i)permission denied|operation not permitted|must be root", GapReason.PERMISSION, "needs more privilege"),
    Failure(r"(?i)command not found|No such command|: not found$|failed to run command", GapReason.REJECTED, "no such command"),
)
"""What any Unix-like device may say; looked for only in the words of a command that failed."""

_STATUS = {
    124: (GapReason.TIMEOUT, "ended by its deadline"),
    137: (GapReason.TIMEOUT, "killed at its deadline"),
    126: (GapReason.PERMISSION, "may not be run"),
    127: (GapReason.REJECTED, "no such command"),
}
"""Exit statuses of `timeout` (124, 137) and of any POSIX shell (126, 127)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one command: bytes of both streams, exit status if one came, or why there is no answer."""

    stdout: bytes = b""
    stderr: bytes = b""
    status: int | None = None
    seconds: float = 0.0
    failure: GapReason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One command of one platform's source for one device; `command` as declared, parameters filled in."""

    platform: Platform
    source: Source
    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def raw_output(
    device: Device, request: Request, answer: Answer, at: datetime, *, excerpt: tuple[str, ...] = (), limit: int | None = None
) -> RawOutput:
    """The RawOutput of one answer, collected at `at`. A body longer than `limit` bytes is cut and marked so.

    No text holds a zero byte: what stands behind one is not kept, and `parse` refuses the answer for it.
    """
    failure, detail = answer.failure, answer.detail
    stdout = answer.stdout
    if limit is not None and len(stdout) > limit:
        stdout = stdout[:limit]
        failure, detail = failure or GapReason.TRUNCATED, detail or f"longer than {limit} bytes; the rest was cut"
    stdout = stdout[: stdout.find(b"\0") + 1] or stdout
    secrets = request.platform.secrets
    body = redact(stdout.decode("utf-8", "replace"), secrets)
    errors = redact(answer.stderr.decode("utf-8", "replace"), secrets)
    if failure is None:
        failure, detail = _judge(request, body, errors, answer.status)
    if failure is not None and not body.strip():
        body = errors
    return RawOutput(
        device.name, request.platform.name, request.source.key, request.command, body, digest(body), at,
        parameters=dict(request.parameters), seconds=round(answer.seconds, 3), exit_status=answer.status,
        failure=failure, detail=printable(detail), excerpt=excerpt,
    )  # fmt: skip


def answered(request: Request, output: RawOutput) -> bool:
    """Whether an output looks like an answer, cheaply: its fallback is asked otherwise."""
    if output.failure is not None:
        return False
    body = output.body.lstrip()
    if request.source.parser is Parser.JSON and body:
        return bool(re.search(r"^\s*[{\[]", body[:4096], re.MULTILINE))
    if not body:
        return request.source.empty
    edge = _edge(output.body)
    return not any(re.search(failure.pattern, edge, re.MULTILINE) for failure in request.platform.failures)


def gaps_for(device: Device, source: Source, reason: GapReason, detail: str) -> tuple[Gap, ...]:
    """One gap per fill of a source that has no output."""
    text = printable(detail)
    return tuple(
        Gap(device.name, fill.row_type.TABLE, source.key, reason, text, fill.layer, columns=fill.columns) for fill in source.fills
    )


def _judge(request: Request, body: str, errors: str, status: int | None) -> tuple[GapReason | None, str]:
    """Why this is not an answer, by exit status and by what stands on the error stream; the body alone is judged by parse."""
    bad = status is not None and status not in request.source.ok_status
    silent = not body.strip() and bool(errors.strip())
    if not bad and not silent:
        return None, ""
    words = _edge(errors) if errors.strip() else _edge(body)
    first = next((line.strip() for line in words.splitlines() if line.strip()), "no output")
    told = f"exit status {status}: {first}" if bad else first
    for failure in (*request.platform.failures, *_GENERIC):
        found = re.search(failure.pattern, words, re.MULTILINE)
        if found is not None:
            return failure.reason, f"{failure.detail}: {told}"
    if bad and status in _STATUS:
        reason, detail = _STATUS[status]
        return reason, f"{detail} ({told})"
    if bad:
        return GapReason.REJECTED, told
    return (None, "") if request.source.empty else (GapReason.REJECTED, told)


def _edge(text: str) -> str:
    """The first and the last lines, each cut to 500 characters."""
    first = [line for line in text[:20_000].splitlines() if line.strip()][:_EDGE_LINES]
    last = [line for line in text[-20_000:].splitlines() if line.strip()][-_EDGE_LINES:]
    return "\n".join(line[:500] for line in (*first, *last))
