from datetime import UTC, datetime

import pytest

from auditor.address import Address, Layer
from auditor.facts import Interface, QosPort, System
from auditor.model import ABSENT, Gap, GapReason, Origin, State

AT = datetime(2026, 3, 1, tzinfo=UTC)
APPLIED, CONFIGURED, SAVED = Layer.APPLIED, Layer.CONFIGURED, Layer.SAVED
WHOLE, PART = Origin("status", "1" * 64), Origin("detail", "2" * 64, whole=False)


def state(tables=None, origins=None, gaps=(), ports=None):
    filled = {name: {row.key: row for row in rows} for name, rows in (tables or {}).items()}
    return State("leaf-01", AT, filled, origins or {}, tuple(gaps), ports)


def ports(*rows):
    return {(Interface, APPLIED): rows}


def mtu(name="Ethernet0", layer=None):
    return Address("interface", (name,), "mtu", layer)


def test_a_value_comes_with_its_layer_and_origin():
    seen = state(ports(Interface(name="Ethernet0", mtu=9100)), {(Interface, APPLIED, "mtu"): (WHOLE,)})
    cell = seen.cell(mtu())
    assert (cell.value, cell.layer, cell.origin, cell.known, cell.present) == (9100, APPLIED, WHOLE, True, True)


def test_absent_when_a_whole_answer_has_no_such_row_or_cell():
    seen = state(ports(Interface(name="Ethernet0")), {(Interface, APPLIED, "mtu"): (WHOLE,)})
    for name in ("Ethernet0", "Ethernet99"):
        cell = seen.cell(mtu(name))
        assert (cell.value, cell.origin, cell.known, cell.present) == (ABSENT, WHOLE, True, False)


def test_unknown_when_the_answer_does_not_list_all():
    seen = state(ports(Interface(name="Ethernet0", mtu=9100)), {(Interface, APPLIED, "mtu"): (PART,)})
    cell = seen.cell(mtu("Ethernet99"))
    assert (cell.value, cell.known) == (None, False)
    assert cell.gap.reason is GapReason.NOT_COLLECTED


def test_unknown_when_no_answer_declares_the_column():
    seen = state(ports(Interface(name="Ethernet0", up=True)), {(Interface, APPLIED, "up"): (WHOLE,)})
    assert seen.cell(mtu()).gap.reason is GapReason.NOT_COLLECTED


def test_a_gap_hides_absence_and_not_values():
    gap = Gap("leaf-01", "interface", "status", GapReason.TRUNCATED, columns=("mtu",))
    seen = state(ports(Interface(name="Ethernet0", mtu=9100)), {(Interface, APPLIED, "mtu"): (WHOLE,)}, [gap])
    assert seen.cell(mtu()).value == 9100
    assert seen.cell(mtu("Ethernet8")).gap is gap


@pytest.mark.parametrize(
    ("gap", "hidden"),
    [
        (Gap("leaf-01", "*", "", GapReason.UNREACHABLE), True),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT), True),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT, layer=APPLIED), True),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT, key=("Ethernet8",)), True),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT, columns=("up", "mtu")), True),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT, layer=SAVED), False),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT, key=("Ethernet0",)), False),
        (Gap("leaf-01", "interface", "s", GapReason.TIMEOUT, columns=("up",)), False),
        (Gap("leaf-01", "queue", "s", GapReason.TIMEOUT), False),
    ],
)
def test_what_a_gap_covers(gap, hidden):
    seen = state(ports(), {(Interface, APPLIED, "mtu"): (WHOLE,)}, [gap])
    assert (seen.cell(mtu("Ethernet8")).value is None) is hidden


def test_the_applied_layer_answers_before_the_configured_one():
    tables = {
        (Interface, APPLIED): [Interface(name="Ethernet0", mtu=1500)],
        (Interface, CONFIGURED): [Interface(name="Ethernet0", mtu=9100, description="up")],
    }
    origins = {
        (Interface, APPLIED, "mtu"): (WHOLE,),
        (Interface, CONFIGURED, "mtu"): (WHOLE,),
        (Interface, CONFIGURED, "description"): (WHOLE,),
    }
    seen = state(tables, origins)
    assert seen.cell(mtu()).value == 1500
    assert seen.cell(mtu(layer=CONFIGURED)).value == 9100
    assert seen.cell(Address("interface", ("Ethernet0",), "description")).layer is CONFIGURED


