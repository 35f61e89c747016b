"""Every exception the program raises on purpose, and the exit code each one leads to."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """What the process tells its caller. The first line of each member's text is printed in the help and the docs."""

    CLEAN = 0
    CAUSES = 1
    SETUP = 2
    INCOMPLETE = 3
    STORE = 4

    @property
    def meaning(self) -> str:
        """One sentence for the reader of the help page."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.CLEAN: "clean: everything in scope was seen and nothing at or above --fail-on was found",
    ExitCode.CAUSES: "at least one cause at or above --fail-on (default error; waived ones do not count), or a gate refused",
    ExitCode.SETUP: "set-up or lint error: the project folder, inventory, baseline, plan or command line is wrong",
    ExitCode.INCOMPLETE: "incomplete and otherwise clean: something in scope could not be seen, or a rule crashed",
    ExitCode.STORE: "the store, its lock, or the program itself failed",
}


class AuditorError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line returns for it."""

    exit_code = ExitCode.STORE


class SetupError(AuditorError):
    """The project folder, the settings or the command line cannot be used as they are."""

    exit_code = ExitCode.SETUP


class FileError(SetupError):
    """A document of the project is wrong; names the file and, where known, the line (counted from 1)."""

    def __init__(self, message: str, file: str | Path | None = None, line: int | None = None) -> None:
        self.message, self.file, self.line = message, None if file is None else str(file), line
        place = "" if self.file is None else self.file + (f":{line}" if line is not None else "") + ": "
        super().__init__(place + message)

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.file, self.line))


class InventoryError(FileError):
    """The inventory names a device, group or platform that cannot be used."""


class BaselineError(FileError):
    """A baseline, assignment or waiver document is wrong."""


class PlanError(FileError):
    """The wiring plan or `fabric.yaml` is wrong."""


class CaptureError(FileError):
    """A capture folder or archive cannot be read as one."""


class ErrorList(SetupError):
    """Several set-up errors found in one pass, so that a person mends them in one go."""

    def __init__(self, errors: list[SetupError]) -> None:
        self.errors = errors
        super().__init__("\n".join(str(error) for error in errors))

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.errors,))


class PlatformError(SetupError):
    """A platform declaration is wrong, or a command outside the allow-list was about to be sent."""


class AddressError(SetupError):
    """A text is not an address of a fact."""


class ParseError(AuditorError):
    """An answer could not be turned into rows; becomes a Gap and never leaves the parse stage."""


class NormaliseError(ParseError):
    """One field of an answer has a value that its normaliser does not know."""

    def __init__(self, source: str, field: str, raw: str) -> None:
        self.source, self.field, self.raw = source, field, raw
        super().__init__(f"{source}: {field}: cannot read {raw[:80]!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.source, self.field, self.raw))


class StoreError(AuditorError):
    """The database or the raw content store failed."""


class SchemaTooNew(StoreError):
    """The database was written by a newer version of this program."""


class Locked(StoreError):
    """Another run holds the lock."""
