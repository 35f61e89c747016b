"""Row sets over time, drift against what was accepted, and link facts, on both engines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from auditor import drift
from auditor.address import Address, Layer
from auditor.errors import StoreError
from auditor.facts import Interface, Neighbour, QosPort
from auditor.model import ABSENT, Change, DeviceOutcome, Fact, Gap, GapReason, LinkEnd, NeighbourSeen, RowSet, SetKey
from auditor.store import Store

DAY = timedelta(days=1)
START = datetime(2026, 3, 1, 2, tzinfo=UTC)
KEY = SetKey("interface", Layer.CONFIGURED, "config")
STATUS = SetKey("interface", Layer.CONFIGURED, "status")


def ports(*mtus: int | None, key: SetKey = KEY) -> RowSet:
    rows = [Interface(name=f"Ethernet{at * 4}", mtu=mtu) for at, mtu in enumerate(mtus) if mtu is not None]
    return drift.row_set(key, Interface, ["mtu"], rows)


def outcome(*sets: RowSet, device: str = "leaf-01", day: float = 0, **more: object) -> DeviceOutcome:
    seen = {item.key: item.digest for item in sets}
    return DeviceOutcome(device, START + day * DAY, row_sets=sets, seen=seen, **more)  # type: ignore[arg-type]


@pytest.fixture
def run(store: Store) -> str:
    store.begin_run("run", START, "all", "0.1", "live")
    return "run"


def rows_of(store: Store, *tables: str) -> list[int]:
    return [store.info().rows[table] for table in tables]


def test_the_first_look_is_no_drift_and_gives_the_digests_for_the_next(store: Store, run: str) -> None:
    first = ports(9100, 9100)
    assert store.save_outcome(run, outcome(first)) == ()
    assert store.previous_digests("leaf-01") == {KEY: first.digest}
    assert store.previous_digests("leaf-02") == {}
    assert store.row_set(KEY, first.digest) == first
    assert store.row_set(KEY, "0" * 64) is None


def test_a_change_is_told_once_and_stays_listed(store: Store, run: str) -> None:
    change = Change("leaf-01", "interface[Ethernet0].mtu", "configured", 9100, 1500)
    store.save_outcome(run, outcome(ports(9100)))
    assert store.save_outcome(run, outcome(ports(1500), day=1)) == (change,)
    assert store.save_outcome(run, outcome(ports(1500), day=2)) == ()
    (listed,) = store.changes()
    assert (listed.change, listed.first_seen, listed.last_seen) == (change, START + DAY, START + 2 * DAY)


def test_a_change_that_is_undone_is_told_and_no_longer_listed(store: Store, run: str) -> None:
    for day, mtu in enumerate((9100, 1500)):
        store.save_outcome(run, outcome(ports(mtu), day=day))
    (back,) = store.save_outcome(run, outcome(ports(9100), day=2))
    assert (back.before, back.after) == (1500, 9100)
    assert store.changes() == []
    (listed,) = store.changes(open_only=False)
    assert listed.reverted_at == START + 2 * DAY


def test_the_listed_change_counts_from_the_accepted_value_not_from_the_last_one(store: Store, run: str) -> None:
    for day, mtu in enumerate((9100, 1500, 4200)):
        store.save_outcome(run, outcome(ports(mtu), day=day))
    (listed,) = store.changes()
    assert (listed.change.before, listed.change.after, listed.first_seen) == (9100, 4200, START + DAY)


def test_a_row_that_goes_and_comes_back_otherwise_is_a_change_of_its_cell(store: Store, run: str) -> None:
    for day, sets in enumerate((ports(9100, 9100), ports(9100), ports(9100, 1500))):
        store.save_outcome(run, outcome(sets, day=day))
    (listed,) = store.changes()
    assert (listed.change.address, listed.change.before, listed.change.after) == ("interface[Ethernet4].mtu", 9100, 1500)


def test_accepting_ends_the_listed_changes_and_moves_the_mark(store: Store, run: str) -> None:
    for day, mtu in enumerate((9100, 1500)):
        store.save_outcome(run, outcome(ports(mtu), day=day))
    assert store.accept_changes("leaf-01", START + DAY) == 1
    assert store.changes() == []
    store.save_outcome(run, outcome(ports(9100), day=2))
    assert [(item.change.before, item.change.after) for item in store.changes()] == [(1500, 9100)]


def test_a_row_set_that_was_not_seen_is_no_change(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(ports(9100), ports(9100, 9100, key=STATUS)))
    assert store.save_outcome(run, outcome(ports(9100), day=1)) == ()
    assert set(store.previous_digests("leaf-01")) == {KEY, STATUS}
    assert len(store.state_at("leaf-01", START + DAY)) == 2


def test_two_sources_that_see_one_new_row_tell_one_change(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(ports(9100), ports(9100, key=STATUS)))
    changes = store.save_outcome(run, outcome(ports(9100, 9100), ports(9100, 9100, key=STATUS), day=1))
    assert [change.address for change in changes] == ["interface[Ethernet4]"]
    assert [item.change.address for item in store.changes()] == ["interface[Ethernet4]"]


def test_saving_the_same_outcome_again_gives_the_same_and_writes_nothing(store: Store, run: str) -> None:
    tables = ("row_set_contents", "row_set_intervals", "accepted_sets", "changes", "run_devices", "device_states")
    store.save_outcome(run, outcome(ports(9100), ports(9100, key=STATUS)))
    assert store.save_outcome(run, outcome(ports(9100), ports(9100, key=STATUS))) == ()
    later = outcome(ports(1500), ports(9100, key=STATUS), day=1)
    first, before = store.save_outcome(run, later), rows_of(store, *tables)
    assert store.save_outcome(run, later) == first != ()
    assert rows_of(store, *tables) == before


def test_an_unchanged_night_writes_no_row_set(store: Store, run: str) -> None:
    devices = [f"leaf-{at:02}" for at in range(5)]
    store.save_outcomes(run, [outcome(ports(9100, 9100), device=device) for device in devices])
    assert rows_of(store, "row_set_contents", "row_set_intervals") == [1, 5]
    unchanged = [DeviceOutcome(device, START + DAY, seen={KEY: ports(9100, 9100).digest}) for device in devices]
    assert store.save_outcomes(run, unchanged) == {}
    assert rows_of(store, "row_set_contents", "row_set_intervals") == [1, 5]


def test_the_state_at_any_time_is_what_the_last_look_before_it_saw(store: Store, run: str) -> None:
    for day, mtu in enumerate((9100, 1500, 9100)):
        store.save_outcome(run, outcome(ports(mtu), day=day))

    def mtu_at(day: float) -> list[int]:
        return [item.rows[0]["mtu"] for item in store.state_at("leaf-01", START + day * DAY)]

    assert [mtu_at(day) for day in (-1, 0, 0.5, 1, 1.9, 2, 30)] == [[], [9100], [9100], [1500], [1500], [9100], [9100]]


def test_an_old_capture_adds_history_and_leaves_the_present_alone(store: Store, run: str) -> None:
    for day, mtu in enumerate((9100, 1500)):
        store.save_outcome(run, outcome(ports(mtu), day=2 + 2 * day))
    assert store.save_outcome(run, outcome(ports(4200), day=3)) == ()
    assert store.save_outcome(run, outcome(ports(1280), day=0)) == ()
    assert store.previous_digests("leaf-01") == {KEY: ports(1500).digest}
    assert [(item.change.before, item.change.after) for item in store.changes()] == [(9100, 1500)]

    def mtu_at(day: float) -> int:
        return int(store.state_at("leaf-01", START + day * DAY)[0].rows[0]["mtu"])

    assert [mtu_at(day) for day in (0, 1, 2, 3, 3.5, 4)] == [1280, 1280, 9100, 4200, 9100, 1500]
    assert store.state_at("leaf-01", START - DAY) == ()


def test_an_old_capture_that_saw_the_same_lengthens_the_first_interval(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(ports(9100), day=5))
    store.save_outcome(run, outcome(ports(9100), day=0))
    assert rows_of(store, "row_set_intervals") == [1]
    assert len(store.state_at("leaf-01", START + DAY)) == 1


def test_an_old_capture_may_be_saved_twice(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(ports(9100), day=1))
    store.save_outcome(run, outcome(ports(1500), day=5))
    for _ in range(2):
        store.save_outcome(run, outcome(ports(4200), day=3))
    assert rows_of(store, "row_set_intervals") == [3]


def test_the_same_output_read_anew_is_no_drift(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(ports(9100)))
    assert store.save_outcome(run, outcome(ports(9216))) == ()
    assert store.changes() == []
    assert store.previous_digests("leaf-01") == {KEY: ports(9216).digest}
    store.save_outcome(run, outcome(ports(9216), day=1))
    assert store.changes() == []


def test_an_unreachable_device_changes_nothing(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(ports(9100)))
    store.save_outcome(run, DeviceOutcome("leaf-01", START + 9 * DAY, reached=False))
    assert store.save_outcome(run, outcome(ports(1500), day=5)) != ()


def test_the_last_states_come_by_device(store: Store, run: str) -> None:
    store.save_outcomes(run, [outcome(ports(9100), device="leaf-02", day=1), outcome(ports(1500), device="leaf-01")])
    states = list(store.last_states())
    assert [(device, at) for device, at, _ in states] == [("leaf-01", START), ("leaf-02", START + DAY)]
    assert [sets[0].rows[0]["mtu"] for *_, sets in states] == [1500, 9100]
    assert [device for device, *_ in store.last_states(["leaf-02", "unknown"])] == ["leaf-02"]


def test_keys_that_a_device_chose_survive_in_every_engine(store: Store, run: str) -> None:
    key = SetKey("neighbour", Layer.APPLIED, "lldp")

    def heard(system: str) -> RowSet:
        return drift.row_set(key, Neighbour, ["system"], [Neighbour(port="swp1", port_id="\0\udcff" + "x" * 5000, system=system)])

    store.save_outcome(run, outcome(heard("spine-01")))
    store.save_outcome(run, outcome(heard("spine-02"), day=1))
    store.save_outcome(run, outcome(heard("spine-02"), day=2))
    assert len(store.changes()) == 1
    assert store.state_at("leaf-01", START + DAY) == (heard("spine-02"),)
    store.save_outcome(run, outcome(heard("spine-01"), day=3))
    assert store.changes() == []


def test_outcomes_belong_to_an_open_run(store: Store) -> None:
    with pytest.raises(StoreError, match="unknown"):
        store.save_outcome("nothing", outcome(ports(9100)))


# Link facts


def end(port: str = "Ethernet0", neighbour: str = "gpu-01", **facts: object) -> LinkEnd:
    known = {}
    for name, value in facts.items():
        column = name.partition("_")[2]
        gap = Gap("leaf-01", "interface", "s", value) if isinstance(value, GapReason) else None
        address = Address("interface", (port,), column)
        known[f"interface.{column}"] = Fact(address, None if gap else value, Layer.APPLIED, "sonic", "s", "d" * 64, gap)  # type: ignore[arg-type]
    heard = (NeighbourSeen(neighbour, "nic0", "name"),) if neighbour else ()
    return LinkEnd("leaf-01", port, port, "leaf", known, heard, ("aa:bb:cc:00:00:01",), START)


LLDP = drift.row_set(SetKey("neighbour", Layer.APPLIED, "lldp"), Neighbour, ["system"], [])
QOS = drift.row_set(SetKey("qos_port", Layer.CONFIGURED, "config"), QosPort, ["trust"], [])


def test_link_facts_come_back_as_they_were_with_their_time(store: Store, run: str) -> None:
    given = end(is_mtu=9100, is_fec=ABSENT, is_lanes=(1, 2), is_autoneg=True, is_speed=GapReason.UNPARSED)
    store.save_outcome(run, outcome(LLDP, ends=(given,)))
    (got,) = store.link_ends(["leaf-01", "leaf-09"], START - DAY)
    assert got.facts == given.facts
    assert got.facts["interface.fec"].value is ABSENT
    assert (got.stale_of, got.collected_at, got.neighbours, got.identities) == (START, START, given.neighbours, given.identities)


def test_link_facts_that_are_too_old_are_not_given(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(LLDP, ends=(end(is_mtu=9100),)))
    assert store.link_ends(["leaf-01"], START + timedelta(seconds=1)) == []


def test_a_narrow_look_keeps_what_an_earlier_one_saw_with_its_own_time(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(LLDP, ends=(end(is_mtu=9100, is_fec="rs"),)))
    store.save_outcome(run, outcome(QOS, day=1, ends=(end(neighbour="", is_mtu=1500, is_fec=GapReason.NOT_COLLECTED),)))
    (got,) = store.link_ends(["leaf-01"], START)
    assert {name: fact.value for name, fact in got.facts.items()} == {"interface.mtu": 1500, "interface.fec": "rs"}
    assert (got.stale_of, got.neighbours[0][0]) == (START, "gpu-01")
    (young,) = store.link_ends(["leaf-01"], START + DAY)
    assert {name: fact.value for name, fact in young.facts.items()} == {"interface.mtu": 1500}
    assert (young.stale_of, young.neighbours) == (START + DAY, ())


@pytest.mark.parametrize("reason", [GapReason.CONFLICT, GapReason.UNPARSED, GapReason.REJECTED, GapReason.TRUNCATED])
def test_a_newer_answer_that_could_not_be_read_replaces_an_older_value(store: Store, run: str, reason: GapReason) -> None:
    store.save_outcome(run, outcome(LLDP, ends=(end(is_mtu=9100),)))
    store.save_outcome(run, outcome(LLDP, day=1, ends=(end(is_mtu=reason),)))
    assert store.link_ends(["leaf-01"], START)[0].facts["interface.mtu"].value is None


def test_a_neighbour_that_was_looked_for_and_is_gone_is_gone(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(LLDP, ends=(end(is_mtu=9100),)))
    store.save_outcome(run, outcome(LLDP, day=1, ends=(end(neighbour="", is_mtu=9100),)))
    assert store.link_ends(["leaf-01"], START)[0].neighbours == ()


def test_a_port_that_is_no_longer_planned_is_dropped_but_a_run_without_a_plan_drops_none(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(LLDP, ends=(end("Ethernet0", is_mtu=9100), end("Ethernet4", is_mtu=9100))))
    store.save_outcome(run, outcome(LLDP, day=1))
    assert [item.port for item in store.link_ends(["leaf-01"], START)] == ["Ethernet0", "Ethernet4"]
    assert store.link_ends(["leaf-01"], START + DAY) == []
    store.save_outcome(run, outcome(LLDP, day=2, ends=(end("Ethernet4", is_mtu=9100),)))
    assert [item.port for item in store.link_ends(["leaf-01"], START)] == ["Ethernet4"]


def test_an_old_capture_leaves_link_facts_alone(store: Store, run: str) -> None:
    store.save_outcome(run, outcome(LLDP, day=1, ends=(end(is_mtu=9100),)))
    store.save_outcome(run, outcome(LLDP, day=0, ends=(end(is_mtu=1500),)))
    assert store.link_ends(["leaf-01"], START)[0].facts["interface.mtu"].value == 9100
