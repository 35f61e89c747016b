"""Opens a capture that may be a folder or a tar archive; what an archive holds is checked before it touches the disk."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import tempfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO, cast

from auditor.canonical import printable
from auditor.errors import CaptureError

MAX_MEMBERS = 200_000
MAX_TOTAL = 8 * 1024**3
MAX_DEPTH = 4
_BLOCK = 1024 * 1024
_END = 1024
"""Bytes of the two empty blocks that end every tar archive."""

Folder = tempfile.TemporaryDirectory[str]


def unpack(file: Path, keep: int) -> tuple[Folder, Path]:
    """Unpack into a fresh temporary folder, which lives as long as the first value; the second is the capture in it.

    Of each member the first `keep` + 1 bytes are written. Raises CaptureError for a member with an absolute path, `..`,
    a link, a device, control characters in its name, and for an archive with too many or too large members.
    """
    holder = tempfile.TemporaryDirectory(prefix="auditor-capture-")
    try:
        _unpack(file, Path(holder.name), keep)
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, OSError) as problem:
        holder.cleanup()
        raise CaptureError(f"cannot be read as a tar archive: {printable(str(problem), 160)}", file) from problem
    except BaseException:
        holder.cleanup()
        raise
    return holder, _capture_in(Path(holder.name))


def _unpack(file: Path, target: Path, keep: int) -> None:
    members = total = 0
    seen: set[PurePosixPath] = set()
    with _Stream(file) as stream, tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|") as archive:
        for member in archive:
            members += 1
            total += member.size
            shown = printable(member.name, 80)
            if members > MAX_MEMBERS or total > MAX_TOTAL:
                raise CaptureError(f"holds more than {MAX_MEMBERS} members or {MAX_TOTAL} bytes", file)
            path = PurePosixPath(member.name)
            if path.is_absolute() or ".." in path.parts or "\\" in member.name or not member.name.isprintable():
                raise CaptureError(f"member {shown!r} points outside the archive or has a name that is not plain", file)
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():
                raise CaptureError(f"member {shown!r} is a link, a device or a sparse file", file)
            if not path.parts or len(path.parts) > MAX_DEPTH or any(len(part.encode()) > 255 for part in path.parts):
                raise CaptureError(f"member {shown!r} lies too deep or has too long a name", file)
            if path in seen:
                raise CaptureError(f"member {shown!r} stands twice", file)
            seen.add(path)
            source = archive.extractfile(member)
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as out:
                left = keep + 1
                while source is not None and left > 0 and (block := source.read(min(_BLOCK, left))):
                    out.write(block)
                    left -= len(block)
            os.utime(place, (max(0, member.mtime), max(0, member.mtime)))
        stream.finish()


class _Stream:
    """The plain bytes of a tar file, compressed or not, which knows whether it came to the end of the archive.

    A tar reader takes the end of its input for the end of the archive, so a copy that broke off would look like a capture
    of fewer devices.
    """

    def __init__(self, file: Path) -> None:
        with file.open("rb") as raw:
            magic = raw.read(6)
        kinds: dict[bytes, type[gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]] = {
            b"\x1f\x8b": gzip.GzipFile, b"BZh": bz2.BZ2File, b"\xfd7zXZ\0": lzma.LZMAFile,
        }  # fmt: skip
        kind = next((kind for start, kind in kinds.items() if magic.startswith(start)), None)
        self._source: IO[bytes] = file.open("rb") if kind is None else kind(file)  # type: ignore[assignment]
        self._tail = b""
        self._read = 0

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`. Raises EOFError where a compressed file was cut."""
        data = self._source.read(size)
        self._tail = (self._tail + data)[-_END:]
        self._read += len(data)
        if self._read > 2 * MAX_TOTAL:
            raise tarfile.ReadError("goes on without end")
        return data

    def finish(self) -> None:
        """Read what is left; raises ReadError when the archive was cut."""
        while self.read(_BLOCK):
            pass
        if self._tail.strip(b"\0") or len(self._tail) < _END:
            raise tarfile.ReadError("the archive is cut off")


def _capture_in(folder: Path) -> Path:
    """The folder that holds the device folders: archives usually wrap them in one more."""
    for _ in range(MAX_DEPTH):
        entries = list(folder.iterdir())
        inner = [entry for entry in entries if entry.is_dir()]
        if len(entries) != 1 or len(inner) != 1 or not any(child.is_dir() for child in inner[0].iterdir()):
            break
        folder = inner[0]
    return folder
