"""One device folder of a capture: what `device.yaml` and the file names say, without reading the bodies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.canonical import printable
from auditor.collect.commands import Recogniser, slug
from auditor.collect.inventory import NAME
from auditor.collect.output import Request
from auditor.errors import CaptureError, ErrorList, SetupError
from auditor.model import Device, Gap, GapReason, Platform, Status
from auditor.settings import suggest
from auditor.yamldoc import YamlDocument

MAX_FILES = 10_000
TEXTS = ("role", "site", "pod", "rack", "position", "hardware_model", "bmc_address", "aaa_group")
"""Keys of `device.yaml` that are texts of the Device."""

_EXTENSIONS = (".txt", ".json", ".xml")
_KEYS = (*TEXTS, "platforms", "status", "tags", "prompt", "collected_at", "outputs")
_OUTPUT_KEYS = ("file", "command", "collected_at", "seconds", "exit", "failure", "detail", "excerpt")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One file of a device folder, with what `device.yaml` says of it."""

    file: Path
    requests: tuple[Request, ...]
    collected_at: datetime | None = None
    seconds: float = 0.0
    exit: int | None = None
    failure: GapReason | None = None
    detail: str = ""
    excerpt: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceFolder:
    """One device of a capture before its files are read. `prompt` is for the lab."""

    device: Device
    recorded: tuple[Recorded, ...]
    notes: tuple[str, ...] = ()
    prompt: str = ""
    gaps: tuple[Gap, ...] = ()


def read_folder(folder: Path, platforms: Mapping[str, Platform]) -> DeviceFolder:
    """What a device folder holds. An unknown platform is a gap of the device; raises CaptureError, or an ErrorList, with
    file and line for everything else that is wrong."""
    return _Reader(folder, platforms).folder()


