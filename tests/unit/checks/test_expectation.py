from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from auditor.address import Address, Layer, Pattern
from auditor.baseline.operators import settle
from auditor.checks.expectation import judge, reads
from auditor.facts import (
    TABLES,
    BufferPool,
    DscpMap,
    HostDscp,
    Interface,
    QosPort,
    RdmaPort,
    Row,
    System,
    schema,
)
from auditor.model import (
    DocumentOrigin,
    Expectation,
    Gap,
    GapReason,
    Judgement,
    Origin,
    Severity,
    Spot,
    State,
    Verdict,
)

GROUPS = {"compute": frozenset({"Ethernet0", "Ethernet4"}), "storage": frozenset[str]()}


class Seen:
    """Builds a State: which tables were read, what they held, what was hidden."""

    def __init__(self) -> None:
        self.tables: dict[Any, Any] = {}
        self.origins: dict[Any, Any] = {}
        self.hidden: list[Gap] = []
        self.ports: dict[tuple[str, tuple[str, ...]], str] = {}

    def read(
        self,
        row_type: type[Row],
        *rows: Row,
        layer: Layer = Layer.APPLIED,
        columns: tuple[str, ...] = (),
        whole: bool = True,
        scope: frozenset[str] | None = None,
    ) -> Seen:
        self.tables.setdefault((row_type, layer), {}).update({row.key: row for row in rows})
        for column in columns or schema(row_type).columns:
            self.origins[row_type, layer, column] = (Origin("source", "digest", "sonic", whole, scope),)
        return self

    def gap(self, table: str, reason: GapReason = GapReason.TIMEOUT, **more: Any) -> Seen:
        self.hidden.append(Gap("leaf-01", table, "source", reason, **more))
        return self

    def judge(self, at: str, operator: str = "eq", value: Any = 9100, groups: Any = GROUPS) -> list[Judgement]:
        pattern = Pattern.parse(at)
        kind = schema(TABLES[pattern.table]).columns[str(pattern.column)].kind
        wanted = settle(operator, value, kind)
        line = Expectation("mtu.x", pattern, operator, wanted, Severity.CRITICAL, "the reason", DocumentOrigin())
        time = datetime(2030, 1, 1, tzinfo=UTC)
        state = State("leaf-01", time, self.tables, self.origins, tuple(self.hidden), self.ports)
        return judge(line, state, groups)


def verdicts(judgements: list[Judgement]) -> dict[str, str]:
    assert len({str(item.object) for item in judgements}) == len(judgements)
    for item in judgements:
        assert (item.verdict is Verdict.FAIL) is (item.deviation is not None)
        assert (item.verdict is Verdict.NOT_EVALUATED) is (item.gap is not None)
    return {str(item.object): item.verdict.value for item in judgements}


def port(name: str, mtu: int | None = 9100, **more: Any) -> Interface:
    return Interface(name=name, mtu=mtu, **more)