def test_a_row_missing_in_the_best_layer_is_not_borrowed_from_a_lower_one():
    tables = {(Interface, APPLIED): [], (Interface, CONFIGURED): [Interface(name="Ethernet0", mtu=9100)]}
    seen = state(tables, {(Interface, APPLIED, "mtu"): (WHOLE,), (Interface, CONFIGURED, "mtu"): (WHOLE,)})
    assert seen.cell(mtu()).value is ABSENT


def test_saved_and_next_boot_answer_only_when_named():
    tables = {(Interface, SAVED): [Interface(name="Ethernet0", mtu=9100)]}
    seen = state(tables, {(Interface, SAVED, "mtu"): (WHOLE,)})
    assert seen.cell(mtu()).value is None
    assert seen.cell(mtu(layer=SAVED)).value == 9100


def test_an_answer_for_one_port_is_whole_for_that_port_alone():
    one = Origin("qos", "3" * 64, scope=frozenset({"ens1"}))
    seen = state({(QosPort, APPLIED): []}, {(QosPort, APPLIED, "trust"): (one,)})
    assert seen.cell(Address("qos_port", ("ens1",), "trust")).value is ABSENT
    assert seen.cell(Address("qos_port", ("ens2",), "trust")).value is None


def test_a_cell_needs_a_column():
    with pytest.raises(ValueError, match="names no column"):
        state().cell(Address("interface", ("Ethernet0",)))


def test_whether_a_row_is_there():
    seen = state(ports(Interface(name="Ethernet0")), {(Interface, APPLIED, "mtu"): (WHOLE,)})
    assert seen.has_row(Address("interface", ("Ethernet0",))) is True
    assert seen.has_row(Address("interface", ("Ethernet8",))) is False
    assert seen.has_row(Address("queue", ("Ethernet0", "3"))) is None
    gap = Gap("leaf-01", "interface", "status", GapReason.TRUNCATED)
    hidden = state(ports(), {(Interface, APPLIED, "mtu"): (WHOLE,)}, [gap])
    assert hidden.has_row(Address("interface", ("Ethernet8",))) is None


def test_a_row_is_not_missed_where_another_answer_that_lists_rows_was_not_seen():
    lost = Gap("leaf-01", "interface", "config", GapReason.REJECTED, columns=("speed", "alias"))
    hidden = state(ports(), {(Interface, APPLIED, "mtu"): (WHOLE,)}, [lost])
    assert hidden.has_row(Address("interface", ("Ethernet8",))) is None
    never = Gap("leaf-01", "interface", "toy", GapReason.UNSUPPORTED, columns=("speed",))
    assert state(ports(), {(Interface, APPLIED, "mtu"): (WHOLE,)}, [never]).has_row(Address("interface", ("Ethernet8",))) is False


def test_keys_of_the_layer_that_a_column_reads():
    tables = {
        (Interface, APPLIED): [Interface(name="Ethernet8"), Interface(name="Ethernet0")],
        (Interface, CONFIGURED): [Interface(name="Ethernet16")],
    }
    seen = state(tables, {(Interface, APPLIED, "mtu"): (WHOLE,)})
    assert seen.keys(Interface, "mtu") == [("Ethernet0",), ("Ethernet8",)]
    assert seen.keys(Interface) == [("Ethernet0",), ("Ethernet16",), ("Ethernet8",)]
    assert seen.keys(Interface, "description") == []


def test_rows_of_the_best_layer():
    system = System(hostname="leaf-01")
    assert state({(System, CONFIGURED): [system]}).rows(System) == {(): system}
    assert state().rows(System) == {}


def test_all_rows_come_in_a_stable_order():
    tables = {(System, APPLIED): [System(hostname="x")], **ports(Interface(name="b"), Interface(name="a"))}
    assert [row.key for _, row in state(tables).all_rows()] == [("a",), ("b",), ()]


def test_the_port_a_row_belongs_to():
    joined = state(ports={("firmware", ("nic.0000:3b:00.0",)): "ens1"})
    assert joined.port_of("firmware", ("nic.0000:3b:00.0",)) == "ens1"
    assert joined.port_of("firmware", ("bios",)) is None
    assert state().port_of("firmware", ("bios",)) is None
