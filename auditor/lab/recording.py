"""Reads a capture folder as answers to replay: no clean-up, no judgement, byte for byte what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor import yamldoc
from auditor.errors import CaptureError
from auditor.lab.shell import Recorded


@dataclass(frozen=True, slots=True)
class Recording:
    """One device of a capture: its platforms, its prompt and its answers."""

    device: str
    platforms: tuple[str, ...]
    role: str
    prompt: str
    answers: tuple[Recorded, ...]


def read(capture: Path) -> Iterator[Recording]:
    """Every device of the folder in the order of names; raises CaptureError with the file at fault."""
    if not capture.is_dir():
        raise CaptureError("is no capture folder", capture)
    found = False
    for file in sorted(capture.glob("*/device.yaml")):
        found = True
        yield _device(file)
    if not found:
        raise CaptureError("holds no device (no folder with a device.yaml)", capture)


def _device(file: Path) -> Recording:
    document = yamldoc.read(file, CaptureError)
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("outputs"), list):
        raise document.error(CaptureError, "a replay needs a mapping with the list `outputs`")
    answers: list[Recorded] = []
    for at, output in enumerate(data["outputs"]):
        if not isinstance(output, dict) or not all(isinstance(output.get(key), str) for key in ("file", "command")):
            raise document.error(CaptureError, "an output needs `file` and `command`", "outputs", at)
        body = file.parent / output["file"]
        if body.resolve().parent != file.parent.resolve():
            raise document.error(CaptureError, f"{output['file']!r} leaves the folder", "outputs", at)
        try:
            text = body.read_bytes().decode("utf-8", "surrogateescape")
        except OSError as problem:
            raise document.error(CaptureError, f"{output['file']}: {problem.strerror}", "outputs", at) from problem
        answers.append(Recorded(output["command"], text, int(output.get("exit") or 0)))
    name = file.parent.name
    platforms = data.get("platforms") or []
    return Recording(name, tuple(platforms), data.get("role") or "", data.get("prompt") or f"admin@{name}:~$ ", tuple(answers))
