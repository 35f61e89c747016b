import pytest

from auditor.address import Address, Layer, PartKind, Pattern, quote_key
from auditor.errors import AddressError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("system", Address("system")),
        ("system.os_version", Address("system", (), "os_version")),
        ("interface[Ethernet0].mtu", Address("interface", ("Ethernet0",), "mtu")),
        (
            "queue[Ethernet0,3].watchdog_enabled@configured",
            Address("queue", ("Ethernet0", "3"), "watchdog_enabled", Layer.CONFIGURED),
        ),
        ("interface[Ethernet1/1.100]", Address("interface", ("Ethernet1/1.100",))),
        ("firmware[nic.0000:3b:00.0].version", Address("firmware", ("nic.0000:3b:00.0",), "version")),
        ('class_map["a,b","x]y"].to', Address("class_map", ("a,b", "x]y"), "to")),
        (r'neighbour[Ethernet0,"say \"hi\""]', Address("neighbour", ("Ethernet0", 'say "hi"'))),
    ],
)
def test_addresses_are_read_and_written_back(text, address):
    assert Address.parse(text) == address
    assert str(address) == text


@pytest.mark.parametrize("key", ["@host", "*", "a b", " lead", 'q"q', "a,b", "x]", "[", "?", "line\nbreak", "", "back\\slash"])
def test_odd_keys_survive(key):
    address = Address("neighbour", ("Ethernet0", key), "system")
    assert Address.parse(str(address)) == address


def test_a_key_is_quoted_only_where_it_must_be():
    assert quote_key("Ethernet1/1") == "Ethernet1/1"
    assert quote_key("a,b") == '"a,b"'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a table name expected at position 1"),
        ("Interface[a]", "a table name"),
        ("interface[a", "']' expected"),
        ("interface[]", "a key expected"),
        ("interface[a].", "a column name expected"),
        ("interface[a].mtu@nowhere", "no layer 'nowhere'; layers are applied, configured, saved, next_boot"),
        ("interface[a].mtu extra", "the end expected at position 17"),
        ('interface["a]', "a closing quote expected"),
        ("interface[@]", "is no port group name"),
    ],
)
def test_errors_say_what_was_expected_and_where(text, words):
    with pytest.raises(AddressError) as caught:
        Pattern.parse(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["interface[*].mtu", "interface[@compute].mtu", "interface[Ether?].mtu"])
def test_a_pattern_is_not_the_address_of_one_fact(text):
    with pytest.raises(AddressError, match="is a pattern"):
        Address.parse(text)


def test_parts_of_a_pattern():
    pattern = Pattern.parse('dscp_map[@compute, A*,"*"].traffic_class@applied')
    assert [part.kind for part in pattern.key] == [PartKind.GROUP, PartKind.GLOB, PartKind.LITERAL]
    assert str(pattern) == 'dscp_map[@compute,A*,"*"].traffic_class@applied'


def test_parts_select_by_text_glob_and_group():
    groups = {"compute": frozenset({"Ethernet0"})}
    group, glob, literal = Pattern.parse('x[@compute,Ethernet*,"Ethernet*"]').key
    assert group.matches("Ethernet0", groups) and not group.matches("Ethernet8", groups)
    assert group.matches("Ethernet0", groups.get)
    assert glob.matches("Ethernet8", {}) and not glob.matches("eth0", {})
    assert literal.matches("Ethernet*", {}) and not literal.matches("Ethernet8", {})
    assert not group.matches("Ethernet0", {})


def test_globs_know_no_sets_of_characters():
    with pytest.raises(AddressError):
        Pattern.parse("interface[Ethernet[01]].mtu")


def test_the_row_of_a_cell():
    assert Address.parse("interface[Ethernet0].mtu@saved").row == Address("interface", ("Ethernet0",))
