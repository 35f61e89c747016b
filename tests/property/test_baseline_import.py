"""Laws of importing checks: NAPALM's own comparison is the judge of what a line may accept."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from napalm.base.validate import compare

from auditor.baseline.document import Vocabulary, parse_document
from auditor.baseline.formats import Options, formats
from auditor.baseline.formats.napalm_validate import demand
from auditor.baseline.operators import holds, settle
from auditor.baseline.proposal import render
from auditor.yamldoc import YamlDocument

numbers = st.integers(0, 20000)
decimals = st.one_of(numbers, st.decimals(0, 20000, places=1)).map(str)
demands = st.one_of(
    numbers,
    st.builds("{}{}".format, st.sampled_from(["<", ">", "<=", ">="]), decimals),
    st.builds("{}<->{}".format, decimals, decimals),
    st.builds("{}%{}".format, st.integers(0, 200), numbers),
)
patterns = st.lists(
    st.sampled_from(["a", "b", "1", ".", "^", "$", "|", "(", ")", "[ab]", "+", "*", r"\.", r"\$"]), max_size=6
).map("".join)
answers = st.text("ab1.$", max_size=6)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), patterns, demands)
names = st.one_of(
    st.sampled_from(["Ethernet1", "eth2", "Loopback0", "@in_use", "*", "_mode", "list", "get_facts"]), st.text(max_size=6)
)
anything = st.recursive(scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)))
facts = st.dictionaries(
    st.sampled_from(["os_version", "hostname", "vendor", "uptime", "interface_list", "_mode", "_kwargs"]), anything
)
interface = st.dictionaries(
    st.sampled_from(["is_up", "is_enabled", "mtu", "speed", "description", "mac_address", "_mode"]), scalars
)
getters = st.one_of(
    st.fixed_dictionaries({"get_facts": st.one_of(facts, anything)}),
    st.fixed_dictionaries(
        {"get_interfaces": st.one_of(st.dictionaries(names, st.one_of(interface, scalars), max_size=3), anything)}
    ),
    st.dictionaries(names, anything, max_size=2),
)
entry = st.dictionaries(
    st.sampled_from(["name", "speed", "auto", "lanes", "status", "line_protocol_status"]), st.one_of(names, scalars)
)
inputs = st.dictionaries(
    st.sampled_from(["mtu", "interfaces", "specific_mtu", "ignored_interfaces", "versions", "filters", "result_overwrite"]),
    st.one_of(anything, st.lists(st.one_of(entry, st.dictionaries(names, scalars, max_size=2)), max_size=3)),
)
classes = ["VerifyEOSVersion", "VerifyL3MTU", "VerifyInterfacesSpeed", "VerifyInterfacesStatus", "VerifyInterfaceErrDisabled"]
tests = st.builds(lambda name, given: {name: given}, st.one_of(st.sampled_from(classes), names), st.one_of(inputs, anything))
catalogs = st.builds(lambda some: {"anta.tests.interfaces": some}, st.lists(st.one_of(tests, anything), max_size=4))


@given(demands, numbers)
def test_a_number_satisfies_the_line_exactly_when_napalm_accepts_it(written: Any, answer: int) -> None:
    try:
        operator, value, _ = demand(written, "int")
        wanted = settle(operator, list(value) if isinstance(value, tuple) else value, "int")
    except ValueError:
        assert isinstance(written, str), "a plain number always has a line"
        assert "<->" in written or "%" in written, "only a range can be empty"
        assert not compare(written, answer)
        return
    assert holds(operator, answer, wanted) == compare(written, answer)


@given(patterns, answers)
def test_a_text_that_the_line_accepts_is_one_that_napalm_accepts(written: str, answer: str) -> None:
    try:
        operator, value, _ = demand(written, "str")
        wanted = settle(operator, value, "str")
    except ValueError:
        return
    if holds(operator, answer, wanted):
        assert answer == written or compare(written, answer)


@given(patterns.map(lambda text: "^" + text.replace("|", "")), answers)
def test_an_end_that_was_open_on_purpose_stays_open(written: str, answer: str) -> None:
    try:
        operator, value, _ = demand(written, "str")
        wanted = settle(operator, value, "str")
    except ValueError:
        return
    assert holds(operator, answer, wanted) == compare(written, answer)


def check(form: str, data: Any) -> None:
    """Reading never fails; all lines together are a sound baseline, word for word the ones that were read."""
    found = formats()[form].read(YamlDocument(data, "some.yml", ""), Options(frozenset({"mtu.link_ends_differ"})))
    text = render("site", "1.0.0", found.lines, "imported")
    document = parse_document(text, "site", "1.0.0", Vocabulary(rule_ids=frozenset({"mtu.link_ends_differ"})))
    written = [(str(line.at), line.operator) for line in document.expectations]
    assert written == [(line.at, line.operator) for line in found.lines]
    assert all(item.reason for item in found.left_out)


@given(st.lists(st.one_of(getters, anything), max_size=4))
def test_whatever_stands_in_a_validate_file_the_lines_are_sound(data: list[Any]) -> None:
    check("napalm", data)


@given(catalogs)
def test_whatever_stands_in_a_catalog_the_lines_are_sound(data: dict[str, Any]) -> None:
    check("anta", data)


@given(interface)
def test_no_check_of_an_interface_vanishes(fields: dict[str, Any]) -> None:
    found = formats()["napalm"].read(YamlDocument([{"get_interfaces": {"Ethernet1": fields}}], "some.yml", ""), Options())
    assert len(found.lines) + len(found.left_out) == len(fields)