class TestExplicitKeys:
    def test_a_value_that_holds_passes(self) -> None:
        assert verdicts(Seen().read(Interface, port("Ethernet0")).judge("interface[Ethernet0].mtu")) == {
            "interface[Ethernet0]": "pass"
        }

    def test_a_deviation_says_what_was_seen_wanted_and_where(self) -> None:
        (found,) = Seen().read(Interface, port("Ethernet0", 1500)).judge("interface[Ethernet0].mtu")
        assert found.object == Address("interface", ("Ethernet0",))
        deviation = found.deviation
        assert deviation is not None
        assert (deviation.expected, deviation.observed) == ("= 9100 bytes", "1500 bytes")
        assert deviation.message == ("interface[Ethernet0].mtu@applied is 1500 bytes, baseline wants 9100 bytes: the reason")
        assert deviation.spots == (Spot("leaf-01", Address("interface", ("Ethernet0",), "mtu", Layer.APPLIED)),)
        assert deviation.severity is Severity.CRITICAL
        assert deviation.shared is None

    def test_a_row_that_a_whole_answer_lacks_fails_as_absent(self) -> None:
        (found,) = Seen().read(Interface, port("Ethernet4")).judge("interface[Ethernet0].mtu")
        assert found.deviation is not None
        assert found.deviation.observed == "absent"

    def test_a_cell_that_a_whole_answer_lacks_fails_as_absent_even_for_ne(self) -> None:
        (found,) = Seen().read(Interface, port("Ethernet0", None)).judge("interface[Ethernet0].mtu", "ne", 1500)
        assert found.deviation is not None
        assert (found.deviation.expected, found.deviation.observed) == ("not 1500 bytes", "absent")

    def test_absent_may_be_what_is_wanted(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0", description="x"))
        assert verdicts(seen.judge("interface[Ethernet9].mtu", "absent", True)) == {"interface[Ethernet9]": "pass"}
        assert verdicts(seen.judge("interface[Ethernet0].description", "absent", True)) == {"interface[Ethernet0]": "fail"}

    @pytest.mark.parametrize("operator", ["eq", "absent", "present", "ne"])
    def test_what_was_not_seen_is_never_judged(self, operator: str) -> None:
        value = True if operator in ("absent", "present") else 9100
        for seen in (
            Seen(),
            Seen().gap("interface"),
            Seen().gap("*", GapReason.UNREACHABLE),
            Seen().read(Interface, whole=False),
            Seen().read(Interface).gap("interface", GapReason.TRUNCATED),
            Seen().read(Interface, port("Ethernet0", None)).gap("interface", key=("Ethernet0",), columns=("mtu",)),
        ):
            assert verdicts(seen.judge("interface[Ethernet0].mtu", operator, value)) == {"interface[Ethernet0]": "not_evaluated"}

    def test_the_gap_that_hides_a_cell_is_named(self) -> None:
        (found,) = Seen().gap("interface", GapReason.PERMISSION, detail="sudo refused").judge("interface[Ethernet0].mtu")
        assert found.gap is not None
        assert (found.gap.reason, found.gap.detail) == (GapReason.PERMISSION, "sudo refused")

    def test_a_value_seen_is_judged_although_the_rest_of_the_table_is_hidden(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0", 1500)).gap("interface", GapReason.TRUNCATED)
        assert verdicts(seen.judge("interface[Ethernet0].mtu")) == {"interface[Ethernet0]": "fail"}

    def test_the_one_row_of_a_table_without_key_is_explicit(self) -> None:
        assert verdicts(Seen().read(System, System(os_version="4.4.2")).judge("system.os_version", "in", ["4.4.2"])) == {
            "system": "pass"
        }
        assert verdicts(Seen().read(System).judge("system.os_version", "in", ["4.4.2"])) == {"system": "fail"}
        assert verdicts(Seen().judge("system.os_version", "in", ["4.4.2"])) == {"system": "not_evaluated"}


class TestLayers:
    def test_the_best_layer_that_answered_is_read_and_named(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0", 1500)).read(Interface, port("Ethernet0"), layer=Layer.CONFIGURED)
        (found,) = seen.judge("interface[Ethernet0].mtu")
        assert found.deviation is not None
        assert found.deviation.spots[0].address.layer is Layer.APPLIED

    def test_a_named_layer_is_read_and_no_other(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0", 1500)).read(Interface, port("Ethernet0"), layer=Layer.SAVED)
        assert verdicts(seen.judge("interface[Ethernet0].mtu@saved")) == {"interface[Ethernet0]": "pass"}
        assert verdicts(seen.judge("interface[Ethernet0].mtu@configured")) == {"interface[Ethernet0]": "not_evaluated"}

    def test_a_star_over_a_named_layer_selects_the_rows_of_that_layer(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0"), port("Ethernet4")).read(Interface, port("Ethernet8"), layer=Layer.SAVED)
        assert verdicts(seen.judge("interface[*].mtu@saved")) == {"interface[Ethernet8]": "pass"}


class TestStars:
    def test_a_star_selects_the_rows_that_are_there(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0"), port("Ethernet4", 1500), port("lo", None))
        assert verdicts(seen.judge("interface[Eth*].mtu")) == {"interface[Ethernet0]": "pass", "interface[Ethernet4]": "fail"}

    def test_a_star_that_selects_nothing_is_not_applicable_once(self) -> None:
        (found,) = Seen().read(Interface, port("lo")).judge("interface[Eth*].mtu")
        assert found.verdict is Verdict.NOT_APPLICABLE
        assert found.object == Address("interface", ("Eth*",))

    def test_a_star_over_an_unseen_table_is_not_evaluated_and_not_called_not_applicable(self) -> None:
        for seen in (Seen(), Seen().gap("interface"), Seen().read(Interface, whole=False)):
            assert verdicts(seen.judge("interface[*].mtu")) == {'interface["*"]': "not_evaluated"}

    def test_rows_that_a_cut_answer_hides_are_one_more_object(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0")).gap("interface", GapReason.TRUNCATED)
        assert verdicts(seen.judge("interface[*].mtu")) == {"interface[Ethernet0]": "pass", 'interface["*"]': "not_evaluated"}

    def test_a_row_that_is_there_but_could_not_be_read_is_an_object(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0")).gap("interface", GapReason.UNPARSED, key=("Ethernet4",))
        assert verdicts(seen.judge("interface[Eth*].mtu")) == {
            "interface[Ethernet0]": "pass", "interface[Ethernet4]": "not_evaluated",
        }  # fmt: skip
        assert verdicts(seen.judge("interface[Ethernet0*].mtu")) == {"interface[Ethernet0]": "pass"}

    def test_a_gap_of_another_column_hides_nothing(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0")).gap("interface", columns=("fec",))
        assert verdicts(seen.judge("interface[*].mtu")) == {"interface[Ethernet0]": "pass"}

    def test_answers_per_port_list_their_own_rows_and_leave_nothing_open(self) -> None:
        rows = [HostDscp(netdev="eth0", dscp=str(dscp), priority=3) for dscp in (26, 27)]
        seen = Seen().read(HostDscp, *rows, scope=frozenset({"eth0"}))
        assert verdicts(seen.judge("host_dscp[*,26].priority", "eq", 3)) == {"host_dscp[eth0,26]": "pass"}

    def test_an_answer_that_failed_for_one_port_hides_the_rows_of_that_port_alone(self) -> None:
        row = HostDscp(netdev="eth0", dscp="26", priority=3)
        seen = Seen().read(HostDscp, row, scope=frozenset({"eth0"})).gap("host_dscp", key=("eth1",))
        assert verdicts(seen.judge("host_dscp[eth0*,26].priority", "eq", 3)) == {"host_dscp[eth0,26]": "pass"}
        assert verdicts(seen.judge("host_dscp[*,26].priority", "eq", 3)) == {
            "host_dscp[eth0,26]": "pass", 'host_dscp["*",26]': "not_evaluated",
        }  # fmt: skip


class TestGroups:
    def test_members_are_objects_with_and_without_a_row(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0"), port("Ethernet8", 1500))
        assert verdicts(seen.judge("interface[@compute].mtu")) == {"interface[Ethernet0]": "pass", "interface[Ethernet4]": "fail"}

    def test_members_of_an_unseen_table_are_not_evaluated(self) -> None:
        assert verdicts(Seen().judge("qos_port[@compute].pfc_priorities", "contains", 3)) == {
            "qos_port[Ethernet0]": "not_evaluated", "qos_port[Ethernet4]": "not_evaluated",
        }  # fmt: skip

    @pytest.mark.parametrize("group", ["storage", "nowhere"])
    def test_a_group_without_members_is_not_applicable(self, group: str) -> None:
        (found,) = Seen().read(Interface, port("Ethernet0")).judge(f"interface[@{group}].mtu")
        assert found.verdict is Verdict.NOT_APPLICABLE
        assert found.object == Address("interface", (f"@{group}",))

    def test_a_group_without_members_says_nothing_while_no_interface_was_seen(self) -> None:
        for seen in (Seen(), Seen().gap("*", GapReason.UNREACHABLE)):
            assert verdicts(seen.judge("interface[@storage].mtu")) == {'interface["@storage"]': "not_evaluated"}

    def test_a_member_with_no_row_under_a_star_is_one_object(self) -> None:
        row = HostDscp(netdev="Ethernet0", dscp="26", priority=3)
        assert verdicts(Seen().read(HostDscp, row).judge("host_dscp[@compute,*].priority", "eq", 3)) == {
            "host_dscp[Ethernet0,26]": "pass", "host_dscp[Ethernet4]": "fail",
        }  # fmt: skip
        partly = Seen().read(HostDscp, row, scope=frozenset({"Ethernet0"}))
        assert verdicts(partly.judge("host_dscp[@compute,*].priority", "eq", 3)) == {
            "host_dscp[Ethernet0,26]": "pass", "host_dscp[Ethernet4]": "not_evaluated",
        }  # fmt: skip

    def test_an_explicit_second_key_makes_every_member_an_object(self) -> None:
        row = HostDscp(netdev="Ethernet0", dscp="26", priority=0)
        assert verdicts(Seen().read(HostDscp, row).judge("host_dscp[@compute,26].priority", "eq", 3)) == {
            "host_dscp[Ethernet0,26]": "fail", "host_dscp[Ethernet4,26]": "fail",
        }  # fmt: skip


class TestGroupsByColumn:
    AT = "rdma_port[@compute,*].active_mtu"

    def rdma(self, name: str, netdev: str | None, mtu: int | None = 4096) -> RdmaPort:
        return RdmaPort(name=name, port="1", netdev=netdev, active_mtu=mtu)

    def test_rows_are_selected_by_the_port_they_name(self) -> None:
        seen = Seen().read(
            RdmaPort, self.rdma("mlx5_0", "Ethernet0"), self.rdma("mlx5_1", "Ethernet4", 1024), self.rdma("mlx5_9", "eth9", 1024)
        )
        assert verdicts(seen.judge(self.AT, "eq", 4096)) == {"rdma_port[mlx5_0,1]": "pass", "rdma_port[mlx5_1,1]": "fail"}

    def test_a_member_without_a_row_fails_as_absent_when_all_rows_are_accounted_for(self) -> None:
        (absent, passed) = Seen().read(RdmaPort, self.rdma("mlx5_0", "Ethernet0")).judge(self.AT, "eq", 4096)
        assert absent.object == Address("rdma_port", ("Ethernet4",))
        assert absent.deviation is not None
        assert absent.deviation.observed == "absent"
        assert passed.object == Address("rdma_port", ("mlx5_0", "1"))

    def test_a_row_whose_port_is_unknown_may_be_the_missing_members(self) -> None:
        seen = Seen().read(RdmaPort, self.rdma("mlx5_0", "Ethernet0"), self.rdma("mlx5_1", None))
        seen.gap("rdma_port", GapReason.UNPARSED, key=("mlx5_1", "1"), columns=("netdev",))
        assert verdicts(seen.judge(self.AT, "eq", 4096)) == {
            "rdma_port[Ethernet4]": "not_evaluated",
            "rdma_port[mlx5_0,1]": "pass",
        }

    def test_a_device_whose_ports_could_not_be_listed_may_hold_the_missing_member(self) -> None:
        seen = Seen().read(RdmaPort, self.rdma("mlx5_0", "Ethernet0")).gap("rdma_port", GapReason.UNPARSED, key=("mlx5_1",))
        assert verdicts(seen.judge(self.AT, "eq", 4096)) == {
            "rdma_port[Ethernet4]": "not_evaluated",
            "rdma_port[mlx5_0,1]": "pass",
        }

    def test_without_any_source_of_the_port_column_nothing_is_concluded(self) -> None:
        seen = Seen().read(RdmaPort, self.rdma("mlx5_0", None, 1024), columns=("active_mtu",))
        assert set(verdicts(seen.judge(self.AT, "eq", 4096)).values()) == {"not_evaluated"}

    def test_the_join_of_rows_and_ports_stands_in_for_the_column(self) -> None:
        seen = Seen().read(RdmaPort, self.rdma("mlx5_0", None), self.rdma("mlx5_1", None), columns=("active_mtu",))
        seen.ports = {("rdma_port", ("mlx5_0", "1")): "Ethernet0", ("rdma_port", ("mlx5_1", "1")): "Ethernet4"}
        assert set(verdicts(seen.judge(self.AT, "eq", 4096)).values()) == {"pass"}

    def test_an_unseen_table_leaves_every_member_open(self) -> None:
        expected = {"rdma_port[Ethernet0]": "not_evaluated", "rdma_port[Ethernet4]": "not_evaluated"}
        assert verdicts(Seen().judge(self.AT, "eq", 4096)) == expected
        cut = Seen().read(RdmaPort).gap("rdma_port", GapReason.TRUNCATED)
        assert verdicts(cut.judge(self.AT, "eq", 4096)) == expected


class TestSharedObjects:
    def test_rows_of_a_map_share_the_map(self) -> None:
        seen = Seen().read(DscpMap, DscpMap(name="AZURE", dscp="26", traffic_class=1))
        (found,) = seen.judge("dscp_map[*,26].traffic_class", "eq", 3)
        assert found.deviation is not None
        assert found.deviation.shared == Address("dscp_map", ("AZURE",))

    def test_a_pool_is_itself_the_shared_object(self) -> None:
        seen = Seen().read(BufferPool, BufferPool(name="ingress", size_bytes=1))
        (found,) = seen.judge("buffer_pool[ingress].size_bytes", "ge", 10)
        assert found.deviation is not None
        assert found.deviation.shared == Address("buffer_pool", ("ingress",))


class TestAcrossObjects:
    def test_same_names_the_odd_one_out_in_one_judgement(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0"), port("Ethernet4"), port("Ethernet8", 1500))
        (found,) = seen.judge("interface[*].mtu", "same", True)
        assert found.object == Address("interface", ("*",))
        assert found.deviation is not None
        assert found.deviation.observed == "9100 (2 times), 1500"
        assert [spot.address.key for spot in found.deviation.spots] == [("Ethernet8",)]
        assert "interface[Ethernet8]" in found.deviation.message

    def test_unique_names_those_that_clash(self) -> None:
        macs = {"Ethernet0": "a", "Ethernet4": "b", "Ethernet8": "a"}
        seen = Seen().read(Interface, *(Interface(name=name, mac=mac) for name, mac in macs.items()))
        (found,) = seen.judge("interface[*].mac", "unique", True)
        assert found.deviation is not None
        assert found.deviation.observed == "a (2 times)"
        assert [spot.address.key for spot in found.deviation.spots] == [("Ethernet0",), ("Ethernet8",)]

    @pytest.mark.parametrize("operator", ["same", "unique"])
    def test_one_value_alone_passes(self, operator: str) -> None:
        assert verdicts(Seen().read(Interface, port("Ethernet0")).judge("interface[*].mtu", operator, True)) == {
            'interface["*"]': "pass"
        }

    @pytest.mark.parametrize("operator", ["same", "unique"])
    def test_an_absent_value_fails(self, operator: str) -> None:
        seen = Seen().read(Interface, port("Ethernet0"), port("Ethernet4", None))
        (found,) = seen.judge("interface[*].mtu", operator, True)
        assert found.deviation is not None
        assert "absent" in found.deviation.observed

    def test_agreement_needs_all_of_it_and_disagreement_is_proven_without(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0"), port("Ethernet4")).gap("interface", GapReason.TRUNCATED)
        assert verdicts(seen.judge("interface[*].mtu", "same", True)) == {'interface["*"]': "not_evaluated"}
        seen.read(Interface, port("Ethernet8", 1500))
        assert verdicts(seen.judge("interface[*].mtu", "same", True)) == {'interface["*"]': "fail"}
        unread = Seen().read(Interface, port("Ethernet0")).gap("interface", key=("Ethernet4",))
        assert verdicts(unread.judge("interface[*].mtu", "same", True)) == {'interface["*"]': "not_evaluated"}


class TestHostileValues:
    def test_a_text_too_long_to_match_is_not_judged(self) -> None:
        seen = Seen().read(Interface, Interface(name="Ethernet0", description="x" * 5000))
        (found,) = seen.judge("interface[Ethernet0].description", "matches", "x*")
        assert found.verdict is Verdict.NOT_EVALUATED
        assert found.gap is not None
        assert found.gap.reason is GapReason.UNPARSED

    def test_control_characters_do_not_reach_the_report(self) -> None:
        seen = Seen().read(Interface, Interface(name="Ethernet0", description="\x1b[2Jgone"))
        (found,) = seen.judge("interface[Ethernet0].description", "eq", "uplink")
        assert found.deviation is not None
        assert found.deviation.observed == "\\x1b[2Jgone"
        assert "\x1b" not in found.deviation.message

    def test_a_hostile_key_does_not_reach_the_message_raw(self) -> None:
        seen = Seen().read(Interface, port("Ethernet0\x1b[2J\n", 1500))
        (found,) = seen.judge("interface[*].mtu")
        assert found.deviation is not None
        assert found.deviation.message.isprintable()


def test_lists_are_compared_as_sets() -> None:
    seen = Seen().read(QosPort, QosPort(port="Ethernet0", pfc_priorities=(3, 4)))
    assert verdicts(seen.judge("qos_port[Ethernet0].pfc_priorities", "eq", [4, 3])) == {"qos_port[Ethernet0]": "pass"}
    (found,) = seen.judge("qos_port[Ethernet0].pfc_priorities", "eq", [3])
    assert found.deviation is not None
    assert (found.deviation.expected, found.deviation.observed) == ("= {3}", "{3, 4}")


@pytest.mark.parametrize(
    ("at", "columns"),
    [
        ("interface[*].mtu", {"interface.mtu"}),
        ("interface[@compute].mtu", {"interface.mtu", "interface.alias"}),
        ("rdma_port[@compute,*].active_mtu", {"rdma_port.active_mtu", "rdma_port.netdev", "interface.alias"}),
    ],
)
def test_reads_names_the_columns_that_a_line_needs(at: str, columns: set[str]) -> None:
    line = Expectation("mtu.x", Pattern.parse(at), "eq", 1, Severity.ERROR, "w", DocumentOrigin())
    assert set(reads(line)) == columns
