"""The story of `auditor baseline import`: checks of another tool become a baseline, and what does not is listed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from auditor import yamldoc
from auditor.baseline.document import parse_document, parse_use
from auditor.baseline.formats import Format, Imported, LeftOut, Options, formats
from auditor.baseline.proposal import render
from auditor.errors import BaselineError, SetupError
from auditor.model import Fabric, Plan
from auditor.workflows.project import vocabulary
from auditor.yamldoc import YamlDocument

LISTED = 20
"""How many of the things left out the head of the document names; the command lists all."""


@dataclass(frozen=True, slots=True)
class Translation:
    """What an import gave: the format, the baseline's text (empty where no line came of it), and what became of the checks."""

    format: Format
    text: str
    imported: Imported


def translate(file: Path, to: str, form: str = "", tags: Iterable[str] = ()) -> Translation:
    """Read a file of another tool into the text of the baseline `to` (`profile@version`). Stores nothing.

    Without `form` the format is told from the document. `tags` choose among checks that are for tagged devices only.
    Raises BaselineError for a file that is of no known format, SetupError for `to`, `form`, and tags where none are known.
    """
    use = parse_use(to, "--to")
    words = vocabulary(Plan(), Fabric())
    document = yamldoc.read(file, BaselineError)
    found = _format(document, form)
    imported = found.read(document, Options(words.rule_ids, frozenset(tags)))
    if not imported.lines:
        return Translation(found, "", imported)
    changes = f"imported from {file.name} ({found.title})"
    text = render(use.profile, use.version, imported.lines, changes, head=_head(document, found, imported))
    parse_document(text, use.profile, use.version, words, f"{use} as imported")
    return Translation(found, text, imported)


def _format(document: YamlDocument, form: str) -> Format:
    known = formats()
    if form and form not in known:
        raise SetupError(f"--format {form!r} is no format; formats: {', '.join(known)}")
    asked = [known[form]] if form else list(known.values())
    fitting = [each for each in asked if each.recognises(document)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise SetupError(f"{document.file} could be {' or '.join(each.title for each in fitting)}: say which with --format")
    raise BaselineError(f"is no {' and no '.join(each.title for each in asked)}", document.file)


def _head(document: YamlDocument, found: Format, imported: Imported) -> list[str]:
    name, left = Path(document.file).name, imported.left_out
    head = [f"Imported from the {found.title} {name}: {len(imported.lines)} lines, {len(left)} left out."]
    head += ["Read it, say the true why and how severe each is, then assign it."]
    if left:
        head += ["Not in here:", *(f"  {told(item, name)}" for item in left[:LISTED])]
        head += [f"  and {len(left) - LISTED} more"] if len(left) > LISTED else []
    return head


def told(item: LeftOut, file: str) -> str:
    """Something left out as one line: where it stands, what it is, why."""
    place = file if item.line is None else f"{file}:{item.line}"
    return f"{place}: {item.what}: {item.reason}"


def save(text: str, file: Path) -> None:
    """Write the document; never over another one. Raises SetupError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise SetupError(f"{file} exists already; a baseline is not written over") from None
    except OSError as problem:
        raise SetupError(f"{file} cannot be written: {problem.strerror}") from problem
