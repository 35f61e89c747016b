from __future__ import annotations

from pathlib import Path

import pytest

from auditor.baseline.document import Use, Vocabulary
from auditor.baseline.library import Library, overlay
from auditor.errors import ErrorList
from auditor.model import Baseline

WORDS = Vocabulary(
    rule_ids=frozenset({"lossless.buffer_mode", "host.x"}), params_types={"lossless.buffer_mode": dict, "host.x": dict}
)


def write(directory: Path, use: str, *, extends: str = "", mtu: int | None = None, params: str = "", extra: str = "") -> None:
    profile, _, version = use.partition("@")
    text = f"profile: {profile}\nversion: {version}\n"
    if extends:
        text += f"extends: [{extends}]\n"
    if mtu is not None or extra:
        text += "expect:\n"
    if mtu is not None:
        text += f'  - {{id: mtu.port, at: "interface[*].mtu", eq: {mtu}, severity: error, why: w}}\n'
    if extra:
        text += f'  - {{id: {extra}, at: "interface[*].up", eq: true, severity: error, why: w}}\n'
    if params:
        text += f"params: {params}\n"
    file = directory / profile / f"{version}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "baselines"


@pytest.fixture
def library(project: Path, tmp_path: Path) -> Library:
    project.mkdir()
    (tmp_path / "none").mkdir()
    return Library(project, WORDS, shipped=tmp_path / "none")


def values(baseline: Baseline) -> dict[str, object]:
    return {line.id: line.value for line in baseline.expectations}


def test_a_child_replaces_lines_and_params_of_its_parents(library: Library, project: Path) -> None:
    write(project, "base@1.0.0", mtu=9000, extra="host.up", params="{lossless.buffer_mode: {a: 1, b: 2}, host.x: {c: 3}}")
    write(project, "leaf@1.0.0", extends="base@1.0.0", mtu=9100, params="{lossless.buffer_mode: {a: 9}}")
    found = library.resolve("leaf", "1.0.0")
    assert values(found) == {"mtu.port": 9100, "host.up": True}
    assert found.params == {"lossless.buffer_mode": {"a": 9}, "host.x": {"c": 3}}
    assert found.expectations[0].origin.profile == "leaf"
    assert found.expectations[1].origin.file == "baselines/base/1.0.0.yaml"
    assert found.params_origin["lossless.buffer_mode"].profile == "leaf"
    assert found.params_origin["host.x"].profile == "base"
    assert [document.name for document in found.documents] == ["base@1.0.0", "leaf@1.0.0"]


def test_parents_count_in_the_order_written(library: Library, project: Path) -> None:
    write(project, "a@1.0.0", mtu=1000)
    write(project, "b@1.0.0", mtu=2000)
    write(project, "c@1.0.0", extends="a@1.0.0, b@1.0.0")
    write(project, "d@1.0.0", extends="b@1.0.0, a@1.0.0")
    assert values(library.resolve("c", "1.0.0")) == {"mtu.port": 2000}
    assert values(library.resolve("d", "1.0.0")) == {"mtu.port": 1000}


def test_a_shared_grandparent_does_not_undo_what_one_parent_changed(library: Library, project: Path) -> None:
    write(project, "base@1.0.0", mtu=1500)
    write(project, "a@1.0.0", extends="base@1.0.0", mtu=9100)
    write(project, "b@1.0.0", extends="base@1.0.0", extra="host.b")
    write(project, "c@1.0.0", extends="a@1.0.0, b@1.0.0")
    assert values(library.resolve("c", "1.0.0")) == {"mtu.port": 9100, "host.b": True}


def test_the_digest_follows_every_text_of_the_chain(library: Library, project: Path, tmp_path: Path) -> None:
    write(project, "base@1.0.0", mtu=1500)
    write(project, "leaf@1.0.0", extends="base@1.0.0", extra="host.up")
    before = library.resolve("leaf", "1.0.0").digest
    write(project, "base@1.0.0", mtu=9000)
    assert Library(project, WORDS, shipped=tmp_path / "none").resolve("leaf", "1.0.0").digest != before
    write(project, "base@1.0.0", mtu=1500)
    assert Library(project, WORDS, shipped=tmp_path / "none").resolve("leaf", "1.0.0").digest == before


