"""Writes the reference pages from the code whenever the documentation is built; nothing of it is committed.

A mkdocs hook: `on_config` adds one page per platform to the navigation, `on_files` gives every page its text.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from auditor.baseline.operators import OPERATORS
from auditor.checks import rules
from auditor.cli import app
from auditor.errors import ExitCode
from auditor.facts import TABLES, schema
from auditor.model import Platform, Privilege, Rule, RuleKind, Source, Transport
from auditor.platforms import platforms
from auditor.report.json import schema as report_schema

GENERATED = "This page is generated from the code.\n"

SEES = {
    RuleKind.DEVICE: "one device",
    RuleKind.LINK: "one link with both its ends",
    RuleKind.CABLE: "one link with both its ends, whatever its verdict",
    RuleKind.FABRIC: "all links at once",
    RuleKind.PEER: "one attribute of all devices that should be alike",
    RuleKind.LOG: "the logs of one job (`auditor nccl check`)",
}
"""What a rule looks at, in words."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """One page per platform below `Reference`."""
    reference = next(entry["Reference"] for entry in config.nav or [] if "Reference" in entry)
    reference.extend({platform.title: f"reference/platforms/{platform.name}.md"} for platform in platforms().values())
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Every generated page by its path below `docs/`."""
    out = {
        "reference/commands.md": commands_page(app),
        "reference/exit-codes.md": exit_codes_page(),
        "reference/facts.md": facts_page(),
        "reference/rules.md": rules_page(),
        "reference/operators.md": operators_page(),
        "reference/report-schema.md": report_schema_page(),
        "reference/platforms.md": platforms_page(),
    }
    for platform in platforms().values():
        out[f"reference/platforms/{platform.name}.md"] = platform_page(platform)
    return out


def cell(text: Any) -> str:
    """Text that stands in one cell of a table: neither a bar nor a line break nor markup of its own."""
    escaped = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return " ".join(escaped.split())


def code(text: str) -> str:
    """Text as code in one cell of a table."""
    return f"`{' '.join(text.split())}`".replace("|", "\\|") if text.strip() else ""


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(header)
    yield "| " + " | ".join(names) + " |"
    yield "|" + " --- |" * len(names)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def prose(text: str) -> Iterator[str]:
    """A docstring as Markdown: a blank line before each list, and what click keeps as it stands as a block."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield from ("```text", paragraph.removeprefix("\b\n"), "```")
        else:
            yield re.sub(r"(?m)^(?!- | )(.+)\n- ", r"\1\n\n- ", paragraph)
        yield ""


def page(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"# {title}", "", GENERATED, *lines]) + "\n"


def commands_page(root: click.Command) -> str:
    return page("Commands", _commands(root, click.Context(root, info_name="auditor"), 2))


def _commands(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{context.command_path}`"
    yield ""
    yield from prose(inspect.cleandoc(command.help or ""))
    yield "```text"
    yield " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield "```"
    yield ""
    records = [record for record in (item.get_help_record(context) for item in command.get_params(context)) if record]
    if records:
        yield from table(("option", "meaning"), ((code(name), cell(meaning)) for name, meaning in records))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _commands(child, click.Context(child, info_name=name, parent=context), min(level + 1, 5))


def exit_codes_page() -> str:
    return page(
        "Exit codes", table(("code", "name", "meaning"), ((str(int(c)), c.name.lower(), cell(c.meaning)) for c in ExitCode))
    )


def facts_page() -> str:
    def lines() -> Iterator[str]:
        yield "An address is `table[key].column`, with `@layer` where one layer is meant. Units are SI base units."
        yield ""
        for name, row_type in sorted(TABLES.items()):
            shape = schema(row_type)
            key = f"[{','.join(shape.keys)}]" if shape.keys else ""
            yield f"## `{name}{key}`"
            yield ""
            yield from prose(inspect.cleandoc(row_type.__doc__ or ""))
            rows = [(code(part), "key", "", cell(info.doc)) for part, info in shape.keys.items()]
            for column, field in shape.columns.items():
                marks = [word for word in ("volatile", "secret") if getattr(field.info, word)]
                marks += [f"alike within a {field.info.peer}"] if field.info.peer else []
                rows.append((code(column), field.kind, field.info.unit, cell("; ".join([field.info.doc, *marks]))))
            yield from table(("column", "type", "unit", "meaning"), rows)

    return page("Facts", lines())


def rules_page() -> str:
    def lines() -> Iterator[str]:
        yield "Function rules, by family. Baseline lines add their own under ids of the same families."
        yield ""
        for rule in rules().values():
            yield from _rule(rule)

    return page("Rules", lines())


def _rule(rule: Rule) -> Iterator[str]:
    yield f"## `{rule.id}`"
    yield ""
    yield from prose(rule.doc)
    yield f"- severity: {rule.severity}"
    yield f"- sees: {SEES[rule.kind]}"
    yield f"- reads: {', '.join(code(item) for item in rule.reads) or 'nothing'}"
    if rule.optional:
        yield f"- reads when they are there: {', '.join(code(item) for item in rule.optional)}"
    if rule.needs_params:
        yield "- speaks only where the baseline gives it `params`"
    if rule.remedy:
        yield f"- remedy: {cell(rule.remedy)}"
    yield ""


def platforms_page() -> str:
    def lines() -> Iterator[str]:
        yield from table(
            ("platform", "name", "reached by", "sources"),
            (
                (
                    f"[{cell(platform.title)}](platforms/{platform.name}.md)",
                    code(platform.name),
                    ", ".join(map(str, (platform.transport, *platform.also))),
                    str(len(platform.sources)),
                )
                for platform in platforms().values()
            ),
        )
        yield from prose(_MATRIX)
        known = list(platforms().values())
        for name, row_type in TABLES.items():
            if any(name in source.tables() for platform in known for source in platform.sources):
                yield f"### {name}"
                yield ""
                yield from table(
                    ("column", *(platform.name for platform in known if _speaks(platform, name))),
                    (
                        (code(column), *(_told(platform, name, column) for platform in known if _speaks(platform, name)))
                        for column in schema(row_type).columns
                    ),
                )

    return page("Platforms", lines())


_MATRIX = """## What each can tell

