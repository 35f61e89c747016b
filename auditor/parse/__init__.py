"""Raw outputs to the State of a device. Runs in one process at a time, never in threads: TTP keeps state in globals."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from auditor.address import Layer
from auditor.facts import TABLES, schema
from auditor.model import Gap, GapReason, Platform, RawOutput, Source, State
from auditor.parse.answer import Parsed, parse_output
from auditor.parse.merge import Merge
from auditor.parse.naming import name_ports
from auditor.parse.templates import shipped_parsers, template

__all__ = ["Parsed", "parse_device", "parse_output", "shipped_parsers", "template"]


def parse_device(
    device: str,
    outputs: Sequence[RawOutput],
    platforms: Mapping[str, Platform],
    *,
    gaps: Iterable[Gap] = (),
    parsers: Path | None = None,
    collected_at: datetime | None = None,
    names: Iterable[str] = (),
) -> State:
    """The State of one device from all its outputs. `names` are its platforms, for what they declare unsupported.

    `gaps` are those that collection met already. Outputs of unknown platforms or sources are ignored.
    """
    times = [output.collected_at for output in outputs]
    at = collected_at or (max(times) if times else datetime.now(UTC))
    merge = Merge(device, list(gaps))
    parsed: list[tuple[RawOutput, Source, Platform, Parsed]] = []
    bodies = {(output.platform, output.source): output.body for output in outputs if output.failure is None}
    for output in outputs:
        platform = platforms.get(output.platform)
        if platform is None or all(source.key != output.source for source in platform.sources):
            continue
        source = platform.source(output.source)
        parsed.append(
            (output, source, platform, parse_output(output, source, platform, parsers, _beside(output, source, bodies)))
        )
    name_ports(parsed)
    replaced = _replaced(parsed)
    for output, source, platform, result in parsed:
        if (platform.name, source.key) not in replaced:
            merge.add(output, source, result)
    for name in sorted({platform.name for _, _, platform, _ in parsed}):
        merge.count(platforms[name])
    names = sorted(set(names) or {output.platform for output in outputs})
    for name in names:
        for miss in platforms[name].unsupported if name in platforms else ():
            merge.gaps.append(Gap(device, miss.table, name, GapReason.UNSUPPORTED, miss.why, miss.layer, columns=miss.columns))
    known = [platforms[name] for name in names if name in platforms]
    merge.gaps.extend(_without_source(device, known))
    return replace(merge.state(at), readable=_readable(known))


def _beside(output: RawOutput, source: Source, bodies: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """The names that an answer needs from another one, joined by blanks. A broken answer gives none; its own gaps say why."""
    if source.beside is None:
        return {}
    for key in source.beside.sources:
        body = bodies.get((output.platform, key))
        if body is not None:
            with contextlib.suppress(Exception):  # whatever a device printed
                return {source.beside.name: " ".join(dict.fromkeys(source.beside.names(body)))}
    return {}


def _replaced(parsed: Iterable[tuple[RawOutput, Source, Platform, Parsed]]) -> set[tuple[str, str]]:
    """Sources whose answers are left aside: of a source and its fallback the better answer counts, whole before partial."""
    quality: dict[tuple[str, str], int] = {}
    fallbacks: set[tuple[str, str, str]] = set()
    for _, source, platform, result in parsed:
        key = (platform.name, source.key)
        quality[key] = min(quality.get(key, 2), 2 if result.answered and result.whole else 1 if result.answered else 0)
        if source.fallback_for:
            fallbacks.add((platform.name, source.key, source.fallback_for))
    out = set()
    for platform_name, fallback, preferred in fallbacks:
        ours, theirs = quality[platform_name, fallback], quality.get((platform_name, preferred))
        if theirs is not None:
            out.add((platform_name, preferred if ours > theirs else fallback))
    return out


def _readable(platforms: Sequence[Platform]) -> frozenset[tuple[str, Layer]]:
    sources = [source for platform in platforms for source in platform.sources if source.sent]
    return frozenset((fill.row_type.TABLE, fill.layer) for source in sources for fill in source.fills)


def _without_source(device: str, platforms: Sequence[Platform]) -> list[Gap]:
    """A gap for every column that no source of these platforms fills: unsupported, whatever was asked for."""
    filled = {
        (fill.row_type.TABLE, column)
        for platform in platforms
        for source in platform.sources
        for fill in source.fills
        for column in fill.columns
    }
    named = "+".join(platform.name for platform in platforms)
    gaps = []
    for table, row_type in TABLES.items():
        columns = tuple(column for column in schema(row_type).columns if (table, column) not in filled)
        if columns:
            gaps.append(Gap(device, table, named, GapReason.UNSUPPORTED, f"{named} has no source for it", columns=columns))
    return gaps
