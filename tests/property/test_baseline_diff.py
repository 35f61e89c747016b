"""Laws of comparing baselines, and of the order in which documents are merged."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from auditor.address import Pattern
from auditor.baseline.diff import Meaning, apply, diff, meaning
from auditor.baseline.document import Vocabulary
from auditor.baseline.library import Library
from auditor.model import Baseline, DocumentOrigin, Expectation, Severity

AT = ["interface[*].mtu", "interface[Ethernet0].speed", "interface[@compute].mtu@applied"]
scalars = st.one_of(st.integers(0, 3), st.booleans(), st.sampled_from(["a", "b"]), st.floats(0, 2, width=16))
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def baselines(draw: st.DrawFn) -> Baseline:
    ids = draw(st.lists(st.sampled_from(["mtu.a", "mtu.b", "fabric.c", "host.d"]), unique=True))
    lines = tuple(
        Expectation(
            id_,
            Pattern.parse(draw(st.sampled_from(AT))),
            draw(st.sampled_from(["eq", "ne", "ge"])),
            draw(st.integers(0, 2)),
            draw(st.sampled_from(list(Severity))),
            draw(st.sampled_from(["why", "because"])),
            DocumentOrigin("p", "1.0.0", "f", draw(st.integers(1, 99))),
        )
        for id_ in ids
    )
    params = draw(st.dictionaries(st.sampled_from(["r.one", "r.two"]), trees, max_size=2))
    return Baseline("p", "1.0.0", "", lines, params)


@given(baselines())
def test_a_baseline_does_not_differ_from_itself(a: Baseline) -> None:
    found = diff(meaning(a), meaning(a))
    assert not found
    assert (found.lines, found.params) == ((), ())


@given(baselines(), baselines())
def test_a_difference_applied_to_the_one_gives_the_other(a: Baseline, b: Baseline) -> None:
    one, other = meaning(a), meaning(b)
    again = apply(one, diff(one, other))
    assert not diff(again, other)
    assert repr(sorted(again.lines.items())) == repr(sorted(other.lines.items()))
    assert again.params.keys() == other.params.keys()


@given(baselines(), baselines())
def test_a_difference_is_empty_only_where_both_mean_the_same(a: Baseline, b: Baseline) -> None:
    one, other = meaning(a), meaning(b)
    same = dict(one.lines) == dict(other.lines) and repr(_sorted(one)) == repr(_sorted(other))
    assert bool(diff(one, other)) is not same


def _sorted(found: Meaning) -> object:
    def order(value: object) -> object:
        if isinstance(value, dict):
            return [(key, order(value[key])) for key in sorted(value)]
        return [order(item) for item in value] if isinstance(value, list) else value

    return order(dict(found.params))


@given(baselines(), baselines())
def test_the_way_back_exchanges_before_and_after(a: Baseline, b: Baseline) -> None:
    there, back = diff(meaning(a), meaning(b)), diff(meaning(b), meaning(a))
    assert [(change.id, change.after, change.before) for change in back.lines] == [
        (change.id, change.before, change.after) for change in there.lines
    ]


PROFILES = ["a", "b", "c", "d", "e"]


@st.composite
def families(draw: st.DrawFn) -> dict[str, tuple[list[str], dict[str, int]]]:
    """Profiles that extend earlier ones, each with some lines of its own."""
    out: dict[str, tuple[list[str], dict[str, int]]] = {}
    for at, name in enumerate(PROFILES):
        parents = draw(st.lists(st.sampled_from(PROFILES[:at]), unique=True, max_size=3)) if at else []
        own = draw(st.dictionaries(st.sampled_from(["mtu.x", "mtu.y", "mtu.z"]), st.integers(1, 9), max_size=3))
        out[name] = (parents, own)
    return out


def merged(family: dict[str, tuple[list[str], dict[str, int]]], name: str) -> dict[str, int]:
    """The law in its own words: every document once, parents before children, the later one wins."""
    order: list[str] = []

    def visit(each: str) -> None:
        if each not in order:
            for parent in family[each][0]:
                visit(parent)
            order.append(each)

    visit(name)
    out: dict[str, int] = {}
    for each in order:
        out.update(family[each][1])
    return out


@settings(max_examples=40, deadline=None)
@given(families())
def test_extends_merges_parents_before_children_each_document_once(family: dict[str, tuple[list[str], dict[str, int]]]) -> None:
    with TemporaryDirectory() as folder:
        for name, (parents, own) in family.items():
            file = Path(folder) / "b" / name / "1.0.0.yaml"
            file.parent.mkdir(parents=True)
            extends = ", ".join(f"{parent}@1.0.0" for parent in parents)
            text = (
                f"profile: {name}\nversion: 1.0.0\nextends: [{extends}]\nexpect:\n"
                if own
                else (f"profile: {name}\nversion: 1.0.0\nextends: [{extends}]\n")
            )
            for id_, mtu in own.items():
                text += f'  - {{id: {id_}, at: "interface[*].mtu", eq: {mtu}, severity: error, why: w}}\n'
            file.write_text(text)
        library = Library(Path(folder) / "b", Vocabulary(), shipped=Path(folder))
        for name in PROFILES:
            found = library.resolve(name, "1.0.0")
            assert {line.id: line.value for line in found.expectations} == merged(family, name)
            own = family[name][1]
            assert {line.id for line in found.expectations if line.origin.profile == name} == set(own)
