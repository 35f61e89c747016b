from __future__ import annotations

from datetime import UTC, datetime

import pytest

from auditor.address import Layer, Pattern
from auditor.baseline.document import Vocabulary, parse_document
from auditor.baseline.operators import settle
from auditor.baseline.proposal import against, lasting, propose, render
from auditor.facts import TABLES, Firmware, Interface, NicOption, Queue, Row, System, schema
from auditor.model import DocumentOrigin, Expectation, Origin, Severity, State


def state(*rows: Row) -> State:
    tables: dict = {}
    for row in rows:
        tables.setdefault((type(row), Layer.CONFIGURED), {})[row.key] = row
    origins = {(kind, layer, name): (Origin("s", "d"),) for kind, layer in tables for name in schema(kind).columns}
    return State("leaf-01", datetime(2030, 1, 1, tzinfo=UTC), tables, origins)


def lines(found: State, *tables: str, groups: dict[str, frozenset[str]] | None = None) -> dict[str, object]:
    return {line.at: line.value for line in propose(found, tables, groups or {}, "why")}


GROUPS = {
    "in_use": frozenset({"Ethernet0", "Ethernet4", "Ethernet8"}),
    "compute": frozenset({"Ethernet0", "Ethernet4", "Ethernet8"}),
    "host_facing": frozenset({"Ethernet0", "Ethernet4"}),
    "fabric_facing": frozenset({"Ethernet8"}),
}


def port(number: int, **columns: object) -> Interface:
    return Interface(name=f"Ethernet{number}", **columns)  # type: ignore[arg-type]


def test_planned_ports_that_agree_are_one_line_over_their_group_and_unplanned_ones_none() -> None:
    found = state(port(0, mtu=9100), port(4, mtu=9100), port(8, mtu=9100), port(12, mtu=1500))
    assert lines(found, "interface", groups=GROUPS) == {"interface[@compute].mtu": 9100}


def test_groups_that_disagree_have_a_line_each_and_single_ports_their_own() -> None:
    found = state(port(0, mtu=9100, fec="rs"), port(4, mtu=9100, fec="fc"), port(8, mtu=4200, fec="rs"))
    assert lines(found, "interface", groups=GROUPS) == {
        "interface[@host_facing].mtu": 9100,
        "interface[@fabric_facing].mtu": 4200,
        "interface[@fabric_facing].fec": "rs",
        "interface[Ethernet0].fec": "rs",
        "interface[Ethernet4].fec": "fc",
    }


def test_without_a_plan_what_all_rows_share_is_one_line_with_a_glob() -> None:
    found = state(port(0, mtu=9100, fec="rs"), port(4, mtu=9100, fec="fc"))
    assert lines(found, "interface") == {
        "interface[*].mtu": 9100, "interface[Ethernet0].fec": "rs", "interface[Ethernet4].fec": "fc",
    }  # fmt: skip
    queues = state(Queue(port="Ethernet0", queue="3", ecn_min_bytes=1), Queue(port="Ethernet4", queue="3", ecn_min_bytes=1))
    assert lines(queues, "queue") == {"queue[*,3].ecn_min_bytes": 1}


def test_what_names_a_part_of_this_device_becomes_a_glob() -> None:
    one, two = "0000:18:00.0", "0000:2a:00.0"
    found = state(
        NicOption(pci=one, name="ROCE", value="2"), NicOption(pci=two, name="ROCE", value="2"),
        Firmware(component=f"nic.{one}", version="28.43"), Firmware(component=f"nic.{two}", version="28.43"),
        Firmware(component="bios", version="2.1"),
    )  # fmt: skip
    assert lines(found, "nic_option", "firmware") == {
        "nic_option[*,ROCE].value": "2", "firmware[bios].version": "2.1", "firmware[nic.*].version": "28.43",
    }  # fmt: skip


def test_identity_volatile_and_momentary_columns_are_left_out() -> None:
    found = state(
        System(hostname="leaf-01", serial="X", os_version="4.4", booted_at="2029"),
        port(0, mac="00:00:00:00:00:01", up=True, up_since="2029", description="to gpu-01", mtu=9100),
    )
    assert lines(found, "system", "interface") == {"system.os_version": "4.4", "interface[*].mtu": 9100}


@pytest.mark.parametrize("table", sorted(TABLES))
def test_no_volatile_or_secret_column_can_be_proposed(table: str) -> None:
    for column, field in schema(TABLES[table]).columns.items():
        if field.info.volatile or field.info.secret or field.info.port:
            assert not lasting(table, column)


def test_the_document_reads_back_as_it_was_proposed_whatever_the_device_said() -> None:
    found = state(System(os_version='4"4\n- x: $y # {'), port(0, fec="rs", mtu=9100), Firmware(component="a,b[c]", version="1"))
    proposed = propose(found, ("system", "interface", "firmware"), {}, 'as "tuned"')
    text = render("leaf", "1.0.0", proposed, "c: d", ["core@1.0.0"], ["head\nline"])
    read = parse_document(text, "leaf", "1.0.0", Vocabulary())
    assert [(line.id, str(line.at), line.value, line.why) for line in read.expectations] == [
        (line.id, str(Pattern.parse(line.at)), line.value, line.why) for line in proposed
    ]
    assert [str(use) for use in read.extends] == ["core@1.0.0"]


def test_ids_are_unique_and_none_is_that_of_a_rule() -> None:
    found = state(*(Firmware(component=name, version="1") for name in ("a.b", "a-b", "a_b")))
    ids = [line.id for line in propose(found, ["firmware"], {}, "w", taken=["firmware.version_a_b"])]
    assert ids == ["firmware.version_a_b_2", "firmware.version_a_b_3", "firmware.version_a_b_4"]


def test_what_the_extended_version_demands_already_is_left_out_and_its_line_is_taken_over() -> None:
    def known(id_: str, at: str, operator: str, value: object) -> Expectation:
        kind = "int" if isinstance(value, int) else "str"
        return Expectation(
            id_, Pattern.parse(at), operator, settle(operator, value, kind), Severity.CRITICAL, "old", DocumentOrigin()
        )

    proposed = propose(state(port(0, mtu=9100, fec="rs")), ["interface"], {}, "new")
    left = against(proposed, [known("mtu.x", "interface[*].mtu", "ge", 9000), known("fabric.y", "interface[*].fec", "eq", "rs")])
    assert [(line.id, line.value, line.severity, line.why) for line in left] == [("mtu.x", 9100, Severity.CRITICAL, "old")]
