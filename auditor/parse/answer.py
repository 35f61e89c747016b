"""One raw output to rows and gaps: completeness first, then its parser, then the platform's normaliser."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from auditor.address import Layer
from auditor.canonical import printable
from auditor.errors import NormaliseError, PlatformError
from auditor.facts import Row, schema
from auditor.model import REDACTED, Failure, Fill, Gap, GapReason, Parser, Platform, RawOutput, Source, Unread
from auditor.parse.templates import Refused, run, template

MAX_BODY = 16 * 1024 * 1024
"""Characters of one answer that are read; a longer one is cut. The largest real answer seen, a full CONFIG_DB, is 2 MB."""
MAX_ROWS = 1_000_000
"""Rows of one answer. The largest real one, a CONFIG_DB of 512 ports, gives some 20,000."""
TIME_LIMIT = 20.0
"""Seconds for one answer. A 128-port table takes 0.05 s."""

_FOREIGN = (
    Failure(r"^sudo: .*", GapReason.PERMISSION, "sudo was refused"),
    Failure(r"^\S*sh: (?:.+: )?(?:command )?not found.*", GapReason.REJECTED, "another shell answered"),
    Failure(r"^\s*% ?(?:Error|Invalid|Unknown|Ambiguous|Incomplete)\b.*", GapReason.REJECTED, "another command line answered"),
    Failure(r"^(?:Error: )?No such command\b.*|^Usage: .*\[OPTIONS\].*", GapReason.REJECTED, "another command line answered"),
    Failure(r"^Building configuration\.\.\.\s*\Z", GapReason.TRUNCATED, "only the first line of an answer"),
    Failure(r"^Timeout, server (?:\S+ )?not responding\.?.*", GapReason.TIMEOUT, "the connection was lost"),
)
"""What no platform prints as an answer, whichever box or shell was reached instead of it."""
_EDGE_LINES = 6
_JUNK = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
_JUNK_SHARE = 0.05
"""Share of control characters and undecodable bytes above which a text is no text. A hostile name in a table stays below."""
_JUNK_LOOK = 100_000
"""Characters that are looked at for it."""


@dataclass(slots=True)
class Parsed:
    """What one answer gave. `answered` is False when nothing of it could be used."""

    rows: list[tuple[Layer, Row]] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    answered: bool = True
    whole: bool = True


def parse_output(
    output: RawOutput, source: Source, platform: Platform, parsers: Path | None = None, beside: Mapping[str, str] | None = None
) -> Parsed:
    """Turn one raw output into rows and gaps. Never raises for what a device printed. `beside`: what `Source.beside` says."""
    parsed = Parsed()
    body = output.body
    try:
        if output.failure is not None and output.failure is not GapReason.TRUNCATED:
            raise Refused(output.failure, output.detail or "no answer")
        if len(body) > MAX_BODY:
            body = body[:MAX_BODY]
            _mark(parsed, output, source, GapReason.TRUNCATED, f"longer than {MAX_BODY} characters")
        elif output.failure is not None:
            _mark(parsed, output, source, GapReason.TRUNCATED, output.detail or "the answer stopped in the middle")
        body = _without_pager(body, platform, parsed, output, source)
        _refuse_failures(body, output, source, platform)
        with _time_limit(TIME_LIMIT):
            data = _read(body, source, platform, parsed, output, parsers)
            if source.counts and not parsed.whole:
                raise Refused(GapReason.TRUNCATED, parsed.gaps[0].detail)
            for number, item in enumerate(source.normalise(data, {**output.parameters, **(beside or {})})):
                if number >= MAX_ROWS:
                    raise Refused(GapReason.UNPARSED, f"gives more than {MAX_ROWS} rows")
                _take(item, parsed, output, source)
        for table in output.excerpt:
            for fill in source.fills:
                if table in ("*", fill.row_type.TABLE):
                    detail = "the capture holds an excerpt of this table"
                    parsed.gaps.append(_gap(output, source, fill, GapReason.NOT_COLLECTED, detail))
    except Refused as refusal:
        _refuse(parsed, output, source, refusal.reason, str(refusal))
    except TimeoutError:
        _refuse(parsed, output, source, GapReason.UNPARSED, f"could not be read within {TIME_LIMIT:.0f} s")
    except RecursionError:
        _refuse(parsed, output, source, GapReason.UNPARSED, "nested too deeply")
    except (NormaliseError, PlatformError) as error:
        _refuse(parsed, output, source, GapReason.UNPARSED, str(error))
    except Exception as error:  # a normaliser that meets what nobody foresaw must not end the run
        _refuse(parsed, output, source, GapReason.UNPARSED, f"{type(error).__name__}: {printable(str(error), 200)}")
    return parsed


def _gap(output: RawOutput, source: Source, fill: Fill, reason: GapReason, detail: str) -> Gap:
    scope = tuple(output.parameters.values())[:1] if source.parameter and _keyed_by_parameter(fill) else fill.only[:1]
    return Gap(output.device, fill.row_type.TABLE, source.key, reason, detail, fill.layer, scope, fill.columns)


def _keyed_by_parameter(fill: Fill) -> bool:
    return fill.whole and schema(fill.row_type).port_key is not None


def _mark(parsed: Parsed, output: RawOutput, source: Source, reason: GapReason, detail: str) -> None:
    """Note that absence can no longer be concluded from this answer; what it holds stands."""
    parsed.whole = False
    parsed.gaps.extend(_gap(output, source, fill, reason, detail) for fill in source.fills)


def _refuse(parsed: Parsed, output: RawOutput, source: Source, reason: GapReason, detail: str) -> None:
    parsed.answered = bool(parsed.rows)
    parsed.whole = False
    parsed.gaps = [_gap(output, source, fill, reason, detail) for fill in source.fills]


def _without_pager(body: str, platform: Platform, parsed: Parsed, output: RawOutput, source: Source) -> str:
    """Cut pager prompts out of a text that goes on behind them; at its end they mean that the answer was cut."""
    for pager in platform.pagers:
        if re.search(pager, body) is None:
            continue
        if re.search(rf"(?:{pager})[\s\b\x1b\[\]0-9;mK]*\Z", body):
            _mark(parsed, output, source, GapReason.TRUNCATED, "ends at a pager prompt")
        body = re.sub(rf"[\r\b ]*(?:{pager})(?:\r *\r|[\b ]*\b)?", "", body)
    return body


def _refuse_failures(body: str, output: RawOutput, source: Source, platform: Platform) -> None:
    lines = [line for line in body[:20_000].splitlines() if line.strip()][:_EDGE_LINES]
    tail = [line for line in body[-20_000:].splitlines() if line.strip()][-_EDGE_LINES:]
    edge = "\n".join(line[:500] for line in (*lines, *tail))
    bad_status = output.exit_status is not None and output.exit_status not in source.ok_status
    if bad_status or source.parser is not Parser.JSON or not body.lstrip().startswith(("{", "[")):
        for failure in (*platform.failures, *_FOREIGN):
            found = _compiled(failure.pattern).search(edge)
            if found is not None:
                raise Refused(failure.reason, f"{failure.detail}: {printable(found.group().strip(), 160)}")
    if bad_status:
        first = printable(lines[0].strip(), 160) if lines else "no output"
        raise Refused(GapReason.REJECTED, f"exit status {output.exit_status}: {first}")
    if not body.strip() and not source.empty:
        raise Refused(GapReason.UNPARSED, "the answer is empty")


def _read(body: str, source: Source, platform: Platform, parsed: Parsed, output: RawOutput, parsers: Path | None) -> Any:
    if source.parser is Parser.JSON:
        return _json(body) if body.strip() else None
    if "\0" in body or len(_JUNK.findall(body, 0, _JUNK_LOOK)) > _JUNK_SHARE * min(len(body), _JUNK_LOOK):
        raise Refused(GapReason.UNPARSED, "binary data")
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    if _stops_short(body, output):
        body = body[: body.rfind("\n") + 1]
        if not body.strip():
            raise Refused(GapReason.TRUNCATED, "the answer stops in the middle of its first line")
        _mark(parsed, output, source, GapReason.TRUNCATED, "the answer stops in the middle of a line")
    if body.strip():
        missing = [anchor for anchor in source.anchor if _compiled(anchor).search(body) is None]
        if source.anchor and len(missing) == len(source.anchor):
            first = next(line.strip() for line in body.splitlines() if line.strip())
            raise Refused(GapReason.UNPARSED, f"nothing of the expected answer in it; it starts {printable(first, 100)!r}")
        if missing:
            _mark(parsed, output, source, GapReason.TRUNCATED, f"no line like {missing[0]!r}: the answer is not whole")
    if source.parser is Parser.TEXT:
        return body
    data = run(body, template(platform.name, source.template or source.key, parsers)) if body.strip() else {}
    if source.count:
        wanted = len(re.findall(source.count, body, re.MULTILINE))
        got = len(data.get("rows", []))
        if got != wanted:
            detail = f"{wanted} rows begin in the answer, {got} were read"
            parsed.gaps.extend(_gap(output, source, fill, GapReason.UNPARSED, detail) for fill in source.fills)
            parsed.whole = False
    return data


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The module `re` keeps compiled patterns too, but finding one there costs as much as most of these searches."""
    return re.compile(pattern, re.MULTILINE)


