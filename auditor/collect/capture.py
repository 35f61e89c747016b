"""The capture folder: one folder per device, one file per command; read as a Collector, and written.

`<device>/device.yaml` holds `platforms`, `role` and other data of the device, `prompt` (for the replay lab), and
`outputs: [{file, command, collected_at, seconds, exit, failure, detail, excerpt}]`. Without `outputs` the file names tell
the commands; without `platforms` the platforms are those that know most of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auditor import yamldoc
from auditor.canonical import printable
from auditor.collect import Collected
from auditor.collect.archive import unpack
from auditor.collect.capture_device import TEXTS, DeviceFolder, Recorded, read_folder
from auditor.collect.commands import file_name, with_names
from auditor.collect.guard import wanted_sources
from auditor.collect.inventory import NAME
from auditor.collect.output import Answer, Request, raw_output
from auditor.errors import CaptureError, ErrorList, SetupError
from auditor.model import Device, Gap, GapReason, Platform, RawOutput, Status
from auditor.platforms import platforms as all_platforms

MAX_OUTPUT = 16 * 1024 * 1024
"""Bytes of one recorded file that are read: eight times the largest real answer seen, a CONFIG_DB of 512 ports."""


class CaptureCollector:
    """Reads a capture folder, or an archive of one, as if it were the fleet.

    `devices` are those it holds, `notes` the files that no platform of their device knows. Raises CaptureError, or an
    ErrorList, for what is wrong with the folder as a whole; a single unreadable file becomes a gap.
    """

    def __init__(self, path: Path, platforms: Mapping[str, Platform] | None = None, *, max_output: int = MAX_OUTPUT) -> None:
        self._platforms = dict(all_platforms() if platforms is None else platforms)
        self._limit = max_output
        self._holder = None
        if path.is_file():
            self._holder, folder = unpack(path, max_output)
        elif path.is_dir():
            folder = path
        else:
            raise CaptureError("no such capture folder or archive", path)
        self.path, self._given = folder, path
        self._folders: dict[str, DeviceFolder] = {}
        errors: list[SetupError] = []
        for entry in sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
            try:
                self._folders[entry.name] = read_folder(entry, self._platforms)
            except ErrorList as error:
                errors += map(self._placed, error.errors)
            except CaptureError as error:
                errors.append(self._placed(error))
        if errors:
            raise ErrorList(errors) if len(errors) > 1 else errors[0]
        if not self._folders:
            raise CaptureError("holds no device folder", path)

    def _placed(self, error: SetupError) -> SetupError:
        """The error of a file in an archive, named by the archive instead of the folder it was unpacked to."""
        if self._holder is None or not isinstance(error, CaptureError) or error.file is None:
            return error
        inside = Path(error.file).relative_to(self.path)
        return CaptureError(error.message, f"{self._given}:{inside}", error.line)

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the capture in the order of their names."""
        return tuple(folder.device for folder in self._folders.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """`device/file: why it was not read`."""
        return tuple(f"{name}/{note}" for name, folder in self._folders.items() for note in folder.notes)

    @property
    def collected_at(self) -> datetime | None:
        """When the newest of its outputs was collected; None where no `device.yaml` says."""
        times = [item.collected_at for folder in self._folders.values() for item in folder.recorded]
        return max((time for time in times if time is not None), default=None)

    def prompt(self, device: str) -> str:
        """The recorded prompt of a device, empty where none was recorded."""
        return self._folders[device].prompt

    def collect(self, devices: Sequence[Device], reads: frozenset[str] | None) -> Iterator[Collected]:
        """The recorded outputs of each device. A device that the capture does not hold is a gap."""
        for device in devices:
            folder = self._folders.get(device.name)
            if folder is None:
                detail = "the capture holds no folder for this device"
                yield Collected(device, gaps=(Gap(device.name, "*", "", GapReason.NOT_COLLECTED, detail),))
                continue
            wanted = {
                (name, source.key) for name in folder.device.platforms for source in wanted_sources(self._platforms[name], reads)
            }
            yield Collected(device, tuple(self._outputs(device, folder, wanted)), folder.gaps)

    def _outputs(self, device: Device, folder: DeviceFolder, wanted: set[tuple[str, str]]) -> Iterator[RawOutput]:
        read: list[tuple[Request, RawOutput]] = []
        for recorded in folder.recorded:
            requests = [
                request
                for request in recorded.requests
                if (request.platform.name, request.source.key) in wanted
                or (request.platform.name, request.source.fallback_for) in wanted
            ]
            if requests:
                answer, at = self._read(recorded)
                read += [
                    (request, raw_output(device, request, answer, at, excerpt=recorded.excerpt, limit=self._limit))
                    for request in requests
                ]
        bodies = {(output.platform, output.source): output.body for _, output in read if output.failure is None}
        for request, output in read:
            own = {key: body for (platform, key), body in bodies.items() if platform == output.platform}
            better = with_names(request, own)
            if better is request:
                yield output
            else:
                yield _replaced(output, better)

    def _read(self, recorded: Recorded) -> tuple[Answer, datetime]:
        failure, detail = recorded.failure, recorded.detail
        at = recorded.collected_at
        body = b""
        try:
            with recorded.file.open("rb") as stream:
                body = stream.read(self._limit + 1)
            at = at or datetime.fromtimestamp(int(recorded.file.stat().st_mtime), UTC)
        except OSError as problem:
            failure, detail = failure or GapReason.NOT_COLLECTED, detail or f"{recorded.file.name}: {problem.strerror}"
        answer = Answer(body, status=recorded.exit, seconds=recorded.seconds, failure=failure, detail=detail)
        return answer, at or datetime.now(UTC)


def _replaced(output: RawOutput, request: Request) -> RawOutput:
    return replace(output, command=request.command, parameters=dict(request.parameters))


def write_capture(
    directory: Path, device: Device, outputs: Iterable[RawOutput], platforms: Mapping[str, Platform] | None = None
) -> Path:
    """Write one device's folder below `directory` and return it. Bodies go in as they are: redacted already.

    Raises CaptureError when the device's name cannot be a folder name, or the folder holds files already.
    """
    known = all_platforms() if platforms is None else platforms
    if not NAME.fullmatch(device.name):
        raise CaptureError(f"{printable(device.name, 60)!r} cannot be a folder name", directory)
    folder = directory / device.name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if folder.is_symlink() or (folder.exists() and any(folder.iterdir())):
            raise CaptureError("exists and is not empty", folder)
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise CaptureError(f"cannot be written: {problem.strerror}", folder) from problem
    entries: list[dict[str, Any]] = []
    taken: set[str] = set()
    for output in outputs:
        platform = known[output.platform]
        request = Request(platform, platform.source(output.source), output.command, output.parameters)
        name = _free(file_name(request), taken)
        (folder / name).write_bytes(output.body.encode("utf-8", "surrogateescape"))
        entry = {
            "file": name,
            "command": output.command,
            "collected_at": output.collected_at.isoformat(),
            "seconds": output.seconds or None,
            "exit": output.exit_status,
            "failure": None if output.failure is None else str(output.failure),
            "detail": output.detail or None,
            "excerpt": list(output.excerpt) or None,
        }
        entries.append({key: value for key, value in entry.items() if value is not None})
    data: dict[str, Any] = {"platforms": list(device.platforms)}
    data |= {key: getattr(device, key) for key in TEXTS if getattr(device, key)}
    if device.status is not Status.ACCEPTED:
        data["status"] = str(device.status)
    if device.tags:
        data["tags"] = dict(device.tags)
    (folder / "device.yaml").write_text(yamldoc.dump({**data, "outputs": entries}), encoding="utf-8")
    return folder


def _free(name: str, taken: set[str]) -> str:
    stem, dot, extension = name.rpartition(".")
    count, free = 1, name
    while free.lower() in taken:
        count += 1
        free = f"{stem}_{count}{dot}{extension}"
    taken.add(free.lower())
    return free
