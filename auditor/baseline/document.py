"""One baseline document, `<profile>/<version>.yaml`: YAML to typed expectation lines and params, every error with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema

from auditor import yamldoc
from auditor.address import PartKind, Pattern
from auditor.baseline.operators import OPERATORS, settle
from auditor.baseline.reference import resolve_references
from auditor.errors import AddressError, BaselineError, ErrorList, SetupError
from auditor.facts import TABLES, schema
from auditor.model import Document, DocumentOrigin, Expectation, Fabric, Severity, digest
from auditor.settings import suggest
from auditor.yamldoc import YamlDocument

FAMILIES = ("mtu", "lossless", "firmware", "lifecycle", "cabling", "host", "nccl", "rail", "fabric", "oob", "collection")
"""Concerns that a line's id may start with, beside those of the function rules: what `--only mtu.*` means."""

PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]*")
VERSION = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")

_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_][a-z0-9_-]*)+")
_TOP = ("profile", "version", "extends", "changes", "expect", "params")
_LINE = ("id", "at", "severity", "why")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What baselines of a project may name. The caller gathers it, since baselines know neither rules nor plan.

    `rule_ids` are the function rules; `params_types` the type of each one's params (a type or a TypeAdapter); `groups` the
    port groups of plan and fabric (None: not known, any name passes).
    """

    fabric: Fabric = field(default_factory=Fabric)
    rule_ids: frozenset[str] = frozenset()
    params_types: Mapping[str, Any] = field(default_factory=dict)
    groups: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A profile at a version that a document names, and where it does."""

    profile: str
    version: str
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.profile}@{self.version}"


