"""Strict YAML with line numbers: no duplicate keys, no aliases, no tags, bounded size and depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from auditor.errors import FileError

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 40

Path_ = tuple[str | int, ...]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's reader where PyYAML was built with it: ten times faster."""


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """Plain data and the line (from 1) at which each path in it starts."""

    data: Any
    file: str
    text: str
    lines: dict[Path_, int] = field(default_factory=dict)

    def line(self, *path: str | int) -> int | None:
        """The line of the value at `path`, or of the nearest parent that is known."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return self.lines.get((), 1)

    def error(self, kind: type[FileError], message: str, *path: str | int) -> FileError:
        """An error of the given type that points at `path`."""
        return kind(message, self.file, self.line(*path))


def read(file: Path, error: type[FileError] = FileError) -> YamlDocument:
    """Read one YAML file; raises `error` with file and line when it is missing, too large or not strict YAML."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", file) from problem
    if len(raw) > MAX_BYTES:
        raise error(f"is larger than {MAX_BYTES} bytes", file)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise error(f"is not UTF-8 text (byte {problem.start})", file) from problem
    return parse(text, str(file), error)


def parse(text: str, file: str, error: type[FileError] = FileError) -> YamlDocument:
    """Read YAML text; `file` is named in errors."""
    try:
        loader = _Loader(text)
    except yaml.YAMLError as problem:
        raise error(f"not YAML: {str(problem).splitlines()[0]}", file) from problem
    try:
        node = _single_node(loader, text, file, error)
        lines: dict[Path_, int] = {}
        data = None if node is None else _plain(loader, node, (), lines, file, error)
        return YamlDocument(data, file, text, lines)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        raise error(f"not YAML: {problem.problem}", file, None if mark is None else mark.line + 1) from problem
    except yaml.YAMLError as problem:
        raise error(f"not YAML: {problem}", file) from problem
    except RecursionError:
        raise error("is nested too deeply", file) from None
    finally:
        loader.dispose()


def _line(mark: Any) -> int | None:
    return None if mark is None else int(mark.line) + 1


def _single_node(loader: Any, text: str, file: str, error: type[FileError]) -> yaml.Node | None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise error("aliases (*name) are not allowed", file, _line(event.start_mark))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise error(f"is nested deeper than {MAX_DEPTH} levels", file, _line(event.start_mark))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    node: yaml.Node | None = loader.get_single_node()
    return node


def _plain(loader: Any, node: yaml.Node, path: Path_, lines: dict[Path_, int], file: str, error: type[FileError]) -> Any:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_plain(loader, item, (*path, at), lines, file, error) for at, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        out: dict[str, Any] = {}
        for key, value in _pairs(node, file, error):
            if key in out:
                raise error(f"key {key!r} stands twice", file, value.start_mark.line + 1)
            out[key] = _plain(loader, value, (*path, key), lines, file, error)
            lines[(*path, key)] = value.start_mark.line + 1
        return out
    try:
        return loader.construct_object(node)
    except ValueError as problem:
        raise error(f"not YAML: {problem}", file, node.start_mark.line + 1) from problem


def _pairs(node: yaml.MappingNode, file: str, error: type[FileError]) -> Iterator[tuple[str, yaml.Node]]:
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            raise error("keys must be plain words", file, key.start_mark.line + 1)
        yield key.value, value


def dump(data: Any) -> str:
    """Plain data as YAML a person would read: block style, keys in the given order."""
    return str(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))
