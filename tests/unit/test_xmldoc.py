import tracemalloc

import pytest

from auditor import xmldoc

BOMB = '<!DOCTYPE lolz [<!ENTITY a "lol">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def refused(text, match, kind=ValueError):
    with pytest.raises(ValueError, match=match) as caught:
        xmldoc.parse(text, "topo.xml")
    assert type(caught.value) is kind, "one kind of error, whatever the parser underneath raises"
    assert str(caught.value).startswith("topo.xml: ")


def test_a_document_becomes_elements():
    root = xmldoc.parse('<system version="1"><cpu numaid="0"/><cpu numaid="1"/></system>')
    assert root.tag == "system"
    assert [cpu.get("numaid") for cpu in root] == ["0", "1"]


def test_blank_lines_and_comments_may_stand_in_front():
    assert xmldoc.parse('\n\n<?xml version="1.0" encoding="UTF-8"?>\n<!-- licence --><a/>').tag == "a"


def test_a_document_type_that_only_names_a_file_passes_and_is_not_read(tmp_path):
    there = tmp_path / "types.dtd"
    there.write_text('<!ATTLIST a b CDATA "read">')
    root = xmldoc.parse(f'<?xml version="1.0"?>\n<!DOCTYPE a SYSTEM "{there.as_uri()}">\n<a/>')
    assert root.attrib == {}


def test_an_entity_bomb_is_refused_before_it_grows():
    tracemalloc.start()
    refused(f"{BOMB}]><lolz>&i;</lolz>", "line 1: declares entities")
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_an_external_entity_is_refused():
    refused('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n<a>&x;</a>', "declares entities")


def test_a_parameter_entity_is_refused():
    refused('<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x">%x;]><a/>', "declares entities")


def test_default_attributes_of_an_internal_subset_are_refused():
    refused('<!DOCTYPE a [<!ATTLIST a b CDATA "x">]><a/>', "document type of its own")


def test_an_entity_of_an_unread_document_type_is_an_error_not_empty_text():
    refused('<!DOCTYPE a SYSTEM "x.dtd">\n<a>&x;</a>', "line 2: not XML: undefined entity")


def test_ten_thousand_levels_are_refused():
    refused("<pci>" * 10_000 + "</pci>" * 10_000, "nested deeper than 100")


def test_a_hundred_levels_are_read():
    assert len(list(xmldoc.parse("<pci>" * 100 + "</pci>" * 100).iter())) == 100


def test_a_huge_attribute_is_refused():
    refused(f'<cpu affinity="{"f" * 1_000_000}"/>', "attribute longer than")


def test_very_many_attributes_are_refused():
    attributes = " ".join(f'a{n}="1"' for n in range(1000))
    refused(f"<cpu {attributes}/>", "more than 64 attributes")


def test_very_many_elements_are_refused():
    refused(f"<a>{'<b/>' * 200_001}</a>", "more than 200000 elements")


def test_a_huge_document_is_refused_unread():
    refused("<a>" + " " * (16 * 1024 * 1024) + "</a>", "longer than")


@pytest.mark.parametrize("text", ["\n<a>\n<b", "<a>\n\n<b>", '<a>\n\n<b c="1', "<a>\n<b/>\n<!-- x"])
def test_a_document_that_was_cut_off_says_so_and_where(text):
    refused(text, r"line 3: the document is cut off", xmldoc.CutOff)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("cat: /x: No such file", "line 1: not XML"),
        ("<a/>\n<b/>", "line 2: not XML"),
        ("<a>\n</b>", "line 2: not XML: mismatched tag"),
        ("<a>\0</a>", "not XML"),
        ("<a>\ud800</a>", "characters that are no text"),
    ],
)
def test_what_is_not_xml_is_one_plain_error(text, match):
    refused(text, match)
