"""Reads logs of NCCL and RCCL (NCCL_DEBUG=INFO) as a stream: several ranks and hosts in any order, into one `Log`.

Nothing relies on the order of lines across ranks. Words are gathered by host, process and thread; the two ends of a network
connection, each printed by its own process, are brought together by communicator, channel and ranks. The number in
`NET/IB/2` is an index into the list of devices of that process, not the number in a device's name.

Memory is bounded: what is kept grows with ranks and connections up to fixed limits, never with the length of the log.
"""

from __future__ import annotations

import re

from auditor.dialects.nccl_gather import Gatherer, Thread
from auditor.dialects.nccl_job import Host, Log, LogFile, Process
from auditor.dialects.nccl_lines import Lines, Stream, entries, head, unwrap

MAX_BYTES = 16 << 30
HOSTS, PROCESSES, HEADS = 20_000, 200_000, 100_000

_WHOLE = re.compile(r"(?:Init (?:START|COMPLETE)|Connected all (?:rings|trees)(?:, .* GDR \d)?|per peer|/GDRDMA)\s*$")
"""Lines that end like this need no line's end behind them to be known as whole."""


class Reader:
    """Gathers streams. Call `read` for each file, then `finish`."""

    def __init__(self) -> None:
        self._gatherer = Gatherer()
        self._log = self._gatherer.log
        self._heads: dict[str, Thread | None] = {}
        self._threads: dict[tuple[str, int, int, int], Thread] = {}
        self._names: dict[tuple[int, int], str] = {}
        self._processes = 0

    def read(self, stream: Stream, name: str, most: int = MAX_BYTES) -> LogFile:
        """Take in one file, as `name`, up to `most` bytes. Raises what the stream raises."""
        file = LogFile(name)
        self._log.files.append(file)
        at = len(self._log.files) - 1
        lines = Lines(stream, most)
        half = False
        for number, raw, cut in lines:
            self._gatherer.place = at, number
            if b"\x1b" in raw or b"\r" in raw or b'{"' in raw or raw.startswith(b'"'):
                texts = list(unwrap(raw))
                for text in texts:
                    half = self._text(file, text, cut=cut and text is texts[-1])
            else:
                half = self._text(file, raw.decode("utf-8", "replace"), cut=cut)
        file.lines, file.size, file.digest, file.too_large = lines.count, lines.size, lines.digest, lines.too_large
        file.cut = lines.cut or (half and self._gatherer.place[1] == lines.count)
        return file

    def finish(self) -> Log:
        """All that was read; the reader is not used any more."""
        return self._gatherer.close()

    def _text(self, file: LogFile, text: str, *, cut: bool) -> bool:
        """Take in a line; returns whether it stops in the middle."""
        at = text.find(" NCCL ")
        if at < 0:
            self._gatherer.head = self._gatherer.level = ""
            self._gatherer.version(None, text)
            return False
        if not cut and text.startswith("INFO ", at + 6) and text.find(" NCCL ", at + 10) < 0:  # nearly every line
            before = text[text.rfind(" ", 0, text.rfind(" ", 0, at)) + 1 : at]  # a time before it differs on each line
            thread = self._heads.get(before) or self._thread(before, glued=False)
            file.entries += 1
            if thread is not None:
                self._gatherer.head, self._gatherer.level = text[:at], "INFO"
                self._gatherer.take(thread, text[at + 11 :], False)
            return False
        half = False
        for number, (before, level, said, joined) in enumerate(entries(text)):
            file.entries += 1
            self._gatherer.head, self._gatherer.level = before, level
            half = joined or (cut and _WHOLE.search(said) is None)
            thread = self._heads.get(before) or self._thread(before, glued=number > 0)
            if thread is not None and level == "INFO":
                self._gatherer.take(thread, said, half)
            elif thread is not None:
                self._gatherer.warn(thread, said)
        return half

    def _thread(self, before: str, *, glued: bool) -> Thread | None:
        if len(self._heads) > HEADS:
            self._heads.clear()
        found = head(before)
        thread = None
        if found is not None:
            name, pid, tid, gpu = found
            name = self._known(name, pid, tid, glued=glued)
            if name:
                thread = self._threads.get((name, pid, tid, gpu)) or self._new_thread(name, pid, tid, gpu)
        self._heads[before] = thread
        return thread

    def _known(self, name: str, pid: int, tid: int, *, glued: bool) -> str:
        """The host that a head means. A write may begin in the middle of another's line: then what stands before its host is
        no part of the name. Empty where nobody can tell."""
        known = self._names.get((pid, tid), "")
        if known and known != name and name.endswith(known):
            return known
        if not glued or name in self._log.hosts:
            return name
        return max((host for host in self._log.hosts if name.endswith(host)), key=len, default="")

    def _new_thread(self, name: str, pid: int, tid: int, gpu: int) -> Thread | None:
        host = self._log.hosts.get(name)
        if host is None:
            if not self._gatherer.room("hosts", len(self._log.hosts), HOSTS):
                return None
            host = self._log.hosts[name] = Host(name)
        process = host.processes.get(pid)
        if process is None:
            if not self._gatherer.room("processes", self._processes, PROCESSES):
                return None
            process = host.processes[pid] = Process(host, pid)
            self._processes += 1
        thread = Thread(host, process, gpu)
        if self._gatherer.room("threads", len(self._threads), 4 * PROCESSES):
            self._threads[name, pid, tid, gpu] = thread
            self._names.setdefault((pid, tid), name)
        return thread