def test_the_projects_document_comes_before_the_shipped_one(project: Path, tmp_path: Path) -> None:
    write(project, "leaf@1.0.0", mtu=1)
    write(tmp_path / "shipped", "leaf@1.0.0", mtu=2)
    write(tmp_path / "shipped", "spine@1.0.0", mtu=3)
    library = Library(project, WORDS, shipped=tmp_path / "shipped")
    assert values(library.resolve("leaf", "1.0.0")) == {"mtu.port": 1}
    shipped = library.resolve("spine", "1.0.0")
    assert shipped.expectations[0].origin.file == "shipped/spine/1.0.0.yaml"
    assert [str(use) for use in library.names()] == ["leaf@1.0.0", "spine@1.0.0"]
    assert [str(use) for use in library.names(shipped=False)] == ["leaf@1.0.0"]


def test_versions_are_listed_in_their_order(library: Library, project: Path) -> None:
    for version in ("1.10.0", "1.9.0"):
        write(project, f"leaf@{version}", mtu=1)
    assert [use.version for use in library.names()] == ["1.9.0", "1.10.0"]


@pytest.mark.parametrize(
    ("use", "words"),
    [("leef@1.0.0", "did you mean 'leaf'?"), ("leaf@2.0.0", "leaf has 1.0.0")],
)
def test_a_missing_parent_names_the_line_that_asks_for_it(library: Library, project: Path, use: str, words: str) -> None:
    write(project, "leaf@1.0.0", mtu=1)
    write(project, "site@1.0.0", extends=use)
    with pytest.raises(ErrorList) as caught:
        library.resolve("site", "1.0.0")
    assert f"site/1.0.0.yaml:3: there is no baseline {use}" in str(caught.value)
    assert words in str(caught.value)


def test_a_circle_is_told_with_its_way(library: Library, project: Path) -> None:
    write(project, "a@1.0.0", extends="b@1.0.0")
    write(project, "b@1.0.0", extends="c@1.0.0")
    write(project, "c@1.0.0", extends="b@1.0.0")
    with pytest.raises(ErrorList) as caught:
        library.resolve("a", "1.0.0")
    assert "c/1.0.0.yaml:3: 'extends' runs in a circle: b@1.0.0 -> c@1.0.0 -> b@1.0.0" in str(caught.value)
    assert len(caught.value.errors) == 1


def test_errors_of_all_documents_of_a_chain_come_at_once(library: Library, project: Path) -> None:
    write(project, "a@1.0.0", extends="x@1.0.0, b@1.0.0")
    write(project, "b@1.0.0", params="{no.rule: 1}", extends="y@1.0.0")
    with pytest.raises(ErrorList) as caught:
        library.resolve("a", "1.0.0")
    assert len(caught.value.errors) == 2
    assert "x@1.0.0" in str(caught.value)
    assert "no rule 'no.rule'" in str(caught.value)


def test_of_several_baselines_a_later_one_wins_with_what_it_says_itself(library: Library, project: Path) -> None:
    write(project, "base@1.0.0", mtu=1500, params="{host.x: {v: 1}}")
    write(project, "a@1.0.0", extends="base@1.0.0", mtu=9100, params="{host.x: {v: 2}}")
    write(project, "b@1.0.0", extends="base@1.0.0", extra="host.b")
    write(project, "c@1.0.0", mtu=4200)
    a, b, c = (library.resolve(name, "1.0.0") for name in "abc")
    first, second = overlay([a, b])
    assert values(first) == {"mtu.port": 9100}
    assert values(second) == {"host.b": True}
    assert dict(second.params) == {}
    assert dict(second.params_origin) == {}
    assert second.digest == b.digest
    assert values(overlay([a, c])[1]) == {"mtu.port": 4200}


def test_a_use_reads_as_it_is_written() -> None:
    assert str(Use("roce-leaf", "1.2.0")) == "roce-leaf@1.2.0"
