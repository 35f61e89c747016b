"""Reads a capture folder as answers to replay: no clean-up, no judgement, byte for byte what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.collect.capture_device import read_folder
from auditor.errors import CaptureError
from auditor.lab.shell import Recorded
from auditor.model import Platform, Transport
from auditor.platforms import platforms


@dataclass(frozen=True, slots=True)
class Recording:
    """One device of a capture: its platforms, its prompt and its answers. `own_prompt` is empty where the capture names none."""

    device: str
    platforms: tuple[str, ...]
    role: str
    prompt: str
    answers: tuple[Recorded, ...]
    own_prompt: str = ""

    def no_shell(self, known: Mapping[str, Platform]) -> str:
        """The platform whose command line is no shell; empty for a device with a Unix shell."""
        return next((name for name in self.platforms if name in known and known[name].transport is Transport.CLI), "")


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
    file = folder / "device.yaml"
    document = yamldoc.read(file, CaptureError) if file.exists() else None
    listed = document.data.get("outputs") if document is not None and isinstance(document.data, dict) else None
    if document is None or not isinstance(listed, list):
        return _by_file_names(folder)
    answers = [_listed(folder, document, item, at) for at, item in enumerate(listed)]
    data = document.data
    names = data.get("platforms") or []
    named = tuple(map(str, names)) if isinstance(names, list) else (str(names),)
    return _recording(folder, named, str(data.get("role") or ""), str(data.get("prompt") or ""), answers)


def _listed(folder: Path, document: yamldoc.YamlDocument, item: Any, at: int) -> Recorded:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("file", "command")):
        raise document.error(CaptureError, "an output needs the texts `file` and `command`", "outputs", at)
    name, status = item["file"], item.get("exit", 1 if item.get("failure") else 0)
    if not isinstance(status, int) or Path(name).name != name or (folder / name).is_symlink():
        raise document.error(CaptureError, "needs a plain file of this folder, and a whole number as exit", "outputs", at)
    try:
        return Recorded(item["command"], _text(folder / name), status)
    except OSError as problem:
        raise document.error(CaptureError, f"{name}: {problem.strerror}", "outputs", at) from problem


def _by_file_names(folder: Path) -> Recording:
    """Where nothing lists the outputs, the file names tell the commands of the platforms that know them."""
    found = read_folder(folder, platforms())
    answers = [Recorded(one.requests[0].command, _text(one.file)) for one in found.recorded if one.requests]
    return _recording(folder, found.device.platforms, found.device.role, found.prompt, answers)


def _recording(folder: Path, named: tuple[str, ...], role: str, prompt: str, answers: Sequence[Recorded]) -> Recording:
    if not answers:
        raise CaptureError("holds no output that could be replayed", folder)
    return Recording(folder.name, named, role, prompt or f"admin@{folder.name}:~$ ", tuple(answers), prompt)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "surrogateescape")