def moment(value: Any) -> datetime | None:
    """A time from YAML or ISO text, UTC unless it says otherwise; None for anything else."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


class _Reader:
    """Reads one device folder's `device.yaml` and file names, without the bodies."""

    def __init__(self, folder: Path, platforms: Mapping[str, Platform]) -> None:
        self.folder_path, self.known = folder, platforms
        self.errors: list[SetupError] = []
        self.notes: list[str] = []
        self.gaps: list[Gap] = []
        file = folder / "device.yaml"
        self.document = yamldoc.read(file, CaptureError) if file.exists() else YamlDocument({}, str(file), "")

    def fail(self, message: str, *path: str | int) -> None:
        self.errors.append(self.document.error(CaptureError, message, *path))

    def folder(self) -> DeviceFolder:
        name = self.folder_path.name
        if not NAME.fullmatch(name) or self.folder_path.is_symlink():
            raise CaptureError(
                f"{printable(name, 60)!r} is no device name: letters, digits, `_`, `-` and `.` only", self.folder_path
            )
        data = {} if self.document.data is None else self.document.data
        if not isinstance(data, dict):
            raise self.document.error(CaptureError, "must be a mapping")
        self._check(data)
        platforms = self._platforms_of(data)
        at = moment(data.get("collected_at"))
        if data.get("outputs") is None:
            recorded = list(self._from_names(platforms, at))
        else:
            recorded = list(self._from_outputs(platforms, data["outputs"], at))
        if self.errors:
            raise ErrorList(self.errors) if len(self.errors) > 1 else self.errors[0]
        texts: dict[str, Any] = {key: str(data[key]) for key in TEXTS if data.get(key) is not None}
        device = replace(
            Device(name, tuple(platform.name for platform in platforms)),
            status=Status(data.get("status") or Status.ACCEPTED),
            tags={key: str(value) for key, value in (data.get("tags") or {}).items()},
            **texts,
        )
        if not platforms and not self.gaps:
            self._gap("the capture names no platform, and its files fit none")
        return DeviceFolder(device, tuple(recorded), tuple(self.notes), str(data.get("prompt") or ""), tuple(self.gaps))

    def _gap(self, detail: str) -> None:
        self.gaps.append(Gap(self.folder_path.name, "*", "", GapReason.NOT_COLLECTED, detail))

    def _check(self, data: Mapping[str, Any]) -> None:
        for key, value in data.items():
            if key not in _KEYS:
                self.fail(f"unknown key {printable(key, 40)!r}{suggest(key, list(_KEYS))}", key)
            elif (
                key in (*TEXTS, "prompt") and value is not None and (isinstance(value, bool) or not isinstance(value, str | int))
            ):
                self.fail(f"{key} must be a text", key)
            elif key == "status" and value not in list(Status):
                self.fail(f"status must be one of {', '.join(Status)}", key)
            elif key == "collected_at" and moment(value) is None:
                self.fail("collected_at must be a time, such as 2031-05-01T06:00:00Z", key)
            elif key == "tags" and not isinstance(value, dict):
                self.fail("tags must be a mapping", key)
            elif key == "outputs" and not isinstance(value, list):
                self.fail("outputs must be a list", key)
        if self.errors:
            raise ErrorList(self.errors) if len(self.errors) > 1 else self.errors[0]

    def _platforms_of(self, data: Mapping[str, Any]) -> list[Platform]:
        named = data.get("platforms")
        if named is None:
            return self._guess(data)
        names = named if isinstance(named, list) else [named]
        found = []
        for index, name in enumerate(names):
            if isinstance(name, str) and name in self.known:
                found.append(self.known[name])
            else:
                hint = suggest(str(name), sorted(self.known))
                line = self.document.line("platforms", *((index,) if isinstance(named, list) else ()))
                self._gap(f"{self.folder_path.name}/device.yaml:{line}: unknown platform {printable(str(name), 40)!r}{hint}")
        return found

    def _guess(self, data: Mapping[str, Any]) -> list[Platform]:
        """The platform that knows most of the files; several where they know equally many."""
        recogniser = Recogniser(self.known.values())
        outputs = data.get("outputs")
        commands = [item.get("command") for item in outputs if isinstance(item, dict)] if isinstance(outputs, list) else None
        if commands is None:
            found = [request for file in self._files() for request in recogniser.by_stem(slug(file.stem))]
        else:
            found = [request for command in commands if isinstance(command, str) for request in recogniser.by_text(command)]
        counts = Counter(request.platform.name for request in found)
        best = max(counts.values(), default=0)
        return [self.known[name] for name in sorted(counts) if counts[name] == best]

    def _files(self) -> list[Path]:
        files = sorted(file for file in self.folder_path.iterdir() if file.name != "device.yaml")
        if len(files) > MAX_FILES:
            raise CaptureError(f"holds more than {MAX_FILES} files", self.folder_path)
        return [file for file in files if not file.is_symlink() and file.is_file() and file.suffix in _EXTENSIONS]

    def _from_names(self, platforms: Iterable[Platform], at: datetime | None) -> Iterator[Recorded]:
        recogniser = Recogniser(platforms)
        for file in self._files():
            requests = tuple(recogniser.by_stem(slug(file.stem)))
            if requests:
                yield Recorded(file, requests, at)
            else:
                self.notes.append(f"{printable(file.name, 80)}: no command of its platforms has this file name")

    def _from_outputs(self, platforms: Iterable[Platform], outputs: Sequence[Any], at: datetime | None) -> Iterator[Recorded]:
        recogniser = Recogniser(platforms)
        for index, item in enumerate(outputs):
            recorded = self._output(recogniser, item, index, at)
            if recorded is not None and recorded.requests:
                yield recorded
            elif recorded is not None:
                self.notes.append(f"{recorded.file.name}: no platform of the device declares {printable(item['command'], 80)!r}")

    def _output(self, recogniser: Recogniser, item: Any, index: int, at: datetime | None) -> Recorded | None:
        if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("file", "command")):
            self.fail("an output needs the texts `file` and `command`", "outputs", index)
            return None
        before = len(self.errors)
        for key in item:
            if key not in _OUTPUT_KEYS:
                self.fail(f"unknown key {printable(key, 40)!r}{suggest(key, list(_OUTPUT_KEYS))}", "outputs", index, key)
        file = item["file"]
        if not re.fullmatch(r"[A-Za-z0-9_][^/\\\x00-\x1f\x7f]{0,254}", file) or (self.folder_path / file).is_symlink():
            self.fail(f"{printable(file, 60)!r} is no plain file of this folder", "outputs", index, "file")
        own = at if item.get("collected_at") is None else moment(item["collected_at"])
        seconds, status = item.get("seconds") or 0.0, item.get("exit")
        failure, excerpt = item.get("failure"), item.get("excerpt")
        excerpt = ["*"] if excerpt is True else excerpt or []
        checks = (
            ("collected_at", item.get("collected_at") is None or own is not None, "must be a time"),
            ("seconds", isinstance(seconds, int | float) and not isinstance(seconds, bool), "must be a number"),
            ("exit", status is None or (isinstance(status, int) and not isinstance(status, bool)), "must be a whole number"),
            ("failure", failure is None or failure in list(GapReason), f"must be one of {', '.join(GapReason)}"),
            ("detail", isinstance(item.get("detail"), str | None), "must be a text"),
            ("excerpt", isinstance(excerpt, list) and all(isinstance(t, str) for t in excerpt), "must be a list of tables"),
        )
        for key, good, message in checks:
            if not good:
                self.fail(f"{key} {message}", "outputs", index, key)
        if len(self.errors) > before:
            return None
        return Recorded(
            self.folder_path / file, tuple(recogniser.by_text(item["command"])), own, float(seconds), status,
            None if failure is None else GapReason(failure), item.get("detail") or "", tuple(excerpt),
        )  # fmt: skip
