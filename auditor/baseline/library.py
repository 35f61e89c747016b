"""Libraries of baselines: finding `profile@version`, merging `extends`, and resolving what one device must be.

Merging: every document of an `extends` chain counts once, parents before children in the order written; of two lines with
one id, or two params of one rule, the later one stands. So a profile that two parents share cannot undo what one of them changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from auditor.baseline.document import PROFILE, VERSION, BaselineDocument, Use, Vocabulary, read_document
from auditor.baseline.shipped import shipped_directory
from auditor.baseline.version import version_key
from auditor.errors import BaselineError, ErrorList, SetupError
from auditor.model import Baseline, DocumentOrigin, Expectation, digest


class Library:
    """Baselines of one project: directories of `<profile>/<version>.yaml`, the first one that has a document wins.

    Reads lazily and each document once. Origins name files as `baselines/…` (the project's) or `shipped/…`, so that
    reports do not depend on where a project lies; errors name the real file.
    """

    def __init__(self, project: Path | None, vocabulary: Vocabulary, *, shipped: Path | None = None) -> None:
        self.vocabulary = vocabulary
        places = [("baselines", project), ("shipped", shipped or shipped_directory())]
        self.places = [(label, place) for label, place in places if place is not None]
        self._documents: dict[tuple[str, str], BaselineDocument | ErrorList] = {}
        self._resolved: dict[tuple[str, str], Baseline] = {}

    def names(self, *, shipped: bool = True) -> list[Use]:
        """Every `profile@version` there is, each with its file, sorted by profile and version."""
        found: dict[tuple[str, str], Use] = {}
        for label, place in self.places:
            for file in sorted(place.glob("*/*.yaml")) if shipped or label != "shipped" else ():
                if PROFILE.fullmatch(file.parent.name) and VERSION.fullmatch(file.stem):
                    found.setdefault((file.parent.name, file.stem), Use(file.parent.name, file.stem, str(file)))
        return sorted(found.values(), key=lambda use: (use.profile, version_key(use.version)))

    def read(self, use: Use) -> BaselineDocument:
        """One document as written. Raises ErrorList: its errors, or that `use` (with its file and line) names none."""
        key = (use.profile, use.version)
        if key not in self._documents:
            file = self._file(use)
            if file is None:
                raise ErrorList([BaselineError(f"there is no baseline {use}{self._hint(use)}", use.file or None, use.line)])
            label, path = file
            try:
                shown = f"{label}/{use.profile}/{use.version}.yaml"
                self._documents[key] = read_document(path, self.vocabulary, shown)
            except ErrorList as problem:
                self._documents[key] = problem
        found = self._documents[key]
        if isinstance(found, ErrorList):
            raise found
        return found

    def _file(self, use: Use) -> tuple[str, Path] | None:
        for label, place in self.places:
            path = place / use.profile / f"{use.version}.yaml"
            if path.is_file():
                return label, path
        return None

    def _hint(self, use: Use) -> str:
        names = self.names()
        versions = [each.version for each in names if each.profile == use.profile]
        if versions:
            return f"; {use.profile} has {', '.join(versions)}"
        close = get_close_matches(use.profile, sorted({each.profile for each in names}), n=1)
        return f" (did you mean {close[0]!r}?)" if close else ""

    def chain(self, use: Use) -> list[BaselineDocument]:
        """The documents of a baseline in the order they are merged, its own last. Raises ErrorList with all their errors."""
        order: dict[tuple[str, str], BaselineDocument] = {}
        errors: list[SetupError] = []
        self._visit(use, (), order, errors)
        if errors:
            raise ErrorList(list({str(error): error for error in errors}.values()))
        return list(order.values())

    def _visit(
        self, use: Use, above: tuple[Use, ...], order: dict[tuple[str, str], BaselineDocument], errors: list[SetupError]
    ) -> None:
        key = (use.profile, use.version)
        if key in order:
            return
        names = [str(each) for each in above]
        if str(use) in names:
            circle = " -> ".join([*names[names.index(str(use)) :], str(use)])
            errors.append(BaselineError(f"'extends' runs in a circle: {circle}", use.file, use.line))
            return
        try:
            document = self.read(use)
        except ErrorList as problem:
            errors.extend(problem.errors)
            return
        for parent in document.extends:
            self._visit(parent, (*above, use), order, errors)
        order[key] = document

    def resolve(self, profile: str, version: str, *, file: str = "", line: int | None = None) -> Baseline:
        """What `profile@version` demands. `file` and `line` say who asks for it. Raises ErrorList."""
        key = (profile, version)
        if key not in self._resolved:
            self._resolved[key] = _merge(Use(profile, version), self.chain(Use(profile, version, file, line)))
        return self._resolved[key]


def _merge(use: Use, chain: Sequence[BaselineDocument]) -> Baseline:
    lines: dict[str, Expectation] = {}
    params: dict[str, object] = {}
    origins: dict[str, DocumentOrigin] = {}
    for document in chain:
        lines.update({line.id: line for line in document.expectations})
        params.update(document.params)
        origins.update(document.params_origin)
    documents = tuple(document.document for document in chain)
    whole = digest("\n".join(document.digest for document in documents))
    return Baseline(use.profile, use.version, whole, tuple(lines.values()), params, documents, origins)


def overlay(baselines: Sequence[Baseline]) -> tuple[Baseline, ...]:
    """Several baselines of one device, in order, so that the later one wins and nothing but what it says itself.

    A line or param that a later baseline merely inherits from a document that an earlier one already counted is taken out
    of it: else a shared parent would undo what the earlier baseline changed.
    """
    counted: set[tuple[str, str]] = set()
    out = []
    for baseline in baselines:
        own = dict(_own_params(baseline, counted))
        lines = tuple(line for line in baseline.expectations if (line.origin.profile, line.origin.version) not in counted)
        origins = {rule: origin for rule, origin in baseline.params_origin.items() if rule in own}
        out.append(replace(baseline, expectations=lines, params=own, params_origin=origins))
        counted.update((document.profile, document.version) for document in baseline.documents)
    return tuple(out)


def _own_params(baseline: Baseline, counted: set[tuple[str, str]]) -> Iterator[tuple[str, object]]:
    for rule, value in baseline.params.items():
        origin = baseline.params_origin.get(rule, DocumentOrigin())
        if (origin.profile, origin.version) not in counted:
            yield rule, value
