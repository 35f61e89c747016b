"""`baselines/digests.yaml`: the released baselines, each with the SHA-256 of its text, so that none changes unseen.

```yaml
site-leaf@1.2.0: 3f0a…
```

`auditor baseline freeze` writes it, `auditor baseline lint` compares. Shipped baselines that a released one extends are in
it too: a new version of the program that changed one of them would change what the released one means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from auditor import yamldoc
from auditor.baseline.document import BaselineDocument, Use, parse_use
from auditor.baseline.library import Library
from auditor.errors import BaselineError, ErrorList, SetupError
from auditor.yamldoc import YamlDocument

FILE = "digests.yaml"
_HEAD = "# SHA-256 of every released baseline. Written by `auditor baseline freeze`: what stands here may not change any more.\n"
_DIGEST = re.compile(r"[0-9a-f]{64}")


def read_digests(file: Path) -> dict[str, tuple[str, int | None]]:
    """`profile@version` -> (digest, line); empty when there is no such file. Raises ErrorList with all of its errors."""
    if not file.exists():
        return {}
    try:
        document = yamldoc.read(file, BaselineError)
    except SetupError as problem:
        raise ErrorList([problem]) from problem
    return _checked(document)


def _checked(document: YamlDocument) -> dict[str, tuple[str, int | None]]:
    data = {} if document.data is None else document.data
    if not isinstance(data, dict):
        raise ErrorList([document.error(BaselineError, "must be a mapping of profile@version to digests")])
    errors: list[SetupError] = []
    for name, digest in data.items():
        try:
            parse_use(name, document.file, document.line(name))
        except BaselineError as problem:
            errors.append(problem)
        if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
            errors.append(document.error(BaselineError, f"{name}: a digest is 64 hexadecimal digits, in quotes if need be", name))
    if errors:
        raise ErrorList(errors)
    return {name: (digest, document.line(name)) for name, digest in data.items()}


def check_digests(directory: Path, library: Library) -> list[SetupError]:
    """One error per released baseline whose text is not the one that was released, with both digests."""
    file = directory / FILE
    try:
        released = read_digests(file)
    except ErrorList as problem:
        return problem.errors
    errors: list[SetupError] = []
    for name, (digest, line) in released.items():
        use = parse_use(name, str(file), line)
        try:
            document = library.read(use)
        except ErrorList as problem:
            errors.extend(problem.errors)
            continue
        if document.document.digest != digest:
            errors.append(_changed(use, document, digest, library))
    return errors


def freeze(directory: Path, library: Library, use: Use) -> list[str]:
    """Release a baseline with everything that it extends; gives the names newly released, in the order of merging.

    Raises ErrorList when one of them has errors, or was released with another text.
    """
    file = directory / FILE
    released = {name: digest for name, (digest, _) in read_digests(file).items()}
    errors: list[SetupError] = []
    new: dict[str, str] = {}
    for document in library.chain(use):
        name, digest = document.document.name, document.document.digest
        if name not in released:
            new[name] = digest
        elif released[name] != digest:
            errors.append(_changed(parse_use(name), document, released[name], library))
    if errors:
        raise ErrorList(errors)
    if new:
        _write(file, released | new, library.names())
    return list(new)


def _changed(use: Use, document: BaselineDocument, released: str, library: Library) -> BaselineError:
    file = next((each.file for each in library.names() if str(each) == str(use)), document.document.file)
    return BaselineError(
        f"{use} is released and has been changed: released with digest {released}, now {document.document.digest};"
        " put the old text back and write a new version",
        file,
    )


def _write(file: Path, digests: Mapping[str, str], order: Iterable[Use]) -> None:
    names = [str(use) for use in order if str(use) in digests]
    names += sorted(set(digests) - set(names))
    part = file.with_name(file.name + ".part")
    part.write_text(_HEAD + "".join(f'{name}: "{digests[name]}"\n' for name in names), encoding="utf-8")
    part.replace(file)