By table and column: the layers that a command of the platform fills. `-`: no source fills it, so it is unsupported there: counted
in the coverage, never passed. Platforms that say nothing of a table are left out; their own page says why where a device of their
kind has such things. In brackets: read from captures only."""


def _speaks(platform: Platform, table_name: str) -> bool:
    return any(table_name in source.tables() for source in platform.sources)


def _told(platform: Platform, table_name: str, column: str) -> str:
    """The layers at which a platform fills a column."""
    layers: dict[str, bool] = {}
    for source in platform.sources:
        for fill in source.fills:
            if table_name == fill.row_type.TABLE and column in fill.columns:
                layers[str(fill.layer)] = layers.get(str(fill.layer), False) or source.sent
    return ", ".join(layer if sent else f"({layer})" for layer, sent in layers.items()) or "-"


def platform_page(platform: Platform) -> str:
    def lines() -> Iterator[str]:
        yield from prose(_module_doc(platform))
        yield _reached(platform)
        yield ""
        yield "## What is sent, and what its answer says"
        yield ""
        yield from table(
            ("command", "fills", "privilege", "deadline", "proven by"),
            (
                (
                    code(source.command)
                    + (f"<br>{code(source.rest)}" if source.rest else "")
                    + ("" if source.sent else "<br>captures only"),
                    "<br>".join(_fills(source)),
                    "" if source.privilege is Privilege.NONE else str(source.privilege),
                    f"{source.seconds:g} s",
                    cell(source.proven_by),
                )
                for source in platform.sources
            ),
        )
        if platform.unsupported:
            yield "## What it does not tell"
            yield ""
            yield "Counted in the coverage, never passed."
            yield ""
            yield from table(
                ("table", "columns", "layer", "why"),
                (
                    (code(item.table), cell(", ".join(item.columns)) or "all", str(item.layer or "every"), cell(item.why))
                    for item in platform.unsupported
                ),
            )

    return page(platform.title, lines())


def _reached(platform: Platform) -> str:
    words = f"Reached by {platform.transport}; Netmiko knows it as `{platform.netmiko}`."
    for other in platform.also:
        driver = f" (driver `{platform.napalm}`)" if other is Transport.NAPALM else ""
        words += f" `transport: {other}` in the inventory reaches it by {other}{driver}."
    return words


def _fills(source: Source) -> Iterator[str]:
    for fill in source.fills:
        part = "" if fill.whole else " (not all rows)"
        yield f"`{fill.row_type.TABLE}@{fill.layer}`: {', '.join(fill.columns)}{part}"


def _module_doc(platform: Platform) -> str:
    """The docstring of the module that declares the platform: the vendor's traps."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith("auditor.platforms.") and any(value is platform for value in vars(module).values()):
            return inspect.cleandoc(module.__doc__ or "")
    return ""


def operators_page() -> str:
    return page("Operators", table(("operator", "holds when"), ((code(name), cell(text)) for name, text in OPERATORS.items())))


def report_schema_page() -> str:
    text = json.dumps(report_schema(), indent=2)
    return page("Report schema", ["What `--format json` prints.", "", "```json", text, "```", ""])


def write(folder: Path) -> None:
    """The generated pages as files, for a look without mkdocs."""
    for path, text in pages().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
