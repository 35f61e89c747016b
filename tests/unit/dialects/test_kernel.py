"""Grammars of the kernel's command line, of lists of CPUs, and of the tools that print processors and memory nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.dialects import cmdline, cpu_list, lscpu, numactl


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("ro quiet", {"ro": "", "quiet": ""}),
        ("iommu=pt x=1 iommu=nopt", {"x": "1", "iommu": "nopt"}),
        ('a="one two" b=3', {"a": "one two", "b": "3"}),
        ('"a=one two" b', {"a": "one two", "b": ""}),
        ("root=UUID=7a=b", {"root": "UUID=7a=b"}),
        ("a=1 -- b=2", {"a": "1"}),
        ("  a=  b ", {"a": "", "b": ""}),
        ("", {}),
    ],
)
def test_parameters_of_a_command_line(line, wanted):
    assert cmdline.parameters(line) == wanted


def test_a_quote_that_is_never_closed_is_an_error():
    with pytest.raises(ValueError, match="quote"):
        cmdline.parameters('a="one two')


def test_dashes_and_underscores_are_alike():
    assert cmdline.alike("numa-balancing") == cmdline.alike("numa_balancing")


@pytest.mark.parametrize(
    ("text", "wanted"), [("0,1,2,8-9", "0-2,8-9"), ("", ""), ("5", "5"), ("0,2,4", "0,2,4"), ("8-9,0-1", "0-1,8-9")]
)
def test_a_list_of_cpus_has_one_form(text, wanted):
    assert cpu_list.folded(text) == wanted


@given(st.sets(st.integers(0, 4095)))
def test_folding_loses_no_cpu_and_is_stable(numbers):
    text = cpu_list.ranges(numbers)
    assert cpu_list.folded(text) == text
    assert sum(1 for _ in numbers) == sum(
        int(last or first) - int(first) + 1 for first, _, last in (part.partition("-") for part in text.split(",") if part)
    )


def test_labels_that_repeat_keep_every_value():
    assert lscpu.text("Socket(s):  2\nModel name: A\nModel name:\t B\n\nno label\n") == {
        "Socket(s)": ["2"],
        "Model name": ["A", "B"],
    }


def test_json_flat_or_nested_gives_what_the_text_gives():
    nested = {
        "lscpu": [
            {"field": "A:", "data": "1", "children": [{"field": "B:", "data": None, "children": [{"field": "C:", "data": "x"}]}]}
        ]
    }
    assert lscpu.json(nested) == {"A": ["1"], "C": ["x"]}
    assert lscpu.json({"lscpu": [{"field": "A:", "data": "1"}, {"field": "A:", "data": "2"}, "?"]}) == {"A": ["1", "2"]}


@pytest.mark.parametrize("document", [None, [], {"lscpu": {}}, {"cpus": []}])
def test_another_json_document_is_refused(document):
    with pytest.raises(ValueError, match="lscpu"):
        lscpu.json(document)


def test_json_that_is_nested_without_end_is_refused():
    document = {"field": "A:", "data": "1"}
    for _ in range(30):
        document = {"field": "A:", "data": "1", "children": [document]}
    with pytest.raises(ValueError, match="deeply"):
        lscpu.json({"lscpu": [document]})


def test_nodes_with_cpus_by_turns_and_one_of_memory_alone():
    found = numactl.hardware(
        "available: 3 nodes (0-1,9)\nnode 0 cpus: 0 2 4 \nnode 0 size: 100 MB\nnode 1 cpus: 1 3 5 \nnode 1 size: 0 MB\n"
        "node 9 cpus:\nnode 9 size: 7 MB\nnode distances:\n"
    )
    assert found.available == 3
    assert [(node.number, node.cpus, node.megabytes) for node in found.nodes] == [(0, "0,2,4", 100), (1, "1,3,5", 0), (9, "", 7)]


def test_a_list_with_dots_in_it_is_not_known():
    found = numactl.hardware("node 0 cpus: 0 1 ... 14 15\n")
    assert (found.available, found.nodes[0].cpus, found.nodes[0].megabytes) == (None, None, None)
