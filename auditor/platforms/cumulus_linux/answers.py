"""How NVUE prints: settings as a tree of labels with columns, and titled tables under a line of dashes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from auditor.dialects.ruler import RulerTable, tables

_RULER = re.compile(r"-+(?: +-+)+ *")
_TITLE = re.compile(r"=+ *")


def settings(body: str) -> dict[str, str]:
    """`label: operational value` of every line above the first title; what is nested is `pfc.pfc-priority`.

    An empty value is "": the switch does not run it, whatever was applied. Raises ValueError without the line of dashes.
    """
    lines = body.splitlines()
    at = next((number for number, line in enumerate(lines) if _RULER.fullmatch(line)), None)
    if at is None or at == 0 or "operational" not in lines[at - 1]:
        raise ValueError("no columns `operational` and `applied`")
    starts = [found.start() for found in re.finditer("-+", lines[at])]
    found: dict[str, str] = {}
    path: list[str] = []
    for number, line in enumerate(lines[at + 1 :], at + 1):
        if number + 1 < len(lines) and _TITLE.fullmatch(lines[number + 1]):
            break
        label, value = line[: starts[1]].rstrip(), line[starts[1] : starts[2] if len(starts) > 2 else None].strip()
        if not label.strip():
            continue
        depth = (len(label) - len(label.lstrip())) // 2
        path = [*path[:depth], label.strip()]
        found.setdefault(".".join(path), value)
    return found


def titled(body: str, title: str) -> Iterator[dict[str, str]]:
    """The rows of the table under this title, by the names of its columns; nothing where it says `No Data`.

    A first column without a header, a number or a name, is `#`. A blank line may follow the dashes. Raises ValueError without the
    title, or where a row does not fit under the columns.
    """
    lines = body.splitlines()
    at = next((number for number, line in enumerate(lines) if line.strip() == title and number + 1 < len(lines)), None)
    if at is None or not _TITLE.fullmatch(lines[at + 1]):
        raise ValueError(f"no table {title!r}")
    inside: list[str] = []
    for line in lines[at + 2 :]:
        if len(inside) == 2 and not line.strip():
            continue
        if not line.startswith("    "):
            break
        inside.append(line[4:])
    if len(inside) < 2 or not _RULER.fullmatch(inside[1]):
        return
    if inside[0].startswith(" "):
        inside[0] = "#" + inside[0][1:]
    for row in next(tables("\n".join(inside) + "\n")).rows:
        if row.cells is None:
            raise ValueError(f"does not fit under the columns: {row.text.strip()!r}")
        yield dict(row.cells)


def plain(body: str) -> RulerTable:
    """The one table of an answer. Wide columns end in an ellipsis, as do their dashes. Raises ValueError for none or for more."""
    found = list(tables(re.sub(r"^[- …]+$", lambda dashes: dashes.group().replace("…", "-"), body, flags=re.MULTILINE)))
    if len(found) != 1:
        raise ValueError("no table" if not found else "more than one table")
    return found[0]
