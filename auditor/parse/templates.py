"""TTP templates: where they lie, what they must not use, and running one safely. The only importer of ttp.

Its traps, each met on 0.10.1, are guarded here: a text equal to a file path is opened as that file (a body always starts
with a newline), log errors do not raise (they are failures here), a start line that does not match drops a row silently
(`answer` counts rows by an independent expression), backtracking (a line-length limit here, a time limit in `answer`), parser
state in module globals (one parser at a time, never in threads), a cache file in the package folder.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from auditor.errors import ParseError, PlatformError
from auditor.model import GapReason

MAX_LINE = 4096
"""Characters of one line that TTP may see: its expressions backtrack on long lines."""


class Refused(ParseError):
    """The body is no (whole) answer."""

    def __init__(self, reason: GapReason, detail: str) -> None:
        self.reason = reason
        super().__init__(detail)


def shipped_parsers() -> Path:
    """The folder of templates: beside the package in a checkout, inside it in an installed wheel."""
    here = Path(__file__).parent.parent
    inside = here / "_shipped" / "parsers"
    return inside if inside.is_dir() else here.parent / "parsers"


@lru_cache(maxsize=256)
def template(platform: str, slug: str, parsers: Path | None = None) -> str:
    """The text of `<platform>/<slug>.ttp`, from `parsers` when it holds one, else from the shipped folder.

    Raises PlatformError when there is none or when it uses what the parse stage forbids.
    """
    for folder in filter(None, (parsers, shipped_parsers())):
        file = folder / platform / f"{slug}.ttp"
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            found = re.search(r"<(macro|input|output|lookup|extend)\b|\b(record|lookup|macro|set|copy)\(", text)
            if found is not None:
                raise PlatformError(f"{file}: templates must not use {found.group()!r}")
            return text
    raise PlatformError(f"no template {platform}/{slug}.ttp")


def run(body: str, text: str) -> dict[str, list[dict[str, Any]]]:
    """The groups that a template finds, by group name, each a list."""
    if any(len(line) > MAX_LINE for line in body.splitlines()):
        raise Refused(GapReason.UNPARSED, f"a line is longer than {MAX_LINE} characters")
    from ttp import ttp  # imported late: parsing JSON needs none of it

    errors = _LogErrors()
    log = logging.getLogger("ttp")
    log.addHandler(errors)
    try:
        parser = ttp(template=text, log_level="ERROR")
        parser.add_input("\n" + body + "\n")
        parser.parse(one=True)
        found = parser.result(structure="flat_list")
    finally:
        log.removeHandler(errors)
    if errors.messages:
        raise Refused(GapReason.UNPARSED, f"template: {errors.messages[0]}")
    groups: dict[str, list[dict[str, Any]]] = {}
    for part in found:
        for name, value in part.items() if isinstance(part, dict) else ():
            groups.setdefault(name, []).extend(value if isinstance(value, list) else [value])
    return groups


class _LogErrors(logging.Handler):
    """Collects what TTP only logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _cache_folder() -> None:
    """Keep TTP from writing its cache into the package folder: it goes to the user's own cache, which nobody else writes."""
    if "TTPCACHEFOLDER" in os.environ:
        return
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "auditor"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o022:
            os.environ["TTPCACHEFOLDER"] = str(folder)
            return
    os.environ["TTPCACHEFOLDER"] = os.devnull


_cache_folder()
