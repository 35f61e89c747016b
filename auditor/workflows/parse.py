"""The story of `auditor parse`: one raw output to plain rows and gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from auditor.collect.commands import Recogniser, slug
from auditor.errors import SetupError
from auditor.facts import to_plain
from auditor.model import Platform, RawOutput, Source, digest
from auditor.parse import parse_output
from auditor.platforms import platforms


def find_source(platform: Platform, command: str) -> tuple[Source, Mapping[str, str]]:
    """The source whose command (or alias) this is, and its parameters; raises SetupError with near misses."""
    recogniser = Recogniser([platform])
    found = recogniser.by_text(command) or recogniser.by_stem(slug(command))
    if found:
        return found[0].source, found[0].parameters
    known = [spelling for source in platform.sources for spelling in source.spellings()]
    near = get_close_matches(command, known, 3)
    hint = f"; did you mean {' or '.join(repr(item) for item in near)}?" if near else ""
    raise SetupError(f"platform {platform.name} has no command {command!r}{hint} (see `auditor commands`)")


def find_platform(name: str) -> Platform:
    """A platform by name; raises SetupError with near misses."""
    known: Mapping[str, Platform] = platforms()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
        raise SetupError(f"no platform {name!r}{hint}")
    return known[name]


def parse_text(platform_name: str, command: str, body: str, parsers: Path | None) -> dict[str, Any]:
    """`{"rows": [{"table", "key", "layer", …columns}], "gaps": [{"table", "reason", "detail"}]}` of one raw output."""
    platform = find_platform(platform_name)
    source, parameters = find_source(platform, command)
    output = RawOutput("-", platform.name, source.key, command, body, digest(body), datetime.now(UTC), parameters)
    parsed = parse_output(output, source, platform, parsers)
    rows = sorted(parsed.rows, key=lambda item: (item[1].TABLE, item[0], item[1].key))
    return {
        "rows": [
            {"table": row.TABLE, "key": list(row.key), "layer": str(layer), **dict(_columns(to_plain(row), row.key))}
            for layer, row in rows
        ],
        "gaps": [
            {"table": gap.table, "reason": str(gap.reason), "detail": gap.detail}
            | ({"key": list(gap.key)} if gap.key else {})
            | ({"columns": list(gap.columns)} if gap.columns else {})
            for gap in dict.fromkeys(parsed.gaps)
        ],
    }


def _columns(plain: Mapping[str, Any], key: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The columns of a plain row, without its key columns (they come first in a plain row)."""
    yield from list(plain.items())[len(key) :]
