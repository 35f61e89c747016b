"""What holds for the whole tree: import contracts, documentation, sizes, and where things may stand."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from auditor.checks import rules
from auditor.collect.guard import FORMATS, commands_for
from auditor.facts import TABLES, schema
from auditor.model import Parser, Severity
from auditor.platforms import platforms

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "auditor").rglob("*.py"))
SOURCES = [(platform, source) for platform in platforms().values() for source in platform.sources]
MACHINE_PATHS = re.compile(
    "|".join(
        [
            r"(?<![\w.])/wor" + r"k/",
            r"/tmp/ven" + r"v",
            r"/roo" + r"t/",
            r"/home/\w+/",
            r"python" + r"hosted\.org",
            r"pypi" + r"\.org/simple",
        ]
    )
)


def name(path):
    return str(path.relative_to(ROOT))


def tracked():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [ROOT / path for path in listed.decode().split("\0") if path and (ROOT / path).is_file()]


def test_import_contracts_hold():
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_architecture_page_shows_the_layers_that_hold():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert "\n".join(layers) in (ROOT / "docs" / "architecture.md").read_text("utf-8")


def test_the_architecture_page_names_every_module_and_package():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    there = {path.name for path in (ROOT / "auditor").iterdir() if not path.name.startswith("_")}
    missing = {item for item in there if not re.search(rf"(?m)^  {re.escape(item)}/? ", page)}
    assert not missing


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_module_says_what_it_is_for(path):
    first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]
    assert len(first) > 15, f"{name(path)} has no docstring that says what it is for"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_module_is_longer_than_400_lines(path):
    assert len(path.read_text("utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", [path for path in MODULES if "cli" not in path.parts], ids=name)
def test_nothing_prints_outside_cli(path):
    calls = [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls, f"{name(path)} prints on lines {calls}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_names_say_something(path):
    assert not {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"} & set(path.with_suffix("").parts)


def test_no_tracked_file_names_a_machine():
    found = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{name(path)}:{at}" for at, line in enumerate(text.splitlines(), 1) if MACHINE_PATHS.search(line)]
    assert not found


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_documented(table):
    shape = schema(TABLES[table])
    assert len(TABLES[table].__doc__ or "") > 10
    for key in shape.keys.values():
        assert len(key.doc) > 3
    for column, field in shape.columns.items():
        assert len(field.info.doc) > 3, f"{table}.{column}"


def test_there_are_rules_of_every_family_of_this_version():
    assert {rule.family for rule in rules().values()} >= {"mtu", "firmware", "lossless", "collection"}


@pytest.mark.parametrize("rule", rules().values(), ids=list(rules()))
def test_every_rule_is_documented(rule):
    assert rule.severity in Severity
    assert len(rule.doc) > 40, "a rule says what holds when all is well"
    assert re.search(r"(?i)why it matters", rule.doc), "a rule says why it matters"
    assert rule.remedy, "a rule says what to do"
    for read in (*rule.reads, *rule.optional):
        table, _, column = read.partition(".")
        assert column in schema(TABLES[table]).columns, f"{rule.id} reads {read}, which is no column"


@pytest.mark.parametrize("platform,source", SOURCES, ids=[f"{p.name}-{s.key}" for p, s in SOURCES])
def test_every_source_is_proven_and_fills_columns_that_exist(platform, source):
    assert source.proven_by, "an output format needs a capture or a vendor document behind it"
    sample = {} if source.parameter is None else {source.parameter.name: "x"}
    sent = commands_for(platform, source, sample) if source.sent else source.command
    assert not re.search(r"[;&`$<>\n]", sent), "the transport alone joins commands"
    assert "|" not in sent or sent[sent.index("|") :] in FORMATS, "an ending that only changes the form of the answer"
    for fill in source.fills:
        missing = set(fill.columns) - set(schema(fill.row_type).columns)
        assert not missing


@pytest.mark.parametrize("platform", platforms().values(), ids=list(platforms()))
def test_every_platform_documents_what_it_cannot_tell(platform):
    keys = [source.key for source in platform.sources]
    assert len(set(keys)) == len(keys)
    for item in platform.unsupported:
        assert item.why
        assert set(item.columns) <= set(schema(TABLES[item.table]).columns)


TEMPLATES = [(p, s) for p, s in SOURCES if s.parser is Parser.TTP]


@pytest.mark.parametrize("platform,source", TEMPLATES, ids=[f"{p.name}-{s.key}" for p, s in TEMPLATES])
def test_every_template_has_two_fixture_cases(platform, source):
    cases = [path for path in (ROOT / "fixtures" / platform.name).glob("*/*/facts.yaml") if source_of(path, source)]
    assert len(cases) >= 2, f"fixtures/{platform.name}: {source.key} needs two cases, one of them odd or empty"


def source_of(facts, source):
    slug = re.sub(r"[^A-Za-z0-9]+", "_", source.command).strip("_")
    return facts.parent.parent.name in (source.key, slug, Path(source.template).stem)


def test_every_template_file_belongs_to_a_source():
    used = {f"{platform.name}/{source.template or source.key}" for platform, source in TEMPLATES}
    there = {path.relative_to(ROOT / "parsers").with_suffix("").as_posix() for path in (ROOT / "parsers").rglob("*.ttp")}
    assert there == used


def test_help_imports_nothing_heavy():
    heavy = ("nornir", "netmiko", "napalm", "paramiko", "sqlalchemy", "alembic", "deepdiff", "ttp", "pydantic", "rich", "yaml")
    script = (
        "import sys\nfrom auditor.cli import app\n"
        "app.main(['--help'], standalone_mode=False)\n"
        f"sys.exit(' '.join(set({heavy!r}) & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"imported for --help: {done.stderr}"
