"""Reads a capture folder as answers to replay: no clean-up, no judgement, byte for byte what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor import yamldoc
from auditor.collect.capture_device import read_folder
from auditor.errors import CaptureError
from auditor.lab.shell import Recorded
from auditor.platforms import platforms


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
    folders = sorted(entry for entry in capture.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    if not folders:
        raise CaptureError("holds no device folder", capture)
    for folder in folders:
        yield _device(folder)


def _device(folder: Path) -> Recording:
    found = read_folder(folder, platforms())
    file = folder / "device.yaml"
    document = yamldoc.read(file, CaptureError) if file.exists() else None
    listed = None if document is None or document.data is None else document.data.get("outputs")
    if document is None or listed is None:
        answers = [Recorded(one.requests[0].command, _text(one.file)) for one in found.recorded if one.requests]
    else:
        answers = []
        for at, output in enumerate(listed):
            try:
                text = _text(folder / output["file"])
            except OSError as problem:
                raise document.error(CaptureError, f"{output['file']}: {problem.strerror}", "outputs", at) from problem
            status = output.get("exit", 1 if output.get("failure") else 0)
            answers.append(Recorded(output["command"], text, status))
    if not answers:
        raise CaptureError("holds no output that could be replayed", folder)
    device = found.device
    return Recording(device.name, device.platforms, device.role, found.prompt or f"admin@{device.name}:~$ ", tuple(answers))


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "surrogateescape")
