"""The story of `auditor nccl check`: logs of one job in, an acceptance verdict out. No device is asked and nothing is stored."""

from __future__ import annotations

import gzip
import sys
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, cast

from auditor import __version__, canonical
from auditor.checks.nccl.log import LOG_RULES
from auditor.checks.nccl.log_rails import Rails, Share, share
from auditor.checks.nccl.log_seen import gaps
from auditor.checks.nccl.log_view import JOB, TABLE, RailOf, few
from auditor.dialects.nccl_job import Log, Nic
from auditor.dialects.nccl_log import Reader
from auditor.errors import ExitCode, FileError, SetupError
from auditor.evaluate import causes, findings
from auditor.evaluate.device import crash
from auditor.model import (
    Coverage,
    Document,
    Finding,
    Gap,
    GapReason,
    Judgement,
    Plan,
    Result,
    Rule,
    RuleContext,
    Run,
    Severity,
    Verdict,
)
from auditor.plan.document import read_plan
from auditor.report import job
from auditor.report import json as report
from auditor.workflows.audit import exit_code

STDIN = "-"
_GZIP = b"\x1f\x8b"


class Acceptance(StrEnum):
    """What becomes of a job: `incomplete` when nothing is wrong in what was seen, and not all was."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The verdict on a job. `offending`: hosts named by a cause that fails it."""

    verdict: Acceptance
    offending: tuple[str, ...]
    run: Run
    log: Log
    share: Share

    @property
    def code(self) -> ExitCode:
        """By the contract of exit codes."""
        return {
            Acceptance.ACCEPTED: ExitCode.CLEAN,
            Acceptance.REJECTED: ExitCode.CAUSES,
            Acceptance.INCOMPLETE: ExitCode.INCOMPLETE,
        }[self.verdict]


def check(
    files: Sequence[str],
    plan: str | None = None,
    rail_of: Sequence[str] = (),
    fail_on: Severity = Severity.ERROR,
    *,
    strict: bool = False,
) -> Accepted:
    """Judge the logs of one job: files, gzip or not, or `-` for standard input. `rail_of`: `[HOST:]DEVICE=RAIL`.

    Raises SetupError for files that cannot be read, plans that are wrong and rails that are no pairs.
    """
    started = datetime.now(UTC)
    given = read_plan(Path(plan)) if plan else None
    rails = _Planned(given, rail_of) if given is not None or rail_of else None
    log = read(files)
    results, found, blind = _judge(log, None if rails is None else RailOf(rails.rail))
    blind = list(dict.fromkeys([*gaps(log), *blind, *(rails.gaps(log) if rails is not None else ())]))
    told, roots = causes.gather(found)
    run = Run(
        id=f"{started:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}",
        started_at=started,
        finished_at=datetime.now(UTC),
        tool_version=__version__,
        scope=few(files, 3),
        source="NCCL logs",
        inputs=() if given is None else (Document("plan", given.name, given.digest, given.file, given.text),),
        coverage=_coverage(log, results, blind),
        results=tuple(results),
        findings=tuple(told),
        causes=tuple(roots),
        gaps=tuple(blind),
        notes=tuple(_notes(log)),
    )
    code = exit_code(run, fail_on.rank, strict=strict)
    failing = {member for cause in roots if cause.severity.rank <= fail_on.rank for member in cause.members}
    offending = dict.fromkeys(host for item in told if item.fingerprint in failing for host in item.devices if host != JOB)
    verdict = {0: Acceptance.ACCEPTED, 1: Acceptance.REJECTED}.get(code, Acceptance.INCOMPLETE)
    return Accepted(verdict, tuple(offending), run, log, share(log, Rails(log, None if rails is None else RailOf(rails.rail))))


def read(files: Sequence[str]) -> Log:
    """All files as one log. Raises SetupError."""
    reader = Reader()
    for name in dict.fromkeys(files):
        if name == STDIN:
            _take(reader, cast(BinaryIO, sys.stdin.buffer), "standard input")
            continue
        try:
            with Path(name).open("rb") as stream:
                _take(reader, stream, name)
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}", name) from error
    return reader.finish()


class _Unpacked:
    """A gzip stream; a broken one ends where it breaks."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = gzip.GzipFile(fileobj=stream, mode="rb")
        self.broken = False

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes."""
        try:
            return self._stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.broken = True
            return b""


class _Peeked:
    """A stream whose first bytes were looked at."""

    def __init__(self, stream: BinaryIO) -> None:
        self._first = stream.read(2)
        self.packed = self._first == _GZIP
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        """As of any stream."""
        first, self._first = self._first, b""
        return first + self._stream.read(size - len(first) if size > 0 else size)


