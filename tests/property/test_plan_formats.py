"""What is written in a format and read again is the same plan, in the columns that the format carries."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.errors import SetupError
from auditor.model import Plan, PlanEnd, PlanLink
from auditor.plan.document import COLUMNS
from auditor.plan.formats import TAGS, columns_of, formats, recognise
from auditor.plan.formats.collector import from_other_end

OURS = ("batfish", "csv", "dot", "ibnetdiscover", "intent", "topo")
WRITABLE = [name for name in OURS if formats()[name].write is not None]

words = st.text(st.sampled_from("aB1-–_ .:/'\"\\,;{}[]=<>#|@+é日\U0001f5a7ß"), min_size=1, max_size=8).map(str.strip).filter(bool)
plain = st.from_regex(r"[a-z][a-z0-9_:.-]{0,6}", fullmatch=True)
ports = st.one_of(
    words, plain, st.integers(0, 64).map(str), st.sampled_from(["mlx5_0", "mlx5_0/2", "swp1s0", "Eth 1/1", "P1", "on", "1.0"])
)
maybe = st.one_of(st.just(""), words)
ids = st.sampled_from(["", "0000:3b:00.0", "02:00:5e:10:00:07", "0c42a103007d1110"])
speeds = st.sampled_from(
    [None, 10**9, 2_500_000_000, 40 * 10**9, 100 * 10**9, 200 * 10**9, 400 * 10**9, 800 * 10**9, 123_456_789]
)
tags = st.dictionaries(plain.filter(lambda text: text not in COLUMNS), words, max_size=2)


@st.composite
def plans(draw: st.DrawFn, names: st.SearchStrategy[str] = words, port: st.SearchStrategy[str] = ports) -> Plan:
    """Up to eight links without lanes; rack, position, model and role are those of the device."""
    devices = draw(st.lists(names, min_size=2, max_size=4, unique_by=lambda name: name.strip().lower().partition(".")[0]))
    about = {name: [draw(maybe) for _ in range(3)] for name in devices}
    links: list[PlanLink] = []
    taken: set[tuple[str, str]] = set()
    for _ in range(draw(st.integers(1, 8))):
        pair = draw(st.lists(st.sampled_from(devices), min_size=2, max_size=2, unique=True))
        places = [(device, draw(port)) for device in pair]
        if taken & set(places):
            continue
        taken.update(places)
        a, b = (PlanEnd(device, port, about[device][0], about[device][1], "", draw(ids)) for device, port in places)
        said = draw(tags) | {
            f"{side}_model": about[device][2] for side, device in zip("ab", pair, strict=True) if about[device][2]
        }
        links.append(
            PlanLink(
                a, b, draw(st.sampled_from(["", "compute", "storage"])), draw(maybe), draw(speeds), draw(maybe), draw(maybe),
                draw(st.sampled_from([None, 0.5, 30.0, 12.25])), draw(maybe), draw(maybe), said,
            )
        )  # fmt: skip
    return Plan("a plan", tuple(links))


def carried(
    plan_links: tuple[PlanLink, ...], columns: frozenset[str], gone: tuple[str, ...]
) -> list[tuple[tuple[str, str], ...]]:
    """Links as sets of columns, whichever end stands first, without what the format does not carry."""
    out = []
    for link in plan_links:
        said = {
            key: value
            for key, value in columns_of(link).items()
            if key not in gone and (key in columns or (TAGS in columns and key not in COLUMNS))
        }
        out.append(min(tuple(sorted(said.items())), tuple(sorted(from_other_end(said).items()))))
    return sorted(out)


def panel(plan: Plan) -> Plan:
    """The plan as a `.topo` sees it: `P7` is `7`, and the only port of an adapter has no number."""
    write = formats()["topo"].write
    assert write is not None
    raw, _ = write(plan)
    return Plan(plan.name, formats()["topo"].read(raw.encode(), "x", {}).links)


@pytest.mark.parametrize("name", [name for name in WRITABLE if name != "topo"])
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans())
def test_a_plan_comes_back_in_the_columns_that_a_format_carries(name: str, plan: Plan) -> None:
    format_ = formats()[name]
    assert format_.write is not None
    try:
        text, gone = format_.write(plan)
    except SetupError as refused:
        told = [*(columns_of(link) for link in plan.links)]
        assert name == "dot" and "backslash" in str(refused)
        assert any(re.search(r'\\("|$)', value) for columns in told for value in columns.values())
        return
    back = format_.read(text.encode(), "x", {})
    assert carried(back.links, format_.carries, gone) == carried(plan.links, format_.carries, gone)
    assert recognise(text.encode(), "x") is format_


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(
    plan=plans(
        plain.filter(lambda text: "/" not in text),
        st.one_of(st.from_regex(r"[1-9]\d?|[A-Z]\d/P\d|x[a-z0-9:.]{1,5}", fullmatch=True)),
    )
)
def test_a_plan_comes_back_from_topo_by_the_names_on_the_panel(plan: Plan) -> None:
    format_ = formats()["topo"]
    assert format_.write is not None
    try:
        text, gone = format_.write(plan)
    except SetupError as refused:
        assert "a type of system holds no blank" in str(refused)
        return
    back = format_.read(text.encode(), "x", {})
    assert carried(back.links, format_.carries, gone) == carried(plan.links, format_.carries, gone)
    assert carried(panel(Plan("p", back.links)).links, format_.carries, ()) == carried(back.links, format_.carries, ())


@pytest.mark.parametrize("name", ["csv", "dot"])
@settings(deadline=None, max_examples=30)
@given(lanes=st.lists(plain, min_size=2, max_size=4, unique=True))
def test_a_breakout_keeps_its_lanes(name: str, lanes: list[str]) -> None:
    links = tuple(
        PlanLink(PlanEnd("lf", "swp1", lane=lane), PlanEnd(f"n-{at}", "e0"), cable_id="W-1") for at, lane in enumerate(lanes)
    )
    format_ = formats()[name]
    assert format_.write is not None
    text, gone = format_.write(Plan("x", links))
    assert gone == ()
    assert carried(format_.read(text.encode(), "x", {}).links, format_.carries, ()) == carried(links, format_.carries, ())


PIECES = [
    "graph",
    "{",
    "}",
    "--",
    "->",
    "[",
    "]",
    "a:b",
    '"',
    "\\",
    "=",
    ";",
    "<",
    ">",
    "/*",
    "*/",
    "//",
    "#",
    "\n",
    " ",
    "subgraph",
    "é",
]


@pytest.mark.parametrize("name", OURS)
@settings(deadline=None, max_examples=60)
@given(
    raw=st.one_of(
        st.binary(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map(lambda parts: "".join(parts).encode())
    )
)
def test_nothing_but_a_plan_or_an_error_comes_of_any_bytes(name: str, raw: bytes) -> None:
    format_ = formats()[name]
    assert isinstance(format_.sniff(raw, "x"), bool)
    try:
        found = format_.read(raw, "x", {})
    except SetupError as problem:
        assert str(problem).startswith("x")
    else:
        assert found.links


KEYS = [
    "schema", "cables", "devices", "racks", "a", "b", "device", "interface", "interfaces", "name", "mac", "role",
    "speed_gbps", "label",
    "edges", "node1", "node2", "hostname", "interfaceName",
]  # fmt: skip
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-1, 9), st.floats(allow_nan=False), st.sampled_from(["a", "b", "", " ", "gpu-node"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=20,
)


@pytest.mark.parametrize("name", ["intent", "batfish"])
@settings(deadline=None, max_examples=200)
@given(body=st.dictionaries(st.sampled_from(["cables", "devices", "edges", "site", "racks"]), st.lists(values, max_size=3)))
def test_nothing_but_a_plan_or_an_error_comes_of_any_structure(name: str, body: dict[str, object]) -> None:
    raw = json.dumps({"schema": "turnup.intent/v1", **body}).encode()
    try:
        assert formats()[name].read(raw, "x", {}).links
    except SetupError as problem:
        assert str(problem).startswith("x")


@settings(deadline=None, max_examples=60)
@given(plan=plans(), data=st.data())
def test_a_damaged_document_is_a_plan_or_an_error(plan: Plan, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(WRITABLE))
    write = formats()[name].write
    assert write is not None
    try:
        raw = bytearray(write(plan)[0].encode())
    except SetupError:
        return
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.sampled_from(b'"{}[]:,-> \n\\\x00\xff#a'))
    try:
        assert formats()[name].read(bytes(raw), "x", {}).links
    except SetupError as problem:
        assert str(problem).startswith("x")
