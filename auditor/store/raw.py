"""The raw content store: answers of devices, compressed, each in one file named by the digest of its text."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import zstandard

from auditor.errors import StoreError
from auditor.model import digest

_DIGEST = re.compile(r"[0-9a-f]{64}")


def pack(text: str) -> bytes:
    """Compressed UTF-8; lone surrogates, which hostile answers may hold, survive."""
    return zstandard.compress(text.encode("utf-8", "surrogatepass"), 3)


def unpack(body: bytes) -> str:
    """The inverse of `pack`; raises StoreError when the bytes are not what `pack` made."""
    try:
        return zstandard.decompress(body).decode("utf-8", "surrogatepass")
    except (zstandard.ZstdError, UnicodeDecodeError, MemoryError) as error:
        raise StoreError(f"stored content is damaged: {error}") from error


class RawStore:
    """Files `ab/abcdef….zst` below one folder. Safe for many threads and processes: a file appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """Where the content with this digest lies; raises StoreError when it is no digest."""
        if not _DIGEST.fullmatch(name):
            raise StoreError(f"{name!r} is no digest")
        return self.folder / name[:2] / f"{name}.zst"

    def put(self, body: str) -> str:
        """Keep a text; gives its digest. What is there already is left alone. Raises StoreError (disk full, permission)."""
        name = digest(body)
        path = self.path(name)
        try:
            if path.exists() and path.stat().st_size:  # an empty file is what a power cut leaves
                return name
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(pack(body))
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StoreError(f"raw output cannot be kept in {self.folder}: {error.strerror or error}") from error
        return name

    def get(self, name: str) -> str | None:
        """The text with this digest, None when it is not kept (any more); raises StoreError when the file is damaged."""
        path = self.path(name)
        try:
            body = unpack(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror or error}") from error
        except StoreError as error:
            raise StoreError(f"{path}: {error}") from error
        if digest(body) != name:
            raise StoreError(f"{path}: stored content is damaged: its digest is another")
        return body
