"""Row sets and what changed between two of them."""

from __future__ import annotations

from auditor import drift
from auditor.address import Layer
from auditor.facts import Interface, Neighbour, QosPort, System
from auditor.model import Change, RowSet, SetKey

KEY = SetKey("interface", Layer.CONFIGURED, "config")


def ports(*rows: Interface, columns: tuple[str, ...] = ("mtu", "fec")) -> RowSet:
    return drift.row_set(KEY, Interface, columns, rows)


def test_rows_stand_in_the_order_of_their_keys_whatever_order_they_came_in() -> None:
    one, two = Interface(name="Ethernet0", mtu=9100), Interface(name="Ethernet8", mtu=9100)
    assert ports(one, two) == ports(two, one)
    assert [row["name"] for row in ports(two, one).rows] == ["Ethernet0", "Ethernet8"]


def test_volatile_columns_stand_outside_rows_columns_and_digest() -> None:
    key = SetKey("neighbour", Layer.APPLIED, "lldp")
    early = drift.row_set(
        key, Neighbour, ["system", "heard_s"], [Neighbour(port="swp1", port_id="p1", system="spine", heard_s=3.0)]
    )
    late = drift.row_set(
        key, Neighbour, ["system", "heard_s"], [Neighbour(port="swp1", port_id="p1", system="spine", heard_s=9.0)]
    )
    assert early == late
    assert early.columns == ("system",)
    assert early.rows == ({"port": "swp1", "port_id": "p1", "system": "spine"},)


def test_columns_that_the_source_does_not_declare_are_left_out() -> None:
    assert ports(Interface(name="Ethernet0", mtu=9100, speed=10**11)).rows == ({"name": "Ethernet0", "mtu": 9100},)


def test_a_newly_declared_column_changes_the_digest_and_is_no_drift() -> None:
    before = ports(Interface(name="Ethernet0", mtu=9100), columns=("mtu",))
    after = ports(Interface(name="Ethernet0", mtu=9100, fec="rs"))
    assert before.digest != after.digest
    assert drift.changes("leaf-01", before, after) == []


def test_rows_of_one_key_become_one_row_of_which_the_first_value_stands() -> None:
    merged = ports(Interface(name="Ethernet0", mtu=9100), Interface(name="Ethernet0", mtu=1500, fec="rs"))
    assert merged.rows == ({"name": "Ethernet0", "mtu": 9100, "fec": "rs"},)


def test_the_first_set_ever_is_no_drift() -> None:
    assert drift.changes("leaf-01", None, ports(Interface(name="Ethernet0", mtu=9100))) == []


def test_a_cell_that_differs_is_one_change_with_its_layer_apart() -> None:
    before, after = ports(Interface(name="Ethernet0", mtu=9100)), ports(Interface(name="Ethernet0", mtu=1500))
    assert drift.changes("leaf-01", before, after) == [Change("leaf-01", "interface[Ethernet0].mtu", "configured", 9100, 1500)]


def test_a_value_that_appears_or_goes_is_a_change_from_or_to_nothing() -> None:
    with_fec, without = ports(Interface(name="Ethernet0", mtu=9100, fec="rs")), ports(Interface(name="Ethernet0", mtu=9100))
    assert [(c.before, c.after) for c in drift.changes("leaf-01", with_fec, without)] == [("rs", None)]
    assert [(c.before, c.after) for c in drift.changes("leaf-01", without, with_fec)] == [(None, "rs")]


def test_a_row_that_appears_or_vanishes_is_one_change_with_its_plain_form() -> None:
    one = Interface(name="Ethernet0", mtu=9100, fec="rs")
    row = {"name": "Ethernet0", "mtu": 9100, "fec": "rs"}
    assert drift.changes("leaf-01", ports(), ports(one)) == [Change("leaf-01", "interface[Ethernet0]", "configured", None, row)]
    assert drift.changes("leaf-01", ports(one), ports()) == [Change("leaf-01", "interface[Ethernet0]", "configured", row, None)]


def test_keys_are_quoted_as_addresses_are() -> None:
    after = ports(Interface(name='Vlan "a", b', mtu=9100))
    assert drift.changes("leaf-01", ports(), after)[0].address == 'interface["Vlan \\"a\\", b"]'


def test_a_table_with_one_row_has_no_key_in_its_addresses() -> None:
    key = SetKey("system", Layer.APPLIED, "version")
    old, new = (drift.row_set(key, System, ["os_version"], [System(os_version=word)]) for word in ("4.4.2", "4.4.3"))
    assert drift.changes("leaf-01", old, new) == [Change("leaf-01", "system.os_version", "applied", "4.4.2", "4.4.3")]


def test_lists_are_compared_as_a_whole() -> None:
    key = SetKey("qos_port", Layer.CONFIGURED, "config")
    old, new = (drift.row_set(key, QosPort, ["pfc_priorities"], [QosPort(port="p", pfc_priorities=at)]) for at in ((3,), (3, 4)))
    assert [(c.before, c.after) for c in drift.changes("leaf-01", old, new)] == [([3], [3, 4])]


def test_sources_that_say_the_same_of_one_address_are_joined() -> None:
    one = Change("leaf-01", "interface[Ethernet0]", "applied", None, {"name": "Ethernet0", "mtu": 9100})
    two = Change("leaf-01", "interface[Ethernet0]", "applied", None, {"name": "Ethernet0", "fec": "rs"})
    other = Change("leaf-01", "interface[Ethernet0]", "configured", None, {"name": "Ethernet0"})
    joined = drift.join([two, other, one])
    assert joined == [
        Change("leaf-01", "interface[Ethernet0]", "applied", None, {"name": "Ethernet0", "mtu": 9100, "fec": "rs"}),
        other,
    ]
