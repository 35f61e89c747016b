"""Why a device must be what it must be: every effective line and param with its place, its route, and what it replaced.

A route is the way from the assignment to the document that holds a line: `site-leaf@1.2.0 (assignments.yaml:4)`, extends
`roce-leaf@1.0.0 (baselines/site-leaf/1.2.0.yaml:3)` and so on. Of several routes to one document the first is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auditor.baseline.diff import line_meaning, plain_params
from auditor.baseline.document import BaselineDocument, Use
from auditor.baseline.library import Library
from auditor.baseline.resolve import resolve_uses
from auditor.model import DocumentOrigin

Route = tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What one document says under an id: a Line, or the plain params of a rule."""

    what: Any
    origin: DocumentOrigin
    route: Route


@dataclass(frozen=True, slots=True)
class Explained:
    """One effective line or param, and what it stands in place of, the last replaced first."""

    id: str
    said: Said
    over: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that a device must be by one set of versions, in the order of the documents."""

    uses: tuple[Use, ...]
    lines: tuple[Explained, ...]
    params: tuple[Explained, ...]


def explain(library: Library, uses: Sequence[Use]) -> Explanation:
    """Why these baselines, in this order, demand what they do. Raises ErrorList with all of their errors."""
    effective_lines: dict[str, DocumentOrigin] = {}
    effective_params: dict[str, DocumentOrigin] = {}
    for baseline in resolve_uses(library, uses):
        effective_lines.update({line.id: line.origin for line in baseline.expectations})
        effective_params.update(baseline.params_origin)
    lines: dict[str, list[Said]] = {}
    params: dict[str, list[Said]] = {}
    for document, route in _documents(library, uses):
        for line in document.expectations:
            lines.setdefault(line.id, []).append(Said(line_meaning(line), line.origin, route))
        for rule, value in plain_params(document.params).items():
            params.setdefault(rule, []).append(Said(value, document.params_origin[rule], route))
    return Explanation(tuple(uses), _explained(lines, effective_lines), _explained(params, effective_params))


def _explained(found: Mapping[str, Sequence[Said]], effective: Mapping[str, DocumentOrigin]) -> tuple[Explained, ...]:
    out = []
    for id_, said in found.items():
        winner = next(item for item in said if item.origin == effective[id_])
        out.append(Explained(id_, winner, tuple(item for item in reversed(said) if item is not winner)))
    return tuple(out)


def _documents(library: Library, uses: Sequence[Use]) -> list[tuple[BaselineDocument, Route]]:
    """Every document once, in the order of merging, with the way to it."""
    out: dict[tuple[str, str], tuple[BaselineDocument, Route]] = {}
    for use in uses:
        routes: dict[tuple[str, str], Route] = {}
        _walk(library, use, (), routes)
        for document in library.chain(use):
            key = (document.document.profile, document.document.version)
            out.setdefault(key, (document, routes[key]))
    return list(out.values())


def _walk(library: Library, use: Use, above: Route, routes: dict[tuple[str, str], Route]) -> None:
    route = (*above, use)
    if routes.setdefault((use.profile, use.version), route) is route:
        for parent in library.read(use).extends:
            _walk(library, parent, route, routes)
