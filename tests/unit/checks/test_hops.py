"""Hops of single ports: which cell breaks when one setting of a switch or a NIC is off, and what is left open."""

from datetime import UTC, datetime

import pytest

from auditor.address import Layer
from auditor.checks.hops import READS, hops
from auditor.facts import (
    TABLES,
    BufferPool,
    ClassMap,
    DscpMap,
    HostDscp,
    HostQos,
    PriorityGroup,
    QosPort,
    Queue,
    Row,
    Value,
    from_plain,
    schema,
)
from auditor.model import Gap, GapReason, Hop, Origin, State, TrafficClass

ROCE = TrafficClass("roce", (26,), 3, 48)
AT = datetime(2026, 3, 1, tzinfo=UTC)

Rows = dict[tuple[type[Row], Layer], list[Row]]


def state(rows: list[Row], *gaps: Gap, layer: Layer = Layer.CONFIGURED, without: tuple[str, ...] = ()) -> State:
    """A State whose one source declares every column of the tables in `rows`, but those in `without`."""
    tables: dict[tuple[type[Row], Layer], dict[tuple[str, ...], Row]] = {}
    for row in rows:
        tables.setdefault((type(row), layer), {})[row.key] = row
    origins = {
        (row_type, at, column): (Origin("source", "0" * 64, "sonic"),)
        for row_type, at in tables
        for column in schema(row_type).columns
        if f"{row_type.TABLE}.{column}" not in without
    }
    return State("leaf-01", AT, tables, origins, gaps)


def leaf(ports: tuple[str, ...] = ("e0",), **changes: dict[str, Value | None]) -> list[Row]:
    """A healthy switch, with `table` changed in the rows whose key holds the given one: leaf(queue={"queue": "3", …})."""
    plain: list[tuple[type[Row], dict[str, Value | None]]] = [
        (DscpMap, {"name": "M", "dscp": str(dscp), "traffic_class": {26: 3, 48: 6}.get(dscp, 0)}) for dscp in range(64)
    ]
    for source in range(8):
        plain.append((ClassMap, {"name": "tc_to_pg:M", "source": str(source), "to": 3 if source == 3 else 0}))
        plain += [
            (ClassMap, {"name": f"{kind}:M", "source": str(source), "to": source}) for kind in ("tc_to_queue", "pfc_to_queue")
        ]
    for port in ports:
        maps: dict[str, Value | None] = dict.fromkeys(("dscp_map", "tc_to_pg", "tc_to_queue", "pfc_to_queue"), "M")
        plain.append((QosPort, {"port": port, "trust": ("dscp",), **maps, "pfc_priorities": (3,)}))
        group = {"port": port, "pg": "3", "lossless": True, "profile": "p", "pool": "pool", "headroom_bytes": 61440}
        plain += [(PriorityGroup, {**group}), (BufferPool, {"name": "pool", "shared_headroom_bytes": 0})]
        marks = {"ecn_enabled": True, "ecn_min_bytes": 1000, "ecn_max_bytes": 2000}
        plain.append((Queue, {"port": port, "queue": "3", "watchdog_enabled": True, **marks}))
        plain.append((Queue, {"port": port, "queue": "6", "watchdog_enabled": False, "ecn_enabled": False}))
    rows = []
    for row_type, values in plain:
        change = changes.get(row_type.TABLE, {})
        keys = {name: value for name, value in change.items() if name in schema(row_type).keys}
        if change and all(values[name] == value for name, value in keys.items()):
            values.update(change)
        rows.append(from_plain(row_type, values))
    return rows


def nic(**changes: Value | None) -> list[Row]:
    """A healthy adapter with some columns changed."""
    values: dict[str, Value | None] = {
        "trust": ("dscp",), "pfc_priorities": (3,), "roce": 3, "cnp": 6, "ecn_rp": (3,), "ecn_np": (3,), "cnp_dscp": 48,
    } | changes  # fmt: skip
    return [
        from_plain(QosPort, {"port": "ens1", **{name: values[name] for name in ("trust", "pfc_priorities")}}),
        from_plain(HostDscp, {"netdev": "ens1", "dscp": "26", "priority": values["roce"]}),
        from_plain(HostDscp, {"netdev": "ens1", "dscp": "48", "priority": values["cnp"]}),
        from_plain(HostQos, {"netdev": "ens1", **{name: values[name] for name in ("ecn_rp", "ecn_np", "cnp_dscp")}}),
    ]