def _stops_short(body: str, output: RawOutput) -> bool:
    """Whether a recorded answer, kept byte for byte with its exit status, lacks the end of its last line.

    Every command ends its last line; a file that a person wrote may not, nor may a text that somebody pasted. What stands
    in such a line may be the beginning of another value, so it is left out.
    """
    of_a_person = output.command.startswith("cat /etc/")
    return bool(body.strip()) and output.exit_status is not None and not body.endswith("\n") and not of_a_person


def _json(body: str) -> Any:
    text = body.strip().removeprefix("\ufeff")
    start = re.search(r"^[ \t]*[{\[]", text, re.MULTILINE)
    if start is None:
        first = text.splitlines()[0] if text else ""
        raise Refused(GapReason.UNPARSED, f"no JSON; it starts {printable(first.strip(), 100)!r}")
    text = text[start.start() :].lstrip()
    try:
        document, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        if len(text) - error.pos <= 1 or (error.msg.startswith(("Unterminated", "Expecting")) and not text[error.pos :].strip()):
            raise Refused(GapReason.TRUNCATED, f"the JSON stops in line {error.lineno}") from None
        if error.msg.startswith("Unterminated string"):
            raise Refused(GapReason.TRUNCATED, f"the JSON stops inside a string in line {error.lineno}") from None
        raise Refused(GapReason.UNPARSED, f"not JSON in line {error.lineno}: {error.msg}") from None
    except ValueError as error:
        raise Refused(GapReason.UNPARSED, f"not JSON: {error}") from None
    if len(text[end:].strip().splitlines()) > 1:
        raise Refused(GapReason.UNPARSED, "more text behind the JSON document")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [name for name, _ in pairs if name != REDACTED]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is None:  # several secrets were keys of one object
            return out
        raise ValueError(f"key {printable(twice, 60)!r} stands twice in one object")
    return out


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after `seconds`. Works in the main thread of a process, which is where parsing happens."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError

    before: Callable[[int, FrameType | None], Any] | int | None = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # again, should the first exception have been swallowed on its way
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,), "int": (int,), "float": (float, int), "bool": (bool,), "strs": (tuple,), "ints": (tuple,),
}  # fmt: skip


