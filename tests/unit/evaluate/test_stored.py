"""A State rebuilt from row sets says what the fresh one said of lasting columns, and never more."""

from __future__ import annotations

from datetime import UTC, datetime

from auditor.address import Address, Layer
from auditor.drift import row_set
from auditor.evaluate.job import row_sets
from auditor.evaluate.stored import state
from auditor.facts import TABLES, Interface, System
from auditor.model import ABSENT, Device, GapReason, RowSet, SetKey
from auditor.platforms import platforms

AT = datetime(2030, 1, 1, tzinfo=UTC)
LEAF = Device("leaf-01", ("sonic",), role="leaf")


def source_of(table: str) -> tuple[str, Layer]:
    for source in platforms()["sonic"].sources:
        for fill in source.fills:
            plain = fill.whole and not fill.only and source.parameter is None and not source.fallback_for
            if plain and fill.row_type is TABLES[table]:
                return source.key, fill.layer
    raise AssertionError(table)


def ports(*rows: Interface, columns: tuple[str, ...] = ("mtu", "fec", "up_since")) -> RowSet:
    key, layer = source_of("interface")
    return row_set(SetKey("interface", layer, key), Interface, columns, rows)


def test_values_absence_and_the_unknown_stay_three_things() -> None:
    found = state(LEAF, AT, [ports(Interface(name="Ethernet0", mtu=9100, up_since="2029"), columns=("mtu", "fec", "up_since"))])
    assert found.cell(Address("interface", ("Ethernet0",), "mtu")).value == 9100
    assert found.cell(Address("interface", ("Ethernet0",), "fec")).value is ABSENT
    assert found.cell(Address("interface", ("Ethernet4",), "mtu")).value is ABSENT
    volatile = found.cell(Address("interface", ("Ethernet0",), "up_since"))
    assert (volatile.value, volatile.known) == (None, False)
    missing = found.cell(Address("neighbour", ("Ethernet0", "x"), "system"))
    assert not missing.known
    assert missing.gap is not None
    assert missing.gap.reason is GapReason.NOT_COLLECTED


def test_the_row_sets_of_a_rebuilt_state_are_those_it_was_made_from() -> None:
    given = ports(Interface(name="Ethernet0", mtu=9100), Interface(name="Ethernet4", mtu=1500, fec="rs"))
    assert [found.digest for found in row_sets(state(LEAF, AT, [given]))] == [given.digest]


def test_a_source_or_table_that_this_version_lacks_is_unknown() -> None:
    odd = RowSet(SetKey("interface", Layer.APPLIED, "gone"), "d", ("mtu",), ({"name": "Ethernet0", "mtu": 1},))
    strange = RowSet(SetKey("nonsense", Layer.APPLIED, source_of("interface")[0]), "e", ("x",), ({"x": 1},))
    found = state(LEAF, AT, [odd, strange])
    assert not found.cell(Address("interface", ("Ethernet0",), "mtu")).known
    assert found.rows(System) == {}