def _take(reader: Reader, stream: BinaryIO, name: str) -> None:
    peeked = _Peeked(stream)
    if not peeked.packed:
        reader.read(peeked, name)
        return
    unpacked = _Unpacked(cast(BinaryIO, peeked))
    file = reader.read(unpacked, name)
    file.cut = file.cut or unpacked.broken


class _Planned:
    """The rails of host devices as a plan and the command line give them."""

    def __init__(self, plan: Plan | None, pairs: Iterable[str]) -> None:
        self._plan: dict[str, dict[str, str]] = {}
        self._given: dict[tuple[str, str], str] = {}
        self._hosts: dict[str, dict[str, str]] = {}
        for link in plan.links if plan is not None else ():
            for end in (link.a, link.b):
                if link.rail:
                    ports = self._plan.setdefault(end.device.lower(), {})
                    ports.update(dict.fromkeys(_spellings(end.port, end.id), link.rail))
        for pair in pairs:
            place, equals, rail = pair.rpartition("=")
            host, _, device = place.rpartition(":")
            if not equals or not device or not rail:
                raise SetupError(f"--rail-of {pair!r}: give [HOST:]DEVICE=RAIL, like mlx5_0=1 or gpu-01:mlx5_0=1")
            self._given[host.lower(), device] = rail

    def rail(self, host: str, nic: Nic) -> str | None:
        """The rail of a device; of a merged one that of all its members."""
        rails = dict.fromkeys(self._one(host, nic, name) for name in (nic.members or (nic.name,)))
        return None if None in rails else "+".join(filter(None, rails))

    def _one(self, host: str, nic: Nic, name: str) -> str | None:
        for place in (host.lower(), ""):
            if (place, name) in self._given:
                return self._given[place, name]
        ports = self.ports(host)
        keys = (name, f"{name}/{nic.port}", nic.pci.lower()) if not nic.members else (name, f"{name}/1")
        return next((ports[key] for key in keys if key and key in ports), None)

    def ports(self, host: str) -> dict[str, str]:
        """The ports of a host with their rails; the host by its whole name, or by the first label of either."""
        if host not in self._hosts:
            found = self._plan.get(host.lower())
            alike = [] if found is not None else [name for name in self._plan if canonical.same_host(name, host)]
            self._hosts[host] = found or (self._plan[alike[0]] if len(alike) == 1 else {})
        return self._hosts[host]

    def gaps(self, log: Log) -> Iterator[Gap]:
        """Hosts whose devices cannot be found on their rails, though rails were given: their order stands for them."""
        used: dict[str, dict[str, Nic | None]] = {}
        for end in log.ends:
            nic = end.nic
            used.setdefault(end.host.name, {})["" if nic is None else nic.name] = nic
        for host, nics in sorted(used.items()):
            away = [name for name, nic in nics.items() if nic is not None and self.rail(host, nic) is None]
            if away:
                there = few(self.ports(host), 4) or "no port of this host with a rail"
                detail = f"no rail is given for {few(away, 4)}; the plan has {there} (--rail-of names the rail of a device)"
                yield Gap(host, TABLE, "", GapReason.NOT_COLLECTED, detail)
            elif "" in nics:
                detail = "the log lists no devices, so the rails that were given name none of them"
                yield Gap(host, TABLE, "", GapReason.NOT_COLLECTED, detail)


def _spellings(port: str, id_: str) -> Iterator[str]:
    yield port
    yield port.lower()
    for text in (port, id_):
        try:
            yield canonical.pci(text)
        except ValueError:
            continue


def _judge(log: Log, rails: RailOf | None) -> tuple[list[Result], list[Finding], list[Gap]]:
    results: list[Result] = []
    found: list[Finding] = []
    blind: list[Gap] = []
    for rule in LOG_RULES:
        try:
            judgements = list(rule.function(log, RuleContext(params=rails)))
        except Exception as error:
            results.append(crash(rule.id, JOB, (), error))
            continue
        objects: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
        for judgement in judgements:
            objects[judgement.verdict].append(_object(judgement))
            if judgement.deviation is not None:
                found.append(_finding(rule, judgement))
            if judgement.gap is not None:
                blind.append(judgement.gap)
        worst = next((each for each in (Verdict.FAIL, Verdict.NOT_EVALUATED, Verdict.PASS) if objects[each]), None)
        results.append(
            Result(
                rule.id,
                JOB,
                worst or Verdict.NOT_APPLICABLE,
                tuple(objects[Verdict.PASS]),
                tuple(objects[Verdict.FAIL]),
                tuple(objects[Verdict.NOT_EVALUATED]),
            )
        )
    return results, found, blind


