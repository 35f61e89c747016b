"""Baselines in words: explanations of what a device must be, and differences between two, as text, Markdown and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from auditor.baseline.diff import Difference, Line, LineChange, ParamChange
from auditor.baseline.document import Use
from auditor.baseline.explain import Explained, Explanation, Said
from auditor.canonical import printable
from auditor.model import ABSENT


def explanation_lines(found: Explanation, *, why: bool) -> Iterator[str]:
    """What a device must be, one line each; with `why` also the reason, the place, the route and what was replaced."""
    for item in found.lines:
        line: Line = item.said.what
        yield f"{item.id}  {line.severity}  {line.demand}"
        if why:
            yield f"    why   {line.why}"
            yield from _places(item)
    for item in found.params:
        yield f"params {item.id}"
        for path, value in _leaves(item.said.what):
            yield f"    {path} = {value}"
        if why:
            yield from _places(item)


def _places(item: Explained) -> Iterator[str]:
    yield f"    from  {_place(item.said)}"
    yield f"    by    {' -> extends '.join(_step(use) for use in item.said.route)}"
    for over in item.over:
        yield f"    over  {_place(over)}: {_said(over)}"


def _place(said: Said) -> str:
    origin = said.origin
    return f"{origin.file}:{origin.line} {origin.profile}@{origin.version}"


def _step(use: Use) -> str:
    """A use with the place that names it, short: the folder of a project is known to who asks."""
    if not use.file:
        return str(use)
    parts = PurePath(use.file).parts
    return f"{use} ({'/'.join(parts[-2:])}{'' if use.line is None else f':{use.line}'})"


def _said(said: Said) -> str:
    if isinstance(said.what, Line):
        return f"{said.what.demand} ({said.what.severity})"
    return printable(str(said.what), 300)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        for at, item in enumerate(value):
            yield from _leaves(item, f"{path}[{at}]")
    else:
        yield path or "value", printable(str(value), 300)


def explanation_plain(found: Explanation) -> dict[str, Any]:
    """An explanation as JSON-ready data."""
    return {
        "baselines": [str(use) for use in found.uses],
        "lines": [{"id": item.id, **_entry(item.said), "over": [_entry(over) for over in item.over]} for item in found.lines],
        "params": [{"rule": item.id, **_entry(item.said), "over": [_entry(over) for over in item.over]} for item in found.params],
    }


def _entry(said: Said) -> dict[str, Any]:
    what = _line(said.what) if isinstance(said.what, Line) else {"value": said.what}
    route = [{"baseline": str(use), "file": use.file, "line": use.line} for use in said.route]
    return {**what, "origin": asdict(said.origin), "route": route}


def _line(line: Line) -> dict[str, Any]:
    value = list(line.value) if isinstance(line.value, tuple) else line.value
    return {"at": line.at, "operator": line.operator, "value": value, "severity": line.severity, "why": line.why}


def difference_text(one: str, other: str, found: Difference, changes: str = "") -> str:
    """A difference as plain text, to be pasted into a change request."""
    out = [f"{one} -> {other}" + (f": {changes}" if changes else "")]
    if not found:
        return f"{out[0]}\nboth mean the same\n"
    for title, mark, changed in _parts(found):
        out += ["", f"{title} ({len(changed)})"]
        for change in changed:
            line = change.after or change.before
            assert line is not None
            out.append(f"  {mark} {change.id}  {line.severity}  {line.demand}")
            out += [f"      {name}: {before} -> {after}" for name, before, after in _steps(change)]
            if not change.parts:
                out.append(f"      why: {line.why}")
    if found.params:
        out += ["", f"params ({len(found.params)})"]
        for param in found.params:
            out.append(f"  {_mark(param)} {param.rule}")
            out += [f"      {path}: {before} -> {after}" for path, before, after in _places_of(param)]
    return "\n".join(out) + "\n"


def difference_markdown(one: str, other: str, found: Difference, changes: str = "") -> str:
    """A difference as Markdown tables."""
    out = [f"## `{one}` → `{other}`", ""]
    out += [_cell(changes), ""] if changes else []
    if not found:
        return "\n".join([*out, "Both mean the same.", ""])
    for title, _, changed in _parts(found):
        out += [f"### {title.capitalize()}", ""]
        if title == "changed":
            out += ["| line | address | what | before | after |", "|---|---|---|---|---|"]
            for change in changed:
                at = change.after.at if change.after else ""
                rows = [(f"`{change.id}`", _code(at), name, _cell(was), _cell(now)) for name, was, now in _steps(change)]
                out += [f"| {' | '.join(row)} |" for row in rows]
        else:
            out += ["| line | severity | demand | why |", "|---|---|---|---|"]
            for change in changed:
                line = change.after or change.before
                assert line is not None
                out.append(f"| `{change.id}` | {line.severity} | {_code(line.demand)} | {_cell(line.why)} |")
        out.append("")
    if found.params:
        out += ["### Params", "", "| rule | what | before | after |", "|---|---|---|---|"]
        for param in found.params:
            out += [f"| `{param.rule}` | {_cell(p)} | {_cell(was)} | {_cell(now)} |" for p, was, now in _places_of(param)]
        out.append("")
    return "\n".join(out)


def difference_plain(one: str, other: str, found: Difference) -> dict[str, Any]:
    """A difference as JSON-ready data; null stands for a side that has nothing."""

    def side(line: Line | None) -> dict[str, Any] | None:
        return None if line is None else _line(line)

    return {
        "from": one,
        "to": other,
        "equal": not found,
        "lines": [
            {"id": change.id, "before": side(change.before), "after": side(change.after), "parts": list(change.parts)}
            for change in found.lines
        ],
        "params": [
            {"rule": param.rule, "before": _or_null(param.before), "after": _or_null(param.after)} for param in found.params
        ],
    }


def _or_null(value: Any) -> Any:
    return None if value is ABSENT else value


def _parts(found: Difference) -> list[tuple[str, str, Sequence[LineChange]]]:
    parts = [
        ("changed", "~", [change for change in found.lines if change.before is not None and change.after is not None]),
        ("added", "+", [change for change in found.lines if change.before is None]),
        ("removed", "-", [change for change in found.lines if change.after is None]),
    ]
    return [part for part in parts if part[2]]


def _steps(change: LineChange) -> list[tuple[str, str, str]]:
    """(what, before, after) of a changed line; operator and value are told together, as a wish."""
    if change.before is None or change.after is None:
        return []
    names = list(dict.fromkeys("wants" if name in ("operator", "value") else name for name in change.parts))
    sides = [
        {"at": line.at, "wants": line.wanted, "severity": line.severity, "why": line.why}
        for line in (change.before, change.after)
    ]
    return [(name, sides[0][name], sides[1][name]) for name in names]


def _mark(param: ParamChange) -> str:
    return "+" if param.before is ABSENT else "-" if param.after is ABSENT else "~"


def _places_of(param: ParamChange) -> list[tuple[str, str, str]]:
    if param.before is ABSENT or param.after is ABSENT:
        there, gone = (param.after, "before") if param.before is ABSENT else (param.before, "after")
        told = [(path, value) for path, value in _leaves(there)]
        return [(path, "nothing", value) if gone == "before" else (path, value, "nothing") for path, value in told]
    return [(path, _shown(before), _shown(after)) for path, before, after in param.places]


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else printable(str(value), 300)


def _cell(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())


def _code(text: str) -> str:
    return f"`{' '.join(text.split())}`".replace("|", "\\|")
