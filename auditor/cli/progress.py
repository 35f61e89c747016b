"""Progress on stderr: a bar on a terminal, one line per device elsewhere on request, JSON lines, or nothing."""

from __future__ import annotations

import json
import sys
import time
from typing import IO

from auditor.canonical import printable


class Progress:
    """Tells a person, or a log, how far a run is. Never writes to stdout."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False, stream: IO[str] | None = None) -> None:
        self.quiet, self.as_json = quiet, as_json
        self.stream = stream or sys.stderr
        self.done = self.total = 0
        self.last = 0.0

    def start(self, total: int, what: str) -> None:
        """Begin counting devices."""
        self.done, self.total = 0, total
        self._say("start", what, total=total)

    def step(self, device: str, words: str = "") -> None:
        """One device is done."""
        self.done += 1
        if self.as_json:
            self._say("device", words or "done", device=device, done=self.done, total=self.total)
        elif not self.quiet and self.stream.isatty():
            now = time.monotonic()
            if now - self.last > 0.1 or self.done == self.total:
                self.last = now
                end = "\n" if self.done >= self.total else ""
                self.stream.write(f"\r\x1b[K{self.done}/{self.total} {device}{end}")
                self.stream.flush()

    def note(self, words: str) -> None:
        """A line for the reader of stderr."""
        self._say("note", words)

    def _say(self, event: str, words: str, **more: object) -> None:
        if self.as_json:
            self.stream.write(json.dumps({"event": event, "text": words, **more}) + "\n")
        elif not self.quiet and (event != "start" or self.stream.isatty()):
            self.stream.write(f"{printable(words, 1000)}\n")
        self.stream.flush()