def broken(found: tuple[Hop, ...]) -> list[tuple[str, str]]:
    return [(hop.direction, cell.name) for hop in found for cell in hop.cells if cell.ok is False]


def unknown(found: tuple[Hop, ...]) -> list[tuple[str, str]]:
    return [(hop.direction, cell.name) for hop in found for cell in hop.cells if cell.ok is None]


def of_leaf(rows: list[Row], *classes: TrafficClass) -> tuple[Hop, ...]:
    return hops(state(rows), {"e0": classes or (ROCE,)}, host=False)["e0"]


def test_a_healthy_switch_port_has_all_cells_in_travel_order() -> None:
    into, out = of_leaf(leaf())
    assert [cell.name for cell in into.cells] == [
        "trust", "dscp_map", "tc_to_pg", "priority_group", "headroom", "pfc", "cnp",
    ]  # fmt: skip
    assert [cell.name for cell in out.cells] == ["tc_to_queue", "pfc_to_queue", "pfc", "watchdog", "ecn", "cnp"]
    assert all(cell.ok for hop in (into, out) for cell in hop.cells)


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"qos_port": {"trust": ("pcp",)}}, ("ingress", "trust")),
        ({"qos_port": {"dscp_map": None}}, ("ingress", "dscp_map")),
        ({"qos_port": {"dscp_map": "gone"}}, ("ingress", "dscp_map")),
        ({"dscp_map": {"dscp": "26", "traffic_class": 0}}, ("ingress", "dscp_map")),
        ({"qos_port": {"tc_to_pg": None}}, ("ingress", "tc_to_pg")),
        ({"qos_port": {"tc_to_pg": "gone"}}, ("ingress", "tc_to_pg")),
        ({"class_map": {"name": "tc_to_pg:M", "source": "3", "to": 0}}, ("ingress", "tc_to_pg")),
        ({"priority_group": {"lossless": False}}, ("ingress", "priority_group")),
        ({"priority_group": {"lossless": None}}, ("ingress", "priority_group")),
        ({"priority_group": {"headroom_bytes": 0}}, ("ingress", "headroom")),
        ({"qos_port": {"pfc_priorities": (4,)}}, ("ingress", "pfc")),
        ({"qos_port": {"pfc_priorities": None}}, ("ingress", "pfc")),
        ({"dscp_map": {"dscp": "48", "traffic_class": 3}}, ("ingress", "cnp")),
        ({"qos_port": {"tc_to_queue": None}}, ("egress", "tc_to_queue")),
        ({"class_map": {"name": "tc_to_queue:M", "source": "3", "to": 0}}, ("egress", "tc_to_queue")),
        ({"class_map": {"name": "pfc_to_queue:M", "source": "3", "to": 4}}, ("egress", "pfc_to_queue")),
        ({"queue": {"queue": "3", "watchdog_enabled": False}}, ("egress", "watchdog")),
        ({"queue": {"queue": "3", "watchdog_enabled": None}}, ("egress", "watchdog")),
        ({"queue": {"queue": "3", "ecn_enabled": None}}, ("egress", "ecn")),
        ({"queue": {"queue": "3", "ecn_max_bytes": None}}, ("egress", "ecn")),
        ({"queue": {"queue": "6", "ecn_enabled": True}}, ("egress", "cnp")),
        ({"class_map": {"name": "tc_to_queue:M", "source": "6", "to": 3}}, ("egress", "cnp")),
    ],
)
def test_one_setting_that_is_off_is_the_first_break(changes: dict[str, dict[str, Value | None]], first: tuple[str, str]) -> None:
    assert broken(of_leaf(leaf(**changes)))[0] == first


def test_notifications_that_are_paused_are_a_break_on_both_ways() -> None:
    rows = leaf(qos_port={"pfc_priorities": (3, 6)}, class_map={"name": "tc_to_pg:M", "source": "6", "to": 6})
    assert broken(of_leaf(rows)) == [("ingress", "cnp"), ("egress", "cnp")]


def test_other_numbers_between_dscp_and_priority_are_no_break() -> None:
    rows = leaf(dscp_map={"dscp": "26", "traffic_class": 5})
    plain = {row.key: row for row in rows}
    plain["tc_to_pg:M", "5"] = ClassMap(name="tc_to_pg:M", source="5", to=3)
    plain["tc_to_queue:M", "5"] = ClassMap(name="tc_to_queue:M", source="5", to=3)
    assert broken(of_leaf(list(plain.values()))) == []


