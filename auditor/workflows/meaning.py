"""The story of `auditor explain RULE` and `explain TABLE.COLUMN`: what a rule judges, what a column means and who fills it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from auditor.baseline.operators import shown
from auditor.checks import rules
from auditor.errors import SetupError
from auditor.facts import TABLES, Row, schema
from auditor.model import Expectation, Rule, RuleKind
from auditor.platforms import platforms
from auditor.settings import suggest
from auditor.workflows.project import load_project

SEEN_BY = {
    RuleKind.DEVICE: "each device alone",
    RuleKind.LINK: "the two ends of each planned cable that leads where it should",
    RuleKind.CABLE: "every cable, planned or not",
    RuleKind.FABRIC: "the links of the whole fabric together",
    RuleKind.PEER: "devices of one kind beside each other",
    RuleKind.LOG: "the logs of one job",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """An explanation in parts: a heading, then paragraphs or lists under labels."""

    title: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]


def explain(word: str, folder: str | None = None) -> Meaning:
    """What a rule, a line of the project's baselines, a table or a column means. Raises SetupError for a word that is none."""
    known = rules()
    if word in known:
        return _rule(known[word])
    table, _, column = word.partition(".")
    if table in TABLES and not column:
        return _table(TABLES[table])
    if table in TABLES and column in {**schema(TABLES[table]).columns, **dict.fromkeys(schema(TABLES[table]).key_names)}:
        return _column(TABLES[table], column)
    lines = _lines(word, folder)
    if lines is not None:
        return lines
    if table in TABLES:
        raise SetupError(f"the table {table!r} has no column {column!r}{suggest(column, list(schema(TABLES[table]).columns))}")
    raise SetupError(f"{word!r} is no rule, no line of a baseline here, no table and no column{suggest(word, [*known, *TABLES])}")


def _rule(rule: Rule) -> Meaning:
    about = [f"severity {rule.severity}; judges {SEEN_BY[rule.kind]}"]
    if rule.needs_params:
        about.append("judges nothing until a baseline gives it params")
    return Meaning(
        rule.id,
        (
            ("", tuple(about)),
            ("what it says", tuple(rule.doc.split("\n\n"))),
            ("remedy", (rule.remedy,) if rule.remedy else ()),
            ("reads", tuple(sorted(rule.reads))),
            ("reads where it can", tuple(sorted(rule.optional))),
            ("more", ("docs: reference/rules.md", f"auditor findings list, for what it found; --only {rule.id} judges it alone")),
        ),
    )


def _table(row_type: type[Row]) -> Meaning:
    found = schema(row_type)
    doc = (row_type.__doc__ or "").strip()
    keys = tuple(f"{name}: {_doc(row_type, name)}" for name in found.key_names)
    columns = tuple(f"{name}: {column.info.doc}" for name, column in found.columns.items())
    return Meaning(row_type.TABLE, (("", (doc,)), ("key", keys or ("one row per device",)), ("columns", columns)))


def _column(row_type: type[Row], name: str) -> Meaning:
    table = row_type.TABLE
    found = schema(row_type).columns.get(name)
    if found is None:
        return Meaning(f"{table}.{name}", (("", (_doc(row_type, name), "part of the key of each row")),))
    meta = found.info
    about = [meta.doc + (f" (unit: {meta.unit})" if meta.unit else ""), f"type: {found.kind}"]
    if meta.volatile:
        about.append("volatile: outside of drift and digests")
    if meta.peer:
        about.append(f"compared among devices of one {meta.peer}")
    read_by = sorted(rule.id for rule in rules().values() if {f"{table}.{name}"} & {*rule.reads, *rule.optional})
    return Meaning(
        f"{table}.{name}",
        (
            ("", tuple(about)),
            ("filled by", tuple(_filled(table, name)) or ("no platform",)),
            ("read by", tuple(read_by) or ("no rule; lines of baselines may",)),
        ),
    )


def _filled(table: str, name: str) -> Iterator[str]:
    """Platform, layer and command, and the platforms that say why they cannot."""
    for platform in platforms().values():
        lines = [
            f"{platform.name}: `{source.command}` ({fill.layer}{'' if source.sent else '; captures only'})"
            for source in platform.sources
            for fill in source.fills
            if table == fill.row_type.TABLE and name in fill.columns
        ]
        yield from dict.fromkeys(lines)
        if not lines:
            yield from (
                f"{platform.name}: unsupported: {miss.why}"
                for miss in platform.unsupported
                if miss.table == table and (not miss.columns or name in miss.columns)
            )


def _doc(row_type: type[Row], key: str) -> str:
    return schema(row_type).keys[key].doc


def _lines(word: str, folder: str | None) -> Meaning | None:
    """The lines of the project's baselines with this id; None when there are none, or no project."""
    if folder is None or not (Path(folder) / "auditor.yaml").is_file():
        return None
    project = load_project(folder)
    parts: dict[str, tuple[str, ...]] = {}
    devices: dict[str, list[str]] = defaultdict(list)
    for device in project.devices.values():
        for line in (line for baseline in project.baselines_for(device) for line in baseline.expectations):
            if line.id == word and device.name not in devices[_where(line)]:
                where = _where(line)
                parts[where] = (f"{line.at} {line.operator} {shown(line.value)}", f"severity {line.severity}", line.why)
                devices[where].append(device.name)
    if not parts:
        return None
    return Meaning(word, tuple((where, (*said, f"for {_few(devices[where])}")) for where, said in parts.items()))


def _where(line: Expectation) -> str:
    return f"{line.origin.profile}@{line.origin.version} ({line.origin.file}:{line.origin.line})"


def _few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