def _object(judgement: Judgement) -> str:
    return f"{judgement.object}:{TABLE}"


def _finding(rule: Rule, judgement: Judgement) -> Finding:
    deviation = judgement.deviation
    assert deviation is not None
    host = str(judgement.object)
    hosts = tuple(dict.fromkeys(item.device for item in deviation.evidence)) if host == JOB else (host,)
    root = ("shared", f"{host}:{deviation.shared}") if deviation.shared is not None else ("object", _object(judgement) + rule.id)
    made = findings.make(rule.id, _object(judgement), hosts, deviation, rule.severity, root, rule.remedy)
    return replace(made, evidence=deviation.evidence)


def _coverage(log: Log, results: Sequence[Result], blind: Sequence[Gap]) -> Coverage:
    dark = {gap.device for gap in blind}
    hosts = [host.name for host in log.hosts.values() if host.processes]
    planned = max([len(hosts), *(group.nodes or 0 for group in log.communicators.values())])
    counts: dict[str, int] = {}
    for result in results:
        for verdict, objects in (("pass", result.passed), ("fail", result.failed), ("not_evaluated", result.unseen)):
            counts[verdict] = counts.get(verdict, 0) + len(objects)
        if result.verdict in (Verdict.NOT_APPLICABLE, Verdict.ERROR):
            counts[str(result.verdict)] = counts.get(str(result.verdict), 0) + 1
    devices = {
        "planned": planned,
        "reached": len(hosts),
        "partial": sum(name in dark for name in hosts),
        "unreachable": planned - len(hosts),
    }
    return Coverage(devices, counts)


def _notes(log: Log) -> Iterator[str]:
    versions = dict.fromkeys([*log.versions, *(name for host in log.hosts.values() for name in host.versions)])
    if len(versions) > 1:
        yield f"several versions of the library speak in these logs: {few(versions)}"
    if log.hosts and not any(host.environment for host in log.hosts.values()):
        yield "no variable of the environment is printed: none is set, or NCCL_DEBUG_SUBSYS lacks ENV"


def document(done: Accepted) -> dict[str, Any]:
    """`auditor.nccl/1`: the verdict, what the logs show, and the report as every check writes it."""
    log, seen = done.log, done.share
    return {
        "schema": "auditor.nccl/1",
        "verdict": done.verdict,
        "offending_hosts": [canonical.printable(name) for name in done.offending],
        "logs": [
            {"name": file.name, "digest": file.digest, "lines": file.lines, "entries": file.entries, "cut": file.cut}
            for file in log.files
        ],
        "job": job.job(log),
        "connections": {
            "between_hosts": seen.judged,
            "cross_rail": seen.crossing,
            "cross_rail_allowed": seen.allowed,
            "cross_rail_chosen_everywhere": seen.chosen,
            "cross_rail_faulty": sum(crossing.count for crossing in seen.faulty),
            "rail_unknown": seen.unknown,
            "rails_by": sorted(seen.basis),
            "one_end_seen": sum(log.open.values()),
            "point_to_point": seen.lone,
            "point_to_point_cross_rail": seen.lone_crossing,
            "gpu_direct": job.direct(log),
        },
        "hosts": [job.host(host) for host in job.hosts(log)],
        "report": report.document(done.run),
    }


def summary(done: Accepted) -> str:
    """The verdict and what the logs show, in a few lines."""
    seen = done.share
    who = f": {few(done.offending, 8)}" if done.offending else ""
    lines = [f"{done.verdict.upper()}{who}", *(f"  {label.ljust(9)}{words}" for label, words in job.lines(done.log))]
    if done.log.ends:
        lines.append(f"  {'network'.ljust(9)}{_connections(done.log, seen)}")
    if done.verdict is Acceptance.ACCEPTED and not done.run.findings:
        lines.append("Every rank was seen from its start to its connections, and nothing is wrong.")
    return "\n".join(lines) + "\n"


def _connections(log: Log, seen: Share) -> str:
    direct = job.direct(log)
    words = [f"{seen.judged} connections between hosts"]
    if seen.judged:
        by = " and ".join(sorted(seen.basis))
        words.append(f"{seen.crossing} ({100 * seen.crossing / seen.judged:.0f} %) cross rails (by {by})")
    if seen.allowed:
        words.append(f"NCCL_CROSS_NIC=1 allows {seen.allowed} of them")
    if seen.chosen:
        words.append(f"{seen.chosen} of them are the library's choice on every host alike")
    if sum(direct.values()):
        words.append(f"GPUDirect RDMA at {direct['with']} of {sum(direct.values())} ends")
    return "; ".join(words)