def test_ports_of_one_switch_may_use_different_maps_that_end_in_the_same_priority() -> None:
    rows = leaf(("e0", "e1"), qos_port={"port": "e1", "dscp_map": "N"})
    rows += [DscpMap(name="N", dscp="26", traffic_class=5), DscpMap(name="N", dscp="48", traffic_class=6)]
    plain = {row.key: row for row in rows}
    plain["tc_to_pg:M", "5"] = ClassMap(name="tc_to_pg:M", source="5", to=3)
    plain["tc_to_queue:M", "5"] = ClassMap(name="tc_to_queue:M", source="5", to=4)
    found = hops(state(list(plain.values())), {"e0": (ROCE,), "e1": (ROCE,)}, host=False)
    assert broken(found["e0"]) == broken(found["e1"]) == [("egress", "tc_to_queue")], "class 5 of e1 leaves through both"
    plain["tc_to_queue:M", "5"] = ClassMap(name="tc_to_queue:M", source="5", to=3)
    found = hops(state(list(plain.values())), {"e0": (ROCE,), "e1": (ROCE,)}, host=False)
    assert broken(found["e0"]) == broken(found["e1"]) == []


def test_a_port_that_leads_the_class_astray_breaks_no_other_port() -> None:
    rows = [*leaf(("e0", "e1"), qos_port={"port": "e1", "dscp_map": "N"}), DscpMap(name="N", dscp="26", traffic_class=0)]
    found = hops(state(rows), {"e0": (ROCE,), "e1": (ROCE,)}, host=False)
    assert broken(found["e0"]) == []
    assert broken(found["e1"]) == [("ingress", "dscp_map")]


def test_several_classes_are_judged_each_for_itself() -> None:
    storage = TrafficClass("storage", (34,), 4)
    bulk = TrafficClass("bulk", (10,), 1, lossless=False)
    found = of_leaf(leaf(), ROCE, storage, bulk)
    assert [(hop.traffic_class, hop.direction) for hop in found] == [
        ("roce", "ingress"), ("storage", "ingress"), ("roce", "egress"), ("storage", "egress"),
    ]  # fmt: skip
    by_class = {(hop.traffic_class, hop.direction): hop.broken for hop in found}
    assert by_class["roce", "ingress"] is by_class["roce", "egress"] is None
    assert by_class["storage", "ingress"] is not None


def test_every_code_point_of_a_class_must_end_in_its_priority() -> None:
    assert broken(of_leaf(leaf(), TrafficClass("roce", (24, 26), 3))) == [("ingress", "dscp_map")]
    assert broken(of_leaf(leaf(dscp_map={"dscp": "24", "traffic_class": 3}), TrafficClass("roce", (24, 26), 3))) == []


def test_headroom_that_is_shared_in_the_pool_counts() -> None:
    rows = leaf(priority_group={"headroom_bytes": 0}, buffer_pool={"shared_headroom_bytes": 1_000_000})
    assert broken(of_leaf(rows)) == []


def test_a_map_of_pauses_that_is_not_bound_is_the_identity() -> None:
    assert broken(of_leaf(leaf(qos_port={"pfc_to_queue": None}))) == []


def test_what_was_not_seen_is_neither_right_nor_wrong() -> None:
    gap = Gap("leaf-01", "queue", "s", GapReason.TIMEOUT)
    rows = [row for row in leaf() if row.TABLE != "queue"]
    found = hops(state(rows, gap), {"e0": (ROCE,)}, host=False)["e0"]
    assert broken(found) == []
    assert unknown(found) == [("egress", "watchdog"), ("egress", "ecn")]
    assert {cell.fact.gap for hop in found for cell in hop.cells if cell.ok is None} == {gap}


def test_an_unseen_map_of_pauses_is_said() -> None:
    found = hops(state(leaf(), without=("qos_port.pfc_to_queue",)), {"e0": (ROCE,)}, host=False)["e0"]
    assert unknown(found) == [("egress", "pfc_to_queue")]