def _take(item: Row | tuple[Layer, Row] | Unread, parsed: Parsed, output: RawOutput, source: Source) -> None:
    """Accept one thing that a normaliser yields, or refuse it as a fault of the platform file."""
    if isinstance(item, Unread):
        layer = item.layer or _fill(source, item.row_type).layer
        columns = (item.column,) if item.column else () if item.key else _fill(source, item.row_type, layer).columns
        parsed.gaps.append(
            Gap(output.device, item.row_type.TABLE, source.key, item.reason, item.detail, layer, item.key, columns)
        )
        if not item.key and item.column is None:
            parsed.whole = False
        return
    row = item[1] if isinstance(item, tuple) else item
    fill = _fill(source, type(row), item[0] if isinstance(item, tuple) else None)
    for name, kind, kinds in _columns(type(row)):
        value = getattr(row, name)
        if value is None:
            continue
        if name not in fill.columns:
            raise PlatformError(f"{source.key} fills {row.TABLE}.{name}, which it does not declare")
        if not isinstance(value, kinds) or (value.__class__ is bool and kind != "bool"):
            raise PlatformError(f"{source.key} gives {row.TABLE}.{name} a {type(value).__name__}, not {kind}")
    parsed.rows.append((fill.layer, row))


_COLUMNS: dict[type[Row], tuple[tuple[str, str, tuple[type, ...]], ...]] = {}


def _columns(row_type: type[Row]) -> tuple[tuple[str, str, tuple[type, ...]], ...]:
    """Name, kind and Python types of every column of a table, made once."""
    if row_type not in _COLUMNS:
        columns = schema(row_type).columns.items()
        _COLUMNS[row_type] = tuple((name, column.kind, _TYPES[column.kind]) for name, column in columns)
    return _COLUMNS[row_type]


def _fill(source: Source, row_type: type[Row], layer: Layer | None = None) -> Fill:
    for fill in source.fills:
        if fill.row_type is row_type and layer in (None, fill.layer):
            return fill
    raise PlatformError(f"{source.key} gives {row_type.TABLE} rows, which it does not declare")