@dataclass(frozen=True, slots=True)
class BaselineDocument:
    """One document as written: its own lines only, values settled for their operators, references resolved."""

    document: Document
    extends: tuple[Use, ...] = ()
    changes: str = ""
    expectations: tuple[Expectation, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    params_origin: Mapping[str, DocumentOrigin] = field(default_factory=dict)


def parse_use(text: Any, file: str = "", line: int | None = None) -> Use:
    """Read `profile@1.2.0`; raises BaselineError."""
    profile, mark, version = text.partition("@") if isinstance(text, str) else ("", "", "")
    if not (mark and PROFILE.fullmatch(profile) and VERSION.fullmatch(version)):
        raise BaselineError(f"{text!r} names no baseline; write it like roce-leaf@1.2.0", file, line)
    return Use(profile, version, file, line)


def read_document(file: Path, vocabulary: Vocabulary, shown: str = "") -> BaselineDocument:
    """Read one document; `shown` is the file name that origins carry. Raises ErrorList with all of its errors."""
    try:
        document = yamldoc.read(file, BaselineError)
    except SetupError as problem:
        raise ErrorList([problem]) from problem
    return _Reader(document, file.parent.name, file.stem, vocabulary, shown or str(file)).read()


def parse_document(text: str, profile: str, version: str, vocabulary: Vocabulary, file: str = "") -> BaselineDocument:
    """Read the text of the document that stands at `<profile>/<version>.yaml`."""
    name = file or f"{profile}/{version}.yaml"
    try:
        document = yamldoc.parse(text, name, BaselineError)
    except SetupError as problem:
        raise ErrorList([problem]) from problem
    return _Reader(document, profile, version, vocabulary, name).read()


class _Reader:
    """Reads one document and gathers all that is wrong with it."""

    def __init__(self, source: YamlDocument, profile: str, version: str, vocabulary: Vocabulary, shown: str) -> None:
        self.source, self.profile, self.version, self.vocabulary, self.shown = source, profile, version, vocabulary, shown
        self.errors: list[SetupError] = []

    def fail(self, message: str, *path: str | int) -> None:
        self.errors.append(self.source.error(BaselineError, message, *path))

    def origin(self, *path: str | int) -> DocumentOrigin:
        return DocumentOrigin(self.profile, self.version, self.shown, self.source.line(*path))

    def read(self) -> BaselineDocument:
        data = self.source.data
        if not isinstance(data, dict):
            self.fail("is no baseline: it must be a mapping with profile, version and expect")
            raise ErrorList(self.errors)
        self.keys(data, _TOP, ())
        self.named("profile", data.get("profile"), self.profile, PROFILE)
        self.named("version", data.get("version"), self.version, VERSION)
        changes = data.get("changes", "")
        if not isinstance(changes, str):
            self.fail("'changes' must be a text", "changes")
        text = self.source.text
        name = f"{self.profile}@{self.version}"
        found = BaselineDocument(
            document=Document("baseline", name, digest(text), self.shown, text, self.profile, self.version),
            extends=self.extends(data.get("extends", [])),
            changes=str(changes),
            expectations=self.lines(data.get("expect", [])),
            params={},
        )
        params = self.params(data.get("params", {}))
        if self.errors:
            raise ErrorList(self.errors)
        origins = {rule: self.origin("params", rule) for rule in params}
        return replace(found, params=params, params_origin=origins)

    def keys(self, data: Mapping[str, Any], known: tuple[str, ...], path: yamldoc.Path_) -> None:
        for key in data:
            if key not in known:
                self.fail(f"unknown key {key!r}{suggest(key, list(known))}", *path, key)

    def named(self, key: str, written: Any, wanted: str, shape: re.Pattern[str]) -> None:
        example = "roce-leaf" if key == "profile" else "1.2.0"
        if shape.fullmatch(wanted) is None:
            self.fail(f"the file's path gives {key} {wanted!r}; a {key} looks like {example}")
        elif written is None:
            self.fail(f"{key!r} is missing; the path says {wanted}")
        elif written != wanted:
            self.fail(f"{key} is {written!r} here and {wanted!r} in the path", key)

    def extends(self, data: Any) -> tuple[Use, ...]:
        if not isinstance(data, list):
            self.fail("'extends' must be a list like [ethernet-fabric@1.0.0]", "extends")
            return ()
        uses = []
        for at, item in enumerate(data):
            try:
                uses.append(parse_use(item, self.source.file, self.source.line("extends", at)))
            except BaselineError as problem:
                self.errors.append(problem)
        return tuple(uses)

    def lines(self, data: Any) -> tuple[Expectation, ...]:
        if not isinstance(data, list):
            self.fail("'expect' must be a list of lines", "expect")
            return ()
        first: dict[str, int | None] = {}
        found = []
        for at, item in enumerate(data):
            path: yamldoc.Path_ = ("expect", at)
            if not isinstance(item, dict):
                self.fail("a line must be a mapping with id, at, an operator, severity and why", *path)
                continue
            id_ = item.get("id")
            if isinstance(id_, str) and id_ in first:
                self.fail(f"id {id_!r} stands twice, first on line {first[id_]}", *path, "id")
            elif isinstance(id_, str):
                first[id_] = self.source.line(*path, "id")
            if (line := self.line(item, path)) is not None:
                found.append(line)
        return tuple(found)

    def line(self, item: Mapping[str, Any], path: yamldoc.Path_) -> Expectation | None:
        before = len(self.errors)
        self.keys(item, (*_LINE, *OPERATORS), path)
        for key in _LINE:
            if key not in item:
                self.fail(f"{item.get('id', 'line')}: {key!r} is missing", *path)
        id_, why = item.get("id"), item.get("why")
        if id_ is not None:
            self.id(id_, path)
        if why is not None and not (isinstance(why, str) and why.strip()):
            self.fail("'why' must be a reason in words", *path, "why")
        severity = self.severity(item.get("severity"), path)
        words = [word for word in OPERATORS if word in item]
        if len(words) != 1:
            named = "has none" if not words else f"has {' and '.join(words)}"
            self.fail(f"{id_}: a line has exactly one operator, this one {named}; operators: {', '.join(OPERATORS)}", *path)
        pattern = self.address(item["at"], path) if "at" in item else None
        value = self.value(words[0], item[words[0]], pattern, path) if len(words) == 1 and pattern is not None else None
        if len(self.errors) > before or pattern is None or severity is None:
            return None
        return Expectation(str(id_), pattern, words[0], value, severity, str(why).strip(), self.origin(*path))

    def id(self, id_: Any, path: yamldoc.Path_) -> None:
        known = sorted({*FAMILIES, *(rule.partition(".")[0] for rule in self.vocabulary.rule_ids)})
        if not isinstance(id_, str) or _ID.fullmatch(id_) is None:
            self.fail(f"id {id_!r} must be family.name in lower case, like mtu.compute", *path, "id")
        elif (family := id_.partition(".")[0]) not in known:
            self.fail(f"id {id_!r}: no family {family!r}{suggest(family, known)}; families: {', '.join(known)}", *path, "id")
        elif id_ in self.vocabulary.rule_ids:
            self.fail(f"id {id_!r} is the name of a rule; give the line a name of its own", *path, "id")

    def severity(self, written: Any, path: yamldoc.Path_) -> Severity | None:
        if written is None or written in list(Severity):
            return None if written is None else Severity(written)
        hint = suggest(written, [each.value for each in Severity]) if isinstance(written, str) else ""
        self.fail(f"no severity {written!r}{hint}; severities: {', '.join(Severity)}", *path, "severity")
        return None

    def address(self, written: Any, path: yamldoc.Path_) -> Pattern | None:
        try:
            if not isinstance(written, str):
                raise ValueError(f"'at' must be an address like interface[@compute].mtu, not {written!r}")
            return check_pattern(Pattern.parse(written), self.vocabulary.groups)
        except (AddressError, ValueError) as problem:
            self.fail(str(problem), *path, "at")
            return None

    def value(self, operator: str, written: Any, pattern: Pattern, path: yamldoc.Path_) -> Any:
        column = schema(TABLES[pattern.table]).columns[str(pattern.column)]
        try:
            return settle(operator, resolve_references(written, self.vocabulary.fabric), column.kind)
        except ValueError as problem:
            unit = f" (in {column.info.unit})" if column.info.unit else ""
            self.fail(f"{operator}: {pattern.table}.{column.name}{unit}: {problem}", *path, operator)
            return None

    def params(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("'params' must be a mapping of rule ids", "params")
            return {}
        found: dict[str, Any] = {}
        for rule, written in data.items():
            kind = self.vocabulary.params_types.get(rule)
            if rule not in self.vocabulary.rule_ids and kind is None:
                self.fail(f"no rule {rule!r}{suggest(rule, sorted(self.vocabulary.rule_ids))}", "params", rule)
            elif kind is None:
                self.fail(f"rule {rule} takes no params", "params", rule)
            else:
                self.typed(rule, written, kind, found)
        return found

    def typed(self, rule: str, written: Any, kind: Any, found: dict[str, Any]) -> None:
        adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
        try:
            found[rule] = adapter.validate_python(resolve_references(written, self.vocabulary.fabric))
        except ValidationError as problem:
            for one in problem.errors(include_url=False):
                where = ".".join(map(str, (rule, *one["loc"])))
                message = one["msg"].removeprefix("Value error, ")
                if one["type"] == "extra_forbidden":
                    message = f"no such key{suggest(str(one['loc'][-1]), sorted(_keys_of(adapter)))}"
                self.fail(f"{where}: {message}", "params", rule, *one["loc"])
        except ValueError as problem:
            self.fail(str(problem), "params", rule)


def _keys_of(adapter: TypeAdapter[Any]) -> set[str]:
    """Every key that params of this type may hold, at any depth."""
    try:
        parts: list[Any] = [adapter.json_schema()]
    except PydanticInvalidForJsonSchema:
        return set()
    found: set[str] = set()
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            found.update(part.get("properties", {}))
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
    return found


def check_pattern(pattern: Pattern, groups: frozenset[str] | None = None) -> Pattern:
    """The pattern itself when it names a cell of the vocabulary; raises ValueError in words when it does not.

    `groups` are the known port groups; None lets any name pass.
    """
    row_type = TABLES.get(pattern.table)
    if row_type is None:
        raise ValueError(f"{pattern}: no table {pattern.table!r}{suggest(pattern.table, list(TABLES))}")
    shape = schema(row_type)
    if pattern.column is None:
        raise ValueError(f"{pattern} names no column; {pattern.table} has {', '.join(shape.columns)}")
    if pattern.column in shape.keys:
        raise ValueError(f"{pattern}: {pattern.column!r} is a key of {pattern.table}, not a column: it goes into the brackets")
    if pattern.column not in shape.columns:
        hint = suggest(pattern.column, list(shape.columns))
        raise ValueError(f"{pattern}: {pattern.table} has no column {pattern.column!r}{hint}")
    if len(pattern.key) != len(shape.keys):
        wanted = f"[{','.join(shape.keys)}]" if shape.keys else "no key"
        raise ValueError(f"{pattern}: {pattern.table} has {wanted}, and {len(pattern.key)} key part(s) are given")
    selected = [(at, part.text) for at, part in enumerate(pattern.key) if part.kind is PartKind.GROUP]
    place = list(shape.keys).index(shape.port_key) if shape.port_key is not None else 0
    for at, name in selected:
        if shape.port_key is None and shape.port_column is None:
            raise ValueError(f"{pattern}: rows of {pattern.table} belong to no port, so @{name} selects nothing")
        if at != place:
            raise ValueError(f"{pattern}: a port group goes in place of the key {list(shape.keys)[place]!r}")
        if groups is not None and name not in groups:
            hint = suggest(name, sorted(groups))
            raise ValueError(
                f"{pattern}: no port group @{name}{hint}; groups: {', '.join('@' + each for each in sorted(groups))}"
            )
    return pattern