def test_a_device_that_gave_nothing_breaks_nothing() -> None:
    nothing = State("leaf-01", AT, {}, {}, (Gap("leaf-01", "*", "", GapReason.UNREACHABLE, "no route to host"),))
    for host in (False, True):
        found = hops(nothing, {"e0": (ROCE,)}, host=host)["e0"]
        assert broken(found) == []
        assert unknown(found)


def test_a_platform_without_priority_groups_is_judged_by_its_queues() -> None:
    def judged(**changes: dict[str, Value | None]) -> tuple[Hop, ...]:
        rows = [row for row in leaf(("e0", "e1"), **changes) if row.TABLE not in ("priority_group", "buffer_pool")]
        rows += [DscpMap(name="N", dscp="26", traffic_class=0)]
        ports = {"e0": (ROCE,), "e1": (ROCE,)}
        found = hops(state(rows, without=("qos_port.tc_to_pg",)), ports, host=False)
        return (*found["e0"], *found["e1"])

    assert broken(judged()) == []
    assert broken(judged(qos_port={"port": "e1", "dscp_map": "N"})) == [("ingress", "dscp_map")]
    assert {name for _, name in broken(judged(class_map={"name": "tc_to_queue:M", "source": "3", "to": 0}))} == {"tc_to_queue"}


def test_the_layer_that_was_read_is_told_and_why_it_was_no_better_one() -> None:
    applied = Gap("leaf-01", "qos_port", "sonic", GapReason.UNSUPPORTED, "straight to orchagent", Layer.APPLIED)
    found = hops(state(leaf(), applied), {"e0": (ROCE,)}, host=False)["e0"]
    read = {cell.name: cell.read for cell in found[0].cells}
    assert read["trust"] == "configured; applied unsupported"
    assert read["priority_group"] == "configured; applied not collected"
    best = hops(state(nic(), layer=Layer.APPLIED), {"ens1": (ROCE,)}, host=True)["ens1"]
    assert {cell.read for hop in best for cell in hop.cells} == {"applied"}


def test_a_healthy_adapter_has_all_cells_in_travel_order() -> None:
    send, receive = hops(state(nic()), {"ens1": (ROCE,)}, host=True)["ens1"]
    assert [cell.name for cell in send.cells] == ["trust", "host_dscp", "pfc", "reaction_point"]
    assert [cell.name for cell in receive.cells] == [
        "trust", "host_dscp", "pfc", "notification_point", "cnp_dscp", "cnp",
    ]  # fmt: skip
    assert broken((send, receive)) == unknown((send, receive)) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"trust": ("pcp",)}, [("send", "trust"), ("receive", "trust")]),
        ({"roce": 0}, [("send", "host_dscp"), ("receive", "host_dscp")]),
        ({"pfc_priorities": ()}, [("send", "pfc"), ("receive", "pfc")]),
        ({"ecn_rp": (0, 1)}, [("send", "reaction_point")]),
        ({"ecn_rp": None}, [("send", "reaction_point")]),
        ({"ecn_np": ()}, [("receive", "notification_point")]),
        ({"cnp_dscp": 26}, [("receive", "cnp_dscp")]),
        ({"cnp": 3}, [("receive", "cnp")]),
        ({"cnp": 4, "pfc_priorities": (3, 4)}, [("receive", "cnp")]),
    ],
)
def test_a_setting_of_an_adapter_that_is_off_breaks_its_cell(
    change: dict[str, Value | None], found: list[tuple[str, str]]
) -> None:
    assert broken(hops(state(nic(**change)), {"ens1": (ROCE,)}, host=True)["ens1"]) == found


def test_without_a_dscp_of_notifications_nothing_is_said_of_them() -> None:
    silent = TrafficClass("roce", (26,), 3)
    found = (*of_leaf(leaf(), silent), *hops(state(nic(cnp=3)), {"ens1": (silent,)}, host=True)["ens1"])
    assert not [cell for hop in found for cell in hop.cells if cell.name.startswith("cnp")]


def test_the_columns_that_are_read_exist() -> None:
    assert {read for read in READS if read.partition(".")[2] not in schema(TABLES[read.partition(".")[0]]).columns} == set()


def test_every_column_that_is_looked_at_is_among_the_reads() -> None:
    found = (*of_leaf(leaf()), *hops(state(nic()), {"ens1": (ROCE,)}, host=True)["ens1"])
    assert {f"{cell.fact.address.table}.{cell.fact.address.column}" for hop in found for cell in hop.cells} <= set(READS)
