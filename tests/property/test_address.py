"""Addresses and patterns survive being written and read, whatever their keys hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from auditor.address import Address, Layer, Part, PartKind, Pattern, quote_key
from auditor.facts import TABLES, schema

keys = st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def addresses(draw: st.DrawFn) -> Address:
    table = draw(st.sampled_from(sorted(TABLES)))
    shape = schema(TABLES[table])
    key = tuple(draw(keys) for _ in shape.keys)
    column = draw(st.one_of(st.none(), st.sampled_from(sorted(shape.columns))))
    layer = draw(st.one_of(st.none(), st.sampled_from(list(Layer))))
    return Address(table, key, column, layer)


@given(addresses())
def test_an_address_is_read_back_as_it_was_written(address: Address) -> None:
    assert Address.parse(str(address)) == address


@given(addresses())
def test_an_address_is_a_pattern_that_matches_exactly_itself(address: Address) -> None:
    pattern = Pattern.parse(str(address))
    assert str(pattern) == str(address)
    assert all(
        part.kind is PartKind.LITERAL and part.matches(value, {}) for part, value in zip(pattern.key, address.key, strict=True)
    )


@given(keys, keys)
def test_different_keys_are_written_differently(one: str, other: str) -> None:
    assert (quote_key(one) == quote_key(other)) is (one == other)


@given(st.text(st.sampled_from('abc*?."@,[]\\ \n0'), max_size=12))
def test_a_pattern_that_can_be_read_is_written_so_that_it_reads_the_same(text: str) -> None:
    from auditor.errors import AddressError

    try:
        pattern = Pattern.parse(f"interface[{text}].mtu")
    except AddressError:
        return
    assert Pattern.parse(str(pattern)) == pattern


@given(st.sampled_from(["compute", "host_facing", "a.b-1"]), st.frozensets(keys, max_size=4), keys)
def test_a_group_part_selects_its_members_alone(name: str, members: frozenset[str], value: str) -> None:
    part = Part(PartKind.GROUP, name)
    assert part.matches(value, {name: members}) is (value in members)
    assert Pattern.parse(f"interface[@{name}].mtu").key == (part,)
